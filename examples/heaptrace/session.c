/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The session of this process, and what happens to calls before, during and after it.
 *
 *   state       calls                                     leaves by
 *   COLLECTING  are kept in a static array                start: the constructor, or a fork's child
 *   RUNNING     become events                             end, fork
 *   OFF         pass through                              resume (a failed exec), a followed fork
 *
 * Ordering. A call counts itself as attempted, fences, and reads the state (A). The end sets the
 * state to OFF, fences, and adds up the counts (B). Either the call sees OFF and takes its count
 * back, or the end sees its count and waits for its `done`. So attempted = recorded + lost holds
 * for the file.
 *
 * Progress. A call never waits. The end waits for calls under way, at most WAIT_TRIES milliseconds,
 * because a thread may be stopped inside one forever.
 *
 * Limits. At most EARLY_CALLS calls are kept before the session starts; further ones count as lost.
 */

#include "counts.h"
#include "event.h"
#include "heaptrace.h"
#include "settings.h"
#include "stack.h"

#include <ck_pr.h>
#include <errno.h>
#include <etwas/etwas.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum state {
    COLLECTING,
    RUNNING,
    OFF
};

enum {
    EARLY_CALLS = 65536,
    WAIT_TRIES = 100,
    SESSION_TRIES = 2000,
    WAIT_STEP_NS = 1000000,
};

/* Set in early_next when the array is closed. More calls than this cannot happen before. */
#define EARLY_CLOSED 0x80000000u

struct early_call {
    struct heaptrace_call call;
    unsigned int is_whole;
};

_Thread_local struct heaptrace_thread heaptrace_thread;

static unsigned int current_state = COLLECTING;
static struct early_call early_calls[EARLY_CALLS]; /* untouched pages take no memory */
static unsigned int early_next;

static struct heaptrace_settings settings;
static etwas_trace_handle session;
static pid_t session_process_id;
static char trace_path[HEAPTRACE_PATH_BYTES];
static char counts_path[HEAPTRACE_PATH_BYTES];
static char program_path[HEAPTRACE_PATH_BYTES];

/* ---- one call ---- */

/*
 * Writes a call with its stack, which begins at the caller of this library. Calls that were kept
 * early have no stack.
 */
static void write_with_stack(const struct heaptrace_call *call)
{
    uint64_t frames[HEAPTRACE_MOST_FRAMES + 1];
    int saved_errno = errno;
    uint16_t count = heaptrace_stack(frames, (uint16_t)settings.frames);

    errno = saved_errno;
    heaptrace_event_write(session, call, frames, count);
}

static bool is_with_stack(const struct heaptrace_call *call)
{
    return settings.frames != 0 && heaptrace_event_has_stack(call->type);
}

void heaptrace_log_image(const struct heaptrace_image *image)
{
    heaptrace_count_attempt(HEAPTRACE_IMAGE);
    heaptrace_event_write_image(session, image);
    heaptrace_count_done();
}

const char *heaptrace_program_path(void)
{
    return program_path;
}

void heaptrace_image_closed(void)
{
    if (settings.frames != 0) {
        heaptrace_stack_forget();
    }
}

/* Returns false if the array is closed: the session runs, or never will. */
static bool keep_early(const struct heaptrace_call *call)
{
    unsigned int index = ck_pr_faa_uint(&early_next, 1);

    if ((index & EARLY_CLOSED) != 0) {
        return false;
    }
    if (index < EARLY_CALLS) {
        early_calls[index].call = *call;
        ck_pr_fence_store(); /* pairs with the load fence in log_early_calls */
        ck_pr_store_uint(&early_calls[index].is_whole, 1);
    } else {
        heaptrace_count_refused();
    }
    return true;
}

/*
 * A child of vfork uses its parent's thread data, and the kernel does not restart its restartable
 * sequences. In the parent's own session that disturbs only the parent, which is suspended. In a
 * shared session it would corrupt the records of other processes. The kernel is queried for each
 * call, because the C library's data are the parent's.
 */
static bool is_child_of_vfork(void)
{
    return settings.is_shared != 0 && (pid_t)syscall(SYS_getpid) != session_process_id;
}

