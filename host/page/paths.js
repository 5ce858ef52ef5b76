// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: latencies and critical paths as tables. Owns: the rows of what took how long, each with
// the critical path of its longest, and the panel of the path that is shown: its sums and its steps, a
// step's button shows it on the lanes. Texts and figures are those of mkperf latency.
'use strict';

const STEPS_FIRST = 200;

// Microseconds with the nanosecond, as mkperf latency prints them.
function micros(ns) {
  return `${Math.floor(ns / 1000)}.${String(ns % 1000).padStart(3, '0')}`;
}

class LatencyTable {
  constructor() {
    this.note = byId('longest');
    this.body = byId('latencies').tBodies[0];
    this.marks = ['mark-a', 'mark-b'].map(byId);
    for (const list of this.marks) {
      list.onchange = () => this.marks.every((of) => of.value) &&
        this.panel.open(this.marks.map((of) => of.value).join('..'), null);
    }
    byId('path-time').onclick = () => this.panel.open('..', null);
  }

  show(profile, panel) {
    Object.assign(this, { profile, panel });
    if (profile.schedule) {
      this.latencies = new Latencies(profile);
      const names = [...new Set(Array.from(profile.m_name, (text) => profile.info.texts[text]))].sort();
      byId('between').hidden = names.length === 0;
      this.marks.forEach((list) => {
        const chosen = list.value;
        list.replaceChildren(new Option('…', ''), ...names.map((name) => new Option(name, name)));
        list.value = names.includes(chosen) ? chosen : '';
      });
    }
  }

  // What began in the selected time, and concerns the selected PD.
  update() {
    const pd = state.pd === '' ? -1 : this.profile.pds.findIndex((of) => of.name === state.pd);
    const from = state.from ?? 0, to = state.to ?? this.profile.span;
    const longest = this.latencies.longestCall((call) =>
      (pd < 0 || pd === call.caller || pd === call.callee) && call.from >= from && call.from <= to);
    this.note.textContent = longest ? `longest call: ${micros(longest.to - longest.from)} µs, ` +
      `${this.profile.pdName(longest.caller)} → ${this.profile.pdName(longest.callee)}` : 'no whole call';
    const kinds = this.latencies.rows(from, to)
      .map((rows) => rows.filter((row) => pd < 0 || row.pds.includes(pd)));
    this.body.replaceChildren(...['call until its reply', 'wake-up until it runs', 'phase'].flatMap((title, kind) =>
      kinds[kind].length === 0 ? [] : [make('tr', {}, make('th', { colSpan: 8, scope: 'rowgroup', textContent: title })), ...kinds[kind].map((row) => this.row(row))]));
    this.choose();
  }

  // The longest call under way at a time: {from, to, words, button}, null.
  callAt(at) {
    const found = this.latencies?.longestCall(({ from, to }) => from <= at + ROUNDED && at <= to + ROUNDED);
    if (found) {
      const [from, to] = [found.caller, found.callee].map((pd) => this.profile.pdName(pd));
      found.words = `${from} → ${to}: ${micros(found.to - found.from)} µs`;
      found.button = button('critical path', () => this.openAt(`${from}:${to}`, found));
    }
    return found;
  }

  row(row) {
    const { longest } = row, open = make('button', { type: 'button', textContent: row.words, 'aria-label': `critical path of the longest: ${row.words}` });
    const times = [Math.floor(row.total / row.count), ...PER_MILLE.map((part) => row.quantile(part)), longest.to - longest.from];
    const figures = times.map((ns, i) => {
      const of = make('button', { type: 'button', textContent: micros(ns), 'aria-label': `critical path of one of ${micros(ns)} µs: ${row.words}` });
      return make('td', { 'data-near': i < times.length - 1 ? ns : '', className: [2, 4].includes(i) ? 'count' : '' }, of);
    });
    const tr = make('tr', { 'data-path': row.path }, ...cells(count(row.count)), ...figures, make('td', {}, open));
    tr.onclick = (e) => { // the buttons, for the keyboard, are in it
      const near = e.target.closest('td')?.dataset.near;
      // in a selected time the longest is not the longest of all: the one that was under way then
      this.openAt(row.path, near ? this.latencies.nearest(row, Number(near)) : state.from === null ? null : longest);
    };
    return tr;
  }

  openAt(path, of) {
    this.panel.open(path, of && Math.floor((of.from + of.to) / 2));
  }

  choose() {
    for (const tr of this.body.rows) {
      const chosen = state.path !== '' && tr.dataset.path === state.path;
      tr.classList.toggle('chosen', chosen);
      tr.querySelector('button')?.setAttribute('aria-pressed', chosen);
    }
  }
}

