/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD without its platform: connections, the control protocol, and records to frames.
 *
 * Owns: struct mkperf_client. A platform's main opens connections, passes them received bytes and
 * sends the bytes of their links; it reaches the profiler PD through a function pointer and the
 * session page. Host-testable. control.c executes messages, connections.c owns the connections'
 * states, stream.c sends unsolicited messages, command.c parses lines of text, report.c builds
 * messages.
 *
 * Back-pressure: while the link that sets the pace (stream.c) is full, records stay in the output
 * ring. If the ring is full, the profiler PD counts the records that it drops. Nothing blocks. Any
 * other connection that is full loses batches, and counts their samples.
 */
#ifndef MKPERF_CONTROL_H
#define MKPERF_CONTROL_H

#include <mkperf/session.h>
#include <mkperf/stamp.h>

#include "encode.h"
#include "link.h"
#include "sched.h"

enum mkperf_client_limits {
    MKPERF_HOSTS = 4,        /* admitted connections at once, over TCP */
    MKPERF_CONNECTIONS = 32, /* connections at once; at most 32, see the masks below */
    MKPERF_NOBODY = MKPERF_CONNECTIONS,
    MKPERF_OLD_HELLOS = 64, /* remembered hellos, which are refused when they are repeated */
    /* Frames of a queue reserved for answers: hello, session, status, error. */
    MKPERF_ANSWER_FRAMES = 4,
    MKPERF_WATCHER_EPOCH = 16, /* batches before an epoch may begin for a watcher */
};

/* The settings of the text commands, which are valid from the next `start`. */
struct mkperf_settings {
    bool timer; /* cycles are sampled in addition, each period_us */
    uint32_t period_us;
    struct mkperf_session_request request; /* with at most MKPERF_MAX_EVENTS - 1 events */
};

struct mkperf_gap {
    bool open; /* no batch until an epoch begins */
    bool joined;
    uint32_t batches;
    uint64_t first;
    uint64_t samples;
};

/* A hello of a host that has not proved yet that it has the key. Until the proof, nothing else of
 * the connection changes, because an older host may still use the serial line. */
struct mkperf_claim {
    bool made;          /* a hello waits for its proof */
    bool open;          /* a Prove may follow */
    bool watch;         /* HostHello.watch: the host only watches */
    const uint8_t *key; /* the key that the host named */
    /* The texts of both hellos; their `name` is the member below. */
    struct mkperf_auth_hellos hellos;
    char name[MKPERF_NAME_BYTES];
    /* Subtracted from our frames' numbers, so that their upper bits begin at 0. */
    uint64_t out_base;
    uint16_t in; /* sequence of the host's last frame in the handshake */
};

struct mkperf_connection {
    struct mkperf_link link;
    bool used;
    bool has_key; /* its hello showed a key of the target */
    bool ends;    /* TCP: the connection can be closed, and an error closes it */
    bool framed;  /* its host has sent a frame; plain text is refused from then on */
    bool ending;  /* the connection is closed when its queue is empty */
    bool watch;
    bool wants_epoch; /* the host sent ResetChains, because it lost its chains */
    bool tell_role;
    bool tell_session;
    bool listing; /* answers list_request in parts, the next from list_next on */
    bool list_text;
    uint32_t number; /* counted since boot */
    uint32_t list_request;
    uint32_t list_next;
    uint64_t lost;       /* samples of this session that it did not get */
    uint64_t sched_lost; /* scheduling events of this session that it did not get */
    struct mkperf_gap gap;
    char name[MKPERF_NAME_BYTES];
    struct mkperf_claim claim;
};

struct mkperf_client {
    /* Set before mkperf_client_init. */
    const char *platform;
    const struct mkperf_shared_key *key; /* a list of `keys`, or NULL: any host may connect */
    unsigned keys;
    const uint8_t *stamp;    /* the image's table of programs (mkperf/stamp.h), or NULL */
    uint32_t stamp_reserved; /* bytes reserved for it */
    struct mkperf_session_page *page;
    struct mkperf_ring_consumer ring; /* the output ring */
    uint32_t (*call)(uint32_t op);    /* a protected call: enum mkperf_session_op in, _result out */
    uint64_t (*clock)(void);          /* ticks, the clock of the samples; NULL: there is none */
    uint64_t clock_hz;
    struct mkperf_connection *connection; /* array of `places`, at most MKPERF_CONNECTIONS */
    unsigned places;
    uint8_t (*queue)[MKPERF_LINK_BYTES]; /* large queues: one for each host that can be admitted */
    unsigned hosts;

