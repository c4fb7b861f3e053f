/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file_modes.h"

#include <ck_pr.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    WALKED_EVERY = 40, /* of the parts of a set: each walk is a process of its own */
};

static struct stat status_of(const char *path)
{
    struct stat status;

    assert_int_equal(stat(path, &status), 0);
    return status;
}

off_t size_of(const char *path)
{
    return status_of(path).st_size;
}

off_t space_of(const char *path)
{
    return (off_t)status_of(path).st_blocks * 512;
}

static void read_at(const char *path, void *bytes, size_t length, uint64_t position)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(file >= 0);
    assert_int_equal(pread(file, bytes, length, (off_t)position), length);
    (void)close(file);
}

struct etwas_etl_log_header64 log_header_of(const char *path)
{
    struct etwas_etl_log_header64 log;

    read_at(path, &log, sizeof log, ETWAS_ETL_LOG_HEADER_FILE_OFFSET);
    return log;
}

uint32_t own_record_at(const char *path, uint32_t place, uint32_t buffer_bytes, uint8_t type,
                       uint32_t from)
{
    struct etwas_etl_buffer_header buffer = buffer_header_of(path, place, buffer_bytes);
    uint32_t at = ETWAS_ETL_BUFFER_HEADER_BYTES;

    while (at < buffer.offset) {
        union {
            struct etwas_etl_system_header system;
            struct etwas_etl_full_header full;
        } record;

        read_at(path, &record, sizeof record, (uint64_t)place * buffer_bytes + at);
        if (record.full.header_type == ETWAS_ETL_FULL_HEADER64) {
            if (at >= from && record.full.type == type && etwas_etl_is_own_record(&record.full)) {
                return at;
            }
            at += (uint32_t)etwas_etl_round_up_8(record.full.size);
        } else {
            assert_int_equal(record.system.header_type, ETWAS_ETL_SYSTEM64);
            at += (uint32_t)etwas_etl_round_up_8(record.system.size);
        }
    }
    return 0;
}

struct etwas_etl_totals totals_of(const char *path)
{
    uint32_t at = own_record_at(path, 0, 0, ETWAS_ETL_TOTALS_TYPE, 0);
    struct etwas_etl_totals_record record;

    assert_int_not_equal(at, 0);
    read_at(path, &record, sizeof record, at);
    assert_int_equal(record.header.size, sizeof record);
    assert_int_equal(record.totals.version, ETWAS_ETL_TOTALS_VERSION);
    return record.totals;
}

struct etwas_etl_buffer_header buffer_header_of(const char *path, uint32_t place,
                                                uint32_t buffer_bytes)
{
    struct etwas_etl_buffer_header buffer;

    read_at(path, &buffer, sizeof buffer, (uint64_t)place * buffer_bytes);
    return buffer;
}

static void expect_whole(const struct readback *result)
{
    if (result->wrong != 0) {
        fail_msg("%llu events are wrong; first: %s", (unsigned long long)result->wrong,
                 result->first_wrong);
    }
    assert_int_equal(result->unexpected, 0);
    assert_int_equal(result->damages, 0);
    assert_false(result->unfinished);
}

void expect_circular_file(etwas_trace_handle session, const char *path,
                          const etwas_session_counts *counts)
{
    struct etwas_etl_totals totals = totals_of(path);
    struct readback result;

    expect_exact_account(session, counts);
    for (int with_walker = 0; with_walker < 2; with_walker++) {
        if (with_walker) {
            walk_back(session, path, true, &result);
        } else {
            read_back(session, path, &result);
        }
        expect_whole(&result);
        assert_int_equal(result.events, counts->recorded);
        assert_int_equal(result.missing, counts->overwritten + counts->lost_write_error);
        assert_int_equal(result.events_lost, counts->lost);
        assert_int_equal(result.buffers_lost, counts->buffers_lost);
        assert_int_equal(result.losses_reported, with_walker ? 0 : counts->lost);
    }
    assert_int_equal(totals.overwritten_events, counts->overwritten);
    assert_int_equal(totals.lost_events, counts->lost);
    assert_int_equal(totals.lost_buffers, counts->buffers_lost);
    assert_int_equal(totals.attempted_events,
                     counts->recorded + counts->overwritten + counts->lost);
    assert_int_equal(totals.part, 0);
}

