// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: the tracks of domains, of cores and PDs, and of queues, in the order in which they are shown.
'use strict';

// A track of a number that holds from each time until the next one. Its height is relative to the greatest number. steps: {times,
// values, most, size}. A value of at least size has the colour of a loss. A step with the value UNKNOWN is not drawn. A subclass has
// words(i), the text of step i; -1 is the time before the first step.
const UNKNOWN = 0xffffffff;

class StepTrack extends Track {
  // The last step that begins at or before a time; -1: there is none.
  at(time) {
    return upperBound(this.steps.times, time, 0) - 1;
  }

  draw() {
    const { view } = this.group, { times, values, most, size } = this.steps, [from, to] = view.view();
    const bottom = this.top + this.height;
    for (let i = Math.max(0, this.at(from)); i < times.length && times[i] < to;) {
      const left = Math.max(0, view.xOf(times[i]));
      let next = i, high = -1, right;
      do { // of the steps in one pixel, the highest
        high = values[next] === UNKNOWN ? high : Math.max(high, values[next]);
        right = next + 1 < times.length ? view.xOf(times[next + 1]) : view.xOf(to);
        next++;
      } while (next < times.length && right - left < 1);
      if (high > 0) {
        const tall = Math.max(1, high / most * this.height);
        view.paintBox(high >= size ? '--loss' : '--mark', left, bottom - tall, Math.max(1, right - left), tall);
      }
      i = next;
    }
  }

  hit(time) {
    const { view } = this.group, text = `${this.kind} ${this.name}: ${this.words(this.at(time))}`;
    return { tip: [text], pick: () => view.onPick(`${view.both(time)}: ${text}`) };
  }
}

// The tracks of domains. Owns: when the windows of each domain of seL4's domain schedule were, as steps of 1 and 0. A line through all
// of these tracks is where a frame begins.
class DomainTrack extends StepTrack {
  constructor(group, name) {
    super({ kind: 'domain', key: `domain ${name}`, name, height: 14, group, windows: [], steps: { times: [], values: [], most: 1, size: Infinity } });
  }

  figures() {
    const { span } = this.group.view.profile, ns = this.windows.reduce((sum, of) => sum + of.to - of.from, 0);
    const durations = [...new Set(this.windows.map(({ us }) => us))].filter((us) => us > 0).map((us) => duration(us * 1000));
    return { note: `${(100 * ns / (span || 1)).toFixed(2)} %${durations.length > 0 ? `: ${durations.join(', ')}` : ''}` };
  }

  add(window) {
    this.windows.push(window);
    this.steps.times.push(window.from, window.to);
    this.steps.values.push(1, 0);
  }

  words(i) {
    const of = this.windows[i / 2]; // a step of 0 is between windows
    return of ? `window ${of.number}, ${duration(of.to - of.from)}${of.us > 0 ? ` of ${duration(of.us * 1000)}` : ''}` : 'another domain\'s window';
  }
}

class DomainTracks extends TrackGroup {
  show() {
    const p = this.view.profile, known = p.info.sched?.windows ?? [], begins = sums(p.d_delta ?? []);
    const tracks = new Map(known.map(({ domain }) => [domain, new DomainTrack(this, domain)])); // in the order of the schedule
    this.frames = [];
    begins.forEach((from, i) => {
      const number = p.d_window[i] - 1, to = begins[i + 1];
      const window = known.find((of) => of.number === number), name = window ? window.domain : `window ${number}`;
      if (number < 0 || to === undefined) { // events are missing, or the window lasts
        return;
      }
      if (!tracks.has(name)) {
        tracks.set(name, new DomainTrack(this, name));
      }
      tracks.get(name).add({ from, to, number, us: window ? window.us : 0 });
      if (known.length > 0 && window === known[0]) {
        this.frames.push(from);
      }
    });
    this.tracks = [...tracks.values()].filter((track) => track.windows.length > 0);
  }

  overlay() {
    const { view } = this, [from, to] = view.view(), first = this.tracks[0], last = this.tracks.at(-1);
    const shown = this.frames.slice(lowerBound(this.frames, from), lowerBound(this.frames, to));
    if (first && shown.length * 4 < view.xOf(to) - view.xOf(from)) {
      shown.forEach((time) => view.paintBox('--text', view.xOf(time), first.top, 1, last.top + last.height - first.top));
    }
  }
}

TRACK_GROUPS.push(DomainTracks);

// The tracks of cores and PDs. Owns: their order, their samples, marks and losses, and what is under the pointer. A core's track
// stacks PDs, idle pale; a PD's track has its user mode below, the kernel darker. With scheduling events a strip of states is above
// the samples (states.js). Above a PD's samples are its marks and phases, above a core's its losses.

