// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: the recording that was before. Owns: its sums, found by names, for what passes
// the same filters (times and cores are the other recording's own). Changes are in percentage points.
'use strict';

class Comparison {
  constructor(base) {
    this.base = base;
    this.selection = new Selection(base, true);
    this.update();
  }

  update() {
    const p = this.base, s = this.selection;
    this.whole = s.whole();
    const pds = s.byPd(s.mask('pd')), functions = s.byFunction(s.mask('fn'));
    this.pds = new Map(p.pds.map((pd, i) => [pd.name, pds[i].user + pds[i].kernel]));
    this.functions = functions;
  }

  share(weight) {
    return this.whole ? 100 * weight / this.whole : 0;
  }

  pd(name) {
    return this.share(this.pds.get(name) ?? 0);
  }

  // The share of a function itself.
  self(key) {
    const f = this.base.functionOf(key);
    return f === undefined ? 0 : this.share(this.functions.self[f]);
  }

  // Shares of the flame graph's frames, by their path of names.
  frames(starts) {
    const tree = new FrameTree(this.base, starts), s = this.selection;
    const total = tree.totals(s.byNode(s.mask('node')));
    return new Map(tree.nodes.map((node, i) => [tree.path(i).join('\n'), this.share(total[i])]));
  }
}

function points(change) {
  return `${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(2)}`;
}

// Red grew, blue shrank; the square root makes small changes visible. As in the SVG.
function changeColour(change) {
  const strength = Math.sqrt(Math.min(1, Math.abs(change) / 10));
  return change === 0 ? '#ededed'
    : `hsl(${change > 0 ? 0 : 220} 90% ${Math.round(93 - 33 * strength)}%)`;
}
