/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/kernel_sources_events.h"

#include <errno.h>

#include "platform/testpoint.h"
#include "system/names/proc_list.h"
#include "system/stream/source_tags.h"

enum {
    MOST_TRIES = 16
};

void etwas_kernel_sources_remove_event(struct etwas_kernel_sources *kernel, uint32_t tag)
{
    for (uint32_t index = kernel->first_stream; index < kernel->merge.count; index++) {
        struct etwas_cpu_stream *stream = kernel->merge.streams[index].stream;
        struct etwas_cpu_stream_totals totals;

        if (etwas_cpu_stream_remove(stream, tag, &totals)) {
            etwas_accounts_add(&kernel->accounts, stream->processor, tag, &totals);
        }
    }
}

static bool add_everybodys(struct etwas_kernel_sources *kernel,
                           const struct etwas_cpu_stream_request *request,
                           struct etwas_unavailability *reason)
{
    for (uint32_t index = kernel->first_stream; index < kernel->merge.count; index++) {
        if (!etwas_cpu_stream_add(kernel->merge.streams[index].stream, request, reason)) {
            etwas_kernel_sources_remove_event(kernel, request->tag);
            return false;
        }
    }
    return true;
}

/* A thread that has ended has no events; that is not an error. */
static bool add_threads(struct etwas_kernel_sources *kernel,
                        const struct etwas_thread_list *threads,
                        const struct etwas_cpu_stream_request *request,
                        struct etwas_unavailability *reason)
{
    struct etwas_cpu_stream_request of_one = *request;

    for (uint32_t thread = 0; thread < threads->count; thread++) {
        of_one.thread = threads->ids[thread];
        for (uint32_t index = 0; index < kernel->merge.count; index++) {
            if (!etwas_cpu_stream_add(kernel->merge.streams[index].stream, &of_one, reason) &&
                reason->error != ESRCH) {
                return false;
            }
        }
    }
    return true;
}

/*
 * Adds the event to every thread of the process; threads that they start inherit it. A thread that
 * started meanwhile may have been started by one without the event: then everything is done again.
 * The events stay disabled until all are there. If the process keeps starting threads, this gives
 * up after some tries, and some threads are not recorded.
 */
static bool add_own(struct etwas_kernel_sources *kernel,
                    const struct etwas_cpu_stream_request *request,
                    struct etwas_unavailability *reason)
{
    struct etwas_thread_list before = {.except = kernel->own_thread};
    struct etwas_thread_list after = {.except = kernel->own_thread};
    uint32_t tries = 0;
    bool good;
    bool is_whole;

    do {
        etwas_kernel_sources_remove_event(kernel, request->tag);
        *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_THREADS, 0};
        good = etwas_thread_list_read(&before);
        ETWAS_TESTPOINT(ETWAS_POINT_THREADS_LISTED);
        good =
            good && add_threads(kernel, &before, request, reason) && etwas_thread_list_read(&after);
        is_whole = etwas_thread_list_equals(&before, &after) || ++tries == MOST_TRIES;
    } while (good && !is_whole);
    for (uint32_t index = 0; good && index < kernel->merge.count; index++) {
        etwas_cpu_stream_enable(kernel->merge.streams[index].stream, request->tag);
    }
    if (!good) {
        etwas_kernel_sources_remove_event(kernel, request->tag);
    }
    etwas_thread_list_free(&before);
    etwas_thread_list_free(&after);
    return good;
}

bool etwas_kernel_sources_add_event(struct etwas_kernel_sources *kernel,
                                    const struct etwas_cpu_stream_request *request,
                                    struct etwas_unavailability *reason)
{
    bool good = kernel->host.own_process != 0 ? add_own(kernel, request, reason)
                                              : add_everybodys(kernel, request, reason);

    for (uint32_t index = 0; good && index < kernel->merge.count; index++) {
        uint32_t slot = kernel->merge.streams[index].stream->processor;

        etwas_account_of(&kernel->accounts, slot, request->tag)->was_open = true;
    }
    return good;
}
