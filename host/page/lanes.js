// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: how much of each stretch of time was whose. Owns: samples as intervals of cores, PDs and modes, in lists like
// those of scheduling events (schedule.js), so that a picture costs the same however long the recording is; and the pixels of lanes.
'use strict';

class Occupancy {
  constructor(profile) {
    this.profile = profile;
    this.all = new Map(); // lists of all samples of an event, each of a core, a PD and a mode
    this.event = -1;
  }

  // Takes the samples of an event; chosen: those whose chain is in the mask.
  build(event, mask) {
    const p = this.profile, every = p.c_event.map((of) => of === event);
    if (this.event !== event) {
      this.all = this.lists(every);
    }
    Object.assign(this, { event, mask });
    this.filtered = mask.some((on, chain) => on < every[chain]);
    this.chosen = this.filtered ? this.lists(mask) : this.all;
  }

  // The lists of the chains in a mask, in the order in which lanes stack them: by PD, user below kernel. A sample is the time that it
  // stands for.
  lists(mask) {
    const p = this.profile, found = new Map();
    for (let i = 0; i < p.samples; i++) {
      const chain = p.s_chain[i];
      if (mask[chain]) {
        const core = p.s_core[i], pd = p.c_pd[chain], kernel = p.kernel[chain], key = (core * p.pds.length + pd) * 2 + kernel;
        const { start, length } = found.get(key) ?? found.set(key, { core, pd, kernel, start: [], length: [] }).get(key);
        start.push(p.time[i] - p.s_span[i]);
        length.push(p.s_span[i]);
      }
    }
    return new Map([...found].sort(([, a], [, b]) => a.pd - b.pd || a.kernel - b.kernel)
      .map(([key, { start, length, ...of }]) => [key, new IntervalList(of, { from: 0, to: p.span }, start, length)]));
  }

  // Returns the parts (0 to 1) of n columns that each list has: [{list, all, chosen}]. Without a filter, chosen is all.
  columns(from, to, n) {
    const none = new Float32Array(n);
    return [...this.all].map(([key, list]) => {
      const coarse = list.isCoarse(from, to, n), all = list.columns(from, to, n, coarse);
      return { list, all, chosen: this.filtered ? this.chosen.get(key)?.columns(from, to, n, coarse) ?? none : all };
    }).filter(({ all }) => all);
  }
}

// As much of a text as so many pixels have room for.
function fitting(text, pixels) {
  const room = Math.floor(pixels / 6);
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}

// '#rrggbb' as a pixel of ImageData (little-endian), with an alpha of 0 to 255.
function pixel(colour, alpha) {
  const rgb = parseInt(colour.slice(1), 16);
  return (alpha << 24 | (rgb & 255) << 16 | (rgb & 0xff00) | rgb >> 16) >>> 0;
}

// Draws a lane's columns from the bottom up: what is chosen in full colour, the rest pale, on top of
// it. parts: [{all, chosen, colour, pale, slant, hatch}]; with a slant of 1 or -1, lines of the colour
// `hatch` cross what is chosen.
function paintLane(pixels, stride, top, height, parts, n) {
  const filtered = parts.some((part) => part.chosen !== part.all);
  for (let x = 0; x < n; x++) {
    let bottom = top + height, level = 0;
    for (let pass = 0; pass <= Number(filtered); pass++) {
      for (let i = 0; i < parts.length; i++) {
        const part = parts[i], share = pass === 0 ? part.chosen[x] : part.all[x] - part.chosen[x];
        if (share <= 1e-6) {
          continue;
        }
        level += share * height;
        const to = Math.max(top, top + height - Math.round(level));
        // what is there is seen, even if it is less than a pixel
        const end = to === bottom && share * height > 0.02 && bottom > top && level < 1 ? to - 1 : to;
        const colour = pass === 0 ? part.colour : part.pale;
        for (let y = bottom - 1; y >= end; y--) {
          pixels[y * stride + x] = pass === 0 && part.slant && (x + part.slant * y & 3) === 0 ? part.hatch : colour;
        }
        bottom = Math.min(bottom, end);
      }
    }
  }
}
