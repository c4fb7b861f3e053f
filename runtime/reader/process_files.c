/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/* ProcessTrace on files: merges the streams of every file, and delivers them to the callbacks. */
#include "reader/file_set.h"

#include <ck_pr.h>
#include <stdlib.h>

#include "reader/clock_snapshots.h"
#include "reader/damage.h"
#include "reader/event_step.h"
#include "reader/index.h"
#include "reader/index_file.h"
#include "reader/trace.h"

/* One file of a run. Its first stream is buffer 0, the others are its processors'. */
struct file_run {
    struct etwas_trace *trace;
    struct etwas_file_set_member part;
    struct etwas_index index;
    struct etwas_stream *streams;
    size_t stream_count;
    /* of an appended file: the session whose streams are in the heap */
    uint32_t session;
    const struct etwas_timeline *timeline; /* NULL: the header's clock converts */
    /* likewise, made for a set of several files; the run owns it */
    struct etwas_timeline *set_timeline;
};

struct etwas_files_run {
    uint32_t file_count;
    /* files of one machine are on one time line, and records of several files count once */
    bool is_aligned;
    struct etwas_duplicates *duplicates; /* groups of streams that may have the same records */
    size_t duplicates_count;
    struct etwas_span span;
    struct etwas_merge_heap merge;
    struct file_run files[];
};

/* The index has each processor's buffers side by side: each run of them is a stream. */
static bool process_open_streams(struct file_run *file)
{
    const struct etwas_index *index = &file->index;
    size_t first = 0;

    file->streams = calloc(1 + index->processors, sizeof *file->streams);
    if (file->streams == NULL ||
        !etwas_stream_open(&file->streams[file->stream_count++], file->trace,
                           &file->trace->log.buffer, file->trace->section == 0)) {
        return false;
    }
    while (first < index->count) {
        size_t last = first + 1;

        while (last < index->count &&
               index->entries[last].processor == index->entries[first].processor) {
            last++;
        }
        if (!etwas_stream_open(&file->streams[file->stream_count++], file->trace,
                               &index->entries[first], last - first)) {
            return false;
        }
        first = last;
    }
    return true;
}

/*
 * Makes a timeline of the clock snapshots that the index found. A session that still writes has
 * more of them now.
 */
static bool process_store_timeline(struct file_run *file)
{
    struct etwas_trace *trace = file->trace;
    struct etwas_timeline *timeline;

    if (trace->timeline_complete && !file->index.has_searched_clock_snapshots) {
        return true;
    }
    timeline = etwas_timeline_new(&trace->log.base, &file->index.snapshots);
    if (timeline != NULL) {
        etwas_clock_snapshots_set_timeline(trace, timeline, true);
    }
    return timeline != NULL;
}

/*
 * Keeps the buffers of the trace's section in the index. Damage and counts of the whole file belong
 * to the first section.
 */
static void process_select_section(struct etwas_trace *trace, struct etwas_index *index)
{
    etwas_etl_wide from = (etwas_etl_wide)trace->file_bytes * trace->section / trace->sections;
    etwas_etl_wide to = (etwas_etl_wide)trace->file_bytes * (trace->section + 1) / trace->sections;
    size_t kept = 0;

    for (size_t i = 0; i < index->count; i++) {
        if (index->entries[i].file_offset >= from && index->entries[i].file_offset < to) {
            index->entries[kept++] = index->entries[i];
        }
    }
    index->count = kept;
    if (trace->quiet) {
        etwas_trace_begin_information(trace);
        ck_pr_store_64(&trace->information.overwritten_buffers, 0);
        trace->quiet = false;
    }
}

/* Returns whether the span excludes a part of the file. */
static bool process_wants_part(const struct etwas_span *span)
{
    return span->start_filetime != INT64_MIN || span->end_filetime != INT64_MAX;
}

static uint32_t process_open_file(struct file_run *file, struct etwas_trace *trace,
                                  const struct etwas_span *span)
{
    uint32_t code;

    file->trace = trace;
    etwas_trace_file_measure(trace);
    trace->logfile.w.BuffersRead = 0;
    trace->quiet = trace->section > 0;
    etwas_trace_begin_information(trace);
    code = etwas_index_file_build(trace, &file->index, process_wants_part(span));
    if (trace->sections > 1) {
        process_select_section(trace, &file->index);
    }
    if (code == ERROR_SUCCESS && (!process_store_timeline(file) || !process_open_streams(file))) {
        code = ERROR_NOT_ENOUGH_MEMORY;
    }
    return code;
}

