/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "contract/sandbox_life.h"

#include <etwas/evntprov.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/nodes.h"
#include "session/fixture.h"

enum {
    EVENTS = 2000,
    ALL_WISHES = ETWAS_MEMORY_PREFAULT | ETWAS_MEMORY_HUGE | ETWAS_MEMORY_LOCK | ETWAS_MEMORY_NODES,
    WAIT_S = 60,
};

static struct {
    char pool[256];
    char left[300]; /* of the process that was killed */
    char log[256];
    char recovered[256];
    char prepared[256];
    char windows[256];
} paths;

static void set_path(char *path, const char *name)
{
    (void)snprintf(path, sizeof paths.pool, "%s", folder_path(name));
}

/* ---- before ---------------------------------------------------------------------------------- */

static void log_events(etwas_trace_handle session)
{
    for (uint64_t number = 0; number < EVENTS; number++) {
        CHECK_IN_CHILD(log_number(session, number) == ERROR_SUCCESS);
    }
}

static etwas_trace_handle start(const char *log_file, uint32_t crash_safe, const char *folder)
{
    const uint32_t cpu = 0;
    const etwas_session_options options = {
        .log_file_mode = log_file == NULL ? EVENT_TRACE_BUFFERING_MODE : EVENT_TRACE_FILE_MODE_NONE,
        .buffer_size_kb = 64,
        .minimum_buffers = 64,
        .maximum_buffers = 64,
        .crash_safe = crash_safe,
        .crash_safe_folder = folder,
        .memory = ALL_WISHES,
        .process_times = true,
        .flusher = {.nice_value = 5, .cpus = &cpu, .cpu_count = 1},
    };
    etwas_trace_handle session;

    CHECK_IN_CHILD(etwas_start("safe", log_file, &options, &session) == ERROR_SUCCESS);
    return session;
}

/* Where the pool file is, by its parent's own folder. */
static _Noreturn void die(void)
{
    etwas_trace_handle session = start(NULL, ETWAS_CRASH_SAFE_POOL_FILE, paths.pool);

    log_events(session);
    (void)kill(getpid(), SIGKILL);
    _exit(1);
}

/* One node twice is as good as two: what is asked of the kernel is the same. */
static bool say(const char *path, char *text, size_t size)
{
    const char *said = strcmp(path, ETWAS_NODES_FOLDER "/has_memory") == 0      ? "0,0\n"
                       : strcmp(path, ETWAS_NODES_FOLDER "/node0/cpulist") == 0 ? "0-2046\n"
                                                                                : NULL;

    if (said == NULL) {
        return false;
    }
    (void)snprintf(text, size, "%s", said);
    return true;
}

static void find_left(void)
{
    char pattern[300];
    FILE *names;

    (void)snprintf(pattern, sizeof pattern, "ls %s/*.pool", paths.pool);
    names = popen(pattern, "re");
    assert_non_null(names);
    assert_non_null(fgets(paths.left, sizeof paths.left, names));
    assert_int_equal(pclose(names), 0);
    paths.left[strcspn(paths.left, "\n")] = '\0';
}

