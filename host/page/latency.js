// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: how long something took, each time. Owns: calls, wake-ups and phases as stretches
// of time, their statistics, and which of them a critical path is wanted of. Numbers are those of mkperf
// latency: a quantile is the end of a bucket of at most 1/16 (host/sched/log_histogram.c).
//
// What a path is of (state.path) is written as for mkperf latency --critical-path: FROM:TO, MARK..MARK or
// PHASE: the longest, or with state.at the longest that was under way then. Beside it, FROM->TO and irq N->TO are
// wake-ups, and '..' is the selected time.
'use strict';

const PER_MILLE = [500, 900, 990, 999], ROUNDED = 1000; // of quantiles; ns by which a time in a table may be wrong

// The number of a value's bucket, and the greatest value of a bucket.
function logBucket(ns) {
  const e = ns < 2 ** 32 ? 31 - Math.clz32(ns) : 63 - Math.clz32(Math.floor(ns / 2 ** 32));
  return ns < 16 ? ns : 16 * (e - 3) + Math.floor(ns / 2 ** (e - 4)) - 16;
}

function bucketEnd(bucket) {
  const next = bucket + 1;
  return next < 16 ? bucket : (16 + next % 16) * 2 ** (Math.floor(next / 16) - 1) - 1;
}

// Of one pair or name: {path, words, pds, count, total, longest: {pd, from, to}, quantile()}.
class Latency {
  constructor(path, words, pds) {
    Object.assign(this, { path, words, pds, count: 0, total: 0, longest: null, buckets: [] });
  }

  add(pd, from, to) {
    const bucket = logBucket(to - from);
    this.count++;
    this.total += to - from;
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
    if (this.longest === null || isLonger({ from, to }, this.longest)) {
      this.longest = { pd, from, to };
    }
  }

  quantile(perMille) {
    const need = Math.ceil(this.count * perMille / 1000);
    let sum = 0;
    const at = this.buckets.findIndex((n) => (sum += n ?? 0) >= need);
    return Math.min(bucketEnd(at), this.longest.to - this.longest.from);
  }
}

// Of equally long ones the one that ended first counts.
function isLonger(a, b) {
  const more = (a.to - a.from) - (b.to - b.from);
  return more > 0 || (more === 0 && a.to < b.to);
}

class Latencies {
  constructor(profile) {
    this.profile = profile;
    this.schedule = profile.schedule;
  }

  // Calls `each`(pd that was done, from, to, caller, name of a guest's exit) for all whole calls and exits.
  calls(each) {
    const p = this.profile;
    for (let i = 0; i < p.a_from.length; i++) {
      const from = this.schedule.callStart[i];
      each(p.a_to[i], from, from + p.a_length[i], p.a_from[i], this.schedule.exitName(i));
    }
  }

  // The longest call that fits: {from, to, caller, callee}, null.
  longestCall(fits) {
    let longest = null;
    this.calls((callee, from, to, caller) => {
      const call = { from, to, caller, callee };
      if (fits(call) && (longest === null || isLonger(call, longest))) {
        longest = call;
      }
    });
    return longest;
  }

  // From a notification or an interrupt until its PD runs: each(pd, from, to, waking).
  wakeUps(each) {
    const p = this.profile, s = this.schedule, kinds = ['notify', 'irq'].map((name) => s.kinds.indexOf(name));
    for (let i = 0; i < p.w_to.length; i++) {
      if (p.w_ran[i] > 0 && kinds.includes(p.w_kind[i])) {
        each(p.w_to[i], s.wakeTime[i], s.wakeTime[i] + p.w_ran[i] - 1, i);
      }
    }
  }

  // Phases of a name, '' all: each(pd, from, to, name's text).
  phases(name, each) {
    const p = this.profile, open = new Map();
    for (let i = 0; i < p.markTime.length; i++) {
      const key = `${p.m_name[i]} ${p.m_pd[i]} ${p.m_id[i]}`;
      if (p.m_kind[i] === 0 || (name !== '' && p.info.texts[p.m_name[i]] !== name)) {
        continue;
      }
      const begun = open.get(key) ?? [];
      if (p.m_kind[i] === 1) {
        open.set(key, [...begun, p.markTime[i]]);
      } else if (begun.length > 0) {
        each(p.m_pd[i], begun.pop(), p.markTime[i], p.m_name[i]);
      }
    }
  }

  // From each mark to the next one of another name: each(pd, from, to).
  betweenMarks(first, second, each) {
    const p = this.profile;
    let begun = -1;
    for (let i = 0; i < p.markTime.length; i++) {
      const name = p.info.texts[p.m_name[i]], at = p.markTime[i];
      if (begun >= 0 && name === second && at > begun) {
        each(p.m_pd[i], begun, at);
        begun = -1;
      }
      begun = name === first ? at : begun;
    }
  }

