// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: the call tree and the inverted tree, as tables whose rows open. Owns: their rows, which of them are open, and
// the keys that walk over them. The call tree goes from PDs to what they called, with the flame graph's frames; the inverted
// tree from the functions that were interrupted to their callers. A row's children are made when it is opened.
'use strict';

const TREE_ROWS = 2000; // that are shown
const TREE_KEYS = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'Enter', ' '];

// A row: {key, label, depth, total, self, children(): rows, choose: the parts of the state that it selects, frame}.
class TreeTable {
  constructor(section, flame) {
    this.flame = flame;
    this.inverted = section.dataset.tab === 'inverted';
    this.toggled = new Map(); // of keys of rows: whether each is open
    this.head = make('tr', {});
    this.body = make('tbody', {});
    this.note = make('p', { className: 'tools' });
    section.append(make('table', { className: 'tree', role: 'treegrid', 'aria-label': section.getAttribute('aria-label'), onkeydown: (e) => this.key(e) },
      make('thead', {}, this.head), this.body), this.note);
  }

  show(profile, selection, comparison) {
    Object.assign(this, { profile, selection, comparison });
    this.head.replaceChildren(...[this.inverted ? 'Self' : 'Total', ...(this.inverted ? [] : ['Self', ...(comparison ? ['Change, points'] : [])]), 'Function']
      .map((textContent) => make('th', { textContent })));
  }

  update() {
    const { flame } = this, { tree, own, total, whole, samples } = flame;
    Object.assign(this, { tree, own, total, whole, samples, left: TREE_ROWS });
    const rows = [];
    const roots = new Set(flame.rootsOf(tree)), root = (i) => (tree.nodes[i].depth > 0 ? root(tree.nodes[i].parent) : i);
    const leaves = () => [...tree.nodes.keys()].filter((i) => i > 0 && this.own[i] > 0 && roots.has(root(i))).map((i) => [i, this.own[i]]);
    // inverted: frames of one function that was interrupted together, whatever called it
    (this.inverted ? this.callers(leaves(), '', 0) : this.frames([...roots], '', 0)).forEach((row) => this.add(rows, row, null));
    this.body.replaceChildren(...rows);
    (rows.find((row) => row.row.key === this.focused) ?? rows[0])?.setAttribute('tabindex', 0);
    this.note.textContent = this.left > 0 ? '' : `the first ${count(TREE_ROWS)} rows`;
  }

  frames(list, key, depth) {
    return list.filter((i) => this.total[i] > 0).sort((a, b) => this.total[b] - this.total[a]).map((i) => {
      const of = `${key}/${this.tree.nodes[i].label}`;
      return { key: of, label: this.tree.nodes[i].label, depth, total: this.total[i], self: this.own[i], frame: i,
        children: () => this.frames(this.tree.nodes[i].children, of, depth + 1), choose: () => ({ node: this.tree.path(i) }) };
    });
  }

  // at: [frame, weight] of all stacks that pass through a row.
  callers(at, key, depth) {
    const { nodes } = this.tree, sums = new Map();
    for (const [i, weight] of at) {
      const { label } = nodes[i], row = sums.get(label) ?? { label, key: `${key}/${label}`, depth, total: 0, at: [] };
      row.total += weight;
      row.at.push([nodes[i].parent, weight]);
      sums.set(label, row);
    }
    return [...sums.values()].sort((a, b) => b.total - a.total).map((row) => ({ ...row,
      children: () => this.callers(row.at.filter(([i]) => i > 0), row.key, depth + 1),
      choose: () => { const of = this.profile.label(row.label); return of.isPd ? { pd: of.name } : { fn: this.profile.functionKey(row.label) }; } }));
  }

  // PDs are open at first, and below them the way of most weight.
  isOpen(row, parent) {
    return this.toggled.get(row.key) ?? (!this.inverted && (row.depth === 0 || (parent.isFirst && parent.opened && row.isFirst && 2 * row.total >= parent.total)));
  }

  add(rows, row, parent) {
    if (this.left-- <= 0) {
      return;
    }
    const children = row.children(), isOpen = children.length > 0 && this.isOpen(row, parent);
    row.opened = isOpen;
    row.opens = children.length > 0;
    rows.push(this.element(row, isOpen));
    children.forEach((child, i) => {
      child.isFirst = i === 0;
      if (isOpen) {
        this.add(rows, child, row);
      }
    });
  }

  element(row, isOpen) {
    const p = this.profile, of = p.label(row.label), name = make('td', {}), toggle = make('i', { className: 'toggle', textContent: row.opens ? (isOpen ? '▾' : '▸') : '' });
    const chosen = this.inverted ? !of.isPd && row.depth === 0 && state.fn === p.functionKey(row.label)
      : state.node.length === row.depth + 1 && this.tree.find(state.node) === row.frame;
    const tr = make('tr', { className: chosen ? 'chosen' : '', tabIndex: -1, role: 'row', 'aria-level': row.depth + 1, 'aria-selected': chosen,
      ...(row.opens ? { 'aria-expanded': isOpen } : {}), onclick: () => this.choose(tr, chosen), ondblclick: () => row.opens && this.toggle(row, !isOpen),
      onfocus: () => { this.focused = row.key; } }, barCell(row.total, this.whole, this.samples, p.colour(of.pd, of.kernel)),
      ...(this.inverted ? [] : [shareCell(row.self, this.whole, this.samples), ...(this.comparison ? [changeCells(this.flame.change(row.frame))[1]] : [])]), name);
    name.style.paddingLeft = `${row.depth * 14}px`;
    name.append(toggle, swatch(p.colour(of.pd, of.kernel)), nodeName(of), make('small', { textContent: of.isPd ? '' : `  ${p.pdName(of.pd)}` }));
    tr.row = row;
    toggle.onclick = (e) => { e.stopPropagation(); this.toggle(row, !isOpen); };
    return tr;
  }

  choose(tr, chosen) {
    this.focused = tr.row.key;
    change(chosen ? { node: [], fn: '' } : tr.row.choose());
    this.refocus();
  }

  toggle(row, isOpen) {
    this.toggled.set(row.key, isOpen);
    this.focused = row.key;
    this.update();
    this.refocus();
  }

  refocus() {
    this.body.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  key(e) {
    const tr = e.target.closest('tbody tr'), { rows } = this.body, i = tr ? [...rows].indexOf(tr) : -1;
    if (i < 0 || !TREE_KEYS.includes(e.key)) {
      return;
    }
    e.preventDefault();
    const { row } = tr, up = [...rows].slice(0, i).reverse().find((of) => of.row.depth < row.depth);
    const to = { ArrowUp: rows[i - 1], ArrowDown: rows[i + 1], Home: rows[0], End: rows[rows.length - 1],
      ArrowLeft: row.opened ? null : up, ArrowRight: row.opened ? rows[i + 1] : null }[e.key];
    if (e.key === 'Enter' || e.key === ' ') {
      this.choose(tr, tr.classList.contains('chosen'));
    } else if ((e.key === 'ArrowLeft' && row.opened) || (e.key === 'ArrowRight' && row.opens && !row.opened)) {
      this.toggle(row, !row.opened);
    } else if (to) {
      tr.tabIndex = -1;
      to.tabIndex = 0;
      to.focus();
    }
  }
}
