// SPDX-License-Identifier: BSD-2-Clause
// The timeline of mkperf view. Owns: a canvas for each core, in which PDs are stacked by weight,
// the legend, and the stretch of time that is selected with the mouse.
import { colour, pdName } from './page.js';

export class Timeline {
  constructor(box, legend, onTime, onPd) {
    this.box = box;
    this.legend = legend;
    this.onTime = onTime;
    this.onPd = onPd;
    this.selected = null; // [bin, bin]
  }

  show(data, info) {
    this.data = data;
    this.info = info;
    this.box.replaceChildren();
    this.canvases = data.cores.map((core) => {
      const lane = document.createElement('div'), name = document.createElement('span');
      const canvas = document.createElement('canvas');
      lane.className = 'lane';
      name.textContent = `core ${core.core}`;
      lane.append(name, canvas);
      this.box.append(lane);
      this.listen(canvas);
      return canvas;
    });
    if (info.cores > data.cores.length) {
      this.box.append(`Cores from ${data.cores.length} on are not drawn; samples of them count below.`);
    }
    this.showLegend();
    this.draw();
  }

  showLegend() {
    const lanes = this.data.cores[0]?.lanes ?? [];
    this.legend.replaceChildren(...lanes.filter((l) => l.pd !== undefined).map((lane) => {
      const button = document.createElement('button'), mark = document.createElement('i');
      mark.style.background = colour(lane.pd, 0);
      button.type = 'button';
      button.append(mark, pdName(lane.pd));
      button.onclick = () => this.onPd(String(lane.pd));
      return button;
    }));
  }

  binAt(event) {
    const box = event.target.getBoundingClientRect();
    const at = Math.floor((event.clientX - box.left) / box.width * this.data.bins);
    return Math.min(Math.max(at, 0), this.data.bins - 1);
  }

  listen(canvas) {
    let first = null;
    canvas.onpointerdown = (e) => {
      first = this.binAt(e);
      canvas.setPointerCapture(e.pointerId);
    };
    canvas.onpointermove = (e) => {
      if (first !== null) {
        const at = this.binAt(e);
        this.selected = [Math.min(first, at), Math.max(first, at)];
        this.draw();
      }
    };
    canvas.onpointerup = (e) => {
      const at = this.binAt(e), clicked = at === first;
      this.selected = clicked ? null : [Math.min(first, at), Math.max(first, at)];
      first = null;
      this.draw();
      this.tell();
    };
  }

  // Times are too large for doubles.
  tell() {
    const from = BigInt(this.info.from), span = BigInt(this.info.to) - from + 1n;
    const time = (bin) => from + span * BigInt(bin) / BigInt(this.data.bins);
    if (this.selected) {
      this.onTime(String(time(this.selected[0])), String(time(this.selected[1] + 1) - 1n));
    } else {
      this.onTime(null, null);
    }
  }

  clear() {
    this.selected = null;
    this.draw();
  }

  draw() {
    this.data?.cores.forEach((core, i) => this.drawCore(core, this.canvases[i]));
  }

  drawCore(core, canvas) {
    const scale = window.devicePixelRatio || 1, bins = this.data.bins;
    const width = canvas.width = canvas.clientWidth * scale;
    const height = canvas.height = canvas.clientHeight * scale;
    const context = canvas.getContext('2d');
    const sum = (bin) => core.lanes.reduce((s, lane) => s + lane.weight[bin], 0);
    const sums = Array.from({ length: bins }, (_, bin) => sum(bin));
    const most = Math.max(1, ...sums);
    for (let bin = 0; bin < bins; bin++) {
      let y = height;
      for (const lane of core.lanes) {
        const h = lane.weight[bin] / most * height;
        context.fillStyle = lane.pd === undefined ? '#888' : colour(lane.pd, 0);
        context.fillRect(bin / bins * width, y - h, width / bins + 0.5, h);
        y -= h;
      }
    }
    if (this.selected) {
      context.fillStyle = 'rgba(216, 27, 96, 0.25)';
      context.fillRect(this.selected[0] / bins * width, 0,
        (this.selected[1] + 1 - this.selected[0]) / bins * width, height);
    }
  }
}
