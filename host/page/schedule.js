// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: what scheduling events say. Owns: intervals of each PD in each state, with sums
// that give the part of any stretch of time at the same cost however many intervals it holds; calls
// between PDs; what made which PD ready; and their words. Of a large recording the page has sums of the whole
// time, and asks the server for a stretch of it: single intervals, or finer sums. A PD that waits for work is
// in an interval as well, but not drawn: it is the background.
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
const NOBODY = -1, LIST_PARTS = 8192; // parts of a list's time, for pictures of a list with many intervals
const STRETCH = { view: 100000, path: 1000000, kept: 6 }; // intervals that are asked for; stretches

// The members of each list with their defaults. All lists have them in this order, because browsers read such objects faster.
const LIST_OF = { pd: NOBODY, core: NOBODY, state: '', kernel: 0, first: 0, n: 0 };

// One PD in one state on one core, as sums over equal parts of from..to.
class SumList {
  constructor(of, ns, from, to) {
    Object.assign(this, LIST_OF, of, { from, to, before: sumsBefore(ns), out: null, summed: null });
  }

  // ns before a time; within a part as if it were spread over the part.
  until(time) {
    const n = this.before.length - 1, at = Math.min(n, Math.max(0, (time - this.from) / (this.to - this.from) * n));
    const part = Math.min(n - 1, Math.floor(at));
    return this.before[part] + (at - part) * (this.before[part + 1] - this.before[part]);
  }

  within(from, to) {
    return this.until(to) - this.until(from);
  }

  // The part (0 to 1) of each of n columns; null: none has any. The array is used again by the next call with the same n.
  columns(from, to, n) {
    if (this.within(from, to) <= 0) {
      return null;
    }
    const width = (to - from) / n, out = this.out = this.out?.length === n ? this.out : new Float32Array(n);
    for (let x = 0, last = this.until(from); x < n; x++) {
      const sum = this.until(from + (x + 1) * width);
      out[x] = Math.min(1, (sum - last) / width);
      last = sum;
    }
    return out;
  }
}

// Intervals of one kind (of a PD in a state, of samples, or gaps of a core), in the order of time, within from..to. before: ns of all
// intervals before one.
class IntervalList extends SumList {
  constructor(of, { from, to }, start, length, by, serving) {
    super(of, length, from, to);
    Object.assign(this, { n: length.length, by, serving, start: Float64Array.from(start), near: 0 });
    this.end = this.start.map((at, i) => at + length[i]);
  }

  // The last interval that begins at or before a time; -1: none. The search begins at the interval that was found last.
  at(time) {
    const i = upperBound(this.start, time, this.start[this.near] <= time ? this.near : 0) - 1;
    this.near = Math.max(0, i);
    return i;
  }

  until(time) {
    const i = this.at(time);
    return i < 0 ? 0 : this.before[i] + Math.min(time, this.end[i]) - this.start[i];
  }

  // Whether columns are computed from the sums of parts: there are many intervals, and a column is at least as wide as a part.
  isCoarse(from, to, n) {
    return this.n > LIST_PARTS && (to - from) / n >= (this.to - this.from) / LIST_PARTS;
  }

  // coarse: that of another list if both are compared. The sums of parts are made once.
  columns(from, to, n, coarse = this.isCoarse(from, to, n)) {
    if (!coarse || this.within(from, to) <= 0) {
      return super.columns(from, to, n);
    }
    const { from: begin, to: end } = this, part = (end - begin) / LIST_PARTS;
    this.summed ??= new SumList({}, super.columns(begin, end, LIST_PARTS).map((share) => share * part), begin, end);
    return this.summed.columns(from, to, n);
  }
}

// The first index from `low` on whose value, an integer, is above; near ones are found at once.
function upperBound(sorted, value, low) {
  let step = 1, high = low;
  while (high < sorted.length && sorted[high] <= value) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  return lowerBound(sorted, Math.floor(value) + 1, undefined, low, Math.min(high, sorted.length));
}

