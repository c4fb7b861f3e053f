/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas stat` as text and tables.
 */

#include "show/counts.h"

#include "event/names.h"
#include "exit.h"
#include "print/human.h"
#include "print/table.h"
#include "print/terminal.h"
#include "show/clock.h"
#include "trace/system.h"

#include <inttypes.h>
#include <stdlib.h>

#define NS_PER_S UINT64_C(1000000000)

static void put_end(struct etwas_output *output)
{
    etwas_output_char(output, '\n');
}

/* Writes "1,234 events". */
static void put_counted(struct etwas_output *output, uint64_t count, const char *what)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_format(output, "%s %s%s", etwas_human_count(text, count), what,
                        etwas_human_plural(count));
}

static void put_bytes(struct etwas_output *output, double bytes)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_text(output, etwas_human_bytes(text, bytes));
}

static void put_rate(struct etwas_output *output, double rate)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_text(output, etwas_human_rate(text, rate));
}

/* ---- Missing events ---- */

static void put_damage(struct etwas_output *output, const struct etwas_input *input, int result)
{
    const etwas_trace_information *information = &input->information;

    if (result == ETWAS_EXIT_DONE) {
        etwas_label(output, "damage");
        etwas_output_text(output, "none\n");
        return;
    }
    if (result != ETWAS_EXIT_DAMAGED) {
        etwas_label(output, "INCOMPLETE");
        etwas_output_text(output, "reading ended before the end of the file\n");
    }
    etwas_label(output, "DAMAGED");
    etwas_output_text(output, "in ");
    put_counted(output, information->damages, "place");
    etwas_output_text(output, ", ");
    put_counted(output, information->bytes_skipped, "byte");
    etwas_output_text(output, " skipped\n");
    etwas_input_print_damages(output, input, "                ");
}

static void put_kernel_loss(struct etwas_output *output, const struct etwas_counts *counts)
{
    char number[ETWAS_HUMAN_CHARACTERS];

    if (counts->kernel_no_room != 0) {
        etwas_label(output, "");
        etwas_output_format(output, "%s of them %s\n",
                            etwas_human_count(number, counts->kernel_no_room),
                            etwas_names_lost_no_room);
    }
    if (counts->kernel_lost != 0) {
        etwas_label(output, "");
        etwas_output_format(output, "%s of them %s\n",
                            etwas_human_count(number, counts->kernel_lost),
                            etwas_names_lost_not_handed_over);
    }
    if (counts->has_kernel_switches && counts->kernel_no_room + counts->kernel_lost != 0) {
        etwas_label(output, "");
        etwas_names_put_lost_switches(output, counts->kernel_switches_lost);
    }
}

/* Writes how many events were lost for one cause, and in which time. */
static void put_cause(struct etwas_output *output, const struct etwas_trace_losses *losses,
                      uint32_t cause)
{
    char number[ETWAS_HUMAN_CHARACTERS];
    int64_t from_ns = INT64_MAX;
    int64_t until_ns = INT64_MIN;
    uint64_t events = 0;

    for (uint32_t i = 0; i < losses->count; i++) {
        const struct etwas_trace_loss *loss = &losses->list[i];

        if (loss->cause == cause) {
            events += loss->events;
            from_ns = loss->from_ns < from_ns ? loss->from_ns : from_ns;
            until_ns = loss->until_ns > until_ns ? loss->until_ns : until_ns;
        }
    }
    if (events != 0) {
        etwas_label(output, "");
        etwas_output_format(output, "%s of them: %s, from ", etwas_human_count(number, events),
                            etwas_lost_name(cause));
        etwas_text_time_ns(output, from_ns);
        etwas_output_text(output, " to ");
        etwas_text_time_ns(output, until_ns);
        put_end(output);
    }
}

/* Writes the times in which events of a processor were not recorded, and not counted as lost. */
static void put_gaps(struct etwas_output *output, const struct etwas_counts *counts)
{
    for (uint32_t i = 0; i < counts->gap_count && i < ETWAS_COUNTS_GAPS; i++) {
        const struct etwas_counts_gap *gap = &counts->gaps[i];

        etwas_label(output, "UNKNOWN");
        etwas_output_format(output, "processor %" PRIu32 " was off, or not recorded, from ",
                            gap->processor);
        if (gap->from_ns == INT64_MIN) {
            etwas_output_text(output, "the beginning");
        } else {
            etwas_text_time_ns(output, gap->from_ns);
        }
        etwas_output_text(output, " to ");
        etwas_text_time_ns(output, gap->until_ns);
        put_end(output);
    }
    if (counts->gap_count > ETWAS_COUNTS_GAPS) {
        etwas_label(output, "");
        put_counted(output, counts->gap_count - ETWAS_COUNTS_GAPS, "more such time");
        put_end(output);
    }
}

static void put_untold(struct etwas_output *output, uint64_t untold)
{
    char number[ETWAS_HUMAN_CHARACTERS];

    if (untold != 0) {
        etwas_label(output, "");
        etwas_output_format(output, "%s of them: why and when the file does not say\n",
                            etwas_human_count(number, untold));
    }
}

/* The file of a flight recorder states since when it has all events of each processor. */
static void put_overwritten(struct etwas_output *output, const struct etwas_input *input)
{
    const etwas_trace_information *information = &input->information;

    etwas_label(output, "overwritten");
    put_counted(output, information->overwritten_events, "event");
    if ((input->logfile.LogfileHeader.LogFileMode & EVENT_TRACE_BUFFERING_MODE) == 0 &&
        !input->coverage.is_said) {
        etwas_output_text(output, " and ");
        put_counted(output, information->overwritten_buffers, "buffer");
        etwas_output_text(output, " by newer ones, as a circular file does\n");
        return;
    }
    etwas_output_text(output, " by newer ones, as a flight recorder does\n");
    if (input->coverage.is_said && !input->coverage.is_none) {
        etwas_label(output, "retained");
        etwas_output_text(output, "all events since ");
        etwas_text_time_ns(output, input->coverage.said_from_ns + 1);
        put_end(output);
    }
}

static void put_loss(struct etwas_output *output, const struct etwas_counts *counts,
                     const struct etwas_input *input)
{
    const etwas_trace_information *information = &input->information;

    if (information->lost_events == 0 && information->lost_buffers == 0) {
        etwas_label(output, "lost");
        etwas_output_text(output, "no events, no buffers\n");
    } else {
        etwas_label(output, "LOST");
        put_counted(output, information->lost_events, "event");
        etwas_output_text(output, " and ");
        put_counted(output, information->lost_buffers, "buffer");
        etwas_output_text(output, " while recording\n");
        for (uint32_t cause = 1; cause <= ETWAS_LOST_CAUSES; cause++) {
            put_cause(output, counts->losses, cause);
        }
        put_kernel_loss(output, counts);
        put_untold(output, etwas_counts_untold(counts, information));
    }
    if (information->unattached_code != 0) {
        etwas_label(output, "MISSING");
        etwas_names_put_unattached(output, information->unattached_processes,
                                   "could not log into the session", information->unattached_code);
    }
    if (information->overwritten_events != 0 || information->overwritten_buffers != 0) {
        put_overwritten(output, input);
    }
}

static void put_parts(struct etwas_output *output, const struct etwas_parts *parts, uint32_t file)
{
    const char *before = "";
    uint32_t first;
    uint32_t last = 0;

    while (etwas_parts_next_missing(parts, file, &first, &last)) {
        if (before[0] == '\0') {
            etwas_label(output, "PARTS MISSING");
        }
        etwas_output_format(output, "%s%" PRIu32, before, first);
        if (last != first) {
            etwas_output_format(output, " to %" PRIu32, last);
        }
        before = ", ";
    }
    if (before[0] != '\0') {
        etwas_output_text(output, " of the new-file set, before the last one given\n");
    }
}

static void put_missing(struct etwas_output *output, const struct etwas_counts *counts,
                        const struct etwas_input *input, int result)
{
    uint64_t missing = 0;

    put_damage(output, input, result);
    put_loss(output, counts, input);
    if (etwas_counts_missing(counts, input, &missing) && missing > 0) {
        etwas_label(output, "MISSING");
        put_counted(output, missing, "event");
        etwas_output_text(output, " that the session recorded, and that the file does not have\n");
    }
    put_gaps(output, counts);
    if (input->information.unfinished) {
        etwas_label(output, "UNFINISHED");
        etwas_output_text(output, "the session did not write its end: it runs, or was killed\n");
    }
    put_parts(output, counts->parts, input->number);
}

/* ---- The session ---- */

static void put_time(struct etwas_output *output, const char *label, int64_t filetime)
{
    etwas_label(output, label);
    etwas_text_time(output, filetime);
    put_end(output);
}

static void put_event_time(struct etwas_output *output, const char *label, int64_t time_ns)
{
    etwas_label(output, label);
    etwas_text_time_ns(output, time_ns);
    put_end(output);
}

static void put_name(struct etwas_output *output, const char *label, const uint16_t *name,
                     size_t units)
{
    etwas_label(output, label);
    etwas_text_utf16(output, ETWAS_TEXT_PLAIN, name, units);
    put_end(output);
}

static void put_clock(struct etwas_output *output, const etwas_trace_information *information)
{
    etwas_label(output, "clock");
    etwas_output_format(output, "%s, ", etwas_names_clock(information->clock));
    put_counted(output, information->clock_frequency, "tick");
    etwas_output_format(output, " a second%s\n", information->calibrated ? ", calibrated" : "");
}

/* Writes the time over which rates are computed. */
static void put_covered(struct etwas_output *output, const struct etwas_counts *counts,
                        const struct etwas_input *input)
{
    uint64_t covered_ns = etwas_counts_covered_ns(counts, input);
    bool begins_late = etwas_trace_coverage_begins_late(input);
    bool has_end = input->logfile.LogfileHeader.EndTime.QuadPart != 0;

    etwas_label(output, "covers");
    if (covered_ns == 0) {
        etwas_output_text(output, input->coverage.is_said
                                      ? "no time of which each processor's events are all here\n"
                                      : "not known\n");
        return;
    }
    etwas_output_format(output, "%" PRIu64 ".%09" PRIu64 " s, ", covered_ns / NS_PER_S,
                        covered_ns % NS_PER_S);
    if (input->coverage.is_said) {
        etwas_output_text(output, "of which each processor's events are all here; ");
        put_counted(output, etwas_counts_outside(counts), "event");
        etwas_output_text(output, " beside it\n");
    } else {
        etwas_output_format(
            output, "from the %s to the %s%s\n", begins_late ? "first event" : "session's start",
            has_end ? "session's end" : "last event",
            etwas_window_is_set(&counts->window) ? ", as far as it is in the window" : "");
    }
}

/* Writes the session's data from the header, and its clocks. */
static void put_session(struct etwas_output *output, const struct etwas_counts *counts,
                        const struct etwas_input *input)
{
    const TRACE_LOGFILE_HEADER *header = &input->logfile.LogfileHeader;
    char text[ETWAS_HUMAN_CHARACTERS];

    put_end(output);
    put_name(output, "log file", counts->log_file_name, counts->log_file_name_units);
    etwas_label(output, "mode");
    etwas_names_mode(output, header->LogFileMode, ", ");
    etwas_output_format(output, " (0x%" PRIx32 ")\n", header->LogFileMode);
    etwas_label(output, "buffers");
    etwas_output_format(output, "%s of ", etwas_human_count(text, input->information.buffers));
    put_counted(output, header->BufferSize, "byte");
    etwas_output_format(output, " in the file, %s written\n",
                        etwas_human_count(text, header->BuffersWritten));
    put_clock(output, &input->information);
    etwas_show_clock_text(output, &input->clock);
    if (input->information.sequences != ETWAS_SEQUENCES_USED) {
        etwas_label(output, "protocol");
        etwas_output_format(output, "shared slots: %s",
                            etwas_sequences_text(input->information.sequences));
        put_end(output);
    }
    etwas_label(output, "computer");
    etwas_output_format(
        output, "%" PRIu32 " processor%s at %" PRIu32 " MHz, %" PRIu32 "-bit, system ",
        input->information.processors, etwas_human_plural(input->information.processors),
        header->CpuSpeedInMHz, header->PointerSize * 8);
    etwas_trace_print_system(output, input);
    put_end(output);
    put_time(output, "booted", header->BootTime.QuadPart);
    put_time(output, "started", header->StartTime.QuadPart);
    if (header->EndTime.QuadPart != 0) {
        put_time(output, "ended", header->EndTime.QuadPart);
    }
    etwas_label(output, "not counted");
    put_counted(output, counts->header.events, "record");
    etwas_output_text(output, " about the trace itself, or that describe events or images\n");
}

/* ---- The events ---- */

static void put_file(struct etwas_output *output, const etwas_trace_information *information,
                     uint64_t covered_ns)
{
    etwas_label(output, "file");
    put_bytes(output, (double)information->file_bytes);
    if (covered_ns > 0) {
        etwas_output_text(output, "; ");
        put_bytes(output, etwas_trace_coverage_rate(information->file_bytes, covered_ns));
        etwas_output_text(output, "/s");
    }
    if (information->compressed) {
        etwas_output_text(output, ", compressed from ");
        put_bytes(output, (double)information->uncompressed_bytes);
        etwas_output_format(output, " (%.1f to 1)",
                            (double)information->uncompressed_bytes /
                                (double)information->file_bytes);
    }
    put_end(output);
}

/* Writes which time the file covers, and the totals of its events. */
static void put_total(struct etwas_output *output, const struct etwas_counts *counts,
                      const struct etwas_input *input)
{
    struct etwas_counts_sum total = etwas_counts_total(counts);
    uint64_t covered_ns = etwas_counts_covered_ns(counts, input);

    put_end(output);
    put_name(output, "session", counts->session_name, counts->session_name_units);
    if (input->information.part != 0) {
        etwas_label(output, "part");
        etwas_output_format(output, "%" PRIu32 " of a new-file set\n", input->information.part);
    }
    put_covered(output, counts, input);
    if (counts->has_time) {
        put_event_time(output, "first event", counts->first_ns);
        put_event_time(output, "last event", counts->last_ns);
    }
    etwas_label(output, "events");
    put_counted(output, total.events, "event");
    etwas_output_text(output, "; ");
    put_rate(output,
             etwas_trace_coverage_rate(total.events - etwas_counts_outside(counts), covered_ns));
    etwas_output_text(output, " a second\n");
    etwas_label(output, "payload");
    put_bytes(output, (double)total.payload_bytes);
    etwas_output_format(output, ", %.1f bytes an event\n",
                        total.events > 0 ? (double)total.payload_bytes / (double)total.events
                                         : 0.0);
    put_file(output, &input->information, covered_ns);
}

static const char *const count_titles[] = {"event", "events", "events/second", "payload"};
static const uint32_t count_numbers = 0xE;

/* Adds the numbers of a row. `outside` is how many events are not in the covered time. */
static void add_count(struct etwas_table *table, const struct etwas_counts_sum *counted,
                      uint64_t outside, uint64_t covered_ns)
{
    double per_second = etwas_trace_coverage_rate(counted->events - outside, covered_ns);
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_table_count(table, counted->events);
    etwas_table_text(table, etwas_human_rate(text, per_second));
    etwas_table_text(table, etwas_human_bytes(text, (double)counted->payload_bytes));
}

static void put_processors(struct etwas_output *output, const struct etwas_counts *counts,
                           const struct etwas_input *input, uint64_t covered_ns)
{
    static const char *const titles[] = {"processor", "events", "events/second", "payload"};
    struct etwas_table table;

    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, count_numbers);
    for (uint32_t i = 0; i < ETWAS_COUNTS_PROCESSORS; i++) {
        if (counts->processors[i].events > 0) {
            if (i == 0 && counts->without_processors) {
                etwas_table_text(&table, "-");
            } else if (etwas_counts_is_beside_processors(input, i)) {
                etwas_table_text(&table, "none: threads without restartable sequences");
            } else {
                etwas_table_format(&table, "%" PRIu32, i);
            }
            add_count(&table, &counts->processors[i], counts->outside[i], covered_ns);
        }
    }
    put_end(output);
    etwas_table_print(&table, output);
}

static void put_kinds(struct etwas_output *output, const struct etwas_counts *counts,
                      uint64_t covered_ns)
{
    struct etwas_counts_kind **kinds = etwas_counts_sorted_kinds(counts);
    struct etwas_table table;

    etwas_table_begin(&table, count_titles, sizeof count_titles / sizeof *count_titles,
                      count_numbers);
    for (uint32_t i = 0; kinds != NULL && i < counts->kind_count; i++) {
        etwas_counts_print_title(etwas_table_cell(&table), ETWAS_TEXT_PLAIN, kinds[i]);
        etwas_table_next(&table);
        add_count(&table, &kinds[i]->count, kinds[i]->outside, covered_ns);
    }
    free(kinds);
    if (counts->other_kinds.events > 0) {
        etwas_table_text(&table, "more kinds than can be told apart");
        add_count(&table, &counts->other_kinds, counts->other_outside, covered_ns);
    }
    put_end(output);
    etwas_table_print(&table, output);
}

void etwas_counts_text(struct etwas_output *output, const struct etwas_counts *counts,
                       const struct etwas_input *input, int result, bool is_verbose)
{
    uint64_t covered_ns = etwas_counts_covered_ns(counts, input);

    etwas_text_plain(output, input->path);
    put_end(output);
    put_missing(output, counts, input, result);
    etwas_show_clock_warnings(output, &input->clock);
    put_total(output, counts, input);
    if (etwas_counts_has_events(counts)) {
        put_kinds(output, counts, covered_ns);
        put_processors(output, counts, input, covered_ns);
    }
    if (is_verbose) {
        put_session(output, counts, input);
    }
}
