/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/own_fixture.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/spin.h"

enum {
    NOBODY = 65534
};

struct own_facts *own_facts;

void open_folder(void)
{
    char folder[512];

    (void)snprintf(folder, sizeof folder, "%s", folder_path(""));
    assert_int_equal(chmod(folder, 0777), 0);
    if (own_facts == NULL) {
        own_facts = mmap(NULL, sizeof *own_facts, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(own_facts, MAP_FAILED);
    }
    memset(own_facts, 0, sizeof *own_facts);
}

void become_own(void)
{
    if (geteuid() == 0) {
        CHECK_IN_CHILD(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    }
    CHECK_IN_CHILD(etwas_kernel_scope(ETWAS_KERNEL_SCOPE_PROCESS) == ERROR_SUCCESS);
    own_facts->process_id = (uint32_t)getpid();
    own_facts->thread_id = (uint32_t)syscall(SYS_gettid);
}

etwas_trace_handle start_own(uint32_t flags, uint32_t rung)
{
    struct block block;
    etwas_trace_handle session;
    uint32_t has;

    prepare_kernel_block(&block, flags | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    CHECK_IN_CHILD(StartTraceA(&session, KERNEL_LOGGER_NAMEA, &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_kernel_rung(session, &has) == ERROR_SUCCESS);
    CHECK_IN_CHILD(has == rung);
    return session;
}

void stop_own(etwas_trace_handle session)
{
    const etwas_session_counts *counts = &own_facts->counts;

    CHECK_IN_CHILD(etwas_stop(session, &own_facts->counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(counts->lost == counts->lost_in_kernel);
}

static bool is_of_file(const struct event *event)
{
    static const etwas_guid header_class = {
        0x68fdd900, 0x4a3e, 0x11d1, {0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3}};

    return memcmp(&event->record.EventHeader.ProviderId, &header_class, sizeof header_class) == 0;
}

void read_own(struct events *events)
{
    uint64_t kernels = 0;

    read_events(folder_path("k.etl"), PROCESS_TRACE_MODE_RAW_TIMESTAMP, events);
    for (size_t index = 0; index < events->count; index++) {
        kernels += !is_of_file(&events->items[index]);
    }
    assert_int_equal(kernels, own_facts->counts.recorded);
    skip_if_lost(own_facts->counts.lost, events);
}

bool nobody_sees_itself(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct perf_event_attr attributes = {.size = sizeof attributes,
                                             .type = PERF_TYPE_SOFTWARE,
                                             .config = PERF_COUNT_SW_DUMMY,
                                             .exclude_kernel = 1};

        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
            _exit(1);
        }
        _exit(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

void record_own(uint32_t flags, void (*work)(etwas_trace_handle session), struct events *events)
{
    int child;

    if (!nobody_sees_itself()) {
        (void)printf("skipped: the kernel refuses perf events even of the own process\n");
        skip();
    }
    open_folder();
    child = fork_child();
    if (child == 0) {
        etwas_trace_handle session;

        become_own();
        session = start_own(flags, ETWAS_KERNEL_RUNG_PROCESS);
        own_facts->begin_ns = monotonic_raw_ns();
        work(session);
        own_facts->end_ns = monotonic_raw_ns();
        stop_own(session);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    read_own(events);
}

bool is_in_work(const struct event *event)
{
    int64_t time = event->record.EventHeader.TimeStamp.QuadPart;

    return time >= own_facts->begin_ns && time <= own_facts->end_ns;
}

int run_own_tests(const char *name, const struct CMUnitTest *tests, size_t count)
{
    if (!nobody_sees_itself()) {
        (void)printf("skipped: the kernel refuses perf events even of the own process\n");
        return 77;
    }
    return run_in_attempts(name, tests, count);
}
