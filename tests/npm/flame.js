// SPDX-License-Identifier: BSD-2-Clause
// The body of a function that runs in a flame graph's page: what the browser made of the colours and
// places, as an object. Colours by PD and kernel, or, in a differential graph, by change.
var all = [...document.querySelectorAll('#frames g')].map((g) => {
  var rgb = getComputedStyle(g.children[1]).fill.match(/[0-9]+/g).map(Number);
  var most = Math.max(...rgb), range = most - Math.min(...rgb);
  var [r, g1, b] = rgb;
  var hue = range === 0 ? -1 : 60 * (most === r ? ((g1 - b) / range + 6) % 6 :
    most === g1 ? (b - r) / range + 2 : (r - g1) / range + 4);
  var title = g.children[0].textContent, box = g.children[1].getBoundingClientRect();
  var change = /before ([0-9.]+)%, change ([-+][0-9.]+) points/.exec(title);
  return { name: g.dataset.n, d: +g.dataset.d, x: +g.dataset.x, w: +g.dataset.w, rgb, hue, y: box.top,
    share: /, ([0-9.]+)%/.exec(title)[1], kernel: /\nkernel/.test(title), pd: /\nPD/.test(title), before: change && change[1],
    change: change && change[2], range };
});
// Of PDs that called each other, a frame is the innermost one's.
var pds = all.filter((f) => f.pd);
var pdOf = (f) => pds.filter((p) => p.d <= f.d && f.x >= p.x && f.x + f.w <= p.x + p.w)
  .sort((a, b) => b.d - a.d)[0];
var wrong = [], bad = (f, why) => wrong.push(f.name + ': ' + why + ' ' + JSON.stringify(f));
var differential = all[0].change !== null;
all.slice(1).forEach((f) => {
  var pd = pdOf(f), unknown = /unknown/.test(f.name);
  if (differential) {
    if (+f.change > 0 && !(f.rgb[0] > f.rgb[2])) bad(f, 'grew and is not red');
    if (+f.change < 0 && !(f.rgb[2] > f.rgb[0])) bad(f, 'shrank and is not blue');
  } else if (f.kernel) {
    if (f.rgb.some((c, i) => Math.abs(c - 0.72 * pd.rgb[i]) > 1)) bad(f, 'in the kernel and not darker');
  } else if (!unknown) {
    var part = f.rgb.map((c, i) => (c - pd.rgb[i]) / (255 - pd.rgb[i] || 1));
    if (part.some((x, i) => pd.rgb[i] < 200 && Math.abs(x) > 0.02 && Math.abs(x - 0.45) > 0.02)) bad(f, 'not in the colour of its PD');
  }
});
// The larger the change, the stronger the colour.
[1, -1].forEach((sign) => {
  var f = all.slice(1).filter((x) => sign * x.change > 0).sort((a, b) => Math.abs(a.change) - Math.abs(b.change));
  f.forEach((x, i) => {
    if (i && x.rgb[1] > f[i - 1].rgb[1] && Math.abs(x.change - f[i - 1].change) > 0.015) { // beyond rounding
      bad(x, 'paler than a smaller change');
    }
  });
});
// PDs are distinguished from each other.
if (!differential) {
  pds.forEach((a, i) => {
    pds.slice(0, i).forEach((b) => {
      if ((String(a.rgb) === String(b.rgb)) !== (a.name === b.name)) bad(a, 'as ' + b.name);
    });
  });
}
// A PD's frame has its share alone if no PD worked for it, nor it for others.
var called = pds.filter((f) => f.d > 1);
var alone = (p) => !called.some((c) => c.name === p.name || (c.x >= p.x && c.x < p.x + p.w));
return 'wrong=' + wrong.length + ' ' + wrong.slice(0, 3).join('; ') + ' kernel=' + all.filter((f) => f.kernel).length +
  ' pds=' + new Set(pds.map((f) => f.name)).size + ' called=' + called.length + ' down=' + all.slice(1).filter((f) => f.y > all[0].y).length +
  ' up=' + all.slice(1).filter((f) => f.y < all[0].y).length +
  ' grew=' + all.filter((f) => +f.change > 0).length + ' shrank=' + all.filter((f) => +f.change < 0).length +
  ' rows:' + all.filter((f) => f.change !== null && ((f.d === 1 && alone(f) && !/^(profiler|client)$/.test(f.name)) || /^known_/.test(f.name)))
  .map((f) => [f.name, f.before, f.share, f.change].join(' ')).join(';');
