# SPDX-License-Identifier: BSD-2-Clause
# The plugin of QEMU that `mkperf exact` uses. It is found next to mkperf, or in ../lib/mkperf.

QEMU_PLUGIN := $(B)/mkperf-qemu.so
LIBDIR ?= $(PREFIX)/lib

host: $(QEMU_PLUGIN)
$(QEMU_PLUGIN): platform/qemu/exact_plugin.c
	$(into)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -fPIC -shared $< -o $@

install-host: install-plugin
.PHONY: install-plugin
install-plugin: $(QEMU_PLUGIN)
	$(Q)install -D -m 644 $< $(DESTDIR)$(LIBDIR)/mkperf/mkperf-qemu.so
