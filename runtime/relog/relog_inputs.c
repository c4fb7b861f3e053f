/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The files that are relogged: the contents of their headers, whether they are of one machine, and
 * their clock snapshots.
 */
#include "relog/relogger.h"

#include <etwas/winerror.h>
#include <stdlib.h>

#include "reader/clock_snapshots.h"
#include "reader/file_set.h"

static uint32_t relog_input_streams(const struct etwas_file_header *log)
{
    uint32_t processors = log->fields.start.number_of_processors;

    /*
     * If a file has retention classes, the reader delivers the processor alone, or one number
     * beyond for none.
     */
    if (log->trust.rows > 1 && log->trust.processors != 0) {
        processors = log->trust.processors + 1u;
    }
    return processors < ETWAS_RELOG_PROCESSORS ? processors : ETWAS_RELOG_PROCESSORS;
}

static struct etwas_etl_totals relog_input_totals(const struct etwas_trace *trace)
{
    const etwas_trace_information *information = &trace->information;

    return (struct etwas_etl_totals){
        .version = ETWAS_ETL_TOTALS_VERSION,
        .overwritten_events =
            information->overwritten_events - information->repeated_overwritten_events,
        .overwritten_buffers =
            information->overwritten_buffers - information->repeated_overwritten_buffers,
        .lost_events = information->lost_events - information->repeated_lost_events,
        .lost_buffers = information->lost_buffers - information->repeated_lost_buffers,
        .attempted_events = information->attempted_events - information->repeated_attempted_events,
        .ends = information->ends,
        .unattached_code = (uint16_t)information->unattached_code,
        .unattached_processes = (uint16_t)information->unattached_processes,
    };
}

/* Returns whether the clock of the header can be written again. */
static bool relog_input_has_clock(const struct etwas_file_header *log)
{
    struct etwas_etl_clock clock;

    return etwas_etl_clock_from_header(
        &clock, log->fields.clock_type, log->fields.performance_frequency_hz,
        log->fields.start.cpu_speed_mhz, log->first_raw, log->fields.start_filetime);
}

static uint32_t relog_input_read(struct etwas_relog_input *input, struct etwas_trace *trace)
{
    const struct etwas_file_header *log = &trace->log;

    input->fields = log->fields;
    input->clock = log->clock;
    input->first_raw = log->first_raw;
    input->own = log->own;
    input->has_clock = relog_input_has_clock(log);
    input->processors = relog_input_streams(log);
    input->buffer_bytes = log->session_buffer_bytes;
    /* If buffers differ in size, one may be larger than the header says. */
    input->record_bytes = log->uniform || trace->information.compressed
                              ? log->session_buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES
                              : ETWAS_ETL_LARGEST_RECORD_BYTES;
    input->totals = relog_input_totals(trace);
    input->says_attempted = trace->information.attempted_events != 0;
    return etwas_relog_first_buffer_read(&input->first, trace);
}

static bool filetimes_are_near(int64_t left, int64_t right)
{
    int64_t apart;

    return !__builtin_sub_overflow(left, right, &apart) && apart < ETWAS_ETL_FILETIME_PER_SECOND &&
           apart > -ETWAS_ETL_FILETIME_PER_SECOND;
}

static bool relog_inputs_are_of_one_machine(const struct etwas_relog_input *a,
                                            const struct etwas_relog_input *b)
{
    return a->own == b->own && a->processors == b->processors &&
           a->fields.clock_type == b->fields.clock_type &&
           a->fields.performance_frequency_hz == b->fields.performance_frequency_hz &&
           filetimes_are_near(a->fields.boot_filetime, b->fields.boot_filetime);
}

/*
 * Adds the clock snapshots that a reader would use, and frees the timeline. Returns false without
 * memory.
 */
static bool relog_add_snapshots(struct etwas_clock_snapshot_list *list,
                                struct etwas_timeline *timeline)
{
    bool complete = timeline != NULL;

