// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: sums over the selected samples. Owns: which chains pass a selection, and the
// weights of PDs, functions and stack nodes. A part of the page leaves out the filter that it sets
// itself, so that a PD can be chosen beside another.
'use strict';

class Selection {
  // untimed: times and cores do not select, as those of another recording.
  constructor(profile, untimed = false) {
    this.profile = profile;
    this.untimed = untimed;
    this.timed = null; // weights of chains within the selected time and core
    this.flags = new Map(); // node flags of the current filters, by what they are of
  }

  // Forgets what depends on the names that changed.
  changed(names) {
    if (['from', 'to', 'core'].some((name) => names.has(name))) {
      this.timed = null;
    }
    for (const name of ['fn', 'node', 'words']) {
      if (names.has(name)) {
        this.flags.delete(name);
      }
    }
  }

  event() {
    const at = this.profile.info.events.findIndex((event) => event.name === state.event);
    return Math.max(at, 0);
  }

  // Per chain: weight and samples within the selected time and core; per event: the sum of squared weights.
  weights() {
    const p = this.profile;
    if (this.untimed || (state.from === null && state.core === null)) {
      return p.totals;
    }
    this.timed ??= p.sumChains(state.from === null ? 0 : p.sampleAt(state.from), state.from === null ? p.samples : p.sampleAt(state.to + 1), state.core);
    return this.timed;
  }

  // Calls each(chain, weight, samples) for the chains of a mask that have samples.
  each(mask, each) {
    const { weight, samples } = this.weights();
    for (let i = 0; i < mask.length; i++) {
      if (mask[i] && samples[i] > 0) {
        each(i, weight[i], samples[i]);
      }
    }
  }

  // Per node: whether a stack that ends there passes a filter on its frames.
  nodeFlags(name) {
    const p = this.profile;
    if (state[name].length === 0) {
      return null;
    }
    if (!this.flags.has(name)) {
      const flag = new Uint8Array(p.n_label.length);
      const f = p.functionOf(state.fn), hit = name === 'node' ? this.nodeHit() : name === 'fn' ? (node) => p.n_label[node] === f : this.wordHit();
      for (let i = 1; i < flag.length; i++) {
        flag[i] = flag[p.n_parent[i]] || hit(i) ? 1 : 0;
      }
      this.flags.set(name, flag);
    }
    return this.flags.get(name);
  }

  wordHit() {
    const p = this.profile, words = state.words.toLowerCase();
    const found = new Uint8Array(p.functions + p.pds.length).map((_, label) => {
      const of = p.label(label);
      return `${p.pdName(of.pd)} ${of.name}`.toLowerCase().includes(words);
    });
    return (node) => found[p.n_label[node]] === 1;
  }

  // A node is named by the path of names from its PD; start code in between does not count, so that
  // a path means the same whether it is shown or not.
  nodeHit() {
    const p = this.profile, want = state.node, matched = new Int32Array(p.n_label.length);
    return (node) => {
      const label = p.n_label[node], before = matched[p.n_parent[node]], of = p.label(label);
      if (before < 0 || before === want.length) {
        matched[node] = -1;
      } else if (nodeName(of) === want[before]) {
        matched[node] = before + 1;
      } else {
        matched[node] = !of.isPd && p.isStart[label] ? before : -1;
      }
      return matched[node] === want.length;
    };
  }

  // Per chain: 1 if it passes all filters but those named.
  mask(...without) {
    const p = this.profile, n = p.c_node.length, event = this.event(), mask = new Uint8Array(n);
    const any = state.pd === '' || without.includes('pd'), pd = p.pds.findIndex((of) => of.name === state.pd);
    const flags = ['fn', 'node', 'words'].filter((name) => !without.includes(name))
      .map((name) => this.nodeFlags(name)).filter((flag) => flag !== null);
    for (let i = 0; i < n; i++) {
      mask[i] = p.c_event[i] === event && (any || p.c_pd[i] === pd) &&
        flags.every((flag) => flag[p.c_node[i]] === 1) ? 1 : 0;
    }
    return mask;
  }

  // What percentages are of: the event's samples within the selected time and core, as in mkperf
  // report with --time and --pd.
  whole() {
    return this.total(this.mask('pd', 'fn', 'node', 'words')).weight;
  }

  // To how many samples of equal weight those within the selected time and core amount.
  equalSamples() {
    const squares = this.weights().squares[this.event()];
    return squares > 0 ? this.whole() ** 2 / squares : 0;
  }

  // {weight, samples} of a mask.
  total(mask) {
    const out = { weight: 0, samples: 0 };
    this.each(mask, (chain, weight, samples) => {
      out.weight += weight;
      out.samples += samples;
    });
    return out;
  }

