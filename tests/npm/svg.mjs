// SPDX-License-Identifier: BSD-2-Clause
// Runs a flame graph's own script over its frames, without a browser: zooms to a frame, searches,
// resets. Prints what the reader would see, one fact a line.
// usage: node svg.mjs FILE ZOOM-TO SEARCH
import fs from 'node:fs';
import vm from 'node:vm';

const text = fs.readFileSync(process.argv[2], 'utf8');
const unescape = (s) => s.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"')
  .replace(/&#10;/g, '\n').replace(/&amp;/g, '&');

const made = []; // elements that the script made
function element(attributes, content, children = []) {
  const listeners = {};
  return {
    children, textContent: unescape(content), attributes,
    getAttribute: (n) => attributes[n], setAttribute: (n, v) => { attributes[n] = String(v); },
    addEventListener: (n, f) => { listeners[n] = f; }, fire: (n) => listeners[n]({}),
    appendChild() {}, remove() {}, focus() {},
  };
}
function attributesOf(s) {
  return Object.fromEntries([...s.matchAll(/([\w-]+)="([^"]*)"/g)].map((m) => [m[1], unescape(m[2])]));
}

const frames = [...text.matchAll(
  /<g (data-[^>]*)><title>(.*?)<\/title><rect ([^>]*)\/><text ([^>]*)>(.*?)<\/text><\/g>/g,
)].map((m) => element(attributesOf(m[1]), '', [element({}, m[2]), element(attributesOf(m[3]), ''),
  element(attributesOf(m[4]), m[5])]));
const ids = { frames: element(attributesOf(/<g id="frames"[^>]*>/.exec(text)[0]), '', frames) };
for (const m of text.matchAll(/<text (id="(\w+)"[^>]*)>(.*?)<\/text>/g)) {
  ids[m[2]] = element(attributesOf(m[1]), m[3]);
}
const context = vm.createContext({
  document: {
    getElementById: (id) => ids[id], addEventListener() {}, location: { hash: '' },
    documentElement: element({}, ''),
    createElementNS: (_, name) => {
      made.push(Object.assign(element({}, ''), { name }));
      return made.at(-1);
    },
  },
});
vm.runInContext(/<script><!\[CDATA\[([\s\S]*?)\]\]><\/script>/.exec(text)[1], context);
context.init();

const seen = () => frames.filter((f) => f.attributes.display !== 'none').length;
const target = frames.find((f) => f.attributes['data-n'] === process.argv[3]);
console.log(`frames ${frames.length}`);
target.fire('mouseover');
console.log(`details ${ids.details.textContent}`);
target.fire('click');
console.log(`zoomed ${seen()} width ${target.children[1].attributes.width}`);
ids.search.fire('click');
Object.assign(made.find((e) => e.name === 'input'), { value: process.argv[4] }).fire('input');
console.log(ids.matched.textContent);
ids.reset.fire('click');
console.log(`reset ${seen()} width ${target.children[1].attributes.width} [${ids.matched.textContent}]`);
