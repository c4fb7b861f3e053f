/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What sessions ask of their memory: what they get, what is said of the rest, and conditions. */
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/fixture.h"

enum {
    BYTES_A_KB = 1024,
    BUFFER_KB = 64,
    BUFFERS = 64,
    POOL_BYTES = BUFFERS * BUFFER_KB * BYTES_A_KB,
    EVENT_BYTES = 4000,
    FAULTS_OF_OTHERS = 64, /* of the C library, of the stack */
};

/* A log file for which nobody makes room meanwhile: the buffers are used up one after the other. */
static const etwas_session_options logger = {
    .buffer_size_kb = BUFFER_KB,
    .maximum_buffers = BUFFERS,
    .flusher.no_thread = true,
};

static etwas_session_memory memory_of(etwas_trace_handle session)
{
    etwas_session_memory memory;

    CHECK_IN_CHILD(etwas_memory(session, &memory) == ERROR_SUCCESS);
    return memory;
}

static etwas_trace_handle start_with(uint32_t requests, uint32_t crash_safe)
{
    etwas_session_options options = logger;
    etwas_trace_handle session;

    options.memory = requests;
    options.crash_safe = crash_safe;
    CHECK_IN_CHILD(etwas_start("memory", folder_path("f.etl"), &options, &session) ==
                   ERROR_SUCCESS);
    return session;
}

/* The sentence for a request; "" where there is none. */
static const char *sentence_of(etwas_trace_handle session, uint32_t request)
{
    static char text[512];
    size_t length = etwas_memory_refusal(session, request, text, sizeof text);

    CHECK_IN_CHILD(length == strlen(text));
    CHECK_IN_CHILD(etwas_memory_refusal(session, request, NULL, 0) == length);
    return text;
}

/* ---- pre-faulting ---------------------------------------------------------------------------- */

static uint64_t faults(void)
{
    struct rusage usage;

    CHECK_IN_CHILD(getrusage(RUSAGE_THREAD, &usage) == 0);
    return (uint64_t)usage.ru_minflt;
}

/* Returns the page faults of a thread that logs until the pool is full. */
static uint64_t faults_of_filling(etwas_trace_handle session)
{
    static struct {
        EVENT_TRACE_HEADER header;
        uint8_t payload[EVENT_BYTES];
    } event = {.header = {.Flags = WNODE_FLAG_TRACED_GUID}};
    uint64_t before = faults();
    uint32_t code;

    do {
        event.header.Size = sizeof event;
        code = TraceEvent(session, &event.header);
    } while (code == ERROR_SUCCESS);
    CHECK_IN_CHILD(code == ERROR_NOT_ENOUGH_MEMORY);
    return faults() - before;
}

static int prefault(void)
{
    const uint64_t pages = POOL_BYTES / (uint64_t)sysconf(_SC_PAGESIZE);
    etwas_trace_handle session;
    etwas_session_memory memory;

    if (FIXTURE_SANITIZER) {
        print_message("skipped: a sanitizer maps the memory\n");
        return 77;
    }
    /* In small pages: a huge one costs one fault for many. */
    CHECK_IN_CHILD(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0);
    session = start_with(0, 0);
    memory = memory_of(session);
    CHECK_IN_CHILD(memory.asked == 0 && memory.granted == 0);
    CHECK_IN_CHILD(memory.region_resident_bytes < POOL_BYTES / 2);
    CHECK_IN_CHILD(faults_of_filling(session) > pages / 2);
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    for (uint32_t crash_safe = 0; crash_safe <= ETWAS_CRASH_SAFE_MEMFD;
         crash_safe += ETWAS_CRASH_SAFE_MEMFD) {
        session = start_with(ETWAS_MEMORY_PREFAULT, crash_safe);
        memory = memory_of(session);
        CHECK_IN_CHILD(memory.asked == ETWAS_MEMORY_PREFAULT && memory.granted == memory.asked);
        CHECK_IN_CHILD(memory.region_resident_bytes >= POOL_BYTES);
        CHECK_IN_CHILD(faults_of_filling(session) <= FAULTS_OF_OTHERS);
        CHECK_IN_CHILD(sentence_of(session, ETWAS_MEMORY_PREFAULT)[0] == 0);
        CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    }
    return 0;
}

