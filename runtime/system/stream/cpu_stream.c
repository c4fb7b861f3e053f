/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/stream/cpu_stream.h"

#include <ck_pr.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/time_namespace.h"

/* Sets *reason and returns false. */
static bool refuse(struct etwas_unavailability *reason, enum etwas_unavailability_cause cause,
                   int error)
{
    *reason = (struct etwas_unavailability){cause, error};
    return false;
}

/* The attributes common to all events, which are disabled until their output goes to the ring. */
static struct perf_event_attr attributes_of(uint32_t type, uint64_t config, uint64_t sample_type)
{
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr),
        .type = type,
        .config = config,
        .sample_type = sample_type | ETWAS_SAMPLE_ALWAYS,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST,
        .disabled = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
    };
}

static bool open_event(struct etwas_cpu_stream *stream, struct perf_event_attr *attributes,
                       uint32_t thread, struct etwas_cpu_stream_event *event,
                       struct etwas_unavailability *reason)
{
    long descriptor = syscall(SYS_perf_event_open, attributes, thread == 0 ? -1 : (pid_t)thread,
                              (int)stream->processor, -1, PERF_FLAG_FD_CLOEXEC);

    if (descriptor < 0) {
        return refuse(reason, thread == 0 ? ETWAS_UNAVAILABLE_EVENT : ETWAS_UNAVAILABLE_OWN_EVENT,
                      errno);
    }
    event->descriptor = (int)descriptor;
    event->waits = thread != 0;
    event->sample_type = attributes->sample_type;
    if (ioctl(event->descriptor, PERF_EVENT_IOC_ID, &event->id) != 0) {
        int error = errno;

        (void)close(event->descriptor);
        return refuse(reason, ETWAS_UNAVAILABLE_EVENT, error);
    }
    return true;
}

/* ---- events by their ids --------------------------------------------------------------------- */

static uint16_t *cpu_stream_bucket_of(struct etwas_cpu_stream *stream, uint64_t id)
{
    return &stream->buckets[id % ETWAS_CPU_STREAM_EVENTS];
}

void etwas_cpu_stream_index_event(struct etwas_cpu_stream *stream,
                                  struct etwas_cpu_stream_event *event)
{
    uint16_t *entry = cpu_stream_bucket_of(stream, event->id);

    event->next = *entry;
    *entry = (uint16_t)(event - stream->events + 1);
}

static void unindex_event(struct etwas_cpu_stream *stream,
                          const struct etwas_cpu_stream_event *event)
{
    uint16_t *link = cpu_stream_bucket_of(stream, event->id);

    while (*link != event - stream->events + 1) {
        link = &stream->events[*link - 1].next;
    }
    *link = event->next;
}

/* ---- opening --------------------------------------------------------------------------------- */

bool etwas_cpu_stream_open(struct etwas_cpu_stream *stream, uint32_t processor, uint32_t thread,
                           size_t ring_bytes, struct etwas_unavailability *reason)
{
    struct perf_event_attr attributes = attributes_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0);
    struct etwas_cpu_stream_event *first = &stream->events[0];
    int error;

    attributes.watermark = 1;
    attributes.wakeup_watermark = (uint32_t)(ring_bytes / 4);
    attributes.exclude_kernel = thread != 0;
    stream->processor = processor;
    stream->event_count = 0;
    stream->is_on = false;
    stream->was_off = false;
    stream->closed_lost = 0;
    stream->lost_emitted = 0;
    stream->full_seen = 0;
    stream->checked_at = 0;
    stream->read_ns = 0;
    stream->ahead_ns = etwas_time_offset_known_ns();
    memset(stream->buckets, 0, sizeof stream->buckets);
    *first = (struct etwas_cpu_stream_event){.tag = ETWAS_CPU_STREAM_OWNER};
    if (!open_event(stream, &attributes, thread, first, reason)) {
        return false;
    }
    error = etwas_ring_map(&stream->ring, first->descriptor, ring_bytes);
    if (error != 0) {
        (void)close(first->descriptor);
        return refuse(reason, ETWAS_UNAVAILABLE_RING, error);
    }
    etwas_cpu_stream_index_event(stream, first);
    stream->event_count = 1;
    *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_NOTHING, 0};
    return true;
}

