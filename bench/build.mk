# SPDX-License-Identifier: BSD-2-Clause
# The figures of docs/verification.md, measured again: prints a table and writes $(B)/bench.json.

BENCH := $(B)/bench
$(BENCH)/%: bench/%.c $(B)/lib/plain/libmkperf.a
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $^ $(HOST_LIBS) -o $@

ifeq ($(MICROKIT_SDK),)
$(eval $(call pd,$(BENCH)/cost/cost.elf,bench/target/cost.c))
$(BENCH)/cost/profiler.elf: $(DEMO)/profiler.elf
	$(Q)mkdir -p $(@D) && cp $< $@
$(eval $(call pocket_image,$(BENCH)/cost/cost.img,bench/target/cost.system,$(BENCH)/cost,\
    $(BENCH)/cost/cost.elf $(BENCH)/cost/profiler.elf))

bench: host target $(BENCH)/measure $(BENCH)/gen_capture $(BENCH)/cost/cost.img \
       $(BENCH)/cost/qemu-command $(POCKET_TEST)/sampling.img
	$(Q)B=$(B) MKPERF=$(B)/mkperf QEMU="$(QEMU)" CROSS="$(CROSS)" bench/run
endif

# Load for the demo's echo server.
$(B)/echo-load: bench/echo_load.c | $(SETUP)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $< -o $@
