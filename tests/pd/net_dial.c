/* SPDX-License-Identifier: BSD-2-Clause */
/* The client PD's TCP as in a build with MKPERF_NET_DIAL, for tests/system/net-dial.sh. */
#undef MKPERF_NET_DIAL
#define MKPERF_NET_DIAL "10.0.2.100:1237"
#include "../../pd/net/tcp.c" // NOLINT(bugprone-suspicious-include)
