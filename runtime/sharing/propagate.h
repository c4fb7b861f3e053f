/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Propagates a trigger: when the window of a recorder begins, all other recorders are requested to
 * write the same time. Separate threads do that, since it takes as long as the recorders do;
 * neither the flusher nor the thread that triggered waits. There are few of these threads. While
 * all are busy, the windows of a session are joined, and one snapshot of the others serves them.
 */
#ifndef ETWAS_SHARING_PROPAGATE_H
#define ETWAS_SHARING_PROPAGATE_H

#include <etwas/recorder.h>

#include "file/snapshot.h"

enum {
    ETWAS_PROPAGATE_THREADS = 8,
};

/*
 * For etwas_recorder_options.begun. The files of the other recorders go to the folder of this file.
 */
void etwas_propagate(const struct etwas_session *session, const etwas_wchar *file_name,
                     const struct etwas_snapshot_window *window);

/* Called in a fork's child: nothing is being propagated. */
void etwas_propagate_forget(void);

/* A snapshot of one window of all recorders of the user: etwas_snapshot_all of recorder.h. */

struct etwas_snapshot_all_options {
    const char *folder; /* UTF-8 */
    int64_t moment;     /* by ETWAS_CLOCK_QPC, which is the same in all processes */
    uint64_t before_ns; /* 0: all */
    etwas_guid except;  /* a session that writes its file itself and receives no request; 0: none */
};

/*
 * `each` and the codes are those of etwas_snapshot_all. Called without a lock of the library, and
 * not by the control thread.
 */
uint32_t etwas_snapshot_all_of(const struct etwas_snapshot_all_options *options,
                               etwas_snapshot_callback each, void *context);

#endif
