/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Random legal sessions. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "soak.h"

enum {
    SMALLEST_KB = 4,
    MOST_PRIVATE = 8,
    MOST_IN_PROCESS = 3
};

static pthread_mutex_t private_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t private_sessions;
static uint32_t in_process_sessions;

bool soak_private_take(uint32_t mode)
{
    bool in_process = (mode & EVENT_TRACE_PRIVATE_IN_PROC) != 0;
    bool taken;

    if ((mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) == 0) {
        return true;
    }
    (void)pthread_mutex_lock(&private_lock);
    taken =
        private_sessions < MOST_PRIVATE && (!in_process || in_process_sessions < MOST_IN_PROCESS);
    if (taken) {
        private_sessions++;
        in_process_sessions += in_process;
    }
    (void)pthread_mutex_unlock(&private_lock);
    return taken;
}

void soak_private_give(uint32_t mode)
{
    if ((mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) != 0) {
        (void)pthread_mutex_lock(&private_lock);
        private_sessions--;
        in_process_sessions -= (mode & EVENT_TRACE_PRIVATE_IN_PROC) != 0;
        (void)pthread_mutex_unlock(&private_lock);
    }
}

uint32_t soak_buffer_bytes(const struct soak_request *request)
{
    uint32_t page_kb = (uint32_t)sysconf(_SC_PAGESIZE) / 1024;
    uint32_t kb = request->buffer_kb == 0 ? 64 : request->buffer_kb;

    kb = kb < SMALLEST_KB ? SMALLEST_KB : kb;
    return (kb + page_kb - 1) / page_kb * page_kb * 1024;
}

bool soak_may_end(const struct soak_request *request)
{
    return request->kind == SOAK_LIMITED ||
           (request->kind == SOAK_APPEND && request->maximum_file_size != 0);
}

/* A size that holds at least three buffers; in KB, or in MB where that is large enough. */
static void choose_file_size(struct soak_request *request, struct soak_random *random)
{
    uint32_t least_kb = 3 * soak_buffer_bytes(request) / 1024;

    if (least_kb < 1024 && soak_once_in(random, 4)) {
        request->maximum_file_size = 1 + soak_upto(random, 1);
    } else {
        request->mode |= EVENT_TRACE_USE_KBYTES_FOR_SIZE;
        request->maximum_file_size = least_kb + soak_upto(random, 1 << soak_upto(random, 11));
    }
}

static void choose_kind(struct soak_request *request, struct soak_random *random)
{
    static const uint32_t modes[SOAK_KINDS] = {
        [SOAK_CIRCULAR] = EVENT_TRACE_FILE_MODE_CIRCULAR,
        [SOAK_APPEND] = EVENT_TRACE_FILE_MODE_APPEND,
        [SOAK_NEWFILE] = EVENT_TRACE_FILE_MODE_NEWFILE,
        [SOAK_BUFFERING] = EVENT_TRACE_BUFFERING_MODE,
    };

    request->kind = soak_upto(random, SOAK_KINDS - 1);
    request->mode = modes[request->kind];
    if (request->kind <= SOAK_LIMITED && soak_once_in(random, 2)) {
        request->mode |= EVENT_TRACE_FILE_MODE_SEQUENTIAL;
    }
}

static void choose_buffers(struct soak_request *request, struct soak_random *random)
{
    static const uint32_t sizes_kb[] = {0, 1, 4, 5, 8, 8, 16, 16, 30, 64, 64, 100, 128, 256, 1024};

    request->buffer_kb = sizes_kb[soak_upto(random, sizeof sizes_kb / sizeof sizes_kb[0] - 1)];
    if (request->kind == SOAK_APPEND && request->buffer_kb == 0) {
        request->buffer_kb = 64; /* R95: explicit */
    }
    if (soak_once_in(random, 2)) {
        request->minimum_buffers = soak_upto(random, 16);
    }
    /* Few: the pool runs dry, events are lost and counted. */
    if (soak_once_in(random, 2) || request->buffer_kb >= 64) {
        request->maximum_buffers = 1 + soak_upto(random, 24);
    }
}

static void choose_modes(struct soak_request *request, struct soak_random *random)
{
    static const uint32_t harmless[] = {
        EVENT_TRACE_USE_PAGED_MEMORY,
        EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN,
        EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN,
        EVENT_TRACE_USE_KBYTES_FOR_SIZE,
    };

    if (request->kind == SOAK_LIMITED || request->kind == SOAK_CIRCULAR ||
        request->kind == SOAK_NEWFILE) {
        choose_file_size(request, random);
        if (soak_once_in(random, 4)) {
            request->mode |= EVENT_TRACE_FILE_MODE_PREALLOCATE;
        }
    } else if (request->kind == SOAK_APPEND && soak_once_in(random, 4)) {
        request->maximum_file_size = 4;
        request->mode |= soak_once_in(random, 2) ? EVENT_TRACE_FILE_MODE_PREALLOCATE : 0;
    } else if (soak_once_in(random, 4)) {
        request->mode |= harmless[soak_upto(random, 3)];
    }
    if (request->kind != SOAK_APPEND && (request->mode & EVENT_TRACE_FILE_MODE_PREALLOCATE) == 0 &&
        soak_once_in(random, 5)) {
        request->mode |= EVENT_TRACE_PRIVATE_LOGGER_MODE;
        request->mode |= soak_once_in(random, 2) ? EVENT_TRACE_PRIVATE_IN_PROC : 0;
    } else {
        if (soak_once_in(random, 6)) {
            request->mode |= EVENT_TRACE_INDEPENDENT_SESSION_MODE;
        }
        /* Into a backlog that nobody reads: live.c has the readers. */
        if (request->kind != SOAK_APPEND && request->kind != SOAK_BUFFERING &&
            soak_once_in(random, 3)) {
            request->mode |= EVENT_TRACE_REAL_TIME_MODE;
        }
    }
    if (soak_once_in(random, 4)) {
        request->mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
    }
    if (request->kind != SOAK_CIRCULAR && soak_once_in(random, 3)) {
        request->mode |= EVENT_TRACE_COMPRESSED_MODE;
    }
    if (soak_once_in(random, 2)) {
        request->flush_timer = soak_upto(random, 1);
    } else {
        request->mode |= EVENT_TRACE_USE_MS_FLUSH_TIMER;
        request->flush_timer = soak_upto(random, 20);
    }
}

