/* SPDX-License-Identifier: BSD-2-Clause */
/* Call chains on RISC-V, included by mkperf_port.h. */
#include "../../../../kernel/arch/riscv_frames.h"
