/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The file of a descriptor, and where it reads and writes; what is not known is reported as
 * unknown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "system/names/file_calls.h"
#include "system/names/open_files.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

enum {
    PROCESS = 100,
    OTHER = 101,
    NOW = 1000,
};

static struct etwas_open_file *bind(struct etwas_open_files *files, uint32_t process_id,
                                    uint32_t descriptor, int64_t time_ns)
{
    return etwas_open_files_bind(files, process_id, descriptor, etwas_open_files_number(files),
                                 time_ns);
}

static void a_file_is_known_until_its_descriptor_is_closed(void **state)
{
    struct etwas_open_files files;
    uint64_t first;

    (void)state;
    assert_true(etwas_open_files_init(&files));
    first = bind(&files, PROCESS, 3, NOW)->number;
    assert_non_null(bind(&files, PROCESS, 4, NOW));
    assert_non_null(bind(&files, OTHER, 3, NOW));
    assert_int_equal(etwas_open_files_find(&files, PROCESS, 3)->number, first);
    etwas_open_files_close(&files, PROCESS, 3, 3, NOW + 1);
    assert_null(etwas_open_files_find(&files, PROCESS, 3));
    assert_int_not_equal(bind(&files, PROCESS, 3, NOW + 2)->number, first);
    etwas_open_files_close(&files, PROCESS, 0, UINT32_MAX, NOW + 3);
    assert_null(etwas_open_files_find(&files, PROCESS, 3));
    assert_null(etwas_open_files_find(&files, PROCESS, 4));
    assert_non_null(etwas_open_files_find(&files, OTHER, 3));
    etwas_open_files_forget(&files);
    assert_null(etwas_open_files_find(&files, OTHER, 3));
    assert_null(files.waiting);
    etwas_open_files_free(&files);
}

/* What happened before it was looked at is known already. */
static void records_from_before_a_scan_change_nothing(void **state)
{
    struct etwas_open_files files;
    uint64_t number;

    (void)state;
    assert_true(etwas_open_files_init(&files));
    number = bind(&files, PROCESS, 3, NOW)->number;
    etwas_open_files_close(&files, PROCESS, 3, 3, NOW - 1);
    etwas_open_files_close(&files, PROCESS, 0, UINT32_MAX, NOW - 1);
    assert_null(bind(&files, PROCESS, 3, NOW - 1));
    assert_int_equal(etwas_open_files_find(&files, PROCESS, 3)->number, number);
    etwas_open_files_free(&files);
}

static void a_closed_file_does_not_wait_for_its_name(void **state)
{
    struct etwas_open_files files;

    (void)state;
    assert_true(etwas_open_files_init(&files));
    for (uint32_t descriptor = 0; descriptor < 3; descriptor++) {
        assert_non_null(bind(&files, PROCESS, descriptor, NOW));
    }
    etwas_open_files_close(&files, PROCESS, 1, 1, NOW);
    assert_int_equal(files.waiting->descriptor, 2);
    assert_int_equal(files.waiting->next_waiting->descriptor, 0);
    assert_null(files.waiting->next_waiting->next_waiting);
    etwas_open_file_stop_waiting(files.waiting);
    assert_int_equal(files.waiting->descriptor, 0);
    etwas_open_files_free(&files);
}

static void as_many_are_known_as_there_is_room_for(void **state)
{
    struct etwas_open_files files;

    (void)state;
    assert_true(etwas_open_files_init(&files));
    for (uint32_t descriptor = 0; descriptor < ETWAS_OPEN_FILES_MOST; descriptor++) {
        assert_non_null(bind(&files, PROCESS + descriptor % 7, descriptor, NOW));
    }
    assert_non_null(etwas_open_files_find(&files, PROCESS, 0));
    assert_non_null(bind(&files, OTHER, ETWAS_OPEN_FILES_MOST, NOW));
    assert_null(etwas_open_files_find(&files, PROCESS, 0));
    assert_int_equal(files.by_descriptor.count, 1);
    etwas_open_files_free(&files);
}

/* ---- positions ------------------------------------------------------------------------------- */

static struct etwas_open_file *open_at_begin(struct etwas_open_files *files)
{
    struct etwas_open_file *file;

    assert_true(etwas_open_files_init(files));
    file = bind(files, PROCESS, 3, NOW);
    assert_int_equal(file->position, ETWAS_FILE_AT_POSITION);
    file->position = 0;
    return file;
}

/* What a call finds that reads or writes so much. */
static int64_t step(struct etwas_open_file *file, bool is_write, int64_t moved)
{
    int64_t offset = etwas_open_file_begin(file, is_write);

    etwas_open_file_end(file, moved);
    return offset;
}

static void seek(struct etwas_open_file *file, int64_t position)
{
    (void)etwas_open_file_begin(file, false);
    etwas_open_file_seek(file, position);
}

static void a_position_goes_with_what_is_read_and_written(void **state)
{
    struct etwas_open_files files;
    struct etwas_open_file *file = open_at_begin(&files);

    (void)state;
    assert_int_equal(step(file, false, 100), 0);
    assert_int_equal(step(file, true, -5), 100); /* it failed */
    assert_int_equal(step(file, true, 50), 100);
    seek(file, 7);
    assert_int_equal(step(file, false, 0), 7);
    seek(file, -22);
    assert_int_equal(step(file, false, INT64_MAX), 7);
    assert_int_equal(step(file, false, 1), ETWAS_FILE_AT_POSITION);
    etwas_open_files_free(&files);
}

