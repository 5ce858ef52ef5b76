/* SPDX-License-Identifier: BSD-2-Clause */
/* The client PD's serial link layer on a line of 115200 baud (line.h). */
#define LINE_BAUD 115200
#include "line.h"

#define MKPERF_TRANSPORT mkperf_line
#include "../../pd/client/serial.c" // NOLINT(bugprone-suspicious-include): that very file