const LANE = { core: 34, pd: 24 }, STRIP = 15, UNDER_STRIP = 12; // pixels: without states; of states; of samples below them

class PdTrack extends Track {
  constructor(group, of) {
    const strip = group.view.profile.schedule ? STRIP : 0, under = strip ? UNDER_STRIP : LANE[of.kind] - HEAD - 2;
    super({ ...of, key: `${of.kind} ${of.name}`, group, strip, under, height: strip + under,
      selects: of.kind === 'core' ? { core: of.core } : { pd: of.name } });
  }

  figures() {
    return this.kind === 'pd' ? this.group.view.sums.of(this.pd).figures : this.group.view.sums.ofCore(this.core);
  }

  hit(at, y) {
    const { group } = this, { view } = group, { profile: p, states } = view, i = group.sampleOf(at, this), near = view.timeAt(4) - view.timeAt(0), tip = [];
    const mark = p.markTime.findIndex((time, k) => Math.abs(time - at) <= near && p.m_pd[k] === this.pd);
    if (mark >= 0) {
      tip.push(`mark ${p.info.texts[p.m_name[mark]]}`);
    }
    tip.push(...(states?.tip(at, this) ?? []));
    if (i >= 0) {
      const chain = p.s_chain[i];
      tip.push(`sample of ${p.pdName(p.c_pd[chain])}${p.kernel[chain] ? ' [kernel]' : ''}: ${p.names[p.leaf[chain]]}`);
    }
    return { tip, pick: () => this.pick(at, y, i, mark) };
  }

  // Shows the single mark, interval or sample in words.
  pick(at, y, sample, mark) {
    const { view } = this.group, { profile: p, states } = view;
    const interval = y < this.top + this.strip ? states?.intervalAt(this, at) : null;
    if (mark >= 0) {
      const kind = ['mark', 'phase begins:', 'phase ends:'][p.m_kind[mark]];
      view.onPick(`${view.both(p.markTime[mark])}: ${kind} ${p.info.texts[p.m_name[mark]]}, ` +
        `PD ${p.pdName(p.m_pd[mark])}, id ${p.m_id[mark]}`);
    } else if (interval) {
      states.pick(interval);
    } else if (sample >= 0) {
      this.group.pickSample(sample);
    }
  }
}

class PdTracks extends TrackGroup {
  constructor(view) {
    super(view);
    view.pds = this;
    view.pathPainter = new PathPainter(view);
    this.order = []; // names of PDs that were there
  }

  show() {
    const { profile } = this.view;
    this.occupancy = this.view.occupancy = new Occupancy(profile);
    this.view.states = profile.schedule ? new StatePainter(this.view) : null;
    this.cursor = undefined;
    this.tracks = null;
  }

  rebuild() {
    const { selection } = this.view;
    this.occupancy.build(selection.event(), selection.mask());
  }

  // Cores, then PDs: those with most of the whole recording first. Those of a running target stay in their order.
  list() {
    const { profile: p, selection } = this.view, event = selection.event();
    if (this.tracks && this.event === event) {
      return this.tracks;
    }
    const rank = (pd) => { const i = this.order.indexOf(p.pdName(pd)); return i < 0 ? this.order.length : i; };
    const { schedule } = p, weight = new Float64Array(p.pds.length), seen = [...this.occupancy.all.values()];
    p.chainWeight.forEach((of, chain) => { weight[p.c_pd[chain]] += p.c_event[chain] === event ? of : 0; });
    weight.forEach((of, pd) => { weight[pd] = of || (schedule?.times(pd, 0, p.span).running ?? 0) / p.span / 1e3; });
    const cores = [...new Set([...seen.map((list) => list.core), ...(schedule?.byCore.keys() ?? [])])].sort((a, b) => a - b);
    const pds = [...new Set([...seen.map((list) => list.pd), ...(schedule?.byPd.keys() ?? []), ...p.m_pd])]
      .filter((pd) => p.pds[pd] && !p.pds[pd].idle).sort((a, b) => rank(a) - rank(b) || weight[b] - weight[a]);
    this.order = pds.map((pd) => p.pdName(pd));
    this.event = event;
    this.tracks = [...cores.map((core) => new PdTrack(this, { kind: 'core', core, name: `core ${core}` })),
      ...pds.map((pd) => new PdTrack(this, { kind: 'pd', pd, name: p.pdName(pd), colour: p.colour(pd, false) }))];
    [this.byPd, this.byCore] = ['pd', 'core'].map((kind) => new Map(this.tracks.filter((lane) => lane.kind === kind).map((lane) => [lane[kind], lane])));
    return this.tracks;
  }

