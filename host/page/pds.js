// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: figures of PDs. Owns: their sums in what is selected, which the labels of tracks show, and the table that has
// all of them. Shares are of samples; Ran, Ready and In calls are of time by scheduling events.
'use strict';

class PdSums {
  // asks(): what was missing is there now.
  constructor(asks) {
    this.asks = asks;
  }

  show(profile, selection, others) {
    Object.assign(this, { profile, selection, others, asked: '' });
    this.update();
  }

  has(name) {
    const p = this.profile, sampled = p.info.events.length > 0;
    return { share: sampled, charged: p.callsOthers, ran: p.schedule !== null, ready: p.schedule !== null, change: this.others.length > 0 }[name];
  }

  // After the event or the filters changed.
  update() {
    const p = this.profile, s = this.selection, { schedule } = p;
    this.sums = s.byPd(s.mask('pd'));
    this.whole = s.whole();
    this.samples = s.equalSamples();
    this.charged = p.callsOthers ? s.charged(s.mask('pd')) : null;
    const now = new Map(this.sums.map((sum, pd) => [p.pdName(pd), 100 * (sum.user + sum.kernel) / (this.whole || 1)]));
    this.rows = this.others.map((other) => other.rows(now, other.pds, this.samples));
    this.from = schedule && Math.max(state.from ?? 0, schedule.from);
    this.to = schedule && Math.min(state.to ?? p.span, schedule.to);
    this.stretch = schedule && (this.to > this.from ? schedule.known(this.from, this.to) : schedule);
    if (schedule && !this.stretch && this.asked !== `${this.from} ${this.to}`) { // the page has sums of other times
      this.asked = `${this.from} ${this.to}`;
      schedule.load(this.from, this.to, STRETCH.view).then(() => { this.asked = ''; this.update(); this.asks(); }, complain);
    }
  }

  // {user, kernel, all, samples, charged, times: {ran, ready, calling} as texts, changes, figures}.
  of(pd) {
    const p = this.profile, sum = this.sums[pd], all = sum.user + sum.kernel, whole = this.whole || 1, name = p.pdName(pd);
    const times = this.times(pd), charged = this.charged?.[pd], now = 100 * all / whole, title = (part) => shareWords(part, this.whole, this.samples);
    const changes = this.others.map((other, i) => other.change(other.pds.get(name) ?? 0, now, this.rows[i], this.samples));
    return { ...sum, all, charged, times, changes, figures: {
      share: { text: percent(all, this.whole), share: all / whole, title: title(all) },
      charged: charged === undefined ? undefined : { text: percent(charged, this.whole), title: title(charged) },
      ran: { text: times.ran, share: times.part }, ready: { text: times.ready },
      change: changes.length > 0 ? { text: changeText(changes[0]), title: chanceWords(changes[0]) } : undefined } };
  }

  // How busy a core was.
  ofCore(core) {
    const ran = this.stretch && (this.stretch.byCore.get(core) ?? []).reduce((sum, list) => sum + list.within(this.from, this.to), 0);
    return ran === null || this.to <= this.from ? {} : { ran: { text: percent(ran, this.to - this.from), share: ran / (this.to - this.from), title: 'busy, of the selected time' } };
  }

  // By the scheduling events: shares of the selected time.
  times(pd) {
    const ns = Math.max(0, this.to - this.from), { stretch } = this;
    if (!stretch) {
      return this.profile.schedule ? { ran: '…', ready: '…', calling: '…' } : {};
    }
    if (this.profile.pds[pd].idle) {
      return { ran: percent(ns > 0 ? stretch.idle(this.from, this.to) : 0, ns), ready: '', calling: '' };
    }
    const { running = 0, ready = 0, calling = 0 } = stretch.times(pd, this.from, this.to);
    return { part: running / (ns || 1), ran: percent(running, ns), ready: percent(ready, ns), calling: percent(calling, ns) };
  }
}

class PdTable {
  constructor(table) {
    this.head = table.tHead.rows[0];
    this.body = table.tBodies[0];
  }

  show(sums) {
    Object.assign(this, { sums, profile: sums.profile });
    const { profile: p, others } = sums, { cores } = p.info, sampled = p.info.events.length > 0;
    const shares = cores > 1 && sampled ? `Share, User, Kernel: of the samples of all ${cores} cores` : '';
    const of = (names, kind) => names.map((name) => make('th', { textContent: name, className: kind }));
    this.body.parentElement.caption.textContent = p.schedule ? `${shares && `${shares}; `}Ran, Ready, In calls: of the time${cores > 1 ? ' of one core' : ''}` : shares;
    this.head.replaceChildren(...of(['PD'], ''), ...(sampled ? of(['Share', 'User', 'Kernel', 'Samples'], '') : []), ...of(['Calls in', 'Calls out'], 'count'),
      ...(p.callsOthers ? of(['Charged'], 'count') : []), ...(p.schedule ? of(['Ran', 'Ready', 'In calls'], 'count') : []), ...changeHeads(others));
    this.update();
  }

  // All PDs that have been seen, in one order whatever is selected.
  update() {
    const p = this.profile, s = this.sums, event = s.selection.event(), always = new Float64Array(p.pds.length);
    p.chainWeight.forEach((weight, chain) => { always[p.c_pd[chain]] += p.c_event[chain] === event ? weight : 0; });
    const ran = (pd) => (p.samples === 0 ? p.schedule?.times(pd, 0, p.span).running ?? 0 : 0);
    const rows = [...p.pds.keys()].filter((pd) => always[pd] > 0 || p.schedule?.byPd.has(pd) || s.charged?.[pd] > 0 || p.pds[pd].name === state.pd ||
      s.others.some((other) => other.pds.get(p.pdName(pd)) > 0))
      .sort((a, b) => p.pds[a].idle - p.pds[b].idle || always[b] - always[a] || ran(b) - ran(a));
    this.body.replaceChildren(...rows.map((pd) => this.row(pd, s.of(pd))));
  }

  row(pd, of) {
    const p = this.profile, name = p.pdName(pd), chosen = state.pd !== '' && state.pd === name, { whole, samples } = this.sums, calls = this.calls(name);
    const choose = button(name, () => change({ pd: chosen ? '' : name }), { 'aria-pressed': chosen });
    choose.prepend(swatch(p.colour(pd, false)));
    const tr = make('tr', { className: chosen ? 'chosen' : '', 'data-pd': name }, make('td', {}, choose));
    if (p.info.events.length > 0) {
      tr.append(figureCell(of.figures.share, p.colour(pd, false)), shareCell(of.user, whole, samples), shareCell(of.kernel, whole, samples), ...cells(count(of.samples)));
    }
    tr.append(...cells(calls.in, calls.out), ...(p.callsOthers ? [shareCell(of.charged, whole, samples)] : []),
      ...(p.schedule ? cells(of.times.ran, of.times.ready, of.times.calling) : []), ...of.changes.flatMap(changeCells));
    [...tr.cells].forEach((cell, i) => cell.classList.toggle('count', this.head.cells[i].className === 'count'));
    return tr;
  }

  // Calls that a PD received and made; notifications count, too. Without a count: a dash.
  calls(name) {
    const list = this.profile.info.calls;
    const sum = (side) => list.filter((edge) => edge[side] === name)
      .reduce((n, edge) => n + edge.calls + edge.notifications, 0);
    return list.length === 0 ? { in: '–', out: '–' } : { in: count(sum('to')), out: count(sum('from')) };
  }
}
