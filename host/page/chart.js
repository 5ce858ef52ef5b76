// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: the stack chart. Owns: the stacks of the selected samples over the visible time, core by core, the PD at the top;
// samples beside each other with the same frame are one box. Each pixel has the sample that stands for its middle, so that
// a picture costs the same however long the recording is.
'use strict';

const CHART = { row: 17, gap: 20, text: 34 }; // pixels: of a frame; above a core; of a frame that gets its name

class StackChart {
  constructor(section, tracks, flame) {
    Object.assign(this, { section, tracks, flame });
    this.canvas = make('canvas', { tabIndex: 0, role: 'img', 'aria-label': 'Stack chart of the visible time; the call tree has the same frames as a table' });
    section.append(this.canvas);
    this.canvas.addEventListener('wheel', (e) => e.ctrlKey || e.shiftKey || section.scrollHeight <= section.clientHeight ? tracks.turned(e) : undefined, { passive: false });
    this.canvas.onpointermove = (e) => {
      const box = this.boxAt(e), [from, to] = tracks.view();
      showTip(e, box ? [flame.text(box.i), `here for about ${duration((box.right - box.left) / this.canvas.clientWidth * (to - from))}`] : []);
    };
    this.canvas.onpointerleave = () => showTip(null);
    this.canvas.onclick = (e) => {
      const box = this.boxAt(e), path = box && this.tree.path(box.i);
      if (box) {
        change({ node: JSON.stringify(path) === JSON.stringify(state.node) ? [] : path });
      }
    };
    this.canvas.onkeydown = (e) => tracks.key(e);
    new ResizeObserver(() => this.profile && this.section.clientWidth > 0 && this.update()).observe(section);
  }

  show(profile, selection) {
    Object.assign(this, { profile, selection });
    this.cores = group([...profile.s_core.keys()], (i) => profile.s_core[i]); // samples of each core, in the order of time
  }

  update() {
    const tree = this.tree = this.flame.shown(), width = this.canvas.clientWidth;
    this.boxes = [];
    let top = 24;
    for (const core of [...this.cores.keys()].sort((a, b) => a - b)) {
      const columns = this.columns(core, width), depth = columns.reduce((most, i) => Math.max(most, i > 0 ? tree.nodes[i].depth : 0), 0);
      this.boxes.push({ core, top });
      for (let d = 0; d <= depth; d++) {
        this.row(columns, d, top + d * CHART.row);
      }
      top += (depth + 1) * CHART.row + CHART.gap;
    }
    this.height = top;
    this.paint(width);
  }

  // The innermost frame of each pixel; 0: none that is selected.
  columns(core, width) {
    const p = this.profile, s = this.selection, mask = s.mask(), samples = this.cores.get(core), { of } = this.tree, roots = new Set(this.flame.rootsOf(this.tree));
    const [from, to] = this.tracks.view(), ns = (to - from) / width, out = new Uint32Array(width);
    const isWide = p.span * p.info.cores >= 4 * ns * p.samples, stretch = isWide ? p.schedule?.exactly(from, to) : null; // as StatePainter.clip
    let k = -1;
    for (let x = 0; x < width; x++) {
      const time = from + (x + 0.5) * ns;
      k = k < 0 ? lowerBound(samples, time, (i) => p.time[i]) : k;
      while (k < samples.length && p.time[samples[k]] < time) {
        k++;
      }
      const i = samples[k], chain = i === undefined ? -1 : p.s_chain[i];
      if (chain < 0 || !mask[chain] || p.time[i] - p.s_span[i] > time || (state.from !== null && (p.time[i] < state.from || p.time[i] > state.to)) ||
          (state.core !== null && state.core !== core)) {
        continue;
      }
      const runs = stretch && !p.pds[p.c_pd[chain]].idle ? stretch.intervalAt({ kind: 'core', core }, time) : null;
      out[x] = (runs === null || runs.list.pd === p.c_pd[chain]) && roots.has(this.above(of[p.c_node[chain]], 0)) ? of[p.c_node[chain]] : 0;
    }
    return out;
  }

  // The frame at a depth that a frame is in; 0: none.
  above(i, depth) {
    const { nodes } = this.tree;
    while (nodes[i].depth > depth) {
      i = nodes[i].parent;
    }
    return nodes[i].depth === depth ? i : 0;
  }

  row(columns, depth, top) {
    for (let x = 0, last = 0, from = 0; x <= columns.length; x++) {
      const i = x < columns.length && columns[x] > 0 ? this.above(columns[x], depth) : 0;
      if (i !== last) {
        if (last > 0) {
          this.boxes.push({ i: last, left: from, right: x, top });
        }
        [last, from] = [i, x];
      }
    }
  }

  paint(width) {
    const { canvas, tracks, profile: p } = this, scale = window.devicePixelRatio || 1, style = getComputedStyle(canvas);
    const height = Math.max(this.height, this.section.clientHeight - 2);
    canvas.style.height = `${height}px`;
    Object.assign(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
    const c = canvas.getContext('2d'), [from, to] = tracks.view(), part = width / Math.max(1, tracks.canvas.clientWidth);
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.font = '11px system-ui, sans-serif';
    c.textBaseline = 'middle';
    for (const [x, at] of tracks.ticks()) {
      c.fillStyle = style.getPropertyValue('--line');
      c.fillRect(Math.round(x * part), 0, 1, height);
      c.fillStyle = style.getPropertyValue('--weak');
      c.fillText(moment(at, to - from), Math.round(x * part) + 4, 10);
    }
    for (const { core, i, left, right, top } of this.boxes) {
      if (core !== undefined) {
        c.fillStyle = style.getPropertyValue('--weak');
        c.fillText(this.cores.size > 1 ? `core ${core}` : '', 4, top - 8);
        continue;
      }
      const of = p.label(this.tree.nodes[i].label), colour = p.colour(of.pd, of.kernel), gap = right - left > 3 ? 1 : 0;
      c.fillStyle = colour;
      c.fillRect(left, top, right - left - gap, CHART.row - 1);
      if (right - left >= CHART.text) {
        c.fillStyle = inkOn(colour);
        c.fillText(fitting(nodeName(of), right - left - 8), left + 4, top + CHART.row / 2);
      }
    }
  }

  boxAt(e) {
    return this.boxes?.find(({ i, left, right, top }) => i && e.offsetX >= left && e.offsetX < right && e.offsetY >= top && e.offsetY < top + CHART.row);
  }
}
