/* SPDX-License-Identifier: BSD-2-Clause */
/* The server PD's protected procedures: label of the message; registers 0 = key, 1 = value. */
#ifndef DEMO_SERVER_H
#define DEMO_SERVER_H

enum server_operation {
    SERVER_STORE = 1,  /* stores value under key; returns value */
    SERVER_LOOKUP = 2, /* returns the value under key, 0 if there is none */
};

#endif
