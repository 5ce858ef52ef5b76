# SPDX-License-Identifier: BSD-2-Clause
# The host command, and its library in three builds: plain, for the unit tests (sanitizers), and for
# the fuzz targets (clang).

PMU_TABLES_SRC := $(B)/src/pmu_tables.c
HOST_FOLDERS := $(patsubst %/,%,$(sort $(dir $(wildcard host/*/*.c))))
$(foreach f,$(HOST_FOLDERS),$(call unit,$(B)/unit/$(f).c,$(wildcard $(f)/*.c)))
host_units = $(patsubst %,$(B)/unit/host/%.c,$(1))
GENERATED_SRC := $(PROTO_SRC) $(NANOPB_SRC) $(MBEDTLS_SRC) $(PMU_TABLES_SRC)
HOST_LIB_SRC := $(call host_units,$(notdir $(HOST_FOLDERS))) $(GENERATED_SRC)
# The layers that read bytes from outside; the fuzz targets reach no further up.
READERS_SRC := $(call host_units,base symbols system model perfdata wire import sched link pmu mcp) $(GENERATED_SRC)
# --build-id: mkperf looks for ELFs below the working directory, and has to hash the whole of those without an id:
# the tests' programs are hundreds of MB.
HOST_LIBS = -Wl,--build-id $(PROTO_LIBS) -ledit -ldw -lelf -lexpat -lz -lzstd -lm -liberty -lncursesw -ljansson

# -g1: places for their reports; a fifth of the compiler's time less than -g. The unit tests share one library.
ASAN_FLAGS := -O1 -g1 -fPIC -fno-semantic-interposition -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# -O0: less than half of the compiler's time, and as many inputs a second within a third. SHA-256 alone would take ten times as long.
FUZZ_FLAGS = $(if $(findstring /mbedtls/,$<),-O1,-O0) -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

# $(call host_objects,VARIANT,SOURCES). Generated and fetched sources live below $(B); their objects go below gen/.
host_objects = $(patsubst %.c,$(B)/obj/$(1)/%.o,$(patsubst $(B)/%,gen/%,$(2:$(B)/unit/%=%)))

SAY_plain := mkperf, the command for the host
SAY_asan := mkperf for the unit tests, with sanitizers
SAY_fuzz := mkperf for the fuzz targets

# Folders that know nothing of messages: they are compiled while nanopb and mbed TLS are fetched, and find no header of these.
NO_PROTO := $(call host_units,annotate base export flow help mcp model page perfdata report sched symbols system top)

# $(call host_variant,VARIANT,COMPILER,FLAGS,THE USER'S FLAGS,SOURCES)
define host_variant
$(B)/obj/$(1)/%.o: %.c $(PROTO_READY) | $(SETUP)
	$$(call say,$(1),$$(SAY_$(1)))
	$$(into)
	$$(Q)$(2) $$(HOST_CFLAGS) $(3) $(4) -MMD -MP -c $$< -o $$@
$(call host_objects,$(1),$(NO_PROTO)): private PROTO_CFLAGS :=
$(call host_objects,$(1),$(filter-out $(NO_PROTO),$(5))): $(PROTO_READY)
$(B)/obj/$(1)/%.o: $(B)/unit/%.c | $(SETUP)
	$$(call say,$(1),$$(SAY_$(1)))
	$$(into)
	$$(Q)$(2) $$(HOST_CFLAGS) $$(UNIT_CFLAGS) $(3) $(4) -MMD -MP -c $$< -o $$@
$(B)/obj/$(1)/gen/%.o: $(B)/%.c $(PROTO_READY) | $(SETUP)
	$$(call say,$(1),$$(SAY_$(1)))
	$$(into)
	$$(Q)$(2) $$(HOST_CFLAGS) $(3) $(4) -MMD -MP -c $$< -o $$@
$(B)/lib/$(1)/libmkperf.a: $$(call host_objects,$(1),$(5))
	$$(into)
	$$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
# MKPERF_ASSERT=yes: mkperf checks its internal invariants (assert), as the unit tests and the fuzz targets always do.
# The stamp is new whenever the choice changes, so that all objects are made again. It is made here, because make does
# not make a file that is missing (.SECONDARY) as long as what depends on it is newer than the rest.
ASSERT_STAMP := $(B)/assert-$(if $(filter yes,$(MKPERF_ASSERT)),yes,no).stamp
ASSERT_FLAGS := $(if $(filter yes,$(MKPERF_ASSERT)),,-DNDEBUG)
$(if $(wildcard $(ASSERT_STAMP)),,$(shell mkdir -p $(B) && rm -f $(B)/assert-*.stamp && touch $(ASSERT_STAMP)))
$(ASSERT_STAMP): # after make clean in the same run
	$(Q)mkdir -p $(@D) && touch $@
$(call host_objects,plain,host/main.c $(HOST_LIB_SRC)): $(ASSERT_STAMP)

# CPPFLAGS, CFLAGS and LDFLAGS: the user's, for mkperf itself. It reads files and lines of strangers.
HARDEN_CFLAGS = -fPIE -fstack-protector-strong $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS)$(CFLAGS)),,\
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
HARDEN_LDFLAGS = -pie -Wl,-z,relro,-z,now
# What runs once a command, and not once a sample: -O1 is a third of the compiler's time less. (A replay executes as many instructions with
# link at -O1 as at -O2.)
ONCE := agent annotate cmd help link mcp page pmu report stat system top view
ONCE_CFLAGS = $(if $(filter $(call host_units,$(ONCE)),$<),-O1)
$(eval $(call host_variant,plain,$(HOST_CC),$$(ONCE_CFLAGS) $$(HARDEN_CFLAGS) $$(ASSERT_FLAGS),$$(CPPFLAGS) $$(CFLAGS),$(HOST_LIB_SRC)))
$(eval $(call host_variant,asan,$(HOST_CC),$(ASAN_FLAGS),,$(HOST_LIB_SRC)))
$(eval $(call host_variant,fuzz,clang,$$(FUZZ_FLAGS),,$(READERS_SRC)))

# Debian's, where it is: that of a version manager is a script that takes longer than this one.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
$(PMU_TABLES_SRC): scripts/gen-pmu-tables host/pmu/armv8.json $(wildcard host/pmu/cortex-*.json)
	$(into)
	$(Q)$(PYTHON) $^ >$@

host: $(B)/mkperf
$(B)/mkperf: $(B)/obj/plain/host/main.o $(B)/lib/plain/libmkperf.a
	$(Q)$(HOST_CC) $(HARDEN_LDFLAGS) $(CFLAGS) $(LDFLAGS) $^ $(HOST_LIBS) -o $@

# Man pages and completion: what mkperf says about itself. MKPERF_RUN: one that runs here, if this one
# is built for another machine.
MKPERF_RUN ?= $(B)/mkperf
LINKS := toperf kprof2perf # old commands: names of mkperf
host: $(B)/share.stamp
$(B)/share.stamp: $(B)/mkperf
	$(Q)rm -rf $(B)/man $(B)/completion && mkdir -p $(B)/man $(B)/completion
	$(Q)$(MKPERF_RUN) help --man >$(B)/man/mkperf.1
	$(Q)for c in $$($(MKPERF_RUN) help | sed -n 's/^  \([a-z0-9]*\) .*/\1/p'); do \
	    $(MKPERF_RUN) help --man $$c >$(B)/man/mkperf-$$c.1 || exit 1; done
	$(Q)$(MKPERF_RUN) help --completion bash >$(B)/completion/mkperf
	$(Q)$(MKPERF_RUN) help --completion zsh >$(B)/completion/_mkperf
	$(Q)touch $@

# What a Microkit system includes (docs/install.md) goes to share/mkperf.
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
BASHDIR ?= $(DATADIR)/bash-completion/completions
ZSHDIR ?= $(DATADIR)/zsh/site-functions
TARGET_PARTS = $(shell find Makefile LICENSES include kernel platform proto scripts pd demo \
                host/build.mk tests/build.mk tests/systems.mk tests/fuzz/build.mk bench/build.mk -type f)
.PHONY: install-host install-target
install: install-host install-target
install-host: $(B)/mkperf $(B)/share.stamp
	$(Q)install -D -m 755 $(B)/mkperf $(DESTDIR)$(BINDIR)/mkperf
	$(Q)install -d $(DESTDIR)$(MANDIR)/man1
	$(Q)install -m 644 $(B)/man/*.1 $(DESTDIR)$(MANDIR)/man1
	$(Q)install -D -m 644 $(B)/completion/mkperf $(DESTDIR)$(BASHDIR)/mkperf
	$(Q)install -D -m 644 $(B)/completion/_mkperf $(DESTDIR)$(ZSHDIR)/_mkperf
	$(Q)for f in share/fleet/*; do install -D -m 644 $$f $(DESTDIR)$(DATADIR)/mkperf-agent/$${f##*/} || exit 1; done
	$(Q)sed -i 's|^ExecStart=/usr/bin/|ExecStart=$(BINDIR)/|' $(DESTDIR)$(DATADIR)/mkperf-agent/mkperf-agent.service
	$(Q)for l in $(LINKS); do ln -sf mkperf $(DESTDIR)$(BINDIR)/$$l && \
	    ln -sf mkperf-$$l.1 $(DESTDIR)$(MANDIR)/man1/$$l.1 && \
	    ln -sf mkperf $(DESTDIR)$(BASHDIR)/$$l || exit 1; done
install-target:
	$(Q)install -d $(DESTDIR)$(DATADIR)/mkperf
	$(Q)cp --parents $(TARGET_PARTS) $(DESTDIR)$(DATADIR)/mkperf
	$(Q)chmod -R u=rwX,go=rX $(DESTDIR)$(DATADIR)/mkperf

# The page of mkperf view, the script of flame graphs and completion are part of the program.
$(foreach v,plain asan fuzz,$(B)/obj/$(v)/host/page.o): $(wildcard host/page/*.html host/page/*.css host/page/*.js)
$(foreach v,plain asan fuzz,$(B)/obj/$(v)/host/export.o): host/export/flamegraph.js host/export/metadata.ctf
$(foreach v,plain asan fuzz,$(B)/obj/$(v)/host/help.o): host/help/completion.bash host/help/completion.zsh

# speedscope, which mkperf view links to if it lies beside mkperf. Optional: it needs npm's registry.
.PHONY: speedscope
speedscope: $(B)/speedscope/index.html
$(B)/speedscope/index.html:
	$(Q)mkdir -p $(B)/npm
	$(Q)npm install --silent --no-audit --no-fund --ignore-scripts --prefix $(B)/npm speedscope@1.25.0
	$(Q)rm -rf $(@D) && cp -r $(B)/npm/node_modules/speedscope/dist/release $(@D)
