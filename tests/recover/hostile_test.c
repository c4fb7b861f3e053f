/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A mapping that somebody has written to: what recovery counts is what a reader of the new file
 * gets, and one thing that cannot be costs itself alone.
 */
#include "recover/left.h"

#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "support/metadata.h"

/* ---- records --------------------------------------------------------------------------------- */

static void a_record_that_contradicts_itself_costs_itself(void **state)
{
    struct left left = left_with_events();
    const struct etwas_etl_system_header contradiction = {
        .version = ETWAS_ETL_EXTENSION_PEBS | ETWAS_ETL_EXTENSION_COUNTERS_MASK,
        .header_type = ETWAS_ETL_SYSTEM64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .size = LEFT_RECORD_BYTES,
    };
    etwas_recovered recovered;

    (void)state;
    memcpy(left_record(&left, 4), &contradiction, sizeof contradiction);
    recovered = left_recover(&left);
    assert_int_equal(recovered.events, LEFT_EVENTS - 1);
    assert_int_equal(recovered.unfinished, 1);
    assert_int_equal(recovered.damaged_buffers, 1);
    left_expect((const uint64_t[]){4}, 1);
}

/* A clock snapshot that nobody took would bend all times of the file. */
static void records_of_the_files_own_are_no_events(void **state)
{
    struct left left = left_with_events();
    uint8_t *record = left_record(&left, 7);
    etwas_recovered recovered;

    (void)state;
    memcpy(record + offsetof(struct etwas_etl_full_header, guid), &etwas_etl_own_class,
           sizeof etwas_etl_own_class);
    record[offsetof(struct etwas_etl_full_header, type)] = ETWAS_ETL_CLOCK_SNAPSHOT_TYPE;
    recovered = left_recover(&left);
    assert_int_equal(recovered.events, LEFT_EVENTS - 1);
    assert_int_equal(recovered.damaged_buffers, 1);
    left_expect((const uint64_t[]){7}, 1);
}

/* ---- beside the events ----------------------------------------------------------------------- */

static void damage_totals(struct left *left)
{
    uint8_t *totals = left_table(left, ETWAS_SHARED_FIRST) + left->head->first_bytes -
                      sizeof(struct etwas_etl_clock_trust_record) -
                      sizeof(struct etwas_etl_totals_record);

    totals[offsetof(struct etwas_etl_full_header, type)] = ETWAS_ETL_MESSAGE_FORMAT_TYPE;
}

static void damage_log_header(struct left *left)
{
    uint8_t *log = left_table(left, ETWAS_SHARED_FIRST) + ETWAS_ETL_LOG_HEADER_FILE_OFFSET;

    log[offsetof(struct etwas_etl_log_header64, start.pointer_bytes)] = 4;
}

static void lengthen_first(struct left *left)
{
    uint8_t *first = left_table(left, ETWAS_SHARED_FIRST);
    struct etwas_etl_buffer_header buffer;

    memcpy(first + left->head->first_bytes, left_record(left, 0), LEFT_RECORD_BYTES);
    left->head->first_bytes += LEFT_RECORD_BYTES;
    memcpy(&buffer, first, sizeof buffer);
    buffer.offset = buffer.saved_offset = buffer.current_offset = left->head->first_bytes;
    memcpy(first, &buffer, sizeof buffer);
}

static void a_buffer_0_that_is_none_is_made_anew(void **state)
{
    static void (*const damages[])(struct left *) = {damage_totals, damage_log_header,
                                                     lengthen_first};

    (void)state;
    for (size_t index = 0; index < sizeof damages / sizeof *damages; index++) {
        struct left left = left_with_events();
        etwas_recovered recovered;

        damages[index](&left);
        recovered = left_recover(&left);
        assert_int_equal(recovered.events, LEFT_EVENTS);
        left_expect(NULL, 0);
    }
}

