// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: what scheduling events say. Owns: intervals of each PD in each state, with sums
// that give the part of any stretch of time at the same cost however many intervals it holds; calls
// between PDs; what made which PD ready; and their words. A PD that waits for work is in an interval as well, but
// not drawn: it is the background.
'use strict';

// In the order in which a lane stacks them. hatch: the slant of lines that tell it from a PD's colour.
const STATES = {
  running: { words: 'runs', name: 'runs' },
  ready: { words: 'is ready', name: 'ready, another runs', colour: '--ready', hatch: 1 },
  calling: { words: 'waits for a reply', name: 'waits for a reply', colour: '--calling', hatch: -1 },
  throttled: { words: 'has used up its budget', name: 'budget used up', colour: '--stopped', hatch: 1 },
  stopped: { words: 'is stopped', name: 'stopped', colour: '--stopped', hatch: 1 },
  unknown: { words: 'not known', name: 'not known', colour: '--unknown', hatch: -1 },
};
const NOBODY = -1, LIST_BINS = 8192; // bins of a list, over the whole recording

// Intervals of one PD in one state on one core, in the order of time.
class IntervalList {
  constructor(of, gap, length, by, serving) {
    Object.assign(this, of, { by, serving, start: new Float64Array(of.n), end: new Float64Array(of.n) });
    this.before = new Float64Array(of.n + 1); // ns of all intervals before one
    for (let i = 0, at = 0, sum = 0; i < of.n; i++) {
      this.start[i] = at + gap[i];
      this.end[i] = at = this.start[i] + length[i];
      this.before[i + 1] = sum += length[i];
    }
  }

  // The last interval that begins at or before a time; -1: none.
  at(time) {
    return upperBound(this.start, time, 0) - 1;
  }

  // The beginning of the first interval that ends after a time; Infinity: there is none.
  after(time) {
    const i = this.at(time);
    return (i >= 0 && this.end[i] > time ? this.start[i] : this.start[i + 1]) ?? Infinity;
  }

  sum(i, time) {
    return i < 0 ? 0 : this.before[i] + Math.min(time, this.end[i]) - this.start[i];
  }

  // ns of from..to that are in it.
  within(from, to) {
    return this.sum(this.at(to), to) - this.sum(this.at(from), from);
  }

  // The part of each of out.length columns; null: none has any. edge: where columns that are not
  // narrower than a bin begin, of binEdges; null: exact.
  columns(from, to, out, edge) {
    let i = this.at(from), last = this.sum(i, from);
    if (this.sum(this.at(to), to) - last <= 0) {
      return null;
    }
    const width = (to - from) / out.length;
    if (edge) {
      return this.binned(edge, width, out);
    }
    for (let x = 0; x < out.length; x++) {
      const time = from + (x + 1) * width;
      if (i + 1 < this.n && this.start[i + 1] <= time) {
        i = upperBound(this.start, time, i + 1) - 1;
      }
      const sum = this.sum(i, time);
      out[x] = (sum - last) / width;
      last = sum;
    }
    return out;
  }

  // The same from sums at the beginnings of bins, which are made once.
  binned({ bin, part, span }, width, out) {
    if (!this.bins) {
      this.bins = new Float64Array(LIST_BINS + 2);
      for (let k = 0, i = -1; k <= LIST_BINS + 1; k++) {
        const time = k * span / LIST_BINS;
        i = upperBound(this.start, time, i + 1) - 1;
        this.bins[k] = this.sum(i, time);
      }
    }
    const { bins } = this;
    let last = bins[bin[0]] + part[0] * (bins[bin[0] + 1] - bins[bin[0]]);
    for (let x = 0; x < out.length; x++) {
      const k = bin[x + 1], sum = bins[k] + part[x + 1] * (bins[k + 1] - bins[k]);
      out[x] = (sum - last) / width;
      last = sum;
    }
    return out;
  }
}

// In which of the bins of the whole recording n columns begin, and where in it; null: they are
// narrower than bins.
function binEdges(from, to, n, span) {
  const width = (to - from) / n, bin = new Int32Array(n + 1), part = new Float64Array(n + 1);
  if (width < span / LIST_BINS) {
    return null;
  }
  for (let i = 0; i <= n; i++) {
    const at = Math.min(LIST_BINS, Math.max(0, (from + i * width) / span * LIST_BINS));
    bin[i] = Math.floor(at);
    part[i] = at - bin[i];
  }
  return { bin, part, span };
}

