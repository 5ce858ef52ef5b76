# SPDX-License-Identifier: BSD-2-Clause
# mkperf in another Microkit system. In that system's Makefile, where MICROKIT_SDK,
# MICROKIT_BOARD, MICROKIT_CONFIG and BUILD_DIR are set, below its first target:
#
#   include /path/to/mkperf/platform/microkit/mkperf.mk
#   $(BUILD_DIR)/loader.img: $(BUILD_DIR)/mkperf/my.system $(MKPERF_PDS) $(MY_ELFS)
#   	$(call mkperf_stamp,$<,$(BUILD_DIR))
#   	$(MICROKIT_TOOL) $< --search-path $(MKPERF_SEARCH_PATH) $(BUILD_DIR) ...
#
# MICROKIT_KERNEL=<kernel.elf>, if set: the kernel with the hook that you give to Microkit's tool with
# --override-kernel (docs/sel4.md).
#
# $(BUILD_DIR)/mkperf/NAME.system is NAME.system with mkperf.system.in put in at its end; the PDs that it
# describes do not change. MKPERF_PDS are mkperf's two ELFs, built by mkperf's own make.
# Their names begin with mkperf_, so that a system may have a client.elf of its own.
#
# MICROKIT_QEMU=<qemu-system-aarch64>, if set: for a board that only it has, such as imx8mm_evk.
#
# MKPERF_NET=yes, if set before this file is included: mkperf has the first of QEMU's virtio network devices instead of the
# UART (docs/net.md), on boards with BOARD_NET. MKPERF_KEY_FILE, MKPERF_NET_ADDRESS, ... are then given to mkperf's build.
#
# For `mkperf record --queues`: MKPERF_QUEUES, if set, is the file that describes rings (docs/record.md), and
# MKPERF_QUEUE_ELFS are the ELFs of sDDF's components, with their configuration. The profiler PD gets read-only maps of
# these queues. Both are set before this file is included.
#
# MKPERF_LDFLAGS, before the SDK's linker script, gives the note of -Wl,--build-id a place in the text: the script has
# none, and the note would lie over the first page of the program.
#
# $(call mkperf_stamp,SYSTEM,DIR[:DIR]) writes the list of the programs in SYSTEM, whose ELFs are in
# DIR, into the client PD's ELF, so that hosts get the names from the image that runs. It also copies the ELFs of
# the kernel and of Microkit's monitor to $(BUILD_DIR)/mkperf, where `mkperf record` finds them. MKPERF is the
# command, from this tree if it has the sources.

ifneq ($(words $(CURDIR) $(BUILD_DIR)),2)
$(error make cannot build where a path has a blank: $(CURDIR), BUILD_DIR=$(BUILD_DIR))
endif
MKPERF_DIR := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
MKPERF_BUILD := $(abspath $(BUILD_DIR))/mkperf
MKPERF_PDS := $(patsubst %,$(BUILD_DIR)/mkperf/mkperf_%.elf,profiler client $(if $(MKPERF_NET),ticker))
MKPERF_STAMPED := $(BUILD_DIR)/mkperf/stamped
MKPERF_SEARCH_PATH := $(MKPERF_STAMPED) $(BUILD_DIR)/mkperf
MKPERF_LDFLAGS := -T $(MKPERF_DIR)/platform/microkit/build-id.ld
MKPERF_MAKE = $(MAKE) -C $(MKPERF_DIR) BUILD_DIR=$(MKPERF_BUILD)/build \
    MICROKIT_SDK=$(abspath $(MICROKIT_SDK)) MICROKIT_BOARD=$(MICROKIT_BOARD) \
    MICROKIT_CONFIG=$(MICROKIT_CONFIG) $(if $(MICROKIT_KERNEL),MICROKIT_KERNEL=$(abspath $(MICROKIT_KERNEL))) \
    $(if $(MICROKIT_QEMU),MICROKIT_QEMU=$(MICROKIT_QEMU)) \
    $(foreach v,$(filter MKPERF_NET% MKPERF_KEY_FILE,$(.VARIABLES)),$(v)=$($(v)))
MKPERF ?= $(if $(wildcard $(MKPERF_DIR)/host/main.c),$(MKPERF_BUILD)/build/mkperf,mkperf)
MKPERF_KERNEL = $(or $(MICROKIT_KERNEL),$(MICROKIT_SDK)/board/$(MICROKIT_BOARD)/$(MICROKIT_CONFIG)/elf/sel4.elf)
MKPERF_MONITOR = $(wildcard $(dir $(MKPERF_KERNEL))monitor.elf)
MKPERF_QUEUE_OPTION = $(if $(MKPERF_QUEUES),--queues $(MKPERF_QUEUES))
mkperf_stamp = $(MKPERF) stamp -q $(MKPERF_QUEUE_OPTION) $(1) --elf-path $(BUILD_DIR)/mkperf:$(2) -o $(MKPERF_STAMPED)/mkperf_client.elf \
    --kernel $(MKPERF_KERNEL) && cp $(MKPERF_KERNEL) $(BUILD_DIR)/mkperf/mkperf_kernel.elf \
    $(if $(MKPERF_MONITOR),&& cp $(MKPERF_MONITOR) $(BUILD_DIR)/mkperf/mkperf_monitor.elf)

# $(call mkperf_qemu,IMAGE) boots IMAGE in QEMU, if QEMU has the board; the serial port is left to the caller.
# QEMU takes the place of the shell, so that it ends with make.
mkperf_qemu = exec $$($(MKPERF_MAKE) --no-print-directory -s microkit-qemu IMAGE=$(abspath $(1)))

.PHONY: mkperf-pds
mkperf-pds:
	mkdir -p $(MKPERF_STAMPED)
	+$(MKPERF_MAKE) microkit-pds $(if $(filter $(MKPERF_BUILD)/%,$(MKPERF)),host)
mkperf_built = $(MKPERF_BUILD)/build/demo/$(if $(MKPERF_NET),$(or $($(1)_over_net),$(1)),$(1)).elf
mkperf_client_over_net := client_net
mkperf_ticker_over_net := ticker
$(MKPERF_PDS): $(BUILD_DIR)/mkperf/%.elf: mkperf-pds
	cmp -s $(call mkperf_built,$*) $@ || { rm -f $(MKPERF_STAMPED)/$*.elf; cp $(call mkperf_built,$*) $@; }

mkperf_maps = $(if $(MKPERF_QUEUES)$(MKPERF_QUEUE_ELFS),$(shell $(MKPERF) stamp --maps $(MKPERF_QUEUE_OPTION) \
    $(if $(MKPERF_QUEUE_ELFS),--elf-path $(subst $(eval ) ,:,$(sort $(patsubst %/,%,$(dir $(MKPERF_QUEUE_ELFS)))))) $(1)))
$(BUILD_DIR)/mkperf/%.system: %.system $(MKPERF_DIR)/platform/microkit/mkperf$(if $(MKPERF_NET),_net).system.in $(MKPERF_QUEUES) $(MKPERF_QUEUE_ELFS) \
    | mkperf-pds
	mkdir -p $(@D)
	+$(MKPERF_MAKE) --no-print-directory -s microkit-system SYSTEM=$(abspath $<) OUT=$(abspath $@) \
	    QUEUE_MAPS='$(call mkperf_maps,$<)'
