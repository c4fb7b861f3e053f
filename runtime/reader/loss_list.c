/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/file_header.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "etl/own_record.h"
#include "reader/trace_table.h"

enum {
    MORE_LOSSES = 64,
};

const char *etwas_lost_name(uint32_t cause)
{
    static const char *const names[] = {
        [ETWAS_LOST_NO_BUFFER] = "no free buffer",
        [ETWAS_LOST_BACKLOG_FULL] = "full backlog",
        [ETWAS_LOST_WRITE_ERROR] = "write error",
        [ETWAS_LOST_FILE_FULL] = "full file",
        [ETWAS_LOST_ABANDONED] = "unfinished by its writer",
        [ETWAS_LOST_UNDELIVERED] = "delivered to nobody",
        [ETWAS_LOST_UNATTACHED] = "host not yet attached to",
        [ETWAS_LOST_TOO_LARGE] = "too large for a buffer",
        [ETWAS_LOST_WITHHELD] = "refused by another session",
    };

    return cause > 0 && cause < sizeof names / sizeof *names ? names[cause] : "unknown cause";
}

static bool loss_list_read_record(const struct etwas_record *record, etwas_loss *loss)
{
    struct etwas_etl_loss stored;

    if (record->size - record->payload_at < sizeof stored) {
        return false;
    }
    memcpy(&stored, record->bytes + record->payload_at, sizeof stored);
    *loss = (etwas_loss){
        .from_raw = stored.from_raw,
        .until_raw = stored.until_raw,
        .events = stored.events,
        .cause = stored.cause,
        .processor = stored.processor,
        .retention_class = stored.retention_class,
    };
    return stored.version == ETWAS_ETL_LOSS_VERSION && stored.cause >= 1 &&
           stored.cause <= ETWAS_LOST_CAUSES && stored.from_raw <= stored.until_raw &&
           (stored.processor <= UINT16_MAX || stored.processor == ETWAS_LOST_ANYWHERE);
}

bool etwas_loss_list_add(struct etwas_loss_list *list, const struct etwas_record *record)
{
    etwas_loss loss;

    if (!loss_list_read_record(record, &loss)) {
        return true;
    }
    if (list->count % MORE_LOSSES == 0) {
        etwas_loss *more = realloc(list->losses, (list->count + MORE_LOSSES) * sizeof *more);

        if (more == NULL) {
            return false;
        }
        list->losses = more;
    }
    list->losses[list->count++] = loss;
    return true;
}

uint32_t etwas_trace_query_losses(etwas_trace_handle handle, etwas_loss *losses, uint32_t room,
                                  uint32_t *count)
{
    const struct etwas_trace *trace;
    uint32_t code = ERROR_SUCCESS;

    if (count == NULL || (losses == NULL && room != 0)) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_trace_table_lock();
    trace = etwas_trace_table_find(handle);
    if (trace == NULL) {
        code = ERROR_INVALID_HANDLE;
    } else {
        const struct etwas_loss_list *list = &trace->log.losses;

        for (uint32_t index = 0; index < list->count && index < room; index++) {
            losses[index] = list->losses[index];
        }
        *count = list->count;
        code = list->count > room ? ERROR_MORE_DATA : ERROR_SUCCESS;
    }
    etwas_trace_table_unlock();
    return code;
}
