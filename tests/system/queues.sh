#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Queues of a pipeline with known service times (tests/pd/flow.c): readings at switches against the PDs' own counts of packets and
# activations, on one core and on two; a PD that writes anything into its queue; what stamp and record refuse.
# Environment: B and MKPERF.
set -u
NAME=queues
. tests/system/lib.sh

recorded() { # NAME SECONDS: a recording of the system with that name
    t=$B/tests/pd/$1
    QEMU=$(cat "$t/qemu-command") scripts/qemu-record "$D" --queues --duration "$2" --system "$t/$1.system" --elf-path "$t" \
        -o "$D/$1.data" >"$D/record.log" 2>&1 || { cat "$D/record.log"; return 1; }
    grep -q ', 0 lost,' "$D/record.log" && perf_quiet script -i "$D/$1.data" >"$D/$1.txt" ||
        { cat "$D/record.log"; return 1; }
}
# judge FILE PYTHON: `q` are the last indices (head, tail) of each queue, `first` the first ones. The code is run for each reading,
# when all of the same moment are known (`at` its queue, `now` its time), and, with `at` None, at the end.
judge() {
    python3 - "$1" "$2" <<'END'
import re, sys
q, first, readings, moment, now = {}, {}, 0, [], None
code = compile(sys.argv[2], "judge", "exec")
def judge():
    for g["at"] in moment:
        exec(code, g)
    moment.clear()
g = globals()
for line in open(sys.argv[1]):
    r = re.search(r"(\[\d+\] +\S+): +mkperf:queue: queue=(\d+) head=(\d+) tail=(\d+)", line)
    if not r or r.group(1) != now:
        judge()
    if r:
        now, at = r.group(1), int(r.group(2))
        q[at] = int(r.group(3)), int(r.group(4))
        first.setdefault(at, q[at])
        readings += 1
        moment.append(at)
judge()
moment.append(None)
judge()
END
}
# Queues 0 to 3 are q1 to q4; 4 to 8 are the counts of src and the four stages: (activations, packets). A switch may come between
# the write of an index and that of a count, so they differ by at most one; over the recording they agree.
counts() {
    recorded flow_counted 0.5 && judge "$D/flow_counted.txt" '
stages = range(4)
if at is None:
    for i in stages:
        packets = q[5 + i][1] - first[5 + i][1]
        assert packets > 12000 and abs(q[i][0] - first[i][0] - packets) <= 1, (i, q, first)
        assert abs(q[i][1] - first[i][1] - (q[4 + i][1] - first[4 + i][1])) <= 1, (i, q, first)
    assert readings > 2500
elif len(q) == 12:
    for i in stages:
        assert abs(q[i][0] - q[5 + i][1]) <= 1 and abs(q[i][1] - q[4 + i][1]) <= 1, (now, q)
        assert 0 <= q[i][1] - q[i][0] <= 64, (now, q)'
}
check "packets at each switch are those that the PDs count" counts
counter() { # b8 counts its packets in a shared page: a stage of its own class, with what its queue shows
    "$MKPERF" flow --json "$D/flow_counted.data" >"$D/counted.json" && python3 - "$D/counted.json" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
stage = {r["class"]: r for r in rows if r["type"] == "stage" and r["pd"] == "b8"}
work = next(r for r in rows if r["type"] == "queue" and r["queue"] == "work")
assert work["implausible"] == work["unknown"] == 0 and work["arrivals"] > 12000, work
assert abs(stage["counter"]["out"] - stage["ring"]["in"]) <= 1 and stage["counter"]["out"] == work["arrivals"], (stage, work)
assert stage["counter"]["activations"] == stage["ring"]["activations"] > 800, stage
END
}
check "packets that a PD counts without a call" counter
two_cores() { # the stage on the other core takes 80 us a packet: its queue is full, the next one empty
    recorded flow_slow 0.4 && grep -q '\[001\].*mkperf:queue' "$D/flow_slow.txt" && judge "$D/flow_slow.txt" '
if at is None:
    assert full > 0.9 * seen and 2000 < q[1][0] - first[1][0] < 5040, (full, seen, q, first)
else:
    seen = globals().get("seen", 0) + (at == 1)
    full = globals().get("full", 0) + (at == 1 and q[1][1] - q[1][0] >= 32)
    assert 0 <= q[at][1] - q[at][0] <= 64, (now, q)'
}
check "two cores: the queue before the slow stage is full" two_cores
evil() { # the last queue has any head; the other queues are right
    recorded flow_evil 0.4 && judge "$D/flow_evil.txt" '
if at is None:
    assert wild > 100, wild
else:
    wild = globals().get("wild", 0) + (at == 3 and q[3][1] - q[3][0] not in range(65))
    assert at == 3 or 0 <= q[at][1] - q[at][0] <= 64, (now, q)' && "$MKPERF" flow "$D/flow_evil.data" >"$D/flow.txt"
}
check "a PD that writes anything into its queue" evil

