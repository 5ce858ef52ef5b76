# SPDX-License-Identifier: BSD-2-Clause
# The host command, and its library in three builds: plain, for the unit tests (sanitizers), and for
# the fuzz targets (clang).

PMU_TABLES_SRC := $(B)/src/pmu_tables.c
HOST_LIB_SRC := $(filter-out host/main.c,$(wildcard host/*.c host/*/*.c)) $(PROTO_SRC) $(NANOPB_SRC) \
                $(MBEDTLS_SRC) $(PMU_TABLES_SRC)
HOST_LIBS := -ledit -ldw -lelf -lexpat -lz -lm -lcapstone -lncursesw -lmicrohttpd

ASAN_FLAGS := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_FLAGS := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

# $(call host_objects,VARIANT,SOURCES)
host_objects = $(patsubst %.c,$(B)/obj/$(1)/%.o,$(patsubst $(B)/%,gen/%,$(2)))

# Generated and fetched sources live below $(B); their objects go below gen/.
define host_variant
$(B)/obj/$(1)/%.o: %.c $(PROTO_READY) | $(SETUP)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$(2) $(HOST_CFLAGS) $(3) -MMD -MP -c $$< -o $$@
$(B)/obj/$(1)/gen/%.o: $(B)/%.c $(PROTO_READY) | $(SETUP)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$(2) $(HOST_CFLAGS) $(3) -MMD -MP -c $$< -o $$@
$(B)/lib/$(1)/libmkperf.a: $$(call host_objects,$(1),$(HOST_LIB_SRC))
	$$(Q)mkdir -p $$(@D)
	$$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(eval $(call host_variant,plain,$(HOST_CC),))
$(eval $(call host_variant,asan,$(HOST_CC),$(ASAN_FLAGS)))
$(eval $(call host_variant,fuzz,clang,$(FUZZ_FLAGS)))

$(PMU_TABLES_SRC): scripts/gen-pmu-tables host/pmu/armv8.json $(wildcard host/pmu/cortex-*.json)
	$(Q)mkdir -p $(@D)
	$(Q)$^ >$@

host: $(B)/mkperf
$(B)/mkperf: $(B)/obj/plain/host/main.o $(B)/lib/plain/libmkperf.a
	$(Q)$(HOST_CC) $^ $(HOST_LIBS) -o $@

install: $(B)/mkperf
	install -D -m 755 $(B)/mkperf $(DESTDIR)$(PREFIX)/bin/mkperf
	ln -sf mkperf $(DESTDIR)$(PREFIX)/bin/toperf
	ln -sf mkperf $(DESTDIR)$(PREFIX)/bin/kprof2perf

# The page of mkperf view is part of the program.
$(foreach v,plain asan fuzz,$(B)/obj/$(v)/host/view/page.o): $(wildcard host/view/*.html host/view/*.css host/view/*.js)

# speedscope, which mkperf view links to if it lies beside mkperf. Optional: it needs npm's registry.
.PHONY: speedscope
speedscope: $(B)/speedscope/index.html
$(B)/speedscope/index.html:
	$(Q)mkdir -p $(B)/npm
	$(Q)npm install --silent --no-audit --no-fund --ignore-scripts --prefix $(B)/npm speedscope@1.25.0
	$(Q)rm -rf $(@D) && cp -r $(B)/npm/node_modules/speedscope/dist/release $(@D)