    struct mkperf_encoder encoder;
    struct mkperf_sched_encoder sched;
    uint32_t admitted; /* connections with a large queue, bit = index: they keep their places */
    uint32_t ready;    /* admitted ones whose host said hello, and proved its key if there is one */
    uint32_t queues;   /* large queues that are in use, bit = index */
    unsigned controller; /* index, or MKPERF_NOBODY */
    mkperf_ToTarget in;
    union { /* the next message to send, if it is not in the page */
        mkperf_TargetHello hello;
        mkperf_Status status;
        mkperf_Reply reply;
        mkperf_Stamp stamp;
        mkperf_Error error;
    } out;
    uint8_t message[MKPERF_CONTENT_BYTES];
    struct mkperf_settings settings; /* what the text commands have set */

    bool running;          /* A session was started, and its end has not been sent. */
    bool stopping;         /* The session ends after the last batch, with a Status. */
    unsigned stop_by;      /* the connection that gets this Status as its answer */
    uint32_t stop_request; /* the number of the request that it answers */
    bool restarting;       /* After that, the page's request is configured and started. */
    bool dumping;          /* The session is a dump. */
    unsigned dump_by;      /* the connection that requested the dump */
    /* The number of that request; the connection has sent no other one since. */
    uint32_t dump_request;
    bool new_epoch;         /* An epoch begins before the next batch. */
    bool announce;          /* Hello and session are sent before the next batch. */
    bool status_due;        /* A status is sent with the next records. */
    bool trigger_there;     /* A mark ended the flight recording. */
    mkperf_Mark trigger;    /* that mark */
    uint64_t corrupt;       /* invalid records */
    uint64_t dropped;       /* samples of this session that `clear` dropped */
    uint64_t sched_dropped; /* scheduling events that it dropped */
    uint64_t status_time;   /* ticks: when the last batch was sent after which a status was due */
    uint64_t ring_peak;     /* bytes: the highest fill level of `ring` since then */

    uint32_t bad_auth, refused, connections, links_lost, marks_lost; /* counted since boot */
    uint32_t old_hellos; /* hellos that showed a key, since boot */
    uint64_t calls;      /* calls of the pump, which are the clock if there is no other */
    uint64_t pool;       /* random bits: the arrival times of bytes are mixed into it */
    uint64_t challenges; /* counted since boot */
    /* Nonces of the last hellos with a key. */
    uint8_t old_nonce[MKPERF_OLD_HELLOS][MKPERF_NONCE_BYTES];
};

/* A connection, and the request of its host that is being answered. */
struct mkperf_peer {
    struct mkperf_client *c;
    struct mkperf_connection *p;
    unsigned who;     /* index of p */
    uint32_t request; /* 0: none, or one without a number, which gets no answer */
};

static inline struct mkperf_peer mkperf_peer(struct mkperf_client *c, unsigned who,
                                             uint32_t request)
{
    return (struct mkperf_peer){c, &c->connection[who], who, request};
}

/* Prepares the client. All fields except those above are zero before. */
void mkperf_client_init(struct mkperf_client *c);

/* Opens a connection. Returns its index, or -1 if all places are taken, which is counted as refused.
 * ends: see the struct. */
int mkperf_client_open(struct mkperf_client *c, bool ends);
/* Returns the connection that makes room for a new one if all places are taken; else -1. Of those
 * that are not admitted, it is the oldest without a hello that showed a key, or the oldest if all
 * have shown one. */
int mkperf_client_least(const struct mkperf_client *c);
/* Called when a connection has ended. The contents of its queue are lost. The host detects that by
 * the numbers of frames. */
void mkperf_client_closed(struct mkperf_client *c, unsigned who);
/* Returns whether the transport must close the connection now. */
bool mkperf_client_finished(const struct mkperf_client *c, unsigned who);

/* Takes one byte from a connection. A message that it completes is executed and answered. */
void mkperf_client_byte(struct mkperf_client *c, unsigned who, uint8_t byte);

/* Moves records from the output ring into frames, as far as the link that sets the pace accepts
 * them. A batch that is not full is sent when the ring is empty. Bounded by the links' queues. */
void mkperf_client_pump(struct mkperf_client *c);

/* ---- session.c ---- */

/* These two return an enum mkperf_session_result, and the error is in the page. by: the index of the
 * connection to whose request the Status at the end of the session is the answer, or MKPERF_NOBODY. */
uint32_t mkperf_control_start(struct mkperf_client *c);
uint32_t mkperf_control_stop(struct mkperf_client *c, unsigned by, uint32_t request);
/* Restarts a dump that another host had started. A host repeats its request if the answer is late:
 * that is answered again, and the dump goes on. */