void etwas_cpu_stream_start(struct etwas_cpu_stream *stream)
{
    stream->is_on = true;
    for (uint32_t index = 0; index < stream->event_count; index++) {
        if (stream->events[index].descriptor >= 0) {
            stream->events[index].waits = false;
            (void)ioctl(stream->events[index].descriptor, PERF_EVENT_IOC_ENABLE, 0);
        }
    }
}

/* Whether all records of a closed event have been read. */
static bool is_over(const struct etwas_cpu_stream *stream,
                    const struct etwas_cpu_stream_event *event)
{
    return event->descriptor < 0 && (int64_t)(stream->ring.tail - event->end) >= 0;
}

/* Returns a free entry; NULL: there is none. */
static struct etwas_cpu_stream_event *free_event(struct etwas_cpu_stream *stream)
{
    for (uint32_t index = 1; index < stream->event_count; index++) {
        if (is_over(stream, &stream->events[index])) {
            return &stream->events[index];
        }
    }
    return stream->event_count < ETWAS_CPU_STREAM_EVENTS ? &stream->events[stream->event_count]
                                                         : NULL;
}

/*
 * Directs the event into the ring, sets its filter, and enables it if the stream is on. Returns 0
 * or an errno.
 */
static int begin_event(const struct etwas_cpu_stream *stream, int descriptor,
                       const struct etwas_cpu_stream_request *request)
{
    const char *filter = request->filter;
    bool goes = stream->is_on && request->thread == 0;
    bool good = ioctl(descriptor, PERF_EVENT_IOC_SET_OUTPUT, stream->events[0].descriptor) == 0 &&
                (filter == NULL || ioctl(descriptor, PERF_EVENT_IOC_SET_FILTER, filter) == 0) &&
                (!goes || ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0) == 0);

    return good ? 0 : errno;
}

static struct perf_event_attr process_record_attributes(
    const struct etwas_cpu_stream_request *request)
{
    struct perf_event_attr attributes = attributes_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0);

    if ((request->process_records & ETWAS_PROCESS_RECORD_PROBES) != 0) {
        return attributes_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, PERF_SAMPLE_RAW);
    }
    attributes.task = (request->process_records & ETWAS_PROCESS_RECORD_TASKS) != 0;
    attributes.comm = (request->process_records & ETWAS_PROCESS_RECORD_NAMES) != 0;
    attributes.comm_exec = attributes.comm;
    attributes.mmap = (request->process_records &
                       (ETWAS_PROCESS_RECORD_IMAGES | ETWAS_PROCESS_RECORD_FILES)) != 0;
    attributes.mmap_data = (request->process_records & ETWAS_PROCESS_RECORD_FILES) != 0;
    attributes.mmap2 = attributes.mmap | attributes.mmap_data;
    attributes.build_id = (request->process_records & ETWAS_PROCESS_RECORD_IMAGES) != 0;
    attributes.context_switch = (request->process_records & ETWAS_PROCESS_RECORD_SWITCHES) != 0;
    return attributes;
}

static struct perf_event_attr attributes_for(const struct etwas_cpu_stream_request *request)
{
    struct perf_event_attr attributes = process_record_attributes(request);

    if (request->process_records == 0) {
        attributes = attributes_of(request->type, request->config, request->sample_type);
        attributes.sample_period = request->period;
        attributes.exclude_callchain_kernel = request->no_kernel_stack;
        if ((request->sample_type & PERF_SAMPLE_STACK_USER) != 0) {
            attributes.sample_regs_user = ETWAS_SAMPLE_REGISTERS;
            attributes.sample_stack_user = request->user_stack_bytes;
        } else if ((request->sample_type & PERF_SAMPLE_REGS_USER) != 0) {
            attributes.sample_regs_user = ETWAS_SAMPLE_CALL_REGISTERS;
        }
    }
    if (request->thread != 0) { /* limited to what every user may record of the own process */
        attributes.exclude_kernel = 1;
        attributes.exclude_callchain_kernel = 1;
        attributes.inherit = 1;
        attributes.inherit_thread = 1;
    }
    return attributes;
}

