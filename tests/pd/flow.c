/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pipeline of PDs with queues and known service times, for tests/system/flow.sh. One program, five PDs:
 *
 *   src     every period of its budget BATCH packets, as far as there is room; it then uses up the budget
 *   stages  names with a number n: n thousand instructions for each packet, from one queue to the next. With "x8" behind the
 *           number they notify after 8 packets, and with "y8" they drop each eighth one
 *   sink    the last stage has no queue behind it. As `evil` it writes anything into its queue's head
 *
 * Each PD counts its packets, and the activations in which it had any, in a page of counters. The
 * profiler PD maps that as well, so that a recording has counts that do not come from the queues.
 */
#include <microkit.h>
#include <mkperf/client.h>
#include <stddef.h>
#include <stdint.h>

#include "spin.h"

enum { CH_UP = 1, CH_DOWN = 2, SLOTS = 64, BATCH = 32, PACE = 101000 };

struct ring {
    volatile uint32_t head; /* written by the consumer */
    uint32_t pad[15];
    volatile uint32_t tail; /* the producer's */
    uint32_t more[15];
    volatile uint32_t packet[SLOTS];
};

struct counts {
    volatile uint64_t activations;
    uint64_t packets;
};

struct ring *flow_in;       /* setvar_vaddr; NULL: src */
struct ring *flow_out;      /* NULL: this PD is the sink */
struct counts *flow_counts; /* the counts of all PDs */
static struct counts *mine;
static uint64_t service; /* instructions a packet */
static uint64_t batch = SLOTS, drops;

static void note(uint32_t packets)
{
    if (packets != 0) {
        mine->activations++;
        microkit_notify(CH_DOWN);
    }
}

static uint32_t room(const struct ring *r)
{
    uint32_t used = r->tail - r->head;

    return used < SLOTS ? SLOTS - used : 0;
}

static void produce(void)
{
    for (;;) {
        uint32_t n = room(flow_out);
        n = n < BATCH ? n : BATCH;
        for (uint32_t i = 0; i < n; i++) {
            flow_out->packet[flow_out->tail % SLOTS] = i;
            mkperf_app_packets(&mine->packets, 1);
            flow_out->tail++;
        }
        note(n);
        work(PACE);
    }
}

static void pass_on(void)
{
    if (flow_out != NULL) {
        microkit_notify(CH_DOWN);
    }
    microkit_notify(CH_UP);
}

static void consume(void)
{
    uint32_t n = 0;

    while (flow_in->head != flow_in->tail && (flow_out == NULL || room(flow_out) != 0) &&
           n < SLOTS) {
        uint32_t packet = flow_in->packet[flow_in->head % SLOTS];
        work(service);
        if (flow_out != NULL && (drops == 0 || flow_in->head % drops != 0)) {
            flow_out->packet[flow_out->tail % SLOTS] = packet;
            flow_out->tail++;
        }
        mkperf_app_packets(&mine->packets, 1);
        flow_in->head++;
        n++;
        if (n % batch == 0) {
            pass_on();
        }
    }
    mine->activations += n != 0;
    if (n % batch != 0) {
        pass_on();
    }
}

/* In the time that no other PD needs. Half of the values let the stage before it continue. */
static void destroy(void)
{
    for (uint32_t random = 1;; random = random * 1664525 + 1013904223) {
        flow_in->head = (random >> 16 & 1) != 0 ? random : flow_in->tail;
        microkit_notify(CH_UP);
        work(service);
    }
}

/* Returns the number behind a position of the name, of which the position is moved to the end. */
static uint64_t number(const char **c)
{
    uint64_t n = 0;

    for (; **c >= '0' && **c <= '9'; (*c)++) {
        n = n * 10 + (uint64_t)(**c - '0');
    }
    return n;
}

void init(void)
{
    const char *c = microkit_name;

    for (; *c != '\0' && (*c < '0' || *c > '9'); c++) {
    }
    /* src, and the stages by the letter before their number: a, b, c, d. */
    mine = &flow_counts[flow_in == NULL ? 0 : c[-1] - 'a' + 1];
    service = 1000 * number(&c);
    for (char kind = *c; kind == 'x' || kind == 'y'; kind = *c) {
        c++;
        *(kind == 'x' ? &batch : &drops) = number(&c);
    }
    if (flow_in == NULL) {
        produce();
    } else if (microkit_name[0] == 'e') {
        destroy();
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
    consume();
}
