/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/signal_handler.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

etwas_trace_handle session;
etwas_prepared_snapshot *prepared;
_Thread_local bool in_handler;

const etwas_session_options recorder = {
    .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4, .minimum_buffers = 2048};
const etwas_session_options filing = {.buffer_size_kb = 4,
                                      .minimum_buffers = 64,
                                      .maximum_buffers = 4096,
                                      .flusher = {.no_thread = true}};
static void forbid(const char *call)
{
    if (in_handler) {
        (void)write(STDERR_FILENO, call, strlen(call));
        _exit(3);
    }
}

/* clang-format off */
#define WRAP(result, call, parameters, arguments) \
    result __real_##call parameters; \
    result __wrap_##call parameters; \
    result __wrap_##call parameters \
    { \
        forbid(#call " in a handler\n"); \
        return __real_##call arguments; \
    }

WRAP(void *, malloc, (size_t bytes), (bytes))
WRAP(void *, calloc, (size_t count, size_t bytes), (count, bytes))
WRAP(void *, realloc, (void *old, size_t bytes), (old, bytes))
WRAP(int, pthread_mutex_lock, (pthread_mutex_t *mutex), (mutex))
WRAP(int, pthread_mutex_trylock, (pthread_mutex_t *mutex), (mutex))
WRAP(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old))
/* clang-format on */

void __real_free(void *old);
void __wrap_free(void *old);
void __wrap_free(void *old)
{
    forbid("free in a handler\n");
    __real_free(old);
}

uint32_t snapshot_as_handler(void)
{
    uint32_t code;

    errno = EXDEV;
    in_handler = true;
    code = etwas_snapshot_signal_safe(prepared);
    in_handler = false;
    return errno == EXDEV ? code : ERROR_INVALID_DATA;
}

int open_file(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}
