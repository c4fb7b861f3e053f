/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Each reason for which a process does not log into a session of another: the session's account
 * says which, and what the process logs is counted. And each for which a session is of its process
 * alone, where it was not asked to be.
 */
#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/shared.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer/pool_join.h"
#include "buffer/unattached.h"
#include "platform/wait.h"
#include "registry/connection.h"
#include "registry/sessions.h"
#include "session/session.h"
#include "shared/layout.h"
#include "shared/mapping.h"
#include "sharing/host_guests.h"
#include "sharing/programs.h"
#include "sharing/service.h"

enum {
    SOME = 1000,

    PAUSE_US = 1000,
    TIMEOUT_MS = 60000,
    ANOTHER_USER = 12345,
    MOST_FILES = 64,
};

#define LONG_NS UINT64_C(60000000000)

static uint32_t expected; /* of the program that is started next */

static struct etwas_session *session_of(etwas_trace_handle handle)
{
    struct etwas_session_key key;

    assert_true(etwas_session_key_of(handle, &key));
    return &etwas_sessions[key.index];
}

static etwas_session_counts counts_now(etwas_trace_handle session)
{
    etwas_session_counts counts;

    assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
    return counts;
}

static void skip_unless_shared(etwas_trace_handle session)
{
    if (counts_now(session).unshared == ETWAS_UNSHARED_SEQUENCES) {
        (void)stop_by_handle(session);
        print_message("skipped: the system has no restartable sequences\n");
        skip();
    }
}

/* The host hears it when it does. */
static void await_unattached(etwas_trace_handle session, uint32_t processes)
{
    while (counts_now(session).unattached_processes != processes) {
        (void)usleep(PAUSE_US);
    }
}

/* ---- what a process finds -------------------------------------------------------------------- */

static void spoil_magic(struct etwas_session *session)
{
    session->mapping->head->magic[0] ^= 1;
}

static void spoil_major(struct etwas_session *session)
{
    session->mapping->head->major ^= 1;
}

static void spoil_boot(struct etwas_session *session)
{
    session->mapping->head->boot_id[0] ^= 1;
}

static void spoil_gate(struct etwas_session *session)
{
    session->mapping->head->gate ^= 1;
}

static void spoil_session(struct etwas_session *session)
{
    session->mapping->head->session.Data1 ^= 1;
}

static void spoil_clock(struct etwas_session *session)
{
    session->mapping->head->clock ^= 0x40;
}

static void spoil_slots(struct etwas_session *session)
{
    session->mapping->head->slot_count ^= 1;
}

static void spoil_region(struct etwas_session *session)
{
    session->mapping->head->tables[ETWAS_SHARED_REGION].offset ^= UINT64_C(1) << 40;
}

static void spoil_owner(struct etwas_session *session)
{
    const int file = session->mapping->file.descriptor;
    struct stat facts;

    assert_int_equal(fstat(file, &facts), 0);
    assert_int_equal(fchown(file, facts.st_uid != 0 ? 0 : ANOTHER_USER, (gid_t)-1), 0);
}

/* Each of them undoes what it did. */
static const struct {
    const char *name;
    void (*spoil)(struct etwas_session *session);
    uint32_t code;
    bool root_alone;
} refusals[] = {
    {"no mapping", spoil_magic, ERROR_INVALID_DATA, false},
    {"another layout", spoil_major, ERROR_NOT_SUPPORTED, false},
    {"another boot", spoil_boot, ERROR_INVALID_DATA, false},
    {"another gate", spoil_gate, ERROR_INVALID_DATA, false},
    {"another session", spoil_session, ERROR_INVALID_DATA, false},
    {"no clock", spoil_clock, ERROR_INVALID_DATA, false},
    {"other processors", spoil_slots, ERROR_NOT_SUPPORTED, false},
    {"outside the file", spoil_region, ERROR_INVALID_DATA, false},
    {"another user", spoil_owner, ERROR_ACCESS_DENIED, true},
};

static void log_lost_events(uint32_t count)
{
    for (uint32_t event = 0; event < count; event++) {
        CHECK_IN_CHILD(log_number(enabling_session(), event) == ERROR_NOT_ENOUGH_MEMORY);
    }
}

