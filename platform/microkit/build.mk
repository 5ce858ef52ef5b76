# SPDX-License-Identifier: BSD-2-Clause
# The target half for a Microkit SDK:
#
#   make BUILD_DIR=... MICROKIT_SDK=... MICROKIT_BOARD=... MICROKIT_CONFIG=...
#
# builds the demo's protection domains with the SDK's libmicrokit and $(BUILD_DIR)/loader.img with
# its tool. The SDK's kernel has to have the hook, see docs/sel4.md. What differs from board to board
# stands in boards/BOARD.mk.

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
$(error MICROKIT_SDK: there is no $(MICROKIT_BOARD_DIR)/lib/libmicrokit.a)
endif
include $(BOARD_MK)

# Not ours to warn about: the SDK's headers are system headers.
# Its inline assembly needs GNU C; its linker script knows .data as one section.
PLATFORM_CFLAGS := -std=gnu11 -mcpu=$(BOARD_CPU) $(BOARD_CFLAGS) -isystem $(MICROKIT_BOARD_DIR)/include \
                   -fno-data-sections -DMKPERF_TRANSPORT=mkperf_$(BOARD_UART_DRIVER)
PLATFORM_CLOCK := $(BOARD_CLOCK)
PROFILER_TIMER := $(BOARD_TIMER)
PLATFORM_LDFLAGS := -T platform/microkit/build-id.ld -T $(MICROKIT_BOARD_DIR)/lib/microkit.ld
PLATFORM_LIBS := $(MICROKIT_BOARD_DIR)/lib/libmicrokit.a
PLATFORM_READY := $(PLATFORM_LIBS) $(MICROKIT_BOARD_DIR)/lib/microkit.ld platform/microkit/build-id.ld
# demo.system and mkperf.system are written for QEMU's virt machine.
PLATFORM_SYSTEM_SED := -e 's/phys_addr="0x9000000"/phys_addr="$(BOARD_UART_BASE)"/' \
    -e 's/irq="33"/irq="$(BOARD_UART_IRQ)"/' -e 's/irq="23"/irq="$(BOARD_PMU_IRQ)"/' \
    -e 's/phys_addr="0x9010000"/phys_addr="$(BOARD_PACER_BASE)"/' \
    -e 's/irq="34"/irq="$(BOARD_PACER_IRQ)"/' -e 's/irq="27"/irq="$(BOARD_TIMER_IRQ)"/' \
    -e '$(if $(BOARD_TIMER_BASE),s/phys_addr="0x9020000"/phys_addr="$(BOARD_TIMER_BASE)"/,/mkperf_timer/d)'
DEMO_PACER := $(BOARD_PACER)

# One build directory serves one board and configuration at a time: what was made for another goes.
MICROKIT_FOR := $(abspath $(MICROKIT_BOARD_DIR)) $(BOARD_CFLAGS)
ifneq ($(shell cat $(B)/microkit-for 2>/dev/null),$(MICROKIT_FOR))
$(shell rm -rf $(B)/obj/target $(B)/demo $(B)/net $(B)/stock $(B)/shared $(B)/loader.* $(B)/tests/sel4 \
    $(B)/tests/stock && mkdir -p $(B) && \
    echo '$(MICROKIT_FOR)' >$(B)/microkit-for)
endif

# $(call microkit_image,IMAGE,SYSTEM,ELFDIR,DEPS): a rule that packs SYSTEM, whose ELFs are in ELFDIR
# and are made by DEPS, into IMAGE, with a report beside it. To be used with $(eval ...).
define microkit_image
$(1): $(2) $(4) $$(MICROKIT_BOARD_DIR)/elf/sel4.elf
	$$(Q)$$(MICROKIT_TOOL) $(2) --search-path $(3) --board $$(MICROKIT_BOARD) \
	    --config $$(MICROKIT_CONFIG) -o $(1) -r $(1:.img=.txt) >$(1:.img=.log) || \
	    { cat $(1:.img=.log) >&2; exit 1; }
endef

$(eval $(call microkit_image,$(B)/loader.img,$(B)/demo/demo.system,$(B)/demo,\
    $(patsubst %,$(B)/demo/%.elf,profiler client pacer known dummy1 dummy2 requester server)))
# The same for a kernel without the extension, docs/stock.md.
$(eval $(call microkit_image,$(B)/stock/loader.img,$(B)/stock/stock.system,$(B)/demo,\
    $(patsubst %,$(B)/demo/%.elf,profiler client pacer known dummy1 dummy2 requester server)))
# With Microkit 2.3 the profiler PD has capabilities of the other PDs instead.
MICROKIT_CAPS := $(shell grep -l MICROKIT_MAX_USER_CAPS $(MICROKIT_BOARD_DIR)/include/microkit.h)
$(eval $(call microkit_image,$(B)/shared/loader.img,$(B)/shared/shared.system,$(B)/demo,\
    $(patsubst %,$(B)/demo/%.elf,profiler client pacer known dummy1 dummy2 requester server)))
target: $(B)/loader.img $(B)/stock/loader.img $(if $(MICROKIT_CAPS),$(B)/shared/loader.img)

# $(call boot,IMAGE): the command that boots IMAGE in QEMU. $(need_qemu): a recipe's beginning, which ends it
# where there is no QEMU with the board's machine.
boot = $(foreach IMAGE,$(1),$(BOARD_QEMU))
need_qemu = $(if $(BOARD_QEMU),,echo "$@: give it MICROKIT_QEMU=<a qemu-system-aarch64 with a machine for" \
    "$(MICROKIT_BOARD)>" >&2; exit 1;) \
    $(MICROKIT_QEMU) -machine help | grep -q '^$(firstword $(subst $(comma), ,$(word 3,$(BOARD_QEMU)))) ' || { \
        echo "$@: $(MICROKIT_QEMU) has no machine for $(MICROKIT_BOARD)" >&2; exit 1; };
ifneq ($(BOARD_FIRMWARE),)
$(B)/firmware.bin: $(BOARD_FIRMWARE)
	$(Q)mkdir -p $(@D) && $(CROSS)gcc -nostdlib -static -no-pie -Wl,--build-id=none $< -o $@.elf && \
	    $(CROSS)objcopy -O binary $@.elf $@
endif

# The demo over the network, on a board with QEMU's virtio devices.
ifeq ($(BOARD_NET),virtio)
$(eval $(call microkit_image,$(B)/net/loader.img,$(B)/net/net.system,$(B)/demo,\
    $(patsubst %,$(B)/demo/%.elf,profiler client_net ticker echo known dummy1 dummy2 requester server)))
target: $(B)/net/loader.img
endif

# Only mkperf's two PDs, for somebody else's system (mkperf.mk).
.PHONY: microkit-pds
microkit-pds: $(B)/demo/profiler.elf $(B)/demo/client.elf

# SYSTEM with mkperf in it, as OUT, for this board (mkperf.mk).
.PHONY: microkit-system
microkit-system:
	$(Q)sed '/<\/system>/d' $(SYSTEM) >$(OUT)
	$(Q)sed $(PLATFORM_SYSTEM_SED) platform/microkit/mkperf.system >>$(OUT)
	$(Q)echo '</system>' >>$(OUT)

ifneq ($(SDDF),)
include platform/microkit/sddf.mk
endif
