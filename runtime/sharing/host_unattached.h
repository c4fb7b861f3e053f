/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What processes have counted of events for a session of this process before they were attached to it, or since they
 * could not be (buffer/unattached.h): it is added to the session's account, whether they live or have ended. So is
 * how many cannot be, and why.
 *
 * All but the last three are for the control thread.
 */
#ifndef ETWAS_SHARING_HOST_UNATTACHED_H
#define ETWAS_SHARING_HOST_UNATTACHED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The process that is connected to the session of this handle counts in that page (-1: it has none), and says why it
 * cannot log into the session. The descriptor is this call's to close. What is no such page is not believed. True: it cannot, so it is no guest.
 */
bool etwas_host_unattached_receive(uint64_t session, int connection, int descriptor,
                                   const void *report, uint32_t report_bytes);

/* What it has counted since that was read last is added. */
void etwas_host_unattached_read(uint64_t session, int connection);

/* It has the pool now. */
void etwas_host_unattached_attached(uint64_t session, int connection);

/* It acts by the entry of that number. */
void etwas_host_unattached_acknowledge(uint64_t session, int connection, uint64_t number);

/* The same, for the last time, and its count is closed: its connection ends. */
void etwas_host_unattached_end(uint64_t session, int connection);

/* Whether all that cannot log into the session act by the entry of that number. */
bool etwas_host_unattached_have_acknowledged(uint64_t session, uint64_t number);

/* The session ends: the same of all that are connected to it. */
void etwas_host_unattached_end_all(uint64_t session);

/* In a fork's child there is nothing. */
void etwas_host_unattached_forget(void);

#endif
