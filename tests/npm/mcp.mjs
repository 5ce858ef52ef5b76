// SPDX-License-Identifier: BSD-2-Clause
// The reference client of the Model Context Protocol asks mkperf mcp, and the answers are those of the commands.
//   node mcp.mjs MODULES MKPERF RECORDING
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, mkperf, recording] = process.argv.slice(2);
const require = createRequire(modules + '/');
const load = (name) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + name)));
const { Client } = await load('client/index.js');
const { StdioClientTransport } = await load('client/stdio.js');
const fail = (why) => { console.error(why); process.exit(1); };

const client = new Client({ name: 'test', version: '1' });
await client.connect(new StdioClientTransport({ command: mkperf, args: ['mcp'] }));
const { tools } = await client.listTools();
for (const tool of tools) {
  if (!tool.annotations?.readOnlyHint) fail(tool.name + ' may write');
  if (tool.name === 'diff' || tool.name === 'explain-regression') continue;
  const { content, isError } = await client.callTool({ name: tool.name, arguments: { file: recording } });
  const [command, option] = [tool.name.split('-')[0], tool.name.split('-').slice(1).join('-')];
  const words = [command, '--json', ...(option ? ['--' + option] : []), '--', recording];
  let text, failed = false;
  try {
    text = execFileSync(mkperf, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (e) {
    text = e.stdout + e.stderr;
    failed = true;
  }
  if (isError !== failed || (!failed && content[0].text !== text)) fail(tool.name + ' differs: ' + content[0].text);
}
const answer = await client.callTool({ name: 'explain', arguments: { file: recording, why: 'trust' } });
if (!answer.content[0].text.includes('"question":"trust"')) fail(answer.content[0].text);
const same = await client.callTool({ name: 'diff', arguments: { before: recording, after: recording } });
if (same.isError || !same.content[0].text.includes('"type":"changes"')) fail(same.content[0].text);
const missing = await client.callTool({ name: 'report', arguments: { file: '/nowhere' } });
if (!missing.isError) fail('a recording that is missing is no error');
for (const bad of [{ file: recording, output: 'x' }, { file: recording, pd: 5 }, {}, { file: '-' }]) {
  await client.callTool({ name: 'report', arguments: bad }).then(() => fail('accepted: ' + JSON.stringify(bad)), () => {});
}
await client.callTool({ name: 'report', arguments: { file: '--help' } })
  .then((r) => r.isError || fail('an option came through as a file: ' + r.content[0].text));
await client.close();
console.log(tools.map((t) => t.name).join(' '));
