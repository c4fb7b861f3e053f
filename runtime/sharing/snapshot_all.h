/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A snapshot of one window of all recorders of the user: etwas_snapshot_all of recorder.h. */
#ifndef ETWAS_SHARING_SNAPSHOT_ALL_H
#define ETWAS_SHARING_SNAPSHOT_ALL_H

#include <etwas/recorder.h>

struct etwas_snapshot_all_options {
    const char *folder; /* UTF-8 */
    int64_t moment;     /* by ETWAS_CLOCK_QPC, which is the same in all processes */
    uint64_t before_ns; /* 0: all */
    etwas_guid except;  /* a session that writes its file itself and is not asked; 0: none */
};

/*
 * `each` and the codes are those of etwas_snapshot_all. Called without a lock of the library, and
 * not by the control thread.
 */
uint32_t etwas_snapshot_all_of(const struct etwas_snapshot_all_options *options,
                               etwas_snapshot_callback each, void *context);

#endif
