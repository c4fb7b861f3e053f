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

/* Says why in *fault. */
static bool refuse(struct etwas_fault *fault, enum etwas_fault_place place, int error)
{
    *fault = (struct etwas_fault){place, error};
    return false;
}

/* What all events have in common. Disabled: until its output goes to the ring it counts nothing. */
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

static bool open_event(struct etwas_feed *feed, struct perf_event_attr *attributes, uint32_t thread,
                       struct etwas_feed_event *event, struct etwas_fault *fault)
{
    long descriptor = syscall(SYS_perf_event_open, attributes, thread == 0 ? -1 : (pid_t)thread,
                              (int)feed->processor, -1, PERF_FLAG_FD_CLOEXEC);

    if (descriptor < 0) {
        return refuse(fault, thread == 0 ? ETWAS_FAULT_EVENT : ETWAS_FAULT_OWN_EVENT, errno);
    }
    event->descriptor = (int)descriptor;
    event->waits = thread != 0;
    event->sample_type = attributes->sample_type;
    if (ioctl(event->descriptor, PERF_EVENT_IOC_ID, &event->id) != 0) {
        int error = errno;

        (void)close(event->descriptor);
        return refuse(fault, ETWAS_FAULT_EVENT, error);
    }
    return true;
}

/* ---- events by their ids --------------------------------------------------------------------- */

static uint16_t *place_of(struct etwas_feed *feed, uint64_t id)
{
    return &feed->places[id % ETWAS_FEED_EVENTS];
}

void etwas_feed_enter(struct etwas_feed *feed, struct etwas_feed_event *event)
{
    uint16_t *place = place_of(feed, event->id);

    event->next = *place;
    *place = (uint16_t)(event - feed->events + 1);
}

static void leave(struct etwas_feed *feed, const struct etwas_feed_event *event)
{
    uint16_t *link = place_of(feed, event->id);

    while (*link != event - feed->events + 1) {
        link = &feed->events[*link - 1].next;
    }
    *link = event->next;
}

/* ---- opening --------------------------------------------------------------------------------- */

bool etwas_feed_open(struct etwas_feed *feed, uint32_t processor, uint32_t thread,
                     size_t ring_bytes, struct etwas_fault *fault)
{
    struct perf_event_attr attributes = attributes_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0);
    struct etwas_feed_event *first = &feed->events[0];
    int error;

    attributes.watermark = 1;
    attributes.wakeup_watermark = (uint32_t)(ring_bytes / 4);
    attributes.exclude_kernel = thread != 0;
    feed->processor = processor;
    feed->event_count = 0;
    feed->is_on = false;
    feed->was_off = false;
    feed->closed_lost = 0;
    feed->lost_told = 0;
    feed->full_told = 0;
    feed->looked_at = 0;
    feed->read_ns = 0;
    feed->ahead_ns = etwas_time_offset_known_ns();
    memset(feed->places, 0, sizeof feed->places);
    *first = (struct etwas_feed_event){.tag = ETWAS_FEED_OWNER};
    if (!open_event(feed, &attributes, thread, first, fault)) {
        return false;
    }
    error = etwas_ring_map(&feed->ring, first->descriptor, ring_bytes);
    if (error != 0) {
        (void)close(first->descriptor);
        return refuse(fault, ETWAS_FAULT_RING, error);
    }
    etwas_feed_enter(feed, first);
    feed->event_count = 1;
    *fault = (struct etwas_fault){ETWAS_FAULT_NOWHERE, 0};
    return true;
}

void etwas_feed_start(struct etwas_feed *feed)
{
    feed->is_on = true;
    for (uint32_t index = 0; index < feed->event_count; index++) {
        if (feed->events[index].descriptor >= 0) {
            feed->events[index].waits = false;
            (void)ioctl(feed->events[index].descriptor, PERF_EVENT_IOC_ENABLE, 0);
        }
    }
}

/* Whether all its records have been read. */
static bool is_over(const struct etwas_feed *feed, const struct etwas_feed_event *event)
{
    return event->descriptor < 0 && (int64_t)(feed->ring.tail - event->end) >= 0;
}

/* Room for another; NULL: there is none. */
static struct etwas_feed_event *free_event(struct etwas_feed *feed)
{
    for (uint32_t index = 1; index < feed->event_count; index++) {
        if (is_over(feed, &feed->events[index])) {
            return &feed->events[index];
        }
    }
    return feed->event_count < ETWAS_FEED_EVENTS ? &feed->events[feed->event_count] : NULL;
}

/* Into the ring, filtered, and on if the others are and it does not wait: 0 or an errno. */
static int begin_event(const struct etwas_feed *feed, int descriptor,
                       const struct etwas_feed_wish *wish)
{
    const char *filter = wish->filter;
    bool goes = feed->is_on && wish->thread == 0;
    bool good = ioctl(descriptor, PERF_EVENT_IOC_SET_OUTPUT, feed->events[0].descriptor) == 0 &&
                (filter == NULL || ioctl(descriptor, PERF_EVENT_IOC_SET_FILTER, filter) == 0) &&
                (!goes || ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0) == 0);

    return good ? 0 : errno;
}

