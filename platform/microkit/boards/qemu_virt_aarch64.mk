# SPDX-License-Identifier: BSD-2-Clause
# QEMU's virt machine.

BOARD_CPU := cortex-a53
BOARD_CLOCK := cntpct_el0
BOARD_UART_DRIVER := pl011
BOARD_UART_BASE := 0x9000000
BOARD_UART_IRQ := 33
BOARD_PMU_IRQ := 23
# The profiler's own timer, docs/stock.md.
BOARD_TIMER := generic_timer
BOARD_TIMER_IRQ := 30
# What interrupts the demo's pacer once a second: its source, its device, its interrupt.
BOARD_TICK := pd/net/tick_pl031.c
BOARD_PACER_BASE := 0x9010000
BOARD_PACER_IRQ := 34
BOARD_NET := virtio
# For `-icount shift=1` below, see pd/profiler/policy.h.
BOARD_CFLAGS := -DMKPERF_PERIOD_STEP=2
# Boots $(IMAGE), serial port left to the caller.
MICROKIT_QEMU ?= qemu-system-aarch64
BOARD_QEMU = $(MICROKIT_QEMU) -machine virt,virtualization=on -cpu cortex-a53 -m size=2G \
    -display none -monitor none -nodefaults -rtc clock=vm -icount shift=1,sleep=off \
    -device loader,file=$(IMAGE),addr=0x70000000,cpu-num=0
