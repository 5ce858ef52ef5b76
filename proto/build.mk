# SPDX-License-Identifier: BSD-2-Clause
# nanopb's runtime from Debian's source package, the code it generates from the schema, and SHA-256
# from Debian's source package of mbed TLS. Both halves use them; the target compiles them for itself.
# SYSTEM_LIBS=yes: the host's half takes them from the system's libraries instead, for packages; the
# target's half cannot be built then.

PROTO_SRC := $(B)/proto/mkperf.pb.c $(B)/proto/sched.pb.c
PROTO_READY := $(B)/proto/ready.stamp # what an object that includes mkperf.pb.h waits for

# Made with it.
$(B)/proto/sched.pb.c: $(B)/proto/mkperf.pb.c ;
$(B)/proto/mkperf.pb.c: proto/mkperf.proto proto/sched.proto proto/mkperf.options | $(SETUP)
	$(into)
	$(Q)nanopb_generator.py -q -I proto -D $(B)/proto -f proto/mkperf.options sched.proto mkperf.proto

ifeq ($(SYSTEM_LIBS),yes)
PROTO_LIBS := -lprotobuf-nanopb -lmbedcrypto
$(PROTO_READY): $(PROTO_SRC)
	$(Q)touch $@
else
NANOPB_SRC := $(B)/src/nanopb/pb_common.c $(B)/src/nanopb/pb_encode.c $(B)/src/nanopb/pb_decode.c

$(B)/src/nanopb.stamp: scripts/debian-source | $(SETUP)
	$(Q)scripts/debian-source nanopb $(B)/src
	$(Q)touch $@

MBEDTLS_SRC := $(B)/src/mbedtls/library/sha256.c $(B)/src/mbedtls/library/platform_util.c
MBEDTLS_CFLAGS := -isystem $(B)/src/mbedtls/include -DMBEDTLS_CONFIG_FILE='"mkperf/mbedtls_config.h"'

$(B)/src/mbedtls.stamp: scripts/debian-source | $(SETUP) $(B)/src/nanopb.stamp
	$(Q)scripts/debian-source mbedtls $(B)/src
	$(Q)touch $@
$(MBEDTLS_SRC): $(B)/src/mbedtls.stamp ;

$(NANOPB_SRC): $(B)/src/nanopb.stamp ;

$(PROTO_READY): $(PROTO_SRC) $(B)/src/nanopb.stamp $(B)/src/mbedtls.stamp
	$(Q)touch $@
endif