no_queues() {
    t=$B/demo
    QEMU=$(cat "$t/qemu-command") scripts/qemu-record "$D" --queues --duration 0.1 --system "$t/demo.system" --elf-path "$t" \
        -o "$D/demo.data" >"$D/record.log" 2>&1 && return 1
    contains "$D/record.log" 'the image lists no queues' && [ ! -e "$D/demo.data" ]
}
check "an image without queues: said" no_queues
refused() { # LINE REASON
    t=$B/tests/pd/flow
    echo "$1" >"$D/bad.queues"
    "$MKPERF" stamp -q --queues "$D/bad.queues" "$t/flow.system" --elf-path "$t" --kernel "$B/demo/kernel.elf" -o "$D/out.elf" 2>"$D/err" &&
        return 1
    contains "$D/err" "bad.queues:1: $2" && [ ! -e "$D/out.elf" ]
}
bad_lines() {
    refused "q1 region=q9 head=0 tail=64 bits=32 slots=64 producer=src" "no memory region is named q9" &&
        refused "q1 region=q1 head=0 tail=64 bits=24 slots=64 producer=src" "q1: bits: want 8, 16, 32 or 64" &&
        refused "q1 region=q1 head=0 tail=4094 bits=32 slots=64 producer=src" "q1: head and tail" &&
        refused "q1 region=q1 head=0 tail=4096 bits=32 slots=64 producer=src" "q1: head and tail" &&
        refused "q1 region=q1 head=0 tail=64 bits=32 slots=64" "q1: want region" &&
        refused "q1 region=q1 head=0 tail=64 bits=32 slots=64 producer=nobody" "no protection domain is named nobody" &&
        refused "q1 region=q1 head=x tail=64 bits=32 slots=64 producer=src" "head=x: want a number" &&
        refused "q1 color=red" "color=: want region"
}
check "a wrong description of a queue: file, line and reason" bad_lines

