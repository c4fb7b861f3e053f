/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Connections of other processes to the sessions of this one: how they are accepted, and the one
 * dispatcher of all that is received over them. Everything here runs in the control thread.
 *
 * Spare descriptors (registry/connection.h) let it accept a connection where no more files may be
 * open: it answers a request, and receives what a guest has counted before it closes the
 * connection.
 */
#ifndef ETWAS_SHARING_HOST_CONNECTIONS_H
#define ETWAS_SHARING_HOST_CONNECTIONS_H

#include <stdint.h>

#include "sharing/service.h"

/*
 * Handlers of the sockets on which sessions listen (service.h): of one that other processes may log
 * into or control, and of a recorder that this process alone knows, which may be asked for SNAPSHOT
 * only. `session` is its handle.
 */
enum etwas_service_answer etwas_host_accept(int listener, uint64_t session);
enum etwas_service_answer etwas_host_accept_controller(int listener, uint64_t session);

/* The process hosts one session more, or one less. The last one closes the spares. */
void etwas_host_spares_begin(void);
void etwas_host_spares_end(void);

/* In a fork's child, which hosts nothing. */
void etwas_host_spares_forget(void);

#endif
