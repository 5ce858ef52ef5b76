// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page. Owns: its start, the header, the keys of the whole page, and which part is drawn
// again when what changes.
'use strict';

const REFRESH_MS = 1000; // live
const NARROW = matchMedia('(max-width: 760px)'); // then the details are a tab
let profile, selection, others = [], comparison = null;

const tracks = new Tracks(byId('tracks'));
const pdSums = new PdSums(() => { tracks.label(); pdTable.update(); });
const flame = new Flame(byId('flame'));
const pdTable = new PdTable(byId('pds'));
const functions = new FunctionTable(byId('functions'), byId('left'));
const code = new CodePanel(byId('code')), around = new FunctionPanel(byId('function'));
const path = new PathPanel(byId('path'), tracks);
const latencies = new LatencyTable();
const sections = new Map([...document.querySelectorAll('main > [data-tab]')].map((section) => [section.dataset.tab, section]));
const callTree = new TreeTable(sections.get('tree'), flame), inverted = new TreeTable(sections.get('inverted'), flame);
const chart = new StackChart(sections.get('chart'), tracks, flame);

// The state that each part shows; a tab that is not visible is drawn when it is opened.
const FILTERS = ['event', 'from', 'to', 'core', 'pd', 'fn', 'node', 'words', 'base'], FRAMES = [...FILTERS, 'idle', 'starts'];
const TABS = {
  flame: { shows: FRAMES, of: flame }, tree: { shows: FRAMES, of: callTree }, inverted: { shows: FRAMES, of: inverted },
  chart: { shows: [...FRAMES, 'viewFrom', 'viewTo'], of: chart }, functions: { shows: [...FILTERS, 'sort'], of: functions },
  pds: { shows: FILTERS, of: pdTable }, latency: { shows: ['from', 'to', 'pd'], of: latencies }, source: { shows: FILTERS, of: code },
  recording: { shows: [], of: null }, details: { shows: [], of: null },
};

function complain(error) {
  byId('problem').textContent = error.message;
  byId('problem').hidden = false;
}

function showHead() {
  const { info } = profile;
  document.title = `${info.file} - mkperf`;
  byId('file').textContent = info.file + (others.length > 0 ? ` compared with ${others.map(({ base }) => base.info.file).join(', ')}` : '');
  byId('file').title = byId('file').textContent;
  byId('head').textContent = info.head;
  byId('hint').textContent = `Click a track's name, a frame, a row or a moment: what it is is shown here, and all parts show what is selected.${
    info.sched ? ' Each figure of Latency opens a critical path.' : ''} Drag over the tracks to select time. ? lists the keys.`;
  byId('loss').textContent = `${count(info.samples)} samples in ${duration(profile.span)}, ` +
    `${count(info.lost)} lost${info.sched ? `; ${count(info.sched.events)} scheduling events, ` +
      `${count(info.sched.lost)} lost` : ''}${info.complete || info.live ? '' : ', totals incomplete'}`;
  const older = ['samples', 'marks', 'losses'].filter((of) => info.older[of] > 0).map((of) => `${count(info.older[of])} ${of}`);
  older.push(...(info.sched?.cut ? [`scheduling before ${moment(info.sched.from, profile.span)}`] : [])); // of a running target
  byId('older').textContent = older.length === 0 ? '' : `the newest; older and not shown: ${older.join(', ')}`;
  ['loss', 'older'].forEach((id) => { byId(id).dataset.tip = byId(id).textContent; }); // a narrow window cuts them off
  const warnings = [...info.warnings, ...others.flatMap(({ base }) => base.info.warnings.map(({ level, text }) => ({ level, text: `${base.info.file}: ${text}` })))]
    .filter(({ level }) => level !== 'note'); // what is more than a note: numbers are not what they seem
  byId('warnings').lastElementChild.replaceChildren(...warnings.map(({ level, text }) => make('li', { className: level, textContent: `${level}: ${text}` })));
  byId('warnings').firstElementChild.textContent = number(warnings.length, 'warning');
  byId('warnings').hidden = warnings.length === 0;
  byId('loss').classList.toggle('bad', info.lost > 0 || info.sched?.lost > 0 || !(info.complete || info.live));
  byId('event').replaceChildren(...info.events.map((event) => new Option(event.name, event.name)));
  byId('event').parentElement.hidden = info.events.length === 0;
  byId('base').replaceChildren(...others.map(({ base }) => new Option(base.info.file, base.info.file)));
  byId('against').hidden = others.length < 2;
  if (info.speedscope) {
    const url = new URL('speedscope/profile.json', location);
    byId('speedscope').href = `speedscope/index.html#profileURL=${encodeURIComponent(url)}`;
    byId('speedscope').hidden = false;
  }
  showLists(profile, byId('calls'), byId('marks'), (at) => tracks.look(at - 5e6, at + 5e6));
}