static void the_order_of_overlapping_calls_is_unknown(void **state)
{
    struct etwas_open_files files;
    struct etwas_open_file *file = open_at_begin(&files);

    (void)state;
    assert_int_equal(etwas_open_file_begin(file, false), 0);
    assert_int_equal(etwas_open_file_begin(file, false), ETWAS_FILE_AT_POSITION);
    etwas_open_file_end(file, 10);
    etwas_open_file_seek(file, 5); /* before the read, or after it */
    assert_int_equal(step(file, false, 1), ETWAS_FILE_AT_POSITION);
    seek(file, 30);
    assert_int_equal(step(file, false, 1), 30);
    etwas_open_files_free(&files);
}

static void what_others_move_is_not_known(void **state)
{
    struct etwas_open_files files;
    struct etwas_open_file *file = open_at_begin(&files);

    (void)state;
    etwas_open_files_share(&files, OTHER);
    assert_int_equal(step(file, false, 1), 0);
    etwas_open_files_share(&files, PROCESS);
    seek(file, 30);
    assert_int_equal(step(file, false, 1), ETWAS_FILE_AT_POSITION);
    etwas_open_files_free(&files);
}

static void what_is_appended_goes_to_the_end(void **state)
{
    struct etwas_open_files files;
    struct etwas_open_file *file = open_at_begin(&files);

    (void)state;
    file->is_append = true;
    assert_int_equal(step(file, false, 10), 0);
    assert_int_equal(step(file, false, 10), 10);
    assert_int_equal(step(file, true, 10), ETWAS_FILE_AT_END);
    assert_int_equal(step(file, false, 10), ETWAS_FILE_AT_POSITION);
    etwas_open_files_free(&files);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void calls_are_known_by_their_numbers(void **state)
{
    (void)state;
    assert_int_equal(etwas_file_call_of(SYS_read)->type, ETWAS_FILE_READ);
    assert_int_equal(etwas_file_call_of(SYS_pwrite64)->offset, 4);
    assert_int_equal(etwas_file_call_of(SYS_openat)->effect, ETWAS_FILE_OPENS);
    assert_int_equal(etwas_file_call_of(SYS_renameat2)->type, ETWAS_FILE_RENAME);
    assert_null(etwas_file_call_of(SYS_getpid));
    assert_null(etwas_file_call_of(-1));
    assert_null(etwas_file_call_of(INT64_MAX));
}

/* ---- the filter, as the kernel reads it ------------------------------------------------------ */

static bool read_or(const char **at, int64_t id, uint32_t *comparisons, bool counts);

static bool read_comparison(const char **at, int64_t id, uint32_t *comparisons, bool counts)
{
    char how[3] = "";
    long number;
    int length = 0;

    if (**at == '(') {
        bool holds;

        ++*at;
        holds = read_or(at, id, comparisons, counts);
        assert_int_equal(**at, ')');
        ++*at;
        return holds;
    }
    assert_int_equal(sscanf(*at, "id %2[<>=] %ld%n", how, &number, &length), 2);
    *at += length;
    *comparisons += counts;
    return strcmp(how, "<") == 0    ? id < number
           : strcmp(how, ">=") == 0 ? id >= number
           : strcmp(how, "<=") == 0 ? id <= number
                                    : id == number;
}

static bool read_and(const char **at, int64_t id, uint32_t *comparisons, bool counts)
{
    bool holds = read_comparison(at, id, comparisons, counts);

    while (strncmp(*at, " && ", 4) == 0) {
        *at += 4;
        holds = read_comparison(at, id, comparisons, counts && holds) && holds;
    }
    return holds;
}

static bool read_or(const char **at, int64_t id, uint32_t *comparisons, bool counts)
{
    bool holds = read_and(at, id, comparisons, counts);

    while (strncmp(*at, " || ", 4) == 0) {
        *at += 4;
        holds = read_and(at, id, comparisons, counts && !holds) || holds;
    }
    return holds;
}

/* No id is compared often. */
static void the_filter_lets_them_pass_and_no_other(void **state)
{
    (void)state;
    etwas_file_calls_make_filter();
    for (int64_t id = -1; id < 1000; id++) {
        const char *at = etwas_file_calls_filter;
        uint32_t comparisons = 0;

        assert_int_equal(read_or(&at, id, &comparisons, true), etwas_file_call_of(id) != NULL);
        assert_int_equal(*at, 0);
        assert_in_range(comparisons, 1, 14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_known_until_its_descriptor_is_closed),
        cmocka_unit_test(records_from_before_a_scan_change_nothing),
        cmocka_unit_test(a_closed_file_does_not_wait_for_its_name),
        cmocka_unit_test(as_many_are_known_as_there_is_room_for),
        cmocka_unit_test(a_position_goes_with_what_is_read_and_written),
        cmocka_unit_test(the_order_of_overlapping_calls_is_unknown),
        cmocka_unit_test(what_others_move_is_not_known),
        cmocka_unit_test(what_is_appended_goes_to_the_end),
        cmocka_unit_test(calls_are_known_by_their_numbers),
        cmocka_unit_test(the_filter_lets_them_pass_and_no_other),
    };

    return cmocka_run_group_tests_name("system open files", tests, NULL, NULL);
}
