// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: the critical path of a stretch of time, the chain of runs and waits that
// determined when something was done. Owns: the walk and its words. They are those of host/sched/
// critical_path.c and report/path_table.c over the same intervals, so that the page as one file has
// every path without a server; a test compares the two.
'use strict';

const BLOCKED = ['calling', 'waiting', 'stopped', 'unknown'];
const ENTERED_BY = ['call', 'reply', 'notify', 'fault']; // by a PD

class CriticalPath {
  // schedule: a stretch with single intervals. Backwards from `to`, at which pd was done. steps: [{pd, state, by, serving, from, to, entered, irq}] in
  // the order of time, without a hole; by and serving: -1 if there is none; entered: how the path came
  // here from the PD of the step before, '' if that is the same; irq: that ended a wait, -1.
  constructor(schedule, pd, from, to) {
    Object.assign(this, { schedule, profile: schedule.profile, pd, from, to, now: to, jumps: 0, steps: [] });
    while (this.now > from) {
      this.back();
    }
    this.steps.reverse();
  }

  // The interval in which the PD was just before now.
  before() {
    for (const list of this.schedule.all.get(this.pd) ?? []) {
      const i = lowerBound(list.start, this.now) - 1;
      if (i >= 0 && list.end[i] >= this.now) {
        return { state: list.state, by: list.by[i] - 1, serving: list.serving[i] - 1, from: list.start[i], end: list.end[i] };
      }
    }
    return { state: 'unknown', by: NOBODY, serving: NOBODY, from: this.from, end: this.now };
  }

  // The arrow of the call of a PD that is ready because its caller has not yet stopped; -1. The time is the caller's own.
  callAt(i) {
    const w = this.schedule.data;
    const call = i.state === 'ready' && i.end === this.now && i.from > this.from ? this.schedule.wakingAt(this.pd, i.from) : -1;
    return call >= 0 && this.schedule.kinds[w.w_kind[call]] === 'call' && w.w_from[call] - 1 === i.by ? call : -1;
  }

  back() {
    const w = this.schedule.data, i = this.before();
    const wake = BLOCKED.includes(i.state) && i.end === this.now ? this.schedule.wakingAt(this.pd, this.now) : this.callAt(i);
    const by = wake < 0 ? NOBODY : w.w_from[wake] - 1;
    if (by !== NOBODY && by !== this.pd && this.schedule.all.has(by) && this.jumps < this.schedule.lanes) {
      if (this.steps.length > 0) {
        this.steps.at(-1).entered = this.schedule.kinds[w.w_kind[wake]];
      }
      this.pd = by;
      this.jumps++;
      return;
    }
    this.add({ pd: this.pd, state: i.state, by: i.by, serving: i.serving, from: Math.max(i.from, this.from), to: this.now });
    if (wake >= 0 && this.schedule.kinds[w.w_kind[wake]] === 'irq') {
      this.steps.at(-1).irq = w.w_irq[wake];
    }
    this.now = Math.max(i.from, this.from);
    this.jumps = 0;
  }

  // Before those that are there; what differs from the next in nothing is a part of it.
  add(step) {
    const later = this.steps.at(-1);
    if (later && later.entered === '' && later.irq < 0 && ['pd', 'state', 'by', 'serving'].every((of) => later[of] === step[of])) {
      later.from = step.from;
    } else {
      this.steps.push({ ...step, entered: '', irq: -1 });
    }
  }

  words(step) {
    const p = this.profile, pd = p.pdName(step.pd), idle = p.pds[step.by]?.idle;
    const by = step.by === NOBODY || idle ? '' : p.pdName(step.by);
    switch (step.state) {
      case 'running': return `${pd} runs${step.serving === NOBODY ? '' : `, for ${p.pdName(step.serving)}`}`;
      case 'ready': return `${pd} is ready${idle ? ', its core still idle' : by ? `, ${by} runs` : ''}`;
      case 'calling': return `${pd} waits for its call${by ? ` of ${by}` : ''}`;
      case 'waiting': return `${pd} waits${step.irq < 0 ? '' : ` for interrupt ${step.irq}`}`;
      case 'throttled': return `${pd} has used up its budget`;
      case 'stopped': return `${pd} is stopped`;
      default: return `not known: no events of ${pd}`;
    }
  }

  by(step) {
    return ENTERED_BY.includes(step.entered) ? step.entered : '';
  }

  // Equal steps together, most time first: [{step, ns, times}].
  sums() {
    const out = new Map();
    for (const step of this.steps) {
      const key = [step.pd, step.state, step.by, step.serving, step.irq].join();
      const sum = out.get(key) ?? { step, ns: 0, times: 0 };
      sum.ns += step.to - step.from;
      sum.times++;
      out.set(key, sum);
    }
    return [...out.values()].sort((a, b) => b.ns - a.ns);
  }

  // ns of which events are missing.
  unknown() {
    return this.steps.reduce((ns, step) => ns + (step.state === 'unknown' ? step.to - step.from : 0), 0);
  }
}
