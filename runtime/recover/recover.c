/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Makes a log file of what a crash-safe session left in memory: every committed record, the clock
 * readings, the descriptions of events, and the counts of everything else.
 */
#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock/clock.h"
#include "etl/own_record.h"
#include "file/log_clock_snapshots.h"
#include "file/log_file.h"
#include "file/log_losses.h"
#include "platform/sized_struct.h"
#include "recover/mapping_copy.h"
#include "recover/own_logs.h"
#include "recover/recovered_counts.h"
#include "recover/recovered_window.h"
#include "shared/mapping.h"

struct recovery {
    struct etwas_mapping_copy copy;
    struct etwas_own_logs logs;
    struct etwas_log_file *file; /* NULL: only reports, writes no file */
    etwas_recovered *result;
    struct etwas_recovered_counts account;
    struct etwas_loss_table *losses; /* of the file */
    uint8_t *records;                /* room for the records of one buffer */
    int64_t newest;                  /* no event that was written is newer */
    int64_t copied;                  /* when copying began; INT64_MIN: the process has ended */
    struct etwas_clock_reading ended;
};

/* ---- the file -------------------------------------------------------------------------------- */

static uint32_t recovery_create_file(struct recovery *recovery, const char *path)
{
    static const etwas_wchar no_name[1];
    const struct etwas_mapping_copy *copy = &recovery->copy;
    const struct etwas_shared_head *head = &copy->head;
    struct etwas_log_file_options options = {
        .path = path,
        .session_name = no_name,
        .file_name = no_name,
        .buffer_bytes = head->buffer_bytes,
        .processors = head->processors,
        .clock = head->clock,
        .log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
        .logger_id = (uint16_t)head->logger_id,
        .process_times = (head->flags & ETWAS_SHARED_PROCESS_TIMES) != 0,
        .is_private = true,
        .replaces_whole = true,
        .started = copy->history.readings[0],
        .first = copy->first,
        .first_bytes = head->first_bytes,
        .ended = &recovery->ended,
    };

    return etwas_log_file_create(&options, &recovery->file);
}

static uint32_t recovery_write_buffer(struct recovery *recovery, const void *records,
                                      uint32_t bytes, uint32_t processor, int64_t newest)
{
    const struct etwas_drained buffer = {
        .data = records,
        .data_bytes = bytes,
        .processor = processor,
        .time_stamp = newest,
        .newest = newest,
    };

    if (recovery->file == NULL || bytes == 0) {
        return ERROR_SUCCESS;
    }
    return etwas_log_file_write(recovery->file, &buffer, 1).code;
}

/* ---- beside the events ----------------------------------------------------------------------- */

static uint32_t recover_write_clock_snapshots(struct recovery *recovery)
{
    const struct etwas_clock_history *history = &recovery->copy.history;
    uint32_t code = ERROR_SUCCESS;

    for (uint32_t index = 1; index < history->count && code == ERROR_SUCCESS; index++) {
        code =
            etwas_log_clock_snapshots_add(recovery->file, &history->readings[index], false, 0).code;
    }
    return code;
}

static uint32_t schema_record_bytes(const uint8_t *schema)
{
    uint16_t size;

    memcpy(&size, schema, sizeof size);
    return (uint32_t)etwas_etl_round_up_8(size);
}

/* Returns the size of the leading records that fit in a buffer as a whole. */
static uint32_t schemas_that_fit(const uint8_t *schemas, uint64_t left, uint32_t room,
                                 uint64_t *schemas_written)
{
    uint32_t used = 0;

    while (used < left && schema_record_bytes(schemas + used) <= room - used) {
        used += schema_record_bytes(schemas + used);
        ++*schemas_written;
    }
    return used;
}

static uint32_t recovery_write_schemas(struct recovery *recovery)
{
    const struct etwas_mapping_copy *copy = &recovery->copy;
    uint64_t left = copy->schema_bytes;
    const uint8_t *next = copy->schemas;
    uint32_t room = copy->head.buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES;
    int64_t started = etwas_clock_reading_stamp(&copy->history.readings[0], copy->head.clock);
    uint32_t code = ERROR_SUCCESS;

    while (code == ERROR_SUCCESS && left != 0) {
        uint32_t bytes = schemas_that_fit(next, left, room, &recovery->result->schemas);

        if (bytes != 0) {
            code = recovery_write_buffer(recovery, next, bytes, 0, started);
        } else { /* too large for a buffer; the session's own files do not have it either */
            bytes = schema_record_bytes(next);
            recovery->result->schemas_left_out++;
        }
        next += bytes;
        left -= bytes;
    }
    return code;
}

