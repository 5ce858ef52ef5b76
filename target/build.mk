# SPDX-License-Identifier: BSD-2-Clause
# Protection domains: how one is compiled and linked, and mkperf's own two.
#
# The platform's fragment says PLATFORM_CFLAGS, PLATFORM_LDFLAGS (linker script), PLATFORM_LIBS
# (libmicrokit) and PLATFORM_READY (files that must exist before a PD is linked).

TARGET_OBJ := $(B)/obj/target
target_objects = $(patsubst %.c,$(TARGET_OBJ)/%.o,$(patsubst %.S,$(TARGET_OBJ)/%.o,\
                 $(patsubst $(B)/%,gen/%,$(1))))

# Recursive on purpose: the platform's fragment comes later.
target_cc = $(TARGET_CC) $(TARGET_CFLAGS) $(PLATFORM_CFLAGS) -MMD -MP -c $< -o $@

$(TARGET_OBJ)/%.o: %.c $(PROTO_READY) | $(SETUP)
	$(Q)mkdir -p $(@D)
	$(Q)$(target_cc)
$(TARGET_OBJ)/%.o: %.S | $(SETUP)
	$(Q)mkdir -p $(@D)
	$(Q)$(target_cc)
# nanopb is not ours to warn about.
$(TARGET_OBJ)/gen/%.o: $(B)/%.c $(PROTO_READY) | $(SETUP)
	$(Q)mkdir -p $(@D)
	$(Q)$(target_cc) -w

# $(call pd,ELF,SOURCES): rules that make the PD's ELF at the path ELF from SOURCES
define pd
$(1): $$(call target_objects,$(2)) $$(PLATFORM_READY)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(TARGET_CC) -nostdlib -static -no-pie -Wl,--gc-sections -Wl,--build-id \
	    -Wl,-z,max-page-size=4096 $$(PLATFORM_LDFLAGS) $$(call target_objects,$(2)) \
	    $$(PLATFORM_LIBS) -o $$@
endef
