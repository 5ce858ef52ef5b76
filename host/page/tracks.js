// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: tracks of cores and PDs on one time axis. Owns: the canvas, what is visible of
// time, and mouse, wheel and keys on it. Lanes are of a kind: a core (stacked PDs, idle pale), or a
// PD (user below, kernel darker). With scheduling events a strip of states is above the samples (states.js).
// Above a PD's lane are its marks and phases, above a core's its losses.
'use strict';

const LANE = { core: 34, pd: 24 }, AXIS = 20, HEAD = 6, LEAST_VIEW = 50; // pixels; ns
const STRIP = 15, UNDER_STRIP = 12; // pixels: of states; of samples below them

class Tracks {
  constructor(box) {
    this.labels = box.querySelector('.labels');
    this.canvas = box.querySelector('canvas');
    this.tip = box.querySelector('.tip');
    this.legend = box.querySelector('.legend');
    this.listen();
  }

  show(profile, selection) {
    this.profile = profile;
    this.selection = selection;
    this.occupancy = new Occupancy(profile);
    this.states = profile.schedule ? new StatePainter(this) : null;
    this.pathPainter = new PathPainter(this);
    this.states?.legend(this.legend);
    this.rebuild();
  }

  // path: a critical path, null; step: its step that was chosen.
  showPath(path, step = -1) {
    this.path = path;
    this.pathStep = step;
    this.legend.querySelectorAll('.of-path').forEach((key) => { key.hidden = !path; });
    this.draw();
  }

  // After the event or the filters changed.
  rebuild() {
    this.occupancy.build(this.selection.event(), this.selection.mask());
    this.findLanes();
    this.draw();
  }

  findLanes() {
    const p = this.profile, list = this.occupancy.list, schedule = p.schedule;
    const cores = new Set([...list.map((pair) => pair.core), ...(schedule?.byCore.keys() ?? [])]);
    const sums = this.selection.byPd(this.selection.mask('pd', 'fn', 'node', 'words'));
    const weight = sums.map((sum, pd) => sum.user + sum.kernel ||
      (schedule?.times(pd, 0, p.span).running ?? 0) / p.span / 1e3);
    const pds = [...new Set([...list.map((pair) => pair.pd), ...(schedule?.byPd.keys() ?? [])])]
      .filter((pd) => !p.pds[pd].idle).sort((a, b) => weight[b] - weight[a]);
    const marked = [...new Set(p.m_pd)].filter((pd) => !pds.includes(pd) && p.pds[pd]);
    this.lanes = [...[...cores].sort((a, b) => a - b).map((core) => ({ kind: 'core', core, name: `core ${core}` })),
      ...[...pds, ...marked].map((pd) => ({ kind: 'pd', pd, name: p.pdName(pd) }))];
    let top = AXIS;
    for (const lane of this.lanes) {
      lane.strip = schedule ? STRIP : 0;
      lane.under = schedule ? UNDER_STRIP : LANE[lane.kind] - HEAD - 2;
      lane.top = top + HEAD;
      lane.height = lane.strip + lane.under;
      top += HEAD + lane.height + 2;
    }
    this.height = top;
    this.labels.replaceChildren(make('span', { className: 'axis', textContent: 'time' }),
      ...this.lanes.map((lane) => this.label(lane)));
  }

  label(lane) {
    const pressed = lane.kind === 'core' ? state.core === lane.core : state.pd !== '' && state.pd === lane.name;
    const button = make('button', { type: 'button', className: `lane ${lane.kind}`, title: lane.name });
    button.style.height = `${HEAD + lane.height + 2}px`;
    button.setAttribute('aria-pressed', pressed);
    button.setAttribute('aria-label', `select ${lane.kind === 'core' ? '' : 'PD '}${lane.name}`);
    if (lane.kind === 'pd') {
      const mark = make('i', {});
      mark.style.background = this.profile.colour(lane.pd, false);
      button.append(mark);
    }
    button.append(lane.name);
    button.onclick = () => change(lane.kind === 'core'
      ? { core: pressed ? null : lane.core } : { pd: pressed ? '' : lane.name });
    return button;
  }

  view() {
    return state.viewFrom === null ? this.profile.all() : [state.viewFrom, state.viewTo];
  }