static void process_close_file(struct file_run *file)
{
    for (size_t i = 0; i < file->stream_count; i++) {
        etwas_stream_close(&file->streams[i]);
    }
    free(file->streams);
    etwas_timeline_free(file->set_timeline);
    etwas_index_free(&file->index);
}

/*
 * Adds the streams of the earliest remaining session to the heap, unless that session is current
 * already. The sessions of an appended file come one after the other, whatever the wall clock did
 * in between.
 */
static void process_enter_session(struct etwas_files_run *run, struct file_run *file)
{
    uint32_t earliest = UINT32_MAX;

    for (size_t i = 0; i < file->stream_count; i++) {
        const struct etwas_stream *stream = &file->streams[i];

        if (stream->state != ETWAS_STREAM_END && stream->buffer->session < earliest) {
            earliest = stream->buffer->session;
        }
    }
    if (earliest == file->session) {
        return;
    }
    file->session = earliest;
    for (size_t i = 0; i < file->stream_count; i++) {
        struct etwas_stream *stream = &file->streams[i];

        if (stream->state != ETWAS_STREAM_END && stream->buffer->session == earliest) {
            etwas_merge_heap_push(&run->merge, stream);
        }
    }
}

/*
 * Skips the buffers that were collected before the span begins. It stops at a buffer with a stamp
 * from before the session, which is invalid. If FILE.index is wrong about the last skipped buffer,
 * none is skipped.
 */
static void process_seek_stream(struct etwas_stream *stream, const struct etwas_span *span)
{
    const struct etwas_index_entry *first = stream->next;
    int64_t first_raw = stream->trace->log.first_raw;

    while (stream->next != stream->last && stream->next->collected >= first_raw &&
           etwas_event_time_filetime(&stream->time, stream->next->collected) <
               span->start_filetime) {
        stream->next++;
    }
    if (stream->trace->by_index_file && stream->next != first &&
        !etwas_index_entry_is_confirmed(stream->trace, stream->next - 1)) {
        stream->next = first;
    }
}

/*
 * Returns whether the record, and so everything behind it in its stream, is after the requested
 * span. A record that is newer than its buffer has a damaged stamp, which says nothing about the
 * others.
 */
static bool process_is_past_span(const struct etwas_stream *stream, const struct etwas_span *span)
{
    return stream->may_end_early && stream->key_filetime > span->end_filetime &&
           stream->key_raw <= stream->buffer->collected;
}

/*
 * Brings every stream of a file to its first record and into the heap. The records of buffer 0 come
 * before all others of their file (R99), also when something in it was stamped before the session.
 */
static uint32_t process_start_file(struct etwas_files_run *run, size_t number)
{
    struct file_run *file = &run->files[number];
    struct etwas_stream *header = &file->streams[0];
    bool seeks = etwas_index_can_seek(file->trace, &file->index);

    file->session = UINT32_MAX; /* none yet */
    for (size_t i = 0; i < file->stream_count; i++) {
        struct etwas_stream *stream = &file->streams[i];

        stream->file_number = file->part.file_number;
        stream->set_number = file->part.set_number;
        stream->time = etwas_event_time_by(file->part.clock, file->timeline);
        stream->key_raw = file->trace->log.first_raw;
        stream->key_filetime = etwas_event_time_filetime(&stream->time, stream->key_raw);
        stream->may_end_early = i > 0 && seeks;
        if (stream->may_end_early) {
            process_seek_stream(stream, &run->span);
        }
        if (etwas_stream_next_buffer(stream) == ETWAS_STREAM_NO_MEMORY) {
            return ERROR_NOT_ENOUGH_MEMORY;
        }
        etwas_event_step_update_key(stream, true);
        if (stream->key_filetime < header->key_filetime ||
            (stream->key_filetime == header->key_filetime && stream->key_raw < header->key_raw)) {
            header->key_raw = stream->key_raw;
            header->key_filetime = stream->key_filetime;
        }
    }
    process_enter_session(run, file);
    return ERROR_SUCCESS;
}

