# SPDX-License-Identifier: BSD-2-Clause
# mkperf in somebody else's Microkit system. In that system's Makefile, where MICROKIT_SDK,
# MICROKIT_BOARD, MICROKIT_CONFIG and BUILD_DIR are set, below its first target:
#
#   include /path/to/mkperf/platform/microkit/mkperf.mk
#   $(BUILD_DIR)/loader.img: $(BUILD_DIR)/mkperf/my.system $(MKPERF_PDS)
#   	$(MICROKIT_TOOL) $< --search-path $(BUILD_DIR) $(MKPERF_SEARCH_PATH) ...
#
# $(BUILD_DIR)/mkperf/NAME.system is NAME.system with mkperf.system.in put in at its end; the PDs that it
# describes do not change. MKPERF_PDS are mkperf's two ELFs, built by mkperf's own make.

MKPERF_DIR := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
MKPERF_BUILD := $(abspath $(BUILD_DIR))/mkperf
MKPERF_PDS := $(BUILD_DIR)/mkperf/profiler.elf $(BUILD_DIR)/mkperf/client.elf
MKPERF_SEARCH_PATH := $(BUILD_DIR)/mkperf
MKPERF_MAKE = $(MAKE) -C $(MKPERF_DIR) BUILD_DIR=$(MKPERF_BUILD)/build \
    MICROKIT_SDK=$(abspath $(MICROKIT_SDK)) MICROKIT_BOARD=$(MICROKIT_BOARD) \
    MICROKIT_CONFIG=$(MICROKIT_CONFIG)

.PHONY: mkperf-pds
mkperf-pds:
	$(MKPERF_MAKE) microkit-pds
$(MKPERF_PDS): $(BUILD_DIR)/mkperf/%.elf: mkperf-pds
	cmp -s $(MKPERF_BUILD)/build/demo/$*.elf $@ || cp $(MKPERF_BUILD)/build/demo/$*.elf $@

$(BUILD_DIR)/mkperf/%.system: %.system $(MKPERF_DIR)/platform/microkit/mkperf.system.in
	mkdir -p $(@D)
	$(MKPERF_MAKE) --no-print-directory -s microkit-system SYSTEM=$(abspath $<) OUT=$(abspath $@)
