/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Counts one file with several threads, each of which reads a section of it. Counts, sums and the
 * first and last time do not depend on the order of events. Two cases are left to one thread. If
 * --where is given, events are decoded as they come, and durations depend on earlier events. An
 * unfinished file may have a different size for each thread.
 */

#include "analyse/counts/counts.h"

#include "exit.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum {
    MOST_THREADS = 8,
    LEAST_SECTION_BYTES = 8 << 20, /* for less, starting a thread takes longer than reading */
};

/* The state of a thread. */
struct section {
    struct etwas_counts counts;
    struct etwas_input input;
    struct etwas_descriptions descriptions;
    uint32_t sections;
    pthread_t thread;
    int result;
};

static void on_description(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;

    (void)etwas_descriptions_add_record(input->context, record);
}

static const struct etwas_input_callbacks learning = {.record = on_description,
                                                      .time = ETWAS_INPUT_FILETIME};

static uint32_t threads_for(const struct etwas_counts *counts, const struct etwas_input *input)
{
    etwas_trace_information information;
    cpu_set_t allowed;
    uint64_t threads;

    if (counts->where != NULL || etwas_trace_query(input->trace, &information) != ERROR_SUCCESS ||
        information.unfinished || sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return 1;
    }
    threads = information.file_bytes / LEAST_SECTION_BYTES;
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    threads = threads < (uint64_t)CPU_COUNT(&allowed) ? threads : (uint64_t)CPU_COUNT(&allowed);
    return threads > 1 ? (uint32_t)threads : 1;
}

static void *read_section(void *argument)
{
    struct section *section = argument;
    struct etwas_input_run run = {
        .inputs = &section->input, .count = 1, .sections = section->sections};

    etwas_window_narrow(&section->counts.window, &run);
    section->result = etwas_input_process(&run);
    return NULL;
}

/* Starts to read a later section of the input's file. Returns NULL if that fails. */
static struct section *begin_section(const struct etwas_counts *counts,
                                     const struct etwas_input *input, uint32_t number,
                                     uint32_t sections)
{
    struct section *section = calloc(1, sizeof *section);
    bool is_open;

    if (section == NULL) {
        return NULL;
    }
    section->sections = sections;
    section->counts.descriptions = &section->descriptions;
    section->counts.window = counts->window;
    is_open = etwas_descriptions_open(&section->descriptions, input->path,
                                      counts->descriptions->paths, counts->descriptions->shared);
    /* Missing descriptions are read after all sections. */
    section->descriptions.read_whole = true;
    if (is_open && etwas_input_open(&section->input, input->path, input->number,
                                    &etwas_counts_callbacks, &section->counts) == ETWAS_EXIT_DONE) {
        section->input.coverage = input->coverage;
        if (etwas_trace_select_section(section->input.trace, number, sections) == ERROR_SUCCESS &&
            pthread_create(&section->thread, NULL, read_section, section) == 0) {
            return section;
        }
        CloseTrace(section->input.trace);
    }
    etwas_descriptions_close(&section->descriptions);
    free(section);
    return NULL;
}

static void merge_input(struct etwas_input *input, const struct etwas_input *section)
{
    etwas_trace_information *sum = &input->information;
    const etwas_trace_information *more = &section->information;

    sum->buffers += more->buffers;
    sum->buffers_damaged += more->buffers_damaged;
    sum->events += more->events;
    sum->bytes_skipped += more->bytes_skipped;
    sum->bytes_read += more->bytes_read;
    sum->damages += more->damages;
    sum->overwritten_buffers += more->overwritten_buffers;
    for (uint64_t i = 0; i < section->damage_count && i < ETWAS_INPUT_DAMAGES_KEPT; i++) {
        if (input->damage_count + i < ETWAS_INPUT_DAMAGES_KEPT) {
            input->damages[input->damage_count + i] = section->damages[i];
        }
    }
    input->damage_count += section->damage_count;
}

/*
 * Reads a section once more, for the descriptions of events. This is done in the order of the
 * sections, since a manifest may span several.
 */