/* ---- sets ------------------------------------------------------------------------------------ */

/* How often each event was seen so far, writer after writer. */
struct tally {
    uint8_t *seen;
    uint64_t events;
};

static void begin_tally(struct tally *tally, etwas_trace_handle session)
{
    tally->events = 0;
    for (const struct writer *writer = writer_first(); writer != NULL; writer = writer->next) {
        tally->events += writer->options.session == session ? writer->attempted : 0;
    }
    tally->seen = calloc(tally->events + 1, 1);
    assert_non_null(tally->seen);
}

static void add_to_tally(struct tally *tally, etwas_trace_handle session)
{
    uint64_t index = 0;

    for (const struct writer *writer = writer_first(); writer != NULL; writer = writer->next) {
        for (uint64_t number = 0; writer->options.session == session && number < writer->attempted;
             number++) {
            tally->seen[index] = (uint8_t)(tally->seen[index] + writer->events[number].seen);
            assert_true(tally->seen[index++] <= 1);
        }
    }
}

static void read_part(etwas_trace_handle session, const char *path, uint32_t serial,
                      struct parts *parts)
{
    struct etwas_etl_log_header64 log = log_header_of(path);
    struct etwas_etl_totals totals = totals_of(path);
    struct readback result;

    if (serial % WALKED_EVERY == 1) {
        walk_back(session, path, true, &result);
        expect_whole(&result);
    }
    read_back(session, path, &result);
    expect_whole(&result);
    assert_int_equal(totals.part, serial);
    assert_int_equal(totals.lost_events, result.events_lost);
    assert_int_equal(totals.lost_buffers, result.buffers_lost);
    assert_int_equal(result.losses_reported, result.events_lost);
    assert_int_equal(log.start.buffers_written, result.buffers);
    if ((log.start.log_file_mode & EVENT_TRACE_COMPRESSED_MODE) != 0) {
        assert_in_range(size_of(path), log.start.buffer_bytes,
                        (off_t)log.start.buffers_written * log.start.buffer_bytes);
    } else {
        assert_int_equal(size_of(path), (off_t)log.start.buffers_written * log.start.buffer_bytes);
    }
    parts->events += result.events;
    parts->events_lost += result.events_lost;
    parts->attempted += totals.attempted_events;
    parts->buffers_lost += result.buffers_lost;
    parts->buffers += result.buffers;
    parts->with_losses += result.events_lost != 0;
}

void read_parts(etwas_trace_handle session, const char *prefix, struct parts *parts)
{
    struct tally tally;
    char name[256];

    *parts = (struct parts){0};
    begin_tally(&tally, session);
    for (;;) {
        const char *path;

        (void)snprintf(name, sizeof name, "%s%u.etl", prefix, parts->count + 1);
        path = folder_path(name);
        if (access(path, F_OK) != 0) {
            break;
        }
        parts->count++;
        read_part(session, path, parts->count, parts);
        add_to_tally(&tally, session);
    }
    assert_int_equal(parts->attempted, parts->events + parts->events_lost);
    free(tally.seen);
}

void expect_parts_are_exact(etwas_trace_handle session, const char *prefix,
                            const etwas_session_counts *counts, struct parts *parts)
{
    expect_exact_account(session, counts);
    read_parts(session, prefix, parts);
    assert_int_equal(parts->events, counts->recorded);
    assert_int_equal(parts->events_lost, counts->lost);
    assert_int_equal(parts->buffers_lost, counts->buffers_lost);
    assert_int_equal(parts->buffers, counts->buffers_written);
}

static uint32_t writes;
static uint32_t writes_to_one_torn;

static long tear_some(enum etwas_log_file_call call, size_t bytes)
{
    static bool torn;

    if (call != ETWAS_FILE_WRITE || bytes < 4096) {
        return (long)bytes;
    }
    if (torn) {
        torn = false;
        return -EIO;
    }
    torn = ck_pr_faa_32(&writes, 1) % writes_to_one_torn == writes_to_one_torn - 1;
    return torn ? (long)(bytes / 2) : (long)bytes;
}

void tear_one_write_of(uint32_t count)
{
    writes = 0;
    writes_to_one_torn = count;
    etwas_file_set_failure_hook(tear_some);
}
