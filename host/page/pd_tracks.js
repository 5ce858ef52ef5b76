// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: the tracks of cores and PDs. Owns: their order, their samples, marks and losses, and what is under the
// pointer. A core's track stacks PDs, idle pale; a PD's track has its user mode below, the kernel darker. With scheduling events a
// strip of states is above the samples (states.js). Above a PD's samples are its marks and phases, above a core's its losses.
'use strict';

const LANE = { core: 34, pd: 24 }, STRIP = 15, UNDER_STRIP = 12; // pixels: without states; of states; of samples below them

class PdTrack extends Track {
  constructor(group, of) {
    const strip = group.view.profile.schedule ? STRIP : 0, under = strip ? UNDER_STRIP : LANE[of.kind] - HEAD - 2;
    super({ ...of, key: `${of.kind} ${of.name}`, group, strip, under, height: strip + under });
  }

  figures() {
    return this.kind === 'pd' ? this.group.view.sums.of(this.pd).figures : this.group.view.sums.ofCore(this.core);
  }

  choice() {
    return this.kind === 'core' ? { core: this.isChosen() ? null : this.core } : { pd: this.isChosen() ? '' : this.name };
  }

  isChosen() {
    return this.kind === 'core' ? state.core === this.core : state.pd === this.name;
  }

  hit(at, y) {
    const { group } = this, { view } = group, { profile: p, states } = view, i = group.sampleOf(at, this), mark = group.markNear(at, this), tip = [];
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
    const { schedule } = p, weight = new Float64Array(p.pds.length), seen = this.occupancy.list;
    p.chainWeight.forEach((of, chain) => { weight[p.c_pd[chain]] += p.c_event[chain] === event ? of : 0; });
    weight.forEach((of, pd) => { weight[pd] = of || (schedule?.times(pd, 0, p.span).running ?? 0) / p.span / 1e3; });
    const cores = [...new Set([...seen.map((pair) => pair.core), ...(schedule?.byCore.keys() ?? [])])].sort((a, b) => a - b);
    const pds = [...new Set([...seen.map((pair) => pair.pd), ...(schedule?.byPd.keys() ?? []), ...p.m_pd])]
      .filter((pd) => p.pds[pd] && !p.pds[pd].idle).sort((a, b) => rank(a) - rank(b) || weight[b] - weight[a]);
    this.order = pds.map((pd) => p.pdName(pd));
    this.event = event;
    this.tracks = [...cores.map((core) => new PdTrack(this, { kind: 'core', core, name: `core ${core}` })),
      ...pds.map((pd) => new PdTrack(this, { kind: 'pd', pd, name: p.pdName(pd), colour: p.colour(pd, false) }))];
    return this.tracks;
  }

  pixels(pixels, width, scale) {
    const { view } = this, { profile: p, states } = view, [from, to] = view.view(), columns = this.occupancy.columns(from, to, width);
    p.schedule?.want(from, to, width, () => view.draw());
    states?.clip(columns, from, to, width);
    for (const lane of this.tracks.filter((of) => of.visible)) {
      const parts = columns.filter(({ pair }) =>
        lane.kind === 'core' ? pair.core === lane.core : pair.pd === lane.pd).map((column) => {
        const { pd, kernel } = column.pair, { idle } = p.pds[pd], colour = p.colour(pd, kernel);
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
    this.paintLosses();
    view.states?.paintPicked();
    if (this.path) {
      view.pathPainter.paint(this.path, this.pathStep);
    }
    if (this.cursor !== undefined) {
      view.context.fillStyle = view.colour('--mark');
      view.context.fillRect(view.xOf(view.profile.time[this.cursor]) - 1, 0, 2, view.canvas.clientHeight);
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
    const lanes = new Map(this.tracks.map((lane) => [lane.kind === 'pd' ? `p${lane.pd}` : `c${lane.core}`, lane]));
    const { mask } = this.occupancy;
    view.context.textBaseline = 'middle';
    for (let i = begin; i < end; i++) {
      const chain = p.s_chain[i];
      if (p.c_event[chain] !== this.event) {
        continue;
      }
      const run = view.states?.runOf(p.c_pd[chain], p.s_core[i], p.time[i]);
      const right = view.xOf(p.time[i]), left = Math.max(0, view.xOf(Math.max(p.time[i] - p.s_span[i], run?.from ?? 0)));
      const isKnown = !view.states || run || p.pds[p.c_pd[chain]].idle; // else it is not drawn, and a name would stand for nothing
      for (const lane of [lanes.get(`p${p.c_pd[chain]}`), lanes.get(`c${p.s_core[i]}`)]) {
        if (lane?.visible && right > 0 && left < width) {
          const colour = mask[chain] ? inkOn(p.colour(p.c_pd[chain], p.kernel[chain])) : view.colour('--weak');
          this.paintSample(lane, left, right, isKnown ? p.names[p.leaf[chain]] : '', colour);
        }
      }
    }
  }

  paintSample(lane, left, right, name, colour) {
    const { view } = this, c = view.context, room = Math.floor((Math.min(right, view.canvas.clientWidth) - left - 6) / 6);
    c.fillStyle = view.colour('--text');
    c.fillRect(right - 1, lane.top + lane.strip, 1, lane.under);
    if (room >= 3) {
      c.fillStyle = colour;
      c.fillText(name.length > room ? `${name.slice(0, room - 1)}…` : name, left + 3,
        lane.top + lane.strip + lane.under / 2 + 1);
    }
  }

  // Points are ticks, phases bars, in the head of their PD's lane; through the lane where there is room.
  paintMarks() {
    const { view } = this, p = view.profile, lanes = new Map(this.tracks.map((lane) => [lane.pd, lane]));
    const [from, to] = view.view(), open = new Map(), c = view.context, width = view.canvas.clientWidth;
    const wide = width / Math.max(1, lowerBound(p.markTime, to) - lowerBound(p.markTime, from));
    c.textBaseline = 'bottom';
    for (let i = 0; i < p.markTime.length; i++) {
      const lane = lanes.get(p.m_pd[i]), x = view.xOf(p.markTime[i]);
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

  paintLosses() {
    const { view } = this, p = view.profile, lanes = new Map(this.tracks.map((lane) => [lane.core, lane]));
    view.context.fillStyle = view.colour('--loss');
    for (let i = 0; i < p.l_time.length; i++) {
      const lane = lanes.get(p.l_core[i]);
      if (lane?.visible) {
        view.context.fillRect(view.xOf(p.l_time[i]) - 2, lane.top - HEAD, 4, HEAD);
      }
    }
  }

  inLane(sample, lane) {
    const p = this.view.profile, chain = p.s_chain[sample];
    return p.c_event[chain] === this.event && (lane.kind === 'core' ? p.s_core[sample] === lane.core : p.c_pd[chain] === lane.pd);
  }

  // The sample that stands for a moment in a lane; -1: none.
  sampleOf(at, lane) {
    const p = this.view.profile, first = p.sampleAt(at), end = Math.min(p.samples, first + 20000);
    for (let i = first; i < end && p.time[i] - p.longestSpan <= at; i++) {
      if (this.inLane(i, lane) && p.time[i] - p.s_span[i] <= at) {
        return i;
      }
    }
    return -1;
  }

  markNear(at, lane) {
    const { view } = this, p = view.profile, near = view.timeAt(4) - view.timeAt(0);
    for (let i = lowerBound(p.markTime, at - near); i < p.markTime.length && p.markTime[i] <= at + near; i++) {
      if (lane.pd === p.m_pd[i]) {
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
