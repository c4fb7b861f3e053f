/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions that ask for large pages: with explicit huge pages, for which a test raises
 * vm.nr_hugepages for a moment, and without. What is said of them is what the system counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer/interrupt.h"
#include "buffer/pool.h"
#include "platform/memory.h"
#include "platform/testpoint.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    MIB = 1 << 20,
    HUGE_KB = ETWAS_HUGE_PAGE_BYTES / 1024,
    BUFFER_KB = 64,
    BUFFERS_A_PAGE = HUGE_KB / BUFFER_KB,
    EVENTS = 20000,
    WRITERS = 2,
    PAUSE_US = 10000,
    ROUNDS = 6000, /* a minute */
};

#if defined(ETWAS_ADDRESS_SANITIZER) || defined(__SANITIZE_THREAD__)
static const bool is_sanitized = true;
#else
static const bool is_sanitized = false;
#endif

/* ---- the system's pages ---------------------------------------------------------------------- */

static const char setting[] = "/proc/sys/vm/nr_hugepages";
static long pages_before = -1; /* the setting to restore; -1: it is not changed */

/* The number behind a word at the start of a line; -1: none. */
static long number_in(const char *path, const char *word)
{
    FILE *file = fopen(path, "re");
    char line[256];
    long number = -1;

    while (file != NULL && number < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, word, strlen(word)) == 0) {
            number = strtol(line + strlen(word), NULL, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return number;
}

static long free_pages(void)
{
    return number_in("/proc/meminfo", "HugePages_Free:") -
           number_in("/proc/meminfo", "HugePages_Rsvd:");
}

static bool set_pages(long pages)
{
    FILE *file = fopen(setting, "we");
    bool written;

    if (file == NULL) {
        return false;
    }
    written = fprintf(file, "%ld\n", pages) > 0;
    return fclose(file) == 0 && written;
}

/* Skips the test by name where the setting may not be changed, or the system has not so many. */
static void have_free_pages(long pages)
{
    long all = number_in("/proc/meminfo", "HugePages_Total:");

    if (is_sanitized || number_in("/proc/meminfo", "Hugepagesize:") != HUGE_KB) {
        print_message(
            "skipped: there are no large pages of this size, or a sanitizer maps the memory\n");
        skip();
    }
    if (pages_before < 0) {
        pages_before = number_in(setting, "");
    }
    if (!set_pages(all - free_pages() + pages) || free_pages() != pages) {
        print_message("skipped: the number of large pages cannot be set\n");
        skip();
    }
}

/*
 * The pages are the whole system's: another program may have taken one for a moment. What we do not
 * give back does not come back.
 */
static void expect_free_pages(long pages)
{
    for (int round = 0; round < ROUNDS && free_pages() != pages; round++) {
        (void)usleep(PAUSE_US);
    }
    assert_int_equal(free_pages(), pages);
}

static int restore_pages(void **state)
{
    bool restored = pages_before < 0 || set_pages(pages_before);

    pages_before = -1;
    return folder_teardown(state) != 0 || !restored;
}

/* ---- sessions -------------------------------------------------------------------------------- */

static etwas_session_memory memory_of(etwas_trace_handle session)
{
    etwas_session_memory memory;

    assert_int_equal(etwas_memory(session, &memory), ERROR_SUCCESS);
    return memory;
}

static etwas_trace_handle start(const char *path, uint32_t minimum, uint32_t maximum)
{
    const etwas_session_options options = {
        .buffer_size_kb = BUFFER_KB,
        .minimum_buffers = minimum,
        .maximum_buffers = maximum,
        .large_pages = true,
        .flusher.no_thread = true,
    };

    return start_session(path, &options);
}

static void log_and_end(etwas_trace_handle session, const char *path)
{
    etwas_session_counts counts;
    struct writers writers;

    writers_start(&writers, WRITERS,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = EVENTS,
                                           .largest_payload = 1000});
    writers_join(&writers);
    stop_session(session, &counts);
    expect_file_reads_back(session, path, &counts);
    writers_forget();
}

