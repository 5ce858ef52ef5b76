// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: tables. Owns: the PDs with their activity, the functions, calls between PDs,
// and marks. A row's button selects it.
'use strict';

const ROWS_FIRST = 200, SPARK = [120, 18]; // rows; pixels

function cells(...texts) {
  return texts.map((text) => make('td', {}, text));
}

// Cells of a kind of column, which a narrow window may leave out.
function of(kind, list) {
  list.forEach((cell) => { cell.className = kind; });
  return list;
}

function swatch(colour) {
  const mark = make('i', { className: 'swatch' });
  mark.style.background = colour;
  return mark;
}

// A share with a bar behind it.
function bar(text, share, colour) {
  const e = make('td', { className: 'bar' }, make('span', { textContent: text }));
  e.style.setProperty('--share', `${Math.min(100, 100 * share).toFixed(2)}%`);
  e.style.setProperty('--of', colour);
  return e;
}

class PdTable {
  constructor(table) {
    this.head = table.tHead.rows[0];
    this.body = table.tBodies[0];
  }

  show(profile, selection, comparison, occupancy) {
    Object.assign(this, { profile, selection, comparison, occupancy });
    this.body.parentElement.classList.toggle('unsampled', profile.info.events.length === 0);
    const shown = { diff: comparison !== null, charged: profile.callsOthers, sched: profile.schedule !== null };
    const { cores } = profile.info;
    const shares = cores > 1 && profile.info.events.length > 0 ? `Share, User, Kernel: of the samples of all ${cores} cores` : '';
    this.body.parentElement.caption.replaceChildren(shares, ...(profile.schedule ? [make('span', {
      className: 'sched', textContent: `${shares && '; '}Ran, Ready, In calls: of the time${cores > 1 ? ' of one core' : ''}`,
    })] : []));
    this.head.querySelectorAll('[class]').forEach((th) => { th.hidden = shown[th.className] === false; });
    this.update();
  }

  update() {
    const p = this.profile, s = this.selection, sums = s.byPd(s.mask('pd')), whole = s.whole();
    const always = new Float64Array(p.pds.length); // a row stays where it is, whatever is selected
    p.chainWeight.forEach((weight, chain) => { always[p.c_pd[chain]] += p.c_event[chain] === s.event() ? weight : 0; });
    this.charged = p.callsOthers ? s.charged(s.mask('pd')) : null;
    const ran = (pd) => (p.samples === 0 ? p.schedule?.times(pd, 0, p.span).running ?? 0 : 0);
    const rows = sums.map((sum, pd) => ({ ...sum, pd, all: sum.user + sum.kernel, ran: ran(pd) }))
      .filter((row) => always[row.pd] > 0 || p.schedule?.byPd.has(row.pd) || this.charged?.[row.pd] > 0 || (state.pd && p.pds[row.pd].name === state.pd) ||
        this.comparison?.pd(p.pds[row.pd].name) > 0)
      .sort((a, b) => p.pds[a.pd].idle - p.pds[b.pd].idle || always[b.pd] - always[a.pd] || b.ran - a.ran);
    this.samples = this.comparison && s.equalSamples();
    this.rowsOfBoth = this.comparison?.rows(rows.filter((row) => row.all > 0).map((row) => p.pdName(row.pd)), 'pds');
    this.body.replaceChildren(...rows.map((row) => this.row(row, whole)));
    this.sparks();
  }

