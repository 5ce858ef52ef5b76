// SPDX-License-Identifier: BSD-2-Clause
// mkperf view's page: a profile as it arrives. Owns: the reader of page.h's columns and what is
// derived from them once: times, the stack tree's order, functions of start code. Every number of
// the page comes from these arrays; they do not change after reading.
'use strict';

const ENTRY_POINTS = ['init', 'notified', 'protected', 'fault']; // of a PD
const COLUMN_TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };

// A container: its text as info, and its columns by their names.
class Columns {
  constructor(buffer) {
    const head = new DataView(buffer), magic = new TextDecoder().decode(new Uint8Array(buffer, 0, 4));
    if (magic !== 'mkpv' || head.getUint32(4, true) !== 1) {
      throw new Error('this is no profile that this page can read');
    }
    const length = head.getUint32(8, true), first = Math.ceil((12 + length) / 8) * 8;
    this.info = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 12, length)));
    for (const [name, [type, offset, n]] of Object.entries(this.info.columns)) {
      this[name] = new COLUMN_TYPES[type](buffer, first + offset, n);
    }
  }
}

class Profile extends Columns {
  constructor(buffer) {
    super(buffer);
    this.start = BigInt(this.info.from);
    this.span = Math.max(1, Number(BigInt(this.info.to) - this.start));
    this.pds = this.info.pds;
    this.samples = this.s_chain.length;
    this.time = sums(this.s_delta); // ns since `from`
    this.markTime = sums(this.m_delta);
    this.functions = this.f_name.length;
    this.names = Array.from(this.f_name, (text) => this.info.texts[text]);
    this.longestSpan = this.s_span.reduce((most, span) => Math.max(most, span), 0);
    this.schedule = this.info.sched ? new Schedule(this) : null;
    // What is interrupted: a chain's innermost function that has code of its own (it counts for those inlined in it), and whether it is in
    // the kernel; and the PD to which it is charged: the outermost.
    const n = this.c_node.length, outermost = new Uint32Array(this.n_label.length);
    for (let i = 1; i < outermost.length; i++) {
      const parent = this.n_parent[i];
      outermost[i] = parent === 0 ? this.n_label[i] - this.functions : outermost[parent];
    }
    this.c_charged = Uint32Array.from(this.c_node, (node) => outermost[node]);
    this.callsOthers = this.c_charged.some((pd, i) => pd !== this.c_pd[i]);
    this.leaf = new Uint32Array(n);
    this.kernel = new Uint8Array(n);
    for (let i = 0, node; i < n; i++) {
      for (node = this.c_node[i]; this.f_inlined[this.n_label[node]] === 1; node = this.n_parent[node]) { // no PD is inlined
      }
      this.leaf[i] = this.n_label[node];
      this.kernel[i] = this.f_kernel[this.leaf[i]];
    }
    this.totals = this.sumChains(0, this.samples, null); // of the whole recording: of each chain, and of each event
    this.chainWeight = this.totals.weight;
    this.eventWeight = new Float64Array(this.info.events.length);
    this.chainWeight.forEach((weight, chain) => { this.eventWeight[this.c_event[chain]] += weight; });
    this.findStartCode();
  }

  // Of the samples from begin to end, on a core, null: on any: per chain weight and samples, per event the sum of squared weights.
  sumChains(begin, end, core) {
    const weight = new Float64Array(this.c_node.length), samples = new Uint32Array(this.c_node.length);
    const squares = new Float64Array(this.info.events.length);
    for (let i = begin; i < end; i++) {
      if (core === null || this.s_core[i] === core) {
        const chain = this.s_chain[i];
        weight[chain] += this.s_period[i];
        samples[chain]++;
        squares[this.c_event[chain]] += this.s_period[i] ** 2;
      }
    }
    return { weight, samples, squares };
  }

