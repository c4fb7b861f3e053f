/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What processes have counted of events for a session of this process before they were attached to it
 * (buffer/unattached.h): it is added to the session's account, whether they live or have ended.
 *
 * All but the last two are for the control thread.
 */
#ifndef ETWAS_CONTROL_HOST_UNATTACHED_H
#define ETWAS_CONTROL_HOST_UNATTACHED_H

#include <stdint.h>

/*
 * Who is connected to the session of this handle counts in that page. The descriptor is this call's to close. What is no
 * such page is not believed.
 */
void etwas_host_unattached_hear(uint64_t session, int connection, int descriptor, const void *note,
                                uint32_t note_bytes);

/* What it has counted since that was read last is added. */
void etwas_host_unattached_read(uint64_t session, int connection);

/* The same, for the last time: its connection ends. */
void etwas_host_unattached_end(uint64_t session, int connection);

/* The session ends: the same of all that are connected to it. */
void etwas_host_unattached_end_all(uint64_t session);

/* In a fork's child there is nothing. */
void etwas_host_unattached_forget(void);

#endif
