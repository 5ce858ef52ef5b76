/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection to the target: it is made, authenticates both ends, carries requests and answers,
 * breaks, and is restored.
 *
 * Owns: the source, frames in both directions, the handshake and the MACs (docs/protocol.md), the
 * number of the last request. Called by the recorder and the console; received messages are passed
 * to their stream decoder, which passes control messages back through mkperf_peer_control.
 */
#ifndef MKPERF_HOST_LINK_CONNECTION_H
#define MKPERF_HOST_LINK_CONNECTION_H

#include <mkperf/auth.h>

#include "base/monotonic.h"
#include "mkperf.pb.h"
#include "source.h"
#include "wire/receiver.h"

enum { MKPERF_PEER_READ = 64 * 1024, MKPERF_PEER_NAME = 32, MKPERF_RECONNECT_S = 60 };

struct mkperf_peer_options {
    const char *target;   /* -t */
    const char *key_file; /* NULL: none */
    double timeout_s;     /* of the target's answers */
    double reconnect_s;   /* how long a broken link is tried again; 0: not at all */
    bool watch;           /* do not control */
    bool take_over;       /* from whoever controls */
};

struct mkperf_peer_ops {
    void (*text)(void *self, const char *p, size_t n); /* console text of the target */
    void (*notice)(void *self, const char *text);      /* messages for the user */
    enum mkperf_status (*bytes)(void *self, const uint8_t *p, size_t n,
                                struct mkperf_error *e); /* as they came; may be NULL */
    enum mkperf_status (*message)(void *self, const uint8_t *p, size_t n, unsigned gap,
                                  struct mkperf_error *e);          /* checked */
    enum mkperf_status (*tick)(void *self, struct mkperf_error *e); /* after every wait */
};

enum mkperf_peer_state {
    MKPERF_PEER_CLOSED,
    MKPERF_PEER_GREETING, /* HostHello is out */
    MKPERF_PEER_PROVING,  /* Prove is out */
    MKPERF_PEER_OPEN,     /* without a key */
    MKPERF_PEER_SEALED,
};

struct mkperf_peer {
    const struct mkperf_peer_options *options;
    const struct mkperf_peer_ops *ops;
    void *self;
    volatile int *stop; /* not 0: the user requests the end; may be NULL */
    struct mkperf_source source;
    struct mkperf_receiver receiver;
    enum mkperf_peer_state state;
    char name[MKPERF_PEER_NAME]; /* ours, for the others */
    bool has_key;
    struct mkperf_shared_key key;
    uint8_t mac_out[MKPERF_KEY_BYTES], mac_in[MKPERF_KEY_BYTES];
    struct mkperf_auth_hellos hellos;
    uint64_t number_out, number_in; /* of the last frame, extended */
    bool foreign;                   /* text came between authenticated messages */
    unsigned dropped;
    uint64_t bad_macs;
    uint16_t sequence; /* of the next frame to the target */
    uint32_t request;  /* the last one sent */
    bool answered;
    mkperf_ToHost answer;  /* to it */
    mkperf_ToHost message; /* before authentication */
    bool has_role;
    mkperf_Role role;
    struct mkperf_error refusal; /* of the handshake; status OK: none */
    double heard_s;              /* when the last byte was received */
    bool busy;                   /* refused for now: worth another try */
    unsigned connections;
    uint8_t buffer[MKPERF_PEER_READ];
};

/* Reads the key and prepares; nothing is opened. options, ops and self must outlive l. */
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
 * After an error LINK, in *e: reconnects with growing pauses, for reconnect_s. Fails with that
 * error, or with the target's refusal.
 */
enum mkperf_status mkperf_peer_reconnect(struct mkperf_peer *l, struct mkperf_error *e);

/* One wait of at most timeout_ms and all that arrived. LINK: the end of the source. */
enum mkperf_status mkperf_peer_pump(struct mkperf_peer *l, int timeout_ms, struct mkperf_error *e);

/* Sends m with a new request number and does not wait. */
enum mkperf_status mkperf_peer_send(struct mkperf_peer *l, mkperf_ToTarget *m,
                                    struct mkperf_error *e);

/*
 * Sends m, again every repeat_s (0: never) with the same number, until it is answered: l->answer.
 * SILENT, without a text: patience_s is over.
 */
enum mkperf_status mkperf_peer_ask(struct mkperf_peer *l, mkperf_ToTarget *m, double repeat_s,
                                   double patience_s, struct mkperf_error *e);
bool mkperf_peer_is_error(const struct mkperf_peer *l, mkperf_ErrorCode code); /* l->answer */

/* What the stream decoder found. */
void mkperf_peer_control(struct mkperf_peer *l, const mkperf_ToHost *m);

/* Waits, at most `seconds`, until the user stops it: then true. */
bool mkperf_peer_pause(const struct mkperf_peer *l, double seconds);
bool mkperf_peer_stopped(const struct mkperf_peer *l);
void mkperf_peer_say(const struct mkperf_peer *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* connection_auth.c */
/* The host's hello, with a new nonce. */
enum mkperf_status mkperf_peer_hello(struct mkperf_peer *l, mkperf_ToTarget *m,
                                     struct mkperf_error *e);
/* The target's hello: whether to continue, l->refusal if not; sets m to Prove if needed. */
void mkperf_peer_judge(struct mkperf_peer *l, const mkperf_TargetHello *hello);
void mkperf_peer_proof(const struct mkperf_peer *l, mkperf_ToTarget *m);

#endif
