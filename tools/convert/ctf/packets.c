/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The streams of a trace: one for each processor, and streams without events for losses. A stream's
 * file is opened for each write, so that one descriptor suffices for any number of streams.
 */

#include "convert/ctf/ctf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
    BITS = 8, /* bits per byte: packet sizes are in bits */
};

/* The header of every packet, as metadata.c declares it (docs/reference/export-formats.md). */
struct __attribute__((packed)) head {
    uint32_t magic;
    uint8_t uuid[ETWAS_CTF_UUID_BYTES];
    uint32_t stream_class; /* 0: processors */
    uint64_t stream;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t content_bits;
    uint64_t packet_bits;
    uint64_t number;
    uint64_t discarded;
};
_Static_assert(sizeof(struct head) == 80, "nothing is aligned");

#define MAGIC UINT32_C(0xC1FC1FC1)

struct etwas_ctf_stream *etwas_ctf_stream_of(struct etwas_ctf_trace *trace, uint32_t processor)
{
    if (processor >= trace->stream_count) {
        uint32_t count = processor + 1;
        struct etwas_ctf_stream **more =
            realloc(trace->streams, count * sizeof(struct etwas_ctf_stream *));

        if (more == NULL) {
            return NULL;
        }
        memset(more + trace->stream_count, 0,
               (count - trace->stream_count) * sizeof(struct etwas_ctf_stream *));
        trace->streams = more;
        trace->stream_count = count;
    }
    if (trace->streams[processor] == NULL) {
        trace->streams[processor] = calloc(1, sizeof(struct etwas_ctf_stream));
        if (trace->streams[processor] != NULL) {
            trace->streams[processor]->number = processor;
            trace->streams[processor]->has_processor = trace->has_processors;
        }
    }
    return trace->streams[processor];
}

uint64_t etwas_ctf_open_packet(const struct etwas_ctf_trace *trace, struct etwas_ctf_stream *stream,
                               uint64_t time_ns)
{
    struct head head = {
        .magic = MAGIC,
        .stream_class = stream->has_processor ? 0 : 1,
        .stream = stream->number,
    };

    time_ns = time_ns > stream->end_ns ? time_ns : stream->end_ns;
    if (!stream->is_open) {
        stream->packet_at = stream->bytes.used;
        stream->is_open = true;
        stream->begin_ns = time_ns;
        memcpy(head.uuid, trace->uuid, sizeof head.uuid);
        etwas_bytes_put(&stream->bytes, &head, sizeof head);
        if (stream->has_processor) {
            etwas_bytes_put_u32(&stream->bytes, stream->number % ETWAS_CTF_LOST);
        }
    }
    stream->end_ns = time_ns;
    return time_ns;
}

void etwas_ctf_close_packet(struct etwas_ctf_stream *stream)
{
    struct head head;

    if (!stream->is_open || stream->bytes.failed) {
        return;
    }
    memcpy(&head, stream->bytes.data + stream->packet_at, sizeof head);
    head.begin_ns = stream->begin_ns;
    head.end_ns = stream->end_ns;
    head.content_bits = BITS * (stream->bytes.used - stream->packet_at);
    head.packet_bits = head.content_bits;
    head.number = stream->next_packet++;
    head.discarded = stream->discarded;
    memcpy(stream->bytes.data + stream->packet_at, &head, sizeof head);
    stream->packet_at = stream->bytes.used;
    stream->is_open = false;
}

void etwas_ctf_mark(const struct etwas_ctf_trace *trace, struct etwas_ctf_stream *stream,
                    uint64_t time_ns)
{
    (void)etwas_ctf_open_packet(trace, stream, time_ns);
    etwas_ctf_close_packet(stream);
}

uint64_t etwas_ctf_since_1970(int64_t time_ns)
{
    time_ns = time_ns < INT64_MAX ? time_ns : INT64_MAX - 1;
    return time_ns > 0 ? (uint64_t)time_ns : 0;
}

void etwas_ctf_add(uint64_t *count, uint64_t more)
{
    if (__builtin_add_overflow(*count, more, count)) {
        *count = UINT64_MAX;
    }
}

void etwas_ctf_complain(const char *path)
{
    fprintf(stderr, "etwas convert: cannot write %s: %s\n", path, strerror(errno));
}

bool etwas_ctf_open_file(const struct etwas_ctf_trace *trace, const char *name,
                         struct etwas_output *output)
{
    etwas_output_to(output,
                    openat(trace->folder, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    output->path = trace->path;
    if (output->descriptor < 0) {
        etwas_ctf_complain(trace->path);
    }
    return output->descriptor >= 0;
}

bool etwas_ctf_close_file(struct etwas_output *output)
{
    bool is_written = etwas_output_finish(output);

    if (close(output->descriptor) != 0 && is_written) {
        etwas_ctf_complain(output->path);
        is_written = false;
    }
    etwas_output_free(output);
    return is_written;
}

bool etwas_ctf_write_packets(const struct etwas_ctf_trace *trace, struct etwas_ctf_stream *stream)
{
    struct etwas_output output = {.bytes = NULL};
    size_t all = stream->packet_at;
    char name[32];

    if (all == 0) {
        return true;
    }
    snprintf(name, sizeof name,
             stream->number == ETWAS_CTF_GAPS            ? "gaps"
             : stream->number == ETWAS_CTF_LOSSES        ? "losses"
             : stream->number == ETWAS_CTF_LOST_ANYWHERE ? "lost"
             : stream->number >= ETWAS_CTF_LOST          ? "lost_on_processor_%u"
                                                         : "processor_%u",
             stream->number % ETWAS_CTF_LOST);
    if (!etwas_ctf_open_file(trace, name, &output)) {
        return false;
    }
    etwas_output_bytes(&output, stream->bytes.data, all);
    memmove(stream->bytes.data, stream->bytes.data + all, stream->bytes.used - all);
    stream->bytes.used -= all;
    stream->packet_at = 0;
    return etwas_ctf_close_file(&output);
}

bool etwas_ctf_finish_stream(const struct etwas_ctf_trace *trace, struct etwas_ctf_stream *stream)
{
    etwas_ctf_close_packet(stream);
    return etwas_ctf_write_packets(trace, stream);
}

bool etwas_ctf_finish_streams(struct etwas_ctf_trace *trace)
{
    bool is_written = true;

    for (uint32_t i = 0; i < trace->stream_count && is_written; i++) {
        is_written = trace->streams[i] == NULL || etwas_ctf_finish_stream(trace, trace->streams[i]);
    }
    return is_written && etwas_ctf_finish_stream(trace, &trace->gaps) &&
           etwas_ctf_finish_stream(trace, &trace->losses);
}

void etwas_ctf_streams_free(struct etwas_ctf_trace *trace)
{
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        if (trace->streams[i] != NULL) {
            etwas_bytes_free(&trace->streams[i]->bytes);
            free(trace->streams[i]);
        }
    }
    free(trace->streams);
    etwas_bytes_free(&trace->gaps.bytes);
    etwas_bytes_free(&trace->losses.bytes);
}
