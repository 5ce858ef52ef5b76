// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: a critical path on the tracks. Owns: the line below the states of the lanes, solid while
// a PD runs and dashed while it waits, arrows where the path goes from one PD to another, and the frame of the
// step that was chosen.
'use strict';

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
    this.lanes = new Map(t.lanes.filter((lane) => lane.kind === 'pd').map((lane) => [lane.pd, lane]));
    if (this.path !== path) {
      this.path = path;
      this.ends = Float64Array.from(path.steps, (step) => step.to);
    }
    const begin = upperBound(this.ends, from, 0), { steps } = path;
    const end = Math.min(steps.length, lowerBound(this.ends, to) + 1);
    this.solid = new Path2D();
    this.dashed = new Path2D();
    this.heads = new Path2D();
    if (end - begin > PATH_STEPS) {
      this.coarse(steps, begin, end);
    } else {
      this.single(steps, begin, end);
    }
    if (chosen >= begin && chosen < end) {
      this.frame(steps[chosen]);
    }
    this.edges(path);
    this.stroke();
  }

  y(lane) {
    return lane.top + lane.strip - 0.5;
  }

  clip(time) {
    return Math.max(-8, Math.min(this.width + 8, (time - this.from) * this.perNs));
  }

  single(steps, begin, end) {
    const last = new Map(); // of two PDs: where their last arrow is
    for (let i = begin; i < end; i++) {
      const lane = this.lanes.get(steps[i].pd), before = this.lanes.get(steps[i - 1]?.pd), x = this.clip(steps[i].from);
      if (lane) {
        const line = steps[i].state === 'running' ? this.solid : this.dashed;
        line.moveTo(x, this.y(lane));
        line.lineTo(this.clip(steps[i].to), this.y(lane));
      }
      const pair = `${steps[i - 1]?.pd} ${steps[i].pd}`;
      if (lane && before && lane !== before && x - (last.get(pair) ?? -PATH_GAP) >= PATH_GAP) {
        last.set(pair, x);
        this.handOver(Math.round(x), this.y(before), this.y(lane));
      }
    }
  }

  handOver(x, from, to) {
    const up = to < from ? 6 : -6;
    this.solid.moveTo(x, from);
    this.solid.lineTo(x, to);
    this.heads.moveTo(x, to + Math.sign(up));
    this.heads.lineTo(x - 4, to + up + Math.sign(up));
    this.heads.lineTo(x + 4, to + up + Math.sign(up));
    this.heads.closePath();
  }

  // With several steps in a pixel: where the path is in each lane.
  coarse(steps, begin, end) {
    const lines = new Map(); // of a lane: [from, to] in pixels
    for (let i = begin; i < end; i++) {
      const lane = this.lanes.get(steps[i].pd), from = Math.floor(this.clip(steps[i].from)), to = Math.ceil(this.clip(steps[i].to));
      const line = lines.get(lane);
      if (line && from <= line[1] + 1) {
        line[1] = to;
      } else if (lane) {
        this.line(lane, line);
        lines.set(lane, [from, to]);
      }
    }
    lines.forEach((line, lane) => this.line(lane, line));
  }

  line(lane, line) {
    if (line) {
      this.solid.moveTo(line[0], this.y(lane));
      this.solid.lineTo(line[1], this.y(lane));
    }
  }

  // Where it begins and ends, through all lanes.
  edges(path) {
    const t = this.tracks, c = t.context;
    c.fillStyle = t.colour('--path');
    for (const time of [path.from, path.to]) {
      c.fillRect(Math.round(t.xOf(time)) - 0.5, AXIS - 4, 1, t.height);
    }
  }

  stroke() {
    const t = this.tracks, c = t.context;
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

  frame(step) {
    const t = this.tracks, lane = this.lanes.get(step.pd), left = this.clip(step.from), right = this.clip(step.to);
    if (lane) {
      t.context.strokeStyle = t.colour('--mark');
      t.context.lineWidth = 2;
      t.context.strokeRect(left, lane.top, Math.max(2, right - left), lane.strip);
      t.context.lineWidth = 1;
    }
  }
}
