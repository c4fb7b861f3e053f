/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/prepare.h"

#include <etwas/winerror.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "autologger/autologger.h"
#include "file/log_file.h"
#include "platform/fork.h"
#include "platform/library_copy.h"
#include "platform/processor.h"
#include "platform/stack.h"
#include "platform/testpoint.h"
#include "platform/thread.h"
#include "provider/counted_class.h"
#include "provider/enabling.h"
#include "provider/image_records.h"
#include "provider/source.h"
#include "realtime/realtime.h"
#include "session/session.h"
#include "session/sharing.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- fork handlers --------------------------------------------------------------------------- */

static void forget_threads(bool is_child)
{
    if (is_child) {
        etwas_thread_ids_forget();
        etwas_thread_times_forget();
        etwas_thread_counters_forget();
    }
}

static void lock_sessions(void)
{
    etwas_control_lock();
    ETWAS_FILES_FORBIDDEN(false); /* the child closes its copies before it releases the lock */
}

/*
 * The child has none of the parent's sessions: no flusher threads and no buffers, only copies to
 * forget. Registrations stay valid, and no session enables them. Descriptors are closed, so that
 * the parent's files do not stay open in the child. Traces of running sessions are at their end.
 */
static void forget_sessions(void)
{
    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        etwas_kernel_source.forget(&etwas_sessions[index]);
        if (etwas_sessions[index].entry.state != ETWAS_SESSION_FREE &&
            etwas_sessions[index].drain.file != NULL) {
            etwas_log_file_forget(etwas_sessions[index].drain.file);
        }
    }
    etwas_sessions_forget();
    etwas_providers_forget_enablements();
}

static void unlock_sessions(bool is_child)
{
    if (is_child) {
        forget_sessions();
    }
    etwas_control_unlock();
}

static void forget_autologgers(bool is_child)
{
    if (is_child) {
        etwas_autologgers_forget();
    }
}

static void before_sharing(void)
{
    etwas_sharing.before_fork();
}

static void after_sharing(bool is_child)
{
    etwas_sharing.after_fork(is_child);
}

/*
 * The order in which a fork takes their locks (docs/internals/design.md, "Locks and waiting"), so
 * that no thread changes a table while the process is copied; afterwards in the opposite order.
 */
static const struct stage {
    void (*before)(void);
    void (*after)(bool is_child);
} stages[] = {
    {NULL, forget_autologgers},
    {before_sharing, after_sharing},
    {etwas_stack_before_fork, NULL},
    {lock_sessions, unlock_sessions},
    {etwas_realtime_before_fork, etwas_realtime_after_fork},
    {etwas_image_records_before_fork, etwas_image_records_after_fork},
    {etwas_guest_images_before_fork, etwas_guest_images_after_fork},
    {NULL, forget_threads},
};

enum {
    STAGES = sizeof stages / sizeof *stages
};

static void before_fork(void)
{
    for (uint32_t stage = 0; stage < STAGES; stage++) {
        if (stages[stage].before != NULL) {
            stages[stage].before();
        }
    }
}

static void after_fork(bool is_child)
{
    for (uint32_t stage = STAGES; stage-- > 0;) {
        if (stages[stage].after != NULL) {
            stages[stage].after(is_child);
        }
    }
}

static void after_fork_in_parent(void)
{
    after_fork(false);
}

static void after_fork_in_child(void)
{
    after_fork(true);
}

static void prepare_process(void)
{
    static const struct etwas_fork_handlers handlers = {before_fork, after_fork_in_parent,
                                                        after_fork_in_child};

    etwas_processor_prepare();
    etwas_sessions_prepare();
    (void)etwas_library_copy_serves();
    etwas_sharing.prepare();
    etwas_fork_handle(ETWAS_FORK_SESSIONS, &handlers);
    etwas_at_exit_prepare();
}

void etwas_prepare(void)
{
    (void)pthread_once(&once, prepare_process);
}

uint32_t etwas_prepare_to_serve(void)
{
    etwas_prepare();
    return etwas_library_copy_serves() ? ERROR_SUCCESS : ERROR_ALREADY_INITIALIZED;
}
