/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas stat` as one JSON object per file. The keys are part of the command's interface.
 */

#include "show/counts.h"

#include "event/names.h"
#include "exit.h"
#include "print/json.h"
#include "show/clock.h"
#include "trace/system.h"

#include <inttypes.h>
#include <stdlib.h>

/* Writes a FILETIME; null for 0, which means that there is none. */
static void put_time(struct etwas_output *output, const char *key, int64_t filetime)
{
    if (filetime == 0) {
        etwas_json_null(output, key);
    } else {
        etwas_json_time(output, key, filetime);
    }
}

/* Writes null if there are no events. */
static void put_event_time(struct etwas_output *output, const char *key,
                           const struct etwas_counts *counts, int64_t time_ns)
{
    if (counts->has_time) {
        etwas_json_time_ns(output, key, time_ns);
    } else {
        etwas_json_null(output, key);
    }
}

static void put_missing(struct etwas_output *output, const struct etwas_counts *counts,
                        const struct etwas_input *input, int result)
{
    const etwas_trace_information *information = &input->information;
    uint64_t missing = 0;
    bool is_known;

    etwas_json_boolean(output, "damaged", result != ETWAS_EXIT_DONE);
    etwas_json_number(output, "damage_count", information->damages);
    etwas_json_number(output, "bytes_skipped", information->bytes_skipped);
    etwas_json_array(output, "damages");
    for (uint64_t i = 0; i < input->damage_count && i < ETWAS_INPUT_DAMAGES_KEPT; i++) {
        const etwas_damage *damage = &input->damages[i];

        etwas_json_object(output, NULL);
        etwas_json_number(output, "position", damage->file_offset);
        etwas_json_text(output, "kind", etwas_damage_name(damage->kind));
        etwas_json_number(output, "bytes_skipped", damage->bytes_skipped);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "lost", information->lost_events);
    etwas_input_json_unattached(output, input);
    etwas_json_number(output, "lost_unexplained", etwas_counts_untold(counts, information));
    is_known = etwas_counts_missing(counts, input, &missing);
    etwas_json_known(output, "missing", is_known, missing);
    etwas_json_number(output, "buffers_lost", information->lost_buffers);
    etwas_json_number(output, "overwritten", information->overwritten_events);
    etwas_json_number(output, "buffers_overwritten", information->overwritten_buffers);
    etwas_json_boolean(output, "unfinished", information->unfinished);
}

static void put_parts(struct etwas_output *output, const struct etwas_parts *parts,
                      const struct etwas_input *input)
{
    uint32_t first;
    uint32_t last = 0;

    etwas_json_number(output, "part", input->information.part);
    etwas_json_array(output, "parts_missing");
    while (etwas_parts_next_missing(parts, input->number, &first, &last)) {
        etwas_json_format(output, NULL, "[%" PRIu32 ",%" PRIu32 "]", first, last);
    }
    etwas_output_char(output, ']');
}

/* Writes the time over which rates are computed; null if it is not known. */
static void put_covered(struct etwas_output *output, const struct etwas_counts *counts,
                        const struct etwas_input *input)
{
    struct etwas_trace_coverage_span span;

    if (!etwas_trace_coverage_span_of(input, &counts->window, &span)) {
        etwas_json_null(output, "covered_start_time");
        etwas_json_null(output, "covered_end_time");
        etwas_json_null(output, "duration");
    } else {
        etwas_json_time_ns(output, "covered_start_time", span.from_ns);
        etwas_json_time_ns(output, "covered_end_time", span.until_ns);
        etwas_json_number(output, "duration", etwas_counts_covered_ns(counts, input));
    }
    etwas_json_number(output, "events_outside", etwas_counts_outside(counts));
}

static void put_session(struct etwas_output *output, const struct etwas_counts *counts,
                        const struct etwas_input *input)
{
    const etwas_trace_information *information = &input->information;
    const TRACE_LOGFILE_HEADER *header = &input->logfile.LogfileHeader;

    etwas_json_utf16(output, "session", counts->session_name, counts->session_name_units);
    etwas_json_utf16(output, "log_file", counts->log_file_name, counts->log_file_name_units);
    etwas_json_bits(output, "log_file_mode", header->LogFileMode);
    etwas_json_array(output, "modes");
    etwas_output_char(output, '"');
    etwas_names_mode(output, header->LogFileMode, "\",\"");
    etwas_output_text(output, "\"]");
    etwas_json_number(output, "buffer_bytes", header->BufferSize);
    etwas_json_number(output, "buffers", information->buffers);
    etwas_json_number(output, "buffers_written", header->BuffersWritten);
    etwas_json_text(output, "clock", etwas_names_clock(information->clock));
    etwas_json_number(output, "clock_hz", information->clock_frequency);
    etwas_json_boolean(output, "calibrated", information->calibrated);
    etwas_show_clock_json(output, &input->clock);
    if (information->protocol != 0) {
        etwas_json_text(output, "protocol",
                        information->protocol == ETWAS_PROTOCOL_RSEQ ? "rseq" : "shared");
    }
    if (information->sequences != ETWAS_SEQUENCES_USED) {
        etwas_json_text(output, "protocol_reason", etwas_sequences_text(information->sequences));
    }
    etwas_json_number(output, "machine_cpus", information->processors);
    etwas_json_number(output, "cpu_hz", header->CpuSpeedInMHz * UINT64_C(1000000));
    etwas_json_number(output, "pointer_bytes", header->PointerSize);
    etwas_json_key(output, "system");
    etwas_output_char(output, '"');
    etwas_trace_print_system(output, input);
    etwas_output_char(output, '"');
    put_time(output, "boot_time", header->BootTime.QuadPart);
    put_time(output, "start_time", header->StartTime.QuadPart);
    put_time(output, "end_time", header->EndTime.QuadPart);
    put_covered(output, counts, input);
    etwas_json_number(output, "file_bytes", information->file_bytes);
    etwas_json_boolean(output, "compressed", information->compressed);
    etwas_json_number(output, "uncompressed_bytes", information->uncompressed_bytes);
}

static void put_count(struct etwas_output *output, const struct etwas_counts_sum *counted)
{
    etwas_json_number(output, "events", counted->events);
    etwas_json_number(output, "payload_bytes", counted->payload_bytes);
}

void etwas_counts_json_processor(struct etwas_output *output, const struct etwas_counts *counts,
                                 const struct etwas_input *input, uint32_t number)
{
    etwas_json_object(output, NULL);
    etwas_json_known(output, "cpu",
                     (number != 0 || !counts->without_processors) &&
                         !etwas_counts_is_beside_processors(input, number),
                     number);
    put_count(output, &counts->processors[number]);
}

static void put_processors(struct etwas_output *output, const struct etwas_counts *counts,
                           const struct etwas_input *input)
{
    etwas_json_array(output, "by_cpu");
    for (uint32_t i = 0; i < ETWAS_COUNTS_PROCESSORS; i++) {
        if (counts->processors[i].events > 0) {
            etwas_counts_json_processor(output, counts, input, i);
            etwas_output_char(output, '}');
        }
    }
    etwas_output_char(output, ']');
}

/* Writes the name of a kind. The key is written first, and removed again if there is no name. */
static void put_kind_name(struct etwas_output *output, const struct etwas_counts_kind *kind)
{
    static const char key[] = ",\"event\":\"";

    etwas_output_room(output, ETWAS_OUTPUT_BYTES / 2);
    etwas_output_text(output, key);
    if (etwas_counts_print_name(output, ETWAS_TEXT_JSON, kind)) {
        etwas_output_char(output, '"');
    } else {
        output->used_bytes -= sizeof key - 1;
    }
}

static void put_kinds(struct etwas_output *output, const struct etwas_counts *counts)
{
    struct etwas_counts_kind **kinds = etwas_counts_sorted_kinds(counts);

    etwas_json_array(output, "by_event");
    for (uint32_t i = 0; kinds != NULL && i < counts->kind_count; i++) {
        const struct etwas_counts_kind *kind = kinds[i];

        etwas_json_object(output, NULL);
        etwas_json_guid(output, "event_class_id", &kind->key.guid);
        put_kind_name(output, kind);
        etwas_json_number(output, "opcode", kind->key.type);
        if (!kind->key.classic) {
            etwas_json_number(output, "event_id", kind->key.id);
        }
        put_count(output, &kind->count);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "other_events", counts->other_kinds.events);
    free(kinds);
}

static void put_told_loss(struct etwas_output *output, const struct etwas_trace_loss *loss)
{
    etwas_json_object(output, NULL);
    etwas_json_time_ns(output, "start_time", loss->from_ns);
    etwas_json_time_ns(output, "end_time", loss->until_ns);
    etwas_json_word(output, "cause", etwas_lost_name(loss->cause));
    if (loss->processor != ETWAS_LOST_ANYWHERE) {
        etwas_json_number(output, "cpu", loss->processor);
    }
    etwas_json_number(output, "events", loss->events);
    etwas_output_char(output, '}');
}

static void put_losses(struct etwas_output *output, const struct etwas_trace_losses *losses)
{
    etwas_json_array(output, "losses");
    for (uint32_t i = 0; i < losses->count; i++) {
        put_told_loss(output, &losses->list[i]);
    }
    etwas_output_char(output, ']');
}

static void put_gaps(struct etwas_output *output, const struct etwas_counts *counts)
{
    etwas_json_array(output, "not_recorded");
    for (uint32_t i = 0; i < counts->gap_count && i < ETWAS_COUNTS_GAPS; i++) {
        const struct etwas_counts_gap *gap = &counts->gaps[i];

        etwas_json_object(output, NULL);
        etwas_json_number(output, "cpu", gap->processor);
        if (gap->from_ns == INT64_MIN) {
            etwas_json_null(output, "start_time");
        } else {
            etwas_json_time_ns(output, "start_time", gap->from_ns);
        }
        etwas_json_time_ns(output, "end_time", gap->until_ns);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "not_recorded_count", counts->gap_count);
}

void etwas_counts_json_head(struct etwas_output *output, const struct etwas_counts *counts,
                            const struct etwas_input *input, int result)
{
    struct etwas_counts_sum total = etwas_counts_total(counts);

    etwas_json_begin(output, "trace");
    etwas_json_text(output, "file", input->path);
    put_missing(output, counts, input, result);
    put_parts(output, counts->parts, input);
    put_session(output, counts, input);
    etwas_json_number(output, "events", total.events);
    etwas_json_number(output, "payload_bytes", total.payload_bytes);
    etwas_json_number(output, "header_events", counts->header.events);
    etwas_json_number(output, "repeated_events", input->information.repeated_events);
    etwas_json_number(output, "repeated_lost", input->information.repeated_lost_events);
    etwas_json_number(output, "repeated_overwritten",
                      input->information.repeated_overwritten_events);
    etwas_json_real(output, "rate",
                    etwas_trace_coverage_rate(total.events - etwas_counts_outside(counts),
                                              etwas_counts_covered_ns(counts, input)));
    put_event_time(output, "first_time", counts, counts->first_ns);
    put_event_time(output, "last_time", counts, counts->last_ns);
}

void etwas_counts_json(struct etwas_output *output, const struct etwas_counts *counts,
                       const struct etwas_input *input, int result)
{
    etwas_counts_json_head(output, counts, input, result);
    put_losses(output, counts->losses);
    put_gaps(output, counts);
    put_processors(output, counts, input);
    put_kinds(output, counts);
    etwas_output_text(output, "}\n");
}
