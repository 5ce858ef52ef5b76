/* SPDX-License-Identifier: BSD-2-Clause */
/* The client PD's serial link layer on a line of 3000000 baud (line.h). */
#define LINE_BAUD 3000000
#include "line.h"

#define MKPERF_TRANSPORT mkperf_line
#include "../../pd/client/serial.c" // NOLINT(bugprone-suspicious-include): that very file
