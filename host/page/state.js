// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: what is selected. Owns: the state, which the address (#...) holds in names and
// numbers that mean the same in another recording of the system, and the small helpers of all parts.
//
// event: name; from, to: selected time in ns since the beginning, null; viewFrom, viewTo: visible
// time; core: number, null; pd: name, ''; fn: a function's key, ''; node: names from the PD
// inwards, []; words: the search; idle, starts: whether the flame graph shows them; tab: of the panel, '' the first;
// base: the file that frames are compared with, ''; sort: column of the functions; path: what the critical path is of
// (latency.js), '', and at: when it was under way, null.
'use strict';

const byId = (id) => document.getElementById(id);

function percent(part, whole) {
  return `${(whole ? 100 * part / whole : 0).toFixed(2)} %`;
}

function count(n) {
  return Math.round(n).toLocaleString('en');
}

// A count of things: 1 function, 2 functions.
function number(n, thing) {
  return `${count(n)} ${thing}${n === 1 ? '' : 's'}`;
}

// A time or length in ns, in a unit that leaves few digits: 1.234567 s, 12.3 ms.
function duration(ns) {
  const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
  const [size, unit] = units.find(([size]) => Math.abs(ns) >= size) ?? units[3];
  return `${Number((ns / size).toPrecision(4))} ${unit}`;
}

// A point in time: as many digits as a visible span of `span` ns needs.
function moment(ns, span) {
  const digits = Math.min(9, Math.max(3, Math.ceil(-Math.log10(span / 1e9)) + 3));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

// An element. A name that is none of its properties, such as aria-label, is an attribute.
function make(tag, properties, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    name in e ? e[name] = value : e.setAttribute(name, value);
  }
  e.append(...children);
  return e;
}

function button(textContent, onclick, more = {}) {
  return make('button', { type: 'button', textContent, onclick, ...more });
}

const EMPTY = {
  event: '', from: null, to: null, viewFrom: null, viewTo: null, core: null, pd: '', fn: '',
  node: [], words: '', idle: false, starts: false, tab: '', base: '', sort: 'self', path: '', at: null,
};

const state = { ...EMPTY };
const listeners = [];

// Changes the state; parts that listen get the names of what changed.
function change(parts) {
  const changed = Object.keys(parts).filter((name) =>
    JSON.stringify(state[name]) !== JSON.stringify(parts[name]));
  Object.assign(state, parts);
  if (changed.length > 0) {
    saveState();
    listeners.forEach((listen) => listen(new Set(changed)));
  }
}

const RANGES = { t: ['from', 'to'], v: ['viewFrom', 'viewTo'] };
const TEXT = { write: encodeURIComponent, read: decodeURIComponent };
const NUMBER = { write: String, read: (value) => (/^\d+$/.test(value) ? Number(value) : null) };
const FLAG = { write: () => 1, read: (value) => value === '1' };
const NAMES = { write: (names) => names.map(encodeURIComponent).join(';'), read: (value) => value.split(';').map(decodeURIComponent) };
// How the address holds the other members.
const FORMS = {
  event: TEXT, pd: TEXT, fn: TEXT, words: TEXT, path: TEXT, tab: TEXT, base: TEXT, core: NUMBER, at: NUMBER,
  node: NAMES, idle: FLAG, starts: FLAG, sort: TEXT,
};

function writeState() {
  const ranges = Object.entries(RANGES).filter(([, [from]]) => state[from] !== null)
    .map(([name, [from, to]]) => `${name}=${Math.round(state[from])}-${Math.round(state[to])}`);
  const others = Object.entries(FORMS).filter(([name]) => String(state[name]) !== String(EMPTY[name]))
    .map(([name, form]) => `${name}=${form.write(state[name])}`);
  return [...ranges, ...others].join('&');
}

function readState(text) {
  const out = { ...EMPTY };
  for (const part of text.split('&')) {
    const at = part.indexOf('='), name = part.slice(0, at), value = part.slice(at + 1);
    if (name in RANGES && /^\d+-\d+$/.test(value)) {
      RANGES[name].forEach((key, i) => { out[key] = Number(value.split('-')[i]); });
    } else if (Object.hasOwn(FORMS, name)) {
      out[name] = FORMS[name].read(value);
    }
  }
  return out;
}

let saved = null;

// Panning changes the state often; browsers limit how often an address may change.
function saveState() {
  saved ??= setTimeout(() => {
    saved = null;
    history.replaceState(null, '', `#${writeState()}`);
  }, 150);
}
