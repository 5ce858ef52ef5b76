/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the formats of the tracepoints as text, see tracepoints.h, and the names of perf's own events. */
#include "perfdata_internal.h"

#include "model/relays.h"

const struct perfdata_generic perfdata_generic[] = {
    {"cycles", PERF_TYPE_HARDWARE, 0},
    {"cpu-cycles", PERF_TYPE_HARDWARE, 0},
    {"instructions", PERF_TYPE_HARDWARE, 1},
    {"cache-references", PERF_TYPE_HARDWARE, 2},
    {"cache-misses", PERF_TYPE_HARDWARE, 3},
    {"branches", PERF_TYPE_HARDWARE, 4},
    {"branch-instructions", PERF_TYPE_HARDWARE, 4},
    {"branch-misses", PERF_TYPE_HARDWARE, 5},
    {"bus-cycles", PERF_TYPE_HARDWARE, 6},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, 7},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, 8},
    {"ref-cycles", PERF_TYPE_HARDWARE, 9},
    {"cpu-clock", PERF_TYPE_SOFTWARE, 0},
    {"task-clock", PERF_TYPE_SOFTWARE, 1},
    {MKPERF_OFF_CPU_EVENT, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT},
    {NULL, 0, 0},
};

#define COMMON                                                                     \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define REASONS                                                                                    \
    "{ 0, \"unknown\" }, { 1, \"called\" }, { 2, \"replied\" }, { 3, \"waits-message\" }, "        \
    "{ 4, \"waits-notification\" }, { 5, \"preempted\" }, { 6, \"budget\" }, { 7, \"faulted\" }, " \
    "{ 8, \"suspended\" }, { 9, \"idle\" }, { 10, \"queued\" }"

#define KINDS                                                                                  \
    "{ 1, \"call\" }, { 2, \"reply\" }, { 3, \"notify\" }, { 4, \"irq\" }, { 5, \"fault\" }, " \
    "{ 6, \"lock\" }, { 7, \"lock-wait\" }, { 8, \"wake\" }, { 9, \"receive\" }, { 10, "       \
    "\"window\" }"

static const struct {
    const char *system, *name;
    unsigned number;
    const char *fields, *print;
} points[MKPERF_TRACE_POINTS] = {
    [MKPERF_TRACE_SWITCH] =
        {"sched", "sched_switch", 316,
         "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
         "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
         "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
         "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
         "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
         "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
         "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
         "\tfield:int reason;\toffset:64;\tsize:4;\tsigned:1;\n"
         "\tfield:int prev_known;\toffset:68;\tsize:4;\tsigned:1;\n",
         "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%ld ==> next_comm=%s next_pid=%d "
         "next_prio=%d reason=%s\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
         "REC->prev_state, REC->next_comm, REC->next_pid, REC->next_prio, "
         "__print_symbolic(REC->reason, " REASONS ")"},
    [MKPERF_TRACE_WAKEUP] = {"sched", "sched_wakeup", 319,
                             "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                             "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                             "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
                             "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n",
                             "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, "
                             "REC->prio, REC->target_cpu"},
    [MKPERF_TRACE_RUNTIME] = {"sched", "sched_stat_runtime", 320,
                              "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                              "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                              "\tfield:u64 runtime;\toffset:32;\tsize:8;\tsigned:0;\n"
                              "\tfield:u64 vruntime;\toffset:40;\tsize:8;\tsigned:0;\n",
                              "\"comm=%s pid=%d runtime=%Lu [ns] vruntime=%Lu [ns]\", REC->comm, "
                              "REC->pid, REC->runtime, REC->vruntime"},
    [MKPERF_TRACE_SCHED] = {"mkperf", "sched", 2000,
                            "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                            "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                            "\tfield:int kind;\toffset:28;\tsize:4;\tsigned:1;\n"
                            "\tfield:unsigned int irq;\toffset:32;\tsize:4;\tsigned:0;\n"
                            "\tfield:int from_known;\toffset:36;\tsize:4;\tsigned:1;\n",
                            "\"%s comm=%s pid=%d irq=%u\", __print_symbolic(REC->kind, " KINDS
                            "), REC->comm, REC->pid, REC->irq"},
    [MKPERF_TRACE_LOCK_BEGIN] = {"lock", "contention_begin", 71,
                                 "\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
                                 "\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n",
                                 "\"%p (flags=%x)\", REC->lock_addr, REC->flags"},
    [MKPERF_TRACE_LOCK_END] = {"lock", "contention_end", 70,
                               "\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
                               "\tfield:int ret;\toffset:16;\tsize:4;\tsigned:1;\n",
                               "\"%p (ret=%d)\", REC->lock_addr, REC->ret"},
    [MKPERF_TRACE_QUEUE] = {"mkperf", "queue", 2001,
                            "\tfield:unsigned int queue;\toffset:8;\tsize:4;\tsigned:0;\n"
                            "\tfield:u64 head;\toffset:16;\tsize:8;\tsigned:0;\n"
                            "\tfield:u64 tail;\toffset:24;\tsize:8;\tsigned:0;\n",
                            "\"queue=%u head=%Lu tail=%Lu\", REC->queue, REC->head, REC->tail"},
};

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static const char header_event[] = "# compressed entry header\n"
                                   "\ttype_len    :    5 bits\n"
                                   "\ttime_delta  :   27 bits\n"
                                   "\tarray       :   32 bits\n\n"
                                   "\tpadding     : type == 29\n"
                                   "\ttime_extend : type == 30\n"
                                   "\ttime_stamp : type == 31\n"
                                   "\tdata max type_len  == 28\n";

