# SPDX-License-Identifier: BSD-2-Clause
# In place of boards/BOARD.mk, for a board with a row in unseen.mk.

BOARD_CPU := $(word 1,$(unseen_board))
BOARD_PMU_IRQ := $(word 2,$(unseen_board))
BOARD_UART_DRIVER := $(word 3,$(unseen_board))
BOARD_UART_BASE := $(word 4,$(unseen_board))
BOARD_UART_IRQ := $(word 5,$(unseen_board))
BOARD_CLOCK := $(exported_clock)

ifeq ($(BOARD_UART_BASE),)
$(error The client PD has no driver for the UART of $(MICROKIT_BOARD) ($(BOARD_UART_DRIVER)). Build one that is a client \
    of sDDF: `make sddf-pds SDDF=...', docs/net.md; or add a row to pd/client/uart_line.c. The PMU interrupt is $(BOARD_PMU_IRQ))
endif
ifneq ($(filter-out host clean microkit-pds microkit-system,$(or $(MAKECMDGOALS),all)),)
$(error For $(MICROKIT_BOARD) only `make microkit-pds' and `make microkit-system' work: the demo needs a timer device \
    that mkperf knows)
endif
$(info mkperf has not been seen on $(MICROKIT_BOARD).)
