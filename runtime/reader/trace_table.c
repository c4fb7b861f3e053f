/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Handles of open traces: index and generation into a static table, never pointers, so that a
 * handle used after CloseTrace is an error and not a crash. One lock guards the table, every
 * `processing` flag and when a trace is freed; it is never held while a callback runs.
 */
#include "reader/trace_table.h"

#include <ck_pr.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "platform/cancel.h"
#include "platform/fork.h"
#include "platform/sized_struct.h"
#include "reader/consumer.h"
#include "reader/trace.h"

struct entry {
    struct etwas_trace *trace; /* NULL: free */
    uint64_t generation;       /* of the handle that names `trace`; grows with each */
};

static struct entry entries[ETWAS_TRACES];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Ends the processing by other threads in the child of a fork, and closes the files of traces that
 * they would have closed.
 */
static void trace_table_after_fork_in_child(void)
{
    for (size_t i = 0; i < ETWAS_TRACES; i++) {
        struct etwas_trace *trace = entries[i].trace;

        if (trace != NULL && trace->consumer != NULL) {
            etwas_consumer_after_fork_in_child(trace->consumer);
        }
        if (trace != NULL && trace->processing != 0 && trace->processing != pthread_self()) {
            trace->processing = 0;
            trace->decompressed_bytes = 0;
            if (trace->closing != 0 && trace->descriptor >= 0) {
                close(trace->descriptor);
                trace->descriptor = -1;
            }
        }
    }
    etwas_trace_table_unlock();
}

static const struct etwas_fork_handlers fork_handlers = {
    etwas_trace_table_lock, etwas_trace_table_unlock, trace_table_after_fork_in_child};

static void trace_table_handle_forks(void)
{
    etwas_fork_handle(ETWAS_FORK_TRACES, &fork_handlers);
}

void etwas_trace_table_lock(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, trace_table_handle_forks);
    (void)pthread_mutex_lock(&table_lock);
}

void etwas_trace_table_unlock(void)
{
    (void)pthread_mutex_unlock(&table_lock);
}

/* Bits 56..63: kind of handle (here: a trace); 16..55: generation; 0..15: index. */
#define HANDLE_TAG (UINT64_C(0x54) << 56)
#define HANDLE_TAG_MASK (UINT64_C(0xFF) << 56)
#define HANDLE_GENERATION ((UINT64_C(1) << 40) - 1)

/* Returns the entry of a handle; NULL if it names no open trace. The lock is held. */
static struct entry *trace_table_find_entry(etwas_trace_handle handle)
{
    uint64_t index = handle & 0xFFFF;
    struct entry *entry;

    if ((handle & HANDLE_TAG_MASK) != HANDLE_TAG || index >= ETWAS_TRACES) {
        return NULL;
    }
    entry = &entries[index];
    if (entry->trace == NULL || entry->generation != (handle >> 16 & HANDLE_GENERATION)) {
        return NULL;
    }
    return entry;
}

struct etwas_trace *etwas_trace_table_find(etwas_trace_handle handle)
{
    struct entry *entry = trace_table_find_entry(handle);

    return entry != NULL ? entry->trace : NULL;
}

etwas_trace_handle etwas_trace_table_add(struct etwas_trace *trace)
{
    etwas_trace_handle handle = INVALID_PROCESSTRACE_HANDLE;

    etwas_trace_table_lock();
    for (uint64_t i = 0; i < ETWAS_TRACES; i++) {
        struct entry *entry = &entries[i];

        if (entry->trace != NULL) {
            continue;
        }
        entry->trace = trace;
        entry->generation = (entry->generation + 1) & HANDLE_GENERATION;
        handle = HANDLE_TAG | entry->generation << 16 | i;
        break;
    }
    etwas_trace_table_unlock();
    return handle;
}

