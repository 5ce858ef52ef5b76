/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every file of the host has: the C library, files, errors, memory, text that may be printed, sorting, percentages, hash tables, and
 * mkperf as a process. Each header of the host includes it. A file does not include again what another header that it includes brings.
 *
 * Errors: a function that can fail fills a struct mkperf_error with place and reason and returns its status. Only main and the
 * commands print and exit.
 *
 * Memory: mkperf_x... never return NULL for memory that a command cannot do without. If there is none, they print a message and
 * end the process with MKPERF_ERR_FAILED; files that are being written keep what was received (mkperf_out_of_memory). They are
 * not for sizes that an input states: those are compared with the input's own size first.
 */
#ifndef MKPERF_HOST_BASE_BASE_H
#define MKPERF_HOST_BASE_BASE_H

#include <assert.h>
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- errors ---- */

/* Also the exit status of the mkperf command. Texts: mkperf_status_text. Numbers are not reused. */
enum mkperf_status {
    MKPERF_OK = 0,
    MKPERF_ERR_FAILED = 1, /* any error without its own status */
    MKPERF_ERR_INPUT = 2, /* a file, ELF or stream is missing or invalid: the text has the reason */
    MKPERF_ERR_OUTPUT = 4,   /* writing failed (disk full, permission) */
    MKPERF_ERR_SILENT = 5,   /* the target does not answer */
    MKPERF_ERR_PROTOCOL = 6, /* the target speaks another version of the protocol */
    MKPERF_ERR_NOISE = 7,    /* the line carries bytes but no frame */
    MKPERF_ERR_REFUSED = 8,  /* the target refused the request; its reason is in the text */
    MKPERF_ERR_LINK = 9,     /* the connection broke; what was received is kept */
    MKPERF_ERR_USAGE = 129,  /* command line; the number is perf's and git's */
};

struct mkperf_error {
    enum mkperf_status status;
    char text[1024];
};

