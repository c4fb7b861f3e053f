/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_losses.h"

#include <string.h>

#include "file/log_file_internal.h"

enum {
    LOSS_BYTES = sizeof(struct etwas_etl_loss_record)
};

void etwas_log_losses_attach(struct etwas_log_file *file, struct etwas_loss_table *table)
{
    uint32_t fit = etwas_log_clock_snapshots_loss_bytes(&file->clock_snapshots) / LOSS_BYTES;

    if (fit >= ETWAS_LOSSES_LEAST) {
        etwas_loss_table_limit(table, fit < ETWAS_LOSSES ? fit : ETWAS_LOSSES);
        file->losses = table;
        etwas_log_losses_update(file);
    }
}

void etwas_log_losses_update(struct etwas_log_file *file)
{
    if (file->losses != NULL && file->losses->count != 0) {
        etwas_log_clock_snapshots_make_room_for_losses(file);
    }
}

void etwas_log_losses_detach(struct etwas_log_file *file)
{
    file->losses = NULL;
}

/*
 * In a file that has ended, the clock snapshots still end at the same offset, so the losses stay.
 */
uint32_t etwas_log_losses_write(struct etwas_log_file *file, uint32_t offset)
{
    struct etwas_etl_loss_record record = {
        .header = etwas_log_header_own(&file->header, LOSS_BYTES, ETWAS_ETL_LOSS_TYPE,
                                       ETWAS_ETL_LOSS_VERSION),
    };

    if (file->losses == NULL || !file->clock_snapshots.is_shared) {
        return file->losses_bytes;
    }
    for (uint32_t index = 0; index < file->losses->count; index++) {
        record.loss = file->losses->losses[index];
        memcpy(file->header.content + offset + (size_t)index * LOSS_BYTES, &record, sizeof record);
    }
    file->losses_bytes = file->losses->count * LOSS_BYTES;
    return file->losses_bytes;
}
