// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page. Owns: its start, the header, the keys of the whole page, and which part is drawn
// again when what changes.
'use strict';

const REFRESH_MS = 1000; // live
let profile, selection, comparison = null;

const tracks = new Tracks(byId('tracks'));
const flame = new Flame(byId('flame'), byId('details'), byId('idle-share'));
const pdTable = new PdTable(byId('pds'));
const functions = new FunctionTable(byId('functions'), byId('left'));
const code = new CodePanel(byId('code'));
const path = new PathPanel(byId('path'), tracks);
const latencies = new LatencyTable(byId('late'));

function complain(error) {
  byId('problem').textContent = error.message;
  byId('problem').hidden = false;
}

function showHead() {
  const { info } = profile, before = comparison ? ` compared with ${comparison.base.info.file}` : '';
  document.title = `${info.file} - mkperf`;
  byId('file').textContent = info.file + before;
  byId('head').textContent = info.head;
  byId('loss').textContent = `${count(info.samples)} samples in ${duration(profile.span)}, ` +
    `${count(info.lost)} lost${info.sched ? `; ${count(info.sched.events)} scheduling events, ` +
      `${count(info.sched.lost)} lost` : ''}${info.complete || info.live ? '' : ', totals incomplete'}`;
  byId('older').textContent = olderWords(info);
  showWarnings(info);
  byId('loss').classList.toggle('bad', info.lost > 0 || info.sched?.lost > 0 || !(info.complete || info.live));
  byId('h-flame').parentElement.hidden = byId('h-functions').parentElement.hidden = info.events.length === 0;
  byId('event').replaceChildren(...info.events.map((event) => new Option(event.name, event.name)));
  byId('event').value = info.events[selection.event()]?.name ?? '';
  byId('event').parentElement.hidden = info.events.length === 0;
  if (info.speedscope) {
    const url = new URL('speedscope/profile.json', location);
    byId('speedscope').href = `speedscope/index.html#profileURL=${encodeURIComponent(url)}`;
    byId('speedscope').hidden = false;
  }
  showLists(profile, byId('calls'), byId('marks'), (at) => tracks.look(at - 5e6, at + 5e6));
}

// Of a running target: what there was before, and is not shown.
function olderWords({ older, sched }) {
  const parts = ['samples', 'marks', 'losses'].filter((of) => older[of] > 0).map((of) => `${count(older[of])} ${of}`);
  if (sched?.cut) {
    parts.push(`scheduling before ${moment(sched.from, profile.span)}`);
  }
  return parts.length === 0 ? '' : `the newest; older and not shown: ${parts.join(', ')}`;
}

// What is more than a note: numbers are not what they seem.
function showWarnings(info) {
  const all = [...info.warnings, ...(comparison?.base.info.warnings ?? []).map(({ level, text }) => ({ level, text: `before: ${text}` }))];
  const lines = all.filter(({ level }) => level !== 'note').map(({ level, text }) => make('li', { className: level, textContent: `${level}: ${text}` }));
  byId('warnings').replaceChildren(...lines);
  byId('warnings').hidden = lines.length === 0;
}

// What is selected, in words, and its share of the whole recording.
function showSelection() {
  const parts = [], all = profile.eventWeight[selection.event()];
  const { weight, samples } = selection.total(selection.mask());
  if (state.from !== null) {
    parts.push(`${moment(state.from, state.to - state.from)} to ${moment(state.to, state.to - state.from)}`);
  }
  if (state.core !== null) {
    parts.push(`core ${state.core}`);
  }
  if (state.pd) {
    parts.push(`PD ${state.pd}`);
  }
  if (state.node.length > 0) {
    parts.push(state.node.at(-1));
  }
  if (state.fn) {
    parts.push(state.fn.replace(/^.*?\/|\/k$/g, ''));
  }
  if (state.words) {
    parts.push(`“${state.words}”`);
  }
  byId('selected').textContent = parts.length === 0 ? 'all' :
    `selected ${percent(weight, all)}, ${count(samples)} samples: ${parts.join(', ')}`;
  byId('selected').title = byId('selected').textContent; // it has one line, whatever is selected
  byId('selected').classList.toggle('some', parts.length > 0);
  byId('reset').disabled = parts.length === 0 && state.path === '';
  showFound(weight, all);
}

function showFound(weight, all) {
  const words = state.words.toLowerCase();
  const n = words === '' ? 0 : profile.names.filter((name, f) =>
    `${profile.pdName(profile.f_pd[f])} ${name}`.toLowerCase().includes(words)).length;
  byId('found').textContent = words === '' ? '' : `${number(n, 'function')}, ${percent(weight, all)}`;
}

function showControls() {
  byId('event').value = profile.info.events[selection.event()]?.name ?? '';
  if (document.activeElement !== byId('search')) {
    byId('search').value = state.words;
  }
  byId('idle').checked = state.idle;
  byId('starts').checked = state.starts;
  const [from, to] = tracks.view();
  byId('range').textContent = `${moment(from, to - from)} to ${moment(to, to - from)} (${duration(to - from)})`;
}

// Each part is drawn again only if something that it shows has changed.
const FILTERS = ['event', 'from', 'to', 'core', 'pd', 'fn', 'node', 'words'];