void sandbox_prepare(void)
{
    static const struct etwas_machine two_nodes = {.text = say};
    int status;
    int child;

    etwas_nodes_machine = &two_nodes;
    set_path(paths.pool, "pool");
    set_path(paths.log, "l.etl");
    set_path(paths.recovered, "r.etl");
    set_path(paths.prepared, "p.etl");
    set_path(paths.windows, "w%d.etl");
    (void)setenv("ETWAS_RUNTIME_DIR", folder_path("run"), 1);
    child = fork_child();
    if (child == 0) {
        die();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    find_left();
}

void sandbox_limit(void)
{
    const struct rlimit some = {.rlim_cur = 1 << 16, .rlim_max = 1 << 16};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    CHECK_IN_CHILD(chdir("/") == 0);
    CHECK_IN_CHILD(setrlimit(RLIMIT_MEMLOCK, &some) == 0);
    CHECK_IN_CHILD(syscall(SYS_capget, &header, sets) == 0);
    sets[0].effective &= ~(1u << CAP_IPC_LOCK);
    CHECK_IN_CHILD(syscall(SYS_capset, &header, sets) == 0);
}

/* ---- there ----------------------------------------------------------------------------------- */

/* What can be asked of a session. */
static void ask(etwas_trace_handle session)
{
    etwas_crash_safe_place place;
    etwas_session_memory memory;
    char text[4096];

    CHECK_IN_CHILD(etwas_crash_safe_query_place(session, &place) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_memory(session, &memory) == ERROR_SUCCESS);
    CHECK_IN_CHILD(memory.asked == ALL_WISHES);
    for (uint32_t request = ETWAS_MEMORY_PREFAULT; request <= ETWAS_MEMORY_NODES; request <<= 1) {
        size_t length = etwas_memory_refusal(session, request, text, sizeof text);

        CHECK_IN_CHILD((length == 0) == ((memory.granted & request) != 0));
    }
    CHECK_IN_CHILD(etwas_crash_safe_path(session, text, sizeof text) == ERROR_SUCCESS);
    (void)etwas_crash_safe_refusal(text, sizeof text);
}

/*
 * As a tool does it, of a process that lives. Without /proc a memfd has no path. How many events,
 * or 0.
 */
static uint64_t recover_itself(etwas_trace_handle session)
{
    static etwas_recovered recovered;
    char path[4096];
    uint32_t code;

    CHECK_IN_CHILD(etwas_crash_safe_path(session, path, sizeof path) == ERROR_SUCCESS);
    code = etwas_recover(path, 0, paths.recovered, &recovered);
    CHECK_IN_CHILD(code == ERROR_SUCCESS ||
                   (code == ERROR_FILE_NOT_FOUND && strncmp(path, "/proc/", 6) == 0));
    return code == ERROR_SUCCESS ? recovered.events : 0;
}

static void write_in_handler(etwas_trace_handle session, int descriptor)
{
    etwas_prepared_snapshot *prepared;

    CHECK_IN_CHILD(etwas_snapshot_prepare(session, descriptor, &prepared) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_snapshot_signal_safe(prepared) == ERROR_SUCCESS);
    etwas_snapshot_discard(prepared);
}

static void trigger(etwas_trace_handle session)
{
    const etwas_trigger_options options = {.log_file = paths.windows};
    const struct timespec pause = {.tv_nsec = 1000000};
    const time_t begin = time(NULL);
    etwas_trigger_counts counts;

    CHECK_IN_CHILD(etwas_trigger_arm(session, &options) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_trigger(session) == ERROR_SUCCESS);
    do {
        (void)nanosleep(&pause, NULL);
        CHECK_IN_CHILD(etwas_trigger_query(session, &counts) == ERROR_SUCCESS);
        CHECK_IN_CHILD(time(NULL) - begin < WAIT_S);
    } while (counts.files + counts.failed == 0);
    CHECK_IN_CHILD(counts.failed == 0);
}

static void live_with(const char *log_file, uint32_t crash_safe, const char *folder, int descriptor)
{
    etwas_trace_handle session = start(log_file, crash_safe, folder);

    log_events(session);
    ask(session);
    if (log_file == NULL) {
        uint64_t recovered = recover_itself(session);

        CHECK_IN_CHILD(recovered == EVENTS ||
                       (recovered == 0 && crash_safe != ETWAS_CRASH_SAFE_POOL_FILE));
        write_in_handler(session, descriptor);
        trigger(session);
    } else {
        (void)recover_itself(session); /* which looks into the log file */
        CHECK_IN_CHILD(etwas_flush(session) == ERROR_SUCCESS);
        (void)recover_itself(session);
    }
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
}

void sandbox_live(void)
{
    static etwas_recovered recovered;
    const char *left = paths.left;
    etwas_trace_handle session;
    int descriptor = open(paths.prepared, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    CHECK_IN_CHILD(descriptor >= 0);
    CHECK_IN_CHILD(paths.pool[0] == '/');
    live_with(NULL, ETWAS_CRASH_SAFE_POOL_FILE, paths.pool + 1, descriptor);
    live_with(NULL, ETWAS_CRASH_SAFE_POOL_FILE, NULL, descriptor); /* the user's own folder */
    live_with(NULL, ETWAS_CRASH_SAFE_MEMFD, NULL, descriptor);
    live_with(paths.log, ETWAS_CRASH_SAFE_MEMFD, NULL, descriptor);
    CHECK_IN_CHILD(etwas_recover(left, 0, paths.recovered, &recovered) == ERROR_SUCCESS);
    CHECK_IN_CHILD(recovered.events == EVENTS && !recovered.is_alive);
    /* This session is for exit to stop. */
    session = start(paths.log, ETWAS_CRASH_SAFE_POOL_FILE, paths.pool);
    log_events(session);
}
