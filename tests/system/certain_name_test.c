/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The name of an open file is emitted if it was read while it was certainly that file's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock/clock.h"
#include "etl/layout.h"
#include "system/names/file_names.h"

enum {
    LONGEST = 512,
    NUMBER_BYTES = 8,
};

/* A receiver of names that stores the last one. */
struct listener {
    struct etwas_emitter emitter;
    uint32_t count;
    uint64_t file;
    char name[LONGEST];
};

static void listen(struct etwas_emitter *emitter, uint32_t slot,
                   const struct etwas_stamped_record *record)
{
    struct listener *listener = (struct listener *)emitter;
    const struct etwas_etl_perfinfo_header *header = record->bytes;
    const uint8_t *payload = (const uint8_t *)(header + 1);
    size_t length = (header->size - sizeof *header - NUMBER_BYTES) / 2;

    (void)slot;
    assert_in_range(length, 1, LONGEST);
    memcpy(&listener->file, payload, NUMBER_BYTES);
    for (size_t index = 0; index < length; index++) {
        listener->name[index] = (char)payload[NUMBER_BYTES + 2 * index];
    }
    listener->count++;
}

struct bench {
    struct listener listener;
    struct etwas_record_builder record;
    struct etwas_event_group_host host;
    struct etwas_open_files files;
    int descriptor;
    uint64_t number;
};

static struct bench bench;

static void reopen(const char *path)
{
    int opened = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(opened >= 0);
    if (bench.descriptor < 0) {
        bench.descriptor = opened;
    } else {
        assert_int_equal(dup3(opened, bench.descriptor, O_CLOEXEC), bench.descriptor);
        (void)close(opened);
    }
}

static void bind(void)
{
    bench.number = etwas_open_files_number(&bench.files);
    assert_non_null(etwas_open_files_bind(&bench.files, (uint32_t)getpid(),
                                          (uint32_t)bench.descriptor, bench.number,
                                          etwas_clock_qpc()));
}

static void drained(int64_t until_ns)
{
    etwas_file_names_drained(&bench.files, &bench.host, until_ns);
}

static void close_at(int64_t time_ns)
{
    etwas_open_files_close(&bench.files, (uint32_t)getpid(), (uint32_t)bench.descriptor,
                           (uint32_t)bench.descriptor, time_ns);
}

static int begin(void **state)
{
    (void)state;
    bench = (struct bench){.descriptor = -1, .record.room = ETWAS_RECORD_MOST_BYTES};
    bench.listener.emitter.receive = listen;
    bench.host.emitter = &bench.listener.emitter;
    bench.host.record = &bench.record;
    assert_true(etwas_open_files_init(&bench.files));
    reopen("/dev/null");
    bind();
    return 0;
}

static int end(void **state)
{
    (void)state;
    etwas_open_files_free(&bench.files);
    return close(bench.descriptor);
}

static void expect_emitted(const char *name)
{
    assert_int_equal(bench.listener.count, 1);
    assert_int_equal(bench.listener.file, bench.number);
    assert_string_equal(bench.listener.name, name);
}

static void a_name_is_emitted_once_all_events_before_its_reading_are_handled(void **state)
{
    int64_t before_ns = etwas_clock_qpc();

    (void)state;
    drained(before_ns);
    drained(before_ns);
    assert_int_equal(bench.listener.count, 0);
    drained(etwas_clock_qpc());
    expect_emitted("/dev/null");
    drained(INT64_MAX);
    expect_emitted("/dev/null");
}

/* What is looked up is another file by then. */
static void a_file_closed_before_its_name_was_read_gets_none(void **state)
{
    int64_t closed_ns = etwas_clock_qpc();

    (void)state;
    reopen("/dev/zero");
    drained(0);
    close_at(closed_ns);
    drained(INT64_MAX);
    assert_int_equal(bench.listener.count, 0);
}

static void a_file_closed_after_its_name_was_read_gets_it(void **state)
{
    (void)state;
    drained(0);
    close_at(etwas_clock_qpc());
    reopen("/dev/zero");
    drained(0);
    expect_emitted("/dev/null");
}

static void no_name_is_emitted_after_a_loss(void **state)
{
    (void)state;
    drained(0);
    etwas_open_files_forget(&bench.files);
    drained(INT64_MAX);
    assert_int_equal(bench.listener.count, 0);
}

/* Nor looked for again and again. */
static void what_is_not_there_has_none(void **state)
{
    (void)state;
    (void)close(bench.descriptor);
    drained(0);
    assert_null(bench.files.waiting);
    bench.descriptor = -1;
    reopen("/dev/zero");
    drained(INT64_MAX);
    assert_int_equal(bench.listener.count, 0);
}

/* What is known by its calls keeps its number. */
static void what_is_known_is_not_found_again(void **state)
{
    const uint32_t process_id = (uint32_t)getpid();

    (void)state;
    etwas_file_names_scan(&bench.files, &bench.host);
    assert_int_equal(
        etwas_open_files_find(&bench.files, process_id, (uint32_t)bench.descriptor)->number,
        bench.number);
    assert_non_null(etwas_open_files_find(&bench.files, process_id, STDOUT_FILENO));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_name_is_emitted_once_all_events_before_its_reading_are_handled, begin, end),
        cmocka_unit_test_setup_teardown(a_file_closed_before_its_name_was_read_gets_none, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_file_closed_after_its_name_was_read_gets_it, begin, end),
        cmocka_unit_test_setup_teardown(no_name_is_emitted_after_a_loss, begin, end),
        cmocka_unit_test_setup_teardown(what_is_not_there_has_none, begin, end),
        cmocka_unit_test_setup_teardown(what_is_known_is_not_found_again, begin, end),
    };

    return cmocka_run_group_tests_name("system certain name", tests, NULL, NULL);
}
