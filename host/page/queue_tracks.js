// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: the tracks of queues. Owns: how full each queue of packets was over time, drawn to the most entries that it had.
// A track is between those of its producer and its consumer. What is full has the colour of a loss; what no queue can have, a gap.
'use strict';

const UNKNOWN_FILL = 0xffffffff;

class QueueTrack extends Track {
  constructor(group, queue) {
    const { name, producer, consumer } = queue;
    super({ kind: 'queue', key: `queue ${name} ${producer} ${consumer}`, name, height: 18, group, queue,
      between: [producer, consumer] });
  }

  figures() {
    const { producer, consumer, most, size } = this.queue;
    return { note: `${count(most)} of ${count(size)}: ${producer || 'device'} → ${consumer || 'device'}` };
  }

  choice() {
    return this.queue.consumer ? { pd: this.isChosen() ? '' : this.queue.consumer } : null;
  }

  isChosen() {
    return this.queue.consumer !== '' && state.pd === this.queue.consumer;
  }

  // The last reading at or before a time; -1: there is none.
  at(time) {
    return lowerBound(this.queue.times, time + 1) - 1;
  }

  draw() {
    const { view } = this.group, { times, entries, most, size } = this.queue, [from, to] = view.view(), c = view.context;
    const bottom = this.top + this.height;
    for (let i = Math.max(0, this.at(from)); i < times.length && times[i] < to;) {
      const left = Math.max(0, view.xOf(times[i]));
      let next = i, high = -1, right;
      do { // of the readings in one pixel, the highest
        high = entries[next] === UNKNOWN_FILL ? high : Math.max(high, entries[next]);
        right = next + 1 < times.length ? view.xOf(times[next + 1]) : view.xOf(to);
        next++;
      } while (next < times.length && right - left < 1);
      if (high > 0) {
        const tall = Math.max(1, high / most * this.height);
        c.fillStyle = view.colour(high >= size ? '--loss' : '--mark');
        c.fillRect(left, bottom - tall, Math.max(1, right - left), tall);
      }
      i = next;
    }
  }

  hit(time) {
    const i = this.at(time), { entries, size, name } = this.queue;
    const what = i < 0 || entries[i] === UNKNOWN_FILL ? 'not known' : `${count(entries[i])} of ${count(size)} entries`;
    return { tip: [`queue ${name}: ${what}`], pick: () => this.group.view.onPick(`${this.group.view.both(time)}: queue ${name}: ${what}`) };
  }
}

class QueueTracks extends TrackGroup {
  // Queues of free buffers, and queues that were empty at each reading, have no track.
  show() {
    const p = this.view.profile, times = sums(p.q_delta), queues = (p.info.queues ?? []).map((queue) => ({ ...queue, times: [], entries: [], most: 0 }));
    p.q_queue.forEach((number, i) => {
      const queue = queues[number], entries = p.q_entries[i];
      queue.times.push(times[i]);
      queue.entries.push(entries);
      queue.most = entries === UNKNOWN_FILL ? queue.most : Math.max(queue.most, entries);
    });
    this.tracks = queues.filter((queue) => !queue.returns && queue.most > 0).map((queue) => new QueueTrack(this, queue));
  }

  list() {
    return this.tracks;
  }
}

TRACK_GROUPS.push(QueueTracks);