  pixels(pixels, width, scale) {
    const { view } = this, { profile: p, states } = view, [from, to] = view.view(), columns = this.occupancy.columns(from, to, width);
    p.schedule?.want(from, to, width, () => view.draw());
    states?.clip(columns, from, to, width);
    for (const lane of this.tracks.filter((of) => of.visible)) {
      const parts = columns.filter(({ list }) =>
        lane.kind === 'core' ? list.core === lane.core : list.pd === lane.pd).map((column) => {
        const { pd, kernel } = column.list, { idle } = p.pds[pd], colour = p.colour(pd, kernel);
        return { ...column, colour: pixel(colour, idle ? 90 : 255), pale: pixel(colour, idle ? 40 : 70) };
      });
      const row = (of) => Math.round(of * scale);
      paintLane(pixels, width, row(lane.top + lane.strip), row(lane.under), parts, width);
      if (states) {
        paintLane(pixels, width, row(lane.top), row(lane.strip - 2), states.parts(lane, from, to, width), width);
      }
    }
  }

  overlay() {
    const { view } = this;
    this.paintSamples();
    view.states?.paintNames();
    view.states?.paintCalls();
    this.paintMarks();
    const p = view.profile, picked = view.states?.picked;
    p.l_time.forEach((time, i) => {
      const lane = this.byCore.get(p.l_core[i]);
      if (lane?.visible) {
        view.paintBox('--loss', view.xOf(time) - 2, lane.top - HEAD, 4, HEAD);
      }
    });
    if (picked) { // the interval that was picked has a frame
      view.frame(this.byPd.get(picked.list.pd), picked.list.start[picked.i], picked.list.end[picked.i]);
    }
    if (this.path) {
      view.pathPainter.paint(this.path, this.pathStep);
    }
    if (this.cursor !== undefined) {
      view.paintBox('--mark', view.xOf(view.profile.time[this.cursor]) - 1, 0, 2, view.canvas.clientHeight);
    }
  }

  // path: a critical path, null; step: its step that was chosen.
  showPath(path, step = -1) {
    this.path = path;
    this.pathStep = step;
    this.view.draw();
  }

  legend() {
    return this.view.states?.legend() ?? [];
  }

  // Where single samples are wide enough: their ends, and the names of what was interrupted.
  paintSamples() {
    const { view } = this, p = view.profile, [from, to] = view.view(), begin = p.sampleAt(from);
    const end = p.sampleAt(to + p.longestSpan + 1), width = view.canvas.clientWidth;
    if ((p.sampleAt(to) - begin) * 8 > width || end - begin > 20 * width) {
      return;
    }
    const { mask } = this.occupancy;
    view.context.textBaseline = 'middle';
    for (let i = begin; i < end; i++) {
      const chain = p.s_chain[i];
      if (p.c_event[chain] !== this.event) {
        continue;
      }
      const runs = p.schedule?.exactly(p.time[i], p.time[i])?.byPd.get(p.c_pd[chain])?.find((of) => of.state === 'running' && of.core === p.s_core[i]);
      const run = runs ? runs.at(p.time[i]) : -1, isRun = run >= 0 && runs.end[run] >= p.time[i]; // of the PD, which the sample hit
      const right = view.xOf(p.time[i]), left = Math.max(0, view.xOf(Math.max(p.time[i] - p.s_span[i], isRun ? runs.start[run] : 0)));
      const isKnown = !p.schedule || isRun || p.pds[p.c_pd[chain]].idle; // else it is not drawn, and a name would stand for nothing
      for (const lane of [this.byPd.get(p.c_pd[chain]), this.byCore.get(p.s_core[i])]) {
        if (lane?.visible && right > 0 && left < width) {
          const colour = mask[chain] ? inkOn(p.colour(p.c_pd[chain], p.kernel[chain])) : view.colour('--weak');
          const room = Math.min(right, width) - left - 6;
          view.paintBox('--text', right - 1, lane.top + lane.strip, 1, lane.under);
          if (room >= 18) {
            view.context.fillStyle = colour;
            view.context.fillText(isKnown ? fitting(p.names[p.leaf[chain]], room) : '', left + 3, lane.top + lane.strip + lane.under / 2 + 1);
          }
        }
      }
    }
  }