static void explicit_pages_hold_what_may_come_into_use_and_go_back_at_the_end(void **state)
{
    enum {
        PAGES = 4
    };
    const char *path = folder_path("trace.etl");
    etwas_session_memory memory;
    etwas_trace_handle session;
    struct etwas_session *place;

    (void)state;
    have_free_pages(PAGES + 1);
    session = start(path, BUFFERS_A_PAGE, PAGES * BUFFERS_A_PAGE - 1);
    place = inside_of(session);
    memory = memory_of(session);
    assert_int_equal(memory.region_explicit_bytes, PAGES * ETWAS_HUGE_PAGE_BYTES);
    assert_true(memory.region_bytes >= 4 * (PAGES - 1) * ETWAS_HUGE_PAGE_BYTES);
    assert_true(memory.region_huge_bytes >= memory.region_explicit_bytes);
    assert_true(memory.region_huge_bytes <= memory.region_resident_bytes);
    expect_free_pages(1);

    /* Raised beyond them, the pool goes on in others. */
    assert_int_equal(etwas_pool_set_maximum(place->buffers.pool, 3 * PAGES * BUFFERS_A_PAGE),
                     3 * PAGES * BUFFERS_A_PAGE);
    log_and_end(session, path);
    expect_free_pages(PAGES + 1);
}

static void where_pages_are_few_they_hold_the_minimum(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session;

    (void)state;
    have_free_pages(1);
    session = start(path, BUFFERS_A_PAGE, 4 * BUFFERS_A_PAGE);
    assert_int_equal(memory_of(session).region_explicit_bytes, ETWAS_HUGE_PAGE_BYTES);
    expect_free_pages(0);
    log_and_end(session, path);
    expect_free_pages(1);
}

/* A flight recorder, all in explicit pages, and a session that did not ask, in none. */
static void only_who_asks_gets_explicit_pages(void **state)
{
    etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .buffer_size_kb = BUFFER_KB,
        .minimum_buffers = 2 * BUFFERS_A_PAGE,
    };

    (void)state;
    have_free_pages(4);
    for (int asks = 0; asks < 2; asks++) {
        etwas_trace_handle session;
        etwas_session_memory memory;
        struct writer *writer;
        etwas_session_counts counts;

        options.large_pages = asks == 1;
        session = start_session(NULL, &options);
        memory = memory_of(session);
        assert_int_equal(memory.region_explicit_bytes, asks * 2 * ETWAS_HUGE_PAGE_BYTES);
        expect_free_pages(4 - asks * 2);
        if (asks == 1) {
            /* The rest is room for what windows may need. */
            assert_int_equal(memory.region_bytes, 4 * memory.region_explicit_bytes);
            assert_int_equal(memory.region_huge_bytes, memory.region_explicit_bytes);
        }
        writer = writer_new(&(struct writer_options){
            .session = session, .events = EVENTS, .largest_payload = 1000});
        while (writer_log(writer) != ERROR_MORE_DATA) {
        }
        expect_recorder_is_exact(session, folder_path("snapshot.etl"));
        stop_session(session, &counts);
        expect_exact_account(session, &counts);
        writers_forget();
    }
}

static void without_explicit_pages_a_session_does_with_what_there_is(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_memory memory;
    etwas_trace_handle session;

    (void)state;
    if (free_pages() > 0) {
        have_free_pages(0);
    }
    session = start(path, 2 * BUFFERS_A_PAGE, 4 * BUFFERS_A_PAGE);
    memory = memory_of(session);
    assert_int_equal(memory.region_explicit_bytes, 0);
    assert_true(memory.region_huge_bytes <= memory.region_resident_bytes);
    log_and_end(session, path);
}

static bool never_transparent(void)
{
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    char line[128] = "[never]";

    if (file != NULL) {
        (void)!fgets(line, sizeof line, file);
        (void)fclose(file);
    }
    return strstr(line, "[never]") != NULL;
}