class PathPanel {
  constructor(box, tracks) {
    this.box = box;
    this.tracks = tracks;
  }

  show(profile) {
    this.profile = profile;
    this.update();
  }

  open(path, at) {
    this.isNew = true;
    this.key = null; // again, if it is open
    change({ path, at, ...(NARROW.matches ? { tab: 'details' } : {}) }); // in a narrow window the path is in this tab
    this.update();
  }

  update() {
    this.find().catch(complain);
  }

  // Of a large recording the server is asked for the time of the path.
  async find() {
    const key = JSON.stringify([state.path, state.at, state.path === '..' ? [state.from, state.to, state.core, state.pd] : 0]);
    if (this.key === key && this.of === this.profile) {
      return;
    }
    const isNew = this.isNew, isOther = this.key !== key, number = this.asked = (this.asked ?? 0) + 1;
    Object.assign(this, { key, of: this.profile, isNew: false, limit: STEPS_FIRST });
    this.box.hidden = state.path === '' || !this.profile.schedule;
    const found = this.box.hidden ? null : await this.choose();
    if (number !== this.asked) {
      return; // another path was chosen since
    }
    this.path = found?.path ?? null;
    if (found) {
      this.fill(found);
    }
    this.tracks.pds.showPath(this.path);
    if (this.path && (isNew || (isOther && state.viewFrom === null)) && state.path !== '..') {
      const room = (this.path.to - this.path.from) / 20;
      this.tracks.look(this.path.from - room, this.path.to + room);
    }
  }

  // What Latencies.choose finds, and its path.
  async choose() {
    const { profile } = this, { schedule } = profile;
    if (state.path === '..' && state.from !== null) {
      await schedule.load(state.from, state.to, STRETCH.path);
    }
    const found = new Latencies(profile).choose(state.path, state.at);
    if (found.problem) {
      return found;
    }
    const stretch = await schedule.load(found.from, found.to, STRETCH.path);
    return stretch.exact ? { ...found, path: new CriticalPath(stretch, found.pd, found.from, found.to) }
      : { problem: `${found.title}: ${count(stretch.found)} intervals, and a path may have ${count(STRETCH.path)}: choose a shorter time` };
  }

  fill(found) {
    const close = button('Close', () => change({ path: '', at: null }), { 'aria-label': 'close the critical path' });
    const head = make('h3', {}, 'Critical path', close);
    if (!this.path) {
      this.box.replaceChildren(head, make('p', { textContent: found.problem }));
      return;
    }
    const { path } = this, ns = path.to - path.from, unknown = path.unknown();
    const quote = /^[\w.:-]+$/.test(state.path) ? '' : '\'';
    const command = state.path === '..' || /->|'/.test(state.path) ? [] : [make('br', {}), make('code', { textContent:
      `mkperf latency ${quote}--critical-path=${state.path}${quote}${state.at === null ? '' : ` --at ${this.profile.clock(state.at)}`}` })];
    const sums = make('tbody', {}, ...path.sums().map(({ step, ns: part, times }) =>
      make('tr', {}, ...cells(micros(part), percent(part, ns), String(times)), make('td', {}, this.mark(step), path.words(step)))));
    this.rows = make('tbody', {});
    this.more = button('', () => { this.limit *= 10; this.addSteps(); });
    this.box.replaceChildren(head, make('p', {}, `Of ${found.title}: `, make('b', { textContent: `${micros(ns)} µs` }),
      ` from ${this.profile.clock(path.from)} s of the target's clock, ${number(path.steps.length, 'step')}`, ...command),
    ...(unknown > 0 ? [make('p', { className: 'bad', textContent: `${micros(unknown)} µs of it (${percent(unknown, ns)}) are not known: ` +
      'events are missing there, and what came before may have had another cause' })] : []),
    this.table(['µs', 'Share', 'Times', 'What'], 'path-sums', sums), this.table(['After, µs', 'µs', 'By', 'What'], 'path-steps', this.rows, this.more));
    this.addSteps();
  }

  table(heads, id, body, ...below) {
    return make('div', { className: 'wide' }, make('table', { id },
      make('thead', {}, make('tr', {}, ...heads.map((text) => make('th', { textContent: text })))), body), ...below);
  }

  mark(step) {
    return swatch(this.profile.colour(step.pd, false));
  }

  addSteps() {
    const { steps } = this.path;
    for (let i = this.rows.rows.length; i < Math.min(this.limit, steps.length); i++) {
      const step = steps[i], { path } = this, show = button(path.words(step), () => { // on the lanes: in the middle, and so wide that it can be seen
        const [from, to] = this.tracks.view(), ns = step.to - step.from, middle = step.from + ns / 2;
        const span = ns > (to - from) / 50 && ns < to - from ? to - from : 4 * ns;
        this.rows.querySelector('.chosen')?.classList.remove('chosen');
        this.rows.rows[i].classList.add('chosen');
        this.tracks.pds.showPath(path, i);
        this.tracks.look(middle - span / 2, middle + span / 2);
      });
      show.prepend(this.mark(step));
      this.rows.append(make('tr', {}, ...cells(micros(step.from - path.from), micros(step.to - step.from), path.by(step)), make('td', {}, show)));
    }
    this.more.hidden = this.rows.rows.length === steps.length;
    this.more.textContent = `show more of ${count(steps.length)} steps`;
  }
}

