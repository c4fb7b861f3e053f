/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/stream/tracepoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "system/stream/pseudo_file.h"

enum {
    LARGEST_BYTES = 65536,
    LONGEST_PATH = 256,
};

/* Where tracefs is mounted; the second place is the one of older systems. */
static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* Returns a descriptor, or -1 with errno. */
static int open_in(const char *root, const char *name)
{
    char path[LONGEST_PATH];
    int length = snprintf(path, sizeof path, "%s/events/%s", root, name);

    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_format(const char *name, struct etwas_unavailability *reason)
{
    char file[LONGEST_PATH / 2];

    *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_TRACEFS, ENOENT};
    (void)snprintf(file, sizeof file, "%s/format", name);
    for (size_t index = 0; index < sizeof roots / sizeof *roots; index++) {
        int descriptor = open_in(roots[index], file);

        if (descriptor >= 0) {
            return descriptor;
        }
        if (errno != ENOENT) {
            reason->error = errno;
            return -1;
        }
        descriptor = open_in(roots[index], "enable");
        if (descriptor >= 0) {
            (void)close(descriptor);
            reason->cause = ETWAS_UNAVAILABLE_TRACEPOINT;
            return -1;
        }
    }
    return -1;
}

bool etwas_tracepoint_read(struct etwas_tracepoint *tracepoint, const char *name,
                           struct etwas_unavailability *reason)
{
    int descriptor = open_format(name, reason);
    ssize_t bytes;

    if (descriptor < 0) {
        return false;
    }
    tracepoint->text = malloc(LARGEST_BYTES);
    if (tracepoint->text == NULL) {
        (void)close(descriptor);
        *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_TRACEFS, ENOMEM};
        return false;
    }
    bytes = etwas_pseudo_file_read(descriptor, tracepoint->text, LARGEST_BYTES);
    tracepoint->bytes = bytes > 0 && bytes < LARGEST_BYTES ? (size_t)bytes : 0;
    if (!etwas_tracepoint_format_id(tracepoint->text, tracepoint->bytes, &tracepoint->id)) {
        etwas_tracepoint_free(tracepoint);
        *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_TRACEPOINT, ENOENT};
        return false;
    }
    *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_NOTHING, 0};
    return true;
}

void etwas_tracepoint_free(struct etwas_tracepoint *tracepoint)
{
    free(tracepoint->text);
    tracepoint->text = NULL;
}
