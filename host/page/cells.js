// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: cells of tables, and what is said where the pointer or the focus is. Owns: shares with the interval that their
// samples allow, changes against other recordings, and the one tooltip of the page.
'use strict';

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
  const td = make('td', { textContent: percent(part, whole) });
  td.dataset.tip = shareWords(part, whole, samples);
  return td;
}

// A cell of {text, share (0 to 1, a bar behind it), title}; undefined: an empty one.
function figureCell(figure, colour) {
  const td = make('td', { className: figure?.share === undefined ? '' : 'bar' }, make('span', { textContent: figure?.text ?? '' }));
  td.style.setProperty('--part', Math.min(1, figure?.share ?? 0).toFixed(4));
  td.style.setProperty('--of', colour || 'var(--weak)');
  td.dataset.tip = figure?.title ?? '';
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
