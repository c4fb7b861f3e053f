/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_snapshot_prepare, etwas_snapshot_signal_safe and etwas_snapshot_discard.
 */
#include "recover/prepared_snapshot.h"

#include <etwas/winerror.h>

#include "control/lifecycle.h"
#include "provider/image_records.h"

uint32_t etwas_snapshot_prepare(etwas_trace_handle handle, int descriptor,
                                etwas_prepared_snapshot **prepared)
{
    struct etwas_session_key key;
    struct etwas_session *session;
    uint32_t code;

    if (prepared == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    *prepared = NULL;
    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    if (etwas_session_takes_stacks(&etwas_sessions[key.index])) {
        etwas_image_records_update(); /* with no lock held */
    }
    session = etwas_lifecycle_acquire_role(key);
    if (session == NULL) {
        return ERROR_INVALID_HANDLE;
    }
    code = etwas_prepared_snapshot_make(session, descriptor, prepared);
    etwas_lifecycle_release_role(session);
    return code;
}

uint32_t etwas_snapshot_signal_safe(etwas_prepared_snapshot *prepared)
{
    return prepared != NULL ? etwas_prepared_snapshot_write(prepared) : ERROR_INVALID_PARAMETER;
}

void etwas_snapshot_discard(etwas_prepared_snapshot *prepared)
{
    if (prepared != NULL) {
        etwas_prepared_snapshot_free(prepared);
    }
}