void heaptrace_log(const struct heaptrace_call *call)
{
    unsigned int state;

    if (ck_pr_load_uint(&current_state) == OFF) {
        return;
    }
    heaptrace_count_attempt(call->type);
    /* A: counts the attempt before it reads the state; pairs with B in heaptrace_session_end. */
    ck_pr_fence_atomic_load();
    state = ck_pr_load_uint(&current_state);
    if (state == COLLECTING) {
        if (keep_early(call)) {
            heaptrace_count_done();
            return;
        }
        state = ck_pr_load_uint(&current_state);
    }
    if (state == OFF || is_child_of_vfork()) {
        heaptrace_count_undo(call->type);
        return;
    }
    ck_pr_fence_load(); /* in state RUNNING the handles are set: pairs with run's store fence */
    if (is_with_stack(call)) {
        write_with_stack(call);
    } else {
        heaptrace_event_write(session, call, NULL, 0);
    }
    heaptrace_count_done();
}

/* ---- start ---- */

static void wait_a_little(void)
{
    const struct timespec step = {.tv_nsec = WAIT_STEP_NS};

    (void)nanosleep(&step, NULL);
}

/* Turns the calls kept so far into events, in their order. Later calls find the array closed. */
static void log_early_calls(void)
{
    static const uint64_t no_frames[1];
    const struct heaptrace_call *call;
    unsigned int count = ck_pr_fas_uint(&early_next, EARLY_CLOSED);

    if ((count & EARLY_CLOSED) != 0) {
        return; /* a later session of this process has no early calls */
    }
    for (unsigned int index = 0; index < count && index < EARLY_CALLS; index++) {
        unsigned int *is_whole = &early_calls[index].is_whole;

        for (int tries = 0; ck_pr_load_uint(is_whole) == 0 && tries < WAIT_TRIES; tries++) {
            wait_a_little();
        }
        if (ck_pr_load_uint(is_whole) == 0) {
            heaptrace_count_refused();
            continue;
        }
        ck_pr_fence_load();
        call = &early_calls[index].call;
        heaptrace_event_write(session, call, is_with_stack(call) ? no_frames : NULL, 0);
    }
}

/* Names the files OUT, or OUT_PID, or OUT_PID_2 and so on if this process has written OUT_PID. */
static void name_files(bool is_first)
{
    char suffix[HEAPTRACE_SUFFIX_BYTES] = "";
    struct stat status;

    for (unsigned int number = 1; number != 0; number++) {
        if (!is_first) {
            (void)snprintf(suffix, sizeof suffix, number == 1 ? "_%ld" : "_%ld_%u", (long)getpid(),
                           number);
        }
        (void)snprintf(trace_path, sizeof trace_path, "%.*s%s",
                       HEAPTRACE_PATH_BYTES - HEAPTRACE_SUFFIX_BYTES, settings.output, suffix);
        if (is_first || lstat(trace_path, &status) != 0) {
            break;
        }
    }
    (void)snprintf(counts_path, sizeof counts_path, "%.*s%s",
                   HEAPTRACE_PATH_BYTES - HEAPTRACE_SUFFIX_BYTES, settings.counts, suffix);
}

/* Finds the path of the program itself, for which the dynamic linker has no name. */
static void name_program(void)
{
    ssize_t length = readlink("/proc/self/exe", program_path, sizeof program_path - 1);

    program_path[length > 0 ? length : 0] = '\0';
}

/* Waits for the session of another process, whose host may be busy. Returns 0 if there is none. */
static etwas_trace_handle wait_for_session(void)
{
    etwas_trace_handle found = heaptrace_event_session();

    for (int tries = 0; found == 0 && tries < SESSION_TRIES; tries++) {
        wait_a_little();
        found = heaptrace_event_session();
    }
    return found;
}

static uint32_t run(bool is_first)
{
    const etwas_session_options options = {
        .clock = settings.clock,
        .buffer_size_kb = settings.buffer_size_kb,
        .minimum_buffers = settings.minimum_buffers,
        .maximum_buffers = settings.maximum_buffers,
        .flush_timer = settings.flush_timer_s,
        .flusher.name = "heaptrace",
    };
    uint32_t result;

    heaptrace_thread.own++;
    name_files(is_first);
    name_program();
    heaptrace_stack_forget();
    if (settings.is_shared == 0) {
        (void)etwas_share_nothing(); /* adds no thread and no file to the traced program */
    }
    result = heaptrace_event_register(settings.frames != 0);
    if (result == ERROR_SUCCESS && settings.is_shared != 0) {
        session = wait_for_session();
        result = session != 0 ? ERROR_SUCCESS : ERROR_WMI_INSTANCE_NOT_FOUND;
    } else if (result == ERROR_SUCCESS) {
        result = etwas_start("heaptrace", trace_path, &options, &session);
    }
    if (result == ERROR_SUCCESS) {
        session_process_id = getpid();
        ck_pr_fence_store();
        ck_pr_store_uint(&current_state, RUNNING);
        log_early_calls();
    } else {
        ck_pr_store_uint(&current_state, OFF);
        (void)dprintf(STDERR_FILENO, "heaptrace: cannot write %s: %s%s\n",
                      settings.is_shared != 0 ? "into another process's session" : trace_path,
                      etwas_error_text(result), is_first ? "" : "; this process is not traced");
    }
    heaptrace_thread.own--;
    return result;
}