static void learn(struct etwas_counts *counts, const struct etwas_input *input, uint32_t number,
                  uint32_t sections)
{
    struct etwas_input again;
    struct etwas_input_run run = {.inputs = &again, .count = 1, .sections = sections};

    if (etwas_input_open(&again, input->path, input->number, &learning, counts->descriptions) ==
        ETWAS_EXIT_DONE) {
        (void)etwas_trace_select_section(again.trace, number, sections);
        (void)etwas_input_process(&run);
    }
}

/* Waits for a section, and adds its counts. */
static int end_section(struct etwas_counts *counts, struct etwas_input *input,
                       struct section *section, uint32_t number)
{
    int result;

    (void)pthread_join(section->thread, NULL);
    result = section->result;
    etwas_counts_merge(counts, &section->counts);
    merge_input(input, &section->input);
    counts->out_of_memory |= section->descriptions.out_of_memory;
    if (section->counts.header.events > 0) {
        learn(counts, input, number, section->sections);
    }
    etwas_counts_clear(&section->counts);
    etwas_descriptions_close(&section->descriptions);
    free(section);
    return result;
}

/* Counts an open file, with several threads if nothing depends on the order of events. */
static int read_sections(struct etwas_counts *counts, struct etwas_input *input)
{
    struct etwas_input_run run = {.inputs = input, .count = 1};
    struct section *sections[MOST_THREADS] = {NULL};
    uint32_t threads = threads_for(counts, input);
    int result;

    for (uint32_t i = 1; i < threads; i++) {
        sections[i] = begin_section(counts, input, i, threads);
    }
    (void)etwas_trace_select_section(input->trace, 0, threads);
    run.sections = threads;
    if (counts->where == NULL || !etwas_where_wants_all(counts->where)) {
        etwas_window_narrow(&counts->window, &run);
    }
    etwas_progress_start(&run.progress, false);
    result = etwas_input_process(&run);
    for (uint32_t i = 1; i < threads; i++) {
        int of_section =
            sections[i] != NULL ? end_section(counts, input, sections[i], i) : ETWAS_EXIT_FAILED;

        counts->out_of_memory |= sections[i] == NULL;
        /* A section that cannot be read takes precedence over a damaged one. */
        if (result == ETWAS_EXIT_DONE || of_section == ETWAS_EXIT_FAILED) {
            result = of_section;
        }
    }
    if (counts->where == NULL && !etwas_window_is_set(&counts->window) && counts->has_time) {
        input->coverage.has_events = true;
        input->coverage.first_ns = counts->first_ns;
        input->coverage.last_ns = counts->last_ns;
    }
    return result;
}

int etwas_counts_read_file(struct etwas_counts_file *file, const char *path, uint32_t number,
                           struct etwas_field_paths *paths,
                           struct etwas_shared_descriptions *shared)
{
    struct etwas_counts *counts = &file->counts;
    int result = etwas_input_open(&file->input, path, number, &etwas_counts_callbacks, counts);

    if (result != ETWAS_EXIT_DONE) {
        return result;
    }
    if (!etwas_descriptions_open(&file->descriptions, path, paths, shared)) {
        CloseTrace(file->input.trace);
        file->out_of_memory = true;
        return ETWAS_EXIT_FAILED;
    }
    counts->descriptions = &file->descriptions;
    counts->losses = &file->losses;
    file->input.losses = &file->losses;
    etwas_trace_coverage_read_ahead(&file->input, &counts->window);
    if (etwas_window_is_set(&counts->window)) {
        etwas_counts_keep_names(counts, &file->input);
    }
    if (counts->where != NULL && counts->where->wants_duration &&
        etwas_spans_open(0, &counts->spans) != ERROR_SUCCESS) {
        counts->out_of_memory = true;
    }
    /* Without --where and a window, nothing is decoded before the whole file was read. */
    file->descriptions.read_whole = counts->where == NULL && !etwas_window_is_set(&counts->window);
    result = read_sections(counts, &file->input);
    etwas_counts_describe(counts);
    file->out_of_memory =
        counts->out_of_memory || file->descriptions.out_of_memory || counts->current.out_of_memory;
    return result;
}

void etwas_counts_close_file(struct etwas_counts_file *file)
{
    etwas_counts_clear(&file->counts);
    etwas_descriptions_report_left_out(file->descriptions.decoder, file->descriptions.path);
    etwas_descriptions_close(&file->descriptions);
    etwas_trace_losses_free(&file->losses);
}
