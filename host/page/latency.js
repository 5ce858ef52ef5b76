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

// Of one pair or name: {path, words, pds, count, total, longest: {pd, from, to}, quantile()}. ends: how many there are in each
// bucket, by the greatest value of the bucket.
class Latency {
  constructor(path, words, pds) {
    Object.assign(this, { path, words, pds, count: 0, total: 0, longest: null, ends: new Map() });
  }

  add(pd, from, to) {
    const ns = to - from, width = ns < 32 ? 1 : 2 ** (Math.floor(Math.log2(ns)) - 4), end = (Math.floor(ns / width) + 1) * width - 1;
    this.count++;
    this.total += ns;
    this.ends.set(end, (this.ends.get(end) ?? 0) + 1);
    if (this.longest === null || isLonger({ from, to }, this.longest)) {
      this.longest = { pd, from, to };
    }
  }

  quantile(perMille) {
    const need = Math.ceil(this.count * perMille / 1000);
    let sum = 0;
    const end = [...this.ends.keys()].sort((a, b) => a - b).find((ns) => (sum += this.ends.get(ns)) >= need);
    return Math.min(end, this.longest.to - this.longest.from);
  }
}

// Of equally long ones the one that ended first counts.
function isLonger(a, b) {
  const more = (a.to - a.from) - (b.to - b.from);
  return more > 0 || (more === 0 && a.to < b.to);
}

// Keeps the best of the times {from, to} that are offered and fit: the longest, or the one that better(a, b) prefers. n: the number of
// offers.
function bestOf(fits, better = isLonger) {
  const best = { n: 0, found: null, offer: (of) => {
    best.n++;
    if (of.to > of.from && fits(of) && (best.found === null || better(of, best.found))) {
      best.found = of;
    }
  } };
  return best;
}

// A function that returns the row of a key, which is made of a path, words and PDs when it is wanted first.
function rowsOf() {
  const rows = new Map();
  return (key, path, words, pds) => rows.get(key) ?? rows.set(key, new Latency(path(), words(), pds)).get(key);
}

class Latencies {
  constructor(profile) {
    this.profile = profile;
    this.schedule = profile.schedule;
  }

  // All whole calls and exits: each(row, pd that was done, from, to). row: a new Latency for each pair.
  calls(each) {
    const p = this.profile, row = rowsOf();
    for (let i = 0; i < p.a_from.length; i++) {
      const from = this.schedule.callStart[i], exit = this.schedule.exitName(i) ?? '', pds = [p.a_from[i], p.a_to[i]];
      each(row(`${pds} ${exit}`, () => [...pds.map((pd) => p.pdName(pd)), ...(exit && [exit])].join(':'), () =>
        pds.map((pd) => p.pdName(pd)).join(' → ') + (exit && `: ${exit}`), pds), pds[1], from, from + p.a_length[i]);
    }
  }

  // The longest call that fits: {from, to, caller, callee}, null.
  longestCall(fits) {
    const longest = bestOf(fits);
    this.calls(({ pds: [caller, callee] }, _, from, to) => longest.offer({ from, to, caller, callee }));
    return longest.found;
  }

  // From a notification or an interrupt until its PD runs, as calls.
  wakeUps(each) {
    const p = this.profile, s = this.schedule, row = rowsOf();
    for (let i = 0; i < p.w_to.length; i++) {
      const kind = s.kinds[p.w_kind[i]], to = p.w_to[i], from = p.w_from[i] - 1;
      if (p.w_ran[i] > 0 && ['notify', 'irq'].includes(kind)) {
        const names = () => [kind === 'irq' ? `irq ${p.w_irq[i]}` : p.pdName(from), p.pdName(to)];
        each(row((p.w_irq[i] * (p.pds.length + 1) + from + 1) * p.pds.length + to, () => names().join('->'), () => names().join(' → '), [from, to]),
          to, s.wakeTime[i], s.wakeTime[i] + p.w_ran[i] - 1);
      }
    }
  }

  // Phases, as calls.
  phases(each) {
    const p = this.profile, open = new Map(), row = rowsOf();
    for (let i = 0; i < p.markTime.length; i++) {
      const key = `${p.m_name[i]} ${p.m_pd[i]} ${p.m_id[i]}`, begun = open.get(key) ?? [], name = () => p.info.texts[p.m_name[i]];
      if (p.m_kind[i] === 1) {
        open.set(key, [...begun, p.markTime[i]]);
      } else if (p.m_kind[i] === 2 && begun.length > 0) {
        each(row(p.m_name[i], name, name, [p.m_pd[i]]), p.m_pd[i], begun.pop(), p.markTime[i]);
      }
    }
  }

  // Offers the time from each mark `first` to the next mark `second`, as {pd, from, to}.
  betweenMarks(first, second, offer) {
    const p = this.profile;
    let begun = -1;
    for (let i = 0; i < p.markTime.length; i++) {
      const name = p.info.texts[p.m_name[i]], at = p.markTime[i];
      if (begun >= 0 && name === second && at > begun) {
        offer({ pd: p.m_pd[i], from: begun, to: at });
        begun = -1;
      }
      begun = name === first ? at : begun;
    }
  }

  // The rows of the table, of what began within from..to: calls, wake-ups, phases; most time first.
  rows(from, to) {
    return ['calls', 'wakeUps', 'phases'].map((kind) => {
      const rows = new Set();
      this[kind]((row, pd, begin, end) => begin >= from && begin <= to && rows.add(row) && row.add(pd, begin, end));
      return [...rows].sort((a, b) => b.total - a.total);
    });
  }

  // Of what a row counts, the one whose time is nearest: {from, to}. Those that began in the selected time count.
  nearest(row, ns) {
    const away = ({ from, to }) => Math.abs(to - from - ns);
    const best = bestOf(({ from }) => state.from === null || (from >= state.from && from <= state.to), (a, b) => away(a) < away(b));
    this.candidates(row.path, best.offer);
    return best.found;
  }

  // What a path is of: {pd, from, to, title}; {problem} if there is no such time.
  choose(path, at) {
    if (path === '..') {
      return this.selectedTime();
    }
    const best = bestOf(({ from, to }) => at === null || (from <= at + ROUNDED && at <= to + ROUNDED));
    const words = this.candidates(path, best.offer), { n, found } = best;
    const which = at === null ? 'the longest' : 'the one at that time';
    return found ? { ...found, title: `${which} of ${n} ${words}` }
      : { problem: `no ${words} ${n > 0 ? 'at that time' : 'are in the recording'}` };
  }

  // Offers all that a path may be of; returns what they are.
  candidates(path, offer) {
    if (path.includes('..')) {
      const at = path.indexOf('..'), first = path.slice(0, at), second = path.slice(at + 2);
      this.betweenMarks(first, second, offer);
      return `times ${first} .. ${second}`;
    }
    const kind = path.includes('->') ? 'wakeUps' : path.includes(':') ? 'calls' : 'phases';
    this[kind]((row, pd, from, to) => row.path === path && offer({ pd, from, to }));
    return { wakeUps: `wake-ups, ${path.replace('->', ' → ')}`, calls: `calls, ${path.replaceAll(':', ' → ')}`, phases: `times ${path}` }[kind];
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
