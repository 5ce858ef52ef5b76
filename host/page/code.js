// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: one function. Owns: its callers and callees in the details, and its source and instructions with the shares of the selected samples that hit them.
'use strict';

// Beside the panel: the callers and callees of the selected function.
class FunctionPanel {
  constructor(box) {
    this.box = box;
  }

  update(profile, selection) {
    const p = this.profile = profile, s = selection, f = p.functionOf(state.fn);
    this.box.hidden = f === undefined;
    if (f === undefined) {
      return;
    }
    const whole = s.whole(), samples = s.equalSamples(), mask = s.mask('fn'), { self, total } = s.byFunction(mask), { callers, callees } = s.around(f, mask);
    const share = (part) => make('b', { textContent: percent(part, whole), 'data-tip': shareWords(part, whole, samples) });
    this.box.replaceChildren(
      make('h3', {}, p.names[f], make('small', { textContent: ` ${p.pdName(p.f_pd[f])}${p.f_kernel[f] ? ', kernel' : ''}` })),
      make('p', {}, 'Itself ', share(self[f]), ', with what it calls ', share(total[f])), button('Source and instructions', () => change({ tab: 'source' })),
      make('div', { className: 'around' }, this.list('Callers', callers, total[f]), this.list('Callees', callees, total[f])));
  }

  // Functions beside this one in its stacks, with their part of its weight.
  list(title, labels, total) {
    const p = this.profile, box = make('div', {}, make('h4', { textContent: title }));
    for (const [label, weight] of [...labels].sort((a, b) => b[1] - a[1]).slice(0, 12)) {
      const of = p.label(label), open = button(nodeName(of), () => change({ fn: p.functionKey(label) }), { disabled: of.isPd });
      box.append(make('div', {}, `${percent(weight, total)} `, open));
    }
    return box.children.length > 1 ? box : make('div', {}, ...box.childNodes, make('p', { textContent: 'none' }));
  }
}

class CodePanel {
  constructor(box) {
    this.box = box;
    this.asked = 0;
  }

  show(profile, selection) {
    Object.assign(this, { profile, selection });
  }

  async update() {
    const f = this.profile.functionOf(state.fn), number = ++this.asked;
    if (f === undefined) {
      this.box.replaceChildren(make('p', { className: 'empty', textContent: 'Select a function to see its source and its instructions.' }));
      return;
    }
    if (this.of !== f || this.from !== this.profile) {
      const code = await source.code(f);
      if (number !== this.asked) {
        return; // another function was chosen since
      }
      Object.assign(this, { code, of: f, from: this.profile });
    }
    this.fill(f);
  }

  fill(f) {
    const p = this.profile, s = this.selection, mask = s.mask('fn'), { self } = s.byFunction(mask), parts = this.codeParts(s.byOffset(f, mask), self[f]);
    this.box.replaceChildren(make('h3', {}, p.names[f], make('small', { textContent: `  PD ${p.pdName(p.f_pd[f])}, shares of the function itself` })), ...parts);
    for (const list of this.box.querySelectorAll('.listing')) {
      const first = list.querySelector('.first')?.offsetTop ?? 0, hottest = list.querySelector('.hottest')?.offsetTop ?? first;
      list.scrollTop = hottest >= first && hottest < first + list.clientHeight - 20 ? first : hottest - list.clientHeight / 2;
    }
  }

  codeParts(byOffset, self) {
    const { code } = this;
    const problem = code.problem ? [make('p', { textContent: code.problem })] : [];
    if (code.insn.length === 0) {
      return problem;
    }
    const weight = code.insn.map(([offset, size]) => {
      let sum = 0;
      for (let at = offset; at < offset + size; at++) {
        sum += byOffset.get(at) ?? 0;
      }
      return sum;
    });
    const start = BigInt(`0x${code.start}`), most = Math.max(...weight);
    const instructions = this.listing('instructions', code.insn.map(([offset, , text, file, line], i) => ({
      share: weight[i], text, hottest: weight[i] > 0 && weight[i] === most, place: (start + BigInt(offset)).toString(16),
      title: file >= 0 ? `${code.files[file].name}:${line}` : '',
    })), self);
    return [...problem, make('div', { className: 'code' }, make('div', {}, ...this.sourceParts(weight, self)),
      make('div', {}, make('h4', { textContent: `Instructions (${code.elf})` }), instructions))];
  }

  // The file with the most weight first; others are of inlined functions.
  sourceParts(weight, self) {
    const { code } = this, lines = code.files.map(() => new Map());
    code.insn.forEach(([, , , file, line], i) => {
      if (file >= 0) {
        lines[file].set(line, (lines[file].get(line) ?? 0) + weight[i]);
      }
    });
    const own = (file) => (code.insn[0]?.[3] === file ? code.insn[0][4] : 0); // lines before it are inlined functions
    const sum = (file) => [...lines[file].values()].reduce((a, b) => a + b, 0);
    const most = Math.max(0, ...lines.flatMap((of, i) => [...of].filter(([line]) => line >= own(i)).map(([, weight]) => weight)));
    return code.files.map((file, i) => ({ file, i, sum: sum(i) })).sort((a, b) => b.sum - a.sum)
      .flatMap(({ file, i }) => [make('h4', { textContent: `Source: ${file.name}`, title: file.path }),
        file.text.length === 0 ? make('p', { textContent: `${file.path} is not on the machine that was asked` })
          : this.listing('source', file.text.map((text, n) => ({
            share: lines[i].get(file.from + n) ?? 0, text, place: file.from + n, title: '',
            first: code.insn[0]?.[3] === i && code.insn[0][4] === file.from + n,
            hottest: most > 0 && file.from + n >= own(i) && lines[i].get(file.from + n) === most,
          })), self)]);
  }

  listing(kind, rows, self) {
    const body = make('tbody', {});
    for (const { share, text, place, title, hottest, first } of rows) {
      const part = self ? share / self : 0;
      const row = make('tr', { className: `${hottest ? 'hottest' : ''}${first ? ' first' : ''}`, title },
        make('td', { textContent: share > 0 ? percent(share, self) : '' }),
        make('td', { textContent: place }), make('td', {}, make('code', { textContent: text })));
      row.style.setProperty('--heat', Math.sqrt(part).toFixed(3));
      body.append(row);
    }
    return make('div', { className: 'listing', tabIndex: 0 }, make('table', { className: kind }, body));
  }
}
