/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD's end of a queue of sDDF's serial class against a virtualiser in another thread,
 * under ThreadSanitizer: every byte arrives in order, and the client is woken whenever it waits.
 * The virtualiser polls, so that only the queue's barriers order the two.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#define MOCK_SDDF_PAUSE() sched_yield()
#include "pd/sddf/serial.c" // NOLINT(bugprone-suspicious-include)

enum { CAPACITY = 512, STREAM = 2000000, MOST = 700, PATIENCE_S = 60 };

static serial_queue_t out, in;
static char out_bytes[CAPACITY], in_bytes[CAPACITY];
static sem_t for_client;

void sddf_notify(unsigned channel)
{
    (void)channel;
}

void microkit_dbg_puts(const char *s)
{
    fputs(s, stderr);
}

/* Returns a byte of the stream; one in sixteen is a delimiter. */
static uint8_t byte_at(uint32_t n)
{
    uint8_t hash = (uint8_t)(n * 2654435761u >> 24);

    return hash < 16 ? 0 : hash;
}

static void *virtualise(void *arg)
{
    uint32_t head = 0;

    (void)arg;
    while (head < STREAM) {
        uint32_t end = __atomic_load_n(&out.tail, __ATOMIC_ACQUIRE);
        if (end == head) {
            sched_yield();
            continue;
        }
        for (; head != end; head++) {
            if ((uint8_t)out_bytes[head % CAPACITY] != byte_at(head)) {
                fprintf(stderr, "byte %u is wrong\n", head);
                exit(1);
            }
        }
        __atomic_store_n(&out.head, head, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&out.producer_signalled, __ATOMIC_SEQ_CST) == 0) {
            __atomic_store_n(&out.producer_signalled, 1, __ATOMIC_SEQ_CST);
            sem_post(&for_client);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t virtualiser;
    uint8_t bytes[MOST];

    /* After that time it waits forever. */
    struct itimerval patience = {.it_value.tv_sec = PATIENCE_S};
    setitimer(ITIMER_REAL, &patience, NULL);
    serial_config = (serial_client_config_t){
        .magic = {'s', 'D', 'D', 'F', 3},
        .rx = {{&in, sizeof in}, {in_bytes, CAPACITY}, 5},
        .tx = {{&out, sizeof out}, {out_bytes, CAPACITY}, 6},
    };
    mkperf_sddf_serial.init();
    if (sem_init(&for_client, 0, 0) != 0 ||
        pthread_create(&virtualiser, NULL, virtualise, NULL) != 0) {
        return 1;
    }
    for (uint32_t n = 0; n < STREAM;) {
        uint32_t most = 1 + (n * 2654435761u >> 7) % MOST; /* up to more than fits */
        most = STREAM - n < most ? STREAM - n : most;
        for (uint32_t i = 0; i < most; i++) {
            bytes[i] = byte_at(n + i);
        }
        uint32_t taken = (uint32_t)mkperf_sddf_serial.write(bytes, most);
        n += taken;
        mkperf_sddf_serial.more(taken < most);
        if (taken < most) {
            sem_wait(&for_client);
        }
    }
    pthread_join(virtualiser, NULL);
    return 0;
}
