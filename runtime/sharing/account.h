/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The counts of another process's session, and for a flight recorder how far back it goes. The host
 * is asked, and writes both into one answer.
 */
#ifndef ETWAS_SHARING_ACCOUNT_H
#define ETWAS_SHARING_ACCOUNT_H

#include <etwas/etwas.h>
#include <stddef.h>
#include <stdint.h>

/*
 * On the host: writes the account of its session. Returns the bytes written; 0, and a code of
 * etwas_counts.
 */
size_t etwas_account_write(uint64_t session, void *bytes, size_t room, uint32_t *code);

/*
 * In the other process. ERROR_INVALID_HANDLE: the handle is of no running session of another
 * process. ERROR_TIMEOUT: its host does not answer. ERROR_INVALID_DATA; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_account_counts(uint64_t handle, etwas_session_counts *counts);

/* Stops the session, and returns its last counts. Also errors of etwas_stop. */
uint32_t etwas_account_stop(uint64_t handle, etwas_session_counts *counts);

/*
 * Likewise. ERROR_NOT_SUPPORTED: the session is no flight recorder. `stream_ns` as in
 * etwas_retention_query.
 */
uint32_t etwas_account_retention(uint64_t handle, etwas_retention *retention, uint64_t *stream_ns,
                                 uint32_t room);

#endif
