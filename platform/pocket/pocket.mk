# SPDX-License-Identifier: BSD-2-Clause
# mkperf in another system on the built-in platform, for QEMU. The same as
# platform/microkit/mkperf.mk for a Microkit SDK, with the same lines in that system's Makefile, where
# BUILD_DIR is set, below its first target (docs/first-system.md is a whole example):
#
#   include /path/to/mkperf/platform/pocket/pocket.mk
#   $(BUILD_DIR)/loader.img: $(BUILD_DIR)/mkperf/my.system $(MKPERF_PDS) $(MY_ELFS)
#   	$(call mkperf_stamp,$<,$(BUILD_DIR))
#   	$(MICROKIT_TOOL) $< --search-path $(MKPERF_SEARCH_PATH) $(BUILD_DIR) -o $@
#
# What a Microkit SDK gives, it gives, too: BOARD_DIR with include/microkit.h, lib/libmicrokit.a and
# lib/microkit.ld, which PDs are compiled and linked with (they have $(MKPERF_PLATFORM) as order-only
# prerequisite), and MICROKIT_TOOL. $(call mkperf_qemu,IMAGE) boots an image.
#
# MKPERF_QUEUES, MKPERF_QUEUE_ELFS: as in mkperf.mk.

ifneq ($(words $(CURDIR) $(BUILD_DIR)),2)
$(error make cannot build where a path has a blank: $(CURDIR), BUILD_DIR=$(BUILD_DIR))
endif
MKPERF_DIR := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
include $(MKPERF_DIR)/platform/pocket/qemu.mk
MKPERF_BUILD := $(abspath $(BUILD_DIR))/mkperf
MKPERF_PDS := $(BUILD_DIR)/mkperf/mkperf_profiler.elf $(BUILD_DIR)/mkperf/mkperf_client.elf
MKPERF_STAMPED := $(BUILD_DIR)/mkperf/stamped
MKPERF_SEARCH_PATH := $(MKPERF_STAMPED) $(BUILD_DIR)/mkperf
MKPERF_PLATFORM := $(BUILD_DIR)/mkperf/board/lib/microkit.ld
MKPERF_MAKE = $(MAKE) -C $(MKPERF_DIR) BUILD_DIR=$(MKPERF_BUILD)/build MICROKIT_SDK=
MKPERF ?= $(if $(wildcard $(MKPERF_DIR)/host/main.c),$(MKPERF_BUILD)/build/mkperf,mkperf)
POCKET_KERNEL := $(MKPERF_BUILD)/build/demo/kernel.elf
BOARD_DIR := $(MKPERF_BUILD)/board
MICROKIT_TOOL := POCKET_PACK=$(MKPERF_BUILD)/build/pocket-pack POCKET_KERNEL=$(POCKET_KERNEL) \
    $(MKPERF_DIR)/platform/pocket/tool
MKPERF_QUEUE_OPTION = $(if $(MKPERF_QUEUES),--queues $(MKPERF_QUEUES))
mkperf_stamp = $(MKPERF) stamp -q $(MKPERF_QUEUE_OPTION) $(1) --elf-path $(BUILD_DIR)/mkperf:$(2) -o $(MKPERF_STAMPED)/mkperf_client.elf \
    --kernel $(POCKET_KERNEL)

mkperf_qemu = $(QEMU) $(1)

.PHONY: mkperf-pds
mkperf-pds:
	mkdir -p $(MKPERF_STAMPED)
	+$(MKPERF_MAKE) --no-print-directory pocket-parts $(if $(filter $(MKPERF_BUILD)/%,$(MKPERF)),host)
$(MKPERF_PDS): $(BUILD_DIR)/mkperf/%.elf: mkperf-pds
	cmp -s $(MKPERF_BUILD)/build/demo/$*.elf $@ || \
	    { rm -f $(MKPERF_STAMPED)/$*.elf; cp $(MKPERF_BUILD)/build/demo/$*.elf $@; }
$(MKPERF_PLATFORM): mkperf-pds
	mkdir -p $(BOARD_DIR)/include $(BOARD_DIR)/lib
	cp $(MKPERF_DIR)/platform/pocket/include/*.h $(BOARD_DIR)/include
	cp $(MKPERF_BUILD)/build/pocket/libmicrokit.a $(BOARD_DIR)/lib
	cp $(MKPERF_DIR)/platform/pocket/lib/pd.ld $@

mkperf_maps = $(if $(MKPERF_QUEUES)$(MKPERF_QUEUE_ELFS),$(shell $(MKPERF) stamp --maps $(MKPERF_QUEUE_OPTION) \
    $(if $(MKPERF_QUEUE_ELFS),--elf-path $(subst $(eval ) ,:,$(sort $(patsubst %/,%,$(dir $(MKPERF_QUEUE_ELFS)))))) $(1)))
$(BUILD_DIR)/mkperf/%.system: %.system $(MKPERF_DIR)/platform/microkit/mkperf.system.in $(MKPERF_QUEUES) $(MKPERF_QUEUE_ELFS) \
    | mkperf-pds
	mkdir -p $(@D)
	+$(MKPERF_MAKE) --no-print-directory -s pocket-system SYSTEM=$(abspath $<) OUT=$(abspath $@) \
	    QUEUE_MAPS='$(call mkperf_maps,$<)'
