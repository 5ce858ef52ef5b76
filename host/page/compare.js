// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: another recording, which was before. Owns: its sums, found by names, for what passes
// the same filters (times and cores are the other recording's own), and whether a change may be chance, by the
// rule of mkperf diff (host/report/comparison.c). Changes are in percentage points.
'use strict';

const CHANCE = 0.05, EXPECTED_LEAST = 5; // of a change that counts as one; samples of which something can be said

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
    this.samples = s.equalSamples();
  }

  // The change of a share (per cent) in one of so many rows, with so many samples of equal weight:
  // {before, change, chance, sure}. chance: that some row changes as much, or more, if nothing changed.
  change(before, now, rows, samples) {
    const [x, y, a, b] = [before / 100, now / 100, this.samples, samples];
    const pooled = (x * a + y * b) / (a + b), error = Math.sqrt(pooled * (1 - pooled) * (1 / a + 1 / b));
    const known = Math.min(pooled * a, pooled * b) >= EXPECTED_LEAST && error > 0;
    const chance = known ? Math.min(1, rows * erfc(Math.abs(y - x) / error / Math.SQRT2)) : 1;
    return { before, change: now - before, chance, sure: chance <= CHANCE };
  }

  // In how many rows chance can claim a change. now: shares (per cent) by names, of so many equal samples; list: pds, functions, or
  // such a map of the shares before.
  rows(now, list, samples) {
    const p = this.base, share = (weight) => this.share(weight), [a, b] = [this.samples, samples];
    const before = list === 'pds' ? new Map([...this.pds].map(([name, weight]) => [name, share(weight)]))
      : list === 'functions' ? new Map(Array.from(this.functions.self, (weight, f) => [p.functionKey(f), share(weight)])) : list;
    const names = [...new Set([...now.keys(), ...before.keys()])].filter((name) => now.get(name) > 0 || before.get(name) > 0);
    const claim = names.filter((name) =>
      ((before.get(name) ?? 0) * a + (now.get(name) ?? 0) * b) / 100 / (a + b) * Math.min(a, b) >= EXPECTED_LEAST);
    return claim.length === 0 || names.length === 2 ? 1 : claim.length;
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

function chanceWords({ chance, sure }) {
  return sure ? `chance ${chance.toPrecision(2)}` : `may be chance${chance < 1 ? ` (${chance.toPrecision(2)})` : ''}`;
}

// The complementary error function, to 1.2e-7 of its value: Chebyshev fit of Numerical Recipes, 6.2.
function erfc(x) {
  const t = 1 / (1 + x / 2), fit = [-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398,
    1.48851587, -0.82215223, 0.17087277];
  return t * Math.exp(-x * x + fit.reduceRight((sum, of) => of + t * sum, 0));
}

// Red grew, blue shrank, grey may be chance; the square root makes small changes visible. As in the SVG.
function changeColour({ change, sure }) {
  const strength = Math.sqrt(Math.min(1, Math.abs(change) / 10));
  return !sure ? '#ededed'
    : `hsl(${change > 0 ? 0 : 220} 90% ${Math.round(93 - 33 * strength)}%)`;
}
