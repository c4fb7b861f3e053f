/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Execs whose arguments a probe reports, from made-up sequences: each is emitted once, with what is
 * known of it.
 */
#include <stdlib.h>
#include <string.h>

#include "etl/layout.h"
#include "system/made_up_processes.h"
#include "system/names/bpf_probes.h"

/* Process 10 runs, as a copy of process 1, since 1000. */
static void begin_with_arguments(void)
{
    begin();
    processes.has_arguments = true;
    fork_at(1000, 1, 10, 10);
    expect("1000@3 by 1 Start 10 of 1, sh [sh -c x]\n");
}

/* What /proc says of it. */
static void show(const char *name, const char *command_line)
{
    machine[1] = (struct made_up){.id = 10,
                                  .parent_id = 1,
                                  .threads = {10},
                                  .start_tick = 10,
                                  .name = name,
                                  .command_line = command_line};
}

static void an_exec_is_emitted_once_its_arguments_are_known(void **state)
{
    (void)state;
    begin_with_arguments();
    show("ls", "of another exec");
    name_at(1001, 10, 10, "ls", true);
    expect("");
    start_at(1002, 10, "ls", "ls\0-l\0", 7);
    expect("1002@3 by 1 DCStart 10 of 1, ls <ls -l > exec\n");
    exit_at(1003, 10, 10);
    expect("1003@3 by 1 End 10 of 1, ls <ls -l >\n");
}

static void also_if_the_process_is_gone_or_its_name_was_lost(void **state)
{
    (void)state;
    begin_with_arguments();
    start_at(1001, 10, "ls", "ls\0-l", 6);
    expect("1001@3 by 1 DCStart 10 of 1, ls <ls -l> exec\n");
    start_at(1002, 11, "ls", "ls\0-l", 6);
    start_at(1003, 0, "ls", "ls\0-l", 6);
    start_at(999, 10, "ls", "ls\0-l", 6);
    expect("");
}

static void arguments_that_the_probe_could_not_read_are_read_from_proc(void **state)
{
    (void)state;
    begin_with_arguments();
    show("ls", "ls -a");
    name_at(1001, 10, 10, "ls", true);
    start_at(1002, 10, "ls", "", 0);
    expect("1002@3 by 1 DCStart 10 of 1, ls [ls -a] exec\n");
    machine[1].id = 0;
    name_at(1003, 10, 10, "ls", true);
    start_at(1004, 10, "ls", "", 0);
    expect("1004@3 by 1 DCStart 10 of 1, ls exec\n");
}

static void an_exec_without_a_report_is_emitted_at_the_end(void **state)
{
    (void)state;
    begin_with_arguments();
    name_at(1001, 10, 10, "ls", true);
    name_at(1002, 10, 10, "cat", true);
    expect("1002@3 by 1 DCStart 10 of 1, ls exec\n");
    exit_at(1003, 10, 10);
    expect("1003@3 by 1 DCStart 10 of 1, cat exec\n"
           "1003@3 by 1 End 10 of 1, cat\n");
    fork_at(1004, 1, 10, 10);
    name_at(1005, 10, 10, "vi", true);
    show("vi", "vi x");
    machine[1].start_tick = 10;
    now_ns = 1100;
    forget();
    etwas_processes_finish(&processes);
    expect("1100* DCStart 10 of 1, vi [vi x] exec\n"
           "1100* DCEnd 10 of 1, vi [vi x]\n"
           "1100* DCEnd 1 of 0, sh [sh -c x]\n");
}

static void an_exec_with_lost_arguments_is_read_from_proc(void **state)
{
    (void)state;
    begin_with_arguments();
    show("ls", "ls -a");
    name_at(1001, 10, 10, "ls", true);
    now_ns = 1100;
    assert_false(etwas_processes_find_lost(&processes, 1050));
    expect("");
    assert_true(etwas_processes_find_lost(&processes, 1100));
    expect("1100* DCStart 10 of 1, ls [ls -a] exec\n");
    /* An exec that began after the scan is still under way. */
    now_ns = 1200;
    assert_false(etwas_processes_find_lost(&processes, 1200));
    name_at(1201, 10, 10, "ls", true);
    assert_true(etwas_processes_find_lost(&processes, 1202));
    expect("");
    start_at(1203, 10, "ls", "ls", 3);
    expect("1203@3 by 1 DCStart 10 of 1, ls <ls> exec\n");
}