/* The sum the kernel keeps of the whole process is told by another file than the one we read. */
static void what_lies_in_transparent_pages_is_what_the_system_counts(void **state)
{
    const size_t bytes = 16 * MIB;
    static const char rollup[] = "/proc/self/smaps_rollup";
    struct etwas_memory memory;
    long before_kb = number_in(rollup, "AnonHugePages:");

    (void)state;
    if (is_sanitized || before_kb < 0) {
        print_message(
            "skipped: the kernel does not count large pages, or a sanitizer maps the memory\n");
        skip();
    }
    if (free_pages() > 0) {
        have_free_pages(0);
    }
    for (int forbidden = 0; forbidden < 2; forbidden++) {
        uint64_t huge;

        assert_int_equal(prctl(PR_SET_THP_DISABLE, forbidden, 0, 0, 0), 0);
        assert_true(etwas_memory_create_huge(&memory, bytes, bytes, bytes));
        assert_int_equal(memory.explicit_bytes, 0);
        assert_int_equal(etwas_memory_huge_bytes(&memory), 0);
        assert_true(etwas_memory_populate(memory.region, bytes));
        huge = etwas_memory_huge_bytes(&memory);
        assert_int_equal(huge / 1024, number_in(rollup, "AnonHugePages:") - before_kb);
        /* The system finds one of eight pages, unless it is forbidden to. */
        assert_int_equal(huge != 0, forbidden == 0 && !never_transparent());
        etwas_memory_destroy(&memory);
    }
    assert_int_equal(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0);
}

/* ---- fork ------------------------------------------------------------------------------------ */

static pid_t forked = -1;

static void fork_once(enum etwas_testpoint point)
{
    if (point == ETWAS_POINT_RESERVED && forked < 0) {
        etwas_testpoint_set(NULL);
        forked = fork();
    }
}

/* I7: as where a region is wiped on fork. */
static void a_child_that_is_forked_inside_a_record_finds_zeroes_where_explicit_pages_were(
    void **state)
{
    const etwas_session_options options = {
        .buffer_size_kb = BUFFER_KB, .maximum_buffers = BUFFERS_A_PAGE, .large_pages = true};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session;
    etwas_session_counts counts;
    struct writer *writer;
    uint8_t *region;
    uint32_t code;
    int status;

    (void)state;
    have_free_pages(1);
    session = start_shared_session(path, &options);
    assert_int_equal(memory_of(session).region_explicit_bytes, ETWAS_HUGE_PAGE_BYTES);
    region = inside_of(session)->buffers.pool->memory.region;
    writer = writer_new(&(struct writer_options){.session = session, .events = EVENTS});
    assert_int_equal(writer_log_bytes(writer, 500), ERROR_SUCCESS);
    forked = -1;
    etwas_testpoint_set(fork_once);
    code = writer_log_bytes(writer, 500);
    if (forked == 0) {
        /*
         * The child has finished its record in its own pages: behind the parent's, which is not
         * there.
         */
        bool zeroed = region[ETWAS_ETL_BUFFER_HEADER_BYTES + 16] == 0;

        _exit(zeroed && writer_log_bytes(writer, 500) == ERROR_INVALID_HANDLE ? 0 : 1);
    }
    assert_true(forked > 0);
    assert_int_equal(code, ERROR_SUCCESS);
    assert_int_equal(waitpid(forked, &status, 0), forked);
    assert_int_equal(status, 0);
    while (writer_log_bytes(writer, 500) != ERROR_MORE_DATA) {
    }
    stop_session(session, &counts);
    expect_file_reads_back(session, path, &counts);
    writers_forget();
}

#define PAGES_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, restore_pages)

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        PAGES_TEST(explicit_pages_hold_what_may_come_into_use_and_go_back_at_the_end),
        PAGES_TEST(where_pages_are_few_they_hold_the_minimum),
        PAGES_TEST(only_who_asks_gets_explicit_pages),
        PAGES_TEST(without_explicit_pages_a_session_does_with_what_there_is),
        PAGES_TEST(what_lies_in_transparent_pages_is_what_the_system_counts),
        PAGES_TEST(a_child_that_is_forked_inside_a_record_finds_zeroes_where_explicit_pages_were),
    };

    choose_tests(argument_count, arguments);
    return RUN_WITH_EACH_PROTOCOL(tests);
}