  // Points are ticks, phases bars, in the head of their PD's lane; through the lane where there is room.
  paintMarks() {
    const { view } = this, p = view.profile, [from, to] = view.view(), open = new Map(), c = view.context, width = view.canvas.clientWidth;
    const wide = width / Math.max(1, lowerBound(p.markTime, to) - lowerBound(p.markTime, from));
    c.textBaseline = 'bottom';
    for (let i = 0; i < p.markTime.length; i++) {
      const lane = this.byPd.get(p.m_pd[i]), x = view.xOf(p.markTime[i]);
      const key = `${p.m_pd[i]} ${p.m_name[i]} ${p.m_id[i]}`;
      if (!lane?.visible) {
        continue;
      }
      c.fillStyle = view.colour('--mark');
      if (p.m_kind[i] === 1) {
        open.set(key, x);
      } else if (p.m_kind[i] === 2 && open.has(key)) {
        c.fillRect(open.get(key), lane.top - 4, Math.max(1, x - open.get(key)), 3);
        open.delete(key);
      } else if (p.m_kind[i] === 0 && x >= -1 && x <= width) {
        c.fillRect(x - 1, lane.top - HEAD, 2, wide > 12 ? lane.height + HEAD : 4);
        if (wide > 90) {
          c.fillRect(x - 3, lane.top - HEAD, 6, 3);
          c.fillStyle = view.colour('--text');
          c.fillText(p.info.texts[p.m_name[i]], x + 5, lane.top + lane.height - 1);
        }
      }
    }
  }

  // The sample that stands for a moment in a lane; -1: none.
  sampleOf(at, lane) {
    const p = this.view.profile, first = p.sampleAt(at), end = Math.min(p.samples, first + 20000);
    for (let i = first; i < end && p.time[i] - p.longestSpan <= at; i++) {
      const chain = p.s_chain[i], isHere = lane.kind === 'core' ? p.s_core[i] === lane.core : p.c_pd[chain] === lane.pd;
      if (isHere && p.c_event[chain] === this.event && p.time[i] - p.s_span[i] <= at) {
        return i;
      }
    }
    return -1;
  }

  pickSample(i) {
    const { view } = this, p = view.profile, chain = p.s_chain[i], path = [];
    for (let node = p.c_node[chain]; node !== 0; node = p.n_parent[node]) {
      path.push(nodeName(p.label(p.n_label[node])));
    }
    this.cursor = i;
    view.onPick(`${view.both(p.time[i])}: core ${p.s_core[i]}, PD ${p.pdName(p.c_pd[chain])}, ` +
      `${count(p.s_period[i])} ${p.info.events[p.c_event[chain]].name} (${duration(p.s_span[i])}): ` +
      path.join(' ← '));
    view.draw();
  }

  // The next or previous sample that is selected.
  step(by) {
    const { view } = this, p = view.profile, mask = view.selection.mask(), [begin, end] = view.view();
    let i = this.cursor ?? p.sampleAt(begin) - by;
    do {
      i += by;
    } while (i >= 0 && i < p.samples && !mask[p.s_chain[i]]);
    if (i >= 0 && i < p.samples) {
      if (p.time[i] < begin || p.time[i] > end) {
        view.look(p.time[i] - (end - begin) / 2, p.time[i] + (end - begin) / 2);
      }
      this.pickSample(i);
    }
  }
}
TRACK_GROUPS.push(PdTracks);

// The tracks of queues. Owns: how full each queue of packets was over time, drawn to the most entries that it had. A track is
// between those of its producer and its consumer. A full queue has the colour of a loss. A reading that no queue can have leaves a gap.
class QueueTrack extends StepTrack {
  constructor(group, queue) {
    const { name, producer, consumer } = queue;
    super({ kind: 'queue', key: `queue ${name} ${producer} ${consumer}`, name, height: 18, group, steps: queue,
      between: [producer, consumer], selects: consumer ? { pd: consumer } : {} });
  }

  figures() {
    const { producer, consumer, most, size } = this.steps;
    return { note: `${count(most)} of ${count(size)}: ${producer || 'device'} → ${consumer || 'device'}` };
  }

  words(i) {
    const { values, size } = this.steps;
    return i < 0 || values[i] === UNKNOWN ? 'not known' : `${count(values[i])} of ${count(size)} entries`;
  }
}

class QueueTracks extends TrackGroup {
  // Queues of free buffers, and queues that were empty at each reading, have no track.
  show() {
    const p = this.view.profile, times = sums(p.q_delta), queues = (p.info.queues ?? []).map((queue) => ({ ...queue, times: [], values: [], most: 0 }));
    p.q_queue.forEach((number, i) => {
      const queue = queues[number], entries = p.q_entries[i];
      queue.times.push(times[i]);
      queue.values.push(entries);
      queue.most = entries === UNKNOWN ? queue.most : Math.max(queue.most, entries);
    });
    this.tracks = queues.filter((queue) => !queue.returns && queue.most > 0).map((queue) => new QueueTrack(this, queue));
  }
}

TRACK_GROUPS.push(QueueTracks);
