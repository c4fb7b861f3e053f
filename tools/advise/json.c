/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes the answer of `etwas advise` as one JSON object. The keys are part of the command's
 * interface.
 */

#include "advise/advise.h"

#include "print/json.h"

static void put_duration(struct etwas_output *output, const char *key, uint64_t ns)
{
    etwas_json_number(output, key, ns);
}

/* Writes a rate or a time; null if it is not known. */
static void put_real(struct etwas_output *output, const char *key, double value)
{
    if (value > 0) {
        etwas_json_format(output, key, "%.9g", value);
    } else {
        etwas_json_null(output, key);
    }
}

static void put_duration_or_null(struct etwas_output *output, const char *key, bool known,
                                 uint64_t ns)
{
    if (known) {
        put_duration(output, key, ns);
    } else {
        etwas_json_null(output, key);
    }
}

static double per_buffer(const struct etwas_advice *advice, double bytes_per_second)
{
    return bytes_per_second > 0 ? 1e9 * etwas_model_room(&advice->advised.sizes) / bytes_per_second
                                : 0;
}

static void put_slot(struct etwas_output *output, const struct etwas_load *load,
                     const struct etwas_advice *advice, const struct etwas_load_slot *slot)
{
    double rate = etwas_load_rate(load, slot->sum.bytes);
    double burst = etwas_load_burst_rate(load, &slot->sum);

    etwas_json_object(output, NULL);
    etwas_json_known(output, "cpu", !slot->is_beside && !load->one_slot, slot->processor);
    etwas_json_number(output, "events", slot->sum.events);
    etwas_json_number(output, "bytes", slot->sum.bytes);
    put_real(output, "bytes_per_second", rate);
    put_real(output, "burst_bytes_per_second", burst);
    put_real(output, "duration_per_buffer", per_buffer(advice, rate));
    put_real(output, "burst_duration_per_buffer", per_buffer(advice, burst));
    etwas_output_char(output, '}');
}

static void put_processors(struct etwas_output *output, const struct etwas_load *load,
                           const struct etwas_advice *advice)
{
    etwas_json_array(output, "cpus");
    for (uint32_t i = 0; i < ETWAS_LOAD_PROCESSORS; i++) {
        if (load->slot_of[i] != 0) {
            put_slot(output, load, advice, &load->slots[load->slot_of[i] - 1]);
        }
    }
    etwas_output_char(output, ']');
}

static void put_load(struct etwas_output *output, const struct etwas_load *load,
                     const struct etwas_advice *advice)
{
    etwas_json_begin(output, "advice");
    etwas_json_number(output, "files", load->files);
    etwas_json_boolean(output, "damaged", load->is_damaged);
    etwas_json_number(output, "lost", load->lost_events);
    etwas_json_number(output, "overwritten", load->overwritten_events);
    etwas_json_boolean(output, "retention_classes", load->has_classes);
    etwas_json_number(output, "events", load->sum.events);
    etwas_json_number(output, "bytes", load->sum.bytes);
    put_duration(output, "duration", load->span_ns);
    etwas_json_number(output, "largest_record", load->largest);
    etwas_json_number(output, "machine_cpus", load->processors);
    put_real(output, "bytes_per_second", etwas_load_rate(load, load->sum.bytes));
    put_real(output, "burst_bytes_per_second", etwas_load_burst_rate(load, &load->sum));
    put_duration(output, "burst_at", load->sum.burst_at_ns);
    put_processors(output, load, advice);
}

static void put_question(struct etwas_output *output, const struct etwas_advise_question *question)
{
    etwas_json_text(output, "mode", question->is_recorder ? "buffering" : "file");
    put_duration_or_null(output, "history", question->is_recorder, question->history_ns);
    put_duration(output, "late", question->flusher.late_ns);
    put_real(output, "disk_bytes_per_second", (double)question->flusher.write_rate);
    put_duration(output, "flush_timer", question->flusher.flush_timer_ns);
    etwas_json_number(output, "margin_percent", question->margin_percent);
}