  row(row, whole) {
    const p = this.profile, name = p.pdName(row.pd), chosen = state.pd !== '' && state.pd === name;
    const button = make('button', { type: 'button', textContent: name });
    const calls = this.calls(name), spark = make('canvas', { className: 'spark' });
    button.setAttribute('aria-pressed', chosen);
    button.prepend(swatch(p.colour(row.pd, false)));
    button.onclick = () => change({ pd: chosen ? '' : name });
    const tr = make('tr', { className: chosen ? 'chosen' : '' });
    tr.dataset.pd = name;
    tr.append(make('td', {}, button), bar(percent(row.all, whole), row.all / (whole || 1), p.colour(row.pd, false)),
      ...cells(percent(row.user, whole), percent(row.kernel, whole)),
      ...of('count', cells(count(row.samples), calls.in, calls.out)));
    if (this.charged) {
      tr.append(...of('charged', cells(percent(this.charged[row.pd], whole))));
    }
    if (p.schedule) {
      tr.append(...of('sched', this.times(row.pd)));
    }
    if (this.comparison) {
      const now = whole ? 100 * row.all / whole : 0;
      tr.append(...changeCells(this.comparison.change(this.comparison.pd(name), now, this.rowsOfBoth, this.samples)));
    }
    spark.setAttribute('role', 'img');
    spark.setAttribute('aria-label', `activity of ${name} over time`);
    tr.append(make('td', {}, spark));
    return tr;
  }

  // By the scheduling events: shares of the selected time.
  times(pd) {
    const p = this.profile, { schedule } = p;
    const from = Math.max(state.from ?? 0, schedule.from), to = Math.min(state.to ?? p.span, schedule.to);
    const stretch = to > from ? schedule.known(from, to) : schedule;
    if (!stretch) {
      this.ask(from, to);
      return cells('…', '…', '…');
    }
    if (p.pds[pd].idle) {
      return cells(percent(to > from ? stretch.idle(from, to) : 0, Math.max(0, to - from)), '', '');
    }
    const times = stretch.times(pd, from, to);
    return cells(...['running', 'ready', 'calling'].map((name) => percent(times[name] ?? 0, Math.max(0, to - from))));
  }

  // The sums of the selected time, of a recording of which the page does not have each interval.
  ask(from, to) {
    const { schedule } = this.profile, key = `${from} ${to}`;
    if (this.asked !== key) {
      this.asked = key;
      schedule.load(from, to, STRETCH.view).then(() => { this.asked = ''; this.update(); }, complain);
    }
  }

  // Calls that a PD received and made; notifications count, too. Without a count: a dash.
  calls(name) {
    const list = this.profile.info.calls;
    const sum = (side) => list.filter((edge) => edge[side] === name)
      .reduce((n, edge) => n + edge.calls + edge.notifications, 0);
    return list.length === 0 ? { in: '–', out: '–' } : { in: count(sum('to')), out: count(sum('from')) };
  }

  // How much of each stretch of time a PD ran: by the scheduling events if there are some, else by the samples.
  sparks() {
    const p = this.profile, [width, height] = SPARK, [from, to] = p.all();
    const columns = p.schedule ? p.schedule.utilisation(from, to, width) : this.occupancy.columns(from, to, width)
      .map((column) => ({ ...column, pd: column.pair.pd, kernel: column.pair.kernel }));
    for (const tr of this.body.rows) {
      const canvas = tr.querySelector('canvas'), pixels = new Uint32Array(width * height);
      const parts = columns.filter(({ pd }) => p.pdName(pd) === tr.dataset.pd).map((column) => {
        const colour = p.colour(column.pd, column.kernel);
        return { ...column, colour: pixel(colour, 255), pale: pixel(colour, 70) };
      });
      paintLane(pixels, width, 0, height, parts, width);
      canvas.width = width;
      canvas.height = height;
      canvas.getContext('2d').putImageData(
        new ImageData(new Uint8ClampedArray(pixels.buffer), width, height), 0, 0);
    }
  }
}

const COLUMNS = { self: 0, total: 1, samples: 2, pd: 3, name: 4, before: 5, change: 6 };

class FunctionTable {
  constructor(table, note) {
    this.table = table;
    this.note = note;
    this.body = table.tBodies[0];
    this.limit = ROWS_FIRST;
    for (const th of table.tHead.querySelectorAll('th')) {
      const button = make('button', { type: 'button', textContent: th.textContent });
      button.onclick = () => change({ sort: th.dataset.sort });
      th.replaceChildren(button);
    }
  }

