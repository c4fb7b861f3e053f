/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* When each processor's stream begins and ends: what is retained, and how evenly. */

#include "report/report.h"

#include "print/json.h"

enum {
    OTHERS = ETWAS_REPORT_STREAMS
};

void etwas_report_streams_note(struct etwas_report *report)
{
    struct etwas_report_file *file = etwas_report_file_of(report, report->input);
    uint32_t processor = report->record->BufferContext.ProcessorIndex;
    struct etwas_report_stream *stream = &file->streams[processor];

    if (file->asked_for->processors[processor].events == 1 || report->time_ns < stream->first_ns) {
        stream->first_ns = report->time_ns;
    }
    if (file->asked_for->processors[processor].events == 1 || report->time_ns > stream->last_ns) {
        stream->last_ns = report->time_ns;
    }
}

void etwas_report_streams_choose(struct etwas_report *report)
{
    struct etwas_report_streams *streams = &report->streams;

    for (uint32_t i = 0; i < report->spans.run.count; i++) {
        struct etwas_report_file *file = etwas_report_file_of(report, &report->spans.run.inputs[i]);

        for (uint32_t processor = 0; processor < ETWAS_COUNTS_PROCESSORS; processor++) {
            bool has_events = file->asked_for->processors[processor].events > 0;

            file->stream_rows[processor] = OTHERS;
            if (has_events && streams->count < ETWAS_REPORT_STREAMS) {
                file->stream_rows[processor] = (uint8_t)streams->count;
                streams->rows[streams->count].file = i;
                streams->rows[streams->count++].processor = processor;
            } else {
                streams->other_streams += has_events;
            }
        }
    }
}

void etwas_report_streams_add_record(struct etwas_report *report)
{
    const struct etwas_report_file *file = etwas_report_file_of(report, report->input);
    uint32_t processor = report->record->BufferContext.ProcessorIndex;

    report->streams.series[file->stream_rows[processor]].at[report->axis.now]++;
}

static void put_stream(struct etwas_output *output, const struct etwas_report *report, uint32_t row)
{
    uint32_t processor = report->streams.rows[row].processor;
    const struct etwas_input *input = &report->spans.run.inputs[report->streams.rows[row].file];
    const struct etwas_report_file *file = etwas_report_file_of(report, input);
    const struct etwas_report_stream *stream = &file->streams[processor];

    etwas_counts_json_processor(output, file->asked_for, input, processor);
    etwas_json_number(output, "file_number", file->index);
    etwas_json_number(output, "first_since_start",
                      etwas_report_axis_at(&report->axis, stream->first_ns));
    etwas_json_number(output, "last_since_start",
                      etwas_report_axis_at(&report->axis, stream->last_ns));
    etwas_report_print_series(output, "over_time", &report->axis, &report->streams.series[row]);
    etwas_output_char(output, '}');
}

void etwas_report_streams_json(struct etwas_output *output, const struct etwas_report *report)
{
    const struct etwas_report_streams *streams = &report->streams;

    etwas_json_array(output, "by_cpu");
    for (uint32_t i = 0; i < streams->count; i++) {
        put_stream(output, report, i);
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "other_cpus", streams->other_streams);
    etwas_report_print_series(output, "other_cpus_over_time", &report->axis,
                              &streams->series[OTHERS]);
}
