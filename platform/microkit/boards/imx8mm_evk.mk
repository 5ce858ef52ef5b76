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
BOARD_PACER := demo/pacer_gpt.c
BOARD_PACER_BASE := 0x302d0000
BOARD_PACER_IRQ := 87