/* The lock is held. */
static uint32_t trace_table_acquire_one(etwas_trace_handle handle, struct etwas_trace **trace)
{
    struct entry *entry = trace_table_find_entry(handle);

    if (entry == NULL || entry->trace->closing != 0) {
        return ERROR_INVALID_HANDLE;
    }
    if (entry->trace->processing != 0) {
        return ERROR_BUSY;
    }
    entry->trace->processing = pthread_self();
    *trace = entry->trace;
    return ERROR_SUCCESS;
}

uint32_t etwas_trace_table_acquire(const etwas_trace_handle *handles, uint32_t count,
                                   struct etwas_trace **traces)
{
    uint32_t code = ERROR_SUCCESS;
    uint32_t taken = 0;

    etwas_trace_table_lock();
    while (taken < count && code == ERROR_SUCCESS) {
        code = trace_table_acquire_one(handles[taken], &traces[taken]);
        if (code == ERROR_SUCCESS) {
            taken++;
        }
    }
    if (code != ERROR_SUCCESS) {
        for (uint32_t i = 0; i < taken; i++) {
            traces[i]->processing = 0;
        }
    }
    etwas_trace_table_unlock();
    return code;
}

void etwas_trace_table_release(const etwas_trace_handle *handles, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct etwas_trace *closed = NULL;
        struct entry *entry;

        etwas_trace_table_lock();
        entry = trace_table_find_entry(handles[i]);
        entry->trace->processing = 0;
        if (entry->trace->closing != 0) {
            closed = entry->trace;
            entry->trace = NULL;
        }
        etwas_trace_table_unlock();
        etwas_trace_free(closed);
    }
}

void etwas_trace_free(struct etwas_trace *trace)
{
    /* Closing is a cancellation point, at which the rest, and other traces, would leak. */
    ETWAS_UNCANCELLED_SCOPE;

    if (trace == NULL) {
        return;
    }
    if (trace->descriptor >= 0) {
        close(trace->descriptor);
    }
    if (trace->consumer != NULL) {
        etwas_consumer_disconnect(trace->consumer);
    }
    etwas_timeline_free(trace->timeline);
    etwas_clock_search_free(&trace->clock_search);
    free(trace->appended.begins);
    free(trace->index_path);
    free(trace->log.names);
    free(trace->log.losses.losses);
    free(trace->logfile.w.LogFileName);
    free(trace->logfile.w.LoggerName);
    free(trace->session_name);
    free(trace);
}

void etwas_trace_table_connect(struct etwas_trace *trace, struct etwas_consumer *consumer,
                               const etwas_trace_information *information)
{
    trace->consumer = consumer;
    trace->information = *information;
    if (trace->closing != 0) {
        etwas_consumer_stop(consumer);
    }
}

struct etwas_consumer *etwas_trace_table_disconnect(struct etwas_trace *trace)
{
    struct etwas_consumer *consumer;

    etwas_trace_table_lock();
    consumer = trace->consumer;
    trace->consumer = NULL;
    etwas_trace_table_unlock();
    return consumer;
}

uint32_t CloseTrace(etwas_trace_handle TraceHandle)
{
    struct etwas_trace *closed = NULL;
    uint32_t code = ERROR_SUCCESS;
    struct entry *entry;

    etwas_trace_table_lock();
    entry = trace_table_find_entry(TraceHandle);
    if (entry == NULL) {
        code = ERROR_INVALID_HANDLE;
    } else if (entry->trace->processing != 0) {
        ck_pr_store_uint(&entry->trace->closing, 1);
        if (entry->trace->consumer != NULL) {
            etwas_consumer_stop(entry->trace->consumer);
        }
        code = ERROR_CTX_CLOSE_PENDING;
    } else {
        closed = entry->trace;
        entry->trace = NULL;
    }
    etwas_trace_table_unlock();
    etwas_trace_free(closed);
    return code;
}

