// SPDX-License-Identifier: BSD-2-Clause
// Reads a file with speedscope's own importers, which are inside its released page script, and prints
// for each profile "NAME TOTAL", then for the first one each frame's "  NAME SELF TOTAL".
// usage: node speedscope.mjs NODE_MODULES FILE
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

const release = `${process.argv[2]}/speedscope/dist/release`;
const script = fs.readdirSync(release).find((f) => /^speedscope-.*\.js$/.test(f));
let text = fs.readFileSync(`${release}/${script}`, 'utf8');

const importer = /async function (\w+)\(\w+,\w+\)\{return\(await \w+\)\.importProfileGroupFromText/.exec(text);
const start = text.indexOf('console.log(`speedscope v');
if (!importer || start < 0) {
  throw new Error('this release of speedscope is not the one that is known');
}
// The importer instead of the page.
text = `${text.slice(0, start)}globalThis.importProfile=${importer[1]};})();`;

const element = new Proxy(function () {}, { get: (t, k) => (k === Symbol.toPrimitive ? () => '' : element),
  apply: () => element, construct: () => element });
const context = vm.createContext({ console: { log() {} }, setTimeout, clearTimeout, TextDecoder,
  TextEncoder, URL, Blob,
  performance, queueMicrotask, navigator: { userAgent: '', platform: '' }, document: element,
  location: { hash: '', protocol: 'file:' }, matchMedia: () => element,
  requestAnimationFrame: () => 0, addEventListener: () => 0 });
context.window = context.self = context;
vm.runInContext(text, context);

const file = process.argv[3];
const group = await context.importProfile(path.basename(file), fs.readFileSync(file, 'utf8'));
group.profiles.forEach((profile, i) => {
  console.log(`${profile.getName()} ${profile.getTotalWeight()}`);
  if (i === 0) {
    profile.forEachFrame((f) => {
      console.log(`  ${f.name} ${f.getSelfWeight()} ${f.getTotalWeight()}`);
    });
  }
});
process.exit(0); // what the page would have gone on to do does not matter
