/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Where the stamp of a MESSAGE record is: its optional fields have no fixed offsets.
 */
#ifndef ETWAS_ETL_MESSAGE_H
#define ETWAS_ETL_MESSAGE_H

#include <stdbool.h>

#include "etl/layout.h"

static inline bool etwas_etl_message_has_stamp(uint16_t option_flags)
{
    return (option_flags &
            (ETWAS_ETL_MESSAGE_TIMESTAMP | ETWAS_ETL_MESSAGE_PERFORMANCE_TIMESTAMP)) != 0;
}

/* From the record's start, by its option flags; if it has no stamp, where it would be. */
static inline uint32_t etwas_etl_message_stamp_at(uint16_t option_flags)
{
    uint32_t at = sizeof(struct etwas_etl_message_header);

    if ((option_flags & ETWAS_ETL_MESSAGE_SEQUENCE) != 0) {
        at += 4;
    }
    if ((option_flags & ETWAS_ETL_MESSAGE_GUID) != 0) {
        at += 16;
    } else if ((option_flags & ETWAS_ETL_MESSAGE_COMPONENT_ID) != 0) {
        at += 4;
    }
    return at;
}

#endif