  // Start code: functions that begin the stacks of several PDs, such as _start and the loop that calls
  // notified(). They call an entry point, or take next to no time themselves. They end with the entry points,
  // also if two PDs run one program. The loop waits for events: it may have any share of the time.
  findStartCode() {
    const nodes = this.n_label.length, self = new Map(), total = new Map(), callers = new Set();
    const weight = new Float64Array(nodes), start = new Uint8Array(nodes);
    for (let i = 0; i < this.c_node.length; i++) {
      const name = this.names[this.leaf[i]];
      weight[this.c_node[i]] += this.chainWeight[i];
      self.set(name, (self.get(name) ?? 0) + this.chainWeight[i]);
    }
    for (let i = nodes - 1; i > 0; i--) {
      weight[this.n_parent[i]] += weight[i];
      const label = this.n_label[i], caller = this.n_label[this.n_parent[i]];
      if (label < this.functions && caller < this.functions && ENTRY_POINTS.includes(this.names[label])) {
        callers.add(this.names[caller]);
      }
    }
    this.isStart = new Uint8Array(this.functions);
    for (let found = true; found;) {
      const pds = new Map();
      found = false;
      for (let i = 1; i < nodes; i++) {
        const label = this.n_label[i], parent = this.n_parent[i];
        start[i] = label >= this.functions ? Number(parent === 0)
          : start[parent] && this.isStart[label] && !ENTRY_POINTS.includes(this.names[label]);
        if (label < this.functions && start[parent] && !start[i]) {
          const name = this.names[label];
          pds.set(name, (pds.get(name) ?? new Set()).add(this.f_pd[label]));
          total.set(name, (total.get(name) ?? 0) + weight[i]);
        }
      }
      for (let f = 0; f < this.functions; f++) {
        const name = this.names[f], all = total.get(name);
        if (!this.isStart[f] && !this.f_kernel[f] && (pds.get(name)?.size ?? 0) > 1 &&
            (callers.has(name) || (self.get(name) ?? 0) < 0.05 * all)) {
          this.isStart[f] = 1;
          found = true;
        }
      }
      total.clear();
    }
  }

  // The first sample at or after a time.
  sampleAt(ns) {
    return lowerBound(this.time, ns);
  }

  // The time that is shown until another is chosen. The page of a running target has the newest scheduling events only:
  // then it is the time of these.
  all() {
    const { info, schedule, span } = this;
    return [info.live && info.sched?.cut && schedule.from < span ? schedule.from : 0, span];
  }

  // A time in seconds of the target's clock, as mkperf latency and script have it.
  clock(at) {
    const ns = String(this.start + BigInt(Math.round(at))).padStart(10, '0');
    return `${ns.slice(0, -9)}.${ns.slice(-9)}`;
  }

  pdName(pd) {
    return this.pds[pd]?.name ?? '?';
  }

  // The name of a node's label, its PD, and whether it is the kernel's.
  label(label) {
    const isPd = label >= this.functions, pd = isPd ? label - this.functions : this.f_pd[label];
    return {
      pd, isPd, name: isPd ? this.pdName(pd) : this.names[label],
      kernel: !isPd && this.f_kernel[label] === 1,
    };
  }

  colour(pd, kernel) {
    const of = this.pds[pd];
    return of === undefined ? '#a0a0a0' : kernel ? of.kernel : of.colour;
  }

  // A function by the name that an address has for it: PD/NAME, or PD/NAME/k in the kernel.
  functionKey(f) {
    return `${this.pdName(this.f_pd[f])}/${this.names[f]}${this.f_kernel[f] ? '/k' : ''}`;
  }

  functionOf(key) {
    this.byKey ??= new Map(Array.from(this.names, (_, f) => [this.functionKey(f), f]));
    return this.byKey.get(key);
  }
}

// The sum of all values before each one, and last of all.
function sumsBefore(values) {
  const out = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) {
    out[i + 1] = out[i] + values[i];
  }
  return out;
}

// The sum up to each value.
function sums(values) {
  return sumsBefore(values).subarray(1);
}

// The first index from `low` to `high` whose value is not below. of: the value of an element.
function lowerBound(sorted, value, of = (element) => element, low = 0, high = sorted.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(sorted[middle]) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Where data comes from: the server that sent the page, or the page itself.
const source = {
  async inPage(id) {
    const text = document.getElementById(id)?.textContent;
    if (text === undefined) {
      return null;
    }
    const bytes = await (await fetch(`data:application/octet-stream;base64,${text}`)).blob();
    return new Response(bytes.stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
  },

  // Returns profile 0, the recording, or one of those with which it is compared. Returns null if there is none.
  async profile(number = 0) {
    if (document.getElementById('profile-data')) {
      const buffer = await this.inPage(`${['profile', 'base'][number]}-data`);
      return buffer && new Profile(buffer);
    }
    const answer = await this.ask(`data/profile?number=${number}`);
    return answer.status === 204 ? null : new Profile(await answer.arrayBuffer());
  },

  // States of PDs in from..to (ns since the beginning): single intervals if there are at most so many, else sums.
  async stretch(from, to, most) {
    const answer = await this.ask(`data/stretch?from=${from}&to=${to}&most=${most}`);
    return new Columns(await answer.arrayBuffer());
  },

  async ask(path) {
    const answer = await fetch(path);
    if (!answer.ok) {
      throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    }
    return answer;
  },

  async code(f) {
    const bytes = this.codes ?? await this.inPage('code-data');
    if (bytes) {
      this.codes ??= new Map(JSON.parse(new TextDecoder().decode(bytes)).map((code) => [code.function, code]));
      return this.codes.get(f) ?? { insn: [], files: [], elf: '',
        problem: 'this file has the code of the heaviest functions only' };
    }
    return (await this.ask(`data/code?function=${f}`)).json();
  },
};
