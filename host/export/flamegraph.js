// SPDX-License-Identifier: BSD-2-Clause
// The script inside a flame graph: zoom, search, reset, details of the frame under the pointer. Owns: the code
// that runs in the viewer, which is in the picture without these lines. It uses only its own picture.
// Frames carry data-x, data-w (in events, from the left), data-d (depth) and data-n (name). The address's
// fragment keeps the search, so a link can show it: #s=REGEX.
'use strict';
var frames = [], width = 1180, left = 10, focus = null, pattern = null, total = 1;
var words = null;
function byId(id) { return document.getElementById(id); }
function init() {
  var list = byId('frames').children;
  for (var i = 0; i < list.length; i++) {
    var g = list[i];
    var f = { g: g, rect: g.children[1], text: g.children[2],
      title: g.children[0].textContent, name: g.getAttribute('data-n'),
      x: +g.getAttribute('data-x'), w: +g.getAttribute('data-w'),
      d: +g.getAttribute('data-d') };
    f.fill = f.rect.getAttribute('fill');
    frames.push(f);
    listen(f);
  }
  total = +byId('frames').getAttribute('data-all') || 1;
  fit();
  if (typeof window === 'object') { window.addEventListener('resize', fit); }
  byId('reset').addEventListener('click', reset);
  byId('search').addEventListener('click', ask);
  document.addEventListener('keydown', function (e) {
    if (e.key === 'Escape') { reset(); }
    if ((e.key === '/' && e.target !== words) || (e.key === 'f' && e.ctrlKey)) { e.preventDefault(); ask(); }
  });
  var wanted = /^#s=(.*)/.exec(document.location ? document.location.hash : '');
  if (wanted) { search(decodeURIComponent(wanted[1])); }
}
/* As wide as the window, if the picture is a page of its own. */
function fit() {
  var svg = document.documentElement;
  if (!svg || svg.localName !== 'svg' || !svg.clientWidth) { return; }
  var room = Math.max(400, window.innerWidth - 16);
  svg.setAttribute('width', room);
  svg.setAttribute('viewBox', '0 0 ' + room + ' ' + svg.getAttribute('height'));
  width = room - 2 * left;
  if (frames.length) { zoom(focus || frames[0]); }
}
function listen(f) {
  f.g.addEventListener('mouseover', function () { details(f.title); });
  f.g.addEventListener('mouseout', function () { details(''); });
  f.g.addEventListener('click', function () { zoom(f); });
}
function details(s) { byId('details').textContent = s.split('\n').join('   '); }
function place(f, x, w, dim) {
  f.g.setAttribute('display', 'inline');
  f.g.setAttribute('opacity', dim ? '0.5' : '1');
  f.rect.setAttribute('x', x.toFixed(2));
  f.rect.setAttribute('width', Math.max(w, 0.1).toFixed(2));
  f.text.setAttribute('x', (x + 3).toFixed(2));
  var room = Math.floor((w - 6) / 7);
  f.text.textContent = room < 3 ? '' :
    f.name.length <= room ? f.name : f.name.slice(0, room - 2) + '..';
}
function zoom(to) {
  focus = to;
  var scale = width / (to.w || 1), end = to.x + to.w;
  frames.forEach(function (f) {
    if (f.d < to.d && f.x <= to.x && f.x + f.w >= end) {
      place(f, left, width, true);
    } else if (f.d >= to.d && f.x >= to.x && f.x + f.w <= end) {
      place(f, left + (f.x - to.x) * scale, f.w * scale, false);
    } else {
      f.g.setAttribute('display', 'none');
    }
  });
  byId('reset').setAttribute('display', to === frames[0] && !pattern ? 'none' : 'inline');
}
function reset() {
  if (words) { words.value = ''; words.box.remove(); }
  search('');
  if (frames.length) { zoom(frames[0]); }
}
/* A field for a regular expression, below the word Search; the page follows as you type. */
function ask() {
  if (!words) {
    var box = document.createElementNS('http://www.w3.org/2000/svg', 'foreignObject');
    words = document.createElementNS('http://www.w3.org/1999/xhtml', 'input');
    box.setAttribute('x', left + width - 200);
    box.setAttribute('y', 24);
    box.setAttribute('width', 200);
    box.setAttribute('height', 22);
    words.setAttribute('id', 'words');
    words.setAttribute('aria-label', 'Functions that match (a regular expression)');
    words.setAttribute('style', 'width:100%;box-sizing:border-box;font:12px monospace');
    words.addEventListener('input', function () { search(words.value); });
    words.box = box;
    box.appendChild(words);
  }
  document.documentElement.appendChild(words.box);
  words.focus();
}
function search(s) {
  var out = byId('matched');
  try {
    pattern = s ? new RegExp(s) : null;
  } catch (e) {
    out.textContent = 'not a regular expression';
    return;
  }
  var hits = [];
  frames.forEach(function (f) {
    var hit = pattern && f.d > 0 && pattern.test(f.name);
    f.rect.setAttribute('fill', hit ? '#ff7aff' : f.fill);
    if (hit) { hits.push(f); }
  });
  out.textContent = pattern ? 'matched: ' + (100 * covered(hits) / total).toFixed(2) + '%' : '';
  byId('reset').setAttribute('display',
    pattern || (focus && focus !== frames[0]) ? 'inline' : 'none');
  if (document.location) { document.location.hash = s ? 's=' + encodeURIComponent(s) : ''; }
}
/* The width of the union: a match inside a match counts once. */
function covered(list) {
  var sum = 0, end = -1;
  list.slice().sort(function (a, b) { return a.x - b.x || b.w - a.w; }).forEach(function (f) {
    var from = Math.max(f.x, end), to = f.x + f.w;
    if (to > from) { sum += to - from; }
    end = Math.max(end, to);
  });
  return sum;
}
