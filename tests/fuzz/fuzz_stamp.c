/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a stamp, on both sides: the host's reader, which must refuse the table or return one
 * that writes back to the same bytes; and the client PD's check of the size, which must not read
 * beyond what is reserved. The CRC and the size are made right for the reader, unless the first
 * byte says not to, so that they do not keep the fuzzer out.
 */
#include <stdlib.h>
#include <string.h>

#include <mkperf/frame.h>

#include "host/system/system.h"
#include "pd/client/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void put32(uint8_t *p, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (uint8_t)(value >> 8 * i);
    }
}

static void client_side(const uint8_t *data, size_t n)
{
    static struct mkperf_client client;
    static struct mkperf_session_page page;
    static struct mkperf_connection place;
    /* memory of its own, so that the sanitizer sees each byte beyond it */
    uint8_t *table = malloc(n + 1);

    memcpy(table, data, n);
    client.page = &page;
    client.connection = &place;
    client.stamp = table;
    client.stamp_reserved = (uint32_t)n;
    client.platform = "fuzz";
    mkperf_report_hello(mkperf_peer(&client, 0, 0));
    uint32_t size = client.out.hello.stamp_bytes;
    if (size > n) {
        abort();
    }
    place = (struct mkperf_connection){0};
    for (uint32_t at = 0; at < size; at += MKPERF_STAMP_PART_BYTES) {
        mkperf_report_stamp(mkperf_peer(&client, 0, 1), at);
        if (client.out.stamp.offset != at ||
            memcmp(client.out.stamp.table.bytes, table + at, client.out.stamp.table.size) != 0) {
            abort();
        }
        place = (struct mkperf_connection){0}; /* what was queued is not sent */
    }
    mkperf_report_stamp(mkperf_peer(&client, 0, 1), size);
    place = (struct mkperf_connection){0};
    free(table);
}

static void host_side(const uint8_t *data, size_t n)
{
    static struct mkperf_image image, again;
    uint8_t out[MKPERF_STAMP_BYTES], same[MKPERF_STAMP_BYTES];
    struct mkperf_error e = {.status = MKPERF_OK};

    if (mkperf_image_read(data, n, &image, &e) != MKPERF_OK) {
        if (e.text[0] == '\0') {
            abort();
        }
        return;
    }
    size_t written = mkperf_image_write(&image, out);
    if (written != n || mkperf_image_read(out, written, &again, &e) != MKPERF_OK ||
        mkperf_image_write(&again, same) != written || memcmp(out, same, written) != 0) {
        abort();
    }
    struct mkperf_schedule_entry window[MKPERF_WINDOWS];
    unsigned windows = mkperf_windows_read(image.windows, window);
    for (unsigned i = 0; i < windows; i++) {
        if ((window[i].us == 0) == (window[i].ticks == 0) || window[i].domain[0] == '\0') {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static uint8_t table[2 * MKPERF_STAMP_BYTES];

    if (n == 0 || n > sizeof table) {
        return 0;
    }
    uint8_t as_it_is = data[0];
    memcpy(table, ++data, --n);
    if (as_it_is == 0 && n >= MKPERF_STAMP_HEADER_BYTES) {
        memcpy(table, MKPERF_STAMP_MAGIC, MKPERF_STAMP_MAGIC_BYTES);
        put32(table + MKPERF_STAMP_SIZE_AT, (uint32_t)n);
        put32(table + MKPERF_STAMP_CRC_AT,
              mkperf_crc32(0, table + MKPERF_STAMP_IMAGE_AT, n - MKPERF_STAMP_IMAGE_AT));
    }
    host_side(table, n);
    client_side(table, n);
    return 0;
}