  // Shows from..to, within the recording.
  look(from, to) {
    const [first, end] = this.profile.all(), span = Math.min(end, Math.max(LEAST_VIEW, to - from));
    const begin = Math.min(Math.max(0, from + (to - from - span) / 2), end - span);
    change(begin === first && begin + span === end ? { viewFrom: null, viewTo: null } : { viewFrom: begin, viewTo: begin + span });
  }

  zoom(factor, at = null) {
    const [from, to] = this.view(), centre = at ?? (from + to) / 2;
    this.look(centre - (centre - from) * factor, centre + (to - centre) * factor);
  }

  pan(part) {
    const [from, to] = this.view(), by = (to - from) * part;
    const shift = Math.min(Math.max(by, -from), this.profile.span - to);
    this.look(from + shift, to + shift);
  }

  timeAt(x) {
    const [from, to] = this.view();
    return from + x / this.canvas.clientWidth * (to - from);
  }

  xOf(time) {
    const [from, to] = this.view();
    return (time - from) / (to - from) * this.canvas.clientWidth;
  }

  // One picture for all changes until the next frame.
  draw() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      this.paint();
    });
  }

  paint() {
    const begun = performance.now(), canvas = this.canvas, scale = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(canvas.clientWidth * scale));
    const height = Math.round(this.height * scale);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
      canvas.style.height = `${this.height}px`;
    }
    this.context = canvas.getContext('2d');
    this.style = getComputedStyle(canvas);
    this.paintLanes(width, height, scale);
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.font = '11px system-ui, sans-serif';
    this.paintSamples();
    this.states?.paintNames();
    this.paintAxis();
    this.states?.paintCalls();
    this.paintMarks();
    this.paintLosses();
    this.paintChoice();
    this.states?.paintPicked();
    if (this.path) {
      this.pathPainter.paint(this.path, this.pathStep);
    }
    this.frames = (this.frames ?? 0) + 1;
    this.frameMs = performance.now() - begun;
  }

  paintLanes(width, height, scale) {
    const image = this.context.createImageData(width, height), p = this.profile;
    const pixels = new Uint32Array(image.data.buffer);
    const [from, to] = this.view(), columns = this.occupancy.columns(from, to, width);
    this.profile.schedule?.want(from, to, width, () => this.draw());
    this.states?.clip(columns, from, to, width);
    for (const lane of this.lanes) {
      const parts = columns.filter(({ pair }) =>
        lane.kind === 'core' ? pair.core === lane.core : pair.pd === lane.pd).map((column) => {
        const { pd, kernel } = column.pair, idle = p.pds[pd].idle, colour = p.colour(pd, kernel);
        return { ...column, colour: pixel(colour, idle ? 90 : 255), pale: pixel(colour, idle ? 40 : 70) };
      });
      const row = (pixels) => Math.round(pixels * scale);
      paintLane(pixels, width, row(lane.top + lane.strip), row(lane.under), parts, width);
      if (this.states) {
        paintLane(pixels, width, row(lane.top), row(lane.strip - 2), this.states.parts(lane, from, to, width), width);
      }
    }
    this.context.putImageData(image, 0, 0);
  }

  colour(name) {
    return this.style.getPropertyValue(name);
  }

  // Where single samples are wide enough: their ends, and the names of what was interrupted.
  paintSamples() {
    const p = this.profile, [from, to] = this.view(), begin = p.sampleAt(from);
    const end = p.sampleAt(to + p.longestSpan + 1), width = this.canvas.clientWidth;
    if ((p.sampleAt(to) - begin) * 8 > width || end - begin > 20 * width) {
      return;
    }
    const lanes = new Map(this.lanes.map((lane) => [lane.kind === 'pd' ? `p${lane.pd}` : `c${lane.core}`, lane]));
    const event = this.selection.event(), { mask } = this.occupancy;
    this.context.textBaseline = 'middle';
    for (let i = begin; i < end; i++) {
      const chain = p.s_chain[i];
      if (p.c_event[chain] !== event) {
        continue;
      }
      const run = this.states?.runOf(p.c_pd[chain], p.s_core[i], p.time[i]);
      const right = this.xOf(p.time[i]), left = Math.max(0, this.xOf(Math.max(p.time[i] - p.s_span[i], run?.from ?? 0)));
      for (const lane of [lanes.get(`p${p.c_pd[chain]}`), lanes.get(`c${p.s_core[i]}`)]) {
        if (lane && right > 0 && left < width) {
          const colour = mask[chain] ? inkOn(p.colour(p.c_pd[chain], p.kernel[chain])) : this.colour('--weak');
          this.paintSample(lane, left, right, p.names[p.leaf[chain]], colour);
        }
      }
    }
  }

  paintSample(lane, left, right, name, colour) {
    const c = this.context, room = Math.floor((Math.min(right, this.canvas.clientWidth) - left - 6) / 6);
    c.fillStyle = this.colour('--text');
    c.fillRect(right - 1, lane.top + lane.strip, 1, lane.under);
    if (room >= 3) {
      c.fillStyle = colour;
      c.fillText(name.length > room ? `${name.slice(0, room - 1)}…` : name, left + 3,
        lane.top + lane.strip + lane.under / 2 + 1);
    }
  }

  paintAxis() {
    const c = this.context, [from, to] = this.view(), width = this.canvas.clientWidth;
    const least = (to - from) / Math.max(1, width / 110), power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least);
    c.textBaseline = 'top';
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      const x = Math.round(this.xOf(at)) + 0.5;
      c.fillStyle = this.colour('--line');
      c.fillRect(x, AXIS - 4, 1, this.height);
      c.fillStyle = this.colour('--weak');
      c.fillText(moment(at, to - from), Math.min(x + 3, width - 40), 3);
    }
    c.fillStyle = this.colour('--line');
    for (const lane of this.lanes) {
      c.fillRect(0, lane.top + lane.height, width, 1);
    }
  }

  // Points are ticks, phases bars, in the head of their PD's lane; through the lane where there is room.
  paintMarks() {
    const p = this.profile, lanes = new Map(this.lanes.map((lane) => [lane.pd, lane]));
    const [from, to] = this.view(), open = new Map(), c = this.context, width = this.canvas.clientWidth;
    const wide = width / Math.max(1, lowerBound(p.markTime, to) - lowerBound(p.markTime, from));
    c.textBaseline = 'bottom';
    for (let i = 0; i < p.markTime.length; i++) {
      const lane = lanes.get(p.m_pd[i]), x = this.xOf(p.markTime[i]);
      const key = `${p.m_pd[i]} ${p.m_name[i]} ${p.m_id[i]}`;
      if (!lane) {
        continue;
      }
      c.fillStyle = this.colour('--mark');
      if (p.m_kind[i] === 1) {
        open.set(key, x);
      } else if (p.m_kind[i] === 2 && open.has(key)) {
        c.fillRect(open.get(key), lane.top - 4, Math.max(1, x - open.get(key)), 3);
        open.delete(key);
      } else if (p.m_kind[i] === 0 && x >= -1 && x <= width) {
        c.fillRect(x - 1, lane.top - HEAD, 2, wide > 12 ? lane.height + HEAD : 4);
        if (wide > 90) {
          c.fillRect(x - 3, lane.top - HEAD, 6, 3);
          c.fillStyle = this.colour('--text');
          c.fillText(p.info.texts[p.m_name[i]], x + 5, lane.top + lane.height - 1);
        }
      }
    }
  }

  paintLosses() {
    const p = this.profile, lanes = new Map(this.lanes.map((lane) => [lane.core, lane]));
    this.context.fillStyle = this.colour('--loss');
    for (let i = 0; i < p.l_time.length; i++) {
      const lane = lanes.get(p.l_core[i]);
      if (lane) {
        this.context.fillRect(this.xOf(p.l_time[i]) - 2, lane.top - HEAD, 4, HEAD);
      }
    }
  }

  paintChoice() {
    const c = this.context, shade = (from, to) => {
      const left = this.xOf(from);
      c.fillRect(left, 0, Math.max(1, this.xOf(to) - left), this.height);
    };
    c.fillStyle = this.colour('--choice');
    if (this.dragged) {
      shade(Math.min(...this.dragged), Math.max(...this.dragged));
    } else if (state.from !== null) {
      shade(state.from, state.to);
    }
    if (this.cursor !== undefined) {
      c.fillStyle = this.colour('--mark');
      c.fillRect(this.xOf(this.profile.time[this.cursor]) - 1, 0, 2, this.height);
    }
    if (this.pointed !== undefined) {
      c.fillStyle = this.colour('--mark');
      c.fillRect(this.xOf(this.pointed) - 1, 0, 2, this.height);
    }
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener('wheel', (e) => {
      e.preventDefault();
      const sideways = e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY);
      if (sideways) {
        this.pan((e.deltaX || e.deltaY) / canvas.clientWidth);
      } else {
        this.zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY / 300))), this.timeAt(e.offsetX));
      }
    }, { passive: false });
    const fingers = this.fingers = new Map(); // of a touch: where each is
    const lift = (e) => { fingers.delete(e.pointerId); };
    canvas.addEventListener('pointerup', lift);
    canvas.addEventListener('pointercancel', (e) => { lift(e); this.held = this.dragged = null; });
    canvas.onpointerdown = (e) => {
      if (e.pointerType === 'touch') {
        fingers.set(e.pointerId, e.offsetX);
      }
      if (fingers.size > 1) { // two fingers zoom, and select nothing
        this.held = this.dragged = null;
        this.pinch = { view: this.view(), at: [...fingers.values()] };
        return;
      }
      this.held = { x: e.offsetX, pans: e.offsetY < AXIS || e.button === 1 || e.altKey, view: this.view() };
      canvas.setPointerCapture(e.pointerId);
    };
    canvas.onpointermove = (e) => this.moved(e);
    canvas.onpointerup = (e) => this.released(e);
    canvas.onpointerleave = () => { this.tip.hidden = true; };
    canvas.ondblclick = () => state.from !== null && this.look(state.from, state.to);
    canvas.onkeydown = (e) => this.key(e);
  }

  // The moments below two fingers stay below them.
  pinched() {
    const [a, b] = [...this.fingers.values()], { view: [from, to], at: [c, d] } = this.pinch, width = this.canvas.clientWidth;
    const factor = Math.abs(d - c) / Math.max(8, Math.abs(b - a)), span = (to - from) * factor;
    const middle = from + (c + d) / 2 / width * (to - from), begin = middle - (a + b) / 2 / width * span;
    this.look(begin, begin + span);
  }

  moved(e) {
    if (this.fingers.has(e.pointerId)) {
      this.fingers.set(e.pointerId, e.offsetX);
    }
    if (this.fingers.size > 1) {
      this.pinched();
      return;
    }
    if (this.held && Math.abs(e.offsetX - this.held.x) > 3) {
      if (this.held.pans) {
        const [from, to] = this.held.view;
        const by = (this.held.x - e.offsetX) / this.canvas.clientWidth * (to - from);
        const shift = Math.min(Math.max(by, -from), this.profile.span - to);
        this.look(from + shift, to + shift);
      } else {
        this.dragged = [this.timeAt(this.held.x), this.timeAt(e.offsetX)];
        this.draw();
      }
    }
    this.showTip(e);
  }

  released(e) {
    const dragged = this.dragged, held = this.held;
    this.dragged = this.held = null;
    if (dragged) {
      const limit = (t) => Math.round(Math.min(this.profile.span, Math.max(0, t)));
      change({ from: limit(Math.min(...dragged)), to: limit(Math.max(...dragged)) });
    } else if (held && Math.abs(e.offsetX - held.x) <= 3) {
      this.pick(this.timeAt(e.offsetX), this.laneAt(e.offsetY), e.offsetY);
    }
    this.draw();
  }

  laneAt(y) {
    return this.lanes.find((lane) => y >= lane.top - HEAD && y <= lane.top + lane.height);
  }

  showTip(e) {
    const lane = this.laneAt(e.offsetY), at = this.timeAt(e.offsetX), [from, to] = this.view();
    const i = this.sampleOf(at, lane), mark = this.markNear(at, lane);
    const p = this.profile, lines = [`${moment(at, to - from)} (target time ${p.clock(at)} s)`];
    if (mark >= 0) {
      lines.push(`mark ${p.info.texts[p.m_name[mark]]}`);
    }
    lines.push(...(this.states?.tip(at, lane) ?? []));
    if (i >= 0) {
      const chain = p.s_chain[i];
      lines.push(`sample of ${p.pdName(p.c_pd[chain])}${p.kernel[chain] ? ' [kernel]' : ''}: ${p.names[p.leaf[chain]]}`);
    }
    this.tip.textContent = lines.join('\n');
    this.tip.hidden = e.offsetY > this.height;
    const left = this.canvas.offsetLeft + e.offsetX + 14;
    this.tip.style.left = `${Math.min(left, this.canvas.offsetLeft + this.canvas.clientWidth - 160)}px`;
    this.tip.style.top = `${e.offsetY + 18}px`;
  }

  inLane(sample, lane) {
    const p = this.profile, chain = p.s_chain[sample];
    return p.c_event[chain] === this.selection.event() && (!lane ||
      (lane.kind === 'core' ? p.s_core[sample] === lane.core : p.c_pd[chain] === lane.pd));
  }

  // The sample that stands for a moment in a lane; -1: none.
  sampleOf(at, lane) {
    const p = this.profile, first = p.sampleAt(at), end = Math.min(p.samples, first + 20000);
    for (let i = first; i < end && p.time[i] - p.longestSpan <= at; i++) {
      if (this.inLane(i, lane) && p.time[i] - p.s_span[i] <= at) {
        return i;
      }
    }
    return -1;
  }

  markNear(at, lane) {
    const p = this.profile, near = this.timeAt(4) - this.timeAt(0);
    for (let i = lowerBound(p.markTime, at - near); i < p.markTime.length && p.markTime[i] <= at + near; i++) {
      if (lane?.pd === p.m_pd[i]) {
        return i;
      }
    }
    return -1;
  }

  // A moment that was asked for, and what was then.
  point(at, words) {
    this.pointed = at;
    this.onPick(`${this.both(at)}${words.length > 0 ? ': ' : ''}`, ...words);
    this.draw();
  }

  // A point in time since the beginning, and of the target's clock.
  both(at) {
    return `${moment(at, 1000)} (target time ${this.profile.clock(at)} s)`;
  }

  // Shows the single sample (mark, interval) under the pointer in words.
  pick(at, lane, y) {
    const mark = this.markNear(at, lane), sample = this.sampleOf(at, lane), p = this.profile;
    if (mark >= 0) {
      const kind = ['mark', 'phase begins:', 'phase ends:'][p.m_kind[mark]];
      this.onPick(`${this.both(p.markTime[mark])}: ${kind} ${p.info.texts[p.m_name[mark]]}, ` +
        `PD ${p.pdName(p.m_pd[mark])}, id ${p.m_id[mark]}`);
    } else if (lane && y < lane.top + lane.strip && this.states?.intervalAt(lane, at)) {
      this.states.pick(this.states.intervalAt(lane, at));
    } else if (sample >= 0) {
      this.pickSample(sample);
    }
  }

  pickSample(i) {
    const p = this.profile, chain = p.s_chain[i], path = [];
    for (let node = p.c_node[chain]; node !== 0; node = p.n_parent[node]) {
      path.push(nodeName(p.label(p.n_label[node])));
    }
    this.cursor = i;
    this.onPick(`${this.both(p.time[i])}: core ${p.s_core[i]}, PD ${p.pdName(p.c_pd[chain])}, ` +
      `${count(p.s_period[i])} ${p.info.events[p.c_event[chain]].name} (${duration(p.s_span[i])}): ` +
      path.join(' ← '));
    this.draw();
  }

  // The next or previous sample that is selected.
  step(by) {
    const p = this.profile, mask = this.selection.mask(), [from] = this.view();
    let i = this.cursor ?? p.sampleAt(from) - by;
    do {
      i += by;
    } while (i >= 0 && i < p.samples && !mask[p.s_chain[i]]);
    if (i >= 0 && i < p.samples) {
      const [begin, end] = this.view();
      if (p.time[i] < begin || p.time[i] > end) {
        this.look(p.time[i] - (end - begin) / 2, p.time[i] + (end - begin) / 2);
      }
      this.pickSample(i);
    }
  }

  key(e) {
    const keys = {
      'w': () => this.zoom(0.7), '+': () => this.zoom(0.7), 's': () => this.zoom(1 / 0.7),
      '-': () => this.zoom(1 / 0.7), 'a': () => this.pan(-0.2), 'ArrowLeft': () => this.pan(-0.1),
      'd': () => this.pan(0.2), 'ArrowRight': () => this.pan(0.1), '0': () => this.look(...this.profile.all()),
      'z': () => state.from !== null && this.look(state.from, state.to),
      '.': () => this.step(1), ',': () => this.step(-1),
      '>': () => this.states?.step(1), '<': () => this.states?.step(-1),
    };
    if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      keys[e.key]();
    }
  }
}
