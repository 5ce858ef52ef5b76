// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: tracks on one time axis. Owns: the list of tracks with their labels and figures, the canvas beside it, which
// part of time is visible, and mouse, fingers, wheel and keys on it. What a track shows is its group's matter (Track, TrackGroup).
'use strict';

const AXIS = 24, HEAD = 6, LEAST_VIEW = 50; // pixels; ns
const TRACK_GROUPS = []; // constructors of TrackGroup, in the order in which their tracks are shown

// The figures of a label, as columns: their heads, and what they are of.
const FIGURES = {
  share: ['Share', 'of the samples within the selected time and core'],
  charged: ['Charged', 'its own work, and work of others on its behalf, by the callchains'],
  ran: ['Ran', 'of the selected time, by scheduling events; of one core'],
  ready: ['Ready', 'ready while another ran, of the selected time'],
  change: ['Change', 'of the share, in percentage points; ~ marks what may be chance'],
};

// One track: label, figures, draw, hit.
class Track {
  // key: names it among all tracks; height: pixels of what it draws, below `top`, which Tracks sets; selects: the part of the state that
  // a click on the label selects.
  constructor(of) {
    Object.assign(this, { kind: '', key: '', name: '', colour: '', height: 24, top: 0, selects: {} }, of);
  }

  // {name of FIGURES: {text, share (0 to 1: a bar), title}}; or {note: text}, a text instead of all figures.
  figures() {
    return {};
  }

  isChosen() {
    return Object.entries(this.selects).some(([name, value]) => state[name] === value);
  }

  // What a click on the label changes of the state: it selects, or no longer.
  choice() {
    return this.isChosen() ? Object.fromEntries(Object.keys(this.selects).map((name) => [name, EMPTY[name]])) : this.selects;
  }

  // Draws on view.context, in CSS pixels, from top to top + height; view.xOf(time) is where.
  draw() {}

  // What is at a time (ns since the beginning) and a y of the canvas: {tip: [lines], pick: a function that a click calls}.
  hit() {
    return { tip: [] };
  }
}

// The tracks of one kind, and what is drawn over several of them.
class TrackGroup {
  constructor(view) {
    this.view = view; // a Tracks
    this.tracks = [];
  }

  // A profile has arrived: makes the tracks.
  show() {}

  // The event or what is selected has changed; sums of samples may have, too.
  rebuild() {}

  // Its tracks of view.profile, in their order. It does not depend on what is selected: nothing moves.
  list() {
    return this.tracks;
  }

  // Before the tracks draw: writes pixels (of the device, row by row) of those that are visible.
  pixels() {}

  // After all tracks have drawn: lines between tracks.
  overlay() {}

  // Keys of what it draws, as elements.
  legend() {
    return [];
  }
}

class Tracks {
  constructor(box) {
    this.box = box;
    this.table = box.querySelector('table');
    this.canvas = box.querySelector('canvas');
    this.lanes = []; // all tracks, from the top
    this.rows = new Map(); // of the table, by tracks
    this.groups = TRACK_GROUPS.map((Group) => new Group(this));
    this.listen();
  }

  show(profile, selection, figures) {
    Object.assign(this, { profile, selection, sums: figures });
    this.groups.forEach((group) => group.show());
    this.columns = Object.keys(FIGURES).filter((name) => figures.has(name));
    this.table.tHead.rows[0].replaceChildren(make('th', { textContent: 'Track', scope: 'col' }), ...this.columns.map((name) =>
      make('th', { textContent: FIGURES[name][0], title: FIGURES[name][1], scope: 'col' })));
    document.documentElement.style.setProperty('--figures', this.columns.length);
    this.rebuild();
    byId('legend').replaceChildren(...this.groups.flatMap((group) => group.legend()));
  }

  // After the event or the filters changed.
  rebuild() {
    this.groups.forEach((group) => group.rebuild());
    const tracks = this.groups.flatMap((group) => group.list());
    this.lanes = tracks.filter((track) => !track.between);
    for (const track of tracks.filter(({ between }) => between).reverse()) { // behind the first one of its PDs
      const after = this.lanes.findIndex(({ kind, name }) => kind === 'pd' && track.between.includes(name));
      this.lanes.splice(after < 0 ? this.lanes.length : after + 1, 0, track);
    }
    this.height = this.lanes.reduce((sum, lane) => sum + HEAD + lane.height + 2, AXIS);
    this.label();
    this.draw();
  }

