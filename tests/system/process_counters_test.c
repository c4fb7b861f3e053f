/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What processes use: texts of /proc, made up and cut, and the records of made-up processes.
 */
#include "system/made_up_processes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char status_text[] = "Name:\tsh\n"
                                  "VmPeak:\t   10 kB\n"
                                  "VmSize:\t    9 kB\n"
                                  "VmHWM:\t    8 kB\n"
                                  "VmRSS:\t    7 kB\n"
                                  "RssAnon:\t    6 kB\n"
                                  "VmSwap:\t    5 kB\n";
static const char io_text[] = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\n"
                              "write_bytes: 6\ncancelled_write_bytes: 7\n";

static void texts_of_proc_are_parsed(void **state)
{
    struct etwas_process_counters counters = {0};

    (void)state;
    etwas_process_parse_faults("42 (a) S 9 9) S 7 42 9 0 -1 4194560 100 2 30 4 5", &counters);
    etwas_process_parse_memory(status_text, &counters);
    etwas_process_parse_io(io_text, &counters);
    assert_int_equal(counters.page_faults, 130);
    assert_int_equal(counters.peak_virtual_bytes, 10240);
    assert_int_equal(counters.virtual_bytes, 9216);
    assert_int_equal(counters.peak_resident_bytes, 8192);
    assert_int_equal(counters.resident_bytes, 7168);
    assert_int_equal(counters.anonymous_bytes, 6144);
    assert_int_equal(counters.swapped_bytes, 5120);
    assert_int_equal(counters.characters_read, 1);
    assert_int_equal(counters.characters_written, 2);
    assert_int_equal(counters.bytes_read, 5);
    assert_int_equal(counters.bytes_written, 6);
}

/* Each text is in memory of its own, so that a read beyond it is found. */
static void a_text_that_is_cut_says_less(void **state)
{
    static const char *const texts[] = {"42 (sh) S 7 42 9 0 -1 4194560 100 2 30", status_text,
                                        io_text};
    struct etwas_process_counters counters = {0};

    (void)state;
    for (size_t index = 0; index < 3; index++) {
        for (size_t length = 0; length < strlen(texts[index]); length++) {
            char *cut = strndup(texts[index], length);

            etwas_process_parse_faults(cut, &counters);
            etwas_process_parse_memory(cut, &counters);
            etwas_process_parse_io(cut, &counters);
            free(cut);
        }
    }
    assert_in_range(counters.page_faults, 0, 103);
}

static void our_own_are_there(void **state)
{
    struct etwas_process_counters counters;

    (void)state;
    assert_true(etwas_process_counters_read((uint32_t)getpid(), &counters));
    assert_in_range(counters.page_faults, 1, UINT32_MAX);
    assert_in_range(counters.resident_bytes, 1, counters.peak_resident_bytes);
    assert_in_range(counters.virtual_bytes, counters.resident_bytes, counters.peak_virtual_bytes);
    assert_in_range(counters.anonymous_bytes, 1, counters.resident_bytes);
    assert_in_range(counters.characters_read, 1, UINT64_MAX);
    assert_in_range(counters.handles, 1, 1000);
    assert_false(etwas_process_counters_read(UINT32_MAX, &counters));
}

static void keep_exit(struct etwas_exits *exits, uint32_t thread_id, uint64_t faults, uint64_t peak)
{
    exits->kept[thread_id % ETWAS_EXITS_KEPT] = (struct etwas_exit){
        .thread_id = thread_id,
        .counters = {.page_faults = faults, .peak_resident_bytes = peak, .characters_read = 5}};
}

static void the_threads_of_a_process_are_added_up(void **state)
{
    static struct etwas_exits exits = {.socket = -1};

    (void)state;
    begin_with(ETWAS_EMIT_COUNTERS);
    expect("50* PerfCtrRundown 1 with 0 faults, peak 0, 0 read\n");
    processes.exits = &exits;
    keep_exit(&exits, 10, 100, 4096);
    keep_exit(&exits, 11, 20, 8192);
    keep_exit(&exits, 12, 3, 1);
    fork_at(100, 1, 10, 10);
    fork_at(101, 10, 10, 11);
    fork_at(102, 10, 10, 12);
    exit_at(103, 10, 10);
    exit_at(104, 10, 11);
    exit_at(105, 10, 12);
    expect("105@3 by 1 PerfCtr 10 with 123 faults, peak 8192, 15 read\n");
}

static void what_some_thread_counted_may_be_missing(void **state)
{
    static struct etwas_exits exits = {.socket = -1};

    (void)state;
    begin_with(ETWAS_EMIT_COUNTERS);
    forget();
    processes.exits = &exits;
    keep_exit(&exits, 10, 100, 4096);
    fork_at(100, 1, 10, 10);
    fork_at(101, 10, 10, 11);
    exit_at(103, 10, 11);
    exit_at(104, 10, 10);
    keep_exit(&exits, 10, 7, 1);
    fork_at(105, 1, 10, 10);
    fork_at(106, 1, 10, 10); /* its end was lost */
    expect("104@3 by 1 PerfCtr 10 with 100 faults, peak 4096, 5 read at least\n"
           "106@3 by 1 PerfCtr 10 with 7 faults, peak 1, 5 read\n");
}

static void the_rundown_at_the_end_has_counters(void **state)
{
    (void)state;
    begin_with(ETWAS_EMIT_COUNTERS);
    forget();
    machine[0].page_faults = 42;
    now_ns = 200;
    name_at(100, 1, 1, "cat", true);
    etwas_processes_finish(&processes);
    expect("200* PerfCtrRundown 1 with 42 faults, peak 0, 0 read\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_proc_are_parsed),
        cmocka_unit_test(a_text_that_is_cut_says_less),
        cmocka_unit_test(our_own_are_there),
        cmocka_unit_test_teardown(the_threads_of_a_process_are_added_up, end_test),
        cmocka_unit_test_teardown(what_some_thread_counted_may_be_missing, end_test),
        cmocka_unit_test_teardown(the_rundown_at_the_end_has_counters, end_test),
    };

    return cmocka_run_group_tests_name("process counters", tests, NULL, NULL);
}