/* Filters by process and by program, of which one may be somebody else's. */
static void choose_filters(struct soak_request *request, struct soak_random *random)
{
    EVENT_FILTER_DESCRIPTOR *filter = request->filters;
    uint32_t *processes = (uint32_t *)(void *)request->filter_data[0];
    uint32_t count = 1 + soak_upto(random, 7);
    bool ours = !soak_once_in(random, 4);

    if (!request->versioned || (request->mode & EVENT_TRACE_PRIVATE_LOGGER_MODE) == 0 ||
        (request->mode & EVENT_TRACE_PRIVATE_IN_PROC) != 0) {
        return;
    }
    if (soak_once_in(random, 2)) {
        for (uint32_t index = 0; index < count; index++) {
            processes[index] = 1000000000 + index; /* above what a system can have */
        }
        if (ours) {
            processes[soak_upto(random, count - 1)] = (uint32_t)getpid();
        }
        request->filtered_out = request->filtered_out || !ours;
        *filter++ = (EVENT_FILTER_DESCRIPTOR){.Ptr = (uint64_t)(uintptr_t)processes,
                                              .Size = count * (uint32_t)sizeof *processes,
                                              .Type = EVENT_FILTER_TYPE_PID};
    }
    if (soak_once_in(random, 2)) {
        const char *names = soak_once_in(random, 4)
                                ? "nobody;no.exe"
                                : "nobody;ETWAS_soak;etwas_SOAK_clock_snapshots";

        soak_widen(names, request->filter_data[1]);
        request->filtered_out = request->filtered_out || names[7] == 'n';
        *filter++ = (EVENT_FILTER_DESCRIPTOR){.Ptr = (uint64_t)(uintptr_t)request->filter_data[1],
                                              .Size = (uint32_t)(strlen(names) + 1) * 2,
                                              .Type = EVENT_FILTER_TYPE_EXECUTABLE_NAME};
    }
    request->filter_count = (uint32_t)(filter - request->filters);
}

/* Chooses the way to start: etwas_start, with what only it has, or a block of properties. */
static void choose_way(struct soak_request *request, struct soak_random *random)
{
    request->by_block = soak_once_in(random, 2);
    request->clock = request->kind == SOAK_APPEND ? ETWAS_CLOCK_SYSTEM_TIME : soak_upto(random, 3);
    if (request->by_block) {
        request->wide = soak_once_in(random, 2);
        request->versioned = soak_once_in(random, 2);
        request->version = 2;
        request->large_pages = request->versioned && soak_once_in(random, 4);
        request->has_guid = soak_once_in(random, 4);
        request->guid.Data1 = (uint32_t)soak_next(random);
        request->guid.Data2 = (uint16_t)soak_next(random);
        request->guid.Data4[7] = 1;
        choose_filters(request, random);
        return;
    }
    if (soak_once_in(random, 3)) {
        request->protocol = ETWAS_PROTOCOL_SHARED;
    }
    request->process_times = soak_once_in(random, 4);
    request->large_pages = soak_once_in(random, 6);
    request->flusher.no_thread = soak_once_in(random, 5);
    request->flusher.nice_value = soak_once_in(random, 6) ? 5 : 0;
}

void soak_request_make(struct soak_request *request, struct soak_random *random, const char *folder,
                       const char *name)
{
    memset(request, 0, sizeof *request);
    (void)snprintf(request->folder, sizeof request->folder, "%s", folder);
    (void)snprintf(request->name, sizeof request->name, "%s", name);
    choose_kind(request, random);
    choose_buffers(request, random);
    choose_modes(request, random);
    choose_way(request, random);
    request->has_file = request->kind != SOAK_BUFFERING;
    if (request->has_file) {
        static const char *const counters[] = {"%d", "%03d", "%5d"};

        (void)snprintf(request->file, sizeof request->file, "%.400s/log%s.etl", folder,
                       request->kind == SOAK_NEWFILE ? counters[soak_upto(random, 2)] : "");
    }
}

const char *soak_describe(const struct soak_request *request, char *text, size_t bytes)
{
    (void)snprintf(text, bytes,
                   "%s%s%s \"%.60s\" mode 0x%x clock %u buffer %u KB min %u max %u file size %u "
                   "timer %u protocol %u%s%s%s%s filters %u%s file %.300s",
                   request->by_block ? "StartTrace" : "etwas_start", request->wide ? "W" : "",
                   request->versioned ? " V2" : "", request->name, request->mode, request->clock,
                   request->buffer_kb, request->minimum_buffers, request->maximum_buffers,
                   request->maximum_file_size, request->flush_timer, request->protocol,
                   request->process_times ? " process times" : "",
                   request->large_pages ? " large pages" : "",
                   request->flusher.no_thread ? " no thread" : "", request->has_guid ? " GUID" : "",
                   request->filter_count, request->filtered_out ? " filtered out" : "",
                   request->has_file ? request->file : "-");
    return text;
}
