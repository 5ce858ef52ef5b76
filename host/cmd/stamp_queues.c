/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: see cmd.h. The profiler PD is the one whose ELF gets the address of mkperf_rings.
 *
 * sDDF's sections hold the structures of include/sddf/{network,serial,blk}/config.h, for 64-bit machines. A connection has the
 * addresses of its queues in the section's PD. The memory region behind such an address identifies the queue, so that both of
 * its PDs are found.
 */
#include "cmd.h"

enum { LINE_BYTES = 512, UNSET = -1 };

struct place {
    const char *path;
    unsigned line;
    struct mkperf_error *e;
};

/* Ends the function around it with an error at a place. */
#define REFUSE_IF(condition, at, format, ...)                                                      \
    MKPERF_FAIL_IF(condition, (at)->e, MKPERF_ERR_INPUT, "%s:%u: " format, (at)->path, (at)->line, \
                   __VA_ARGS__)

/* Returns the address at which the profiler PD maps the region, 0 if it does not. */
static uint64_t profiler_map(const struct mkperf_system *s, unsigned region)
{
    for (unsigned i = 0; i < s->npds; i++) {
        const struct mkperf_system_pd *pd = &s->pd[i];
        bool profiler = false;

        for (unsigned k = 0; k < pd->nsetvars; k++) {
            profiler |= strcmp(pd->setvar[k].symbol, "mkperf_rings") == 0;
        }
        for (unsigned k = 0; k < pd->nmaps && profiler; k++) {
            if (pd->map[k].region == region && pd->map[k].read && pd->map[k].cached) {
                return pd->map[k].vaddr;
            }
        }
    }
    return 0;
}

/* ---- sDDF's sections ---- */

/* A class: its version, where its queues have their indices, and where a connection has the rest. */
struct class
{
    enum mkperf_queue_kind kind;
    uint8_t version;
    unsigned head, tail, bits;
    unsigned forward,
        back; /* places of a connection's region_resource_t of either queue; equal if there is only one */
    unsigned slots, slots_bytes;
    unsigned bytes; /* size of a connection's entry */
};

static const struct class net = {MKPERF_QUEUE_NET, 5, 2, 0, 16, 16, 0, 32, 2, 40};
static const struct class serial = {MKPERF_QUEUE_SERIAL, 3, 4, 0, 32, 0, 0, 24, 8, 40};
static const struct class blk = {MKPERF_QUEUE_BLK, 2, 0, 4, 32, 16, 32, 48, 2, 56};

/* A connection in a section, or an array of them with their number. */
static const struct connection {
    const struct class *of;
    const char *section;
    bool produces; /* its PD produces the entries of the forward queue */
    uint32_t at, stride, number_at, number_bytes; /* number_bytes 0: one connection */
} connections[] = {
    {&net, ".net_driver_config", true, 8, 0, 0, 0},
    {&net, ".net_driver_config", false, 48, 0, 0, 0},
    {&net, ".net_virt_rx_config", false, 8, 0, 0, 0},
    {&net, ".net_virt_rx_config", true, 88, 432, 27736, 1},
    {&net, ".net_virt_tx_config", true, 8, 0, 0, 0},
    {&net, ".net_virt_tx_config", false, 48, 2096, 134192, 1},
    {&net, ".net_copy_config", false, 8, 0, 0, 0},
    {&net, ".net_copy_config", true, 1072, 0, 0, 0},
    {&net, ".net_client_config", false, 8, 0, 0, 0},
    {&net, ".net_client_config", true, 64, 0, 0, 0},
    {&serial, ".serial_driver_config", true, 8, 0, 0, 0},
    {&serial, ".serial_driver_config", false, 48, 0, 0, 0},
    {&serial, ".serial_virt_rx_config", false, 8, 0, 0, 0},
    {&serial, ".serial_virt_rx_config", true, 48, 40, 2608, 1},
    {&serial, ".serial_virt_tx_config", true, 8, 0, 0, 0},
    {&serial, ".serial_virt_tx_config", false, 48, 104, 6704, 1},
    {&serial, ".serial_client_config", false, 8, 0, 0, 0},
    {&serial, ".serial_client_config", true, 48, 0, 0, 0},
    {&blk, ".blk_driver_config", false, 8, 0, 0, 0},
    {&blk, ".blk_virt_config", true, 16, 0, 0, 0},
    {&blk, ".blk_virt_config", false, 96, 88, 8, 8},
    {&blk, ".blk_client_config", true, 8, 0, 0, 0},
};

