/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The offset of this process's CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW from those of the first time
 * namespace, whose time the kernel uses in its stamps.
 */
#ifndef ETWAS_PLATFORM_TIME_NAMESPACE_H
#define ETWAS_PLATFORM_TIME_NAMESPACE_H

#include <stdint.h>

#define ETWAS_TIME_OFFSET_UNKNOWN INT64_MIN

/*
 * Returns the offset in ns; 0 without namespaces. Constant while the process lives.
 * ETWAS_TIME_OFFSET_UNKNOWN: the system does not report it, because the process has made a time
 * namespace for its children and is itself in another than the first. Reads files.
 */
int64_t etwas_time_offset_ns(void);

/*
 * Returns the same, with 0 for an unknown offset. It converts times that processes exchange, which
 * are those of the first namespace.
 */
int64_t etwas_time_offset_known_ns(void);

#endif