// What is selected: each filter with a button that ends it, and their share of the whole recording.
function showSelection() {
  const parts = [], all = profile.eventWeight[selection.event()], put = (on, text, without) => on && parts.push([text, without]);
  const { weight, samples } = selection.total(selection.mask()), time = (at) => moment(at, state.to - state.from);
  put(state.from !== null, () => `${time(state.from)} to ${time(state.to)}`, { from: null, to: null });
  put(state.core !== null, () => `core ${state.core}`, { core: null });
  put(state.pd, () => `PD ${state.pd}`, { pd: '' });
  put(state.node.length > 0, () => state.node.at(-1), { node: [] });
  put(state.fn, () => state.fn.replace(/^.*?\/|\/k$/g, ''), { fn: '' });
  put(state.words, () => `“${state.words}”`, { words: '' });
  const chips = parts.map(([text, without]) =>
    button(text(), () => change(without), { className: 'chip', 'aria-label': `${text()}: no longer select` }));
  const sampled = profile.info.events.length > 0, share = parts.length === 0 ? (sampled ? `all ${count(samples)} samples` : 'all')
    : sampled ? `${percent(weight, all)}, ${count(samples)} samples:` : '';
  byId('selected').replaceChildren(parts.length === 0 ? 'Selected: ' : 'Selected ', make('b', { textContent: share }), ' ',
    ...chips.flatMap((chip, i) => (i > 0 ? [make('span', { className: 'gone', textContent: ', ' }), chip] : [chip])));
  byId('selected').dataset.tip = parts.length === 0 ? '' : shareWords(weight, all, selection.equalSamples());
  byId('reset').disabled = parts.length === 0 && state.path === '';
  byId('hint').hidden = state.path !== '' || state.fn !== '' || byId('picked').textContent !== '';
  const words = state.words.toLowerCase(), found = profile.names.filter((name, f) => `${profile.pdName(profile.f_pd[f])} ${name}`.toLowerCase().includes(words));
  byId('found').textContent = words === '' ? '' : `${number(found.length, 'function')}, ${percent(weight, all)}`;
}

function showControls() {
  byId('event').value = profile.info.events[selection.event()]?.name ?? '';
  byId('base').value = comparison?.base.info.file ?? '';
  if (document.activeElement !== byId('search')) {
    byId('search').value = state.words;
  }
  byId('idle').checked = state.idle;
  byId('starts').checked = state.starts;
  const [from, to] = tracks.view();
  byId('range').textContent = `${moment(from, to - from)} to ${moment(to, to - from)} (${duration(to - from)})`;
}

function currentTab() {
  const first = profile.info.events.length > 0 ? 'flame' : 'latency';
  return hasTab(state.tab) && (state.tab !== 'details' || NARROW.matches) ? state.tab : hasTab(first) ? first : 'recording';
}

function hasTab(name) {
  const sampled = profile.info.events.length > 0;
  return { latency: profile.schedule !== null, pds: true, recording: true, details: true }[name] ?? (name in TABS && sampled);
}

function showTabs() {
  const current = currentTab(), list = document.querySelector('[role=tablist]');
  if (list.children.length === 0) {
    list.append(...Object.keys(TABS).map((name) => {
      const section = sections.get(name), label = section.getAttribute('aria-label');
      section.id = `panel-${name}`;
      return button(label, () => change({ tab: name }), { id: `tab-${name}`, role: 'tab', 'data-name': label, 'aria-controls': section.id });
    }));
    list.onkeydown = (e) => {
      const tabs = visibleTabs(), by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      const to = by && tabs[(tabs.findIndex((tab) => tab.tabIndex === 0) + by + tabs.length) % tabs.length];
      to?.click();
      to?.focus();
    };
  }
  for (const [name, section] of sections) {
    const tab = byId(`tab-${name}`);
    tab.hidden = !hasTab(name);
    tab.setAttribute('aria-selected', name === current);
    tab.tabIndex = name === current ? 0 : -1;
    section.classList.toggle('current', name === current);
  }
  byId(`tab-${current}`).scrollIntoView({ block: 'nearest', inline: 'center' });
}

function visibleTabs() {
  return [...document.querySelectorAll('[role=tab]')].filter((tab) => tab.checkVisibility());
}

// The visible tab, if something that it shows has changed since it was drawn.
function drawTab() {
  const tab = TABS[currentTab()];
  if (tab.stale !== false && tab.of) {
    tab.stale = false;
    if (tab.shows.includes('idle')) {
      flame.sum();
    }
    Promise.resolve(tab.of.update()).catch(complain);
  }
}

function update(changed) {
  const has = (...names) => names.some((name) => changed.has(name));
  Object.values(TABS).forEach((tab) => { tab.stale ||= has(...tab.shows) || tab.stale === undefined; });
  selection.changed(changed);
  others.forEach((other) => other.selection.changed(changed));
  if (has('base')) {
    chooseBase();
  }
  if (has(...FILTERS)) {
    others.forEach((other) => other.update());
    pdSums.update();
    if (has('event', 'pd', 'fn', 'node', 'words')) {
      tracks.rebuild();
    } else {
      tracks.label();
      tracks.draw();
    }
    around.update(profile, selection);
    showSelection();
  }
  if (has('path', 'at', 'from', 'to', 'core', 'pd')) {
    latencies.choose();
    path.update();
    showSelection();
  }
  if (has('tab')) {
    showTabs();
  }
  drawTab();
  if (has('viewFrom', 'viewTo')) {
    tracks.draw();
  }
  showControls();
  document.body.dataset.changes = Number(document.body.dataset.changes ?? 0) + 1;
}

