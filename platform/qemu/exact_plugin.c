/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plugin of QEMU that counts how often each instruction of a machine is executed.
 *
 * Owns: the counters, and the file that it writes when the machine ends. `mkperf exact` starts QEMU with it and reads the file
 * (host/import/exact_counts.c). The machine does not notice the plugin: no instruction of it is executed in addition. Nothing is lost,
 * because QEMU adds to an instruction's counter where it executes the instruction.
 *
 *     translate ──► each instruction: find_counter ──► QEMU adds 1 to its count when it executes it
 *              └──► the first instruction of FROM or UNTIL: on_begin, on_end
 *
 * Options: out=FILE (required), from=ADDR:CODE, until=ADDR:CODE:TIMES. ADDR is a virtual address in hexadecimal. CODE is what
 * the function begins with, in hexadecimal, because several programs have code at one address.
 *
 * File, in lines of text:
 *
 *     mkperf-exact 1
 *     VADDR COPY CODE COUNT      an instruction: address, copy, its bytes, executions. Numbers except COUNT are hexadecimal
 *     end until|exit             the last line: the function was reached, or the machine ended
 *
 * COPY is the distance from the virtual address to QEMU's memory of the instruction. It distinguishes programs at one virtual
 * address. It means nothing in another run.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- QEMU's interface for plugins, version 1, as far as it is used. Debian has no header for it. ---- */

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { QEMU_PLUGIN_CB_NO_REGS = 0, QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                                  void (*cb)(qemu_plugin_id_t id,
                                                             struct qemu_plugin_tb *tb));
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op,
                                                       void *ptr, uint64_t imm);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                                   void (*cb)(unsigned cpu, void *data), int flags,
                                                   void *data);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
                                           void (*cb)(qemu_plugin_id_t id, void *data), void *data);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
                                                        size_t number);
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
extern void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);

extern int qemu_plugin_version;
int qemu_plugin_version = 1;
extern int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

/* ---- counters ---- */

enum { CHUNK = 4096, BUCKETS = 1 << 16, CODE_MAX = 64 };

struct counter {
    uint64_t vaddr, copy, count;
    uint32_t code, bytes;
    struct counter *next; /* the next counter in its bucket */
};

struct chunk {
    struct chunk *before;
    unsigned used;
    struct counter counter[CHUNK]; /* QEMU has their addresses: they stay where they are */
};

/* A function that begins or ends the count. */
struct place {
    bool given;
    uint64_t vaddr, times;
    uint8_t code[CODE_MAX];
    size_t bytes;
};

static struct counter *bucket[BUCKETS];
static struct chunk *last;
static struct place from, until;
static const char *path;

/* Returns the counter of an instruction. The same one after a new translation, so that no count is in two places. */
static struct counter *find_counter(const struct qemu_plugin_insn *insn)
{
    struct counter key = {.vaddr = qemu_plugin_insn_vaddr(insn)};

    key.copy = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(insn) - key.vaddr;
    key.bytes = (uint32_t)qemu_plugin_insn_size(insn);
    memcpy(&key.code, qemu_plugin_insn_data(insn), key.bytes < 4 ? key.bytes : 4);
    uint64_t hash = (key.vaddr ^ key.copy >> 12) * UINT64_C(0x9e3779b97f4a7c15);
    struct counter **head = &bucket[hash >> 48];

    for (struct counter *c = *head; c != NULL; c = c->next) {
        if (c->vaddr == key.vaddr && c->copy == key.copy && c->code == key.code) {
            return c;
        }
    }
    if (last == NULL || last->used == CHUNK) {
        struct chunk *added = calloc(1, sizeof *added);

        if (added == NULL) {
            fputs("mkperf exact: no memory for counters\n", stderr);
            exit(1);
        }
        added->before = last;
        last = added;
    }
    struct counter *c = &last->counter[last->used++];
    *c = key;
    c->next = *head;
    *head = c;
    return c;
}

/* Writes the file. Counts of 0 are of instructions that were only translated. */
static void write_counts(const char *end)
{
    FILE *f = fopen(path, "we");

    if (f != NULL) {
        fputs("mkperf-exact 1\n", f);
        for (const struct chunk *k = last; k != NULL; k = k->before) {
            for (unsigned i = 0; i < k->used; i++) {
                const struct counter *c = &k->counter[i];
                if (c->count != 0) {
                    fprintf(f, "%" PRIx64 " %" PRIx64 " %0*" PRIx32 " %" PRIu64 "\n", c->vaddr,
                            c->copy, (int)c->bytes * 2, c->code, c->count);
                }
            }
        }
        fprintf(f, "end %s\n", end);
    }
    if (f == NULL || fclose(f) != 0) {
        perror(path);
        _exit(1);
    }
}

static void on_begin(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (from.given) {
        from.given = false;
        for (struct chunk *k = last; k != NULL; k = k->before) {
            for (unsigned i = 0; i < k->used; i++) {
                k->counter[i].count = 0;
            }
        }
    }
}

/* Ends the machine at once, so that nothing that happens later is counted. */
static void on_end(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (!from.given && --until.times == 0) {
        write_counts("until");
        _exit(0);
    }
}

static void on_exit_of_machine(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    write_counts("exit");
}

/* Returns whether the block has the place's function from instruction i on, as far as the block
 * reaches. */
static bool is_at(const struct place *p, const struct qemu_plugin_tb *tb, size_t i, size_t n)
{
    size_t done = 0;

    if (p->times == 0 || qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, i)) != p->vaddr) {
        return false;
    }
    for (; i < n && done < p->bytes; i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        size_t bytes = qemu_plugin_insn_size(insn);

        bytes = bytes < p->bytes - done ? bytes : p->bytes - done;
        if (memcmp(qemu_plugin_insn_data(insn), p->code + done, bytes) != 0) {
            return false;
        }
        done += bytes;
    }
    return true;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb);

    (void)id;
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

        if (is_at(&from, tb, i, n)) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, QEMU_PLUGIN_CB_NO_REGS, NULL);
        }
        if (is_at(&until, tb, i, n)) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, QEMU_PLUGIN_CB_NO_REGS, NULL);
        }
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                                   &find_counter(insn)->count, 1);
    }
}

/* Reads ADDR:CODE[:TIMES]. */
static bool read_place(const char *text, struct place *p)
{
    char *at;

    p->vaddr = strtoull(text, &at, 16);
    at += *at == ':';
    while (p->bytes < CODE_MAX && sscanf(at, "%2" SCNx8, &p->code[p->bytes]) == 1) {
        at += 2;
        p->bytes++;
    }
    p->times = *at == ':' ? strtoull(at + 1, &at, 10) : 1;
    p->given = *at == '\0' && p->bytes > 0 && p->times > 0;
    return p->given;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0) {
            path = strdup(argv[i] + 4);
        } else if (!(strncmp(argv[i], "from=", 5) == 0 && read_place(argv[i] + 5, &from)) &&
                   !(strncmp(argv[i], "until=", 6) == 0 && read_place(argv[i] + 6, &until))) {
            fprintf(stderr, "mkperf exact: the plugin does not know '%s'\n", argv[i]);
            return -1;
        }
    }
    if (path == NULL) {
        fputs("mkperf exact: the plugin needs out=FILE\n", stderr);
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, on_exit_of_machine, NULL);
    return 0;
}