# A system with sDDF's classes, as `mkperf stamp` sees it: the sections have the layout of sDDF's structures, by ctypes.
sddf_system() { # VERSION OF NET
    rm -rf "$D/sddf" && mkdir "$D/sddf" && cp "$B/tests/pd/flow/client.elf" "$B/tests/pd/flow/profiler.elf" "$D/sddf" &&
        python3 - "$D/sddf" "$1" <<'END'
import ctypes as c, sys
def struct(*fields):
    return type("S", (c.Structure,), {"_fields_": list(fields)})
region = struct(("vaddr", c.c_uint64), ("size", c.c_uint64))
device = struct(("region", region), ("io", c.c_uint64))
conn = struct(("free", region), ("active", region), ("n", c.c_uint16), ("id", c.c_uint8))
mac = struct(("addr", c.c_uint8 * 6))
magic = ("magic", c.c_uint8 * 5)
driver = struct(magic, ("rx", conn), ("tx", conn))
part = struct(("data", device), ("n", c.c_uint32))
tx_client = struct(("conn", conn), ("regions", part * 64), ("n", c.c_uint8))
virt_tx = struct(magic, ("driver", conn), ("clients", tx_client * 64), ("n", c.c_uint8))
rx_client = struct(("conn", conn), ("macs", mac * 64), ("n", c.c_uint8))
virt_rx = struct(magic, ("driver", conn), ("data", device), ("meta", region), ("clients", rx_client * 64), ("n", c.c_uint8))
copy = struct(magic, ("rx", conn), ("rx_data", region * 64), ("client", conn), ("client_data", region))
client = struct(magic, ("rx", conn), ("rx_data", region), ("tx", conn), ("tx_data", region), ("mac", mac))
sconn = struct(("queue", region), ("data", region), ("id", c.c_uint8))
svirt = struct(("conn", sconn), ("name", c.c_char * 64))
sdriver = struct(magic, ("rx", sconn), ("tx", sconn), ("baud", c.c_uint64), ("on", c.c_bool))
svirt_tx = struct(magic, ("driver", sconn), ("clients", svirt * 64), ("n", c.c_uint8))
bconn = struct(("info", region), ("req", region), ("resp", region), ("n", c.c_uint16), ("id", c.c_uint8))
bpart = struct(("conn", bconn), ("data", device), ("partition", c.c_uint32))
bdata = struct(("conn", bconn), ("data", device))
bvirt = struct(magic, ("n", c.c_uint64), ("driver", bdata), ("clients", bpart * 64))
bclient = struct(magic, ("conn", bconn), ("data", region))
where, version = sys.argv[1], int(sys.argv[2])
regions, maps = [], {}
def at(pd, name): # the address of a queue's region in a PD
    if name not in regions:
        regions.append(name)
    maps.setdefault(pd, {})[name] = 0x20000000 + 0x10000 * regions.index(name) + 0x1000 * len(pd)
    return region(maps[pd][name], 4096)
def link(pd, name, n=512):
    return conn(at(pd, name + "_free"), at(pd, name + "_active"), n)
def serial(pd, name):
    return sconn(at(pd, name), region(0x50000000, 2048))
def blk(pd, name):
    return bconn(region(1, 2), at(pd, name + "_req"), at(pd, name + "_resp"), 128)
net = (c.c_uint8 * 5)(*b"sDDF", version)
ser = (c.c_uint8 * 5)(*b"sDDF", 3)
disk = (c.c_uint8 * 5)(*b"sDDF", 2)
def put(pd, section, s):
    open(f"{where}/{pd}{section}", "wb").write(bytes(s))
put("eth", ".net_driver_config", driver(net, link("eth", "rx"), link("eth", "tx")))
s = virt_rx(magic=net, driver=link("virtrx", "rx"), n=2)
s.clients[0].conn, s.clients[1].conn = link("virtrx", "copy"), link("virtrx", "other")
put("virtrx", ".net_virt_rx_config", s)
s = virt_tx(magic=net, driver=link("virttx", "tx"), n=1)
s.clients[0].conn = link("virttx", "out")
put("virttx", ".net_virt_tx_config", s)
put("copier", ".net_copy_config", copy(magic=net, rx=link("copier", "copy"), client=link("copier", "in")))
put("echo", ".net_client_config", client(magic=net, rx=link("echo", "in"), tx=link("echo", "out")))
put("uart", ".serial_driver_config", sdriver(magic=ser, tx=serial("uart", "line")))
s = svirt_tx(magic=ser, driver=serial("svirt", "line"), n=1)
s.clients[0].conn = serial("svirt", "text")
put("svirt", ".serial_virt_tx_config", s)
s = bvirt(magic=disk, n=1)
s.clients[0].conn = blk("bvirt", "file")
put("bvirt", ".blk_virt_config", s)
put("fs", ".blk_client_config", bclient(magic=disk, conn=blk("fs", "file")))
with open(f"{where}/sddf.system", "w") as f:
    f.write("<system>\n")
    for r in regions + ["mkperf_rings"]:
        f.write(f'<memory_region name="{r}" size="0x1000" />\n')
    read = ["rx_active", "text"]
    own = "".join(f'<map mr="{r}" vaddr="{0x30000000 + 0x1000 * i:#x}" perms="r" />' for i, r in enumerate(read))
    f.write('<protection_domain name="profiler" priority="254"><program_image path="profiler.elf" />'
            f'<map mr="mkperf_rings" vaddr="0x10000000" perms="rw" setvar_vaddr="mkperf_rings" />{own}</protection_domain>\n')
    f.write('<protection_domain name="client" priority="253"><program_image path="client.elf" /></protection_domain>\n')
    for pd, m in maps.items():
        f.write(f'<protection_domain name="{pd}" priority="1"><program_image path="{pd}.elf" />' +
                "".join(f'<map mr="{r}" vaddr="{a:#x}" perms="rw" />' for r, a in m.items()) + "</protection_domain>\n")
    f.write("</system>\n")
END
    for config in "$D"/sddf/*_config; do
        name=${config##*/}
        "${OBJCOPY:-aarch64-linux-gnu-objcopy}" --add-section ".${name#*.}=$config" "$B/tests/pd/flow/flow.elf" "$D/sddf/${name%%.*}.elf" ||
            return 1
    done
    "$MKPERF" stamp "$D/sddf/sddf.system" --kernel "$B/demo/kernel.elf" -o "$D/sddf/stamped.elf" 2>"$D/stamped"
}
sddf() {
    unread='; not read: the profiler PD has no map of its memory region'
    sddf_system 5 || { cat "$D/stamped"; return 1; }
    contains "$D/stamped" "queue   rx_active (net, 512 slots), eth -> virtrx\$" "queue   rx_free (net, returns, 512 slots), virtrx -> eth$unread\$" \
        "queue   tx_active (net, 512 slots), virttx -> eth$unread" "queue   copy_active (net, 512 slots), virtrx -> copier$unread" \
        "queue   other_active (net, 512 slots), virtrx -> ?$unread" "queue   in_active (net, 512 slots), copier -> echo$unread" \
        "queue   out_active (net, 512 slots), echo -> virttx$unread" "queue   out_free (net, returns, 512 slots), virttx -> echo$unread" \
        "queue   line (serial, 2048 slots), svirt -> uart$unread" "queue   text (serial, 2048 slots), ? -> svirt\$" \
        "queue   file_req (blk, 128 slots), fs -> bvirt$unread" "queue   file_resp (blk, returns, 128 slots), bvirt -> fs$unread" &&
        [ "$(grep -c '^  queue ' "$D/stamped")" = 16 ]
}
check "sDDF's queues are found, with their PDs" sddf
sddf_version() {
    sddf_system 6 && return 1
    contains "$D/stamped" 'eth: its section .net_driver_config has version 6'
}
check "another version of sDDF's configuration: said" sddf_version

