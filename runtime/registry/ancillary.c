/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/ancillary.h"

#include <string.h>
#include <unistd.h>

static void ancillary_read_descriptors(struct etwas_ancillary *taken, const struct cmsghdr *part)
{
    size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

    for (size_t index = 0; index < count; index++) {
        int descriptor;

        memcpy(&descriptor, CMSG_DATA(part) + index * sizeof descriptor, sizeof descriptor);
        if (taken->descriptor < 0) {
            taken->descriptor = descriptor;
        } else {
            taken->has_surplus = true;
            (void)close(descriptor);
        }
    }
}

struct etwas_ancillary etwas_ancillary_read(struct msghdr *message)
{
    struct etwas_ancillary taken = {.descriptor = -1,
                                    .has_surplus = (message->msg_flags & MSG_CTRUNC) != 0};

    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
         part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET) {
            continue;
        }
        if (part->cmsg_type == SCM_RIGHTS) {
            ancillary_read_descriptors(&taken, part);
        } else if (part->cmsg_type == SCM_CREDENTIALS &&
                   part->cmsg_len >= CMSG_LEN(sizeof taken.sender)) {
            memcpy(&taken.sender, CMSG_DATA(part), sizeof taken.sender);
            taken.has_sender = true;
        }
    }
    return taken;
}

void etwas_ancillary_append(struct msghdr *message, int type, const void *data, size_t bytes)
{
    struct cmsghdr *part = message->msg_control;

    message->msg_controllen = CMSG_SPACE(bytes);
    memset(part, 0, message->msg_controllen);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = type;
    part->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(part), data, bytes);
}
