/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Counting one file with several threads, each of which reads a section of it. Counts, sums and the
 * first and last time need no order of the events. What does stays with one thread: --where, which
 * asks what events are while they come, and with durations which came before; and a file without an
 * end, of which each thread might see another size.
 */

#include "stat/stat.h"

#include "exit.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum {
    MOST_THREADS = 8,
    LEAST_SECTION_BYTES = 8 << 20, /* below this a thread takes longer to begin than to read */
};

/* What a thread has. */
struct section {
    struct etwas_stat stat;
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

static uint32_t threads_for(const struct etwas_stat *stat, const struct etwas_input *input)
{
    etwas_trace_information information;
    cpu_set_t allowed;
    uint64_t threads;

    if (stat->where != NULL || etwas_trace_query(input->trace, &information) != ERROR_SUCCESS ||
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

    etwas_window_narrow(&section->stat.window, &run);
    section->result = etwas_input_process(&run);
    return NULL;
}

/* A later section of the input's file, begun. NULL where it cannot be had. */
static struct section *begin_section(const struct etwas_stat *stat, const struct etwas_input *input,
                                     uint32_t number, uint32_t sections)
{
    struct section *section = calloc(1, sizeof *section);
    bool is_open;

    if (section == NULL) {
        return NULL;
    }
    section->sections = sections;
    section->stat.descriptions = &section->descriptions;
    section->stat.window = stat->window;
    is_open = etwas_descriptions_open(&section->descriptions, input->path,
                                      stat->descriptions->paths, stat->descriptions->shared);
    section->descriptions.read_whole =
        true; /* what it lacks is learned when all sections are read */
    if (is_open && etwas_input_open(&section->input, input->path, input->number,
                                    &etwas_stat_counting, &section->stat) == ETWAS_EXIT_DONE) {
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
 * The section once more, for what describes events: in the order of the sections, as manifests may
 * go across.
 */
static void learn(struct etwas_stat *stat, const struct etwas_input *input, uint32_t number,
                  uint32_t sections)
{
    struct etwas_input again;
    struct etwas_input_run run = {.inputs = &again, .count = 1, .sections = sections};

    if (etwas_input_open(&again, input->path, input->number, &learning, stat->descriptions) ==
        ETWAS_EXIT_DONE) {
        (void)etwas_trace_select_section(again.trace, number, sections);
        (void)etwas_input_process(&run);
    }
}

/* Waits for a section, and adds it. */
static int end_section(struct etwas_stat *stat, struct etwas_input *input, struct section *section,
                       uint32_t number)
{
    int result;

    (void)pthread_join(section->thread, NULL);
    result = section->result;
    etwas_stat_merge(stat, &section->stat);
    merge_input(input, &section->input);
    stat->out_of_memory |= section->descriptions.out_of_memory;
    if (section->stat.header.events > 0) {
        learn(stat, input, number, section->sections);
    }
    etwas_stat_clear(&section->stat);
    etwas_descriptions_close(&section->descriptions);
    free(section);
    return result;
}

/* Counts an open file, with several threads where nothing needs the order of events. */
static int read_sections(struct etwas_stat *stat, struct etwas_input *input)
{
    struct etwas_input_run run = {.inputs = input, .count = 1};
    struct section *sections[MOST_THREADS] = {NULL};
    uint32_t threads = threads_for(stat, input);
    int result;

    for (uint32_t i = 1; i < threads; i++) {
        sections[i] = begin_section(stat, input, i, threads);
    }
    (void)etwas_trace_select_section(input->trace, 0, threads);
    run.sections = threads;
    if (stat->where == NULL || !etwas_where_wants_all(stat->where)) {
        etwas_window_narrow(&stat->window, &run);
    }
    etwas_progress_start(&run.progress, false);
    result = etwas_input_process(&run);
    for (uint32_t i = 1; i < threads; i++) {
        int of_section =
            sections[i] != NULL ? end_section(stat, input, sections[i], i) : ETWAS_EXIT_FAILED;

        stat->out_of_memory |= sections[i] == NULL;
        /* A section that cannot be read weighs more than a damaged one. */
        if (result == ETWAS_EXIT_DONE || of_section == ETWAS_EXIT_FAILED) {
            result = of_section;
        }
    }
    if (stat->where == NULL && !etwas_window_is_set(&stat->window) && stat->has_time) {
        input->coverage.has_events = true;
        input->coverage.first_ns = etwas_input_ns_of(stat->first_filetime);
        input->coverage.last_ns = etwas_input_ns_of(stat->last_filetime);
    }
    return result;
}

int etwas_stat_read_file(struct etwas_stat_file *file, const char *path, uint32_t number,
                         struct etwas_field_paths *paths, struct etwas_shared_descriptions *shared)
{
    struct etwas_stat *stat = &file->stat;
    int result = etwas_input_open(&file->input, path, number, &etwas_stat_counting, stat);

    if (result != ETWAS_EXIT_DONE) {
        return result;
    }
    if (!etwas_trace_losses_read(&file->losses, file->input.trace) ||
        !etwas_descriptions_open(&file->descriptions, path, paths, shared)) {
        CloseTrace(file->input.trace);
        file->out_of_memory = true;
        return ETWAS_EXIT_FAILED;
    }
    stat->descriptions = &file->descriptions;
    stat->losses = &file->losses;
    etwas_trace_coverage_read_ahead(&file->input, &stat->window);
    if (etwas_window_is_set(&stat->window)) {
        etwas_stat_keep_names(stat, &file->input);
    }
    if (stat->where != NULL && stat->where->wants_duration &&
        etwas_spans_open(0, &stat->spans) != ERROR_SUCCESS) {
        stat->out_of_memory = true;
    }
    /* Without --where nothing has to be decoded before the whole file was read. */
    file->descriptions.read_whole = stat->where == NULL && !etwas_window_is_set(&stat->window);
    result = read_sections(stat, &file->input);
    etwas_stat_describe(stat);
    file->out_of_memory =
        stat->out_of_memory || file->descriptions.out_of_memory || stat->current.out_of_memory;
    return result;
}

void etwas_stat_close_file(struct etwas_stat_file *file)
{
    etwas_stat_clear(&file->stat);
    etwas_descriptions_report_left_out(file->descriptions.decoder, file->descriptions.path);
    etwas_descriptions_close(&file->descriptions);
    etwas_trace_losses_free(&file->losses);
}