bool etwas_cpu_stream_add(struct etwas_cpu_stream *stream,
                          const struct etwas_cpu_stream_request *request,
                          struct etwas_unavailability *reason)
{
    struct perf_event_attr attributes = attributes_for(request);
    struct etwas_cpu_stream_event *entry = free_event(stream);
    struct etwas_cpu_stream_event event = {.tag = request->tag};
    bool good;
    int error;

    if (entry == NULL) {
        return refuse(reason, ETWAS_UNAVAILABLE_EVENT, EMFILE);
    }
    good = open_event(stream, &attributes, request->thread, &event, reason);
    if (!good && attributes.build_id && reason->error == EINVAL) { /* Linux before 5.12 */
        attributes.build_id = 0;
        good = open_event(stream, &attributes, request->thread, &event, reason);
    }
    if (!good) {
        return false;
    }
    error = begin_event(stream, event.descriptor, request);
    if (error != 0) {
        (void)close(event.descriptor);
        return refuse(reason, ETWAS_UNAVAILABLE_EVENT, error);
    }
    if (entry != &stream->events[stream->event_count]) {
        unindex_event(stream, entry);
    }
    *entry = event;
    etwas_cpu_stream_index_event(stream, entry);
    /* A fork's child closes the events up to event_count (etwas_cpu_stream_forget). */
    ck_pr_fence_store();
    if (entry == &stream->events[stream->event_count]) {
        stream->event_count++;
    }
    *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_NOTHING, 0};
    return true;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* The layout that read_format requests. */
struct values {
    uint64_t counted;
    uint64_t enabled_ns;
    uint64_t lost;
};

static struct values values_of(const struct etwas_cpu_stream_event *event)
{
    struct values values;

    return read(event->descriptor, &values, sizeof values) == (ssize_t)sizeof values
               ? values
               : (struct values){0};
}

struct etwas_cpu_stream_totals etwas_cpu_stream_event_totals(
    const struct etwas_cpu_stream_event *event)
{
    const struct values values = values_of(event);

    return (struct etwas_cpu_stream_totals){.counted = values.counted, .lost = values.lost};
}

/*
 * The enabled time of an event always advances, unless its processor has been offline.
 */
bool etwas_cpu_stream_is_dead(const struct etwas_cpu_stream *stream)
{
    uint64_t before_ns = values_of(&stream->events[0]).enabled_ns;

    return values_of(&stream->events[0]).enabled_ns == before_ns;
}

static const struct etwas_cpu_stream_event *open_event_of(const struct etwas_cpu_stream *stream,
                                                          uint32_t tag)
{
    for (uint32_t index = 0; index < stream->event_count; index++) {
        if (stream->events[index].tag == tag && stream->events[index].descriptor >= 0) {
            return &stream->events[index];
        }
    }
    return NULL;
}

int etwas_cpu_stream_event_descriptor(const struct etwas_cpu_stream *stream, uint32_t tag)
{
    const struct etwas_cpu_stream_event *event = open_event_of(stream, tag);

    return event != NULL ? event->descriptor : -1;
}

bool etwas_cpu_stream_totals(const struct etwas_cpu_stream *stream, uint32_t tag,
                             struct etwas_cpu_stream_totals *totals)
{
    bool found = false;

    *totals = (struct etwas_cpu_stream_totals){0};
    for (uint32_t index = 0; index < stream->event_count; index++) {
        const struct etwas_cpu_stream_event *event = &stream->events[index];

        if (event->tag == tag && event->descriptor >= 0) {
            struct etwas_cpu_stream_totals of_one = etwas_cpu_stream_event_totals(event);

            totals->counted += of_one.counted;
            totals->lost += of_one.lost;
            found = true;
        }
    }
    return found;
}