function update(changed) {
  const has = (...names) => names.some((name) => changed.has(name)), main = document.querySelector('main');
  main.style.minHeight = `${main.getBoundingClientRect().height}px`; // or a page that is scrolled moves when a table becomes shorter
  selection.changed(changed);
  comparison?.selection.changed(changed);
  if (has(...FILTERS)) {
    comparison?.update();
    if (has('event', 'pd', 'fn', 'node', 'words')) {
      tracks.rebuild();
    } else {
      tracks.findLanes();
      tracks.draw();
    }
    pdTable.update();
    showSelection();
  }
  if (has('from', 'to', 'pd')) {
    latencies.update();
  }
  if (has('path', 'at', 'from', 'to', 'core', 'pd')) {
    latencies.choose();
    path.update();
    showSelection();
  }
  if (has(...FILTERS, 'idle', 'starts')) {
    flame.update();
  }
  if (has(...FILTERS, 'sort')) {
    functions.update();
  }
  if (has(...FILTERS, 'open')) {
    code.update().catch(complain);
  }
  if (has('viewFrom', 'viewTo')) {
    tracks.draw();
  }
  showControls();
  document.body.dataset.changes = Number(document.body.dataset.changes ?? 0) + 1;
}

// A time of the target's clock, as mkperf latency and script print it: 1.113441, 1.113441 s; in ns since the beginning,
// or null: words to look for.
function targetTime(text) {
  const [, seconds, part = ''] = /^\s*(\d+)(?:\.(\d{0,9}))?\s*s?\s*$/.exec(text) ?? [];
  return seconds === undefined ? null : Number(BigInt(seconds + part.padEnd(9, '0')) - profile.start);
}

function search(text) {
  const at = targetTime(text);
  change({ words: at === null ? text : '' });
  if (at !== null) {
    byId('found').textContent = isShown(at) ? 'a time of the target: Enter shows it'
      : `the recording is from ${profile.clock(0)} to ${profile.clock(profile.span)} s`;
  }
}

function isShown(at) {
  return at >= -ROUNDED && at <= profile.span + ROUNDED;
}

// Shows a moment, with the longest call that was under way; times of tables are rounded.
function goTo(at) {
  if (!isShown(at)) {
    return;
  }
  const call = latencies.callAt(at), from = call?.from ?? at, to = call?.to ?? at, room = Math.max(to - from, 1e6) / 2;
  tracks.look(from - room, to + room);
  tracks.point(at, call ? ['call ', call.words, ' ', call.button] : []);
}

function reset() {
  const { event, idle, starts, sort, viewFrom, viewTo } = state;
  tracks.cursor = tracks.pointed = undefined;
  byId('search').value = '';
  byId('picked').textContent = '';
  change({ ...EMPTY, event, idle, starts, sort, viewFrom, viewTo });
}

function onKey(e) {
  const typing = ['INPUT', 'SELECT', 'TEXTAREA'].includes(document.activeElement.tagName);
  if (e.key === 'Escape') {
    byId('help').open ? byId('help').close() : reset();
  } else if (typing || e.ctrlKey || e.metaKey || e.altKey) {
    return;
  } else if (e.key === '/') {
    e.preventDefault();
    byId('search').focus();
  } else if (e.key === '?') {
    byId('help').showModal();
  } else if (e.key === 'i') {
    change({ idle: !state.idle });
  } else if (!byId('tracks').contains(document.activeElement) &&
      !byId('flame').contains(document.activeElement) && !e.key.startsWith('Arrow')) {
    tracks.key(e);
  }
}

function listen() {
  listeners.push(update);
  tracks.onPick = (...parts) => byId('picked').replaceChildren(...parts);
  tracks.onPath = (what, at) => path.open(what, at);
  byId('event').onchange = (e) => change({ event: e.target.value });
  byId('search').oninput = (e) => search(e.target.value);
  byId('search').onkeydown = (e) => {
    const at = targetTime(e.target.value);
    if (e.key === 'Enter' && at !== null) {
      goTo(at);
    }
  };
  byId('idle').onchange = (e) => change({ idle: e.target.checked });
  byId('starts').onchange = (e) => change({ starts: e.target.checked });
  byId('reset').onclick = reset;
  byId('zoom-in').onclick = () => tracks.zoom(0.5);
  byId('zoom-out').onclick = () => tracks.zoom(2);
  byId('zoom-all').onclick = () => tracks.look(...profile.all());
  byId('ask').onclick = () => byId('help').showModal();
  document.onkeydown = onKey;
  window.onresize = () => { document.querySelector('main').style.minHeight = ''; tracks.draw(); flame.place(); };
  window.onhashchange = () => change(readState(location.hash.slice(1)));
  matchMedia('(prefers-color-scheme: dark)').onchange = () => tracks.draw();
}

function showAll() {
  selection = new Selection(profile);
  tracks.show(profile, selection);
  pdTable.show(profile, selection, comparison, tracks.occupancy);
  flame.show(profile, selection, comparison);
  functions.show(profile, selection, comparison);
  code.show(profile, selection);
  latencies.show(profile, path);
  path.show(profile);
  showHead();
  showSelection();
  showControls();
}

// A running target's profile is asked for again and again. What is selected stays selected.
async function follow() {
  try {
    if (!document.hidden && !byId('pause').checked) {
      profile = await source.profile('profile');
      byId('problem').hidden = true;
      showAll();
    }
  } catch (error) {
    complain(error);
  }
  setTimeout(follow, REFRESH_MS);
}

async function start() {
  const begun = performance.now();
  Object.assign(state, readState(location.hash.slice(1)));
  const [now, base] = await Promise.all([source.profile('profile'), source.profile('base')]);
  profile = now;
  comparison = base && new Comparison(base);
  showAll();
  listen();
  byId('live').hidden = !profile.info.live;
  if (profile.info.live) {
    setTimeout(follow, REFRESH_MS);
  }
  requestAnimationFrame(() => setTimeout(() => {
    document.body.dataset.ready = Math.round(performance.now() - begun);
    document.body.dataset.changes = 0;
  }));
}

start().catch(complain);
