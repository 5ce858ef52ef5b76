# SPDX-License-Identifier: BSD-2-Clause
# The demo system: its programs and its description.

DEMO := $(B)/demo
comma := ,
# Every layer of the demo's call chains is to be seen: no tail calls.
$(TARGET_OBJ)/demo/%.o: TARGET_CFLAGS += -fno-optimize-sibling-calls

DEMO_PACER ?= demo/pacer.c
$(eval $(call pd,$(DEMO)/pacer.elf,$(DEMO_PACER)))
$(eval $(call pd,$(DEMO)/known.elf,demo/known.c demo/known_work.S))
$(eval $(call pd,$(DEMO)/dummy1.elf,demo/dummy1.c))
$(eval $(call pd,$(DEMO)/dummy2.elf,demo/dummy2.c))
$(eval $(call pd,$(DEMO)/requester.elf,demo/requester.c))
$(eval $(call pd,$(DEMO)/server.elf,demo/server.c))

$(eval $(call pd,$(DEMO)/echo.elf,demo/echo.c $(STACK_SRC) $(TARGET_LIB_SRC)))
$(TARGET_OBJ)/demo/echo.o: TARGET_CFLAGS += $(NET_CFLAGS) $(if $(PLATFORM_CLOCK),-DMKPERF_CLOCK=$(PLATFORM_CLOCK))

DEMO_ELFS := $(patsubst %,$(DEMO)/%.elf,profiler client pacer known dummy1 dummy2 requester server)

$(DEMO)/demo.system: demo/demo.system
	$(Q)mkdir -p $(@D) && sed $(PLATFORM_SYSTEM_SED) -e '' $< >$@

# demo/stock.system: the same for a kernel without the extension.
STOCK := $(B)/stock
$(STOCK)/stock.system: demo/stock.system
	$(Q)mkdir -p $(@D) && sed $(PLATFORM_SYSTEM_SED) -e '' $< >$@

# demo/shared.system: the same with Microkit 2.3's capabilities for PDs.
SHARED := $(B)/shared
$(SHARED)/shared.system: demo/shared.system
	$(Q)mkdir -p $(@D) && sed $(PLATFORM_SYSTEM_SED) -e '' $< >$@

# demo/net.system: the same over the network.
NET_ELFS := $(patsubst %,$(DEMO)/%.elf,profiler client_net ticker echo server requester dummy2 dummy1 known)
NET := $(B)/net
$(NET)/net.system: demo/net.system
	$(Q)mkdir -p $(@D) && sed $(PLATFORM_SYSTEM_SED) -e '' $< >$@

target: $(DEMO_ELFS) $(DEMO)/demo.system $(NET_ELFS) $(NET)/net.system

# On the built-in platform: the image, and for scripts the command that boots it. The clock that the
# pacer reads follows the virtual machine's time, not this machine's.
ifeq ($(MICROKIT_SDK),)
DEMO_READY := $(DEMO)/demo.img $(DEMO)/qemu-command
$(eval $(call pocket_image,$(DEMO)/demo.img,$(DEMO)/demo.system,$(DEMO),$(DEMO_ELFS)))
# $(1)/qemu-command boots $(1)/*.img
%/qemu-command: $(MAKEFILE_LIST)
	$(Q)mkdir -p $(@D) && echo '$(QEMU) $(@D)/$(notdir $(@D)).img -rtc clock=vm' >$@

# The network demo's image. Its host lives in another time than the machine, so that has to wait for
# real time when it is idle; ports of the host are the caller's choice ($$NET).
$(eval $(call pocket_image,$(NET)/net.img,$(NET)/net.system,$(DEMO),$(NET_ELFS)))
$(NET)/qemu-command: $(MAKEFILE_LIST)
	$(Q)mkdir -p $(@D) && echo '$(subst $(comma)sleep=off,,$(QEMU)) $(NET)/net.img -rtc clock=vm' \
	    '-global virtio-mmio.force-legacy=false' >$@

NET_READY := $(NET)/net.img $(NET)/qemu-command
target: $(DEMO_READY) $(NET_READY)
demo: host $(DEMO_READY) $(SHARED)/shared.img $(SHARED)/qemu-command $(NET_READY) $(B)/echo-load
	$(Q)B=$(B) DEMO_SECONDS=$(DEMO_SECONDS) demo/run

$(eval $(call pocket_image,$(STOCK)/stock.img,$(STOCK)/stock.system,$(DEMO),$(DEMO_ELFS)))
$(eval $(call pocket_image,$(SHARED)/shared.img,$(SHARED)/shared.system,$(DEMO),$(DEMO_ELFS)))
target: $(STOCK)/stock.img $(STOCK)/qemu-command $(SHARED)/shared.img $(SHARED)/qemu-command
endif
