/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the kernel counts of a thread, read by the thread itself without any privilege: a record
 * after the START of an instance or activity, and one before its END (etl/own_record.h), in
 * sessions that request them.
 */
#ifndef ETWAS_PROVIDER_THREAD_COUNTERS_H
#define ETWAS_PROVIDER_THREAD_COUNTERS_H

/* Called before the first session requests counters. Thread-safe. */
void etwas_thread_counters_prepare(void);

/* In a fork's child: closes the files that the parent's threads keep open. */
void etwas_thread_counters_forget(void);

#endif
