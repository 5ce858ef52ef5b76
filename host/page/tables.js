// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: tables. Owns: the functions, calls between PDs, and marks. A row's button selects it.
'use strict';

const ROWS_FIRST = 200;

class FunctionTable {
  constructor(table, note) {
    Object.assign(this, { table, note, body: table.tBodies[0], head: table.tHead.rows[0], limit: ROWS_FIRST });
    this.own = [...this.head.cells].map((th) => [th.textContent, th.dataset.sort]);
  }

  show(profile, selection, others) {
    Object.assign(this, { profile, selection, others });
    const heads = [...this.own, ...changeHeads(others).map((th) => [th.textContent, th.sort, th.title])];
    this.head.replaceChildren(...heads.map(([text, sort, title = '']) =>
      make('th', { title, 'data-sort': sort }, button(text, () => change({ sort })))));
  }

  rows() {
    const p = this.profile, s = this.selection, sums = s.byFunction(s.mask('fn')), whole = s.whole(), samples = s.equalSamples();
    const of = (profile, f) => ({ key: profile.functionKey(f), name: profile.names[f], kernel: profile.f_kernel[f] === 1,
      pd: profile.pdName(profile.f_pd[f]), self: 0, total: 0, samples: 0, whole, equal: samples, changes: [] });
    const out = [];
    for (let f = 0; f < p.functions; f++) {
      if (sums.total[f] > 0) {
        out.push({ ...of(p, f), self: sums.self[f], total: sums.total[f], samples: sums.samples[f] });
      }
    }
    const keys = new Set(out.map((row) => row.key)), own = new Map(out.map((row) => [row.key, whole ? 100 * row.self / whole : 0]));
    for (const c of this.others) { // what was before, and is not now
      for (const [key, share] of c.functions) {
        if (share > 0 && !keys.has(key)) {
          keys.add(key);
          out.push(of(c.base, c.base.functionOf(key)));
        }
      }
    }
    for (const c of this.others) {
      const rows = c.rows(own, c.functions, samples);
      out.forEach((row) => row.changes.push(c.change(c.functions.get(row.key) ?? 0, whole ? 100 * row.self / whole : 0, rows, samples)));
    }
    const [, column, number] = /^([a-z]+)(\d*)$/.exec(state.sort) ?? [], value = (row) => row.changes[Number(number)]?.[column] ?? 0;
    const by = {
      name: (a, b) => a.name.localeCompare(b.name), pd: (a, b) => a.pd.localeCompare(b.pd),
      change: (a, b) => Math.abs(value(b)) - Math.abs(value(a)), before: (a, b) => value(b) - value(a),
    }[column] ?? ((a, b) => b[state.sort] - a[state.sort]);
    return out.sort((a, b) => by(a, b) || b.total - a.total); // else the order of functions
  }

  update() {
    const rows = this.rows(), shown = rows.slice(0, this.limit);
    for (const th of this.head.cells) {
      th.setAttribute('aria-sort', th.dataset.sort === state.sort
        ? (['name', 'pd'].includes(state.sort) ? 'ascending' : 'descending') : 'none');
    }
    this.body.replaceChildren(...shown.map((row) => this.row(row)));
    this.note.replaceChildren(number(rows.length, 'function'));
    if (rows.length > shown.length) {
      this.note.append(`, the first ${shown.length} shown `, button('show all', () => { this.limit = Infinity; this.update(); }));
    }
  }

  row(row) {
    const p = this.profile, { key, whole, equal } = row, chosen = state.fn === key;
    const colour = p.colour(p.pds.findIndex((pd) => pd.name === row.pd), row.kernel);
    const choose = button('', () => change({ fn: chosen ? '' : key }), { disabled: p.functionOf(key) === undefined, 'aria-pressed': chosen,
      ondblclick: () => change({ fn: key, tab: 'source' }) });
    const words = `${row.kernel ? '[k] ' : ''}${row.name}`.split(/(?<=_|::)/); // where a narrow window may break it
    choose.append(...words.flatMap((word, i) => (i > 0 ? [make('wbr', {}), word] : [word])));
    return make('tr', { className: chosen ? 'chosen' : '', 'data-key': key }, barCell(row.self, whole, equal, colour), shareCell(row.total, whole, equal),
      ...cells(count(row.samples), row.pd), make('td', {}, choose), ...row.changes.flatMap(changeCells));
  }
}