uint64_t etwas_cpu_stream_lost(const struct etwas_cpu_stream *stream)
{
    uint64_t lost = stream->closed_lost;

    for (uint32_t index = 0; index < stream->event_count; index++) {
        if (stream->events[index].descriptor >= 0) {
            lost += etwas_cpu_stream_event_totals(&stream->events[index]).lost;
        }
    }
    return lost;
}

uint32_t etwas_cpu_stream_next_thread(const struct etwas_cpu_stream *stream)
{
    union {
        struct {
            struct perf_event_header header;
            uint32_t process_id;
            uint32_t thread_id;
        };
        uint64_t words[2];
    } record;

    return etwas_ring_peek(&stream->ring, record.words) &&
                   record.header.type == PERF_RECORD_SWITCH_CPU_WIDE &&
                   (record.header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0
               ? record.thread_id
               : (uint32_t)ETWAS_NO_NUMBER;
}

int etwas_cpu_stream_descriptor(const struct etwas_cpu_stream *stream)
{
    return stream->events[0].descriptor;
}

void etwas_cpu_stream_enable(struct etwas_cpu_stream *stream, uint32_t tag)
{
    for (uint32_t index = 0; stream->is_on && index < stream->event_count; index++) {
        if (stream->events[index].tag == tag && stream->events[index].descriptor >= 0) {
            stream->events[index].waits = false;
            (void)ioctl(stream->events[index].descriptor, PERF_EVENT_IOC_ENABLE, 0);
        }
    }
}

void etwas_cpu_stream_set_period(struct etwas_cpu_stream *stream, uint32_t tag, uint64_t period)
{
    const struct etwas_cpu_stream_event *event = open_event_of(stream, tag);

    if (event != NULL) {
        (void)ioctl(event->descriptor, PERF_EVENT_IOC_PERIOD, &period);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static void close_event(struct etwas_cpu_stream *stream, struct etwas_cpu_stream_event *event)
{
    int descriptor = event->descriptor;

    event->descriptor = -1; /* before it is closed: see etwas_cpu_stream_forget */
    (void)close(descriptor);
    event->end = event->waits ? stream->ring.tail : etwas_ring_written(&stream->ring);
}

bool etwas_cpu_stream_remove(struct etwas_cpu_stream *stream, uint32_t tag,
                             struct etwas_cpu_stream_totals *totals)
{
    if (tag == ETWAS_CPU_STREAM_OWNER || open_event_of(stream, tag) == NULL) {
        return false;
    }
    *totals = (struct etwas_cpu_stream_totals){0};
    for (uint32_t index = 0; index < stream->event_count; index++) {
        struct etwas_cpu_stream_event *event = &stream->events[index];

        if (event->tag == tag && event->descriptor >= 0) {
            struct etwas_cpu_stream_totals of_one;

            (void)ioctl(event->descriptor, PERF_EVENT_IOC_DISABLE, 0);
            of_one = etwas_cpu_stream_event_totals(event);
            totals->counted += of_one.counted;
            totals->lost += of_one.lost;
            close_event(stream, event);
        }
    }
    stream->closed_lost += totals->lost;
    return true;
}

void etwas_cpu_stream_stop(struct etwas_cpu_stream *stream)
{
    stream->is_on = false;
    for (uint32_t index = 0; index < stream->event_count; index++) {
        if (stream->events[index].descriptor >= 0) {
            (void)ioctl(stream->events[index].descriptor, PERF_EVENT_IOC_DISABLE, 0);
        }
    }
}

void etwas_cpu_stream_forget(struct etwas_cpu_stream *stream)
{
    for (uint32_t index = 0; index < stream->event_count; index++) {
        int descriptor = stream->events[index].descriptor;

        /*
         * In this order: a fork between the two leaves one descriptor open in the child, and closes
         * none twice.
         */
        stream->events[index].descriptor = -1;
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
    }
    stream->event_count = 0;
}

void etwas_cpu_stream_close(struct etwas_cpu_stream *stream)
{
    etwas_cpu_stream_stop(stream);
    etwas_ring_unmap(&stream->ring);
    etwas_cpu_stream_forget(stream);
}
