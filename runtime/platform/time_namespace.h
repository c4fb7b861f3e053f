/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How far this process's CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW are ahead of those of the first time namespace, with
 * which the kernel stamps.
 */
#ifndef ETWAS_PLATFORM_TIME_NAMESPACE_H
#define ETWAS_PLATFORM_TIME_NAMESPACE_H

#include <stdint.h>

#define ETWAS_TIME_OFFSET_UNKNOWN INT64_MIN

/*
 * In ns; 0 without namespaces. Constant while the process lives. ETWAS_TIME_OFFSET_UNKNOWN: the system does not say, since the
 * process has made a time namespace for its children and is itself in another than the first. Reads files.
 */
int64_t etwas_time_offset_ns(void);

/* The same, and 0 for what is unknown: for times that processes tell each other as the first namespace has them. */
int64_t etwas_time_offset_known_ns(void);

#endif