// States of PDs in from..to: single intervals (exact), or sums.
class Stretch {
  // of: a container's description of its lists, data: its columns.
  constructor(profile, of, data, from, to) {
    const part = (column, list) => column.subarray(list.first, list.first + list.n);
    Object.assign(this, { profile, data, from, to, exact: of.exact, found: of.found, parts: of.parts });
    const all = of.lists.map((list) => {
      if (!of.exact) {
        return new SumList(list, part(data.b_ns, list), from, to);
      }
      const length = part(data.i_length, list), before = sumsBefore(length);
      return new IntervalList(list, this, sums(part(data.i_gap, list)).map((gaps, i) => gaps + before[i]), length, part(data.i_by, list), part(data.i_for, list));
    });
    this.all = group(all, (list) => list.pd);
    this.lanes = Math.max(-1, ...this.all.keys()) + 1; // of PDs that there may be
    this.lists = all.filter((list) => list.state !== 'waiting');
    const order = Object.keys(STATES);
    this.lists.sort((a, b) => a.pd - b.pd || order.indexOf(a.state) - order.indexOf(b.state) || a.core - b.core);
    this.byPd = group(this.lists, (list) => list.pd);
    this.byCore = group(this.lists.filter((list) => list.state === 'running'), (list) => list.core);
    this.kinds = profile.info.sched.kinds;
    this.wakeTime = data.w_delta ? sums(data.w_delta) : new Float64Array();
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

  // [{list, all}] of a lane, all: the part of each column.
  columns(lane, from, to, n) {
    return this.lane(lane).map((list) => ({ list, all: list.columns(from, to, n) })).filter(({ all }) => all);
  }

  // What remains of a core's columns: it was idle, or events are missing.
  rest(lane, columns, from, to, n) {
    const idle = new Float32Array(n).fill(1), unknown = this.profile.schedule.gaps.get(lane.core)?.columns(from, to, n) ?? new Float32Array(n);
    for (let x = 0; x < n; x++) {
      for (const { all } of columns) {
        idle[x] -= all[x];
      }
      unknown[x] = Math.min(unknown[x], Math.max(0, idle[x]));
      idle[x] = Math.max(0, idle[x] - unknown[x]);
    }
    return { idle, unknown };
  }

  // ns of from..to in which cores were idle, all together.
  idle(from, to) {
    return this.profile.info.sched.cores.reduce((sum, core) => sum + to - from - (this.profile.schedule.gaps.get(core)?.within(from, to) ?? 0) -
      (this.byCore.get(core) ?? []).reduce((ran, list) => ran + list.within(from, to), 0), 0);
  }

  // What made a PD ready at a time: the number of the waking; -1: not known.
  wakingAt(pd, time) {
    let i = upperBound(this.wakeTime, time, 0) - 1;
    while (i >= 0 && this.wakeTime[i] === time && this.data.w_to[i] !== pd) {
      i--;
    }
    return i >= 0 && this.wakeTime[i] === time ? i : -1;
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
}

// The whole recording; and stretches of it, which are more detailed.
class Schedule extends Stretch {
  constructor(profile) {
    const p = profile;
    super(p, p.info.sched, p, p.info.sched.from, p.info.sched.to);
    this.callEnd = sums(p.a_delta);
    this.callStart = this.callEnd.map((end, i) => end - p.a_length[i]);
    this.longestCall = p.a_length.reduce((most, ns) => Math.max(most, ns), 0);
    const gaps = group([...p.g_core.keys()].sort((a, b) => p.g_from[a] - p.g_from[b]), (i) => p.g_core[i]);
    this.gaps = new Map([...gaps].map(([core, of]) => [core, new IntervalList({ core }, this,
      of.map((i) => p.g_from[i]), of.map((i) => p.g_length[i]))]));
    this.stretches = [this]; // the newest last
  }

  // The most detailed that there is of from..to.
  best(from, to) {
    return this.stretches.filter((of) => of === this || (of.from <= from && of.to >= to))
      .reduce((a, b) => (b.exact && !a.exact) || (b.exact === a.exact && b.to - b.from < a.to - a.from) ? b : a);
  }

  // With single intervals; null: the page does not have them.
  exactly(from, to) {
    const of = this.best(from, to);
    return of.exact ? of : null;
  }

  // With the sums of exactly this time; null: the page does not have them.
  known(from, to) {
    return this.exactly(from, to) ?? this.stretches.find((of) => of.from === from && of.to === to) ?? null;
  }

  // The stretch from..to from the server, with single intervals if there are at most so many.
  async load(from, to, most) {
    const there = this.exactly(from, to);
    if (there) {
      return there;
    }
    const begin = Math.max(0, Math.floor(from)), end = Math.min(this.profile.span, Math.ceil(Math.max(to, from + 1)));
    const data = await source.stretch(begin, end, most), got = new Stretch(this.profile, data.info, data, begin, end);
    this.stretches = [this, ...this.stretches.slice(1).slice(1 - STRETCH.kept), got];
    return got;
  }

  // A picture of from..to with so many columns is to be drawn: asks for more detail if it would be blurred, and
  // calls `done` when it is there. One request at a time, of the newest picture.
  want(from, to, columns, done) {
    const best = this.best(from, to), room = (to - from) / 4;
    const blurred = !best.exact && best.parts * (to - from) < columns * (best.to - best.from);
    const near = best !== this && ((best.from > 0 && from - best.from < room) || (best.to < this.profile.span && best.to - to < room));
    if (!blurred && !near) {
      return;
    }
    this.wanted = [from - 4 * room, to + 4 * room, done];
    this.loading ??= (async () => {
      while (this.wanted) {
        const [begin, end, then] = this.wanted;
        this.wanted = null;
        await this.load(begin, end, STRETCH.view);
        then();
      }
    })().finally(() => { this.loading = null; });
  }

  // Numbers of the calls of which some touch from..to, as a range of ends: some may have begun later.
  calls(from, to) {
    return [lowerBound(this.callEnd, from), upperBound(this.callEnd, to + this.longestCall, 0)];
  }

  // Why a guest exited to its monitor, if call i is that; otherwise undefined.
  exitName(i) {
    return this.profile.info.sched.exits.find((e) => e.exit === this.profile.a_exit[i])?.name;
  }

  callWords(i) {
    const p = this.profile;
    const exit = this.exitName(i);
    return `${exit ? `exit (${exit})` : 'call'} ${p.pdName(p.a_from[i])} → ${p.pdName(p.a_to[i])}: ` +
      `${duration(p.a_length[i])}, ${duration(p.a_wait[i])} until it is served`;
  }
}

function group(items, of) {
  const out = new Map();
  for (const item of items) {
    out.set(of(item), out.get(of(item)) ?? []).get(of(item)).push(item);
  }
  return out;
}