/* From its first event on, all are counted: before its host has answered, and afterwards. */
static int refused_program(void)
{
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    (void)register_provider(&control_guid);
    CHECK_IN_CHILD(enabling_session() != 0);
    log_lost_events(SOME / 2);
    ck_pr_inc_32(&board->steps);
    while (etwas_sharing_state() != expected) {
        (void)usleep(PAUSE_US);
    }
    log_lost_events(SOME - SOME / 2);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->disabled, 1));
    return 0;
}

/* A host that is late answers when the process has waited for it, and logged. */
static void check_refusal(size_t index, bool is_late)
{
    etwas_trace_handle session = start_in_file("refused", "log.etl");
    etwas_session_counts counts;
    int program;

    skip_unless_shared(session);
    memset(board, 0, sizeof *board);
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    refusals[index].spoil(session_of(session));
    expected = refusals[index].code;
    program = start_program(refused_program);
    if (is_late) {
        etwas_service_before_fork(); /* its thread does nothing meanwhile */
    }
    ck_pr_store_32(&board->go, 1);
    assert_true(comes_to(&board->steps, 1));
    if (is_late) {
        etwas_service_after_fork(false);
    }
    assert_true(comes_to(&board->steps, 2));
    await_unattached(session, 1);
    refusals[index].spoil(session_of(session));
    stop_session(session, &counts);
    assert_int_equal(exit_code_of(program), 0);
    if (counts.unattached_code != expected || counts.lost_unattached != SOME) {
        fail_msg("%s: code %u, %u counted", refusals[index].name, counts.unattached_code,
                 (unsigned)counts.lost_unattached);
    }
    assert_int_equal(counts.recorded, 0);
    assert_int_equal(counts.lost, SOME);
}

static void whatever_a_process_refuses_is_reported_and_counted(void **state)
{
    (void)state;
    for (size_t index = 0; index < sizeof refusals / sizeof *refusals; index++) {
        if (!refusals[index].root_alone || geteuid() == 0) {
            check_refusal(index, false);
            check_refusal(index, true);
        }
    }
}

/* ---- another clock --------------------------------------------------------------------------- */

static int (*inside)(void);

/* Its children's monotonic clocks are days ahead. */
static int run_ahead(void)
{
    static const char offsets[] = "monotonic 1000000 0\nboottime 1000000 0\n";
    const int skipped = 77;
    int file;

    if (unshare(CLONE_NEWTIME) != 0) {
        return skipped;
    }
    file = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    if (write(file, offsets, sizeof offsets - 1) != (ssize_t)sizeof offsets - 1) {
        return skipped;
    }
    (void)close(file);
    return exit_code_of(start_program(inside));
}

static int do_nothing(void)
{
    return 0;
}

static int recorded_program(void)
{
    (void)register_provider(&control_guid);
    CHECK_IN_CHILD(comes_to(&board->enabled, 1));
    log_until_recorded(1);
    CHECK_IN_CHILD(comes_to(&board->disabled, 1));
    return 0;
}

static etwas_trace_handle start_by_clock(uint32_t clock)
{
    struct block block;

    prepare_block(&block, folder_path("log.etl"));
    block.properties.Wnode.ClientContext = clock;
    return start_block("ahead", &block);
}

/* What QPC stamps inside would lie days later in the file; what system time stamps does not. */
static void a_process_in_another_time_namespace_logs_by_the_system_time_alone(void **state)
{
    etwas_trace_handle session;
    etwas_session_counts counts;
    int program;

    (void)state;
    inside = do_nothing;
    if (exit_code_of(start_program(run_ahead)) != 0) {
        print_message("skipped: a time namespace is not granted\n");
        skip();
    }
    session = start_by_clock(ETWAS_CLOCK_QPC);
    skip_unless_shared(session);
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    expected = ERROR_INVALID_FUNCTION;
    inside = refused_program;
    ck_pr_store_32(&board->go, 1);
    program = start_program(run_ahead);
    assert_true(comes_to(&board->steps, 2));
    await_unattached(session, 1);
    stop_session(session, &counts);
    assert_int_equal(exit_code_of(program), 0);
    assert_int_equal(counts.unattached_code, ERROR_INVALID_FUNCTION);
    assert_int_equal(counts.lost_unattached, SOME);
    memset(board, 0, sizeof *board);
    session = start_by_clock(ETWAS_CLOCK_SYSTEM_TIME);
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    inside = recorded_program;
    program = start_program(run_ahead);
    assert_true(comes_to(&board->logged, 1));
    stop_session(session, &counts);
    assert_int_equal(exit_code_of(program), 0);
    assert_int_equal(counts.recorded, 1);
}