// The first index from `low` on whose value is above; near ones are found at once.
function upperBound(sorted, value, low) {
  let step = 1, high = low;
  while (high < sorted.length && sorted[high] <= value) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  high = Math.min(high, sorted.length);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

class Schedule {
  constructor(profile) {
    const p = profile, part = (column, list) => column.subarray(list.first, list.first + list.n);
    this.profile = p;
    [this.from, this.to] = [p.info.sched.from, p.info.sched.to];
    this.kinds = p.info.sched.kinds;
    const all = p.info.sched.lists.map((list) => new IntervalList(list, part(p.i_gap, list),
      part(p.i_length, list), part(p.i_by, list), part(p.i_for, list)));
    this.all = group(all, (list) => list.pd);
    this.lanes = Math.max(-1, ...this.all.keys()) + 1; // of PDs that there may be
    this.lists = all.filter((list) => list.state !== 'waiting');
    const order = Object.keys(STATES);
    this.lists.sort((a, b) => a.pd - b.pd || order.indexOf(a.state) - order.indexOf(b.state) || a.core - b.core);
    this.byPd = group(this.lists, (list) => list.pd);
    this.byCore = group(this.lists.filter((list) => list.state === 'running'), (list) => list.core);
    this.callStart = sums(p.a_delta);
    this.longestCall = p.a_length.reduce((most, ns) => Math.max(most, ns), 0);
    this.wakeTime = sums(p.w_delta);
    this.gaps = group([...p.g_core.keys()], (i) => p.g_core[i]);
    this.rooms = new Map();
  }

  // ns of a PD in each state within from..to: {running, ready, ...}.
  times(pd, from, to) {
    const out = {};
    for (const list of this.byPd.get(pd) ?? []) {
      out[list.state] = (out[list.state] ?? 0) + list.within(from, to);
    }
    return out;
  }

  lane(lane) {
    return (lane.kind === 'core' ? this.byCore.get(lane.core) : this.byPd.get(lane.pd)) ?? [];
  }

  // [{list, all}] of a lane, all: the part of each column. The arrays are used again.
  columns(lane, from, to, n) {
    const out = [], key = `${from} ${to} ${n}`;
    if (this.edgeKey !== key) { // the same for all lanes of a picture
      this.edgeKey = key;
      this.edge = binEdges(from, to, n, this.profile.span);
    }
    for (const list of this.lane(lane)) {
      if (list.room?.length !== n) {
        list.room = new Float32Array(n);
      }
      const all = list.columns(from, to, list.room, this.edge);
      if (all) {
        out.push({ list, all });
      }
    }
    return out;
  }

  // What remains of a core's columns: it was idle, or events are missing.
  rest(lane, columns, from, to, n) {
    const idle = this.room(`idle ${lane.core}`, n).fill(1), unknown = this.room(`unknown ${lane.core}`, n).fill(0);
    const width = (to - from) / n, p = this.profile;
    for (const i of this.gaps.get(lane.core) ?? []) {
      const begin = (p.g_from[i] - from) / width, end = (p.g_from[i] + p.g_length[i] - from) / width;
      for (let x = Math.max(0, Math.floor(begin)); x < Math.min(n, end); x++) {
        unknown[x] += Math.min(end, x + 1) - Math.max(begin, x);
      }
    }
    for (let x = 0; x < n; x++) {
      for (const { all } of columns) {
        idle[x] -= all[x];
      }
      unknown[x] = Math.min(unknown[x], Math.max(0, idle[x]));
      idle[x] = Math.max(0, idle[x] - unknown[x]);
    }
    return { idle, unknown };
  }

  room(name, n) {
    if (this.rooms.get(name)?.length !== n) {
      this.rooms.set(name, new Float32Array(n));
    }
    return this.rooms.get(name);
  }

  // ns of from..to in which it is not known what ran on a core.
  unknownWithin(core, from, to) {
    const p = this.profile;
    return (this.gaps.get(core) ?? []).reduce((sum, i) =>
      sum + Math.max(0, Math.min(to, p.g_from[i] + p.g_length[i]) - Math.max(from, p.g_from[i])), 0);
  }

  // ns of from..to in which cores were idle, all together.
  idle(from, to) {
    return this.profile.info.sched.cores.reduce((sum, core) => sum + to - from - this.unknownWithin(core, from, to) -
      (this.byCore.get(core) ?? []).reduce((ran, list) => ran + list.within(from, to), 0), 0);
  }

  // Per PD, idle included, the part of n columns for which it ran, on all cores together: [{pd, all, chosen}].
  utilisation(from, to, n) {
    const p = this.profile, { cores } = p.info.sched, out = new Map();
    const idle = p.pds.findIndex((pd) => pd.idle);
    const add = (pd, part) => {
      const all = out.get(pd) ?? new Float32Array(n);
      part.forEach((share, x) => { all[x] += share / cores.length; });
      out.set(pd, all);
    };
    for (const core of cores) {
      const columns = this.columns({ kind: 'core', core }, from, to, n);
      columns.forEach(({ list, all }) => add(list.pd, all));
      add(idle, this.rest({ core }, columns, from, to, n).idle);
    }
    return [...out].filter(([pd]) => p.pds[pd]).map(([pd, all]) => ({ pd, all, chosen: all, kernel: false }));
  }

  // What made a PD ready at a time: the number of the waking; -1: not known.
  wakingAt(pd, time) {
    let i = upperBound(this.wakeTime, time, 0) - 1;
    while (i >= 0 && this.wakeTime[i] === time && this.profile.w_to[i] !== pd) {
      i--;
    }
    return i >= 0 && this.wakeTime[i] === time ? i : -1;
  }

  // When a PD that is ready runs; -1: that is not known.
  runsAfter(pd, time) {
    let run = Infinity, lost = Infinity;
    for (const list of this.all.get(pd) ?? []) {
      if (list.state === 'running') {
        run = Math.min(run, list.after(time));
      } else if (list.state === 'unknown') {
        lost = Math.min(lost, list.after(time));
      }
    }
    return run < lost ? Math.max(run, time) : -1;
  }

  // The PD that ran last before the end of from..to, on a core, null: on any; -1: none.
  lastToRun(from, to, core) {
    const last = { pd: NOBODY, end: from };
    for (const list of this.lists.filter((of) => of.state === 'running' && (core === null || of.core === core))) {
      const i = lowerBound(list.start, to) - 1, end = i < 0 ? from : Math.min(to, list.end[i]);
      if (end > last.end) {
        Object.assign(last, { pd: list.pd, end });
      }
    }
    return last.pd;
  }

  // The interval of a lane at a moment: {list, i}; null: it waits, or the core is idle.
  intervalAt(lane, time) {
    for (const list of this.lane(lane)) {
      const i = list.at(time);
      if (i >= 0 && list.end[i] > time) {
        return { list, i };
      }
    }
    return null;
  }

  // The next (by 1) or previous (by -1) interval of the PD, or of all, that begins after or before.
  step(time, by, pd) {
    let found = null;
    for (const list of this.lists) {
      const i = by > 0 ? list.at(time) + 1 : lowerBound(list.start, time) - 1;
      const better = found === null || (list.start[i] - found.list.start[found.i]) * by < 0;
      if ((pd === '' || this.profile.pdName(list.pd) === pd) && i >= 0 && i < list.n && better) {
        found = { list, i };
      }
    }
    return found;
  }

  words({ list, i }) {
    const by = list.by[i] - 1, name = this.profile.pdName(by);
    const other = by === NOBODY ? '' : list.state === 'ready' ? `, ${name} runs` : list.state === 'calling' ? ` from ${name}` : '';
    return `PD ${this.profile.pdName(list.pd)} ${STATES[list.state].words}${other}: ` +
      `${duration(list.end[i] - list.start[i])}${list.state === 'running' ? `, core ${list.core}` : ''}`;
  }

  // Numbers of the calls that touch from..to, as a range of starts: some may have ended before.
  calls(from, to) {
    return [lowerBound(this.callStart, from - this.longestCall), upperBound(this.callStart, to, 0)];
  }

  callWords(i) {
    const p = this.profile;
    return `call ${p.pdName(p.a_from[i])} → ${p.pdName(p.a_to[i])}: ${duration(p.a_length[i])}, ` +
      `${duration(p.a_wait[i])} until it is served`;
  }
}

function group(items, of) {
  const out = new Map();
  for (const item of items) {
    out.set(of(item), out.get(of(item)) ?? []).get(of(item)).push(item);
  }
  return out;
}
