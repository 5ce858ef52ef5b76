# SPDX-License-Identifier: BSD-2-Clause
# The figures of docs/verification.md, measured again: prints a table and writes $(B)/bench.json.

BENCH := $(B)/bench
$(BENCH)/%: bench/%.c $(B)/lib/plain/libmkperf.a
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $^ $(HOST_LIBS) -o $@

ifeq ($(MICROKIT_SDK),)
$(eval $(call pd,$(BENCH)/cost/cost.elf,bench/pd/cost.c))
$(BENCH)/cost/profiler.elf: $(DEMO)/profiler.elf
	$(Q)mkdir -p $(@D) && cp $< $@
$(eval $(call pocket_image,$(BENCH)/cost/cost.img,bench/pd/cost.system,$(BENCH)/cost,\
    $(BENCH)/cost/cost.elf $(BENCH)/cost/profiler.elf))

# Echoes over a wire between two PDs (echo.sh).
WIRE_SRC := bench/pd/wire.c pd/net/stack.c $(LWIP_SRC) $(TARGET_LIB_SRC)
$(eval $(call pd,$(BENCH)/echo/echo.elf,bench/pd/echo_wire.c $(WIRE_SRC)))
$(eval $(call pd,$(BENCH)/echo/load.elf,bench/pd/load.c $(WIRE_SRC)))
$(call target_objects,bench/pd/echo_wire.c bench/pd/load.c): $(B)/src/lwip.stamp
$(call target_objects,bench/pd/echo_wire.c bench/pd/load.c): TARGET_CFLAGS += $(NET_CFLAGS) \
    -fno-optimize-sibling-calls $(if $(PLATFORM_CLOCK),-DMKPERF_CLOCK=$(PLATFORM_CLOCK))
BENCH_NET := $(addprefix $(BENCH)/echo/,profiler.elf client_net.elf ticker.elf)
$(BENCH_NET): $(BENCH)/echo/%.elf: $(DEMO)/%.elf
	$(Q)mkdir -p $(@D) && cp $< $@
$(eval $(call pocket_image,$(BENCH)/echo/echo.img,bench/pd/echo.system,$(BENCH)/echo,\
    $(BENCH)/echo/echo.elf $(BENCH)/echo/load.elf $(BENCH_NET)))
$(BENCH)/echo/qemu-command: $(NET)/qemu-command
	$(Q)mkdir -p $(@D) && sed 's|[^ ]*/net.img|$(BENCH)/echo/echo.img|' $< >$@

# The demo on lines that are as slow as real ones (rates.sh): $(call paced_line,BAUD). The ticker is its
# pacer: a console that is written to meanwhile spoils frames.
define paced_line
$$(eval $$(call pd,$(BENCH)/line$(1)/client.elf,bench/pd/line_$(1).c \
    $(filter-out pd/client/serial.c,$(CLIENT_SRC))))
$(patsubst %,$(BENCH)/line$(1)/%.elf,profiler $(LINE_PDS)): $(BENCH)/line$(1)/%.elf: $(DEMO)/%.elf
	$$(Q)mkdir -p $$(@D) && cp $$< $$@
$(BENCH)/line$(1)/pacer.elf: $(DEMO)/ticker.elf
	$$(Q)mkdir -p $$(@D) && cp $$< $$@
$(BENCH)/line$(1)/line$(1).system: demo/demo.system
	$$(Q)mkdir -p $$(@D) && sed 's|.*irq="33".*|&<irq irq="27" id="2" trigger="level" />|' $$< >$$@
$$(eval $$(call pocket_image,$(BENCH)/line$(1)/line$(1).img,$(BENCH)/line$(1)/line$(1).system,\
    $(BENCH)/line$(1),$(patsubst %,$(BENCH)/line$(1)/%.elf,profiler client pacer $(LINE_PDS))))
BENCH_LINES += $(BENCH)/line$(1)/line$(1).img $(BENCH)/line$(1)/qemu-command
endef
LINE_PDS := known dummy1 dummy2 requester server
BENCH_LINES :=
$(eval $(call paced_line,115200))
$(eval $(call paced_line,3000000))

bench: host target $(BENCH_LINES) $(BENCH)/measure $(BENCH)/gen_capture $(BENCH)/cost/cost.img \
       $(BENCH)/cost/qemu-command $(POCKET_TEST)/sampling.img $(BENCH)/echo/echo.img \
       $(BENCH)/echo/qemu-command $(B)/echo-load \
       $(foreach t,accuracy lockstep,$(B)/tests/pd/$(t)/$(t).img $(B)/tests/pd/$(t)/qemu-command)
	$(Q)B=$(B) MKPERF=$(B)/mkperf QEMU="$(QEMU)" CROSS="$(CROSS)" bench/run
endif

# Load for the demo's echo server.
$(B)/echo-load: bench/echo_load.c | $(SETUP)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $< -o $@
