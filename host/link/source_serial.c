/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: serial lines, serial:DEVICE,BAUD: raw, 8 bits, no parity, no flow control. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { DEFAULT_BAUD = 115200 };

static const struct {
    unsigned long baud;
    speed_t speed;
} speeds[] = {
    {9600, B9600},       {19200, B19200},     {38400, B38400},     {57600, B57600},
    {115200, B115200},   {230400, B230400},   {460800, B460800},   {500000, B500000},
    {576000, B576000},   {921600, B921600},   {1000000, B1000000}, {1152000, B1152000},
    {1500000, B1500000}, {2000000, B2000000}, {2500000, B2500000}, {3000000, B3000000},
    {3500000, B3500000}, {4000000, B4000000},
};

static bool find_speed(const char *text, speed_t *speed)
{
    char *end;
    unsigned long baud = strtoul(text, &end, 10);

    for (size_t i = 0; *text != '\0' && *end == '\0' && i < sizeof speeds / sizeof *speeds; i++) {
        if (speeds[i].baud == baud) {
            *speed = speeds[i].speed;
            return true;
        }
    }
    return false;
}

static enum mkperf_status set_raw(struct mkperf_source *s, speed_t speed, struct mkperf_error *e)
{
    struct termios t;

    if (tcgetattr(s->fd, &t) != 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: not a serial line: %s", s->spec,
                                strerror(errno));
    }
    cfmakeraw(&t);
    t.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS);
    t.c_cflag |= CLOCAL | CREAD;
    t.c_cc[VMIN] = 1;
    t.c_cc[VTIME] = 0;
    if (cfsetspeed(&t, speed) != 0 || tcsetattr(s->fd, TCSANOW, &t) != 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: cannot be set up: %s", s->spec,
                                strerror(errno));
    }
    tcflush(s->fd, TCIFLUSH); /* discards older input */
    return MKPERF_OK;
}

static enum mkperf_status serial_open(struct mkperf_source *s, const char *where,
                                      struct mkperf_error *e)
{
    const char *comma = strrchr(where, ',');
    size_t n = comma != NULL ? (size_t)(comma - where) : strlen(where);
    speed_t speed = B115200;
    char *device;

    if (n == 0 || (comma != NULL && !find_speed(comma + 1, &speed))) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE,
                                "-t %s: want serial:DEVICE,BAUD with a usual baud rate (%d if "
                                "none is given)",
                                s->spec, DEFAULT_BAUD);
    }
    device = strndup(where, n);
    if (device == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    s->fd = open(device, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    int reason = errno;
    free(device);
    if (s->fd < 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", s->spec, strerror(reason));
    }
    if (set_raw(s, speed, e) != MKPERF_OK) {
        mkperf_source_close(s);
        return e->status;
    }
    ioctl(s->fd, TIOCEXCL); /* exclusive use; not every line supports it */
    return MKPERF_OK;
}

const struct mkperf_source_ops mkperf_source_serial = {
    .scheme = "serial",
    .where = "DEVICE,BAUD",
    .help = "a serial line, raw, 8N1",
    .interactive = true,
    .open = serial_open,
    .read = mkperf_source_fd_read,
    .write = mkperf_source_fd_write,
};