/* Sets status and text (printf format; cut at the buffer's end) and returns status. */
enum mkperf_status mkperf_error_set(struct mkperf_error *e, enum mkperf_status status,
                                    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Ends the function around it with the status of a call that failed, which has filled its error. For a function that has nothing
 * to free at that point. */
#define MKPERF_TRY(call)                           \
    do {                                           \
        enum mkperf_status tried_status_ = (call); \
        if (tried_status_ != MKPERF_OK) {          \
            return tried_status_;                  \
        }                                          \
    } while (0)

/* Ends the function around it with an error if the condition is true; its arguments are those of mkperf_error_set. For a function
 * that has nothing to free at that point. */
#define MKPERF_FAIL_IF(condition, ...)            \
    do {                                          \
        if (condition) {                          \
            return mkperf_error_set(__VA_ARGS__); \
        }                                         \
    } while (0)

/* Returns the meaning of this exit status, or NULL if there is no such status. */
const char *mkperf_status_text(enum mkperf_status status);

/* Sets of statuses for struct mkperf_command: 1 << status. OK, FAILED and USAGE belong to every set. */
enum {
    MKPERF_STATUSES_READ = 1 << MKPERF_ERR_INPUT,
    MKPERF_STATUSES_WRITE = 1 << MKPERF_ERR_OUTPUT,
    MKPERF_STATUSES_FILES = MKPERF_STATUSES_READ | MKPERF_STATUSES_WRITE,
    MKPERF_STATUSES_TARGET = 1 << MKPERF_ERR_SILENT | 1 << MKPERF_ERR_PROTOCOL |
                             1 << MKPERF_ERR_NOISE | 1 << MKPERF_ERR_REFUSED | 1 << MKPERF_ERR_LINK,
};

/* ---- memory ---- */

/* Called once before the process ends, if it is set. */
extern void (*mkperf_out_of_memory)(void);

_Noreturn void mkperf_die(void);

/* Returns n elements, all zero, never NULL. The caller frees them. */
void *mkperf_xcalloc(size_t n, size_t size);
/* Works like reallocarray, but never returns NULL. */
void *mkperf_xrealloc(void *p, size_t n, size_t size);
char *mkperf_xstrdup(const char *text); /* Copies a string. Returns NULL for NULL. */
char *mkperf_xprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes n bytes in hexadecimal to text[2 * n + 1]; without bytes, `text` stays as it is. Returns `text`. */
const char *mkperf_hex(const void *bytes, size_t n, char *text);

/* Returns the text as one word of a shell's command line, in quotation marks if it needs them. The caller frees the string. */
char *mkperf_shell_word(const char *text);

/* Writes n bytes to a descriptor. Returns how many were written; fewer than n: errno has the reason. */
size_t mkperf_write_all(int fd, const void *bytes, size_t n);

/* Opens a stream into memory. After mkperf_memstream_close *text has *n bytes and a NUL, and is freed with free. text and n
 * must be valid until then. */
FILE *mkperf_memstream_open(char **text, size_t *n);
void mkperf_memstream_close(FILE *f);

/* Returns a number of elements that is at least n and at least twice `room`. */
size_t mkperf_room(size_t room, size_t n);
/* Returns p, grown from `from` to `to` elements; the new elements are zero. */
void *mkperf_xgrow(void *p, size_t from, size_t to, size_t size);

/* Makes room in an array for at least n elements; the new ones are zero. `room` is a variable of any unsigned type with the
 * number of elements that fit. */
#define MKPERF_GROW(array, room, n)                                                 \
    do {                                                                            \
        size_t room_before_ = (room);                                               \
        if ((n) > room_before_) {                                                   \
            (room) = mkperf_room(room_before_, (n));                                \
            (array) = mkperf_xgrow((array), room_before_, (room), sizeof *(array)); \
        }                                                                           \
    } while (0)

/*
 * ---- text from elsewhere, made printable (printable.c): the one place that decides what may be printed ----
 *
 * Names and messages arrive from targets, recordings, ELFs and other hosts. Printed unchanged,
 * they could move the cursor, change colours, begin new lines or reverse the order of the text
 * around them. Called where such text enters mkperf (wire messages, symbols, perf.data)
 * and for each message that quotes it.
 */

/* Returns the length of the UTF-8 sequence at s, 0 if there is no valid one. s ends with NUL. */
size_t mkperf_utf8(const char *s);

/*
 * Returns the length in bytes of the printable character at s; 0: the character is a control
 * character (C0, C1, DEL), a bidirectional or another invisible control, or no UTF-8.
 */
size_t mkperf_printable_char(const char *s);

bool mkperf_is_printable(const char *s);

/* Replaces each character of s that is not printable by '?', in place. s never grows. */
void mkperf_printable(char *s);

/* Does so in text of several lines. Newlines and tabs are kept; a carriage return before a newline is dropped. */
void mkperf_printable_lines(char *s);

/*
 * Returns s if it is printable or NULL, else a printable copy of its beginning in buffer (n bytes,
 * n > 0). For paths, which must not be changed.
 */
const char *mkperf_printable_copy(const char *s, char *buffer, size_t n);

enum { MKPERF_PRINTABLE_PATH = 512 }; /* a buffer for a path in a message */

/* Prints one line, its end included, of at most 1023 printable bytes, in the place of a progress line (below). For warnings and
 * notices. */
void mkperf_print_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * ---- a target's console text, in printable lines without escape sequences (ECMA-48: colours, cursor movements) ----
 */

enum { MKPERF_CONSOLE_LINE = 512 }; /* longer lines are cut into several */

struct mkperf_console_text {
    char line[MKPERF_CONSOLE_LINE + 1];
    size_t n;
    enum { MKPERF_TEXT_PLAIN, MKPERF_TEXT_ESCAPE, MKPERF_TEXT_SEQUENCE } state;
    void (*print)(void *self, const char *line); /* set by the caller; lines are not empty */
    void *self;
};

/* Appends n bytes and prints the lines that they end. */
void mkperf_console_text_add(struct mkperf_console_text *t, const char *p, size_t n);

/* Prints what was received since the last end of a line. */
void mkperf_console_text_end(struct mkperf_console_text *t);

/* ---- numbers, sorting and percentages ---- */

/* Returns the value of a hexadecimal digit, or 16 if c is none. */
static inline unsigned mkperf_digit(char c)
{
    return c >= '0' && c <= '9'                 ? (unsigned)(c - '0')
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (unsigned)((c | 32) - 'a' + 10)
                                                : 16;
}

/* Reads a number of n digits of this base, at most 16. Returns false if there is another character, no digit, or no room. */
bool mkperf_read_number(const char *text, size_t n, unsigned base, uint64_t *out);

/* Returns the result of a comparison for ascending order. Exchanged operands give descending order. */
static inline int mkperf_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Sorts n elements. p may be NULL if n is 0. */
static inline void mkperf_sort(void *p, size_t n, size_t size,
                               int (*compare)(const void *a, const void *b))
{
    assert(p != NULL || n == 0);
    if (n > 1) {
        qsort(p, n, size, compare);
    }
}

/* Returns the index of the first of n items whose first member is that text, or n if there is none. */
size_t mkperf_named(const void *items, size_t n, size_t size, const char *name);

/* Returns the index of the first of n items whose first member, a uint64_t, is above `value`; n if there is none. They ascend. */
size_t mkperf_first_behind(const void *items, size_t n, size_t size, uint64_t value);

/*
 * Sorts an array by members, which are unsigned numbers of 4 or 8 bytes or enums: by the first one, then by the next.
 *
 *     MKPERF_SORT(row, n, MKPERF_UP(row, kind), MKPERF_DOWN(row, total));
 */
struct mkperf_sort_key {
    size_t at, bytes; /* bytes 0: the end of a list */
    bool down;
};
/* clang-format off */
#define MKPERF_UP(array, member) {offsetof(__typeof__(*(array)), member), sizeof (array)->member, false}
#define MKPERF_DOWN(array, member) {offsetof(__typeof__(*(array)), member), sizeof (array)->member, true}
#define MKPERF_SORT(array, n, ...) \
    mkperf_sort_by((array), (n), sizeof *(array), (const struct mkperf_sort_key[]){__VA_ARGS__, {0, 0, false}})
/* clang-format on */
void mkperf_sort_by(void *p, size_t n, size_t size, const struct mkperf_sort_key *keys);
/* Compares two elements by such members. */
int mkperf_compare_by(const void *a, const void *b, void *keys);

/* Returns the end of a noun for n things: "%" PRIu64 " sample%s", n, mkperf_plural(n). */
static inline const char *mkperf_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* Returns the value per unit of `of`, or 0 if `of` is 0. */
static inline double mkperf_per(double value, double of)
{
    return of > 0 ? value / of : 0;
}

/* Returns `part` in per cent of `whole`, 0 if `whole` is 0. */
static inline double mkperf_percent(uint64_t part, uint64_t whole)
{
    return whole != 0 ? 100.0 * (double)part / (double)whole : 0;
}

/*
 * Little-endian numbers in bytes, for exact formats.
 *
 * Owns: nothing. mkperf_get reads bytes that the caller has checked to be there. mkperf_put writes at a cursor, for which the
 * caller has made room, and moves it on.
 */

static inline uint64_t mkperf_get_number(const uint8_t *p, size_t n)
{
    uint64_t v = 0;

    memcpy(&v, p, n);
    return le64toh(v);
}
#define mkperf_get16(p) ((uint16_t)mkperf_get_number((p), 2))
#define mkperf_get32(p) ((uint32_t)mkperf_get_number((p), 4))
#define mkperf_get64(p) mkperf_get_number((p), 8)

struct mkperf_put {
    uint8_t *p;
};

static inline void mkperf_put_data(struct mkperf_put *c, const void *p, size_t n)
{
    memcpy(c->p, p, n);
    c->p += n;
}

static inline void mkperf_put_number(struct mkperf_put *c, uint64_t v, size_t n)
{
    v = htole64(v);
    mkperf_put_data(c, &v, n);
}
#define mkperf_put16(c, v) mkperf_put_number((c), (v), 2)
#define mkperf_put32(c, v) mkperf_put_number((c), (v), 4)
#define mkperf_put64(c, v) mkperf_put_number((c), (v), 8)

/* Writes n bytes of p, then zeros up to `room`. */
static inline void mkperf_put_padded(struct mkperf_put *c, const void *p, size_t n, size_t room)
{
    assert(n <= room);
    mkperf_put_data(c, p, n);
    memset(c->p, 0, room - n);
    c->p += room - n;
}

/*
 * A hash table from keys of 64-bit words to dense numbers.
 *
 *     slot[]  open addressing, at most half full      words[]  all keys, one behind the other
 *     ┌──────────┐                                    ┌─────────────────┬──────┬──────┬─────
 *     │ hash, at ├───────────────────────────────────►│ number │ length │ word │ word │ ...
 *     │  (free)  │                                    └─────────────────┴──────┴──────┴─────
 *     └──────────┘                                         ▲
 *     key[number] ─────────────────────────────────────────┘
 *
 * Owns: the keys. Used for chains, addresses, names and rows. Invariants: numbers are dense from 0 on, in the order of first
 * appearance, so everything that is built on them is deterministic; no key is ever removed; nslots is 0 or a power of two.
 *
 * Example: the keys {5, 7}, {5}, {5, 7} get the numbers 0, 1, 0.
 */

struct mkperf_hash_slot {
    uint32_t hash;
    uint32_t at; /* the key's place in words, + 1; 0: the slot is free */
};

struct mkperf_hash {
    uint32_t *key; /* the place in `words` of the key with this number */
    uint32_t count, room;
    struct mkperf_hash_slot *slot;
    uint32_t nslots;
    /* For each key a word with its length, and its number in the upper half; then the key. */
    uint64_t *words;
    size_t used, words_room;
};

/* Returns the number of a key, which is added if it is new. */
uint32_t mkperf_hash_number(struct mkperf_hash *t, const uint64_t *key, uint32_t words);

/* Returns the number of a key; -1: the table does not have it. */
int64_t mkperf_hash_find(const struct mkperf_hash *t, const uint64_t *key, uint32_t words);

/* Returns the key of a number below count. It is valid until the next key is added. */
const uint64_t *mkperf_hash_key(const struct mkperf_hash *t, uint32_t number);
/* Returns the number of words of a key that mkperf_hash_key has returned. */
static inline uint32_t mkperf_hash_words(const uint64_t *key)
{
    return (uint32_t)key[-1];
}

/* Texts as keys. They are cut at MKPERF_HASH_TEXT - 1 bytes. */
enum { MKPERF_HASH_TEXT = 1280 };
uint32_t mkperf_hash_text_number(struct mkperf_hash *t, const char *text);
const char *mkperf_hash_text(const struct mkperf_hash *t, uint32_t number);

void mkperf_hash_free(struct mkperf_hash *t);

/*
 * mkperf as a process: its descriptors, signals and clock, and the progress line of a long command.
 *
 * Owns: the count of signals that end a command, the lock of a command with several threads, and the one progress line. Called
 * by main and the commands; decoders and long loops report their position.
 */

/*
 * Opens /dev/null for each of descriptors 0 to 2 that is closed. Otherwise messages would be written to the next file that
 * is opened, which may be an output. Ignores SIGPIPE and SIGXFSZ, because the failed write is an error with a text.
 */
void mkperf_process_init(void);

/*
 * Counts SIGINT, SIGTERM and SIGHUP from now on, so that the command can end in order. Returns the count, which each
 * call sets to 0. A SIGHUP that is ignored (nohup) stays ignored.
 */
volatile int *mkperf_process_interrupts(void);

/* Returns the path of a file next to mkperf's own program, or of the second one relative to that, where it is if mkperf is
 * installed; a new string. Returns NULL if there is neither. */
char *mkperf_beside(const char *name, const char *installed);

/* Loads a shared library, and stores the address of each function of `names`, whose end is NULL, in the next member of the
 * structure of pointers at `to`. For libraries that few commands need and that take long to load. Errors: FAILED. */
enum mkperf_status mkperf_library_load(const char *library, const char *const *names, void *to,
                                       struct mkperf_error *e);

/* Returns the host's monotonic clock in seconds. Targets have their own. */
static inline double mkperf_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
 * ---- one lock for a command that has a thread for each target ----
 *
 * A thread holds it except while it waits. Everything else in mkperf is therefore as with one thread. A command with
 * one thread does not call mkperf_turns_begin; these functions then take no lock.
 */
void mkperf_turns_begin(void); /* the caller holds the lock from here on */
void mkperf_turn_take(void);
void mkperf_turn_give(void);
/* Calls poll(2) without the lock. If n is 0, fds may be NULL: a pause. */
int mkperf_poll(struct pollfd *fds, nfds_t n, int timeout_ms);

/*
 * ---- the progress line: on standard error, if that is a terminal, from the third second on ----
 *
 * It is removed before anything else is printed there. A command begins and ends it. A report of a position costs nothing
 * while no line has begun.
 */

/* Begins the progress line. what: the text before the amount, for example "perf.data". It lives
 * until the end. */
void mkperf_progress_begin(const char *what);
/* Shows how much is done, and how much there is (0: unknown). */
enum mkperf_progress_unit { MKPERF_BYTES, MKPERF_SECONDS_OVER, MKPERF_STEPS };
void mkperf_progress(enum mkperf_progress_unit unit, double done, double all);
/* The caller has drawn a line of its own, which is removed like this one. */
void mkperf_progress_drawn(void);
/* Removes the line. The next report of a position draws it again. */
void mkperf_progress_clear(void);
void mkperf_progress_end(void); /* idempotent */

/*
 * Print a line on standard error: "mkperf: TEXT" and "mkperf: warning: TEXT". They are given to functions that have texts for the
 * user; `self` is not used.
 */
void mkperf_print_notice(void *self, const char *text);
void mkperf_print_warning(void *self, const char *text);

/*
 * Files that become a part of the program: scripts and styles. The assembler reads them, below the top of the source tree.
 *
 * Owns: nothing. host/build.mk makes the objects depend on these files.
 */

/* The file's bytes from name_begin to name_end, where a NUL follows. Several files: MKPERF_INCLUDED of each, one after the other. */
#define MKPERF_INCLUDED(file) ".incbin \"" file "\"\n"
#define MKPERF_EMBED(name, file) MKPERF_EMBED_ALL(name, MKPERF_INCLUDED(file))
/* clang-format off */
#define MKPERF_EMBED_ALL(name, files)                    \
    __asm__(".pushsection .rodata\n"                     \
            ".globl " #name "_begin\n" #name "_begin:\n" \
            files                                        \
            ".globl " #name "_end\n" #name "_end:\n"     \
            ".byte 0\n"                                  \
            ".popsection\n");                            \
    extern const char name##_begin[], name##_end[]
/* clang-format on */

#endif
