/* SPDX-License-Identifier: BSD-2-Clause */
/* The server PD's protected procedures: label of the message; registers 0 = key, 1 = value. */
#ifndef DEMO_SERVER_H
#define DEMO_SERVER_H

enum server_operation {
    SERVER_STORE = 1,  /* stores value for key; returns value */
    SERVER_LOOKUP = 2, /* returns the value of key, 0 if key is unknown */
};

#endif
