/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the kernel passes beside a message: descriptors, and the sender's credentials. */
#ifndef ETWAS_REGISTRY_ANCILLARY_H
#define ETWAS_REGISTRY_ANCILLARY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    ETWAS_ANCILLARY_DESCRIPTORS = 4, /* at most so many are read; the kernel closes more */
};

/* Memory for msg_control, for sending and receiving. */
union etwas_ancillary_room {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(ETWAS_ANCILLARY_DESCRIPTORS * sizeof(int)) +
               CMSG_SPACE(sizeof(struct ucred))];
};

struct etwas_ancillary {
    int descriptor;   /* the first one, the caller's to close; -1: none */
    bool has_surplus; /* there were more; they are closed */
    bool has_sender;  /* `sender` is known */
    struct ucred sender;
};

/* Reads it from a message that recvmsg has filled, with MSG_CMSG_CLOEXEC. */
struct etwas_ancillary etwas_ancillary_read(struct msghdr *message);

/* Adds it to a message to be sent, whose msg_control is such memory and has nothing else. */
void etwas_ancillary_append(struct msghdr *message, int type, const void *data, size_t bytes);

#endif