static void put_outcome(struct etwas_output *output, const char *key, bool is_recorder,
                        const struct etwas_advise_outcome *outcome)
{
    const struct etwas_recorder_result *recorder = &outcome->recorder;
    const struct etwas_flusher_result *flusher = &outcome->flusher;
    bool overwrote = recorder->overwritten_buffers > 0;

    etwas_json_object(output, key);
    etwas_json_number(output, "minimum_buffers", outcome->sizes.minimum);
    etwas_json_number(output, "maximum_buffers", outcome->sizes.maximum);
    if (is_recorder) {
        put_duration_or_null(output, "holds", overwrote, recorder->least_ns);
        put_duration_or_null(output, "holds_at", overwrote, recorder->least_at_ns);
        put_duration_or_null(output, "holds_at_end", overwrote, recorder->end_ns);
        put_duration(output, "short", recorder->short_ns);
        put_duration_or_null(output, "missing_at", recorder->missing_events > 0,
                             recorder->missing_at_ns);
        etwas_json_number(output, "wanted_events", recorder->wanted_events);
        etwas_json_number(output, "missing_events", recorder->missing_events);
        etwas_json_number(output, "overwritten", recorder->overwritten_events);
    } else {
        etwas_json_number(output, "lost", flusher->lost_events);
        put_duration_or_null(output, "first_lost_at", flusher->lost_events > 0,
                             flusher->first_lost_at_ns);
        etwas_json_number(output, "most_in_use", flusher->most_in_use);
        etwas_json_number(output, "passes", flusher->passes);
    }
    etwas_output_char(output, '}');
}

static void put_advice(struct etwas_output *output, const struct etwas_load *load,
                       const struct etwas_advice *advice)
{
    const struct etwas_model_sizes *sizes = &advice->advised.sizes;

    etwas_json_number(output, "buffer_bytes", sizes->buffer_kb * UINT64_C(1024));
    etwas_json_number(output, "minimum_buffers", sizes->minimum);
    etwas_json_number(output, "maximum_buffers", sizes->maximum);
    etwas_json_number(output, "memory_bytes", (uint64_t)sizes->maximum * sizes->buffer_kb * 1024);
    etwas_json_boolean(output, "enough", advice->is_enough);
    etwas_json_boolean(output, "extrapolated", advice->is_extrapolated);
    etwas_json_number(output, "least_buffers", advice->least);
    etwas_json_number(output, "floor_buffers", advice->floor);
    put_real(output, "duration_per_buffer",
             per_buffer(advice, etwas_load_rate(load, load->sum.bytes)));
}

static void put_replay(struct etwas_output *output, const struct etwas_advise_question *question,
                       const struct etwas_advise_replay *replay)
{
    bool measured = question->is_recorder && replay->has_overwritten;

    etwas_json_object(output, "replay");
    etwas_json_text(output, "failed", replay->failed);
    etwas_json_known(output, "code", replay->failed != NULL, replay->code);
    etwas_json_format(output, "factor", "%.9g", question->pace);
    etwas_json_number(output, "threads", replay->threads);
    etwas_json_number(output, "buffer_bytes", replay->sizes.buffer_kb * UINT64_C(1024));
    etwas_json_number(output, "minimum_buffers", replay->sizes.minimum);
    etwas_json_number(output, "maximum_buffers", replay->sizes.maximum);
    etwas_json_number(output, "events", replay->events);
    etwas_json_number(output, "lost", replay->lost_events);
    put_duration(output, "latest", replay->latest_ns);
    put_duration_or_null(output, "holds", measured, replay->held_ns);
    put_duration_or_null(output, "holds_at", measured, replay->held_at_ns);
    put_duration_or_null(output, "holds_at_end", measured, replay->held_at_end_ns);
    etwas_output_char(output, '}');
}

void etwas_advise_json(struct etwas_output *output, const struct etwas_advise_question *question,
                       const struct etwas_load *load, const struct etwas_advice *advice,
                       const struct etwas_advise_replay *replay)
{
    put_load(output, load, advice);
    put_question(output, question);
    put_advice(output, load, advice);
    put_outcome(output, "advised", question->is_recorder, &advice->advised);
    put_outcome(output, "half", question->is_recorder, &advice->half);
    if (replay != NULL) {
        put_replay(output, question, replay);
    } else {
        etwas_json_null(output, "replay");
    }
    etwas_output_text(output, "}\n");
}
