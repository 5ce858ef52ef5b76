/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is answered to a request that may ask.
 *
 * Owns: paths below the token, their parameters, response headers. Called by http_server.c.
 */
#ifndef MKPERF_HOST_VIEW_HTTP_SERVER_INTERNAL_H
#define MKPERF_HOST_VIEW_HTTP_SERVER_INTERNAL_H

#include <microhttpd.h>

#include "http_server.h"

enum MHD_Result view_answer(const struct view_server *s, struct MHD_Connection *c,
                            const char *path);
enum MHD_Result view_answer_problem(struct MHD_Connection *c, unsigned status, const char *text);

#endif
