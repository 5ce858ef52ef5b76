/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf dump`: a flight recording's samples into a perf.data file.
 *
 * Owns: the command's description and its one option. The rest is record's.
 */
#include "cmd.h"
#include "link/record_options.h"

static const struct mkperf_option options[] = {
    {.name = "wait",
     .help = "wait until a fault, a mark or a stop has ended the recording",
     .store = MKPERF_SETS(struct mkperf_record_options, wait)},
    {.id = 0},
};

static const struct mkperf_option_group group = {options, NULL};

static int dump_main(int argc, char **argv)
{
    return mkperf_record_main(&mkperf_dump_command, true, argc, argv);
}

const struct mkperf_command mkperf_dump_command = {
    .name = "dump",
    .summary = "fetch the samples of the flight recorder",
    .synopsis = "-t TARGET [options]",
    .description =
        "Writes the samples that mkperf record --overwrite has kept on the target into a perf.data "
        "file. They stay there and can be fetched again, until the next recording. A recording "
        "that still runs continues.",
    .options = {{&mkperf_link_options, offsetof(struct mkperf_record_options, link)},
                {&mkperf_names_options, 0},
                {&mkperf_kernel_options, 0},
                {&group, 0},
                {&mkperf_output_options, 0},
                {&mkperf_control_options, offsetof(struct mkperf_record_options, link)}},
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help}},
    .examples = "mkperf record -t tcp:10.0.0.5 --overwrite --dump-on-fault server\n"
                "mkperf dump -t tcp:10.0.0.5 --wait --elf-path build",
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_WRITE | MKPERF_STATUSES_TARGET,
    .run = dump_main,
};
