# SPDX-License-Identifier: BSD-2-Clause
# In place of boards/BOARD.mk where there is none: what mkperf's PDs need to know of a board whose
# devices are sDDF's to drive. It is read off the SDK; only `make sddf-pds` can be built with it.

ifneq ($(filter-out sddf-pds host,$(or $(MAKECMDGOALS),all)),)
$(error For $(MICROKIT_BOARD) there is no platform/microkit/boards/$(MICROKIT_BOARD).mk: with SDDF, only \
    `make sddf-pds' goes without one)
endif
BOARD_CPU := generic
BOARD_CLOCK := $(exported_clock)
