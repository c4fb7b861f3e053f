/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Spare descriptors of a process that hosts sessions (registry/connection.h). Where no more files
 * may be open the control thread still accepts a connection: it answers a request, and receives
 * what a guest has counted before it closes the connection.
 */
#ifndef ETWAS_SHARING_HOST_SPARES_H
#define ETWAS_SHARING_HOST_SPARES_H

#include <stdint.h>

#include "registry/connection.h"

/* The process hosts one session more, or one less. The last one closes the spares. */
void etwas_host_spares_begin(void);
void etwas_host_spares_end(void);

/*
 * For the control thread. As etwas_registry_accept; after ERROR_NO_SYSTEM_RESOURCES the caller
 * closes the connection soon and calls etwas_host_spares_return.
 */
uint32_t etwas_host_spares_accept(int listener, int *connection, struct etwas_peer *peer);

/*
 * For the control thread, around a message that may come or go with a descriptor: gives the spares
 * up if no more files may be open, and opens them again.
 */
void etwas_host_spares_lend(int connection);
void etwas_host_spares_return(void);

/* In a fork's child, which hosts nothing. */
void etwas_host_spares_forget(void);

#endif
