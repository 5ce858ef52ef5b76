# SPDX-License-Identifier: BSD-2-Clause
# NXP i.MX 8M Mini EVK. The console is UART2; the pacer uses GPT1. (i.MX 8M Mini reference manual,
# rev. 3, tables 2-1 and 7-1: shared interrupts are numbered from 32.)

BOARD_CPU := cortex-a53
BOARD_CLOCK := cntpct_el0
BOARD_UART_DRIVER := imx_uart
BOARD_UART_BASE := 0x30890000
BOARD_UART_IRQ := 59
BOARD_PMU_IRQ := 23
# The profiler's own timer, docs/stock.md: GPT2. The kernel keeps the generic timer to itself.
BOARD_TIMER := imx_gpt
BOARD_TIMER_IRQ := 86
BOARD_TIMER_BASE := 0x302e0000
BOARD_TICK := pd/net/tick_gpt.c
BOARD_PACER_BASE := 0x302d0000
BOARD_PACER_IRQ := 87
# Boots $(IMAGE) in QEMU, serial port left to the caller. Debian 12's QEMU does not know the board, so this
# is for MICROKIT_QEMU=<one that does>, and a kernel with -DKernelMkperfQEMU=ON. It has no firmware for it either.
ifneq ($(MICROKIT_QEMU),)
BOARD_FIRMWARE := tests/sel4/imx8mm_firmware.S
BOARD_CFLAGS := -DMKPERF_PERIOD_STEP=2
BOARD_QEMU = $(MICROKIT_QEMU) -machine imx8mm-evk -m 2G -display none -monitor none -nodefaults \
    -rtc clock=vm -icount shift=1,sleep=off -serial null \
    -device loader,file=$(B)/firmware.bin,addr=0x40000000,force-raw=on,cpu-num=0 \
    -device loader,file=$(IMAGE),addr=0x41000000,force-raw=on
endif
