# SPDX-License-Identifier: BSD-2-Clause
# Everything that is checked. tests/run prints the results; its last line is `N passed, N failed`.
#
#   tests/unit/test_*.c    cmocka programs, host code, address and undefined-behaviour sanitizers
#   tests/tsan/test_*.c    programs under ThreadSanitizer, exit status
#   tests/fuzz/fuzz_*.c    libFuzzer targets, a short run over tests/fuzz/corpus/NAME and beyond
#   tests/system/*.sh      whole runs; print `ok NAME` or `not ok NAME: why`

UNIT_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_*.c))
TSAN_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/tsan/test_*.c))
FUZZERS := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))

# Target sources that are tested on the host: the platform-independent ones. Their directories add
# to it.
HOSTED_SRC ?=
$(B)/lib/asan/libhosted.a: $(call host_objects,asan,$(HOSTED_SRC))
$(B)/lib/fuzz/libhosted.a: $(call host_objects,fuzz,$(HOSTED_SRC))
$(B)/lib/asan/libhosted.a $(B)/lib/fuzz/libhosted.a:
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/tests/unit/%: tests/unit/%.c $(B)/lib/asan/libmkperf.a $(B)/lib/asan/libhosted.a
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(ASAN_FLAGS) -I. -Itests -MMD -MP $< $(filter %.a,$^) \
	    $(filter %.a,$^) -lcmocka $(HOST_LIBS) -o $@
$(B)/tests/tsan/%: tests/tsan/%.c $(PROTO_READY) | $(SETUP)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=thread -I. -MMD -MP $< -lpthread -o $@
# sDDF's interface, as far as its client needs it.
$(B)/tests/unit/test_sddf $(B)/tests/tsan/test_sddf_race: private HOST_CFLAGS += -Itests/unit/mock
$(B)/tests/unit/test_crc: private HOST_CFLAGS += -Itests/unit/mock
$(B)/tests/fuzz/%: tests/fuzz/%.c $(B)/lib/fuzz/libmkperf.a $(B)/lib/fuzz/libhosted.a
	$(Q)mkdir -p $(@D)
	$(Q)clang $(HOST_CFLAGS) -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I. \
	    -MMD -MP $< $(filter %.a,$^) $(filter %.a,$^) $(HOST_LIBS) -o $@

# Systems that only tests run: tests/pd/NAME.system with NAME.c and what it needs beside it.
# $(call test_system,NAME,SOURCES)
define test_system
$$(eval $$(call pd,$(B)/tests/pd/$(1)/$(1).elf,$(2)))
$(B)/tests/pd/$(1)/%.elf: $(DEMO)/%.elf
	$$(Q)mkdir -p $$(@D) && cp $$< $$@
$(B)/tests/pd/$(1)/%.system: tests/pd/%.system
	$$(Q)mkdir -p $$(@D) && sed $$(PLATFORM_SYSTEM_SED) $$< >$$@
$$(eval $$(call pocket_image,$(B)/tests/pd/$(1)/$(1).img,$(B)/tests/pd/$(1)/$(1).system,\
    $(B)/tests/pd/$(1),$(patsubst %,$(B)/tests/pd/$(1)/%.elf,profiler client $(1))))
TEST_IMAGES += $(B)/tests/pd/$(1)/$(1).img $(B)/tests/pd/$(1)/qemu-command
endef
$(B)/tests/key/key.c: tests/pd/test.key scripts/key-source
	$(Q)scripts/key-source $@ $<
# $(call test_net_system,NAME,CLIENT): tests/pd/quiet.system with this client
define test_net_system
$(B)/tests/pd/$(1)/client_net.elf: $(2)
	$$(Q)mkdir -p $$(@D) && cp $$< $$@
$(B)/tests/pd/$(1)/profiler.elf $(B)/tests/pd/$(1)/ticker.elf: $(B)/tests/pd/$(1)/%.elf: $(DEMO)/%.elf
	$$(Q)mkdir -p $$(@D) && cp $$< $$@
$(eval $(call pocket_image,$(B)/tests/pd/$(1)/$(1).img,tests/pd/quiet.system,\
    $(B)/tests/pd/$(1),$(patsubst %,$(B)/tests/pd/$(1)/%.elf,profiler client_net ticker)))
$(B)/tests/pd/$(1)/qemu-command: $(NET)/qemu-command
	$$(Q)mkdir -p $$(@D) && sed 's|[^ ]*/net.img|$(B)/tests/pd/$(1)/$(1).img|' $$< >$$@