  // Per PD: {user, kernel, samples}.
  byPd(mask) {
    const p = this.profile, out = p.pds.map(() => ({ user: 0, kernel: 0, samples: 0 }));
    this.each(mask, (chain, weight, samples) => {
      out[p.c_pd[chain]][p.kernel[chain] ? 'kernel' : 'user'] += weight;
      out[p.c_pd[chain]].samples += samples;
    });
    return out;
  }

  // Per PD: the weight of its own work and of others' on its behalf, as mkperf report --charged has it.
  charged(mask) {
    const p = this.profile, out = new Float64Array(p.pds.length);
    this.each(mask, (chain, weight) => { out[p.c_charged[chain]] += weight; });
    return out;
  }

  // Per function: self, total (with what it called; once for each stack), samples of its own.
  byFunction(mask) {
    const p = this.profile, out = {
      self: new Float64Array(p.functions), total: new Float64Array(p.functions),
      samples: new Uint32Array(p.functions),
    };
    const seen = new Uint32Array(p.functions);
    this.each(mask, (chain, weight, samples) => {
      out.self[p.leaf[chain]] += weight;
      out.samples[p.leaf[chain]] += samples;
      for (let node = p.c_node[chain]; node !== 0; node = p.n_parent[node]) {
        const f = p.n_label[node];
        if (f < p.functions && !p.f_inlined[f] && seen[f] !== chain + 1) {
          seen[f] = chain + 1;
          out.total[f] += weight;
        }
      }
    });
    return out;
  }

  // Per node: the weight of the stacks that end there.
  byNode(mask) {
    const p = this.profile, out = new Float64Array(p.n_label.length);
    this.each(mask, (chain, weight) => { out[p.c_node[chain]] += weight; });
    return out;
  }

  // Callers and callees of a function: {label: weight}, by the frames beside it in each stack.
  around(f, mask) {
    const p = this.profile, out = { callers: new Map(), callees: new Map() };
    this.each(mask, (chain, weight) => {
      const found = { callers: new Set(), callees: new Set() };
      for (let node = p.c_node[chain], below = -1; node !== 0; node = p.n_parent[node]) {
        if (p.n_label[node] === f) {
          found.callers.add(p.n_label[p.n_parent[node]]);
          if (below >= 0) {
            found.callees.add(below);
          }
        }
        below = p.n_label[node];
      }
      ['callers', 'callees'].forEach((of) => found[of].forEach((label) => out[of].set(label, (out[of].get(label) ?? 0) + weight)));
    });
    return out;
  }

  // Weights by offset of a function's code, of its own samples.
  byOffset(f, mask) {
    const p = this.profile, out = new Map();
    this.each(mask, (chain, weight) => {
      const offset = p.c_offset[chain] - 1;
      if (p.leaf[chain] === f && offset >= 0) {
        out.set(offset, (out.get(offset) ?? 0) + weight);
      }
    });
    return out;
  }
}

// What a stack frame is called in a path of names.
function nodeName(of) {
  return of.isPd ? `PD ${of.name}` : of.kernel ? `${of.name} [k]` : of.name;
}

// Another recording, which was before. Owns: its sums, found by names, for what passes the same filters (times and cores are the
// other recording's own), and whether a change may be chance, by the rule of mkperf diff (host/report/comparison.c). Changes are in
// percentage points.

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
    const pds = s.byPd(s.mask('pd')), functions = s.byFunction(s.mask('fn')).self; // shares of PDs, and of functions themselves:
    this.pds = new Map(p.pds.map((pd, i) => [pd.name, this.share(pds[i].user + pds[i].kernel)]));
    this.functions = new Map(Array.from(functions, (weight, f) => [p.functionKey(f), this.share(weight)]));
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

  // In how many rows chance can claim a change. now, before: shares (per cent) by names; now of so many equal samples.
  rows(now, before, samples) {
    const [a, b] = [this.samples, samples];
    const names = [...new Set([...now.keys(), ...before.keys()])].filter((name) => now.get(name) > 0 || before.get(name) > 0);
    const claim = names.filter((name) =>
      ((before.get(name) ?? 0) * a + (now.get(name) ?? 0) * b) / 100 / (a + b) * Math.min(a, b) >= EXPECTED_LEAST);
    return claim.length === 0 || names.length === 2 ? 1 : claim.length;
  }

  share(weight) {
    return this.whole ? 100 * weight / this.whole : 0;
  }

  // Shares of the flame graph's frames, by their path of names.
  frames(starts) {
    const tree = new FrameTree(this.base, starts), s = this.selection;
    const { total } = tree.sums(s.byNode(s.mask('node')));
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
