/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The log files that the session itself has written: how much of a buffer that lies in its pool is
 * in them. The newest two are searched (log_tail.h); of those before them the pool's accounts tell.
 */
#ifndef ETWAS_RECOVER_OWN_LOGS_H
#define ETWAS_RECOVER_OWN_LOGS_H

#include <stdbool.h>
#include <stdint.h>

#include "recover/log_tail.h"
#include "recover/mapping_copy.h"

struct etwas_own_logs {
    int files[2];                /* the newest first; -1: there is none */
    struct etwas_log_tail *tail; /* what is in them */
    bool has_accounted;          /* what flushes accounted for is in a file, searched or not */
};

/*
 * Opens the log files that a copied mapping names; a recorder has none. Both descriptors
 * in `logs` are -1 before the call. `may_lack`: the process may have been refused something since,
 * or the system may have lost what it had accepted. The caller closes them.
 */
void etwas_own_logs_open(struct etwas_own_logs *logs, const struct etwas_recover_source *source,
                         const struct etwas_mapping_copy *copy, bool may_lack);
void etwas_own_logs_close(struct etwas_own_logs *logs);

/* How many bytes of a buffer's records are in them, from the first on. */
uint32_t etwas_own_logs_have(const struct etwas_own_logs *logs,
                             const struct etwas_mapping_copy *copy,
                             const struct etwas_found_buffer *found);

#endif
