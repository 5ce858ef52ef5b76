/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Model Context Protocol, as far as a server with read-only tools needs it: JSON-RPC 2.0, one message in a line.
 *
 * Owns: the messages. A tool is a command of mkperf with some of its options. Names, types and texts of its parameters are those
 * of the command's own table, so that a tool has no logic of its own. Called by cmd_mcp.c, which runs the command.
 *
 *     line ──► mcp_answer ──► tools/list: the table of tools
 *                        └──► tools/call: command line ──► run ──► text and status
 */
#ifndef MKPERF_HOST_MCP_MCP_H
#define MKPERF_HOST_MCP_MCP_H

#include "base/args.h"

enum { MCP_LINE_MAX = 1 << 20, MCP_ARGUMENTS = 24 };

struct mcp_tool {
    const char *name;
    const struct mkperf_command *command;
    const char *operands; /* names of files, separated by blanks; all are required */
    const char *options;  /* long names of options of the command, separated by blanks */
    const char *always;   /* an option that is always given, too; NULL: none */
};

struct mcp_server {
    const struct mcp_tool *tool;
    unsigned ntools;
    /*
     * Runs mkperf. argv is "mkperf", the command's name, "--json", options of the table, "--", and operands. NULL ends it. Stores
     * the output, a new string, in *text. Returns the exit status.
     */
    int (*run)(void *self, char *const *argv, char **text);
    void *self;
};

/* Answers a message of n bytes, any content. Prints at most one line. */
void mcp_answer(const struct mcp_server *s, const char *message, size_t n, FILE *out);

#endif