  show(profile, selection, comparison) {
    Object.assign(this, { profile, selection, comparison });
    this.table.querySelectorAll('thead .diff').forEach((th) => { th.hidden = !comparison; });
    this.update();
  }

  rows() {
    const p = this.profile, s = this.selection, sums = s.byFunction(s.mask('fn')), whole = s.whole();
    const of = (profile, f) => ({ key: profile.functionKey(f), name: profile.names[f], kernel: profile.f_kernel[f] === 1,
      pd: profile.pdName(profile.f_pd[f]), self: 0, total: 0, samples: 0, whole });
    const out = [];
    for (let f = 0; f < p.functions; f++) {
      if (sums.total[f] > 0) {
        out.push({ ...of(p, f), self: sums.self[f], total: sums.total[f], samples: sums.samples[f] });
      }
    }
    if (this.comparison) {
      const c = this.comparison, samples = s.equalSamples(), keys = new Set(out.map((row) => row.key));
      c.functions.self.forEach((weight, f) => { // what was before, and is not now
        if (weight > 0 && !keys.has(c.base.functionKey(f))) {
          out.push(of(c.base, f));
        }
      });
      const rows = c.rows(out.filter((row) => row.self > 0).map((row) => row.key), 'functions');
      out.forEach((row) => Object.assign(row, c.change(c.self(row.key), whole ? 100 * row.self / whole : 0, rows, samples)));
    }
    const by = {
      name: (a, b) => a.name.localeCompare(b.name), pd: (a, b) => a.pd.localeCompare(b.pd),
      change: (a, b) => Math.abs(b.change) - Math.abs(a.change),
    }[state.sort] ?? ((a, b) => b[state.sort] - a[state.sort]);
    return out.sort((a, b) => by(a, b) || b.total - a.total); // else the order of functions
  }

  update() {
    const rows = this.rows(), shown = rows.slice(0, this.limit);
    for (const th of this.table.tHead.querySelectorAll('th')) {
      th.setAttribute('aria-sort', th.dataset.sort === state.sort
        ? (['name', 'pd'].includes(state.sort) ? 'ascending' : 'descending') : 'none');
    }
    this.body.replaceChildren(...shown.map((row) => this.row(row)));
    this.note.replaceChildren(number(rows.length, 'function'));
    if (rows.length > shown.length) {
      const more = make('button', { type: 'button', textContent: 'show all' });
      more.onclick = () => { this.limit = Infinity; this.update(); };
      this.note.append(`, the first ${shown.length} shown `, more);
    }
  }

  row(row) {
    const p = this.profile, { key } = row, chosen = state.fn === key;
    const colour = p.colour(p.pds.findIndex((pd) => pd.name === row.pd), row.kernel);
    const button = make('button', { type: 'button', disabled: p.functionOf(key) === undefined });
    const words = `${row.kernel ? '[k] ' : ''}${row.name}`.split(/(?<=_|::)/); // where a narrow window may break it
    button.append(...words.flatMap((word, i) => (i > 0 ? [make('wbr', {}), word] : [word])));
    button.setAttribute('aria-pressed', chosen);
    button.onclick = () => change({ fn: chosen && state.open ? '' : key, open: !(chosen && state.open) });
    const tr = make('tr', { className: chosen ? 'chosen' : '' }, bar(percent(row.self, row.whole), row.self / (row.whole || 1), colour),
      ...cells(percent(row.total, row.whole), count(row.samples), row.pd), make('td', {}, button));
    tr.dataset.key = key;
    if (this.comparison) {
      tr.append(...changeCells(row));
    }
    return tr;
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
    const button = make('button', { type: 'button', textContent: profile.info.texts[profile.m_name[first]] });
    button.onclick = () => look(profile.markTime[first]);
    return make('tr', {}, ...cells(count(n), profile.pdName(profile.m_pd[first])), make('td', {}, button));
  }));
}