enum mkperf_prev_state mkperf_trace_prev_state(enum mkperf_sched_reason reason)
{
    static const enum mkperf_prev_state states[MKPERF_STOPPED_REASONS] = {
        /* others: RUNS */
        [MKPERF_STOPPED_CALLED] = MKPERF_PREV_CALLS,
        [MKPERF_STOPPED_QUEUED] = MKPERF_PREV_CALLS,
        [MKPERF_STOPPED_REPLIED] = MKPERF_PREV_WAITS,
        [MKPERF_STOPPED_WAIT_MESSAGE] = MKPERF_PREV_WAITS,
        [MKPERF_STOPPED_WAIT_NOTIFICATION] = MKPERF_PREV_WAITS,
        [MKPERF_STOPPED_BUDGET] = MKPERF_PREV_STOPPED,
        [MKPERF_STOPPED_FAULTED] = MKPERF_PREV_STOPPED,
        [MKPERF_STOPPED_SUSPENDED] = MKPERF_PREV_STOPPED,
    };

    assert(reason < MKPERF_STOPPED_REASONS);
    return states[reason];
}

unsigned mkperf_trace_number(enum mkperf_trace_point point)
{
    return points[point].number;
}

static void put_number(FILE *f, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        fputc((int)(value >> 8 * i & 0xff), f);
    }
}

static void put_text(FILE *f, const char *text)
{
    fputs(text, f);
    fputc('\0', f);
}

static void put_sized(FILE *f, const char *text, size_t n)
{
    put_number(f, n, 8);
    (void)fwrite(text, 1, n, f);
}

char *mkperf_trace_formats(unsigned npoints, size_t *n)
{
    char *text = NULL;
    FILE *f = mkperf_memstream_open(&text, n);

    (void)fwrite("\x17\x08\x44tracing", 1, 10, f);
    put_text(f, "0.6");
    put_number(f, 0, 1); /* little-endian */
    put_number(f, 8, 1); /* size of long */
    put_number(f, 4096, 4);
    put_text(f, "header_page");
    put_sized(f, header_page, sizeof header_page - 1);
    put_text(f, "header_event");
    put_sized(f, header_event, sizeof header_event - 1);
    put_number(f, 0, 4); /* formats of ftrace */
    put_number(f, npoints, 4);
    for (unsigned i = 0; i < npoints; i++) { /* each with its system, and one format of that */
        char *format = mkperf_xprintf("name: %s\nID: %u\nformat:\n" COMMON "%s\nprint fmt: %s\n",
                                      points[i].name, points[i].number, points[i].fields,
                                      points[i].print);
        put_text(f, points[i].system);
        put_number(f, 1, 4);
        put_sized(f, format, strlen(format));
        free(format);
    }
    put_number(f, 0, 4); /* kallsyms */
    put_number(f, 0, 4); /* printk formats */
    put_number(f, 0, 8); /* command lines */
    mkperf_memstream_close(f);
    return text;
}