uint32_t etwas_trace_on_damage(etwas_trace_handle trace, etwas_damage_callback callback,
                               void *context)
{
    uint32_t code = ERROR_SUCCESS;
    struct entry *entry;

    etwas_trace_table_lock();
    entry = trace_table_find_entry(trace);
    if (entry == NULL) {
        code = ERROR_INVALID_HANDLE;
    } else if (entry->trace->processing != 0) {
        code = ERROR_BUSY;
    } else {
        entry->trace->on_damage = callback;
        entry->trace->damage_context = context;
    }
    etwas_trace_table_unlock();
    return code;
}

uint32_t etwas_trace_select_section(etwas_trace_handle trace, uint32_t section, uint32_t sections)
{
    uint32_t code = ERROR_SUCCESS;
    struct entry *entry;

    etwas_trace_table_lock();
    entry = trace_table_find_entry(trace);
    if (entry == NULL) {
        code = ERROR_INVALID_HANDLE;
    } else if (entry->trace->processing != 0) {
        code = ERROR_BUSY;
    } else if (section >= sections || entry->trace->session_name != NULL) {
        code = ERROR_INVALID_PARAMETER;
    } else {
        entry->trace->section = section;
        entry->trace->sections = sections;
    }
    etwas_trace_table_unlock();
    return code;
}

/*
 * Copies the information. Each count is whole, but they are not of one moment, because the
 * processing thread continues.
 */
static void trace_table_copy_information(const etwas_trace_information *from,
                                         etwas_trace_information *to)
{
    *to = (etwas_trace_information){
        .file_bytes = ck_pr_load_64(&from->file_bytes),
        .buffers = ck_pr_load_64(&from->buffers),
        .buffers_damaged = ck_pr_load_64(&from->buffers_damaged),
        .events = ck_pr_load_64(&from->events),
        .bytes_skipped = ck_pr_load_64(&from->bytes_skipped),
        .bytes_read = ck_pr_load_64(&from->bytes_read),
        .damages = ck_pr_load_64(&from->damages),
        .unfinished = ck_pr_load_8((const uint8_t *)&from->unfinished) != 0,
        .compressed = from->compressed,
        .calibrated = from->calibrated,
        .clock = from->clock,
        .clock_frequency = from->clock_frequency,
        .lost_events = from->lost_events,
        .lost_buffers = from->lost_buffers,
        .overwritten_events = from->overwritten_events,
        .overwritten_buffers = ck_pr_load_64(&from->overwritten_buffers),
        .part = from->part,
        .processors = from->processors,
        .protocol = from->protocol,
        .sequences = from->sequences,
        .attempted_events = from->attempted_events,
        .uncompressed_bytes = ck_pr_load_64(&from->uncompressed_bytes),
        .index_file = ck_pr_load_32(&from->index_file),
        .ends = from->ends,
        .unattached_processes = from->unattached_processes,
        .unattached_code = from->unattached_code,
        .repeated_events = ck_pr_load_64(&from->repeated_events),
        .repeated_lost_events = ck_pr_load_64(&from->repeated_lost_events),
        .repeated_lost_buffers = ck_pr_load_64(&from->repeated_lost_buffers),
        .repeated_overwritten_events = ck_pr_load_64(&from->repeated_overwritten_events),
        .repeated_overwritten_buffers = ck_pr_load_64(&from->repeated_overwritten_buffers),
        .repeated_attempted_events = ck_pr_load_64(&from->repeated_attempted_events),
    };
}

uint32_t etwas_trace_query_sized(etwas_trace_handle trace, etwas_trace_information *information,
                                 size_t information_bytes)
{
    etwas_trace_information known;
    uint32_t code = ERROR_SUCCESS;
    struct entry *entry;

    if (information == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_trace_table_lock();
    entry = trace_table_find_entry(trace);
    if (entry == NULL) {
        code = ERROR_INVALID_HANDLE;
    } else {
        trace_table_copy_information(&entry->trace->information, &known);
        etwas_sized_write(information, information_bytes, &known, sizeof known);
    }
    etwas_trace_table_unlock();
    return code;
}
