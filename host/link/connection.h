/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection to the target: the handshake that authenticates both ends, requests and answers, and the
 * restoration of a broken link.
 *
 * Owns: the source, frames in both directions, the handshake and the MACs (docs/protocol.md), the
 * number of the last request. Called by the recorder. A message passes twice: the connection checks its
 * MAC and passes it to ops->message; the recorder decodes it there, and passes all except batches to
 * mkperf_peer_control, which finds the answer to the last request.
 *
 *     CLOSED ──HostHello──► GREETING ──TargetHello, no key──► OPEN
 *                               └──────TargetHello, proof───► PROVING ──Ack with a MAC──► SEALED
 */
#ifndef MKPERF_HOST_LINK_CONNECTION_H
#define MKPERF_HOST_LINK_CONNECTION_H

#include "base/outfile.h"
#include "wire/wire_stream.h"
#include <mkperf/auth.h>

/*
 * A source of a target's bytes: a serial line, a socket, a capture.
 *
 * Owns: opening, reading, writing, closing. Called by the connection; it knows nothing of frames. A kind
 * of source is a row of the table in source.c, and the function that opens it, which may leave a descriptor open if it fails.
 */

struct mkperf_source;

struct mkperf_source_ops {
    const char *scheme; /* the part before the colon */
    const char *where;  /* the part after it, for the help text */
    const char *help;
    bool interactive; /* a target is at the other end; otherwise it is a replay */
    bool network;     /* a second attempt to open may succeed */
    enum mkperf_status (*open)(struct mkperf_source *s, const char *where, struct mkperf_error *e);
    /* Reads up to n bytes. *got = 0: none have arrived. MKPERF_ERR_LINK: the other end is gone, or the
     * replay has ended. */
    enum mkperf_status (*read)(struct mkperf_source *s, void *p, size_t n, size_t *got,
                               struct mkperf_error *e);
    /* Writes all n bytes, or fails with MKPERF_ERR_LINK. NULL: the source is not interactive. */
    enum mkperf_status (*write)(struct mkperf_source *s, const void *p, size_t n,
                                struct mkperf_error *e);
};

struct mkperf_source {
    const struct mkperf_source_ops *ops;
    const char *spec; /* the target's name as the user gave it, for messages; not owned */
    int fd;           /* the descriptor to poll for reading; -1: it is closed */
    int listener; /* the listening socket of listen:, from the first open to the end; -1: none */
    double patience_s;        /* how long to wait for a connection */
    double accept_s;          /* how long to wait for a target that dials out; 0: without end */
    const volatile int *stop; /* not 0: stop waiting; may be NULL */
    void (*notice)(void *self, const char *text); /* messages for the user; may be NULL */
    void *self;
};

extern const struct mkperf_source_ops mkperf_source_kinds[]; /* the last has no scheme */

