# SPDX-License-Identifier: BSD-2-Clause
# The demo system: its programs, and the variants of its description (demo.system.in).

# Every layer of the demo's call chains is to be seen: no tail calls.
$(TARGET_OBJ)/demo/%.o: TARGET_CFLAGS += -fno-optimize-sibling-calls

$(call pd,$(DEMO)/pacer.elf,demo/pacer.c $(PLATFORM_TICK))
$(call pd,$(DEMO)/known.elf,demo/known.c demo/known_work.S)
$(call pd,$(DEMO)/dummy1.elf,demo/dummy1.c)
$(call pd,$(DEMO)/dummy2.elf,demo/dummy2.c)
$(call pd,$(DEMO)/requester.elf,demo/requester.c)
$(call pd,$(DEMO)/server.elf,demo/server.c)

$(call pd,$(DEMO)/echo.elf,demo/echo.c $(STACK_SRC) $(TARGET_LIB_SRC))
$(TARGET_OBJ)/demo/echo.o: TARGET_CFLAGS += $(NET_CFLAGS) $(CLOCK_CFLAGS)

DEMO_WORK := known dummy1 dummy2 requester server
DEMO_PDS := profiler client pacer $(DEMO_WORK)
NET_PDS := profiler client_net ticker echo $(DEMO_WORK)
DEMO_ELFS := $(call elves,$(DEMO),$(DEMO_PDS))
NET_ELFS := $(call elves,$(DEMO),$(NET_PDS))

# The variants; all of them take their programs from $(DEMO).
NET := $(T)/net
STOCK := $(T)/stock
SHARED := $(T)/shared
CORES := $(T)/cores
$(call system,$(DEMO)/demo.system,demo/demo.system.in,PACER=pacer)
$(call system,$(NET)/net.system,demo/demo.system.in,PACER=ticker NET=1)
$(call system,$(STOCK)/stock.system,demo/demo.system.in,PACER=pacer TIMER=1 CHILDREN=1)
$(call system,$(CORES)/cores.system,demo/demo.system.in,PACER=pacer CORES=1)
$(call system,$(SHARED)/shared.system,demo/demo.system.in,PACER=pacer TIMER=1 CSPACE=1)

target: $(DEMO_ELFS) $(DEMO)/demo.system $(if $(filter aarch64,$(ARCH)),$(NET_ELFS) $(NET)/net.system)

ifeq ($(MICROKIT_SDK),)
$(call image,$(DEMO)/demo.img,$(DEMO)/demo.system,$(DEMO),$(DEMO_PDS))
$(call image,$(STOCK)/stock.img,$(STOCK)/stock.system,$(DEMO),$(DEMO_PDS))
$(call image,$(CORES)/cores.img,$(CORES)/cores.system,$(DEMO),$(DEMO_PDS))
$(CORES)/qemu-command: private QEMU_SMP = 2
$(call image,$(SHARED)/shared.img,$(SHARED)/shared.system,$(DEMO),$(DEMO_PDS))
$(call image,$(NET)/net.img,$(NET)/net.system,$(DEMO),$(NET_PDS))
$(call network_machine,$(NET))
target: $(call bootable,$(DEMO) $(if $(filter aarch64,$(ARCH)),$(NET) $(STOCK) $(SHARED) $(CORES)))
# On RISC-V without what pocket has only on AArch64: several cores, a timer for PDs, the network.
DEMO_SYSTEMS := $(DEMO) $(if $(filter aarch64,$(ARCH)),$(SHARED) $(NET) $(CORES) $(T)/tests/pd/flow_slow) $(T)/tests/pd/late
demo: $(B)/mkperf $(call bootable,$(DEMO_SYSTEMS)) $(B)/echo-load
	$(Q)B=$(B) T=$(T) ARCH=$(ARCH) DEMO_SECONDS=$(DEMO_SECONDS) demo/run
endif
