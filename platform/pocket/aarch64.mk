# SPDX-License-Identifier: BSD-2-Clause
# pocket on AArch64: what settings.mk and build.mk read of the architecture, and of QEMU's machine.

PLATFORM_CLOCK := cntvct_el0
PLATFORM_TICK := pd/net/tick_pl031.c
PROFILER_TIMER := generic_timer
PROFILER_TIMER_CFLAGS := -DMKPERF_TIMER_VIRTUAL
POCKET_KERNEL_CPU := -mcpu=cortex-a53 -mgeneral-regs-only -mno-outline-atomics
SYSTEM_VALUES := PMU_IRQ=23 UART_BASE=0x9000000 UART_IRQ=33 PACER_BASE=0x9010000 PACER_IRQ=34 TIMER_IRQ=27 FOUR_CORES=1