/* Returns OK if a demand is met. Otherwise sets the error "SPEC: text" and returns `status`. If that is USAGE, the text begins with -t. */
enum mkperf_status mkperf_source_demand(const struct mkperf_source *s, bool met,
                                        enum mkperf_status status, struct mkperf_error *e,
                                        const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Ends the function around it with that status, unless the demand is met. The arguments are those of mkperf_source_demand. */
#define MKPERF_DEMAND(...) MKPERF_TRY(mkperf_source_demand(__VA_ARGS__))

/* Waits until the descriptor is ready; fd -1: waits only for the time. Returns 0, ETIMEDOUT after `seconds` (0: no limit), or EINTR if
 * the user stops it. Its steps are 50 ms. */
int mkperf_source_wait(const struct mkperf_source *s, int fd, short events, double seconds);
/* Gives the user a message, if there is a function for that. */
void mkperf_source_say(const struct mkperf_source *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes a closed source of SCHEME:WHERE, with defaults for waiting. Errors: USAGE. */
enum mkperf_status mkperf_source_init(struct mkperf_source *s, const char *spec,
                                      struct mkperf_error *e);
/*
 * Opens a source, also again after mkperf_source_close. Errors: USAGE: an invalid WHERE; INPUT with the
 * system's reason; LINK: nothing listens there at present.
 */
enum mkperf_status mkperf_source_open(struct mkperf_source *s, struct mkperf_error *e);
void mkperf_source_close(struct mkperf_source *s); /* idempotent; may be opened again */
void mkperf_source_end(struct mkperf_source *s);   /* closes permanently; idempotent */

/* ---- source.c: HOST[:PORT] and connections ---- */

enum { MKPERF_NET_PORT = 1236, MKPERF_NET_HOST = 256, MKPERF_NET_PORT_TEXT = 6 };

struct mkperf_net_address {
    char host[MKPERF_NET_HOST]; /* "": none was given */
    char port[MKPERF_NET_PORT_TEXT];
};

/*
 * "board", "board:99", "10.0.0.2", "::1" (two colons and no brackets: no port), "[::1]:99".
 * lone_port: a text that is only a number is the port, and a port is required, as for listen:. False: the text
 * has another form.
 */
bool mkperf_net_address_parse(const char *text, bool lone_port, struct mkperf_net_address *a);

/* Makes a socket send small messages at once, and notice that its peer is gone while nothing is sent. */
void mkperf_net_tune(int fd);

enum { MKPERF_PEER_READ = 64 * 1024, MKPERF_PEER_NAME = 32, MKPERF_RECONNECT_S = 60 };

struct mkperf_peer_options {
    const char *target;   /* -t */
    const char *key_file; /* NULL: none */
    double timeout_s;     /* how long to wait for an answer of the target */
    double reconnect_s;   /* how long to try to restore a broken link; 0: not at all */
    bool watch;           /* do not control the target */
    bool take_over;       /* take control from the host that has it */
};

struct mkperf_peer_ops {
    void (*text)(void *self, const char *p, size_t n); /* console text of the target */
    /* Takes each message; with a key, only those with a valid MAC. gap: the number of missing frames before it. */
    enum mkperf_status (*message)(void *self, const uint8_t *p, size_t n, unsigned gap,
                                  struct mkperf_error *e);
    enum mkperf_status (*tick)(void *self, struct mkperf_error *e); /* called after every wait */
};

enum mkperf_peer_state {
    MKPERF_PEER_CLOSED,
    MKPERF_PEER_GREETING, /* HostHello was sent */
    MKPERF_PEER_PROVING,  /* Prove was sent, or will be */
    MKPERF_PEER_OPEN,     /* neither end has a key */
    MKPERF_PEER_SEALED,
};

struct mkperf_peer {
    const struct mkperf_peer_options *options;
    const struct mkperf_peer_ops *ops;
    void *self;
    struct mkperf_source source;
    /* Gets all bytes as they are received; path NULL: they are not kept */
    struct mkperf_outfile raw;
    struct mkperf_receiver receiver;
    enum mkperf_peer_state state;
    char name[MKPERF_PEER_NAME]; /* this host's name, which the target shows to other hosts */
    bool has_key;
    struct mkperf_shared_key key;
    uint8_t mac_out[MKPERF_KEY_BYTES], mac_in[MKPERF_KEY_BYTES];
    struct mkperf_auth_hellos hellos;
    uint64_t number_out, number_in; /* extended sequence numbers of the last frames */
    bool foreign;                   /* text arrived that no key authenticates */
    unsigned dropped;               /* frames without a valid MAC since the last valid one */
    uint64_t bad_macs;
    uint16_t sequence; /* sequence number of the next frame to the target */
    uint32_t request;  /* number of the last request */
    bool answered;
    mkperf_ToHost answer;  /* the answer to the last request */
    mkperf_ToHost message; /* the last message of the handshake */
    bool has_role;
    mkperf_Role role;
    double heard_s; /* when the last byte was received */
    bool busy;      /* the target refuses at present, so that it is tried again */
    uint8_t buffer[MKPERF_PEER_READ];
};

/* Reads the key and prepares; nothing is opened. options, ops and self must outlive l. The caller sets the notice of l->source. */
enum mkperf_status mkperf_peer_init(struct mkperf_peer *l,
                                    const struct mkperf_peer_options *options,
                                    const struct mkperf_peer_ops *ops, void *self,
                                    volatile int *stop, struct mkperf_error *e);
void mkperf_peer_end(struct mkperf_peer *l); /* idempotent; also after a failed init */

/*
 * Opens the source and makes the handshake. On a network, failures are retried until timeout_s is
 * over.
 * Errors: SILENT, NOISE, PROTOCOL, REFUSED, LINK, INPUT.
 */
enum mkperf_status mkperf_peer_connect(struct mkperf_peer *l, struct mkperf_error *e);

/*
 * Reconnects after an error LINK, which *e holds, with growing pauses, for reconnect_s. Fails with
 * that error, or with the target's refusal.
 */
enum mkperf_status mkperf_peer_reconnect(struct mkperf_peer *l, struct mkperf_error *e);

/* Waits once, at most timeout_ms, and handles what arrived. LINK: the source has ended. */
enum mkperf_status mkperf_peer_pump(struct mkperf_peer *l, int timeout_ms, struct mkperf_error *e);

/* Sends m with a new request number. Does not wait for the answer. */
enum mkperf_status mkperf_peer_send(struct mkperf_peer *l, mkperf_ToTarget *m,
                                    struct mkperf_error *e);

/*
 * Sends m, repeatedly every repeat_s (0: never) with one number, until the answer is in l->answer.
 * SILENT, without a text: no answer in patience_s.
 */
enum mkperf_status mkperf_peer_ask(struct mkperf_peer *l, mkperf_ToTarget *m, double repeat_s,
                                   double patience_s, struct mkperf_error *e);
bool mkperf_peer_is_error(const struct mkperf_peer *l, mkperf_ErrorCode code); /* l->answer */

/* Notes roles, and the answer to the last request. Called with each decoded message except batches. */
void mkperf_peer_control(struct mkperf_peer *l, const mkperf_ToHost *m);

/* Waits some seconds. True: the user stopped it. */
bool mkperf_peer_pause(const struct mkperf_peer *l, double seconds);
bool mkperf_peer_stopped(const struct mkperf_peer *l);
#define mkperf_peer_say(l, ...) mkperf_source_say(&(l)->source, __VA_ARGS__)

/*
 * When a recording of a given duration ends.
 *
 * The duration is in the target's time, which only samples show. Samples may stop: all threads of the
 * target wait, or a filter excludes those that run. The deadline is then in the host's time, plus a grace
 * period. That is GRACE_S of the target's time, multiplied by how slow the target has been: an emulated
 * target may need many host seconds for one of its own.
 *
 * Owns: this decision, for recorder_run.c. It reads no clock; all times are monotonic, in seconds.
 */

/* Seconds of the target's time, and the most host seconds that are allowed for one of them. */
#define MKPERF_DEADLINE_GRACE_S 2.0
#define MKPERF_DEADLINE_MAX_SLOWDOWN 10.0

struct mkperf_deadline {
    double duration_s; /* 0: no deadline */
    double began_s;    /* host's time */
    /* The host's time when a sample last advanced the target's time, or the link was restored: the begin of the wait for samples. */
    double progress_s;
    double target_s; /* the target's time from the first sample to the last */
    bool has_samples;
};

static inline void mkperf_deadline_begin(struct mkperf_deadline *d, double duration_s, double now_s)
{
    *d = (struct mkperf_deadline){.duration_s = duration_s, .began_s = now_s, .progress_s = now_s};
}

/* Notes what is known at now_s, and returns whether the duration is over. target_s: as in the structure; it is ignored without
 * samples. */
static inline bool mkperf_deadline_over(struct mkperf_deadline *d, bool has_samples,
                                        double target_s, double now_s)
{
    if (has_samples && (!d->has_samples || target_s != d->target_s)) {
        d->has_samples = true;
        d->target_s = target_s;
        d->progress_s = now_s;
    }
    double host_s = d->progress_s - d->began_s, most_s = MKPERF_DEADLINE_MAX_SLOWDOWN * d->target_s;
    /* The host seconds in one second of the target, estimated from the times of samples. */
    double slowdown = !d->has_samples || host_s <= d->target_s ? 1
                      : host_s < most_s                        ? host_s / d->target_s
                                                               : MKPERF_DEADLINE_MAX_SLOWDOWN;
    bool seen = d->has_samples && d->target_s >= d->duration_s;
    bool waited = now_s - d->began_s >= d->duration_s &&
                  now_s - d->progress_s >= MKPERF_DEADLINE_GRACE_S * slowdown;

    return d->duration_s > 0 && (seen || waited);
}

/* ---- connection_open.c: the pre-shared key of --key-file ---- */

/*
 * Reads a key: a file of exactly 32 bytes, or one line `[NAME] KEY` with 64 hexadecimal digits;
 * blank lines and lines that begin with # are skipped. A file that others can read or write is
 * refused, because its key is no secret. Errors: INPUT.
 */
enum mkperf_status mkperf_key_read(const char *path, struct mkperf_shared_key *key,
                                   struct mkperf_error *e);
/* Reads a file that others can neither read nor write, up to `room` bytes. Errors: INPUT. */
enum mkperf_status mkperf_secret_read(const char *path, uint8_t *text, size_t room, size_t *n,
                                      struct mkperf_error *e);
/* Reads a key from n bytes of memory. False: they have neither form, or more than one key. */
bool mkperf_key_parse(const uint8_t *p, size_t n, struct mkperf_shared_key *key);

#endif