# The pipeline without mkperf's PDs, built as docs/record.md says: pocket.mk adds them, with maps of the queues.
built() {
    root=$PWD d=$D/built
    mkdir -p "$d/build/mkperf" && ln -s "$(realpath "$B")" "$d/build/mkperf/build" && cp "$B/tests/pd/flow/flow.queues" "$d/my.queues" && cp "$B/tests/pd/flow/flow.elf" "$d/build" &&
        python3 - "$B/tests/pd/flow/flow.system" >"$d/my.system" <<'END' || return 1
import re, sys
s = open(sys.argv[1]).read()
s = re.sub(r'    <protection_domain name="(profiler|client)".*?</protection_domain>\n', "", s, flags=re.S)
s = re.sub(r'    <memory_region name="(mkperf_\w+|uart)".*\n', "", s)
print(re.sub(r'    <channel>\n        <end pd="client".*\n.*\n    </channel>\n', "", s), end="")
END
    cat >"$d/Makefile" <<END
MKPERF_QUEUES := my.queues
build/loader.img:
include $root/platform/pocket/pocket.mk
build/loader.img: build/mkperf/my.system \$(MKPERF_PDS) build/flow.elf
	\$(call mkperf_stamp,\$<,build)
	\$(MICROKIT_TOOL) \$< --search-path \$(MKPERF_SEARCH_PATH) build -o \$@
END
    make -C "$d" BUILD_DIR=build SETUP_PACKAGES=no MKPERF="$(realpath "$MKPERF")" >"$d/log" 2>&1 || { tail -n 20 "$d/log"; return 1; }
    [ "$(grep -o '<map mr="q[1-4]" vaddr="0x4[02468]*" perms="r" />' "$d/build/mkperf/my.system" | sort -u | wc -l)" = 4 ] || return 1
    QEMU=$(sed "s|[^ ]*flow.img|$d/build/loader.img|" "$B/tests/pd/flow/qemu-command") scripts/qemu-record "$D" --queues --duration 0.1 \
        --system "$d/build/mkperf/my.system" --elf-path "$d/build/mkperf:$d/build" -o "$D/built.data" >"$D/record.log" 2>&1 &&
        contains "$D/record.log" ', 0 lost,' '  queues  [1-9][0-9]* readings' || { cat "$D/record.log"; return 1; }
}
check "pocket.mk adds the maps of described queues" built
maps() { # of sDDF's regions, those that the profiler PD maps already included; without ELFs there are none
    sddf_system 5 && "$MKPERF" stamp --maps "$D/sddf/sddf.system" >"$D/maps" &&
        [ "$(grep -o '<map mr="[a-z_]*" vaddr="0x[0-9a-f]*00000" perms="r" />' "$D/maps" | sort -u | wc -l)" = 16 ] &&
        [ -z "$("$MKPERF" stamp --maps --elf-path /nonexistent "$D/sddf/sddf.system")" ]
}
check "the maps of sDDF's queues" maps