static void a_prefaulted_pool_costs_its_writers_no_page_fault(void **state)
{
    (void)state;
    expect_in_child(prefault);
}

/* ---- locking --------------------------------------------------------------------------------- */

static uint64_t locked_bytes(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    unsigned long locked_kb = 0;

    while (file != NULL && fgets(line, sizeof line, file) != NULL &&
           sscanf(line, "VmLck: %lu", &locked_kb) != 1) {
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return (uint64_t)locked_kb * BYTES_A_KB;
}

static void limit_locking(uint64_t bytes)
{
    const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    CHECK_IN_CHILD(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    CHECK_IN_CHILD(syscall(SYS_capget, &header, sets) == 0);
    sets[0].effective &= ~(1u << CAP_IPC_LOCK);
    CHECK_IN_CHILD(syscall(SYS_capset, &header, sets) == 0);
}

static int lock(void)
{
    if (FIXTURE_SANITIZER) {
        print_message("skipped: nothing is locked under a sanitizer\n");
        return 77;
    }
    for (uint32_t crash_safe = 0; crash_safe <= ETWAS_CRASH_SAFE_MEMFD;
         crash_safe += ETWAS_CRASH_SAFE_MEMFD) {
        uint64_t before = locked_bytes();
        etwas_trace_handle session = start_with(ETWAS_MEMORY_LOCK, crash_safe);
        etwas_session_memory memory = memory_of(session);

        if (memory.granted == 0) {
            print_message("skipped: the limit of locked memory is low\n");
            return 77;
        }
        CHECK_IN_CHILD(locked_bytes() >= before + POOL_BYTES + memory.control_bytes);
        /* What nobody has touched takes no memory all the same. */
        CHECK_IN_CHILD(crash_safe != 0 || memory.region_resident_bytes < POOL_BYTES / 2);
        CHECK_IN_CHILD(log_number(session, 1) == ERROR_SUCCESS);
        CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
        CHECK_IN_CHILD(locked_bytes() == before);
    }
    return 0;
}

static void a_locked_pool_is_locked_while_the_session_runs(void **state)
{
    (void)state;
    expect_in_child(lock);
}

static int lock_in_vain(void)
{
    etwas_trace_handle session;
    etwas_session_memory memory;

    if (FIXTURE_SANITIZER) {
        print_message("skipped: a sanitizer maps the memory\n");
        return 77;
    }
    limit_locking(POOL_BYTES / 2);
    session = start_with(ETWAS_MEMORY_LOCK | ETWAS_MEMORY_PREFAULT, 0);
    memory = memory_of(session);
    CHECK_IN_CHILD(memory.asked == (ETWAS_MEMORY_LOCK | ETWAS_MEMORY_PREFAULT));
    CHECK_IN_CHILD(memory.granted == ETWAS_MEMORY_PREFAULT);
    CHECK_IN_CHILD(strstr(sentence_of(session, ETWAS_MEMORY_LOCK),
                          "RLIMIT_MEMLOCK (ulimit -l) is 2048 KB") != NULL);
    CHECK_IN_CHILD(sentence_of(session, ETWAS_MEMORY_PREFAULT)[0] == 0);
    CHECK_IN_CHILD(log_number(session, 1) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    return 0;
}

static void a_session_that_cannot_be_locked_runs_and_says_why(void **state)
{
    (void)state;
    expect_in_child(lock_in_vain);
}

static int require_lock(void)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                     .minimum_buffers = BUFFERS,
                                     .memory_required = ETWAS_MEMORY_LOCK,
                                     .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
                                     .crash_safe_folder = folder_path("pool")};
    struct belongings before;
    struct belongings after;
    etwas_trace_handle session;

    if (FIXTURE_SANITIZER) {
        print_message("skipped: a sanitizer maps the memory\n");
        return 77;
    }
    limit_locking(POOL_BYTES / 2);
    CHECK_IN_CHILD(sentence_of(0, ETWAS_MEMORY_LOCK)[0] == 0);
    for (int round = 0; round < 2; round++) { /* the first leaves what is kept */
        before = count_belongings();
        CHECK_IN_CHILD(etwas_start("memory", NULL, &options, &session) == ERROR_ACCESS_DENIED);
    }
    after = count_belongings();
    CHECK_IN_CHILD(after.descriptors == before.descriptors && after.threads == before.threads &&
                   after.mappings == before.mappings);
    CHECK_IN_CHILD(rmdir(folder_path("pool")) == 0);
    CHECK_IN_CHILD(strstr(sentence_of(0, ETWAS_MEMORY_LOCK), "RLIMIT_MEMLOCK") != NULL);
    CHECK_IN_CHILD(sentence_of(0, ETWAS_MEMORY_HUGE)[0] == 0);
    options.memory = ETWAS_MEMORY_LOCK;
    options.memory_required = 0;
    CHECK_IN_CHILD(etwas_start("memory", NULL, &options, &session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    return 0;
}

static void what_is_required_is_a_condition_and_nothing_stays_of_a_refused_start(void **state)
{
    (void)state;
    expect_in_child(require_lock);
}

/* ---- huge pages ------------------------------------------------------------------------------ */

static int huge_in_vain(void)
{
    etwas_session_options options = logger;
    etwas_trace_handle session;
    etwas_session_memory memory;

    CHECK_IN_CHILD(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0);
    session = start_with(ETWAS_MEMORY_HUGE, 0);
    memory = memory_of(session);
    CHECK_IN_CHILD(memory.asked == ETWAS_MEMORY_HUGE);
    CHECK_IN_CHILD(memory.granted == (memory.region_huge_bytes != 0 ? memory.asked : 0));
    if (memory.granted != 0) {
        print_message("skipped: the machine has large pages to give\n");
        return 77;
    }
    CHECK_IN_CHILD(strstr(sentence_of(session, ETWAS_MEMORY_HUGE), "vm.nr_hugepages") != NULL);
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);

    options.memory_required = ETWAS_MEMORY_HUGE;
    CHECK_IN_CHILD(etwas_start("memory", folder_path("f.etl"), &options, &session) ==
                   ERROR_NOT_ENOUGH_MEMORY);
    CHECK_IN_CHILD(strstr(sentence_of(0, ETWAS_MEMORY_HUGE), "vm.nr_hugepages") != NULL);
    return 0;
}

static void huge_pages_are_granted_only_if_there_are_some(void **state)
{
    (void)state;
    expect_in_child(huge_in_vain);
}

static void large_pages_are_the_same_wish(void **state)
{
    etwas_session_options options = logger;
    etwas_trace_handle session;

    (void)state;
    options.large_pages = true;
    session = start_session(folder_path("f.etl"), &options);
    assert_int_equal(memory_of(session).asked, ETWAS_MEMORY_HUGE);
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
}

/* ---- bad input ------------------------------------------------------------------------------- */

static void unknown_wishes_are_refused(void **state)
{
    etwas_session_options options = logger;
    etwas_trace_handle session;

    (void)state;
    options.memory = UINT32_C(1) << 31;
    assert_int_equal(etwas_start("memory", folder_path("f.etl"), &options, &session),
                     ERROR_INVALID_PARAMETER);
    options.memory = 0;
    options.memory_required = UINT32_C(1) << 31;
    assert_int_equal(etwas_start("memory", folder_path("f.etl"), &options, &session),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_memory_refusal(12345, ETWAS_MEMORY_LOCK, NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_prefaulted_pool_costs_its_writers_no_page_fault),
        FOLDER_TEST(a_locked_pool_is_locked_while_the_session_runs),
        FOLDER_TEST(a_session_that_cannot_be_locked_runs_and_says_why),
        FOLDER_TEST(what_is_required_is_a_condition_and_nothing_stays_of_a_refused_start),
        FOLDER_TEST(huge_pages_are_granted_only_if_there_are_some),
        FOLDER_TEST(large_pages_are_the_same_wish),
        FOLDER_TEST(unknown_wishes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
