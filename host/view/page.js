// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page. Owns: what is selected, and the table. Asks the server for what json.h
// describes; the pictures are flame.js's and timeline.js's.
import { Flame } from './flame.js';
import { Timeline } from './timeline.js';

const byId = (id) => document.getElementById(id);
const state = { event: 0, pd: '', core: '', from: null, to: null, sort: 3, words: '' };
let info, profile, asked = 0;

export function colour(pd, kernel) {
  if (info.pds[pd]?.idle) {
    return kernel ? '#b0b7bd' : '#c6ccd1';
  }
  const hue = (pd * 137.5 + 20) % 360;
  return `hsl(${hue}, ${kernel ? 45 : 70}%, ${kernel ? 62 : 70}%)`;
}

export function pdName(pd) {
  return pd === undefined ? 'others' : info.pds[pd]?.name ?? '?';
}

export const percent = (part, whole) => `${(whole ? 100 * part / whole : 0).toFixed(2)}%`;

async function ask(what, parameters) {
  const answer = await fetch(`data/${what}?${new URLSearchParams(parameters)}`);
  if (!answer.ok) {
    throw new Error(`${what}: ${answer.status} ${await answer.text()}`);
  }
  return answer.json();
}

function complain(error) {
  byId('problem').textContent = error.message;
  byId('problem').hidden = false;
}

function parameters() {
  const p = { event: state.event };
  for (const name of ['pd', 'core', 'from', 'to']) {
    if (state[name] !== '' && state[name] !== null) {
      p[name] = state[name];
    }
  }
  return p;
}

function isFound(text) {
  return state.words !== '' && text.toLowerCase().includes(state.words);
}

function showFound() {
  let n = 0;
  for (const row of byId('rows').children) {
    const found = isFound(row.dataset.text);
    row.classList.toggle('found', found);
    n += found;
  }
  flame.mark(isFound);
  byId('found').textContent = state.words ? `${n} functions` : '';
}

function cell(row, text) {
  row.insertCell().textContent = text;
}

function showRows() {
  const key = state.sort, body = byId('rows');
  const rows = [...profile.rows].sort((a, b) =>
    typeof a[key] === 'string' ? a[key].localeCompare(b[key])
      : key === 0 ? pdName(a[0]).localeCompare(pdName(b[0])) : b[key] - a[key]);
  body.replaceChildren();
  for (const [pd, name, kernel, self, total, samples] of rows) {
    const row = body.insertRow();
    row.dataset.text = `${pdName(pd)} ${name}`;
    cell(row, percent(self, profile.whole));
    cell(row, percent(total, profile.whole));
    cell(row, samples);
    cell(row, pdName(pd));
    cell(row, kernel ? `[k] ${name}` : name);
  }
  byId('left').textContent = profile.left ? `and ${profile.left} lighter ones` : '';
}

async function load() {
  const number = ++asked;
  const answer = await ask('profile', parameters());
  if (number !== asked) {
    return; // something else has been selected since
  }
  profile = answer;
  flame.show(profile);
  showRows();
  showFound();
  document.body.dataset.ready = number;
}

const reload = () => load().catch(complain);

function showRange() {
  const start = BigInt(info.from);
  const seconds = (ns) => (Number(BigInt(ns) - start) / 1e9).toFixed(3);
  byId('range').textContent = state.from === null ? 'drag to select'
    : `${seconds(state.from)} s to ${seconds(state.to)} s after the first sample`;
}

function selectTime(from, to) {
  state.from = from;
  state.to = to;
  showRange();
  reload();
}

function selectPd(pd) {
  state.pd = byId('pd').value = pd;
  reload();
}

function option(select, value, text) {
  select.add(new Option(text, value));
}

function showInfo() {
  document.title = `${info.file} - mkperf`;
  byId('file').textContent = info.file;
  byId('head').textContent = info.head;
  byId('loss').textContent = `${info.samples} samples, ${info.lost} lost` +
    (info.complete ? '' : ', totals incomplete');
  byId('loss').classList.toggle('bad', info.lost > 0 || !info.complete);
  info.events.forEach((name, i) => option(byId('event'), i, name));
  info.pds.forEach((pd, i) => pd.samples && option(byId('pd'), i, pd.name));
  for (let i = 0; i < info.cores; i++) {
    option(byId('core'), i, i);
  }
  if (info.speedscope) {
    const url = new URL('speedscope/profile.json', location);
    byId('speedscope').href = `speedscope/index.html#profileURL=${encodeURIComponent(url)}`;
    byId('speedscope').hidden = false;
  }
}

async function loadTimeline() {
  timeline.show(await ask('timeline', { event: state.event }), info);
}

const flame = new Flame(byId('flame'), byId('share'));
const timeline = new Timeline(byId('timeline'), byId('legend'), selectTime, selectPd);

function listen() {
  byId('event').onchange = (e) => {
    state.event = e.target.value;
    loadTimeline().then(load).catch(complain);
  };
  byId('pd').onchange = (e) => selectPd(e.target.value);
  byId('core').onchange = (e) => { state.core = e.target.value; reload(); };
  byId('search').oninput = (e) => { state.words = e.target.value.toLowerCase(); showFound(); };
  byId('reset').onclick = () => {
    state.core = byId('core').value = '';
    timeline.clear();
    selectTime(null, null);
    selectPd('');
  };
  for (const title of document.querySelectorAll('th')) {
    title.onclick = () => { state.sort = Number(title.dataset.sort); showRows(); showFound(); };
  }
  window.onresize = () => { timeline.draw(); flame.place(); };
}

async function start() {
  info = await ask('info', {});
  showInfo();
  listen();
  await loadTimeline();
  await load();
}

start().catch(complain);