/* Groups the streams that may have records in common, because files of one session may overlap. */
static uint32_t process_find_duplicates(struct etwas_files_run *run)
{
    struct etwas_stream **streams;
    size_t count = 0;
    bool found;

    for (uint32_t i = 0; i < run->file_count; i++) {
        count += run->files[i].part.has_other_parts ? run->files[i].stream_count - 1 : 0;
    }
    if (!run->is_aligned || count == 0) {
        return ERROR_SUCCESS;
    }
    streams = calloc(count, sizeof(struct etwas_stream *));
    if (streams == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    count = 0;
    for (uint32_t i = 0; i < run->file_count; i++) {
        for (size_t s = 1; run->files[i].part.has_other_parts && s < run->files[i].stream_count;
             s++) {
            struct etwas_stream *stream = &run->files[i].streams[s];

            stream->set_number = run->files[i].part.set_number;
            streams[count++] = stream;
        }
    }
    found = etwas_duplicates_find_groups(streams, count, &run->duplicates, &run->duplicates_count);
    free((void *)streams);
    return found ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

static struct file_run *process_file_of(struct etwas_files_run *run,
                                        const struct etwas_stream *stream)
{
    struct file_run *file = run->files;

    while (file->trace != stream->trace) {
        file++;
    }
    return file;
}

static bool process_make_heap(struct etwas_files_run *run)
{
    size_t streams = 0;

    for (uint32_t i = 0; i < run->file_count; i++) {
        streams += run->files[i].stream_count;
    }
    run->merge.heap = calloc(streams, sizeof *run->merge.heap);
    return run->merge.heap != NULL;
}

/*
 * Delivers the records of the earliest stream, to the end of its buffer or until another stream is
 * earlier. Among more than two streams that is mostly soon, and the first records are delivered one
 * by one: to begin a run takes as long as it saves in eight records.
 */
static void process_deliver_records(struct etwas_files_run *run, struct etwas_stream *stream)
{
    struct etwas_stream **first = run->merge.heap;
    struct etwas_stream **second = etwas_merge_heap_second(&run->merge);
    bool is_pair = run->merge.count == 2;
    unsigned one_by_one = run->merge.count > 2 ? 8 : 0;
    enum etwas_stream_state state;

    if (process_is_past_span(stream, &run->span)) {
        stream->next = stream->last;
        stream->state = ETWAS_STREAM_BUFFER_END;
        return;
    }
    do {
        if (one_by_one > 0) {
            one_by_one--;
            state = etwas_event_step_pass(stream, &run->span);
        } else {
            state = etwas_deliver_records(first, second, is_pair, &run->span);
        }
    } while (state == ETWAS_STREAM_RECORD && !etwas_trace_is_closing(stream->trace) &&
             (second == NULL || etwas_merge_heap_is_before(*first, *second)));
    etwas_merge_heap_sift_down(&run->merge);
}

/* Ends the buffer of the earliest stream, and begins its next. */
static uint32_t process_change_buffer(struct etwas_files_run *run, struct etwas_stream *stream)
{
    uint32_t session = stream->buffer->session;

    if (!etwas_event_step_end_buffer(stream)) {
        return ERROR_CANCELLED;
    }
    if (etwas_stream_next_buffer(stream) == ETWAS_STREAM_NO_MEMORY) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (stream->state == ETWAS_STREAM_END || stream->buffer->session != session) {
        etwas_event_step_update_key(stream, true);
        etwas_merge_heap_remove_top(&run->merge);
        process_enter_session(run, process_file_of(run, stream));
    } else {
        etwas_event_step_update_key(stream, false);
        etwas_merge_heap_sift_down(&run->merge);
    }
    return ERROR_SUCCESS;
}

static uint32_t process_run_files(struct etwas_files_run *run)
{
    uint32_t code = ERROR_SUCCESS;
    struct etwas_stream *stream;

    if (!process_make_heap(run)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = process_find_duplicates(run);
    for (uint32_t i = 0; i < run->file_count && code == ERROR_SUCCESS; i++) {
        code = process_start_file(run, i);
    }
    while (code == ERROR_SUCCESS && (stream = etwas_merge_heap_top(&run->merge)) != NULL) {
        if (etwas_trace_is_closing(stream->trace)) {
            etwas_merge_heap_remove_top(&run->merge);
            continue;
        }
        if (stream->is_misnumbered) {
            etwas_stream_report_numbers(stream);
        }
        if (stream->state == ETWAS_STREAM_RECORD) {
            process_deliver_records(run, stream);
            if (stream->duplicates != NULL && stream->duplicates->out_of_memory) {
                code = ERROR_NOT_ENOUGH_MEMORY;
            }
        } else {
            code = process_change_buffer(run, stream);
        }
    }
    return code;
}

/*
 * Makes the timeline of all parts of a set, whose first file is `first`. Returns false without
 * memory.
 */
static bool process_join_timelines(struct etwas_files_run *run, uint32_t first)
{
    struct etwas_clock_snapshot_list list = {0};
    bool complete = true;

    for (uint32_t i = first; i < run->file_count; i++) {
        const struct etwas_timeline *timeline = run->files[i].trace->timeline;

        for (size_t k = 0; run->files[i].part.set_number == first && k < timeline->count; k++) {
            complete = complete && etwas_clock_snapshot_list_add(&list, &timeline->snapshots[k]);
        }
    }
    if (complete) {
        run->files[first].set_timeline =
            etwas_timeline_new(&run->files[first].part.trace->log.base, &list);
    }
    free(list.snapshots);
    return run->files[first].set_timeline != NULL;
}

/*
 * Chooses the timelines. Clock snapshots know the rate of a cycle counter from second to second, a
 * calibration only that of some milliseconds. The other clocks need none: their rates are exact.
 */
static uint32_t process_choose_timelines(struct etwas_files_run *run)
{
    for (uint32_t i = 0; i < run->file_count; i++) {
        struct file_run *file = &run->files[i];
        uint32_t first = (uint32_t)file->part.set_number;

        if (file->trace->log.fields.clock_type != ETWAS_ETL_CLOCK_CYCLES) {
            continue;
        }
        file->timeline = file->trace->timeline;
        if (file->part.has_other_parts) {
            if (first == i && !process_join_timelines(run, first)) {
                return ERROR_NOT_ENOUGH_MEMORY;
            }
            file->timeline = run->files[first].set_timeline;
        }
    }
    return ERROR_SUCCESS;
}

uint32_t etwas_files_run_process(struct etwas_files_run *run, struct etwas_trace *const *traces)
{
    uint32_t code = ERROR_SUCCESS;

    for (uint32_t i = 0; i < run->file_count; i++) {
        run->files[i].part = etwas_file_set_member_of(traces, run->file_count, i, run->is_aligned);
    }
    for (uint32_t i = 0; i < run->file_count && code == ERROR_SUCCESS; i++) {
        code = process_open_file(&run->files[i], traces[i], &run->span);
    }
    if (code == ERROR_SUCCESS && run->is_aligned) {
        etwas_repeated_counts_find(traces, run->file_count);
        etwas_timeline_align(traces, run->file_count);
    }
    if (code == ERROR_SUCCESS) {
        code = process_choose_timelines(run);
    }
    if (code == ERROR_SUCCESS) {
        code = process_run_files(run);
    }
    for (uint32_t i = 0; i < run->file_count && code == ERROR_SUCCESS; i++) {
        if (traces[i]->information.damages > 0) {
            code = ERROR_FILE_CORRUPT;
        }
    }
    return code;
}

struct etwas_files_run *etwas_files_run_new(uint32_t count, const struct etwas_span *span,
                                            bool is_aligned)
{
    struct etwas_files_run *run = calloc(1, sizeof *run + count * sizeof run->files[0]);

    if (run != NULL) {
        run->file_count = count;
        run->is_aligned = is_aligned;
        run->span = *span;
    }
    return run;
}

void etwas_files_run_free(struct etwas_files_run *run)
{
    for (uint32_t i = 0; i < run->file_count; i++) {
        process_close_file(&run->files[i]);
    }
    free(run->merge.heap);
    etwas_duplicates_free(run->duplicates, run->duplicates_count);
    free(run);
}