/*
 * The session counts as ended with its newest event, some time after the last reading of the
 * clocks. Each clock is advanced by that time, and its error grows with it.
 */
static struct etwas_clock_reading recovery_end_reading(const struct recovery *recovery)
{
    enum {
        LEAST_NS = 1000,
        MOST_S = 3600,          /* a later stamp is not plausible */
        UNCERTAIN_PART = 10000, /* the error is this part of the elapsed time, a safe bound */
    };
    const struct etwas_clock_history *history = &recovery->copy.history;
    struct etwas_clock_reading end = history->readings[history->count - 1];
    uint32_t clock = recovery->copy.head.clock;
    int64_t frequency = (int64_t)etwas_clock_frequency(clock);
    int64_t stamp = etwas_clock_reading_stamp(&end, clock);
    int64_t ticks = recovery->newest > stamp && stamp >= 0 ? recovery->newest - stamp : 0;
    int64_t passed_ns = LEAST_NS;

    if (ticks / frequency < MOST_S) {
        passed_ns += ticks / frequency * ETWAS_CLOCK_NS_PER_SECOND +
                     ticks % frequency * ETWAS_CLOCK_NS_PER_SECOND / frequency;
    }
    end.qpc_ns += passed_ns;
    end.filetime += passed_ns / 100;
    end.system_stamp += passed_ns / 100;
    end.tsc += (int64_t)((double)passed_ns / ETWAS_CLOCK_NS_PER_SECOND *
                         (double)etwas_clock_frequency(ETWAS_CLOCK_KIND_TSC));
    end.tsc_error_ns += (uint32_t)(passed_ns / UNCERTAIN_PART);
    end.filetime_error_ns += (uint32_t)(passed_ns / UNCERTAIN_PART);
    end.stamp_error_ns += (uint32_t)(passed_ns / UNCERTAIN_PART);
    return end;
}

/* ---- the events ------------------------------------------------------------------------------ */

static void recovery_pass_over(struct recovery *recovery, const struct etwas_found_buffer *found)
{
    recovery->result->passed_buffers++;
    etwas_recovered_counts_add_replaced(&recovery->account, found);
}