/* Its totals say less. What else is in its buffer 0 is kept: the name under which it logged. */
static void a_buffer_0_of_an_older_build_is_taken(void **state)
{
    const uint32_t more = sizeof(uint64_t);
    struct left left = left_with_events();
    uint8_t *first = left_table(&left, ETWAS_SHARED_FIRST);
    uint8_t *clock = first + left.head->first_bytes - sizeof(struct etwas_etl_clock_trust_record);
    uint8_t *totals = clock - sizeof(struct etwas_etl_totals_record);
    const uint16_t size = sizeof(struct etwas_etl_totals_record) - sizeof(uint64_t);
    struct etwas_etl_buffer_header buffer;
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)folder_path("after.etl")};
    etwas_trace_information information;
    etwas_trace_handle trace;
    etwas_recovered recovered;

    (void)state;
    memcpy(totals, &size, sizeof size);
    memmove(clock - more, clock, sizeof(struct etwas_etl_clock_trust_record));
    left.head->first_bytes -= more;
    memcpy(&buffer, first, sizeof buffer);
    buffer.offset = buffer.saved_offset = buffer.current_offset = left.head->first_bytes;
    memcpy(first, &buffer, sizeof buffer);
    recovered = left_recover(&left);
    left_expect(NULL, 0);
    trace = OpenTraceA(&logfile);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_not_equal(logfile.LogfileHeader.LoggerName[0], 0);
    assert_int_equal(etwas_trace_query(trace, &information), ERROR_SUCCESS);
    assert_int_equal(information.ends, ETWAS_TRACE_ENDS_SESSION | ETWAS_TRACE_IS_RECOVERED);
    assert_int_equal(information.attempted_events, LEFT_EVENTS);
    assert_int_equal(recovered.attempted, LEFT_EVENTS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static struct metadata recovered_metadata(void)
{
    static struct metadata metadata;

    metadata = (struct metadata){0};
    metadata_read(folder_path("after.etl"), &metadata);
    return metadata;
}

/* As in the session's own files, for which there is no buffer for it either. */
static void a_description_larger_than_a_buffer_is_left_out(void **state)
{
    enum {
        MANY_FIELDS = 200
    };
    uint32_t first = describe_one(3);
    uint32_t large = describe_one(MANY_FIELDS);
    uint32_t last = describe_one(3);
    struct left left = left_with_events();
    etwas_recovered recovered = left_recover(&left);
    struct metadata metadata = recovered_metadata();

    (void)state;
    assert_int_equal(recovered.schemas_left_out, 1);
    assert_int_equal(recovered.events, LEFT_EVENTS);
    assert_int_equal(metadata.events, LEFT_EVENTS);
    assert_int_equal(metadata.classes[first], 1);
    assert_int_equal(metadata.maps[first], 1);
    assert_int_equal(metadata.classes[large], 0);
    assert_int_equal(metadata.maps[large], 1); /* a record of its own */
    assert_int_equal(metadata.classes[last], 1);
    assert_int_equal(metadata.maps[last], 1);
    assert_int_equal(recovered.schemas, 5);
}

/* The mapping is that of the test before, and its descriptions are changed. */
static void what_is_no_description_is_left_out(void **state)
{
    struct left left = left_with_events();
    uint64_t had = left_recover(&left).schemas;
    etwas_recovered recovered;
    uint8_t *schemas;

    (void)state;
    assert_in_range(had, 3, 1000);
    left = left_with_events();
    schemas = left_table(&left, ETWAS_SHARED_SCHEMAS);
    memcpy(schemas + offsetof(struct etwas_etl_full_header, guid), &etwas_etl_own_class,
           sizeof etwas_etl_own_class);
    schemas[offsetof(struct etwas_etl_full_header, type)] = ETWAS_ETL_CLOCK_SNAPSHOT_TYPE;
    recovered = left_recover(&left);
    assert_int_equal(recovered.schemas, had - 1);
    assert_int_equal(recovered.schemas_left_out, 2);
    assert_int_equal(recovered_metadata().events, LEFT_EVENTS);
    left = left_with_events();
    schemas = left_table(&left, ETWAS_SHARED_SCHEMAS);
    memset(schemas, 0, 2); /* where it ends is not known */
    recovered = left_recover(&left);
    assert_int_equal(recovered.schemas, 0);
    assert_int_equal(recovered.schemas_left_out, 1);
    assert_int_equal(recovered_metadata().events, LEFT_EVENTS);
}

/* ---- where it lay --------------------------------------------------------------------------- */

/* What a build before wrote has no such fields; and what they say must not be believed. */
static void a_head_without_a_place_and_one_with_a_wrong_place_are_read(void **state)
{
    struct left left = left_with_events();
    etwas_recovered recovered;

    (void)state;
    recovered = left_recover(&left);
    assert_int_equal(recovered.place, ETWAS_PLACE_MEMFD);
    assert_string_equal(recovered.file_system, "tmpfs");
    left = left_with_events();
    left.head->minor = 0;
    left.head->head_bytes = (uint32_t)ETWAS_SHARED_LEAST_HEAD;
    left.head->touches = 7;
    recovered = left_recover(&left);
    assert_int_equal(recovered.events, LEFT_EVENTS);
    assert_int_equal(recovered.place, 0);
    assert_int_equal(recovered.touches, 0);
    assert_string_equal(recovered.file_system, "");
    left = left_with_events();
    left.head->place = ETWAS_PLACE_DISK + 1;
    left.head->file_system = UINT32_MAX;
    recovered = left_recover(&left);
    assert_int_equal(recovered.events, LEFT_EVENTS);
    assert_int_equal(recovered.place, 0);
    left = left_with_events();
    left.head->place = ETWAS_PLACE_DISK;
    left.head->file_system = UINT32_MAX;
    assert_string_equal(left_recover(&left).file_system, "0xffffffff");
}

/* ---- what it names --------------------------------------------------------------------------- */

/* As of a session with a log file, which is this one. */
static etwas_recovered recover_beside(const char *log_file)
{
    struct left left = left_with_events();

    left.head->flags &= ~(uint32_t)ETWAS_SHARED_BUFFERING;
    (void)snprintf(left.head->file_paths[left.head->newest_path], sizeof left.head->file_paths[0],
                   "%s", log_file);
    return left_recover(&left);
}

static void expect_all_beside(const char *log_file)
{
    etwas_recovered recovered = recover_beside(log_file);

    assert_int_equal(recovered.events, LEFT_EVENTS);
    assert_int_equal(recovered.in_log_file, 0);
}

/* Opened by anybody in this process or another since the watch began. */
static bool was_opened(int watch)
{
    char events[4096];

    return read(watch, events, sizeof events) > 0;
}

static int watch_opening(const char *path)
{
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

    assert_true(watch >= 0 && inotify_add_watch(watch, path, IN_OPEN) >= 0);
    return watch;
}

/* So it is known what a file is that has them. */
static void make_log(const char *name)
{
    struct left left = left_with_events();

    (void)left_recover(&left);
    assert_int_equal(rename(folder_path("after.etl"), folder_path(name)), 0);
}

static void a_log_file_that_is_a_pipe_is_not_even_opened(void **state)
{
    char pipe[256];
    int watch;

    (void)state;
    (void)snprintf(pipe, sizeof pipe, "%s", folder_path("pipe"));
    assert_int_equal(mkfifo(pipe, 0600), 0);
    watch = watch_opening(pipe);
    expect_all_beside(pipe);
    assert_false(was_opened(watch));
    assert_int_equal(close(watch), 0);
    expect_all_beside("/dev/zero");
    expect_all_beside(folder_path("."));
}

static void a_log_file_behind_a_symbolic_link_is_not_read(void **state)
{
    char log[256];
    char link[256];
    int watch;

    (void)state;
    (void)snprintf(log, sizeof log, "%s", folder_path("log.etl"));
    (void)snprintf(link, sizeof link, "%s", folder_path("link.etl"));
    make_log("log.etl");
    watch = watch_opening(log);
    assert_int_equal(symlink(log, link), 0);
    expect_all_beside(link);
    assert_false(was_opened(watch));
    /* It is opened under its own name. */
    (void)recover_beside(log);
    assert_true(was_opened(watch));
    assert_int_equal(close(watch), 0);
}

/* Where it may be made at all. */
static void a_log_file_of_another_user_is_not_read(void **state)
{
    char log[256];
    int watch;

    (void)state;
    (void)snprintf(log, sizeof log, "%s", folder_path("log.etl"));
    make_log("log.etl");
    if (chown(log, geteuid() + 1, (gid_t)-1) != 0) {
        print_message("skipped: only root can give a file to another user\n");
        skip();
    }
    watch = watch_opening(log);
    expect_all_beside(log);
    assert_false(was_opened(watch));
    assert_int_equal(close(watch), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_record_that_contradicts_itself_costs_itself),
        FOLDER_TEST(records_of_the_files_own_are_no_events),
        FOLDER_TEST(a_buffer_0_that_is_none_is_made_anew),
        FOLDER_TEST(a_buffer_0_of_an_older_build_is_taken),
        FOLDER_TEST(a_description_larger_than_a_buffer_is_left_out),
        FOLDER_TEST(what_is_no_description_is_left_out),
        FOLDER_TEST(a_head_without_a_place_and_one_with_a_wrong_place_are_read),
        FOLDER_TEST(a_log_file_that_is_a_pipe_is_not_even_opened),
        FOLDER_TEST(a_log_file_behind_a_symbolic_link_is_not_read),
        FOLDER_TEST(a_log_file_of_another_user_is_not_read),
    };

    return cmocka_run_group_tests_name("recover_hostile", tests, NULL, NULL);
}