/* ---- what may pass --------------------------------------------------------------------------- */

/* Logs an event until it is recorded. */
static int patient_program(void)
{
    (void)register_provider(&control_guid);
    CHECK_IN_CHILD(enabling_session() != 0);
    CHECK_IN_CHILD(log_number(enabling_session(), 1) == ERROR_NOT_ENOUGH_MEMORY);
    ck_pr_inc_32(&board->lost);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    log_until_recorded(2);
    CHECK_IN_CHILD(comes_to(&board->disabled, 1));
    return 0;
}

static void a_process_for_which_there_was_no_place_comes_in_when_there_is(void **state)
{
    etwas_trace_handle session = start_in_file("crowded", "log.etl");
    struct etwas_pool *pool = session_of(session)->buffers.pool;
    etwas_session_counts counts;
    uint32_t taken = 0;
    uint32_t number;
    int program;

    (void)state;
    skip_unless_shared(session);
    while (etwas_guest_slot_claim(pool, &number)) {
        taken++;
    }
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    program = start_program(patient_program);
    assert_true(comes_to(&board->steps, 1));
    await_unattached(session, 1);
    assert_int_equal(counts_now(session).unattached_code, ERROR_NO_SYSTEM_RESOURCES);
    for (number = 0; number < taken; number++) {
        etwas_guest_slot_died(pool, number);
    }
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(enable_with_timeout(session, &control_guid, TIMEOUT_MS), ERROR_SUCCESS);
    assert_int_equal(counts_now(session).unattached_processes, 0);
    assert_int_equal(counts_now(session).unattached_total, 1);
    ck_pr_store_32(&board->go, 1);
    assert_true(comes_to(&board->logged, 1));
    stop_session(session, &counts);
    assert_int_equal(exit_code_of(program), 0);
    assert_int_equal(counts.recorded, 1);
    assert_int_equal(counts.lost_unattached, board->lost);
}

/* ---- a session that ends meanwhile ----------------------------------------------------------- */

/* As another process connects that is about to ask. */
static int connect_to(const char *name)
{
    etwas_wchar wide[ETWAS_NAME_UNITS + 1] = {0};
    struct etwas_registry_entry *entry;
    struct etwas_peer peer;
    int connection;

    for (size_t unit = 0; name[unit] != 0; unit++) {
        wide[unit] = (etwas_wchar)name[unit];
    }
    assert_int_equal(etwas_registry_find(wide, &entry), ERROR_SUCCESS);
    assert_int_equal(
        etwas_registry_connect(entry, etwas_monotonic_ns() + LONG_NS, &connection, &peer),
        ERROR_SUCCESS);
    free(entry);
    return connection;
}

/* Says what another process would say, that has waited for an answer in vain. */
static void say_counting(int connection, uint32_t gate)
{
    const struct etwas_unattached_report note = {.word =
                                                     etwas_unattached_word(ETWAS_SESSION_ENTRIES)};
    const struct etwas_message message = {.op = ETWAS_MESSAGE_ACKNOWLEDGE,
                                          .bytes = sizeof note,
                                          .descriptor = etwas_unattached_page()};

    assert_int_equal(etwas_message_send(connection, &message, &note, 0), ERROR_SUCCESS);
    etwas_unattached_begin(ETWAS_SESSION_ENTRIES, gate);
}

/*
 * A process that stands still when the session ends, and logs on, hears of each event whether it is
 * in the account.
 */