/* Writes the records of a buffer that the log files do not have. */
static uint32_t recovery_write_found(struct recovery *recovery, struct etwas_found_buffer *found)
{
    const struct etwas_pool_view *view = &recovery->copy.view;
    etwas_recovered *result = recovery->result;
    int64_t stamp =
        etwas_clock_reading_stamp(&recovery->copy.history.readings[0], recovery->copy.head.clock);
    enum etwas_pool_found what;

    found->begin_units +=
        etwas_own_logs_have(&recovery->logs, &recovery->copy, found) / ETWAS_UNIT_BYTES;
    what = etwas_pool_read_records(view, found, recovery->records);
    if (what == ETWAS_POOL_FOUND_CHANGED) {
        recovery_pass_over(recovery, found);
        return ERROR_SUCCESS;
    }
    result->damaged_buffers += what == ETWAS_POOL_FOUND_DAMAGED;
    result->events += found->records;
    result->in_log_file += found->before;
    etwas_recovered_counts_add_read(&recovery->account, &recovery->copy.pool.buffers[found->buffer],
                                    found->slot < view->rseq_slots, found, recovery->records,
                                    recovery->logs.files[0] >= 0);
    result->buffers += found->records != 0;
    if (found->end_units <= found->begin_units) {
        return ERROR_SUCCESS;
    }
    if (found->newest > recovery->newest) {
        recovery->newest = found->newest;
    }
    return recovery_write_buffer(
        recovery,
        recovery->records + (size_t)(found->begin_units - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES,
        (found->end_units - found->begin_units) * ETWAS_UNIT_BYTES, found->slot,
        found->newest > stamp ? found->newest : stamp);
}

static uint32_t recovery_write_events(struct recovery *recovery)
{
    const struct etwas_pool_view *view = &recovery->copy.view;
    struct etwas_held_buffer *list = malloc((view->buffer_count + 1) * sizeof *list);
    uint32_t count = list != NULL ? etwas_pool_read_list(view, list) : 0;
    uint32_t code = list != NULL ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;

    for (uint32_t index = 0; index < count && code == ERROR_SUCCESS; index++) {
        struct etwas_found_buffer found;
        enum etwas_pool_found what = etwas_pool_read_inspect(view, &list[index], &found);

        if (what == ETWAS_POOL_FOUND_RECORDS && recovery->copy.is_absent[found.buffer]) {
            recovery->result->missing_buffers++;
            etwas_recovered_counts_add_missing(&recovery->account, &found);
        } else if (what == ETWAS_POOL_FOUND_RECORDS) {
            code = recovery_write_found(recovery, &found);
        } else {
            recovery->result->damaged_buffers += what == ETWAS_POOL_FOUND_DAMAGED;
            if (what == ETWAS_POOL_FOUND_CHANGED) {
                recovery_pass_over(recovery, &found);
            }
        }
    }
    free(list);
    return code;
}

/* Records the losses by cause; when they happened is not known. */
static void recovery_record_losses(struct recovery *recovery, const uint64_t *by_cause)
{
    const struct etwas_clock_reading *started = &recovery->copy.history.readings[0];
    struct etwas_etl_loss loss = {
        .version = ETWAS_ETL_LOSS_VERSION,
        .processor = ETWAS_LOST_ANYWHERE,
        .from_raw = etwas_clock_reading_stamp(started, recovery->copy.head.clock),
    };

    recovery->losses = recovery->file != NULL ? malloc(sizeof *recovery->losses) : NULL;
    if (recovery->losses == NULL) {
        return;
    }
    loss.until_raw = recovery->newest > loss.from_raw ? recovery->newest : loss.from_raw;
    etwas_loss_table_begin(recovery->losses, 1);
    for (loss.cause = 1; loss.cause <= ETWAS_LOST_CAUSES; loss.cause++) {
        loss.events = by_cause[loss.cause];
        if (loss.events != 0) {
            etwas_loss_table_add(recovery->losses, &loss);
        }
    }
    etwas_log_losses_attach(recovery->file, recovery->losses);
}

/*
 * Returns the totals of the file. If the process is alive, or was in an accounting step, the sums
 * prove nothing. The file then does not say how many events were attempted.
 */
static struct etwas_log_file_totals recovery_count(struct recovery *recovery)
{
    etwas_recovered *result = recovery->result;
    struct etwas_recovered_totals sums =
        etwas_recovered_counts_sum(&recovery->account, &recovery->copy.pool);

    result->is_settling = recovery->copy.is_accounting;
    result->attempted = sums.attempted;
    result->overwritten = sums.overwritten;
    result->lost = sums.lost;
    result->unfinished = recovery->account.unfinished;
    sums.lost_by_cause[ETWAS_LOST_ABANDONED] += result->unfinished;
    recovery_record_losses(recovery, sums.lost_by_cause);
    return (struct etwas_log_file_totals){
        .events_lost = result->lost + result->unfinished,
        .events_overwritten = result->overwritten,
        .events_attempted = result->is_alive || result->is_settling ? 0 : result->attempted,
        .ends = ETWAS_ETL_ENDS_RECOVERED | (result->is_alive ? 0 : ETWAS_ETL_ENDS_SESSION),
    };
}

/* ---- all of it ------------------------------------------------------------------------------- */

static uint32_t recovery_write_all(struct recovery *recovery)
{
    uint32_t code =
        recovery->file != NULL ? recover_write_clock_snapshots(recovery) : ERROR_SUCCESS;
    struct etwas_log_file_totals totals;

    if (code == ERROR_SUCCESS) {
        code = recovery_write_schemas(recovery);
    }
    if (code == ERROR_SUCCESS && recovery->file != NULL && recovery->copy.pool.buffering) {
        code = etwas_recovered_window_write(recovery->file, &recovery->copy, recovery->copied,
                                            recovery->records);
    }
    if (code == ERROR_SUCCESS) {
        code = recovery_write_events(recovery);
    }
    totals = recovery_count(recovery);
    if (recovery->file != NULL) {
        bool finished;

        recovery->ended = recovery_end_reading(recovery);
        finished = etwas_log_file_finish(recovery->file, &totals);
        finished = finished && (code != ERROR_SUCCESS || etwas_log_file_replace(recovery->file));
        finished = etwas_log_file_close(recovery->file) && finished;
        code = code == ERROR_SUCCESS && !finished ? ERROR_WRITE_FAULT : code;
    }
    return code;
}

/* Whether `output` is one of the files that recovery reads: it would be overwritten meanwhile. */
static bool recovery_may_read(const struct etwas_recover_source *source, const char *const paths[2],
                              const char *output)
{
    struct stat ours;
    struct stat other;

    if (stat(output, &ours) != 0) {
        return false;
    }
    for (uint32_t index = 0; index < 2; index++) {
        if (stat(paths[index], &other) == 0 && other.st_dev == ours.st_dev &&
            other.st_ino == ours.st_ino) {
            return true;
        }
    }
    return fstat(source->file, &other) == 0 && other.st_dev == ours.st_dev &&
           other.st_ino == ours.st_ino;
}

static uint32_t recovery_run(struct recovery *recovery, const struct etwas_recover_source *source,
                             const char *output)
{
    const struct etwas_shared_head *head = &recovery->copy.head;
    const char *const paths[] = {head->file_paths[head->newest_path],
                                 head->file_paths[1 - head->newest_path]};
    uint32_t code;

    recovery->copied = recovery->result->is_alive ? etwas_clock_now(head->clock) : INT64_MIN;
    code = output != NULL && recovery_may_read(source, paths, output)
               ? ERROR_SHARING_VIOLATION
               : etwas_mapping_copy_pool(&recovery->copy, source);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    recovery->result->schemas_left_out = head->schemas_left_out;
    recovery->records = malloc(head->buffer_bytes);
    if (recovery->records == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    etwas_own_logs_open(&recovery->logs, source, &recovery->copy,
                        recovery->result->is_alive || recovery->result->other_boot);
    if (output != NULL) {
        code = recovery_create_file(recovery, output);
    }
    return code == ERROR_SUCCESS ? recovery_write_all(recovery) : code;
}

/* Copies UTF-8 text, cut between two characters. */
static void recovery_copy_name(char *to, size_t room, const char *name)
{
    size_t length = strnlen(name, room - 1);

    while (length != 0 && ((unsigned char)name[length] & 0xC0) == 0x80) {
        length--;
    }
    memcpy(to, name, length);
    to[length] = 0;
}

static void recovery_describe(const struct etwas_mapping_copy *copy, etwas_recovered *result)
{
    const struct etwas_shared_head *head = &copy->head;
    uint8_t boot[16];

    etwas_shared_boot_id(boot);
    result->session = head->session;
    recovery_copy_name(result->session_name, sizeof result->session_name, head->name);
    (void)snprintf(result->log_file, sizeof result->log_file, "%s",
                   head->file_paths[head->newest_path]);
    result->place = head->place <= ETWAS_PLACE_DISK ? head->place : 0;
    if (result->place != 0) {
        etwas_shared_backing_name(head->file_system, result->file_system);
    }
    result->touches = head->touches;
    result->longest_touch_ns = head->longest_touch_ns;
    result->slow_touches = head->slow_touches;
    result->process_id = head->process_id;
    result->log_file_mode = head->log_file_mode;
    result->other_boot = memcmp(boot, head->boot_id, sizeof boot) != 0;
}

static uint32_t recovery_from_source(const char *path, uint32_t index, const char *output,
                                     etwas_recovered *result)
{
    struct recovery *recovery = calloc(1, sizeof *recovery);
    struct etwas_recover_source source;
    uint32_t code;

    if (recovery == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    recovery->result = result;
    recovery->logs = (struct etwas_own_logs){.files = {-1, -1}};
    recovery->newest = INT64_MIN;
    code = etwas_recover_source_open(&source, path, index);
    result->is_alive = source.is_alive;
    if (code == ERROR_SUCCESS) {
        code = etwas_mapping_copy_head(&recovery->copy, &source);
        if (code == ERROR_SUCCESS) {
            recovery_describe(&recovery->copy, result);
            code = recovery_run(recovery, &source, output);
        }
        etwas_recover_source_close(&source);
    }
    etwas_mapping_copy_free(&recovery->copy);
    etwas_own_logs_close(&recovery->logs);
    free(recovery->losses);
    free(recovery->records);
    free(recovery);
    return code;
}

uint32_t etwas_recover_sized(const char *source, uint32_t index, const char *output,
                             etwas_recovered *result, size_t result_bytes)
{
    etwas_recovered *found = calloc(1, sizeof *found);
    uint32_t code;

    if (found == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = source != NULL ? recovery_from_source(source, index, output, found)
                          : ERROR_INVALID_PARAMETER;
    if (result != NULL) {
        etwas_sized_write(result, result_bytes, found, sizeof *found);
    }
    free(found);
    return code;
}