function chooseBase() {
  comparison = others.find(({ base }) => base.info.file === state.base) ?? others[0] ?? null;
  [flame, callTree, inverted].forEach((part) => part.show(profile, selection, comparison));
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
  tracks.pointed = at;
  pick(`${tracks.both(at)}${call ? ': ' : ''}`, ...(call ? ['call ', call.words, ' ', call.button] : []));
  tracks.draw();
}

function reset() {
  const { event, idle, starts, sort, tab, base, viewFrom, viewTo } = state;
  tracks.pds.cursor = tracks.pointed = undefined;
  byId('search').value = '';
  pick();
  change({ ...EMPTY, event, idle, starts, sort, tab, base, viewFrom, viewTo });
}

// What was clicked, in words, in the details.
function pick(...parts) {
  byId('picked').replaceChildren(...parts);
  byId('hint').hidden = parts.length > 0;
}

function showHelp() {
  byId('help').showModal();
  byId('help').scrollTop = 0; // the button that gets the focus is at the end
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
    showHelp();
  } else if (e.key === 'i') {
    change({ idle: !state.idle });
  } else if (/^[1-9]$/.test(e.key)) {
    visibleTabs()[e.key - 1]?.click();
  } else if (!byId('tracks').contains(document.activeElement) &&
      !document.querySelector('main').contains(document.activeElement) && !e.key.startsWith('Arrow')) {
    tracks.key(e);
  }
}

function listen() {
  listeners.push(update);
  listenForTips();
  tracks.onPick = pick;
  tracks.onPath = (what, at) => path.open(what, at);
  byId('event').onchange = (e) => change({ event: e.target.value });
  byId('base').onchange = (e) => change({ base: e.target.value });
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
  byId('ask').onclick = showHelp;
  document.onkeydown = onKey;
  const split = byId('split'), box = byId('tracks'); // the line between the tracks and the panel moves, by hand and by keys
  const set = (height) => { box.style.height = box.style.maxHeight = `${Math.max(70, Math.min(window.innerHeight - 180, height))}px`; };
  split.onpointerdown = (e) => split.setPointerCapture(e.pointerId);
  split.onpointermove = (e) => split.hasPointerCapture(e.pointerId) && set(e.clientY - box.getBoundingClientRect().top);
  split.onkeydown = (e) => ['ArrowUp', 'ArrowDown'].includes(e.key) && set(box.clientHeight + (e.key === 'ArrowUp' ? -24 : 24));
  split.ondblclick = () => { box.style.height = box.style.maxHeight = ''; };
  NARROW.onchange = showTabs;
  window.onhashchange = () => change(readState(location.hash.slice(1)));
  matchMedia('(prefers-color-scheme: dark)').onchange = () => { tracks.draw(); TABS.chart.stale = true; drawTab(); };
}

function showAll() {
  selection = new Selection(profile);
  pdSums.show(profile, selection, others);
  tracks.show(profile, selection, pdSums);
  chooseBase();
  pdTable.show(pdSums);
  functions.show(profile, selection, others);
  code.show(profile, selection);
  chart.show(profile, selection);
  latencies.show(profile, path);
  path.show(profile);
  around.update(profile, selection);
  Object.values(TABS).forEach((tab) => { tab.stale = true; });
  showHead();
  showTabs();
  drawTab();
  showSelection();
  showControls();
}

// A running target's profile is asked for again and again. What is selected stays selected.
async function follow() {
  try {
    if (!document.hidden && !byId('pause').checked) {
      // Times are since the first sample that is kept: what is selected stays where it is in time, as far as it is kept, and a part that is
      // visible up to the end moves with the end.
      const next = await source.profile(), shift = Number(next.start - profile.start), [, end] = profile.all(), moved = {};
      const follows = state.viewTo !== null && state.viewTo >= end - (state.viewTo - state.viewFrom) / 50, by = follows ? end - next.span : shift;
      for (const [from, to, ns] of [['from', 'to', shift], ['viewFrom', 'viewTo', by]]) {
        if (state[from] !== null) {
          [moved[from], moved[to]] = state[to] - ns > 0 ? [Math.max(0, state[from] - ns), state[to] - ns] : [null, null];
        }
      }
      moved.at = state.at === null ? null : state.at - shift;
      profile = next;
      Object.assign(state, moved);
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
  profile = await source.profile();
  for (let base; (base = await source.profile(others.length + 1)) !== null;) {
    others.push(new Comparison(base));
  }
  listen();
  showAll();
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
