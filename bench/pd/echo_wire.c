/* SPDX-License-Identifier: BSD-2-Clause */
/* The demo's echo server at the end of a wire (wire.c), which has no DHCP server. */
#define ECHO_ADDRESS "10.9.0.1"
#define ECHO_MASK "255.255.255.0"
#define ECHO_GATEWAY "10.9.0.2"
#include "../../demo/echo.c" // NOLINT(bugprone-suspicious-include): that very program