// A critical path on the tracks. Owns: the line below the states of the lanes, solid while a PD runs and dashed while it waits,
// arrows where the path goes from one PD to another, and the frame of the step that was chosen.

const PATH_STEPS = 3000, PATH_GAP = 7; // steps that are drawn singly; pixels between arrows of the same PDs

class PathPainter {
  constructor(tracks) {
    this.tracks = tracks;
  }

  // chosen: the number of a step, -1.
  paint(path, chosen) {
    const t = this.tracks, [from, to] = t.view();
    this.width = t.canvas.clientWidth;
    this.from = from;
    this.perNs = this.width / (to - from);
    this.lanes = t.pds.byPd;
    if (this.path !== path) {
      this.path = path;
      this.ends = Float64Array.from(path.steps, (step) => step.to);
    }
    const begin = upperBound(this.ends, from, 0), { steps } = path;
    const end = Math.min(steps.length, lowerBound(this.ends, to) + 1);
    this.solid = new Path2D();
    this.dashed = new Path2D();
    this.heads = new Path2D();
    this.lines(steps, begin, end);
    if (chosen >= begin && chosen < end) {
      t.frame(this.lanes.get(steps[chosen].pd), steps[chosen].from, steps[chosen].to);
    }
    const c = t.context;
    c.fillStyle = t.colour('--path');
    for (const time of [path.from, path.to]) { // where it begins and ends, through all lanes
      c.fillRect(Math.round(t.xOf(time)) - 0.5, AXIS - 4, 1, t.height);
    }
    for (const [colour, width] of [['--back', 5], ['--path', 3]]) {
      c.strokeStyle = c.fillStyle = t.colour(colour);
      c.lineWidth = width;
      c.stroke(this.solid);
      c.setLineDash(colour === '--path' ? [5, 3] : []);
      c.stroke(this.dashed);
      c.setLineDash([]);
      c.lineWidth = 2;
      c.stroke(this.heads);
    }
    c.fill(this.heads);
    c.lineWidth = 1;
  }

  y(lane) {
    return lane.top + lane.strip - 0.5;
  }

  clip(time) {
    return Math.max(-8, Math.min(this.width + 8, (time - this.from) * this.perNs));
  }

  // Draws the steps and the arrows. If more than PATH_STEPS steps are visible, it draws solid lines in whole pixels, without arrows.
  lines(steps, begin, end) {
    const isMany = end - begin > PATH_STEPS;
    const drawn = new Map(), last = new Map(); // the end of each lane's line; the place of the last arrow between two PDs
    for (let i = begin; i < end; i++) {
      const lane = this.lanes.get(steps[i].pd), before = this.lanes.get(steps[i - 1]?.pd), x = this.clip(steps[i].from);
      const right = isMany ? Math.ceil(this.clip(steps[i].to)) : this.clip(steps[i].to);
      if (lane && right > (drawn.get(lane) ?? -Infinity)) {
        const line = isMany || steps[i].state === 'running' ? this.solid : this.dashed;
        line.moveTo(isMany ? Math.floor(x) : x, this.y(lane));
        line.lineTo(right, this.y(lane));
        drawn.set(lane, right);
      }
      const moves = !isMany && lane && before && lane !== before, pair = moves && `${steps[i - 1].pd} ${steps[i].pd}`;
      if (moves && x - (last.get(pair) ?? -PATH_GAP) >= PATH_GAP) {
        const at = Math.round(x), to = this.y(lane), up = to < this.y(before) ? 1 : -1;
        last.set(pair, x);
        this.solid.moveTo(at, this.y(before));
        this.solid.lineTo(at, to);
        this.heads.moveTo(at, to + up);
        this.heads.lineTo(at - 4, to + 7 * up);
        this.heads.lineTo(at + 4, to + 7 * up);
        this.heads.closePath();
      }
    }
  }
}