TEST_IMAGES += $(B)/tests/pd/$(1)/$(1).img $(B)/tests/pd/$(1)/qemu-command
endef
TEST_IMAGES :=
ifeq ($(MICROKIT_SDK),)
$(eval $(call test_system,accuracy,tests/pd/accuracy.c tests/pd/accuracy_work.S))
$(eval $(call test_system,exact,tests/pd/exact.c))
$(eval $(call test_system,flight,tests/pd/flight.c))
$(eval $(call test_system,lockstep,tests/pd/lockstep.c tests/pd/lockstep_loop.S))
$(eval $(call test_system,wildfp,tests/pd/wildfp.c tests/pd/wildfp_spin.S))
$(eval $(call test_system,robin,tests/pd/robin.c))
$(eval $(call test_system,pair,tests/pd/pair.c))
$(eval $(call test_system,steps,tests/pd/steps.c))
$(eval $(call test_system,deep,tests/pd/deep.c tests/pd/wildfp_spin.S pd/lib/own_stack.S))
$(B)/tests/pd/deep/deep.elf: private PLATFORM_LDFLAGS += -Wl,-e,mkperf_own_stack
# The timer's demo on a kernel whose hook stays out of it, since nobody has the PMU's interrupt.
NOHOOK := $(B)/tests/pd/nohook
$(NOHOOK)/nohook.system: demo/stock.system
	$(Q)mkdir -p $(@D) && sed $(PLATFORM_SYSTEM_SED) -e '/irq="23"/d' $< >$@
$(NOHOOK)/%.elf: $(DEMO)/%.elf
	$(Q)mkdir -p $(@D) && cp $< $@
$(eval $(call pocket_image,$(NOHOOK)/nohook.img,$(NOHOOK)/nohook.system,$(NOHOOK),\
    $(patsubst $(DEMO)/%,$(NOHOOK)/%,$(DEMO_ELFS))))
TEST_IMAGES += $(NOHOOK)/nohook.img $(NOHOOK)/qemu-command
# The network demo with a key (tests/pd/test.key).
NETKEY := $(B)/tests/pd/netkey
$(eval $(call pd,$(NETKEY)/client_net.elf,\
    $(patsubst $(B)/key/key.c,$(B)/tests/key/key.c,$(CLIENT_NET_SRC))))
$(NETKEY)/%.elf: $(DEMO)/%.elf
	$(Q)mkdir -p $(@D) && cp $< $@
$(eval $(call pocket_image,$(NETKEY)/netkey.img,$(NET)/net.system,$(NETKEY),\
    $(patsubst $(DEMO)/%,$(NETKEY)/%,$(NET_ELFS))))
$(NETKEY)/qemu-command: $(NET)/qemu-command
	$(Q)mkdir -p $(@D) && sed 's|[^ ]*/net.img|$(NETKEY)/netkey.img|' $< >$@
TEST_IMAGES += $(NETKEY)/netkey.img $(NETKEY)/qemu-command $(B)/echo-load
# A network client without a workload, and one that dials and has the key.
$(eval $(call test_net_system,quiet,$(DEMO)/client_net.elf))
$(TARGET_OBJ)/tests/pd/net_dial.o: TARGET_CFLAGS += $(NET_CFLAGS) \
    $(if $(PLATFORM_CLOCK),-DMKPERF_CLOCK=$(PLATFORM_CLOCK))
$(TARGET_OBJ)/tests/pd/net_dial.o: $(B)/src/lwip.stamp
$(eval $(call pd,$(B)/tests/pd/client_dial.elf,$(patsubst pd/net/tcp.c,tests/pd/net_dial.c,\
    $(patsubst $(B)/key/key.c,$(B)/tests/key/key.c,$(CLIENT_NET_SRC)))))
$(eval $(call test_net_system,dial,$(B)/tests/pd/client_dial.elf))
# The demo over a serial line, with the key.
DEMOKEY := $(B)/tests/pd/demokey
$(eval $(call pd,$(DEMOKEY)/client.elf,$(patsubst $(B)/key/key.c,$(B)/tests/key/key.c,$(CLIENT_SRC))))
$(filter-out $(DEMOKEY)/client.elf,$(patsubst $(DEMO)/%,$(DEMOKEY)/%,$(DEMO_ELFS))): \
    $(DEMOKEY)/%.elf: $(DEMO)/%.elf
	$(Q)mkdir -p $(@D) && cp $< $@
$(eval $(call pocket_image,$(DEMOKEY)/demokey.img,$(DEMO)/demo.system,$(DEMOKEY),\
    $(patsubst $(DEMO)/%,$(DEMOKEY)/%,$(DEMO_ELFS))))
TEST_IMAGES += $(DEMOKEY)/demokey.img $(DEMOKEY)/qemu-command
endif

# For tests of connections: breaks them, and says what no mkperf says.
$(B)/net-tool: tests/tool/net_tool.c | $(SETUP)
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $< -o $@

# mkperf with sanitizers, for what shall not crash it.
$(B)/tests/mkperf-asan: $(B)/obj/asan/host/main.o $(B)/lib/asan/libmkperf.a
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(ASAN_FLAGS) $^ $(HOST_LIBS) -o $@

test: host target $(B)/tests/mkperf-asan $(B)/net-tool $(TEST_IMAGES) $(UNIT_TESTS) $(TSAN_TESTS) $(FUZZERS)
	$(Q)B=$(B) tests/run
