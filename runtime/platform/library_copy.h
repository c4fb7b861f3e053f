/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which copy of the library serves the process: the first one called. A plugin may bring
 * libetwas-plain.so into a program that has libetwas.so. Usually the loader binds both to the
 * functions of one copy; but each could be called by itself (dlsym, RTLD_DEEPBIND, separate
 * scopes), and know nothing of the other's providers and sessions. Thread-safe.
 */
#ifndef ETWAS_PLATFORM_LIBRARY_COPY_H
#define ETWAS_PLATFORM_LIBRARY_COPY_H

#include <stdbool.h>

/* Whether this copy serves the process. It does from here on if no copy did. */
bool etwas_library_copy_serves(void);

/* Whether another copy serves the process. */
bool etwas_library_copy_is_second(void);

#endif
