// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: the tracks of domains. Owns: when the windows of each domain of seL4's domain schedule were. A line through all
// of these tracks is where a frame begins.
'use strict';

class DomainTrack extends Track {
  constructor(group, name) {
    super({ kind: 'domain', key: `domain ${name}`, name, height: 14, group, windows: [] });
  }

  figures() {
    const { span } = this.group.view.profile, ns = this.windows.reduce((sum, of) => sum + of.to - of.from, 0);
    const durations = [...new Set(this.windows.map(({ us }) => us))].filter((us) => us > 0).map((us) => duration(us * 1000));
    return { note: `${(100 * ns / (span || 1)).toFixed(2)} %${durations.length > 0 ? `: ${durations.join(', ')}` : ''}` };
  }

  // The first window that ends behind a time.
  at(time) {
    return lowerBound(this.ends, time + 1);
  }

  draw() {
    const { view } = this.group, [from, to] = view.view(), c = view.context;
    for (let i = this.at(from); i < this.windows.length && this.windows[i].from < to;) {
      const left = view.xOf(Math.max(from, this.windows[i].from));
      let right;
      do { // windows without a pixel between them are one
        right = view.xOf(Math.min(to, this.windows[i].to));
        i++;
      } while (i < this.windows.length && view.xOf(this.windows[i].from) - right < 1);
      c.fillStyle = view.colour('--mark');
      c.fillRect(left, this.top, Math.max(1, right - left), this.height);
    }
  }

  hit(time) {
    const of = this.windows[this.at(time)];
    if (!of || of.from > time) {
      return { tip: [`domain ${this.name}: another domain's window`] };
    }
    const text = `domain ${this.name}: window ${of.number}, ${duration(of.to - of.from)}${of.us > 0 ? ` of ${duration(of.us * 1000)}` : ''}`;
    return { tip: [text], pick: () => this.group.view.onPick(`${this.group.view.both(time)}: ${text}`) };
  }
}

class DomainTracks extends TrackGroup {
  show() {
    const p = this.view.profile, known = p.info.sched?.windows ?? [], tracks = new Map(), begins = sums(p.d_delta ?? []);
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
      tracks.get(name).windows.push({ from, to, number, us: window ? window.us : 0 });
      if (known.length > 0 && window === known[0]) {
        this.frames.push(from);
      }
    });
    this.tracks = known.map(({ domain }) => domain).concat([...tracks.keys()]).map((name) => tracks.get(name))
      .filter((track, i, all) => track && all.indexOf(track) === i);
    this.tracks.forEach((track) => {
      track.ends = track.windows.map(({ to }) => to);
    });
  }

  list() {
    return this.tracks;
  }

  overlay() {
    const { view } = this, [from, to] = view.view(), c = view.context, first = this.tracks[0], last = this.tracks[this.tracks.length - 1];
    const shown = this.frames.slice(lowerBound(this.frames, from), lowerBound(this.frames, to));
    if (first && shown.length * 4 < view.xOf(to) - view.xOf(from)) {
      c.fillStyle = view.colour('--text');
      shown.forEach((time) => c.fillRect(view.xOf(time), first.top, 1, last.top + last.height - first.top));
    }
  }
}

TRACK_GROUPS.push(DomainTracks);
