/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/prepare.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "file/log_file.h"
#include "platform/fork.h"
#include "platform/processor.h"
#include "platform/thread.h"
#include "provider/enabling.h"
#include "realtime/realtime.h"
#include "session/session.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * Which copy of the library serves the process: the one that was called first. A plugin may bring
 * libetwas-plain.so into a program that has libetwas.so. Usually the loader binds both to the
 * functions of one; but each could be called by itself (dlsym, RTLD_DEEPBIND, scopes of their own),
 * and know nothing of the other's providers and sessions. The loader gives a unique symbol one
 * address in the process, whatever else it hides; C has no word for it.
 */
extern const void *etwas_serving_copy __attribute__((visibility("default")));
__asm__(".pushsection .bss\n"
        ".globl etwas_serving_copy\n"
        ".type etwas_serving_copy, %gnu_unique_object\n"
        ".size etwas_serving_copy, 8\n"
        ".balign 8\n"
        "etwas_serving_copy: .zero 8\n"
        ".popsection");

static bool serves; /* written under `once` */

/* Nobody changes a table while the process is copied. */
static void before_fork(void)
{
    etwas_control_lock();
    etwas_realtime_before_fork();
}

static void after_fork_in_parent(void)
{
    etwas_realtime_after_fork_in_parent();
    etwas_control_unlock();
}

/*
 * The child has none of the parent's sessions: no flusher threads and no buffers, only copies to
 * forget. Registrations stay valid; nobody enables them. The descriptors are closed, so that the
 * parent's files do not stay open in the child. Traces of running sessions are at their end.
 */
static void after_fork_in_child(void)
{
    etwas_thread_ids_forget();
    etwas_realtime_after_fork_in_child();
    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        if (etwas_sessions[index].state != ETWAS_SESSION_FREE &&
            etwas_sessions[index].file != NULL) {
            etwas_log_file_forget(etwas_sessions[index].file);
        }
    }
    etwas_sessions_forget();
    etwas_providers_forget_enablements();
    etwas_control_unlock();
}

static void prepare(void)
{
    static const struct etwas_fork_handlers handlers = {before_fork, after_fork_in_parent,
                                                        after_fork_in_child};

    etwas_processor_prepare();
    etwas_sessions_prepare();
    serves = ck_pr_cas_ptr(&etwas_serving_copy, NULL, &once);
    etwas_fork_handle(ETWAS_FORK_SESSIONS, &handlers);
}

void etwas_prepare(void)
{
    (void)pthread_once(&once, prepare);
}

uint32_t etwas_prepare_to_serve(void)
{
    etwas_prepare();
    return serves ? ERROR_SUCCESS : ERROR_ALREADY_INITIALIZED;
}
