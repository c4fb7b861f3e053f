/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads a trace for `etwas advise`. */

#include "advise/load.h"

#include "event/event.h"
#include "event/names.h"
#include "exit.h"
#include "trace/condition.h"

#include <etwas/evntrace.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Returns whether a writer put the record into the session's buffers. Others are repeated by the
 * file.
 */
static bool is_event(const struct etwas_input *input, const EVENT_RECORD *record)
{
    const EVENT_HEADER *header = &record->EventHeader;

    if (etwas_event_is_header_class(record) ||
        etwas_event_is_of_class(record, &etwas_names_metadata_class)) {
        return false;
    }
    if (etwas_event_is_of_class(record, &etwas_names_own_class) &&
        header->EventDescriptor.Opcode == ETWAS_NAMES_FORMAT_TYPE) {
        return false;
    }
    return input->is_kernel || !etwas_event_is_image(record);
}

static bool is_chosen(const struct etwas_load *load, const struct etwas_input *input,
                      const EVENT_RECORD *record)
{
    struct etwas_load_choice *choice = load->choice;
    struct etwas_descriptions *descriptions;

    if (choice == NULL) {
        return true;
    }
    descriptions = etwas_descriptions_of(&choice->descriptions, input);
    etwas_descriptions_add_process(descriptions, input, record);
    (void)etwas_descriptions_add_record(descriptions, record);
    return etwas_window_holds(&choice->window, input, record) &&
           etwas_condition_holds_for(&choice->where, &choice->current, input, record, descriptions,
                                     NULL);
}

static void on_record(EVENT_RECORD *record)
{
    struct etwas_input *input = record->UserContext;
    struct etwas_load *load = input->context;
    bool one_slot = !etwas_event_has_processor(input->logfile.LogfileHeader.LogFileMode);
    uint32_t processor = one_slot ? 0 : record->BufferContext.ProcessorIndex;
    bool is_beside = processor >= input->information.processors &&
                     processor < input->logfile.LogfileHeader.NumberOfProcessors;

    if (load->out_of_memory || !is_event(input, record) || !is_chosen(load, input, record)) {
        return;
    }
    load->one_slot |= one_slot;
    if (!etwas_load_add(load, etwas_input_unix_ns(input, record), processor, is_beside,
                        record->EventHeader.Size)) {
        load->out_of_memory = true;
        input->run->stop = true;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Returns the number of processors in the file; 0 if it is impossible, which is reported. */
static uint32_t processors_of(struct etwas_load *load, const struct etwas_input *input)
{
    char what[160];

    if (input->information.processors <= ETWAS_LOAD_MOST_PROCESSORS) {
        return input->information.processors;
    }
    snprintf(what, sizeof what,
             "damaged: it says that its machine has %" PRIu32
             " processors, which none has. Those that have events count",
             input->information.processors);
    etwas_input_report(input, "advise", false, what);
    load->is_damaged = true;
    return 0;
}

static void learn(struct etwas_load *load, const struct etwas_input *input)
{
    uint32_t processors = processors_of(load, input);

    load->processors = processors > load->processors ? processors : load->processors;
    /* One stream more than processors is for threads that cannot use restartable sequences. */
    load->has_classes |= etwas_event_has_processor(input->logfile.LogfileHeader.LogFileMode) &&
                         processors != 0 &&
                         input->logfile.LogfileHeader.NumberOfProcessors > processors + 1;
    load->lost_events += etwas_input_lost(input);
    load->overwritten_events += etwas_input_overwritten(input);
}

int etwas_load_read(struct etwas_load *load, struct etwas_load_choice *choice,
                    struct etwas_input *inputs, char *const *paths, uint32_t count)
{
    const struct etwas_input_callbacks callbacks = {.record = on_record,
                                                    .time = ETWAS_INPUT_NANOSECONDS};
    struct etwas_input_run run = {.inputs = inputs};
    int result;
    int processed;

    if (!etwas_load_open(load)) {
        load->out_of_memory = true;
        return ETWAS_EXIT_FAILED;
    }
    load->choice = choice;
    result = etwas_input_open_all(&run, paths, count, &callbacks, load);
    for (uint32_t i = 0; i < run.count; i++) {
        (void)etwas_trace_query(inputs[i].trace, &inputs[i].information);
        load->out_of_memory |=
            choice != NULL &&
            !etwas_all_descriptions_add(&choice->descriptions, &inputs[i], &choice->paths);
    }
    if (run.count == 0) {
        return result;
    }
    etwas_progress_start(&run.progress, false);
    processed = etwas_input_process(&run);
    for (uint32_t i = 0; i < run.count; i++) {
        etwas_input_warn(&inputs[i]);
        learn(load, &inputs[i]);
    }
    result = result == ETWAS_EXIT_DONE ? processed : result;
    load->files = run.count;
    if (result == ETWAS_EXIT_DONE && load->is_damaged) {
        result = ETWAS_EXIT_DAMAGED;
    }
    load->is_damaged = result != ETWAS_EXIT_DONE;
    return result;
}
