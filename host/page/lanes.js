// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: how much of each stretch of time was whose. Owns: sums over samples by core, PD
// and mode, at one fine resolution for the whole recording and exactly for a short visible part, so
// that a picture costs the same however long the recording is; and the pixels of lanes.
'use strict';

const FINE_BINS = 16384, MOST_BINS = 1 << 22; // of a pair; of all pairs

class Occupancy {
  constructor(profile) {
    this.profile = profile;
    // {core, pd, kernel, all, chosen}: ns before each bin; chosen is all if nothing is filtered
    this.list = [];
    this.event = -1;
  }

  // Sums all samples of an event; chosen: those whose chain is in the mask.
  build(event, mask) {
    const p = this.profile;
    this.event = event;
    this.mask = mask;
    // The pairs that there are, in the order in which lanes stack them: by PD, user below kernel; and the number of each.
    const pds = p.pds.length, number = this.number = new Int32Array(p.info.cores * pds * 2).fill(-1);
    for (let i = 0; i < p.samples; i++) {
      if (p.c_event[p.s_chain[i]] === event) {
        number[this.key(i)] = 0;
      }
    }
    this.list = [...number.keys()].filter((at) => number[at] === 0).map((at) =>
      ({ at, core: Math.floor(at / 2 / pds), pd: Math.floor(at / 2) % pds, kernel: at % 2 }))
      .sort((a, b) => a.pd - b.pd || a.kernel - b.kernel);
    this.list.forEach((pair, i) => { number[pair.at] = i; });
    this.bins = Math.max(512, Math.min(FINE_BINS, Math.floor(MOST_BINS / (this.list.length + 1))));
    this.width = p.span / this.bins;
    this.filtered = mask.some((on, chain) => !on && p.c_event[chain] === event);
    for (const pair of this.list) {
      pair.all = new Float64Array(this.bins);
      pair.chosen = this.filtered ? new Float64Array(this.bins) : pair.all;
    }
    this.sum(0, p.samples, 0, this.width, this.bins, this.list);
    for (const pair of this.list) {
      pair.all = sumsBefore(pair.all);
      pair.chosen = this.filtered ? sumsBefore(pair.chosen) : pair.all;
    }
    this.rooms = new Map();
  }

  // The place of a sample's pair among all that there can be.
  key(i) {
    const p = this.profile, chain = p.s_chain[i];
    return (p.s_core[i] * p.pds.length + p.c_pd[chain]) * 2 + p.kernel[chain];
  }

  // Adds the samples from begin to end to the bins of their pairs, which begin at `from`.
  sum(begin, end, from, width, bins, pairs) {
    const p = this.profile;
    for (let i = begin; i < end; i++) {
      if (p.c_event[p.s_chain[i]] !== this.event) {
        continue;
      }
      const low = Math.max(0, (p.time[i] - p.s_span[i] - from) / width);
      const high = Math.min(bins, (p.time[i] - from) / width);
      const { all, chosen } = pairs[this.number[this.key(i)]], wanted = this.filtered && this.mask[p.s_chain[i]];
      for (let bin = Math.floor(low); bin < high; bin++) {
        const part = (Math.min(high, bin + 1) - Math.max(low, bin)) * width;
        all[bin] += part;
        if (wanted) {
          chosen[bin] += part;
        }
      }
    }
  }

  // The parts (0 to 1) of n columns from `from` to `to` that each pair has: [{pair, all, chosen}].
  // The arrays are used again by the next call with the same n.
  columns(from, to, n) {
    const width = (to - from) / n, out = this.room(n);
    if (width < this.width) {
      const p = this.profile, begin = p.sampleAt(from), end = p.sampleAt(to + p.longestSpan + 1);
      out.forEach((column) => { column.all.fill(0); column.chosen.fill(0); });
      this.sum(begin, end, from, width, n, out);
      for (const part of new Set(out.flatMap(({ all, chosen }) => [all, chosen]))) {
        part.forEach((ns, x) => { part[x] = Math.min(1, ns / width); });
      }
    } else {
      const edge = columnEdges({ from: 0, to: this.profile.span, parts: this.bins }, from, to, n);
      for (const { pair, all, chosen } of out) {
        resample(pair.all, all, edge, width);
        if (this.filtered) {
          resample(pair.chosen, chosen, edge, width);
        }
      }
    }
    return out;
  }

  room(n) {
    if (!this.rooms.has(n)) {
      this.rooms.set(n, this.list.map((pair) => {
        const all = new Float32Array(n);
        return { pair, all, chosen: this.filtered ? new Float32Array(n) : all };
      }));
    }
    return this.rooms.get(n);
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
