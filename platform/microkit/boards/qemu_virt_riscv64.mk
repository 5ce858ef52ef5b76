# SPDX-License-Identifier: BSD-2-Clause
# QEMU's virt machine for RISC-V, one core. Without what the board has no driver for: a timer for PDs (the machine's is S-mode's)
# and the network.

BOARD_CLOCK := time
BOARD_CLOCK_HZ := 10000000
BOARD_UART_DRIVER := ns16550_uart
BOARD_UART_BASE := 0x10000000
BOARD_UART_IRQ := 10
# No device has it: the PMU's interrupt has no number (kernel/sel4/mkperf.cmake).
BOARD_PMU_IRQ := 95
BOARD_TIMER := no_timer
BOARD_TICK := pd/net/tick_goldfish.c
BOARD_PACER_BASE := 0x101000
BOARD_PACER_IRQ := 11
# Boots $(IMAGE), serial port left to the caller. The firmware is QEMU's OpenSBI.
MICROKIT_QEMU ?= qemu-system-riscv64
BOARD_QEMU = $(MICROKIT_QEMU) -machine virt -cpu rv64,sscofpmf=on -m size=2G -display none -monitor none \
    -nodefaults -rtc clock=vm -icount shift=0,sleep=off -kernel $(IMAGE)