enum { MOST_CLIENTS = 64, MAGIC_BYTES = 5 };

static uint64_t number_at(const uint8_t *p, unsigned bytes)
{
    return bytes == 8 ? mkperf_get64(p) : bytes == 2 ? mkperf_get16(p) : p[0];
}

/* Adds a queue, whose memory is at an offset of a region. Its head and tail in q are offsets there. */
static enum mkperf_status add_queue(struct mkperf_stamp_queues *s, const struct place *at,
                                    unsigned region, uint64_t offset,
                                    const struct mkperf_image_queue *q)
{
    uint64_t map = profiler_map(s->system, region);
    unsigned n = s->image->nqueues;

    REFUSE_IF(n == MKPERF_STAMP_QUEUES, at, "an image lists at most %d queues",
              MKPERF_STAMP_QUEUES);
    s->image->nqueues++;
    s->region[n] = region;
    s->offset[n] = offset;
    s->image->queue[n] = *q;
    s->image->queue[n].head = map != 0 ? map + q->head : 0;
    s->image->queue[n].tail = map != 0 ? map + q->tail : 0;
    return MKPERF_OK;
}

/* Adds one queue of a connection, at an address of the PD. A queue that the other PD has is completed. */
static enum mkperf_status add_sddf(struct mkperf_stamp_queues *s, const struct place *at,
                                   const struct class *c, unsigned pd, uint64_t address,
                                   uint64_t slots, bool produces, bool returns)
{
    const struct mkperf_system_pd *p = &s->system->pd[pd];

    if (address == 0 || slots == 0) {
        return MKPERF_OK; /* The connection is not used, such as the input of a driver that has none. */
    }
    for (unsigned i = 0; i < p->nmaps; i++) {
        unsigned region = p->map[i].region, k = 0;
        const struct mkperf_system_region *r = &s->system->region[region];
        uint64_t offset = address - p->map[i].vaddr;
        if (address < p->map[i].vaddr || offset >= r->size || offset % 8 != 0) {
            continue;
        }
        struct mkperf_image_queue found = {.kind = c->kind,
                                           .returns = returns,
                                           .producer = UNSET,
                                           .consumer = UNSET,
                                           .bits = c->bits,
                                           .slots = slots,
                                           .head = offset + c->head,
                                           .tail = offset + c->tail};
        /* The end of a long name is kept, because names differ more there. */
        size_t most = MKPERF_STAMP_QUEUE_NAME_BYTES, n = strlen(r->name);
        snprintf(found.name, sizeof found.name, "%s", r->name + (n > most ? n - most : 0));
        while (k < s->image->nqueues && (s->region[k] != region || s->offset[k] != offset)) {
            k++;
        }
        MKPERF_TRY(k < s->image->nqueues ? MKPERF_OK : add_queue(s, at, region, offset, &found));
        struct mkperf_image_queue *q = &s->image->queue[k];
        *(produces ? &q->producer : &q->consumer) = (int)pd;
        return MKPERF_OK;
    }
    return mkperf_error_set(at->e, MKPERF_ERR_INPUT,
                            "%s:%u: %s: the queue at 0x%" PRIx64
                            " of its sDDF configuration is in no map of it",
                            at->path, at->line, p->name, address);
}