static struct perf_event_attr sideband_attributes(const struct etwas_feed_wish *wish)
{
    struct perf_event_attr attributes = attributes_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0);

    if ((wish->sideband & ETWAS_SIDEBAND_PROBES) != 0) {
        return attributes_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, PERF_SAMPLE_RAW);
    }
    attributes.task = (wish->sideband & ETWAS_SIDEBAND_TASKS) != 0;
    attributes.comm = (wish->sideband & ETWAS_SIDEBAND_NAMES) != 0;
    attributes.comm_exec = attributes.comm;
    attributes.mmap = (wish->sideband & (ETWAS_SIDEBAND_IMAGES | ETWAS_SIDEBAND_FILES)) != 0;
    attributes.mmap_data = (wish->sideband & ETWAS_SIDEBAND_FILES) != 0;
    attributes.mmap2 = attributes.mmap | attributes.mmap_data;
    attributes.build_id = (wish->sideband & ETWAS_SIDEBAND_IMAGES) != 0;
    attributes.context_switch = (wish->sideband & ETWAS_SIDEBAND_SWITCHES) != 0;
    return attributes;
}

static struct perf_event_attr attributes_for(const struct etwas_feed_wish *wish)
{
    struct perf_event_attr attributes = sideband_attributes(wish);

    if (wish->sideband == 0) {
        attributes = attributes_of(wish->type, wish->config, wish->sample_type);
        attributes.sample_period = wish->period;
        attributes.exclude_callchain_kernel = wish->no_kernel_stack;
        if ((wish->sample_type & PERF_SAMPLE_STACK_USER) != 0) {
            attributes.sample_regs_user = ETWAS_SAMPLE_REGISTERS;
            attributes.sample_stack_user = wish->user_stack_bytes;
        } else if ((wish->sample_type & PERF_SAMPLE_REGS_USER) != 0) {
            attributes.sample_regs_user = ETWAS_SAMPLE_CALL_REGISTERS;
        }
    }
    if (wish->thread != 0) { /* what anybody may see of himself */
        attributes.exclude_kernel = 1;
        attributes.exclude_callchain_kernel = 1;
        attributes.inherit = 1;
        attributes.inherit_thread = 1;
    }
    return attributes;
}

bool etwas_feed_add(struct etwas_feed *feed, const struct etwas_feed_wish *wish,
                    struct etwas_fault *fault)
{
    struct perf_event_attr attributes = attributes_for(wish);
    struct etwas_feed_event *place = free_event(feed);
    struct etwas_feed_event event = {.tag = wish->tag};
    bool good;
    int error;

    if (place == NULL) {
        return refuse(fault, ETWAS_FAULT_EVENT, EMFILE);
    }
    good = open_event(feed, &attributes, wish->thread, &event, fault);
    if (!good && attributes.build_id && fault->error == EINVAL) { /* before Linux 5.12 */
        attributes.build_id = 0;
        good = open_event(feed, &attributes, wish->thread, &event, fault);
    }
    if (!good) {
        return false;
    }
    error = begin_event(feed, event.descriptor, wish);
    if (error != 0) {
        (void)close(event.descriptor);
        return refuse(fault, ETWAS_FAULT_EVENT, error);
    }
    if (place != &feed->events[feed->event_count]) {
        leave(feed, place);
    }
    *place = event;
    etwas_feed_enter(feed, place);
    /* A fork's child closes what is counted (etwas_feed_forget). */
    ck_pr_fence_store();
    if (place == &feed->events[feed->event_count]) {
        feed->event_count++;
    }
    *fault = (struct etwas_fault){ETWAS_FAULT_NOWHERE, 0};
    return true;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* As read_format says. */
struct values {
    uint64_t counted;
    uint64_t enabled_ns;
    uint64_t lost;
};

static struct values values_of(const struct etwas_feed_event *event)
{
    struct values values;

    return read(event->descriptor, &values, sizeof values) == (ssize_t)sizeof values
               ? values
               : (struct values){0};
}

struct etwas_feed_totals etwas_feed_event_totals(const struct etwas_feed_event *event)
{
    const struct values values = values_of(event);