    for (size_t k = 0; complete && k < timeline->all_count; k++) {
        complete = etwas_clock_snapshot_list_add(list, &timeline->all[k]);
    }
    etwas_timeline_free(timeline);
    return complete;
}

/* Collects the clock snapshots of all inputs, in order. */
static uint32_t relog_collect_snapshots(struct etwas_relogger *relogger,
                                        struct etwas_trace *const *traces)
{
    struct etwas_clock_snapshot_list list = {0};
    bool complete = true;

    for (uint32_t i = 0; i < relogger->count && complete; i++) {
        complete = relog_add_snapshots(&list, etwas_clock_snapshots_read_timeline(traces[i], true));
    }
    complete = complete &&
               relog_add_snapshots(&relogger->snapshots,
                                   etwas_timeline_new(&traces[relogger->base]->log.base, &list));
    free(list.snapshots);
    return complete ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

/*
 * Collects the losses, each by itself as long as there is room. If several files repeat the losses
 * of a session, those of the file that counts are taken.
 */
static void relog_collect_losses(struct etwas_relogger *relogger, const struct etwas_trace *trace)
{
    const struct etwas_loss_list *list = &trace->log.losses;
    bool counts = trace->information.repeated_lost_events == 0;

    for (uint32_t i = 0; counts && i < list->count; i++) {
        const etwas_loss *loss = &list->losses[i];
        const struct etwas_etl_loss again = {
            .version = ETWAS_ETL_LOSS_VERSION,
            .cause = loss->cause,
            .processor = loss->processor,
            .events = loss->events,
            .from_raw = loss->from_raw,
            .until_raw = loss->until_raw,
        };

        etwas_loss_table_add(&relogger->losses, &again); /* each processor has one stream now */
    }
}

/*
 * Numbers the processors: inputs of one machine share theirs; the processors of several machines
 * follow one another.
 */
static uint32_t relog_place_processors(struct etwas_relogger *relogger)
{
    uint32_t processors = 0;

    for (uint32_t i = 0; i < relogger->count && relogger->converted; i++) {
        relogger->inputs[i].first_processor = processors;
        processors += relogger->inputs[i].processors;
    }
    return processors < ETWAS_RELOG_PROCESSORS ? ERROR_SUCCESS : ERROR_NOT_SUPPORTED;
}

uint32_t etwas_relog_inputs_read(struct etwas_relogger *relogger, struct etwas_trace *const *traces)
{
    uint32_t code = ERROR_SUCCESS;

    relogger->own = true;
    etwas_repeated_counts_find(traces, relogger->count);
    etwas_loss_table_begin(&relogger->losses, 0);
    for (uint32_t i = 0; i < relogger->count; i++) {
        struct etwas_relog_input *input = &relogger->inputs[i];
        const struct etwas_relog_input *base = &relogger->inputs[relogger->base];

        code = relog_input_read(input, traces[i]);
        if (code != ERROR_SUCCESS) {
            return code;
        }
        relogger->own = relogger->own && input->own;
        if (input->fields.start_filetime < base->fields.start_filetime) {
            relogger->base = i;
        }
    }
    relogger->converted = !relogger->inputs[relogger->base].has_clock;
    for (uint32_t i = 0; i < relogger->count; i++) {
        relogger->converted |= !relog_inputs_are_of_one_machine(&relogger->inputs[i],
                                                                &relogger->inputs[relogger->base]);
    }
    code = relog_place_processors(relogger);
    if (code == ERROR_SUCCESS && relogger->own && !relogger->converted) {
        code = relog_collect_snapshots(relogger, traces);
        for (uint32_t i = 0; i < relogger->count; i++) {
            relog_collect_losses(relogger, traces[i]);
        }
    }
    return code;
}

void etwas_relog_inputs_free(struct etwas_relogger *relogger)
{
    for (uint32_t i = 0; i < relogger->count; i++) {
        free(relogger->inputs[i].first.records);
        free(relogger->inputs[i].newest);
    }
    free(relogger->inputs);
    free(relogger->snapshots.snapshots);
}
