/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The target `ctf`: a folder with a trace, or, for several files, a folder with a trace for each.
 */

#include "convert/ctf/ctf.h"

#include "cli/quiet.h"
#include "exit.h"
#include "math/hash.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- traces ---------------------------------------------------------------------------------- */

/*
 * Derives the trace's UUID from the file, because readers merge traces with equal UUIDs. UUID
 * version 8 leaves its bits to the application.
 */
static void make_uuid(struct etwas_ctf_trace *trace)
{
    const struct etwas_input *input = trace->input;
    const TRACE_LOGFILE_HEADER *header = &input->logfile.LogfileHeader;
    uint64_t halves[2] = {ETWAS_HASH_OF_NOTHING, UINT64_C(0x9AE16A3B2F90404F)};

    for (unsigned i = 0; i < 2; i++) {
        halves[i] = etwas_hash(halves[i], input->path, strlen(input->path));
        halves[i] = etwas_hash(halves[i], &input->number, sizeof input->number);
        halves[i] = etwas_hash(halves[i], &header->StartTime, sizeof header->StartTime);
    }
    memcpy(trace->uuid, halves, sizeof halves);
    trace->uuid[6] = (uint8_t)((trace->uuid[6] & 0x0F) | 0x80);
    trace->uuid[8] = (uint8_t)((trace->uuid[8] & 0x3F) | 0x80);
}

