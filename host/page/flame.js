// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: the flame graph. Owns: its frames, and the keys that walk over them. The root is
// at the top: PDs, callees below their callers; a frame's width is its share. A click selects a
// frame's stacks, for all parts, and makes it as wide as the graph. Idle is left out unless it is asked for, and start
// code is folded into its PD.
'use strict';

const ROW = 19, NARROWEST = 1.5; // pixels

// The stack tree as it is shown: with start code or without it, children in the order of weight.
class FrameTree {
  constructor(profile, starts) {
    const p = profile, byKey = new Map();
    this.profile = p;
    this.nodes = [{ parent: -1, label: -1, depth: -1, children: [] }];
    this.of = new Uint32Array(p.n_label.length); // the shown node of each node
    for (let i = 1; i < p.n_label.length; i++) {
      const label = p.n_label[i], parent = this.of[p.n_parent[i]];
      if (!starts && label < p.functions && p.isStart[label] && this.nodes[parent].label >= p.functions) {
        this.of[i] = parent;
        continue;
      }
      const key = parent * (p.functions + p.pds.length) + label;
      if (!byKey.has(key)) {
        byKey.set(key, this.nodes.length);
        this.nodes[parent].children.push(this.nodes.length);
        this.nodes.push({ parent, label, depth: this.nodes[parent].depth + 1, children: [] });
      }
      this.of[i] = byKey.get(key);
    }
    const own = new Float64Array(p.n_label.length);
    p.chainWeight.forEach((weight, chain) => { own[p.c_node[chain]] += weight; });
    const { total } = this.sums(own);
    this.nodes.forEach((node) => node.children.sort((a, b) => total[b] - total[a]));
  }

  // {own, total} of the shown nodes, from the weights of nodes themselves.
  sums(byNode) {
    const own = new Float64Array(this.nodes.length);
    byNode.forEach((weight, i) => { own[this.of[i]] += weight; });
    const total = own.slice();
    for (let i = this.nodes.length - 1; i > 0; i--) {
      total[this.nodes[i].parent] += total[i];
    }
    return { own, total };
  }

  path(i) {
    const out = [];
    for (; i > 0; i = this.nodes[i].parent) {
      out.unshift(nodeName(this.profile.label(this.nodes[i].label)));
    }
    return out;
  }

  find(path) {
    let at = 0;
    for (const name of path) {
      at = this.nodes[at].children.find((i) => nodeName(this.profile.label(this.nodes[i].label)) === name);
      if (at === undefined) {
        return 0;
      }
    }
    return at;
  }
}

class Flame {
  constructor(box) {
    this.box = box;
    this.trees = [];
    box.onkeydown = (e) => this.key(e);
    new ResizeObserver(() => this.tree && this.width !== box.clientWidth && this.place()).observe(box);
  }

  show(profile, selection, comparison) {
    Object.assign(this, { profile, selection, comparison, trees: [], most: 0 });
    this.tree = null;
  }

  // The frames, with start code or without it: those of the trees and the stack chart as well.
  shown() {
    return this.trees[Number(state.starts)] ??= new FrameTree(this.profile, state.starts);
  }

  // Its outermost frames, without idle unless it is asked for.
  rootsOf(tree) {
    return tree.nodes[0].children.filter((i) => state.idle || !this.isIdle(tree, i));
  }

  update() {
    const idle = this.tree.nodes[0].children.reduce((sum, i) => sum + (this.isIdle(this.tree, i) ? this.total[i] : 0), 0);
    this.roots = this.rootsOf(this.tree);
    byId('idle-share').textContent = idle > 0 ? `idle ${percent(idle, this.whole)}${state.idle ? '' : ' left out'}` : '';
    this.zoomed = this.tree.find(state.node);
    if (this.zoomed !== 0 && this.total[this.zoomed] === 0) {
      this.zoomed = 0;
    }
    this.place();
  }

  // The weights of what is selected; all views of frames take their words from them.
  sum() {
    const s = this.selection;
    this.tree = this.shown();
    Object.assign(this, this.tree.sums(s.byNode(s.mask('node'))));
    this.before = this.comparison?.frames(state.starts);
    this.samples = s.equalSamples();
    this.whole = s.whole();
    this.frames = this.before && this.comparison.rows(new Map(this.tree.nodes.map((node, i) =>
      [this.tree.path(i).join('\n'), 100 * this.total[i] / (this.whole || 1)])), this.before, this.samples);
  }

  isIdle(tree, i) {
    return this.profile.pds[this.profile.label(tree.nodes[i].label).pd]?.idle;
  }

