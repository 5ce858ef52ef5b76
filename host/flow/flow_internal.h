/* SPDX-License-Identifier: BSD-2-Clause */
/* What queues.c, stages.c and limit.c share. */
#ifndef MKPERF_HOST_FLOW_FLOW_INTERNAL_H
#define MKPERF_HOST_FLOW_FLOW_INTERNAL_H

#include "flow.h"

/* Makes the slices reach to a time, which is not before f->first_ns. */
void flow_slices_reach(struct mkperf_flow *f, uint64_t time);
/* Adds per_ns for each ns between two times, which the slices reach. */
void flow_slices_add(const struct mkperf_flow *f, double *slice, uint64_t from, uint64_t to,
                     double per_ns);
/* Adds a reading; its time is not before f->read_ns. False: it has no counts. *made, *took: entries since the last one. */
bool flow_queue_read(struct mkperf_flow *f, const struct mkperf_queue_reading *r, uint64_t *made,
                     uint64_t *took);
/* The occupancy lasts until the end of the recording. */
void flow_queue_end(const struct mkperf_flow *f, struct mkperf_flow_queue *q);

#endif
