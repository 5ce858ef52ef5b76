# SPDX-License-Identifier: BSD-2-Clause
# The demo system: its programs and its description.

DEMO := $(B)/demo
# Every layer of the demo's call chains is to be seen: no tail calls.
$(TARGET_OBJ)/demo/%.o: TARGET_CFLAGS += -fno-optimize-sibling-calls

DEMO_PACER ?= demo/pacer.c
$(eval $(call pd,$(DEMO)/pacer.elf,$(DEMO_PACER)))
$(eval $(call pd,$(DEMO)/known.elf,demo/known.c demo/known_work.S))
$(eval $(call pd,$(DEMO)/dummy1.elf,demo/dummy1.c))
$(eval $(call pd,$(DEMO)/dummy2.elf,demo/dummy2.c))
$(eval $(call pd,$(DEMO)/requester.elf,demo/requester.c))
$(eval $(call pd,$(DEMO)/server.elf,demo/server.c))

DEMO_ELFS := $(patsubst %,$(DEMO)/%.elf,profiler client pacer known dummy1 dummy2 requester server)
