# SPDX-License-Identifier: BSD-2-Clause
# The client PD over TCP: lwIP from Debian's source package, and our virtio-net driver.
#
# MKPERF_NET_ADDRESS, MKPERF_NET_MASK, MKPERF_NET_GATEWAY: a fixed address instead of DHCP.
# MKPERF_NET_DIAL: an address; the target calls that host (`mkperf record -t listen:1236` there).

LWIP := $(B)/src/lwip/src
LWIP_SRC := $(addprefix $(LWIP)/core/,init.c def.c inet_chksum.c ip.c mem.c memp.c netif.c pbuf.c raw.c \
                tcp.c tcp_in.c tcp_out.c timeouts.c udp.c) \
            $(addprefix $(LWIP)/core/ipv4/,dhcp.c etharp.c icmp.c ip4.c ip4_addr.c ip4_frag.c) \
            $(LWIP)/netif/ethernet.c
NET_ADDRESS_CFLAGS := \
    $(if $(MKPERF_NET_ADDRESS),-DMKPERF_NET_ADDRESS='"$(MKPERF_NET_ADDRESS)"' \
        -DMKPERF_NET_MASK='"$(MKPERF_NET_MASK)"' -DMKPERF_NET_GATEWAY='"$(MKPERF_NET_GATEWAY)"') \
    $(if $(MKPERF_NET_DIAL),-DMKPERF_NET_DIAL='"$(MKPERF_NET_DIAL)"')
NET_CFLAGS := -isystem $(LWIP)/include -Ipd/net/lwip

$(B)/src/lwip.stamp: scripts/debian-source | $(SETUP) $(B)/src/mbedtls.stamp
	$(Q)scripts/debian-source lwip $(B)/src
	$(Q)touch $@
$(LWIP_SRC): $(B)/src/lwip.stamp ;

STACK_SRC := pd/net/stack.c pd/net/virtio_net.c $(call target_unit,gen/lwip,$(LWIP_SRC))
CLIENT_NET_SRC := pd/net/tcp.c $(STACK_SRC) $(CLIENT_COMMON_SRC)

# Named, since lwIP's headers are system headers and what those include is not looked for.
$(call target_objects,$(STACK_SRC) pd/net/tcp.c demo/echo.c): $(B)/src/lwip.stamp \
    $(wildcard pd/net/lwip/*.h pd/net/lwip/arch/*.h)
$(TARGET_OBJ)/pd/net/%.o: TARGET_CFLAGS += $(NET_CFLAGS) \
    $(CLOCK_CFLAGS) \
    $(NET_ADDRESS_CFLAGS)
$(TARGET_OBJ)/gen/lwip.o: TARGET_CFLAGS += $(NET_CFLAGS)

$(call pd,$(DEMO)/client_net.elf,$(CLIENT_NET_SRC))
# PLATFORM_TICK: the device's file.
$(call pd,$(DEMO)/ticker.elf,pd/net/ticker.c $(PLATFORM_TICK))

# SDDF=<path>: the same over the seL4 Device Driver Framework's network and timer classes, with its own
# copy of lwIP. For Microkit only; docs/net.md has what the system description needs. More: platform/microkit/sddf.mk.
ifneq ($(and $(SDDF),$(MICROKIT_SDK)),)
SDDF_LWIP := $(SDDF)/network/ipstacks/lwip/src
SDDF_OBJ := $(B)/obj/sddf
SDDF_CFLAGS = $(TARGET_CFLAGS) $(PLATFORM_CFLAGS) $(CLOCK_CFLAGS) \
    -isystem $(SDDF_LWIP)/include -isystem $(SDDF)/include -isystem $(SDDF)/include/microkit -Ipd/net/lwip -DMKPERF_SDDF \
    $(NET_ADDRESS_CFLAGS)
SDDF_LWIP_OBJ := $(patsubst $(LWIP)/%.c,$(SDDF_OBJ)/lwip/%.o,$(LWIP_SRC))
SDDF_OWN_OBJ := $(addprefix $(SDDF_OBJ)/,pd/net/tcp.o pd/net/stack.o pd/sddf/nic.o pd/sddf/assert.o)

$(SDDF_OBJ)/lwip/%.o: $(SDDF_LWIP)/%.c $(PROTO_READY)
	$(into)
	$(Q)$(TARGET_CC) $(SDDF_CFLAGS) -w -MMD -MP -c $< -o $@
$(SDDF_OBJ)/%.o: %.c $(PROTO_READY)
	$(into)
	$(Q)$(TARGET_CC) $(SDDF_CFLAGS) -MMD -MP -c $< -o $@
$(B)/demo/client_sddf.elf: $(SDDF_OWN_OBJ) $(SDDF_LWIP_OBJ) $(call target_objects,$(CLIENT_COMMON_SRC)) \
                           $(PLATFORM_READY)
	$(into)
	$(Q)$(target_link)
target: $(B)/demo/client_sddf.elf
endif