  wakeName(i) {
    const p = this.profile, to = p.pdName(p.w_to[i]);
    return this.schedule.kinds[p.w_kind[i]] === 'irq' ? `irq ${p.w_irq[i]}->${to}` : `${p.pdName(p.w_from[i] - 1)}->${to}`;
  }

  // The rows of the table, of what began within from..to: calls, wake-ups, phases; most time first.
  rows(from, to) {
    const p = this.profile, pd = (i) => p.pdName(i), kinds = [new Map(), new Map(), new Map()];
    const add = (rows, key, make, of, begin, end) => {
      if (begin >= from && begin <= to) {
        rows.set(key, rows.get(key) ?? make()).get(key).add(of, begin, end);
      }
    };
    this.calls((of, begin, end, caller, exit = '') => add(kinds[0], `${caller} ${of} ${exit}`, () =>
      new Latency(`${pd(caller)}:${pd(of)}${exit && `:${exit}`}`, `${pd(caller)} → ${pd(of)}${exit && `: ${exit}`}`, [caller, of]), of, begin, end));
    this.wakeUps((of, begin, end, i) => add(kinds[1], (p.w_irq[i] * (p.pds.length + 1) + p.w_from[i]) * p.pds.length + of, () =>
      new Latency(this.wakeName(i), this.wakeName(i).replace('->', ' → '), [p.w_from[i] - 1, of]), of, begin, end));
    this.phases('', (of, begin, end, name) => add(kinds[2], name, () =>
      new Latency(p.info.texts[name], p.info.texts[name], [of]), of, begin, end));
    return kinds.map((rows) => [...rows.values()].sort((a, b) => b.total - a.total));
  }

  // Of what a row counts, the one whose time is nearest: {from, to}. Those that began in the selected time count.
  nearest(row, ns) {
    let found = null;
    this.candidates(row.path, (pd, from, to) => {
      const counts = to > from && (state.from === null || (from >= state.from && from <= state.to));
      if (counts && (found === null || Math.abs(to - from - ns) < Math.abs(found.to - found.from - ns))) {
        found = { from, to };
      }
    });
    return found;
  }

  // What a path is of: {pd, from, to, title}; {problem} if there is no such time.
  choose(path, at) {
    if (path === '..') {
      return this.selectedTime();
    }
    let n = 0, found = null;
    const offer = (pd, from, to) => {
      const fits = at === null || (from <= at + ROUNDED && at <= to + ROUNDED);
      n++;
      if (to > from && fits && (found === null || isLonger({ from, to }, found))) {
        found = { pd, from, to };
      }
    };
    const words = this.candidates(path, offer);
    const which = at === null ? 'the longest' : 'the one at that time';
    return found ? { ...found, title: `${which} of ${n} ${words}` }
      : { problem: `no ${words} ${n > 0 ? 'at that time' : 'are in the recording'}` };
  }

  // Offers all that a path may be of; returns what they are.
  candidates(path, offer) {
    const p = this.profile, cut = (by) => [path.slice(0, path.indexOf(by)), path.slice(path.indexOf(by) + by.length)];
    if (path.includes('..')) {
      const [first, second] = cut('..');
      this.betweenMarks(first, second, offer);
      return `times ${first} .. ${second}`;
    }
    if (path.includes('->')) {
      const names = Array.from(p.w_to, (_, i) => this.wakeName(i) === path);
      this.wakeUps((pd, from, to, i) => names[i] && offer(pd, from, to));
      return `wake-ups, ${cut('->').join(' → ')}`;
    }
    if (path.includes(':')) {
      const parts = path.split(':'), [from, to] = parts.map((name) => p.pds.findIndex((pd) => pd.name === name));
      this.calls((pd, begin, end, caller, exit) => caller === from && pd === to && exit === parts[2] && offer(pd, begin, end));
      return `calls, ${parts.join(' → ')}`;
    }
    this.phases(path, offer);
    return `times ${path}`;
  }

  // The selected time, and what was done at its end: by the selected PD, or by that which ran last.
  selectedTime() {
    const s = this.schedule, from = Math.max(state.from, s.from), to = Math.min(state.to, s.to);
    if (state.from === null || to <= from) {
      return { problem: state.from === null ? 'no time is selected: drag over the lanes' : 'no scheduling events in the selected time' };
    }
    const stretch = s.exactly(from, to);
    if (!stretch) {
      return { problem: 'the selected time has too many scheduling events for a critical path: select a shorter time' };
    }
    const pd = state.pd ? this.profile.pds.findIndex((of) => of.name === state.pd) : stretch.lastToRun(from, to, state.core);
    const name = this.profile.pdName(pd);
    return s.all.has(pd) ? { pd, from, to, title: `the selected time, until ${name} was done${state.pd ? '' : ` (${name} ran last; select another PD for its own)`}` }
      : { problem: state.pd ? `no scheduling events of ${state.pd}` : 'no PD ran in the selected time' };
  }
}