/* Adds the queues of one row of `connections` for a PD with that section. */
static enum mkperf_status add_connections(struct mkperf_stamp_queues *s, const struct place *at,
                                          const struct connection *row, unsigned pd,
                                          const uint8_t *p, uint64_t n)
{
    const struct class *c = row->of;
    uint64_t end = row->number_bytes != 0 ? row->number_at + (uint64_t)row->number_bytes : 0;
    uint64_t count = row->number_bytes == 0 ? 1
                     : end <= n             ? number_at(p + row->number_at, row->number_bytes)
                                            : UINT64_MAX;

    REFUSE_IF(
        count > MOST_CLIENTS || (count != 0 && row->at + (count - 1) * row->stride + c->bytes > n),
        at,
        "%s: its section %s is shorter than its connections in sDDF 0.7.0: describe the queues "
        "of another release with --queues FILE and --no-sddf",
        s->system->pd[pd].name, row->section);
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *q = p + row->at + i * row->stride;
        uint64_t slots = number_at(q + c->slots, c->slots_bytes);
        uint64_t forward = mkperf_get64(q + c->forward), back = mkperf_get64(q + c->back);
        MKPERF_TRY(add_sddf(s, at, c, pd, forward, slots, row->produces, false));
        MKPERF_TRY(c->back != c->forward ? add_sddf(s, at, c, pd, back, slots, !row->produces, true)
                                         : MKPERF_OK);
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_stamp_queues_find(struct mkperf_stamp_queues *q, const char *path,
                                            struct mkperf_module *const *module,
                                            struct mkperf_error *e)
{
    const struct mkperf_system *system = q->system;

    for (unsigned i = 0; i < system->npds; i++) {
        const struct place at = {path, (unsigned)system->pd[i].line, e};
        for (size_t k = 0; module[i] != NULL && k < sizeof connections / sizeof *connections; k++) {
            const struct connection *row = &connections[k];
            uint64_t n;
            const uint8_t *p = mkperf_module_section(module[i], row->section, &n);
            if (p == NULL || n < MAGIC_BYTES || memcmp(p, "\0\0\0\0\0", MAGIC_BYTES) == 0) {
                continue;
            }
            REFUSE_IF(memcmp(p, "sDDF", 4) != 0 || p[4] != row->of->version, &at,
                      "%s: its section %s has version %u of sDDF's configuration, and mkperf knows "
                      "version %u: describe its queues with --queues FILE and --no-sddf",
                      system->pd[i].name, row->section, p[4], row->of->version);
            MKPERF_TRY(add_connections(q, &at, row, i, p, n));
        }
    }
    return MKPERF_OK;
}

/* ---- the description file ---- */

/* A line's values before they are checked together. NONE: it is not given. */
enum key { HEAD, TAIL, BITS, SLOTS, REGION, PRODUCER, CONSUMER, RETURNS, KEYS };
#define NONE UINT64_MAX

static enum mkperf_status take_word(const struct place *at, const struct mkperf_system *s,
                                    char *word, uint64_t v[KEYS])
{
    static const char *const names[RETURNS] = {"head",   "tail",     "bits",    "slots",
                                               "region", "producer", "consumer"};
    char *value = strchr(word, '='), *end;

    REFUSE_IF(value == NULL && strcmp(word, "returns") != 0, at, "%s: want KEY=VALUE, or returns",
              word);
    if (value == NULL) {
        v[RETURNS] = 1;
        return MKPERF_OK;
    }
    *value++ = '\0';
    size_t key = mkperf_named(names, RETURNS, sizeof *names, word);
    REFUSE_IF(key == RETURNS, at, "%s=: want region, head, tail, bits, slots, producer or consumer",
              word);
    if (key >= REGION) {
        int named = key == REGION ? mkperf_system_region_named(s, value)
                                  : mkperf_system_pd_named(s, value);
        REFUSE_IF(named < 0, at, "no %s is named %s",
                  key == REGION ? "memory region" : "protection domain", value);
        v[key] = (uint64_t)named;
        return MKPERF_OK;
    }
    errno = 0;
    v[key] = strtoull(value, &end, 0);
    REFUSE_IF(value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0, at,
              "%s=%s: want a number", word, value);
    return MKPERF_OK;
}

static enum mkperf_status take_line(const struct place *at, struct mkperf_stamp_queues *all,
                                    char *line)
{
    uint64_t v[KEYS] = {
        [HEAD] = NONE, [TAIL] = NONE, [REGION] = NONE, [PRODUCER] = NONE, [CONSUMER] = NONE};
    char *rest = NULL, *name, *word;

    REFUSE_IF(strlen(line) == LINE_BYTES - 1, at, "a line has at most %d characters",
              LINE_BYTES - 2);
    name = strtok_r(line, " \t\r\n", &rest);
    if (name == NULL || name[0] == '#') {
        return MKPERF_OK;
    }
    REFUSE_IF(strlen(name) > MKPERF_STAMP_QUEUE_NAME_BYTES || !mkperf_is_printable(name), at,
              "a queue's name: want at most %d printable characters",
              MKPERF_STAMP_QUEUE_NAME_BYTES);
    while ((word = strtok_r(NULL, " \t\r\n", &rest)) != NULL) {
        MKPERF_TRY(take_word(at, all->system, word, v));
    }
    REFUSE_IF(v[REGION] == NONE || v[HEAD] == NONE || v[TAIL] == NONE || v[SLOTS] == 0 ||
                  (v[PRODUCER] == NONE && v[CONSUMER] == NONE),
              at, "%s: want region, head, tail, bits, slots, and a producer or a consumer", name);
    uint64_t bytes = v[BITS] / 8;
    REFUSE_IF(v[BITS] != 8 && v[BITS] != 16 && v[BITS] != 32 && v[BITS] != 64, at,
              "%s: bits: want 8, 16, 32 or 64", name);
    uint64_t last = all->system->region[v[REGION]].size - bytes;
    REFUSE_IF(v[HEAD] % bytes != 0 || v[TAIL] % bytes != 0 || v[HEAD] > last || v[TAIL] > last ||
                  (v[HEAD] == v[TAIL] && v[PRODUCER] != v[CONSUMER]),
              at, "%s: head and tail: want two multiples of %" PRIu64 " within the region", name,
              bytes);
    for (unsigned i = 0; i < all->image->nqueues; i++) {
        REFUSE_IF(strcmp(all->image->queue[i].name, name) == 0, at, "another queue is named %s",
                  name);
    }
    struct mkperf_image_queue q = {.returns = v[RETURNS] != 0,
                                   .producer = (int)v[PRODUCER],
                                   .consumer = (int)v[CONSUMER],
                                   .bits = (unsigned)v[BITS],
                                   .slots = v[SLOTS],
                                   .head = v[HEAD],
                                   .tail = v[TAIL]};
    memcpy(q.name, name, strlen(name) + 1);
    return add_queue(all, at, (unsigned)v[REGION], v[HEAD], &q);
}

enum mkperf_status mkperf_stamp_queues_read(struct mkperf_stamp_queues *q, const char *path,
                                            struct mkperf_error *e)
{
    struct place at = {path, 0, e};
    FILE *f = fopen(path, "r");
    char line[LINE_BYTES];

    MKPERF_FAIL_IF(f == NULL, e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    e->status = MKPERF_OK;
    while (e->status == MKPERF_OK && fgets(line, sizeof line, f) != NULL) {
        at.line++;
        e->status = take_line(&at, q, line);
    }
    if (e->status == MKPERF_OK && ferror(f)) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    }
    (void)fclose(f);
    return e->status;
}

void mkperf_stamp_queue_maps(const struct mkperf_stamp_queues *q, FILE *to)
{
    /* Above what mkperf.system.in maps. Each region begins at a multiple of the largest page. */
    uint64_t vaddr = UINT64_C(0x40000000), large = 0x200000;

    for (unsigned i = 0; i < q->image->nqueues; i++) {
        unsigned k = 0;
        while (q->region[k] != q->region[i]) {
            k++;
        }
        if (k == i) {
            const struct mkperf_system_region *r = &q->system->region[q->region[i]];
            fprintf(to, "<map mr=\"%s\" vaddr=\"0x%" PRIx64 "\" perms=\"r\" />", r->name, vaddr);
            vaddr += (r->size + large) / large * large;
        }
    }
}
