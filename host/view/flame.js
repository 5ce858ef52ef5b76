// SPDX-License-Identifier: BSD-2-Clause
// The flame graph of mkperf view. Owns: its frames, and which of them is zoomed to. The root is at
// the top (PDs), callees below their callers; a frame's width is its share.
import { colour, pdName, percent } from './page.js';

const HEIGHT = 18, NARROW = 0.0008; // of a row, in pixels; of the width, below which nothing is drawn

export class Flame {
  constructor(box, title) {
    this.box = box;
    this.title = title;
    this.frames = [];
    this.found = () => false;
  }

  // Nodes are in preorder: `next` is where at each depth the next one begins.
  show(profile) {
    const next = [0];
    this.profile = profile;
    this.frames = profile.tree.map(([depth, number, period]) => {
      const start = next[depth];
      const [pd, name, kernel] = number < 0 ? [-1 - number, pdName(-1 - number), 0]
        : profile.functions[number];
      next[depth] = start + period;
      next[depth + 1] = start;
      return { depth, start, period, pd, name, kernel };
    });
    this.whole = next[0];
    this.zoom(null);
  }

  zoom(frame) {
    this.zoomed = frame;
    this.place();
  }

  // Makes an element for each frame that can be seen.
  place() {
    const root = this.zoomed ?? { start: 0, period: this.whole, depth: 0 };
    let deepest = 0;
    this.box.replaceChildren();
    for (const f of this.frames) {
      const begin = Math.max(f.start, root.start);
      const width = Math.min(f.start + f.period, root.start + root.period) - begin;
      if (width <= NARROW * root.period) {
        continue;
      }
      deepest = Math.max(deepest, f.depth);
      this.box.append(this.element(f, (begin - root.start) / root.period, width / root.period));
    }
    this.box.style.height = `${(deepest + 1) * HEIGHT}px`;
    this.title.textContent = (this.zoomed ? `${this.zoomed.name}: click it again to zoom out`
      : 'click a frame to zoom') +
      (this.profile?.hidden ? `; ${this.profile.hidden} frames are too narrow to be shown` : '');
  }

  element(f, left, width) {
    const e = document.createElement('button');
    e.type = 'button';
    e.className = `frame${f.kernel ? ' kernel' : ''}`;
    e.classList.toggle('above', this.zoomed !== null && f.depth < this.zoomed.depth);
    e.classList.toggle('found', this.found(this.text(f)));
    e.dataset.text = this.text(f);
    e.textContent = f.name;
    e.title = `${f.name}${f.kernel ? ' [kernel]' : ''}, PD ${pdName(f.pd)}\n` +
      `${percent(f.period, this.profile.whole)} of the event, ${f.period} events`;
    e.style.left = `${100 * left}%`;
    e.style.width = `${100 * width}%`;
    e.style.top = `${f.depth * HEIGHT}px`;
    e.style.background = colour(f.pd, f.kernel);
    e.onclick = () => this.zoom(this.zoomed === f ? null : f);
    return e;
  }

  text(f) {
    return `${pdName(f.pd)} ${f.name}`;
  }

  mark(found) {
    this.found = found;
    for (const e of this.box.children) {
      e.classList.toggle('found', found(e.dataset.text));
    }
  }
}
