/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_COUNT_H
#define ETWAS_TOOLS_SHIP_READ_COUNT_H

/*
 * What is in a file, or in the rest of it: counted by reading, whatever the file says.
 */

#include "ship/read/file_inside.h"

struct etwas_ship_counts {
    uint64_t events;
    uint64_t buffers;
    uint64_t bytes;        /* of these */
    uint64_t first_buffer; /* the lowest of their numbers */
    uint32_t session;      /* the index of the first one's */
    int64_t first_raw;     /* the earliest stamp of an event, if there is one */
    int64_t last_raw;
    uint64_t *by_session; /* events of each; of a file that was not appended to, of one */
    uint32_t sessions;
};

/* False: etwas_ship_file_reason says why. `counts` are to be freed in any case. */
bool etwas_ship_count(struct etwas_ship_file *file, const struct etwas_ship_position *from,
                      struct etwas_ship_counts *counts);
void etwas_ship_counts_free(struct etwas_ship_counts *counts);

#endif
