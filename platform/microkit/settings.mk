# SPDX-License-Identifier: BSD-2-Clause
# The target half for a Microkit SDK: what the rest of the build reads of it (pd/rules.mk). Its own rules
# are in build.mk.
#
#   make BUILD_DIR=... MICROKIT_SDK=... MICROKIT_BOARD=... MICROKIT_CONFIG=... [MICROKIT_KERNEL=kernel.elf]
#
# builds the demo's protection domains with the SDK's libmicrokit and $(BUILD_DIR)/loader.img with
# its tool. The kernel must have the hook, see docs/sel4.md: the SDK's own, or MICROKIT_KERNEL in its
# place. What differs from board to board is in boards/BOARD.mk; boards/unseen.mk has a row for each of
# the others for which PDs can be built.

MICROKIT_CONFIG ?= debug
BOARDS_DIR := platform/microkit/boards
BOARDS := $(filter-out unseen%,$(patsubst $(BOARDS_DIR)/%.mk,%,$(wildcard $(BOARDS_DIR)/*.mk)))
MICROKIT_BOARD_DIR := $(MICROKIT_SDK)/board/$(MICROKIT_BOARD)/$(MICROKIT_CONFIG)
MICROKIT_TOOL ?= $(MICROKIT_SDK)/bin/microkit

include $(BOARDS_DIR)/unseen.mk
BOARD_MK := $(or $(wildcard $(BOARDS_DIR)/$(MICROKIT_BOARD).mk),$(if $(SDDF),platform/microkit/sddf/any-board.mk),\
    $(if $(unseen_board),$(BOARDS_DIR)/unseen_board.mk))
# The clock that kernels of this SDK let user mode read.
exported_clock = $(if $(shell grep -s 'define CONFIG_EXPORT_PCNT_USER *1' \
    $(MICROKIT_BOARD_DIR)/include/kernel/gen_config.h),cntpct_el0)
ifeq ($(BOARD_MK),)
$(error MICROKIT_BOARD must be one of: $(BOARDS); \
    mkperf's PDs alone for: $(UNSEEN). For another board write $(BOARDS_DIR)/BOARD.mk)
endif
ifeq ($(wildcard $(MICROKIT_BOARD_DIR)/lib/libmicrokit.a),)
$(error MICROKIT_SDK: $(MICROKIT_BOARD_DIR)/lib/libmicrokit.a is missing)
endif
include $(BOARD_MK)

# MICROKIT_KERNEL: a kernel for the same board and configuration, in place of the SDK's own. Microkit's
# tool has an option for that since 2.3; one before gets an SDK of links with that kernel in it.
MICROKIT_KERNEL ?= $(MICROKIT_BOARD_DIR)/elf/sel4.elf
microkit_run := $(MICROKIT_TOOL)
ifneq ($(abspath $(MICROKIT_KERNEL)),$(abspath $(MICROKIT_BOARD_DIR)/elf/sel4.elf))
ifeq ($(wildcard $(MICROKIT_KERNEL)),)
$(error MICROKIT_KERNEL: there is no $(MICROKIT_KERNEL))
endif
ifneq ($(shell $(MICROKIT_TOOL) --help 2>&1 | grep -e --override-kernel),)
microkit_run += --override-kernel $(MICROKIT_KERNEL)
else
SDK_LINKS := $(abspath $(B))/sdk
$(shell rm -rf $(SDK_LINKS) && mkdir -p $(SDK_LINKS) && cp -rs $(abspath $(MICROKIT_SDK))/. $(SDK_LINKS) && \
    ln -sf $(abspath $(MICROKIT_KERNEL)) $(SDK_LINKS)/board/$(MICROKIT_BOARD)/$(MICROKIT_CONFIG)/elf/sel4.elf)
microkit_run := MICROKIT_SDK=$(SDK_LINKS) $(MICROKIT_TOOL)
endif
endif

# The SDK's headers are system headers: warnings in them are not ours to fix. Its inline assembly needs GNU C;
# its linker script has .data as one section.
PLATFORM_CFLAGS := -std=gnu11 $(BOARD_CPU:%=-mcpu=%) $(BOARD_CFLAGS) -isystem $(MICROKIT_BOARD_DIR)/include \
                   -fno-data-sections -DMKPERF_UART=$(BOARD_UART_DRIVER)
PLATFORM_CLOCK := $(BOARD_CLOCK)
PLATFORM_CLOCK_HZ := $(BOARD_CLOCK_HZ)
PLATFORM_TICK := $(BOARD_TICK)
PLATFORM_LDFLAGS := $(BOARD_LDFLAGS) -T platform/microkit/build-id.ld -T $(MICROKIT_BOARD_DIR)/lib/microkit.ld
PLATFORM_LIBS := $(MICROKIT_BOARD_DIR)/lib/libmicrokit.a
PLATFORM_READY := $(PLATFORM_LIBS) $(MICROKIT_BOARD_DIR)/lib/microkit.ld platform/microkit/build-id.ld
PROFILER_TIMER := $(BOARD_TIMER)
# How many cores the kernel is made for: 1 where it says nothing.
MICROKIT_CORES := $(shell sed -n 's/^.define CONFIG_MAX_NUM_NODES *//p' $(MICROKIT_BOARD_DIR)/include/kernel/gen_config.h)
SYSTEM_VALUES := PMU_IRQ=$(BOARD_PMU_IRQ) UART_BASE=$(BOARD_UART_BASE) UART_IRQ=$(BOARD_UART_IRQ) \
                 PACER_BASE=$(BOARD_PACER_BASE) PACER_IRQ=$(BOARD_PACER_IRQ) \
                 TIMER_BASE=$(BOARD_TIMER_BASE) TIMER_IRQ=$(BOARD_TIMER_IRQ) \
                 IO_PORTS=$(BOARD_IO_PORTS) FOUR_CORES=$(filter 4,$(MICROKIT_CORES))

# One build directory serves one board and configuration at a time: what was made for another is removed.
MICROKIT_FOR := $(abspath $(MICROKIT_BOARD_DIR) $(MICROKIT_KERNEL)) $(BOARD_CFLAGS)
ifneq ($(shell cat $(B)/microkit-for 2>/dev/null),$(MICROKIT_FOR))
$(shell rm -rf $(B)/obj/target $(B)/demo $(B)/net $(B)/stock $(B)/shared $(B)/loader.* $(B)/tests/sel4 \
    $(B)/tests/stock && mkdir -p $(B) && \
    echo '$(MICROKIT_FOR)' >$(B)/microkit-for)
endif

# Images are made by the SDK's tool, with a report beside each. Links in the directory of the programs lead to the ELFs of the
# kernel and of Microkit's monitor, so that --elf-path of that directory is enough to record the image.
image_name := loader.img
MICROKIT_MONITOR := $(wildcard $(dir $(MICROKIT_KERNEL))monitor.elf)
define image_rules
$(1): $(2) $(4) $(MICROKIT_KERNEL) | $(B)/mkperf
	$(call stamp_client,$(1:.img=.stamped),$(2),$(3),$(MICROKIT_KERNEL),$(4))
	$$(Q)ln -sf $(abspath $(MICROKIT_KERNEL)) $(3)/mkperf_kernel.elf \
	    $(if $(MICROKIT_MONITOR),&& ln -sf $(abspath $(MICROKIT_MONITOR)) $(3)/mkperf_monitor.elf)
	$$(Q)$$(microkit_run) $(2) --search-path $(1:.img=.stamped) $(3) --board $$(MICROKIT_BOARD) \
	    --config $$(MICROKIT_CONFIG) -o $(1) -r $(1:.img=.txt) >$(1:.img=.log) || \
	    { cat $(1:.img=.log) >&2; exit 1; }
endef
