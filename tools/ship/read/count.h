/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_COUNT_H
#define ETWAS_TOOLS_SHIP_READ_COUNT_H

/* Counts what a file, or the rest of it, contains. It is read, whatever the file states. */

#include "ship/read/file_inside.h"

struct etwas_ship_counts {
    uint64_t events;
    uint64_t buffers;
    uint64_t bytes;        /* of these buffers */
    uint64_t first_buffer; /* their lowest number */
    uint32_t session;      /* index of the first buffer's session */
    int64_t first_raw;     /* earliest stamp of an event, if there is one */
    int64_t last_raw;
    uint64_t *by_session; /* events by session; one entry unless the file was appended to */
    uint32_t sessions;
};

/*
 * Counts from `from` on. Returns false if it failed; etwas_ship_file_reason says why. `counts` must
 * be freed in any case.
 */
bool etwas_ship_count(struct etwas_ship_file *file, const struct etwas_ship_position *from,
                      struct etwas_ship_counts *counts);
void etwas_ship_counts_free(struct etwas_ship_counts *counts);

#endif