/* ---- end ---- */

static void wait_for_calls_under_way(struct heaptrace_counts *counts)
{
    for (int tries = 0;; tries++) {
        heaptrace_count_read(counts);
        if (counts->done == counts->attempted_in_all || tries == WAIT_TRIES) {
            return;
        }
        wait_a_little();
    }
}

static void stop(void)
{
    struct heaptrace_counts counts;
    etwas_session_counts session_counts = {0};
    uint32_t result;

    wait_for_calls_under_way(&counts);
    result = settings.is_shared != 0 ? ERROR_SUCCESS : etwas_stop(session, &session_counts);
    if (result != ERROR_SUCCESS) {
        (void)dprintf(STDERR_FILENO, "heaptrace: cannot finish %s: %s\n", trace_path,
                      etwas_error_text(result));
    }
    if (settings.counts[0] != '\0' &&
        !heaptrace_counts_write(counts_path, trace_path, &counts,
                                settings.is_shared != 0 ? NULL : &session_counts)) {
        (void)dprintf(STDERR_FILENO, "heaptrace: cannot write %s: %s\n", counts_path,
                      strerror(errno));
    }
}

bool heaptrace_session_end(void)
{
    int saved_errno = errno;

    /* A child of vfork runs in its parent's memory: the session is the parent's. */
    if (heaptrace_thread.in_allocator != 0 || heaptrace_thread.own != 0 ||
        getpid() != session_process_id || !ck_pr_cas_uint(&current_state, RUNNING, OFF)) {
        return false;
    }
    ck_pr_fence_memory(); /* B; pairs with A in heaptrace_log */
    heaptrace_thread.own++;
    stop();
    heaptrace_thread.own--;
    errno = saved_errno;
    return true;
}

void heaptrace_session_resume(void)
{
    int saved_errno = errno;

    heaptrace_count_reset();
    (void)run(false);
    errno = saved_errno;
}

static void end_at_exit(int status, void *argument)
{
    (void)status;
    (void)argument;
    (void)heaptrace_session_end();
}

static void end_at_quick_exit(void)
{
    (void)heaptrace_session_end();
}

/* ---- the process ---- */

/*
 * The parent's session does not exist here, and the calls of its other threads never finish here.
 */
static void in_fork_child(void)
{
    ck_pr_store_uint(&current_state, OFF);
    heaptrace_count_reset();
    if (settings.follow == 0) {
        return;
    }
    if (settings.is_shared != 0) {
        heaptrace_thread.own++;
        (void)heaptrace_event_register_again();
        heaptrace_thread.own--;
    }
    (void)run(false);
}

/*
 * Runs after the constructors of the libraries that the program needs, and before the program's
 * own.
 *
 * Uses on_exit rather than a destructor: handlers that the dynamic linker's constructors register
 * run after every library's destructor, so that their calls are logged too. Uses on_exit rather
 * than atexit: atexit handlers of a shared object run with the object's destructors.
 */
__attribute__((constructor)) static void begin(void)
{
    bool is_first;

    heaptrace_thread.own++;
    if (!heaptrace_settings_take(&settings)) {
        ck_pr_store_uint(&current_state, OFF);
        heaptrace_thread.own--;
        return;
    }
    is_first = settings.first_process_id == (uint32_t)getpid();
    if (!is_first && settings.follow == 0) {
        ck_pr_store_uint(&current_state, OFF);
    } else if (run(is_first) != ERROR_SUCCESS && is_first) {
        _exit(HEAPTRACE_EXIT_FAILURE);
    }
    etwas_exit_wait(0); /* the session ends later, in end_at_exit */
    (void)on_exit(end_at_exit, NULL);
    (void)at_quick_exit(end_at_quick_exit);
    (void)pthread_atfork(NULL, NULL, in_fork_child);
    heaptrace_thread.own--;
}