    return (struct etwas_feed_totals){.counted = values.counted, .lost = values.lost};
}

/* The time of one that is enabled goes on, whatever happens; of one whose processor was off it stands still for ever. */
bool etwas_feed_is_dead(const struct etwas_feed *feed)
{
    uint64_t before_ns = values_of(&feed->events[0]).enabled_ns;

    return values_of(&feed->events[0]).enabled_ns == before_ns;
}

static const struct etwas_feed_event *open_event_of(const struct etwas_feed *feed, uint32_t tag)
{
    for (uint32_t index = 0; index < feed->event_count; index++) {
        if (feed->events[index].tag == tag && feed->events[index].descriptor >= 0) {
            return &feed->events[index];
        }
    }
    return NULL;
}

int etwas_feed_event_descriptor(const struct etwas_feed *feed, uint32_t tag)
{
    const struct etwas_feed_event *event = open_event_of(feed, tag);

    return event != NULL ? event->descriptor : -1;
}

bool etwas_feed_totals(const struct etwas_feed *feed, uint32_t tag,
                       struct etwas_feed_totals *totals)
{
    bool found = false;

    *totals = (struct etwas_feed_totals){0};
    for (uint32_t index = 0; index < feed->event_count; index++) {
        const struct etwas_feed_event *event = &feed->events[index];

        if (event->tag == tag && event->descriptor >= 0) {
            struct etwas_feed_totals of_one = etwas_feed_event_totals(event);

            totals->counted += of_one.counted;
            totals->lost += of_one.lost;
            found = true;
        }
    }
    return found;
}

uint64_t etwas_feed_lost(const struct etwas_feed *feed)
{
    uint64_t lost = feed->closed_lost;

    for (uint32_t index = 0; index < feed->event_count; index++) {
        if (feed->events[index].descriptor >= 0) {
            lost += etwas_feed_event_totals(&feed->events[index]).lost;
        }
    }
    return lost;
}

uint32_t etwas_feed_next_thread(const struct etwas_feed *feed)
{
    union {
        struct {
            struct perf_event_header header;
            uint32_t process_id;
            uint32_t thread_id;
        };
        uint64_t words[2];
    } record;

    return etwas_ring_peek(&feed->ring, record.words) &&
                   record.header.type == PERF_RECORD_SWITCH_CPU_WIDE &&
                   (record.header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0
               ? record.thread_id
               : (uint32_t)ETWAS_NO_NUMBER;
}

int etwas_feed_descriptor(const struct etwas_feed *feed)
{
    return feed->events[0].descriptor;
}

void etwas_feed_enable(struct etwas_feed *feed, uint32_t tag)
{
    for (uint32_t index = 0; feed->is_on && index < feed->event_count; index++) {
        if (feed->events[index].tag == tag && feed->events[index].descriptor >= 0) {
            feed->events[index].waits = false;
            (void)ioctl(feed->events[index].descriptor, PERF_EVENT_IOC_ENABLE, 0);
        }
    }
}

void etwas_feed_set_period(struct etwas_feed *feed, uint32_t tag, uint64_t period)
{
    const struct etwas_feed_event *event = open_event_of(feed, tag);

    if (event != NULL) {
        (void)ioctl(event->descriptor, PERF_EVENT_IOC_PERIOD, &period);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static void close_event(struct etwas_feed *feed, struct etwas_feed_event *event)
{
    int descriptor = event->descriptor;

    event->descriptor = -1; /* before it is closed: see etwas_feed_forget */
    (void)close(descriptor);
    event->end = event->waits ? feed->ring.tail : etwas_ring_written(&feed->ring);
}

bool etwas_feed_remove(struct etwas_feed *feed, uint32_t tag, struct etwas_feed_totals *totals)
{
    if (tag == ETWAS_FEED_OWNER || open_event_of(feed, tag) == NULL) {
        return false;
    }
    *totals = (struct etwas_feed_totals){0};
    for (uint32_t index = 0; index < feed->event_count; index++) {
        struct etwas_feed_event *event = &feed->events[index];

        if (event->tag == tag && event->descriptor >= 0) {
            struct etwas_feed_totals of_one;

            (void)ioctl(event->descriptor, PERF_EVENT_IOC_DISABLE, 0);
            of_one = etwas_feed_event_totals(event);
            totals->counted += of_one.counted;
            totals->lost += of_one.lost;
            close_event(feed, event);
        }
    }
    feed->closed_lost += totals->lost;
    return true;
}

void etwas_feed_stop(struct etwas_feed *feed)
{
    feed->is_on = false;
    for (uint32_t index = 0; index < feed->event_count; index++) {
        if (feed->events[index].descriptor >= 0) {
            (void)ioctl(feed->events[index].descriptor, PERF_EVENT_IOC_DISABLE, 0);
        }
    }
}

void etwas_feed_forget(struct etwas_feed *feed)
{
    for (uint32_t index = 0; index < feed->event_count; index++) {
        int descriptor = feed->events[index].descriptor;

        /* In this order: a fork between the two leaves the child one more, and none closed twice. */
        feed->events[index].descriptor = -1;
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
    }
    feed->event_count = 0;
}

void etwas_feed_close(struct etwas_feed *feed)
{
    etwas_feed_stop(feed);
    etwas_ring_unmap(&feed->ring);
    etwas_feed_forget(feed);
}
