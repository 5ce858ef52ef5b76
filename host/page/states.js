// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: how scheduling is drawn on the tracks. Owns: the strip of states in each lane, the
// names of intervals that are wide enough, arrows of calls, the state under the pointer, the legend.
'use strict';

const ARROWS = 400, ARROW_GAP = 8, ROOM = 36; // calls; pixels between arrows; pixels of an interval that gets a name

class StatePainter {
  constructor(tracks) {
    this.tracks = tracks;
  }

  get schedule() {
    return this.tracks.profile.schedule;
  }

  // What is not of the selected PD or core is pale.
  isPale(list) {
    return (state.pd !== '' && this.tracks.profile.pdName(list.pd) !== state.pd) ||
      (state.core !== null && list.state === 'running' && list.core !== state.core);
  }

  part(list, all) {
    const of = STATES[list.state], t = this.tracks;
    const colour = of.colour ? t.colour(of.colour) : t.profile.colour(list.pd, false);
    const alpha = this.isPale(list) ? 70 : 255;
    return { all, chosen: all, colour: pixel(colour, alpha), pale: 0, slant: of.hatch,
      hatch: of.hatch ? pixel(t.colour('--hatch'), alpha) : 0 };
  }

  // A sample stands for the time since the one before it, in which its PD may have run for a part only. Where a sample is
  // several columns wide, it is drawn where its PD ran, and where it is not known what ran.
  clip(columns, from, to, n) {
    const p = this.tracks.profile, s = this.schedule, width = (to - from) / n, stretch = s.best(from, to);
    if (p.span * p.info.cores < 4 * width * p.samples) {
      return;
    }
    for (const core of new Set(columns.map(({ list }) => list.core))) {
      const ran = stretch.columns({ kind: 'core', core }, from, to, n), { idle, unknown } = stretch.rest({ core }, ran, from, to, n);
      for (const { list: of, all, chosen } of columns.filter(({ list }) => list.core === core)) {
        const runs = p.pds[of.pd].idle ? idle : ran.find(({ list }) => list.pd === of.pd)?.all;
        for (let x = 0; x < n; x++) {
          const time = from + x * width, most = time < s.from || time > s.to ? 1 : (runs?.[x] ?? 0) + unknown[x];
          all[x] = Math.min(all[x], most);
          chosen[x] = Math.min(chosen[x], most);
        }
      }
    }
  }

  // The parts of a lane's strip, for paintLane.
  parts(lane, from, to, n) {
    const stretch = this.schedule.best(from, to), columns = stretch.columns(lane, from, to, n);
    const parts = columns.map(({ list, all }) => this.part(list, all));
    if (lane.kind === 'core') {
      const { idle, unknown } = stretch.rest(lane, columns, from, to, n);
      parts.push(this.part({ state: 'unknown' }, unknown),
        { all: idle, chosen: idle, colour: pixel(this.tracks.colour('--idle'), 255), pale: 0 });
    }
    return parts;
  }

  // Names in intervals, where there are few enough.
  paintNames() {
    const t = this.tracks, c = t.context, [from, to] = t.view(), width = t.canvas.clientWidth;
    const stretch = this.schedule.exactly(from, to);
    c.textBaseline = 'middle';
    for (const lane of stretch ? t.pds.tracks.filter((of) => of.visible) : []) {
      for (const list of stretch.lane(lane)) {
        const begin = Math.max(0, list.at(from)), end = Math.min(list.n, list.at(to) + 1), runs = list.state === 'running';
        for (let i = begin; i < end && (end - begin) * ROOM / 2 <= width && !this.isPale(list); i++) {
          const left = Math.max(0, t.xOf(list.start[i])), right = Math.min(width, t.xOf(list.end[i])), by = t.profile.pdName(list.by[i] - 1);
          if (right - left < ROOM) {
            continue;
          }
          const text = lane.kind === 'core' ? t.profile.pdName(list.pd) : runs ? `core ${list.core}`
            : list.by[i] === 0 ? STATES[list.state].words : list.state === 'ready' ? `${by} runs` : `→ ${by}`;
          const shown = [fitting(text, right - left - 6), left + 3, lane.top + lane.strip / 2];
          if (!runs) { // the lines around its letters are left out
            c.strokeStyle = t.colour('--hatch');
            c.lineWidth = 3;
            c.strokeText(...shown);
            c.lineWidth = 1;
          }
          c.fillStyle = runs ? inkOn(t.profile.colour(list.pd, false)) : t.colour('--ink');
          c.fillText(...shown);
        }
      }
    }
  }

