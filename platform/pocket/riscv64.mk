# SPDX-License-Identifier: BSD-2-Clause
# pocket on RISC-V: what settings.mk and build.mk read of the architecture, and of QEMU's machine. The firmware is QEMU's OpenSBI.

QEMU := qemu-system-riscv64 -machine virt -cpu rv64,sscofpmf=on -m 256M -display none -monitor none \
        -nodefaults -icount shift=0,sleep=off -kernel
PLATFORM_CLOCK := time
PLATFORM_CLOCK_HZ := 10000000
PLATFORM_CFLAGS += -DMKPERF_UART=ns16550_uart
PROFILER_TIMER := no_timer
PLATFORM_TICK := pd/net/tick_goldfish.c
POCKET_KERNEL_CPU := -march=rv64imac_zicsr -mabi=lp64 -mcmodel=medany -fno-pic
SYSTEM_VALUES := PMU_IRQ=286 UART_BASE=0x10000000 UART_IRQ=10 PACER_BASE=0x101000 PACER_IRQ=11
