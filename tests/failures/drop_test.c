/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A system that takes what is written, and when it has to make it durable says that it could not:
 * what it dropped is found out, counted as lost, and not in the way of what comes after. Here the
 * test itself takes it out of the file, in the moment of the sync.
 */
#include <errno.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "etl/layout.h"
#include "failures/account.h"
#include "failures/failing.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    BUFFER_BYTES = 4096,
    SECTOR_BYTES = 512,
    LARGEST_BYTES = 2 << 20,
    EVENTS = 20000,
    DESCRIPTORS = 64, /* more than are open */
};

/* What the next syncs do to the file. */
static enum {
    KEEP,
    DROP_ALL,    /* everything since the last good one */
    DROP_SECTOR, /* one sector */
} dropping;
static uint64_t sector; /* its position */
static uint64_t packed; /* or, if not 0, in a compressed file it is in a buffer behind this */

static char path[256];
static uint8_t *kept; /* the file as of the last good sync */
static size_t kept_bytes;

static void keep(int file)
{
    ssize_t length = pread(file, kept, LARGEST_BYTES, 0);

    assert_true(length >= 0);
    kept_bytes = (size_t)length;
}

/* Where the next buffer goes: each says how long it is. */
static uint64_t end_of_kept(void)
{
    uint64_t end = 0;
    uint32_t bytes;

    for (; end < kept_bytes; end += bytes) {
        memcpy(&bytes, kept + end, sizeof bytes);
        if (bytes == 0) {
            break;
        }
    }
    return end;
}

/*
 * Returns the offset of the sector behind the header of the first buffer behind `packed` that has
 * so much.
 */
static uint64_t sector_of_packed(int file)
{
    uint64_t at = 0;
    uint32_t bytes = 0;

    do {
        at += bytes;
        assert_int_equal(pread(file, &bytes, sizeof bytes, (off_t)at), sizeof bytes);
        assert_int_not_equal(bytes, 0);
    } while (at < packed || bytes < 2 * SECTOR_BYTES);
    return at + 2 * sizeof(struct etwas_etl_buffer_header);
}

static void drop(int file)
{
    static const uint8_t nothing[SECTOR_BYTES];

    if (dropping == DROP_SECTOR) {
        sector = packed != 0 ? sector_of_packed(file) : sector;
        assert_int_equal(pwrite(file, nothing, SECTOR_BYTES, (off_t)sector), SECTOR_BYTES);
        return;
    }
    assert_int_equal(pwrite(file, kept, kept_bytes, 0), kept_bytes);
    assert_int_equal(ftruncate(file, (off_t)kept_bytes), 0);
}

/*
 * What went past the page cache the device has, and is not looked for. So nothing goes that way
 * here: a file that is written so is in direct mode meanwhile.
 */
static bool is_direct_write(void)
{
    for (int file = 0; file < DESCRIPTORS; file++) {
        int flags = fcntl(file, F_GETFL);

        if (flags >= 0 && (flags & O_DIRECT) != 0) {
            return true;
        }
    }
    return false;
}

