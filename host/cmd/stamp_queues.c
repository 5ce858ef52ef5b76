/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see stamp_queues.h. The profiler PD is the one whose ELF gets the address of mkperf_rings. */
#include "stamp_queues.h"

enum { LINE_BYTES = 512, UNSET = -1 };

struct place {
    const char *path;
    unsigned line;
    struct mkperf_error *e;
};

__attribute__((format(printf, 2, 3))) static bool wrong(const struct place *at, const char *format,
                                                        ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mkperf_error_set(at->e, MKPERF_ERR_INPUT, "%s:%u: %s", at->path, at->line, text);
    return false;
}

static const struct mkperf_system_pd *profiler_of(const struct mkperf_system *s)
{
    for (unsigned i = 0; i < s->npds; i++) {
        for (unsigned k = 0; k < s->pd[i].nsetvars; k++) {
            if (strcmp(s->pd[i].setvar[k].symbol, "mkperf_rings") == 0) {
                return &s->pd[i];
            }
        }
    }
    return NULL;
}

/* Returns the address at which the profiler PD maps the region, 0 if it does not. */
static uint64_t profiler_map(const struct mkperf_system *s, unsigned region)
{
    const struct mkperf_system_pd *pd = profiler_of(s);

    for (unsigned i = 0; pd != NULL && i < pd->nmaps; i++) {
        if (pd->map[i].region == region && pd->map[i].read && pd->map[i].cached) {
            return pd->map[i].vaddr;
        }
    }
    return 0;
}

static int region_named(const struct mkperf_system *s, const char *name)
{
    for (unsigned i = 0; i < s->nregions; i++) {
        if (strcmp(s->region[i].name, name) == 0) {
            return (int)i;
        }
    }
    return UNSET;
}

static int pd_named(const struct mkperf_system *s, const char *name)
{
    for (unsigned i = 0; i < s->npds; i++) {
        if (strcmp(s->pd[i].name, name) == 0) {
            return (int)i;
        }
    }
    return UNSET;
}

/* A line's values before they are checked together. */
struct ring {
    struct mkperf_image_queue queue;
    int region;
    uint64_t head, tail, bits;
    bool has_head, has_tail;
};

static bool number_of(const struct place *at, const char *key, const char *value, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(value, &end, 0);
    return (value[0] >= '0' && value[0] <= '9' && *end == '\0' && errno == 0) ||
           wrong(at, "%s=%s: want a number", key, value);
}

static bool take_word(const struct place *at, const struct mkperf_system *s, char *word,
                      struct ring *r)
{
    char *value = strchr(word, '=');

    if (value == NULL) {
        r->queue.returns = strcmp(word, "returns") == 0;
        return r->queue.returns || wrong(at, "%s: want KEY=VALUE, or returns", word);
    }
    *value++ = '\0';
    if (strcmp(word, "region") == 0) {
        r->region = region_named(s, value);
        return r->region != UNSET || wrong(at, "no memory region is named %s", value);
    }
    if (strcmp(word, "producer") == 0 || strcmp(word, "consumer") == 0) {
        int *pd = word[0] == 'p' ? &r->queue.producer : &r->queue.consumer;
        *pd = pd_named(s, value);
        return *pd != UNSET || wrong(at, "no protection domain is named %s", value);
    }
    if (strcmp(word, "head") == 0) {
        r->has_head = true;
        return number_of(at, word, value, &r->head);
    }
    if (strcmp(word, "tail") == 0) {
        r->has_tail = true;
        return number_of(at, word, value, &r->tail);
    }
    if (strcmp(word, "bits") == 0) {
        return number_of(at, word, value, &r->bits);
    }
    if (strcmp(word, "slots") == 0) {
        return number_of(at, word, value, &r->queue.slots);
    }
    return wrong(at, "%s=: want region, head, tail, bits, slots, producer or consumer", word);
}

/* Checks what the words of a line are together, and adds the ring to the image. */
static bool add_ring(const struct place *at, const struct mkperf_system *s, const struct ring *r,
                     struct mkperf_image *image)
{
    struct mkperf_image_queue q = r->queue;
    uint64_t bytes = r->bits / 8;

    if (r->region == UNSET || !r->has_head || !r->has_tail || q.slots == 0 ||
        (q.producer == UNSET && q.consumer == UNSET)) {
        return wrong(at, "%s: want region, head, tail, bits, slots, and a producer or a consumer",
                     q.name);
    }
    if (r->bits != 8 && r->bits != 16 && r->bits != 32 && r->bits != 64) {
        return wrong(at, "%s: bits: want 8, 16, 32 or 64", q.name);
    }
    uint64_t size = s->region[r->region].size;
    if (r->head % bytes != 0 || r->tail % bytes != 0 || r->head > size - bytes ||
        r->tail > size - bytes || r->head == r->tail) {
        return wrong(at, "%s: head and tail: want two multiples of %" PRIu64 " within the region",
                     q.name, bytes);
    }
    for (unsigned i = 0; i < image->nqueues; i++) {
        if (strcmp(image->queue[i].name, q.name) == 0) {
            return wrong(at, "another queue is named %s", q.name);
        }
    }
    if (image->nqueues == MKPERF_STAMP_QUEUES) {
        return wrong(at, "an image lists at most %d queues", MKPERF_STAMP_QUEUES);
    }
    uint64_t map = profiler_map(s, (unsigned)r->region);
    q.bits = (unsigned)r->bits;
    q.head = map != 0 ? map + r->head : 0;
    q.tail = map != 0 ? map + r->tail : 0;
    image->queue[image->nqueues++] = q;
    return true;
}

static bool take_line(const struct place *at, const struct mkperf_system *s, char *line,
                      struct mkperf_image *image)
{
    struct ring r = {.queue = {.producer = UNSET, .consumer = UNSET}, .region = UNSET};
    char *rest = NULL, *word = strtok_r(line, " \t\r\n", &rest);

    if (word == NULL || word[0] == '#') {
        return true;
    }
    if (strlen(word) > MKPERF_STAMP_QUEUE_NAME_BYTES || !mkperf_is_printable(word)) {
        return wrong(at, "a queue's name: want at most %d printable characters",
                     MKPERF_STAMP_QUEUE_NAME_BYTES);
    }
    memcpy(r.queue.name, word, strlen(word) + 1);
    while ((word = strtok_r(NULL, " \t\r\n", &rest)) != NULL) {
        if (!take_word(at, s, word, &r)) {
            return false;
        }
    }
    return add_ring(at, s, &r, image);
}

enum mkperf_status mkperf_stamp_queues_read(const char *path, const struct mkperf_system *system,
                                            struct mkperf_image *image, struct mkperf_error *e)
{
    struct place at = {path, 0, e};
    FILE *f = fopen(path, "r");
    char line[LINE_BYTES];
    bool ok = true;

    if (f == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    }
    e->status = MKPERF_OK;
    while (ok && fgets(line, sizeof line, f) != NULL) {
        at.line++;
        ok = strlen(line) < sizeof line - 1
                 ? take_line(&at, system, line, image)
                 : wrong(&at, "a line has at most %d characters", LINE_BYTES - 2);
    }
    if (ok && ferror(f)) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    }
    (void)fclose(f);
    return e->status;
}
