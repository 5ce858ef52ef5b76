// SPDX-License-Identifier: BSD-2-Clause
// Runs the page's own scripts over containers (host/page/page.h), without a browser: the critical paths
// and times that a text asks for by its lines "path PD FROM TO" and "choose WHAT AT", and the latencies, in the form of that text. Prints the first
// line that differs; exit status 1. Prints the number of recordings if none differs. Of tests/unit/test_page_path.c.
// usage: node page_paths.mjs wake-ups|calls NAME.page... (the text is in NAME.text)
import fs from 'node:fs';
import vm from 'node:vm';

const [kinds, ...containers] = process.argv.slice(2);
const context = vm.createContext({ TextDecoder, DataView, BigInt });
const page = ['state', 'data', 'schedule', 'critical_path', 'latency'];
const load = (name) => vm.runInContext(fs.readFileSync(`host/page/${name}.js`, 'utf8'), context, `${name}.js`);
page.forEach(load);
const makeOf = `(() => {
  const p = new Profile(bytes), origin = Number(p.start);
  const path = (pd, from, to) => {
    const path = new CriticalPath(p.schedule, pd, from - origin, to - origin);
    return path.steps.map((s) => \`step \${s.from + origin} \${s.to + origin} \${path.by(s)} \${path.words(s)}\`);
  };
  const latencies = (kinds) => new Latencies(p).rows(0, p.span).slice(0, kinds).flat().map((row) => \`latency \${row.count} \${row.total} \` +
    \`\${PER_MILLE.map((part) => row.quantile(part)).join(' ')} \${row.longest.to - row.longest.from} \${row.words.replace(' →', ' ->')}\`).sort();
  const choose = (what, at) => {
    const latencies = new Latencies(p), found = latencies.choose(what, at === 0 ? null : at - origin);
    return found.problem ? 'none' : \`\${found.pd} \${found.from + origin} \${found.to + origin} of \${/ of ([0-9]+) /.exec(found.title)[1]}\`;
  };
  return { path, latencies, choose };
})()`;

for (const container of containers) {
  context.bytes = new Uint8Array(fs.readFileSync(container)).buffer;
  const made = vm.runInContext(makeOf, context);
  const text = container.replace(/page$/, 'text');
  const want = fs.readFileSync(text, 'utf8').trim().split('\n');
  const answer = (line) => {
    const [kind, ...words] = line.split(' ');
    return kind === 'path' ? [line, ...made.path(...words.map(Number))]
      : kind === 'choose' ? [`choose ${words[0]} ${words[1]} ${made.choose(words[0], Number(words[1]))}`] : [];
  };
  const have = [...made.latencies(kinds === 'wake-ups' ? 2 : 1), ...want.flatMap(answer)];
  const wrong = want.findIndex((line, i) => line !== have[i]);
  if (wrong >= 0 || have.length !== want.length) {
    const at = wrong >= 0 ? wrong : want.length;
    const of = want.slice(0, at + 1).findLast((line) => line.startsWith('path '));
    console.log(`line ${at + 1} of ${text}, of "${of}": "${have[at]}" instead of "${want[at]}"`);
    process.exit(1);
  }
}
console.log(`${containers.length} recordings`);