static long sync_badly(enum etwas_log_file_call call, size_t bytes)
{
    bool bad = dropping != KEEP;
    int file;

    if (call == ETWAS_FILE_WRITE && is_direct_write()) {
        return -EINVAL;
    }
    if (call != ETWAS_FILE_SYNC) {
        return (long)bytes;
    }
    file = open(path, O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    if (bad) {
        drop(file);
    } else {
        keep(file);
    }
    assert_int_equal(close(file), 0);
    dropping = KEEP;
    return bad ? -EIO : 0;
}

static int setup(void **state)
{
    dropping = KEEP;
    kept_bytes = 0;
    packed = 0;
    kept = malloc(LARGEST_BYTES);
    if (folder_setup(state) != 0 || kept == NULL) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s", folder_path("trace.etl"));
    etwas_file_set_failure_hook(sync_badly);
    return 0;
}

static int teardown(void **state)
{
    free(kept);
    return failing_teardown(state);
}

static etwas_trace_handle start(uint32_t mode, uint32_t maximum_kb, struct writer **writer)
{
    etwas_session_options options = {.log_file_mode = mode | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                     .maximum_file_size = maximum_kb,
                                     .clock = ETWAS_CLOCK_SYSTEM_TIME,
                                     .buffer_size_kb = BUFFER_BYTES / 1024,
                                     .minimum_buffers = 48,
                                     .maximum_buffers = 48,
                                     .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(path, &options);

    *writer = writer_new(&(struct writer_options){.session = session,
                                                  .class_handle = writer_class(),
                                                  .events = EVENTS,
                                                  .largest_payload = 300});
    return session;
}

static void log_100(struct writer *writer)
{
    for (int index = 0; index < 100; index++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
}

static void expect_exact(etwas_trace_handle session, const etwas_session_counts *counts)
{
    static const char *const paths[] = {path};
    const struct account account = {.session = session,
                                    .paths = paths,
                                    .path_count = 1,
                                    .flags = ACCOUNT_WALKED | ACCOUNT_LOSSES};

    assert_int_equal(expect_accounted_files(&account, counts), 1);
}

static const struct {
    uint32_t mode;
    uint32_t maximum_kb;
} modes[] = {
    {EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0},
    {EVENT_TRACE_FILE_MODE_APPEND, 0},
    {EVENT_TRACE_FILE_MODE_CIRCULAR, 64},
    {EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_PREALLOCATE, 1024},
    {EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_PREALLOCATE, 64},
    {EVENT_TRACE_COMPRESSED_MODE, 0},
    {EVENT_TRACE_COMPRESSED_MODE | EVENT_TRACE_FILE_MODE_APPEND, 0},
    {EVENT_TRACE_COMPRESSED_MODE | EVENT_TRACE_FILE_MODE_PREALLOCATE, 1024},
};

static void what_a_sync_dropped_is_lost_and_the_rest_is_not(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof modes / sizeof modes[0]; row++) {
        etwas_session_counts counts;
        struct writer *writer;
        etwas_trace_handle session = start(modes[row].mode, modes[row].maximum_kb, &writer);

        for (uint32_t turn = 0; turn < 30; turn++) {
            uint64_t lost = counts_of(session).lost;
            bool drops = turn * 7 % 5 < 2;

            log_100(writer);
            dropping = drops ? DROP_ALL : KEEP;
            assert_int_equal(etwas_flush(session), drops ? ERROR_WRITE_FAULT : ERROR_SUCCESS);
            assert_int_equal(counts_of(session).lost, lost + (drops ? 100 : 0));
            assert_int_equal(query_session(session).EventsLost, counts_of(session).lost);
        }
        log_100(writer);
        dropping = DROP_ALL;
        stop_session(session, &counts);
        assert_int_equal(counts.lost, counts.lost_write_error);
        assert_true(counts.sync_errors > 1);
        expect_exact(session, &counts);
        assert_int_equal(unlink(path), 0);
    }
}

/* An empty buffer takes its place. */
static void a_dropped_sector_costs_its_buffer_and_no_other(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof modes / sizeof modes[0]; row++) {
        etwas_session_counts counts;
        struct writer *writer;
        etwas_trace_handle session = start(modes[row].mode, modes[row].maximum_kb, &writer);

        log_100(writer);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        packed = (modes[row].mode & EVENT_TRACE_COMPRESSED_MODE) != 0 ? end_of_kept() : 0;
        /* The newest data buffer but one of those not yet durable, in all modes. */
        for (int turn = 0; turn < 3; turn++) {
            log_100(writer);
        }
        sector =
            (uint64_t)BUFFER_BYTES * (query_session(session).BuffersWritten + 1) + 2 * SECTOR_BYTES;
        dropping = DROP_SECTOR;
        assert_int_equal(etwas_flush(session), ERROR_WRITE_FAULT);
        counts = counts_of(session);
        assert_int_equal(counts.buffers_lost, 1);
        assert_true(counts.lost_write_error > 0 && counts.lost_write_error < 100);
        log_100(writer);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        stop_session(session, &counts);
        assert_int_equal(counts.buffers_lost, 1);
        expect_exact(session, &counts);
        assert_int_equal(unlink(path), 0);
    }
}

/* In an appended file it has the number that its session gave the lost one. */
static void an_empty_buffer_is_numbered_as_its_session_numbers(void **state)
{
    struct writer *writer;
    etwas_trace_handle session = start(EVENT_TRACE_FILE_MODE_APPEND, 0, &writer);
    struct readback result;

    (void)state;
    log_100(writer);
    stop_session(session, NULL);
    session = start(EVENT_TRACE_FILE_MODE_APPEND, 0, &writer);
    for (int turn = 0; turn < 3; turn++) {
        log_100(writer);
    }
    sector =
        (uint64_t)BUFFER_BYTES * (query_session(session).BuffersWritten + 1) + 2 * SECTOR_BYTES;
    dropping = DROP_SECTOR;
    assert_int_equal(etwas_flush(session), ERROR_WRITE_FAULT);
    stop_session(session, NULL);
    walk_back(session, path, true, &result);
    read_back(session, path, &result);
    assert_int_equal(result.damages, 0);
}

/* Nobody knows what became of it; a file that can be read again has it. */
static void what_cannot_be_read_after_a_refusal_is_not_called_lost(void **state)
{
    etwas_session_counts counts;
    struct writer *writer;
    etwas_trace_handle session = start(EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, &writer);

    (void)state;
    log_100(writer);
    fail_calls(&(struct failing){.calls = FAILING(SYNC) | FAILING(READ), .error = EIO});
    assert_int_equal(etwas_flush(session), ERROR_WRITE_FAULT);
    expect_nothing_lost(counts_of(session));
    fail_no_more();
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 100);
    assert_int_equal(counts.sync_errors, 1);
    expect_exact(session, &counts);
}

#define DROP_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DROP_TEST(what_a_sync_dropped_is_lost_and_the_rest_is_not),
        DROP_TEST(a_dropped_sector_costs_its_buffer_and_no_other),
        DROP_TEST(an_empty_buffer_is_numbered_as_its_session_numbers),
        DROP_TEST(what_cannot_be_read_after_a_refusal_is_not_called_lost),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