  place() {
    this.elements = new Map();
    this.narrow = 0;
    this.deepest = 0;
    const above = [], width = this.width = this.box.clientWidth || 1;
    for (let i = this.zoomed; i > 0; i = this.tree.nodes[i].parent) {
      above.unshift(i);
    }
    above.slice(0, -1).forEach((i) => this.element(i, 0, 1, true));
    const outermost = this.zoomed > 0 ? [this.zoomed] : this.roots, sum = outermost.reduce((all, i) => all + this.total[i], 0);
    let at = 0;
    for (const i of outermost) {
      this.branch(i, at, sum ? this.total[i] / sum : 0, width);
      at += sum ? this.total[i] / sum : 0;
    }
    this.box.replaceChildren(...this.elements.values());
    // Frames that are too narrow to be drawn count as well: zooming in shows them, and what is below stays where it is.
    this.most = this.tree.nodes.reduce((most, node, i) => (this.total[i] > 0 ? Math.max(most, node.depth) : most),
      Math.max(this.most ?? 0, this.deepest));
    this.box.style.height = `${(this.most + 1) * ROW}px`;
    const first = this.elements.get(this.zoomed) ?? this.box.firstElementChild;
    if (first) {
      first.tabIndex = 0;
    }
    byId('narrow').textContent = this.narrow ? `${this.narrow === 1 ? '1 branch is' : `${count(this.narrow)} branches are`} too narrow to be drawn` : '';
  }

  branch(i, left, width, pixels) {
    if (width * pixels < NARROWEST) {
      this.narrow += this.total[i] > 0;
      return;
    }
    this.element(i, left, width, false);
    let at = left;
    for (const child of this.tree.nodes[i].children) {
      const part = width * this.total[child] / this.total[i];
      this.branch(child, at, part, pixels);
      at += part;
    }
  }

  element(i, left, width, above) {
    const node = this.tree.nodes[i], of = this.profile.label(node.label), words = state.words.toLowerCase();
    const isFound = words !== '' && `${this.profile.pdName(of.pd)} ${of.name}`.toLowerCase().includes(words);
    const colour = this.before && !of.isPd ? changeColour(this.change(i))
      : this.profile.colour(of.pd, of.kernel);
    const e = button(this.name(i), () => change({ node: i === this.zoomed ? [] : this.tree.path(i) }), {
      className: `frame${above ? ' above' : ''}${of.isPd ? ' pd' : ''}${isFound ? ' found' : ''}`,
      tabIndex: -1, role: 'treeitem', 'aria-level': node.depth + 1, 'aria-label': this.text(i), 'data-tip': this.text(i), 'data-node': i,
    });
    Object.assign(e.style, { left: `${100 * left}%`, width: `${100 * width}%`, top: `${node.depth * ROW}px`, background: colour, color: inkOn(colour) });
    this.elements.set(i, e);
    this.deepest = Math.max(this.deepest, node.depth);
  }

  // A PD within a stack was called; samples of a timer do not know by whom for sure.
  name(i) {
    const node = this.tree.nodes[i], of = this.profile.label(node.label);
    const inferred = of.isPd && node.depth > 0 && this.profile.info.events[this.selection.event()]?.inferred;
    return nodeName(of) + (inferred ? ' (inferred)' : '');
  }

  change(i) {
    const now = this.whole ? 100 * this.total[i] / this.whole : 0;
    return this.comparison.change(this.before.get(this.tree.path(i).join('\n')) ?? 0, now, this.frames, this.samples);
  }

  text(i) {
    const of = this.profile.label(this.tree.nodes[i].label);
    const changed = this.before && this.change(i);
    const change = changed ? `, ${points(changed.change)} points, ${chanceWords(changed)}` : '';
    return `${this.name(i)}${of.isPd ? '' : `, PD ${this.profile.pdName(of.pd)}`}: ` +
      `${shareWords(this.total[i], this.whole, this.samples)}${change}, ${count(this.total[i])} events`;
  }

  key(e) {
    const i = Number(document.activeElement.dataset?.node ?? NaN), node = this.tree.nodes[i];
    if (!node) {
      return;
    }
    const drawn = (list) => list.filter((n) => this.elements.has(n));
    const beside = drawn(node.parent > 0 ? this.tree.nodes[node.parent].children : this.roots);
    const next = {
      ArrowUp: node.parent, ArrowDown: drawn(node.children)[0],
      ArrowLeft: beside[beside.indexOf(i) - 1], ArrowRight: beside[beside.indexOf(i) + 1],
    };
    if (e.key in next) {
      e.preventDefault();
      this.elements.get(next[e.key])?.focus();
    }
  }
}

// Black or white, whichever is legible on a colour.
function inkOn(colour) {
  const rgb = parseInt(colour.slice(1), 16);
  if (!colour.startsWith('#')) {
    return '#111';
  }
  const light = (0.2126 * (rgb >> 16 & 255) ** 2.2 + 0.7152 * (rgb >> 8 & 255) ** 2.2 +
    0.0722 * (rgb & 255) ** 2.2) / 255 ** 2.2;
  return light > 0.18 ? '#111' : '#fff';
}
