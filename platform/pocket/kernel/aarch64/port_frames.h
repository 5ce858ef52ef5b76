/* SPDX-License-Identifier: BSD-2-Clause */
/* Call chains on AArch64, included by mkperf_port.h. */
#include "../../../../kernel/arch/aapcs64.h"
