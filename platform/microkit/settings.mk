# SPDX-License-Identifier: BSD-2-Clause
# The target half for a Microkit SDK: what the rest of the build reads of it (pd/rules.mk). Its own rules
# are in build.mk.
#
#   make BUILD_DIR=... MICROKIT_SDK=... MICROKIT_BOARD=... MICROKIT_CONFIG=...
#
# builds the demo's protection domains with the SDK's libmicrokit and $(BUILD_DIR)/loader.img with
# its tool. The SDK's kernel must have the hook, see docs/sel4.md. What differs from board to board
# is in boards/BOARD.mk.

MICROKIT_CONFIG ?= debug
MICROKIT_BOARDS := $(patsubst platform/microkit/boards/%.mk,%,$(wildcard platform/microkit/boards/*.mk))
MICROKIT_BOARD_DIR := $(MICROKIT_SDK)/board/$(MICROKIT_BOARD)/$(MICROKIT_CONFIG)
MICROKIT_TOOL ?= $(MICROKIT_SDK)/bin/microkit

BOARD_MK := $(or $(wildcard platform/microkit/boards/$(MICROKIT_BOARD).mk),$(if $(SDDF),platform/microkit/sddf/any-board.mk))
ifeq ($(BOARD_MK),)
$(error MICROKIT_BOARD must be one of: $(MICROKIT_BOARDS). For another board write \
    platform/microkit/boards/BOARD.mk)
endif
ifeq ($(wildcard $(MICROKIT_BOARD_DIR)/lib/libmicrokit.a),)
$(error MICROKIT_SDK: $(MICROKIT_BOARD_DIR)/lib/libmicrokit.a is missing)
endif
include $(BOARD_MK)

# The SDK's headers are system headers: warnings in them are not ours to fix. Its inline assembly needs GNU C;
# its linker script has .data as one section.
PLATFORM_CFLAGS := -std=gnu11 -mcpu=$(BOARD_CPU) $(BOARD_CFLAGS) -isystem $(MICROKIT_BOARD_DIR)/include \
                   -fno-data-sections -DMKPERF_TRANSPORT=mkperf_$(BOARD_UART_DRIVER)
PLATFORM_CLOCK := $(BOARD_CLOCK)
PLATFORM_TICK := $(BOARD_TICK)
PLATFORM_LDFLAGS := -T platform/microkit/build-id.ld -T $(MICROKIT_BOARD_DIR)/lib/microkit.ld
PLATFORM_LIBS := $(MICROKIT_BOARD_DIR)/lib/libmicrokit.a
PLATFORM_READY := $(PLATFORM_LIBS) $(MICROKIT_BOARD_DIR)/lib/microkit.ld platform/microkit/build-id.ld
PROFILER_TIMER := $(BOARD_TIMER)
SYSTEM_VALUES := PMU_IRQ=$(BOARD_PMU_IRQ) UART_BASE=$(BOARD_UART_BASE) UART_IRQ=$(BOARD_UART_IRQ) \
                 PACER_BASE=$(BOARD_PACER_BASE) PACER_IRQ=$(BOARD_PACER_IRQ) \
                 TIMER_BASE=$(BOARD_TIMER_BASE) TIMER_IRQ=$(BOARD_TIMER_IRQ)

# One build directory serves one board and configuration at a time: what was made for another is removed.
MICROKIT_FOR := $(abspath $(MICROKIT_BOARD_DIR)) $(BOARD_CFLAGS)
ifneq ($(shell cat $(B)/microkit-for 2>/dev/null),$(MICROKIT_FOR))
$(shell rm -rf $(B)/obj/target $(B)/demo $(B)/net $(B)/stock $(B)/shared $(B)/loader.* $(B)/tests/sel4 \
    $(B)/tests/stock && mkdir -p $(B) && \
    echo '$(MICROKIT_FOR)' >$(B)/microkit-for)
endif

# Images are made by the SDK's tool, with a report beside each.
image_name := loader.img
define image_rules
$(1): $(2) $(4) $(MICROKIT_BOARD_DIR)/elf/sel4.elf | $(B)/mkperf
	$(call stamp_client,$(1:.img=.stamped),$(2),$(3),$(MICROKIT_BOARD_DIR)/elf/sel4.elf,$(4))
	$$(Q)$$(MICROKIT_TOOL) $(2) --search-path $(1:.img=.stamped) $(3) --board $$(MICROKIT_BOARD) \
	    --config $$(MICROKIT_CONFIG) -o $(1) -r $(1:.img=.txt) >$(1:.img=.log) || \
	    { cat $(1:.img=.log) >&2; exit 1; }
endef