  // Rows are kept, also of a running target, and with them what has the focus.
  label() {
    const rows = this.lanes.map((lane) => {
      const key = `${lane.key} ${lane.colour} ${lane.height}`, row = this.rows.get(key) ?? this.row(lane);
      this.rows.set(key, row);
      row.lane = lane;
      this.fill(row, lane);
      return row;
    });
    const body = this.table.tBodies[0];
    if (rows.length !== body.rows.length || rows.some((row, i) => row !== body.rows[i])) {
      const focus = document.activeElement;
      body.replaceChildren(...rows);
      if (body.contains(focus)) { // a move takes it away
        focus.focus({ preventScroll: true });
      }
    }
  }

  row(lane) {
    const choose = button('', () => change(row.lane.choice()), { title: lane.name });
    const row = make('tr', { className: lane.kind, 'data-track': lane.key }, make('th', { scope: 'row' }, choose));
    row.style.height = `${HEAD + lane.height + 2}px`;
    choose.append(...(lane.colour ? [swatch(lane.colour)] : []), lane.name);
    return row;
  }

  fill(row, lane) {
    const figures = lane.figures(), chosen = lane.isChosen(), button = row.cells[0].firstElementChild;
    row.classList.toggle('chosen', chosen);
    button.setAttribute('aria-pressed', chosen);
    button.disabled = Object.keys(lane.selects).length === 0;
    while (row.cells.length > 1) {
      row.lastElementChild.remove();
    }
    row.append(...(figures.note !== undefined ? [make('td', { colSpan: Math.max(1, this.columns.length), className: 'note', textContent: figures.note })]
      : this.columns.map((name) => figureCell(figures[name], lane.colour))));
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

  // By a part of a view.
  pan(part, [from, to] = this.view()) {
    const by = (to - from) * part;
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

  colour(name) {
    return this.style.getPropertyValue(name);
  }

  // Fills a box: x, y, width, height.
  paintBox(colour, ...box) {
    this.context.fillStyle = this.colour(colour);
    this.context.fillRect(...box);
  }

  // One picture for all changes until the next frame.
  draw() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      this.paint();
    });
  }

  // The canvas has the visible part of the list.
  paint() {
    const { canvas, box } = this, scale = window.devicePixelRatio || 1, tall = Math.max(1, Math.min(box.clientHeight, this.height));
    canvas.style.height = `${tall}px`;
    const width = Math.max(1, Math.round(canvas.clientWidth * scale)), height = Math.round(tall * scale);
    if (canvas.width !== width || canvas.height !== height) {
      Object.assign(canvas, { width, height });
    }
    let top = AXIS - box.scrollTop;
    for (const lane of this.lanes) {
      lane.top = top + HEAD;
      lane.visible = lane.top + lane.height > AXIS && top < tall;
      top += HEAD + lane.height + 2;
    }
    const c = this.context = canvas.getContext('2d'), image = c.createImageData(width, height);
    this.style = getComputedStyle(canvas);
    this.groups.forEach((group) => group.pixels(new Uint32Array(image.data.buffer), width, scale));
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.putImageData(image, 0, 0);
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.font = '11px system-ui, sans-serif';
    const [from, to] = this.view(), wide = canvas.clientWidth, ticks = this.ticks();
    ticks.forEach(([x]) => this.paintBox('--line', x, AXIS, 1, tall));
    this.lanes.forEach((lane) => this.paintBox('--line', 0, lane.top + lane.height + 1, wide, 1));
    this.lanes.forEach((lane) => lane.visible && lane.draw());
    this.groups.forEach((group) => group.overlay());
    const [begin, end] = this.dragged ? [Math.min(...this.dragged), Math.max(...this.dragged)] : [state.from, state.to];
    if (begin !== null) {
      this.paintBox('--choice', this.xOf(begin), 0, Math.max(1, this.xOf(end) - this.xOf(begin)), tall);
    }
    if (this.pointed !== undefined) {
      this.paintBox('--mark', this.xOf(this.pointed) - 1, 0, 2, tall);
    }
    this.paintBox('--panel', 0, 0, wide, AXIS);
    c.textBaseline = 'middle';
    for (const [x, at] of ticks) {
      this.paintBox('--weak', x, AXIS - 5, 1, 5);
      c.fillText(moment(at, to - from), Math.min(x + 4, wide - 44), AXIS / 2);
    }
    this.paintBox('--line', 0, AXIS - 1, wide, 1);
    this.frames = (this.frames ?? 0) + 1;
  }

  // Times with round numbers: [[x, time]].
  ticks() {
    const [from, to] = this.view(), least = (to - from) / Math.max(1, this.canvas.clientWidth / 110), power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least), first = Math.ceil(from / step);
    return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, i) => [Math.round(this.xOf((first + i) * step)), (first + i) * step]);
  }

  listen() {
    const canvas = this.canvas;
    new ResizeObserver(() => this.profile && this.draw()).observe(this.box);
    this.box.onscroll = () => this.draw();
    canvas.addEventListener('wheel', (e) => this.turned(e), { passive: false });
    this.fingers = new Map(); // of a touch: where each is
    const lift = (e) => { this.fingers.delete(e.pointerId); };
    canvas.addEventListener('pointerup', lift);
    canvas.addEventListener('pointercancel', (e) => { lift(e); this.held = this.dragged = null; });
    canvas.onpointerdown = (e) => {
      if (e.pointerType === 'touch') {
        this.fingers.set(e.pointerId, e.offsetX);
      }
      if (this.fingers.size > 1) { // two fingers zoom, and select nothing
        this.held = this.dragged = null;
        this.pinch = { view: this.view(), at: [...this.fingers.values()] };
        return;
      }
      this.held = { x: e.offsetX, pans: e.offsetY < AXIS || e.button === 1 || e.altKey, view: this.view() };
      canvas.setPointerCapture(e.pointerId);
    };
    canvas.onpointermove = (e) => this.moved(e);
    canvas.onpointerup = (e) => this.released(e);
    canvas.onpointerleave = () => showTip(null);
    canvas.ondblclick = () => state.from !== null && this.look(state.from, state.to);
    canvas.onkeydown = (e) => this.key(e);
  }

  // The wheel over a canvas with this time axis.
  turned(e) {
    e.preventDefault();
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      this.pan((e.deltaX || e.deltaY) / e.target.clientWidth);
    } else {
      this.zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY / 300))), this.timeAt(e.offsetX / e.target.clientWidth * this.canvas.clientWidth));
    }
  }

  moved(e) {
    if (this.fingers.has(e.pointerId)) {
      this.fingers.set(e.pointerId, e.offsetX);
    }
    if (this.fingers.size > 1) { // the moments below two fingers stay below them
      const [a, b] = [...this.fingers.values()], { view: [from, to], at: [c, d] } = this.pinch, width = this.canvas.clientWidth;
      const span = (to - from) * Math.abs(d - c) / Math.max(8, Math.abs(b - a));
      const begin = from + (c + d) / 2 / width * (to - from) - (a + b) / 2 / width * span;
      this.look(begin, begin + span);
      return;
    }
    if (this.held && Math.abs(e.offsetX - this.held.x) > 3) {
      if (this.held.pans) {
        this.pan((this.held.x - e.offsetX) / this.canvas.clientWidth, this.held.view);
      } else {
        this.dragged = [this.timeAt(this.held.x), this.timeAt(e.offsetX)];
        this.draw();
      }
    }
    const at = this.timeAt(e.offsetX), [from, to] = this.view();
    showTip(e, [`${moment(at, to - from)} (target time ${this.profile.clock(at)} s)`, ...(this.laneAt(e.offsetY)?.hit(at, e.offsetY).tip ?? [])]);
  }

  released(e) {
    const dragged = this.dragged, held = this.held;
    this.dragged = this.held = null;
    if (dragged) {
      const limit = (t) => Math.round(Math.min(this.profile.span, Math.max(0, t)));
      change({ from: limit(Math.min(...dragged)), to: limit(Math.max(...dragged)) });
    } else if (held && Math.abs(e.offsetX - held.x) <= 3) {
      this.laneAt(e.offsetY)?.hit(this.timeAt(e.offsetX), e.offsetY).pick?.();
    }
    this.draw();
  }

  laneAt(y) {
    return y < AXIS ? undefined : this.lanes.find((lane) => y >= lane.top - HEAD && y <= lane.top + lane.height);
  }

  // A frame around from..to in the states of a lane, if there is one.
  frame(lane, from, to) {
    const c = this.context, left = Math.max(-2, this.xOf(from)), right = Math.min(this.canvas.clientWidth + 2, this.xOf(to));
    c.strokeStyle = this.colour('--mark');
    c.lineWidth = 2;
    if (lane) {
      c.strokeRect(left, lane.top, Math.max(2, right - left), lane.strip);
    }
    c.lineWidth = 1;
  }

  // A point in time since the beginning, and of the target's clock.
  both(at) {
    return `${moment(at, 1000)} (target time ${this.profile.clock(at)} s)`;
  }

  key(e) {
    const keys = {
      'w': () => this.zoom(0.7), '+': () => this.zoom(0.7), 's': () => this.zoom(1 / 0.7),
      '-': () => this.zoom(1 / 0.7), 'a': () => this.pan(-0.2), 'ArrowLeft': () => this.pan(-0.1),
      'd': () => this.pan(0.2), 'ArrowRight': () => this.pan(0.1), '0': () => this.look(...this.profile.all()),
      'z': () => state.from !== null && this.look(state.from, state.to),
      '.': () => this.pds.step(1), ',': () => this.pds.step(-1),
      '>': () => this.states?.step(1), '<': () => this.states?.step(-1),
    };
    if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      keys[e.key]();
    }
  }
}