static void what_is_counted_is_in_the_account_or_is_not_counted(void **state)
{
    etwas_trace_handle session = start_in_file("account", "log.etl");
    const uint32_t gate = session_of(session)->entry.generation;
    const int connection = connect_to("account");
    etwas_session_counts counts;

    (void)state;
    skip_unless_shared(session);
    say_counting(connection, gate);
    for (uint32_t event = 0; event < SOME; event++) {
        assert_true(etwas_unattached_count(ETWAS_SESSION_ENTRIES, gate, 1));
    }
    stop_session(session, &counts);
    assert_int_equal(counts.lost_unattached, SOME);
    assert_int_equal(counts.lost, SOME);
    assert_false(etwas_unattached_count(ETWAS_SESSION_ENTRIES, gate, 1));
    assert_false(etwas_unattached_count_unresolved(ETWAS_SESSION_ENTRIES, 1));
    etwas_unattached_end(ETWAS_SESSION_ENTRIES);
    (void)close(connection);
}

/*
 * What asks with what it read before the end does not await a place: it would enable providers, and
 * count what no account has any more.
 */
static void a_process_that_asks_when_the_session_has_ended_hears_so(void **state)
{
    etwas_trace_handle session = start_in_file("over", "log.etl");
    struct etwas_message message = {.op = ETWAS_MESSAGE_ATTACH, .descriptor = -1};
    const int connection = connect_to("over");
    uint8_t body[ETWAS_MESSAGE_BYTES];

    (void)state;
    skip_unless_shared(session);
    etwas_service_wait_idle(etwas_monotonic_ns() + LONG_NS);
    (void)stop_by_handle(session);
    assert_int_equal(etwas_message_send(connection, &message, NULL, 0), ERROR_SUCCESS);
    assert_int_equal(etwas_message_receive(connection, &message, body, sizeof body,
                                           etwas_monotonic_ns() + LONG_NS),
                     ERROR_SUCCESS);
    assert_int_equal(message.code, ERROR_WMI_INSTANCE_NOT_FOUND);
    (void)close(connection);
}