uint32_t mkperf_control_dump(struct mkperf_peer peer);
/* Returns whether a session runs that can be stopped. Its samples are sent or form a flight
 * recording. */
bool mkperf_control_active(const struct mkperf_client *c);
uint64_t mkperf_client_now(struct mkperf_client *c);

/* ---- connections.c ---- */

static inline bool mkperf_connection_ready(const struct mkperf_client *c, unsigned who)
{
    return c->ready >> who & 1;
}
/* Gives the connection a large queue if it has none. False: no more connections can be admitted. */
bool mkperf_connection_admit(struct mkperf_peer peer);

void mkperf_connection_hello(struct mkperf_peer peer, const mkperf_HostHello *m);
void mkperf_connection_prove(struct mkperf_peer peer, const mkperf_Prove *m);
void mkperf_connection_take_control(struct mkperf_peer peer, bool force);
void mkperf_connection_give_up_control(struct mkperf_peer peer);
/* Returns whether this host may change the session. A host that sends text gets the control if no host has it. */
bool mkperf_connection_may_control(struct mkperf_peer peer);

/* ---- stream.c ---- */

void mkperf_stream_flush(struct mkperf_client *c);
/* `clear`: drops the output ring's contents; returns the number of samples. */
uint64_t mkperf_stream_clear(struct mkperf_client *c);
/* Answers LIST in parts, as messages or as text. */
void mkperf_stream_list(struct mkperf_peer peer, bool text);
/* Lets the connection join the stream. It has no chain, so it gets batches from the next epoch
 * on. */
void mkperf_stream_join(struct mkperf_peer peer);

/* ---- command.c: lines of text that control the profiler (include/mkperf/text_commands.h) ---- */

void mkperf_command_defaults(struct mkperf_settings *s);
/* Executes a line of at most n bytes, which ends there or at a NUL, and answers. A line that is
 * refused has no effect. */
void mkperf_command(struct mkperf_peer peer, const char *text, size_t n);
/* Configures the settings and starts a session, for `start` and for applications. If the settings
 * are unchanged, the configuration of a host is used. Returns an enum mkperf_session_result. */
uint32_t mkperf_command_start(struct mkperf_client *c);

/* ---- mark.c ---- */

/* An application's call (include/mkperf/client.h): `words` of message registers. Returns an enum
 * mkperf_app_result. */
uint32_t mkperf_client_app(struct mkperf_client *c, uint64_t label, const uint64_t *words,
                           unsigned n);

/* ---- stamp_reserved.c ---- */

/* The stamp of this image (mkperf/stamp.h): reserved in the client PD's ELF, written by `mkperf
 * stamp` after linking. */
extern const uint8_t mkperf_stamp[MKPERF_STAMP_BYTES];

/* ---- report.c: messages. Each is queued unless the link is full. ---- */

void mkperf_report_hello(struct mkperf_peer peer);
void mkperf_report_status(struct mkperf_peer peer);
/* Queues a message of the session page, as it is there: the one with the tag `which` in ToHost. */
void mkperf_report_page(struct mkperf_peer peer, uint32_t which);
/* Part `part` of the answer to `op`, which is such a message, or the profiler PD's refusal. */
void mkperf_report_part(struct mkperf_peer peer, uint32_t which, uint32_t op, uint32_t part);
/* Queues the page's list of events as the text of a reply to a command. more: further replies
 * follow. */
void mkperf_report_events_text(struct mkperf_peer peer, bool more);
void mkperf_report_ack(struct mkperf_peer peer);
void mkperf_report_role(struct mkperf_peer peer);
void mkperf_report_gap(struct mkperf_peer peer);
/* Queues the message for all connections that are ready and not full; counts the others. */
void mkperf_report_mark(struct mkperf_client *c, const mkperf_Mark *mark);
void mkperf_report_reply(struct mkperf_peer peer, bool ok, const char *text, bool more);
/* Queues the state, or the error if the call did not return OK. */
void mkperf_report_result(struct mkperf_peer peer, uint32_t result);
/* Errors are sent only as an answer to a request (peer.request != 0). */
__attribute__((format(printf, 3, 4))) void
mkperf_report_error(struct mkperf_peer peer, uint32_t code, const char *text, ...);
/* Queues the error in the page after a call that returned `result`. False: it returned OK. */
bool mkperf_report_refusal(struct mkperf_peer peer, uint32_t result);
/* Answers GetStamp, from any host. */
void mkperf_report_stamp(struct mkperf_peer peer, uint32_t offset);

#endif
