# SPDX-License-Identifier: BSD-2-Clause
# The figures of docs/verification.md, measured again (bench/run): prints a table, writes $(B)/bench.json, fails
# if one in instructions or bytes grew by more than 3 % over bench/figures.json.

BENCH := $(B)/bench
$(BENCH)/%: bench/%.c $(B)/lib/plain/libmkperf.a
	$(into)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $^ $(HOST_LIBS) -o $@

ifeq ($(MICROKIT_SDK),)
$(call pd,$(BENCH)/cost/cost.elf,bench/pd/cost.c)
$(call copies,$(BENCH)/cost,$(DEMO),profiler)
$(call image,$(BENCH)/cost/cost.img,bench/pd/cost.system,$(BENCH)/cost,cost profiler)

$(call pd,$(BENCH)/sched_cost/sched_cost.elf,bench/pd/sched_cost.c pd/profiler/latency.c)
$(call copies,$(BENCH)/sched_cost,$(DEMO),profiler)
$(call image,$(BENCH)/sched_cost/sched_cost.img,bench/pd/sched_cost.system,$(BENCH)/sched_cost,sched_cost profiler)

# Echoes over a wire between two PDs (echo.sh).
WIRE_SRC := bench/pd/wire.c $(filter-out pd/net/virtio_net.c,$(STACK_SRC)) $(TARGET_LIB_SRC)
$(call pd,$(BENCH)/echo/echo.elf,bench/pd/echo_wire.c $(WIRE_SRC))
$(call pd,$(BENCH)/echo/load.elf,bench/pd/load.c $(WIRE_SRC))
$(call target_objects,bench/pd/echo_wire.c bench/pd/load.c): $(B)/src/lwip.stamp
$(call target_objects,bench/pd/echo_wire.c bench/pd/load.c): TARGET_CFLAGS += $(NET_CFLAGS) \
    -fno-optimize-sibling-calls $(CLOCK_CFLAGS)
$(call copies,$(BENCH)/echo,$(DEMO),$(QUIET_PDS))
$(call image,$(BENCH)/echo/echo.img,bench/pd/echo.system,$(BENCH)/echo,echo load $(QUIET_PDS))
$(call network_machine,$(BENCH)/echo)

# The demo on lines that are as slow as real ones (rates.sh): $(call paced_line,BAUD). The ticker is its
# pacer, which does not print: console text would destroy frames.
paced_line = $(call pd,$(BENCH)/line$(1)/client.elf,bench/pd/line_$(1).c $(filter-out pd/client/serial.c,$(CLIENT_SRC)))\
    $(call copies,$(BENCH)/line$(1),$(DEMO),profiler ticker $(DEMO_WORK))\
    $(call system,$(BENCH)/line$(1)/line$(1).system,demo/demo.system.in,PACER=ticker LINE_IRQ=27)\
    $(call image,$(BENCH)/line$(1)/line$(1).img,$(BENCH)/line$(1)/line$(1).system,$(BENCH)/line$(1),\
        profiler client ticker $(DEMO_WORK))
$(call paced_line,115200)
$(call paced_line,3000000)

bench: host target $(BENCH)/measure $(BENCH)/gen_capture $(B)/many-samples $(POCKET_TEST)/sampling.img $(B)/echo-load \
       $(call bootable,$(addprefix $(BENCH)/,cost sched_cost echo line115200 line3000000) \
           $(addprefix $(TEST_PD)/,accuracy lockstep))
	$(Q)B=$(B) MKPERF=$(B)/mkperf QEMU="$(QEMU)" CROSS="$(CROSS)" bench/run
endif

# Load for the demo's echo server.
$(B)/echo-load: bench/echo_load.c | $(SETUP)
	$(into)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $< -o $@