  // Arrows from caller to callee, and back at the reply, if so few calls are visible that they can be distinguished.
  paintCalls() {
    const t = this.tracks, p = t.profile, [from, to] = t.view(), [begin, end] = this.schedule.calls(from, to);
    const lanes = t.pds.byPd, visible = [];
    for (let i = begin; i < end && visible.length <= ARROWS && end - begin < 100 * ARROWS; i++) {
      const chosen = state.pd === '' || [p.a_from[i], p.a_to[i]].some((pd) => p.pdName(pd) === state.pd);
      if (chosen && this.schedule.callStart[i] <= to) {
        visible.push(i);
      }
    }
    this.hidden = visible.length > ARROWS || end - begin >= 100 * ARROWS;
    const last = new Map(); // of each pair of PDs: where its last arrow is
    for (const i of this.hidden ? [] : visible) {
      const a = lanes.get(p.a_from[i]), b = lanes.get(p.a_to[i]), start = this.schedule.callStart[i];
      const pair = p.a_from[i] * p.pds.length + p.a_to[i];
      if (a && b && a !== b && t.xOf(start) - (last.get(pair) ?? -ARROW_GAP) >= ARROW_GAP) {
        last.set(pair, t.xOf(start));
        this.arrow(a, b, start, start + p.a_wait[i], 1);
        this.arrow(b, a, start + p.a_length[i], start + p.a_length[i], 0.55);
      }
    }
  }

  arrow(a, b, from, to, alpha) {
    const t = this.tracks, c = t.context, x = t.xOf(from), end = t.xOf(to);
    const y = a.top + a.strip / 2, down = b.top > a.top, tip = down ? b.top : b.top + b.strip;
    c.globalAlpha = alpha;
    c.strokeStyle = c.fillStyle = t.colour('--arrow');
    c.beginPath();
    c.moveTo(x, y);
    c.lineTo(end, tip);
    c.stroke();
    c.beginPath();
    c.moveTo(end, tip);
    c.lineTo(end - 3, tip + (down ? -6 : 6));
    c.lineTo(end + 3, tip + (down ? -6 : 6));
    c.fill();
    c.globalAlpha = 1;
  }

  // What a lane's strip says at a moment: lines of text.
  tip(time, lane) {
    const t = this.tracks, p = t.profile, near = t.timeAt(3) - t.timeAt(0), at = this.intervalAt(lane, time), [begin, end] = this.schedule.calls(time - near, time + near);
    if (!this.schedule.exactly(time, time)) {
      return ['zoom in for single scheduling events'];
    }
    const out = at ? [this.schedule.words(at)] : lane ? [lane.kind === 'pd' ? 'waits for work' : 'idle'] : [];
    for (let i = end - 1; i >= begin && i > end - ARROWS && !this.hidden; i--) { // the call whose arrow is near
      const start = this.schedule.callStart[i];
      if ([start, start + p.a_wait[i], start + p.a_length[i]].some((of) => Math.abs(of - time) <= near) &&
          lane?.kind === 'pd' && [p.a_from[i], p.a_to[i]].includes(lane.pd)) {
        return [...out, this.schedule.callWords(i)];
      }
    }
    return out;
  }

  // The interval of a lane at a moment; null: there is none, or the page has sums only.
  intervalAt(lane, time) {
    return (lane && this.schedule.exactly(time, time)?.intervalAt(lane, time)) ?? null;
  }

  pick(at) {
    const t = this.tracks, p = t.profile, { list, i } = at;
    const path = button('critical path', () => t.onPath(`${p.pdName(list.pd)}:${p.pdName(list.by[i] - 1)}`, Math.floor((list.start[i] + list.end[i]) / 2)));
    this.picked = at;
    t.onPick(`${t.both(list.start[i])}: ${this.schedule.words(at)}`, ...(list.state === 'calling' && list.by[i] > 0 ? [' ', path] : []));
    t.draw();
  }

  // The next or previous interval of the selected PD, or of all; keys < and >.
  step(by) {
    const t = this.tracks, [from, to] = t.view(), stretch = this.schedule.exactly(from, to);
    if (!stretch) {
      t.onPick('zoom in for single scheduling events');
      return;
    }
    const time = this.picked ? this.picked.list.start[this.picked.i] : from;
    const next = stretch.step(time, by, state.pd);
    if (next) {
      const start = next.list.start[next.i];
      if (start < from || start > to) {
        t.look(start - (to - from) / 2, start + (to - from) / 2);
      }
      this.pick(next);
    }
  }

  legend() {
    const shown = Object.keys(STATES).filter((name) => this.schedule.lists.some((list) => list.state === name));
    return [...shown.map((name) => [name, STATES[name].name]), ['waiting', 'waits for work'], ['idle', 'idle core'], ['path', 'critical path']]
      .map(([name, words]) => make('span', {}, make('i', { className: `swatch ${name}` }), words));
  }
}
