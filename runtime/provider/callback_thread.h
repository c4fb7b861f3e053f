/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A thread of the library that runs control callbacks while a caller with a finite timeout waits
 * for them. It ends when it finds nothing more to run; nobody joins it.
 */
#ifndef ETWAS_PROVIDER_CALLBACK_THREAD_H
#define ETWAS_PROVIDER_CALLBACK_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* Starts one for the control GUID with this index. False: the system gives none. */
bool etwas_callback_thread_start(uint32_t control);

#endif