/* Whose end was in the rings then, though not read. */
static void a_process_read_from_proc_ends_after_that(void **state)
{
    (void)state;
    begin_with_arguments();
    show("ls", "ls -a");
    name_at(1001, 10, 10, "ls", true);
    now_ns = 1100;
    assert_false(etwas_processes_find_lost(&processes, 1100));
    now_ns = 1200;
    assert_true(etwas_processes_find_lost(&processes, 1150));
    expect("1200* DCStart 10 of 1, ls [ls -a] exec\n");
    now_ns = 1300;
    exit_at(1160, 10, 10);
    expect("1300* End 10 of 1, ls [ls -a]\n");
}

/* ---- samples --------------------------------------------------------------------------------- */

static void a_sample_is_not_trusted(void **state)
{
    static const char said[] = "\7\0\0\0\0\0\0\0name\0\0\0\0\0\0\0\0\0\0\0\0a\0b\0ccc";
    struct etwas_process_record process_record;
    struct etwas_sample sample = {.origin = {.process_id = 4, .thread_id = 5}};

    (void)state;
    for (uint32_t bytes = 0; bytes <= sizeof said - 1; bytes++) {
        uint8_t *raw = malloc(bytes + 1);

        memcpy(raw, said, bytes);
        sample.raw = raw;
        sample.raw_bytes = bytes;
        assert_int_equal(etwas_exec_decode(&sample, &process_record), bytes == sizeof said - 1);
        if (bytes == 8 + 16 + 7) {
            assert_int_equal(process_record.exec.bytes, 7);
            assert_false(process_record.exec.is_cut);
            assert_memory_equal(process_record.exec.arguments, "a\0b\0ccc", 7);
            assert_string_equal(process_record.exec.name, "name");
            assert_int_equal(process_record.process_id, 4);
            memset(raw + 8, 'x', 16);
            assert_false(etwas_exec_decode(&sample, &process_record));
            memset(raw, 0xFF, 8);
            assert_false(etwas_exec_decode(&sample, &process_record));
        }
        free(raw);
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static void a_line_that_a_buffer_has_no_room_for_is_cut(void **state)
{
    static struct etwas_record_builder small = {.room = 200};
    const struct etwas_process_class_event exec = {.type = ETWAS_PROCESS_RUNDOWN_START};
    struct etwas_process process = {.name = "x"};

    (void)state;
    for (uint32_t length = 0; length < 100; length++) {
        char line[100];
        const uint8_t *bytes;
        uint32_t flags;

        memset(line, 'y', length);
        line[length] = 0;
        etwas_process_set_command_line(&process, line, 0);
        bytes = etwas_process_class_make(&small, &process, &exec);
        memcpy(&flags, bytes + sizeof(struct etwas_etl_system_header) + 32, sizeof flags);
        /*
         * Before the line stand 32 + 70 bytes, behind it 4; there is room for 46 characters and a
         * 0.
         */
        assert_int_equal(flags, length <= 46 ? 0 : ETWAS_PROCESS_COMMAND_LINE_CUT);
        assert_true(small.bytes <= small.room);
    }
    etwas_process_forget_command_line(&process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_exec_is_emitted_once_its_arguments_are_known, end_test),
        cmocka_unit_test_teardown(also_if_the_process_is_gone_or_its_name_was_lost, end_test),
        cmocka_unit_test_teardown(arguments_that_the_probe_could_not_read_are_read_from_proc,
                                  end_test),
        cmocka_unit_test_teardown(an_exec_without_a_report_is_emitted_at_the_end, end_test),
        cmocka_unit_test_teardown(an_exec_with_lost_arguments_is_read_from_proc, end_test),
        cmocka_unit_test_teardown(a_process_read_from_proc_ends_after_that, end_test),
        cmocka_unit_test(a_sample_is_not_trusted),
        cmocka_unit_test(a_line_that_a_buffer_has_no_room_for_is_cut),
    };

    return cmocka_run_group_tests_name("process execs", tests, NULL, NULL);
}