static bool open_folder(const struct etwas_convert *convert, struct etwas_ctf_trace *trace)
{
    char name[16];

    trace->path = convert->output_file.path;
    if (convert->path_count == 1) {
        trace->folder = convert->output_file.descriptor;
        return true;
    }
    snprintf(name, sizeof name, "%u", trace->input->number);
    if (mkdirat(convert->output_file.descriptor, name, 0777) != 0) {
        etwas_ctf_complain(convert->output_file.path);
        return false;
    }
    trace->folder =
        openat(convert->output_file.descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (trace->folder < 0) {
        etwas_ctf_complain(convert->output_file.path);
    }
    return trace->folder >= 0;
}

/* Keeps the session's name, with escaped control characters. */
static void keep_session(struct etwas_bytes *kept, const etwas_wchar *session)
{
    struct etwas_output plain = {.bytes = NULL};
    size_t units = 0;

    while (session[units] != 0) {
        units++;
    }
    etwas_text_utf16(etwas_output_anew(&plain), ETWAS_TEXT_PLAIN, session, units);
    etwas_bytes_put(kept, plain.bytes, plain.used_bytes);
    etwas_output_free(&plain);
}

/* Returns false if the trace's folder cannot be made, after reporting that. */
static bool make_trace(struct etwas_convert *convert, const struct etwas_input *input,
                       uint64_t time_ns)
{
    struct etwas_ctf *ctf = convert->state;
    struct etwas_ctf_trace *trace = &ctf->traces[input->number - 1];

    trace->input = input;
    trace->has_processors = etwas_event_has_processor(input->logfile.LogfileHeader.LogFileMode);
    trace->gaps.number = ETWAS_CTF_GAPS;
    trace->losses.number = ETWAS_CTF_LOSSES;
    trace->last_ns = time_ns;
    make_uuid(trace);
    if (!open_folder(convert, trace)) {
        trace->input = NULL;
        ctf->is_broken = convert->run.stop = true;
        return false;
    }
    etwas_ctf_mark(trace, &trace->losses, time_ns);
    return true;
}

/*
 * Returns the trace of an input file, which is made at the first call; NULL if it cannot be made.
 */
static struct etwas_ctf_trace *trace_of(struct etwas_convert *convert,
                                        const struct etwas_input *input, uint64_t time_ns)
{
    struct etwas_ctf *ctf = convert->state;
    struct etwas_ctf_trace *trace = &ctf->traces[input->number - 1];

    if (trace->input == NULL && make_trace(convert, input, time_ns)) {
        keep_session(&trace->session, input->logfile.LogfileHeader.LoggerName);
    }
    return trace->input != NULL ? trace : NULL;
}

/* ---- gaps and losses ------------------------------------------------------------------------- */

/*
 * Ends a gap. Each damage counts as a lost packet between the events around it, because the number
 * of its events is unknown.
 */
static void end_gap(struct etwas_ctf_trace *trace, uint64_t time_ns)
{
    if (trace->gap_count > 0) {
        etwas_ctf_add(&trace->gaps.next_packet, trace->gap_count);
        trace->gap_count = 0;
        etwas_ctf_mark(trace, &trace->gaps, time_ns);
    }
}

static void on_gap(struct etwas_convert *convert, const struct etwas_input *input,
                   const etwas_damage *damage)
{
    struct etwas_ctf_trace *trace =
        trace_of(convert, input, etwas_ctf_since_1970(etwas_input_start_ns(input)));

    (void)damage;
    if (trace == NULL) {
        return;
    }
    if (trace->gap_count == 0) {
        etwas_ctf_mark(trace, &trace->gaps, trace->last_ns);
    }
    trace->gap_count++;
}

/*
 * Returns how many kernel events a processor lost since the previous such record; 0 for other
 * records.
 */
static uint64_t kernel_loss(const EVENT_RECORD *record)
{
    struct etwas_event_loss loss;

    return etwas_event_ring_loss(record, &loss) ? loss.events : 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static uint8_t put_context(struct etwas_bytes *bytes, const struct etwas_current_event *current)
{
    const struct etwas_event *event = &current->event;
    const etwas_guid *activity = etwas_current_event_guid(current, ETWAS_PROPERTY_ACTIVITY);
    uint8_t has = 0;

    if (event->has_instance) {
        has |= event->message ? ETWAS_CTF_SEQUENCE : ETWAS_CTF_INSTANCE;
        etwas_bytes_put_u32(bytes, event->instance.InstanceId);
    }
    if (event->has_instance && !event->message && event->instance.ParentInstanceId != 0) {
        has |= ETWAS_CTF_PARENT;
        etwas_bytes_put_u32(bytes, event->instance.ParentInstanceId);
        etwas_ctf_put_guid(bytes, &event->instance.ParentGuid);
    }
    if (activity != NULL) {
        has |= ETWAS_CTF_ACTIVITY;
        etwas_ctf_put_guid(bytes, activity);
    }
    if (event->has_related_activity) {
        has |= ETWAS_CTF_RELATED_ACTIVITY;
        etwas_ctf_put_guid(bytes, &event->related_activity);
    }
    if (current->schema_texts != NULL && !event->message &&
        current->schema_texts->schema->other_version) {
        has |= ETWAS_CTF_OTHER_VERSION;
        etwas_bytes_put_u8(bytes, current->schema_texts->schema->info->EventDescriptor.Version);
    }
    return has;
}

/* Appends the event's stack. Stack-walk events are excluded: their fields are the stack. */
static uint8_t put_stack(struct etwas_bytes *bytes, const EVENT_RECORD *record)
{
    struct etwas_event_stack stack = etwas_event_stack(record);

    if (stack.count == 0 || etwas_event_is_stack_walk(record)) {
        return 0;
    }
    etwas_bytes_put_u32(bytes, stack.count);
    for (uint32_t i = 0; i < stack.count; i++) {
        etwas_bytes_put_u64(bytes, etwas_event_frame(&stack, i));
    }
    return ETWAS_CTF_CALL_STACK;
}

/* Returns the error of a time; UINT32_MAX if it is unknown or does not fit. */
static uint32_t error_of(uint64_t error_ns, uint64_t moved_ns)
{
    uint64_t sum;

    return __builtin_add_overflow(error_ns, moved_ns, &sum) || sum > UINT32_MAX ? UINT32_MAX
                                                                                : (uint32_t)sum;
}

/* Appends the event to the open packet. Returns false if memory runs out. */
static bool put_event(struct etwas_convert *convert, struct etwas_ctf_trace *trace,
                      struct etwas_ctf_stream *stream, uint64_t time_ns)
{
    struct etwas_bytes *bytes = &stream->bytes;
    uint64_t wanted_ns = time_ns;
    enum etwas_ctf_form form;
    struct etwas_ctf_class *class;
    size_t id_at;
    uint8_t has;

    time_ns = etwas_ctf_open_packet(trace, stream, time_ns);
    id_at = bytes->used;
    etwas_bytes_put_u32(bytes, 0);
    etwas_bytes_put_u64(bytes, time_ns);
    etwas_bytes_put_u32(bytes, convert->current.event.process);
    etwas_bytes_put_u32(bytes, convert->current.event.thread);
    /*
     * The format cannot represent times before 1970 or after 2262. Their error is written as
     * unknown.
     */
    etwas_bytes_put_u32(bytes, convert->time_ns < 0 || etwas_text_is_beyond(convert->time_ns)
                                   ? UINT32_MAX
                                   : error_of(convert->error_ns, time_ns - wanted_ns));
    has = put_context(bytes, &convert->current);
    form = etwas_ctf_put_payload(bytes, convert);
    has |= put_stack(bytes, convert->current.record);
    class = etwas_ctf_class_of(&trace->classes, convert, has, form);
    if (class == NULL || bytes->failed) {
        return false;
    }
    memcpy(bytes->data + id_at, &class->id, sizeof class->id);
    return true;
}

/* Writes all streams of all traces, when their total size reaches the limit. */
static bool write_all(struct etwas_ctf *ctf)
{
    bool is_written = true;

    for (uint32_t i = 0; i < ETWAS_INPUT_FILES && is_written; i++) {
        struct etwas_ctf_trace *trace = &ctf->traces[i];

        for (uint32_t k = 0; k < trace->stream_count && is_written; k++) {
            if (trace->streams[k] != NULL) {
                etwas_ctf_close_packet(trace->streams[k]);
                is_written = etwas_ctf_write_packets(trace, trace->streams[k]);
                etwas_bytes_free(&trace->streams[k]->bytes);
            }
        }
    }
    ctf->pending_bytes = 0;
    return is_written;
}

/* Writes what is due after an event was added to a stream. */
static bool write_some(struct etwas_ctf *ctf, const struct etwas_ctf_trace *trace,
                       struct etwas_ctf_stream *stream, size_t capacity_before)
{
    ctf->pending_bytes += stream->bytes.capacity - capacity_before;
    if (stream->bytes.used - stream->packet_at >= ETWAS_CTF_PACKET_BYTES) {
        etwas_ctf_close_packet(stream);
    }
    if (ctf->pending_bytes > ETWAS_CTF_PENDING_BYTES) {
        return write_all(ctf);
    }
    return stream->packet_at < ETWAS_CTF_PACKET_BYTES || etwas_ctf_write_packets(trace, stream);
}

static void on_event(struct etwas_convert *convert)
{
    struct etwas_ctf *ctf = convert->state;
    uint64_t time_ns = etwas_ctf_since_1970(convert->time_ns);
    struct etwas_ctf_trace *trace = trace_of(convert, convert->current.input, time_ns);
    uint64_t lost = kernel_loss(convert->current.record);
    struct etwas_ctf_stream *stream;
    size_t capacity;

    if (trace == NULL) {
        return;
    }
    stream = etwas_ctf_stream_of(trace, convert->current.event.processor);
    if (stream == NULL) {
        convert->out_of_memory = ctf->is_broken = convert->run.stop = true;
        return;
    }
    end_gap(trace, time_ns);
    capacity = stream->bytes.capacity;
    if (lost > 0) {
        etwas_ctf_close_packet(stream);
        etwas_ctf_add(&stream->discarded, lost);
    }
    if (!put_event(convert, trace, stream, time_ns)) {
        convert->out_of_memory = ctf->is_broken = convert->run.stop = true;
        return;
    }
    if (lost > 0) {
        etwas_ctf_close_packet(stream);
    }
    trace->last_ns = stream->end_ns > trace->last_ns ? stream->end_ns : trace->last_ns;
    if (convert->error_ns > trace->largest_error_ns) {
        trace->largest_error_ns = convert->error_ns;
    }
    if (!write_some(ctf, trace, stream, capacity)) {
        ctf->is_broken = convert->run.stop = true;
    }
}

/* ---- all files ------------------------------------------------------------------------------- */

/*
 * Finishes a trace. A file without events and damage gets one too; the name of its session is no
 * longer available then.
 */
static bool finish_trace(struct etwas_convert *convert, const struct etwas_input *input)
{
    struct etwas_ctf *ctf = convert->state;
    struct etwas_ctf_trace *trace = &ctf->traces[input->number - 1];
    struct etwas_trace_losses *losses = &convert->losses[input->number - 1];
    uint64_t lost = etwas_input_lost(input);

    if (trace->input == NULL &&
        !make_trace(convert, input, etwas_ctf_since_1970(etwas_input_start_ns(input)))) {
        return false;
    }
    end_gap(trace, trace->last_ns);
    etwas_ctf_add(&trace->losses.discarded, lost > losses->events ? lost - losses->events : 0);
    etwas_ctf_add(&trace->losses.next_packet,
                  input->information.lost_buffers - input->information.repeated_lost_buffers);
    etwas_ctf_mark(trace, &trace->losses, trace->last_ns);
    return etwas_ctf_put_losses(trace, losses) && etwas_ctf_finish_streams(trace) &&
           etwas_ctf_write_metadata(trace);
}

static void free_all(const struct etwas_convert *convert, struct etwas_ctf *ctf)
{
    for (uint32_t i = 0; i < ETWAS_INPUT_FILES; i++) {
        struct etwas_ctf_trace *trace = &ctf->traces[i];

        if (trace->input != NULL && trace->folder != convert->output_file.descriptor) {
            close(trace->folder);
        }
        etwas_bytes_free(&trace->session);
        etwas_ctf_streams_free(trace);
        etwas_ctf_classes_free(&trace->classes);
    }
}

static int run(struct etwas_convert *convert)
{
    static const struct etwas_convert_reader reader = {.event = on_event, .gap = on_gap};
    struct etwas_ctf *ctf = calloc(1, sizeof *ctf);
    int result;

    if (ctf == NULL) {
        convert->out_of_memory = true;
        return ETWAS_EXIT_FAILED;
    }
    convert->state = ctf;
    result = etwas_convert_read(convert, &reader);
    for (uint32_t i = 0; i < convert->run.count && !ctf->is_broken; i++) {
        ctf->is_broken = !finish_trace(convert, &convert->run.inputs[i]);
    }
    free_all(convert, ctf);
    if (ctf->odd_values > 0 && !ctf->is_broken && !etwas_is_quiet) {
        fprintf(stderr,
                "etwas convert: note: what is odd about %" PRIu64 " value%s CTF cannot say; 'etwas "
                "dump' says it\n",
                ctf->odd_values, ctf->odd_values == 1 ? "" : "s");
    }
    result = ctf->is_broken ? ETWAS_EXIT_OUTPUT : result;
    free(ctf);
    return result;
}

const struct etwas_convert_target etwas_convert_ctf = {
    .name = "ctf", .is_folder = true, .run = run};