/* It has all files open that it may when the session comes, and closes them later. */
static int program_without_files(void)
{
    struct rlimit limit;
    int files[MOST_FILES];
    uint32_t count = 0;

    (void)register_provider(&control_guid);
    CHECK_IN_CHILD(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = MOST_FILES;
    CHECK_IN_CHILD(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    while ((files[count] = dup(STDERR_FILENO)) >= 0) {
        count++;
    }
    ck_pr_inc_32(&board->steps);
    while (etwas_sharing_state() != ERROR_NO_SYSTEM_RESOURCES) {
        (void)usleep(PAUSE_US);
    }
    CHECK_IN_CHILD(enabling_session() == 0);
    while (count != 0) {
        (void)close(files[--count]);
    }
    CHECK_IN_CHILD(comes_to(&board->enabled, 1));
    log_until_recorded(1);
    CHECK_IN_CHILD(comes_to(&board->disabled, 1));
    return 0;
}

/* R190: EnableTraceEx2 has waited for it. */
static void a_process_without_files_comes_in_when_it_may_open_some(void **state)
{
    etwas_trace_handle session = start_in_file("bare", "log.etl");
    etwas_session_counts counts;
    int program;

    (void)state;
    skip_unless_shared(session);
    program = start_program(program_without_files);
    assert_true(comes_to(&board->steps, 1));
    assert_int_equal(enable_with_timeout(session, &control_guid, TIMEOUT_MS), ERROR_SUCCESS);
    assert_int_equal(board->enabled, 1);
    assert_true(comes_to(&board->logged, 1));
    stop_session(session, &counts);
    assert_int_equal(exit_code_of(program), 0);
    assert_int_equal(counts.recorded, 1);
}

/* ---- sessions of one process ----------------------------------------------------------------- */

/* It finds the session, cannot have its name, is not enabled by it, and stops it. */
static int look_at_unshared(void)
{
    struct block block;
    etwas_trace_handle session;
    etwas_session_counts counts;

    (void)register_provider(&control_guid);
    prepare_block(&block, NULL);
    CHECK_IN_CHILD(QueryTraceA(0, "unshared", &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_counts(block.properties.Wnode.HistoricalContext, &counts) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(counts.unshared == expected);
    CHECK_IN_CHILD(enable_with_timeout(block.properties.Wnode.HistoricalContext, &control_guid,
                                       TIMEOUT_MS) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enabling_session() == 0);
    prepare_block(&block, folder_path("other.etl"));
    CHECK_IN_CHILD(StartTraceA(&session, "unshared", &block.properties) == ERROR_ALREADY_EXISTS);
    prepare_block(&block, NULL);
    CHECK_IN_CHILD(StopTraceA(0, "unshared", &block.properties) == ERROR_SUCCESS);
    return 0;
}

static bool is_on_disk(void)
{
    struct etwas_shared_backing place;
    int folder = open(getenv("ETWAS_RUNTIME_DIR"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    etwas_shared_backing_read(&place, folder);
    (void)close(folder);
    return !place.in_memory;
}

static void start_unshared(uint32_t mode, uint32_t reason)
{
    struct block block;
    etwas_trace_handle session;
    etwas_session_counts counts;

    prepare_block(&block, folder_path("log.etl"));
    block.properties.LogFileMode = mode;
    block.properties.BufferSize = 64;
    block.properties.Wnode.ClientContext = ETWAS_CLOCK_SYSTEM_TIME;
    session = start_block("unshared", &block);
    counts = counts_now(session);
    if (counts.unshared != ETWAS_UNSHARED_SEQUENCES) {
        assert_int_equal(counts.unshared, reason);
    }
    assert_int_equal(etwas_sharing_state(),
                     counts.unshared == ETWAS_UNSHARED_NOT ? ERROR_SUCCESS : ERROR_NOT_SUPPORTED);
    expected = counts.unshared;
    if (expected != ETWAS_UNSHARED_NOT) {
        assert_int_equal(exit_code_of(start_program(look_at_unshared)), 0);
    } else {
        (void)stop_by_handle(session);
    }
}

static int start_each_unshared(void)
{
    start_unshared(EVENT_TRACE_ADDTO_TRIAGE_DUMP,
                   is_on_disk() ? ETWAS_UNSHARED_DISK : ETWAS_UNSHARED_NOT);
    start_unshared(EVENT_TRACE_USE_GLOBAL_SEQUENCE, ETWAS_UNSHARED_MODE);
    start_unshared(EVENT_TRACE_USE_LOCAL_SEQUENCE, ETWAS_UNSHARED_MODE);
    start_unshared(EVENT_TRACE_FILE_MODE_APPEND, ETWAS_UNSHARED_MODE);
    start_unshared(EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, ETWAS_UNSHARED_MODE);
    return 0;
}

/* R10, R41: others find it all the same. */
static void a_session_that_is_of_its_process_alone_says_why_everywhere(void **state)
{
    (void)state;
    assert_int_equal(exit_code_of(start_program(start_each_unshared)), 0);
}

/* A folder on a disk, that was named, keeps a session from being shared that has to be. */
static void a_session_that_has_to_be_shared_is_refused_on_a_disk(void **state)
{
    const etwas_session_options options = {.sharing = ETWAS_SHARING_USER,
                                           .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE};
    char reason[512];
    etwas_trace_handle session;
    uint32_t code;

    (void)state;
    code = etwas_start("disk", folder_path("log.etl"), &options, &session);
    if (code == ERROR_SUCCESS) {
        assert_false(is_on_disk());
        (void)stop_by_handle(session);
        return;
    }
    assert_int_equal(code, ERROR_NOT_SUPPORTED);
    (void)etwas_crash_safe_refusal(reason, sizeof reason);
    assert_true(!is_on_disk() || strstr(reason, "is not in memory") != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(whatever_a_process_refuses_is_reported_and_counted),
        PROGRAMS_TEST(a_process_in_another_time_namespace_logs_by_the_system_time_alone),
        PROGRAMS_TEST(a_process_for_which_there_was_no_place_comes_in_when_there_is),
        PROGRAMS_TEST(what_is_counted_is_in_the_account_or_is_not_counted),
        PROGRAMS_TEST(a_process_that_asks_when_the_session_has_ended_hears_so),
        PROGRAMS_TEST(a_process_without_files_comes_in_when_it_may_open_some),
        PROGRAMS_TEST(a_session_that_is_of_its_process_alone_says_why_everywhere),
        PROGRAMS_TEST(a_session_that_has_to_be_shared_is_refused_on_a_disk),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