// Calls between PDs, and marks by name; a mark's button shows the first of them on the time line.
function showLists(profile, calls, marks, look) {
  const edges = [...profile.info.calls].sort((a, b) => b.calls + b.notifications - a.calls - a.notifications);
  calls.hidden = edges.length === 0;
  calls.tBodies[0].replaceChildren(...edges.map((edge) =>
    make('tr', {}, ...cells(count(edge.calls), count(edge.notifications), edge.from, edge.to))));
  const names = new Map();
  profile.m_name.forEach((text, i) => {
    const key = `${profile.m_pd[i]} ${text}`;
    names.set(key, names.get(key) ?? { first: i, n: 0 }).get(key).n += profile.m_kind[i] !== 2;
  });
  marks.hidden = names.size === 0;
  marks.tBodies[0].replaceChildren(...[...names.values()].map(({ first, n }) => {
    const show = button(profile.info.texts[profile.m_name[first]], () => look(profile.markTime[first]));
    return make('tr', {}, ...cells(count(n), profile.pdName(profile.m_pd[first])), make('td', {}, show));
  }));
}

// Cells of tables, and what is said where the pointer or the focus is. Owns: shares with the interval that their samples allow,
// changes against other recordings, and the one tooltip of the page.

function cells(...texts) {
  return texts.map((text) => make('td', {}, text));
}

function swatch(colour) {
  const mark = make('i', { className: 'swatch' });
  mark.style.background = colour;
  return mark;
}

// A share of `samples` equal samples, and half of its interval at 95 %, as mkperf report --ci has it (Agresti and Coull).
function shareWords(part, whole, samples) {
  const share = ((whole ? part / whole : 0) * samples + 2) / (samples + 4);
  return `${percent(part, whole)} ± ${samples > 0 ? (196 * Math.sqrt(share * (1 - share) / (samples + 4))).toFixed(2) : '100'} (95 %)`;
}

function shareCell(part, whole, samples) {
  return make('td', { textContent: percent(part, whole), 'data-tip': shareWords(part, whole, samples) });
}

// A cell of {text, share (0 to 1, a bar behind it), title}; undefined: an empty one.
function figureCell(figure, colour) {
  const td = make('td', { className: figure?.share === undefined ? '' : 'bar', 'data-tip': figure?.title ?? '' }, make('span', { textContent: figure?.text ?? '' }));
  td.style.setProperty('--part', Math.min(1, figure?.share ?? 0).toFixed(4));
  td.style.setProperty('--of', colour || 'var(--weak)');
  return td;
}

function barCell(part, whole, samples, colour) {
  return figureCell({ text: percent(part, whole), share: part / (whole || 1), title: shareWords(part, whole, samples) }, colour);
}

// Heads and cells of a row's share in each other recording and its change since, in points; ~ marks one that may be chance.
function changeHeads(others) {
  const th = (text, file, sort) => Object.assign(make('th', { textContent: text, title: `${file}: ${text === 'Before' ? 'share there'
    : 'in percentage points; ~ marks what may be chance'}` }), { sort });
  return others.flatMap(({ base }, i) => [th(others.length > 1 ? base.info.file.replace(/.*\//, '') : 'Before', base.info.file, `before${i || ''}`),
    th('Change, points', base.info.file, `change${i || ''}`)]);
}

function changeText({ change, sure }) {
  return `${points(change)} ${sure ? '\u2007' : '~'}`;
}

function changeCells(row) {
  const out = cells(`${row.before.toFixed(2)} %`, changeText(row));
  out[1].dataset.tip = chanceWords(row);
  return out;
}

// Lines beside the pointer, or below an element that has the focus; null: none.
function showTip(at, lines = []) {
  const tip = byId('tip');
  tip.hidden = at === null || lines.length === 0;
  if (!tip.hidden) {
    tip.textContent = lines.join('\n');
    const { clientX: x, clientY: y } = at.clientX === undefined ? { clientX: at.left, clientY: at.bottom - 12 } : at;
    tip.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 24 + tip.offsetHeight > window.innerHeight ? y - tip.offsetHeight - 10 : y + 18}px`;
  }
}

function listenForTips() {
  const show = (e) => {
    const of = e.target.closest?.('[data-tip]'), text = of?.dataset.tip;
    if (text) {
      showTip(e.type === 'focusin' ? of.getBoundingClientRect() : e, text.split('\n'));
    } else if (e.target.tagName !== 'CANVAS') {
      showTip(null);
    }
  };
  document.addEventListener('pointermove', show);
  document.addEventListener('focusin', show);
  document.addEventListener('focusout', () => showTip(null));
}
