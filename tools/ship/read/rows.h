/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_ROWS_H
#define ETWAS_TOOLS_SHIP_READ_ROWS_H

/* Rows for events and buffers. Times stay as recorded until the block is complete. */

#include "ship/read/file_inside.h"
#include "ship/schema/columns.h"

/* What all rows of a block have in common. */
struct etwas_ship_common {
    const struct etwas_ship_file *file;
    uint64_t session;
};

/* An unknown processor. It is all ones, like unknown processes and threads of ETW. */
#define ETWAS_SHIP_UNKNOWN_CPU UINT16_MAX

/*
 * Appends a row of ETWAS_SHIP_EVENTS. `schema_texts` may be NULL. The columns `day` and
 * `time_error` are filled in when they are known.
 */
void etwas_ship_put_event(struct etwas_columns *columns, const struct etwas_ship_common *common,
                          struct etwas_ship_learned *learned,
                          struct etwas_schema_texts *schema_texts, const EVENT_RECORD *record,
                          uint64_t buffer, uint32_t pos);

/* A row of ETWAS_SHIP_BUFFERS. Members that are 0 may be omitted. */
struct etwas_ship_buffer_row {
    enum etwas_ship_buffer_state state;
    uint16_t cpu;
    uint64_t buffer;
    int64_t first; /* raw, or ns since 1970 */
    int64_t last;
    uint64_t events;
    uint64_t bytes;
    uint64_t offset;
    uint64_t damages;
    uint64_t recorded;
    uint64_t overwritten;
    uint64_t lost;
    uint64_t lost_by[ETWAS_LOST_CAUSES + 1]; /* [0]: another or unknown cause */
    bool ended;
};

void etwas_ship_put_buffer(struct etwas_columns *columns, const char *host, const char *name,
                           uint64_t session, uint32_t part, uint32_t day,
                           const struct etwas_ship_buffer_row *row);

#endif
