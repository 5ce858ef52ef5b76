/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A conversation with a target that is not a recording: for `mkperf list` and `mkperf stat`.
 *
 * Owns: the recorder, whose output is a sink, or beside a conversation a recording. Console text of the target is not shown.
 */
#ifndef MKPERF_HOST_LINK_TALK_H
#define MKPERF_HOST_LINK_TALK_H

#include "recorder.h"

struct mkperf_talk {
    /* Set before mkperf_talk_open; what is not needed stays 0. */
    struct mkperf_record_options options; /* link; system and elf_path for names */
    struct mkperf_sink sink;              /* of samples; ops NULL: samples are discarded */
    /* Every message but batches. */
    void (*control)(void *self, const mkperf_ToHost *m);
    void (*text)(void *self, const char *p, size_t n); /* console text; NULL */
    void (*notice)(void *self, const char *text);      /* may be NULL */
    void (*warn)(void *self, const char *text); /* about names and ELFs; NULL: they are discarded */
    const char
        *recording; /* NULL, or instead of `sink`: a file for what arrives, see mkperf_talk_keep */
    volatile int *stop; /* NULL: never */
    void *self;

    struct mkperf_recorder recorder;
};

/* For a command whose state begins with a struct mkperf_talk: defaults of options; closes it. */
void mkperf_talk_init(void *talk, int argc, char **argv);
void mkperf_talk_end(void *talk);

/* Opens the source and greets the target. Errors: as mkperf_recorder_start. Close it in any case.
 */
enum mkperf_status mkperf_talk_open(struct mkperf_talk *t, struct mkperf_error *e);
void mkperf_talk_close(struct mkperf_talk *t);

/* Finishes the recording, after the session's end. Without that, or if nothing arrived, there is none. Errors:
 * OUTPUT. */
enum mkperf_status mkperf_talk_keep(struct mkperf_talk *t, struct mkperf_error *e);

/* The target's hello. */
const mkperf_TargetHello *mkperf_talk_hello(const struct mkperf_talk *t);

#endif
