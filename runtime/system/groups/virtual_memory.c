/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_VIRTUAL_ALLOC: memory that processes allocate and free by system calls, as
 * VirtualAlloc and VirtualFree of ETW's PageFault.
 *
 *     mmap      of anonymous memory: VirtualAlloc
 *     munmap    VirtualFree, whatever was there
 *     mremap    what was added or removed; if it moves, both of the whole
 *     brk       what was added or removed, once the end of the process's data is known
 *
 * If only the own process is recorded: MMAP2, which the kernel writes when memory is mapped, grows
 * or gets another protection. It does not report freed memory.
 *
 * Records are made when the call has succeeded. After a loss nothing is known of calls in progress,
 * nor of the ends of data. The kernel's own records of mappings report the size of merged mappings,
 * and not what was requested.
 */
#include <etwas/evntrace.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system/groups/event_groups.h"
#include "system/stream/cpu_stream.h"
#include "system/stream/event_join.h"
#include "system/stream/kernel_record.h"

enum {
    COMMIT_AND_RESERVE = 0x1000 | 0x2000,
    RELEASE = 0x8000,
    LARGEST_ERROR = 4095,
};

enum call_kind {
    CALL_MAP,
    CALL_UNMAP,
    CALL_REMAP,
    CALL_BREAK,
};

/* A call until it ends; under the other key, the end of a process's data. */
struct call {
    enum call_kind kind;
    uint64_t begin;
    uint64_t bytes;
    uint64_t new_bytes;
};

/* The second number of the join: a thread is in one call at a time. */
enum {
    CALL_OF_THREAD,
    DATA_OF_PROCESS,
};

static uint64_t virtual_memory_whole_pages(uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

static const void *virtual_memory_make_record(struct etwas_record_builder *record, uint8_t type,
                                              const struct etwas_sample_origin *origin,
                                              uint64_t begin, uint64_t bytes)
{
    ETWAS_RECORD_MAKE(record, VIRTUAL_MEMORY, type, .BaseAddress = begin, .RegionSize = bytes,
                      .ProcessId = origin->process_id,
                      .Flags = type == ETWAS_VIRTUAL_ALLOC ? COMMIT_AND_RESERVE : RELEASE);
    etwas_record_builder_set_thread(record, origin->process_id, origin->thread_id);
    return etwas_record_builder_end(record);
}

static void virtual_memory_emit_memory(const struct etwas_source_event *event, uint8_t type,
                                       uint64_t begin, uint64_t bytes)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;

    if (bytes != 0) {
        etwas_emit(event->host->emitter, event->slot,
                   virtual_memory_make_record(event->host->record, type, origin, begin, bytes),
                   origin->time_ns);
    }
}

/* A range grows or shrinks at its end. */
static void virtual_memory_emit_growth(const struct etwas_source_event *event, uint64_t begin,
                                       uint64_t from, uint64_t to)
{
    if (to > from) {
        virtual_memory_emit_memory(event, ETWAS_VIRTUAL_ALLOC, begin + from, to - from);
    } else {
        virtual_memory_emit_memory(event, ETWAS_VIRTUAL_FREE, begin + to, from - to);
    }
}

/* ---- the beginning of a call ----------------------------------------------------------------- */

static struct call *virtual_memory_begin_call(const struct etwas_source_event *event,
                                              enum call_kind kind)
{
    struct call *call =
        etwas_event_join_insert(event->state, etwas_source_event_thread(event), CALL_OF_THREAD);

    call->kind = kind;
    return call;
}

static const char *const range_names[] = {"addr", "len", NULL};

static bool virtual_memory_begin_range(const struct etwas_source_event *event, enum call_kind kind)
{
    int64_t values[2];
    struct call *call;

    if (!etwas_source_event_numbers(event, values, 2)) {
        return false;
    }
    call = virtual_memory_begin_call(event, kind);
    call->begin = (uint64_t)values[0];
    call->bytes = virtual_memory_whole_pages((uint64_t)values[1]);
    return true;
}

/* The address that is passed to the call is only a hint. */
static bool virtual_memory_handle_map(const struct etwas_source_event *event)
{
    return virtual_memory_begin_range(event, CALL_MAP);
}

static bool virtual_memory_handle_unmap(const struct etwas_source_event *event)
{
    return virtual_memory_begin_range(event, CALL_UNMAP);
}

static const char *const remap_names[] = {"addr", "old_len", "new_len", "flags", NULL};

static bool virtual_memory_handle_remap(const struct etwas_source_event *event)
{
    int64_t values[4];
    struct call *call;

    if (!etwas_source_event_numbers(event, values, 4)) {
        return false;
    }
    call = virtual_memory_begin_call(event, CALL_REMAP);
    call->begin = (uint64_t)values[0];
    call->bytes =
        (values[3] & MREMAP_DONTUNMAP) != 0 ? 0 : virtual_memory_whole_pages((uint64_t)values[1]);
    call->new_bytes = virtual_memory_whole_pages((uint64_t)values[2]);
    return true;
}

static const char *const break_names[] = {"brk", NULL};

static bool virtual_memory_handle_break(const struct etwas_source_event *event)
{
    int64_t end;

    if (!etwas_source_event_numbers(event, &end, 1)) {
        return false;
    }
    virtual_memory_begin_call(event, CALL_BREAK)->begin = (uint64_t)end;
    return true;
}

/* ---- the end of a call ----------------------------------------------------------------------- */

static const char *const result_names[] = {"ret", NULL};

/* Returns false if the sample is too short. *is_good: the call succeeded, and was seen to begin. */
static bool virtual_memory_end_call(const struct etwas_source_event *event, enum call_kind kind,
                                    struct call *call, bool *is_good, uint64_t *result)
{
    uint32_t thread_id = etwas_source_event_thread(event);
    const struct call *found = etwas_event_join_find(event->state, thread_id, CALL_OF_THREAD);
    int64_t value;

    if (!etwas_source_event_numbers(event, &value, 1)) {
        return false;
    }
    *result = (uint64_t)value;
    *is_good = found != NULL && found->kind == kind && !(value < 0 && value >= -LARGEST_ERROR);
    if (found != NULL) {
        *call = *found;
        etwas_event_join_remove(event->state, thread_id, CALL_OF_THREAD);
    }
    return true;
}

static bool virtual_memory_handle_map_end(const struct etwas_source_event *event)
{
    struct call call;
    uint64_t address;
    bool is_good;

    if (!virtual_memory_end_call(event, CALL_MAP, &call, &is_good, &address)) {
        return false;
    }
    if (is_good) {
        virtual_memory_emit_memory(event, ETWAS_VIRTUAL_ALLOC, address, call.bytes);
    }
    return true;
}

static bool virtual_memory_handle_unmap_end(const struct etwas_source_event *event)
{
    struct call call;
    uint64_t result;
    bool is_good;

    if (!virtual_memory_end_call(event, CALL_UNMAP, &call, &is_good, &result)) {
        return false;
    }
    if (is_good) {
        virtual_memory_emit_memory(event, ETWAS_VIRTUAL_FREE, call.begin, call.bytes);
    }
    return true;
}

static bool virtual_memory_handle_remap_end(const struct etwas_source_event *event)
{
    struct call call;
    uint64_t address;
    bool is_good;

    if (!virtual_memory_end_call(event, CALL_REMAP, &call, &is_good, &address)) {
        return false;
    }
    if (is_good && address == call.begin) {
        virtual_memory_emit_growth(event, address, call.bytes, call.new_bytes);
    } else if (is_good) {
        virtual_memory_emit_memory(event, ETWAS_VIRTUAL_FREE, call.begin, call.bytes);
        virtual_memory_emit_memory(event, ETWAS_VIRTUAL_ALLOC, address, call.new_bytes);
    }
    return true;
}

/* A program reads its end of data, by brk(0), before it moves it. */
static bool virtual_memory_handle_break_end(const struct etwas_source_event *event)
{
    uint32_t process_id = event->sample->origin.process_id;
    struct call *data = etwas_event_join_find(event->state, process_id, DATA_OF_PROCESS);
    struct call call;
    uint64_t end;
    bool is_good;

    if (!virtual_memory_end_call(event, CALL_BREAK, &call, &is_good, &end)) {
        return false;
    }
    if (!is_good || process_id == 0) { /* all processes outside of the namespace have number 0 */
        return true;
    }
    end = virtual_memory_whole_pages(end);
    if (data != NULL && call.begin != 0) {
        virtual_memory_emit_growth(event, 0, data->begin, end);
    } else if (data == NULL) {
        data = etwas_event_join_insert(event->state, process_id, DATA_OF_PROCESS);
    }
    data->begin = end;
    return true;
}

/* ---- the group ------------------------------------------------------------------------------- */

/* 32: MAP_ANONYMOUS, on every machine that is supported. */
static const struct etwas_event_source sources[] = {
    {.tracepoint = "syscalls/sys_enter_mmap",
     .fields = range_names,
     .filter = "flags & 32",
     .without_own = true,
     .handle = virtual_memory_handle_map},
    {.tracepoint = "syscalls/sys_exit_mmap",
     .fields = result_names,
     .hooks = {ETWAS_KERNEL_HOOK(VIRTUAL_MEMORY, ETWAS_VIRTUAL_ALLOC)},
     .without_own = true,
     .handle = virtual_memory_handle_map_end},
    {.tracepoint = "syscalls/sys_enter_munmap",
     .fields = range_names,
     .without_own = true,
     .handle = virtual_memory_handle_unmap},
    {.tracepoint = "syscalls/sys_exit_munmap",
     .fields = result_names,
     .hooks = {ETWAS_KERNEL_HOOK(VIRTUAL_MEMORY, ETWAS_VIRTUAL_FREE)},
     .without_own = true,
     .handle = virtual_memory_handle_unmap_end},
    {.tracepoint = "syscalls/sys_enter_mremap",
     .fields = remap_names,
     .without_own = true,
     .handle = virtual_memory_handle_remap},
    {.tracepoint = "syscalls/sys_exit_mremap",
     .fields = result_names,
     .hooks = {ETWAS_KERNEL_HOOK(VIRTUAL_MEMORY, ETWAS_VIRTUAL_ALLOC),
               ETWAS_KERNEL_HOOK(VIRTUAL_MEMORY, ETWAS_VIRTUAL_FREE)},
     .without_own = true,
     .handle = virtual_memory_handle_remap_end},
    {.tracepoint = "syscalls/sys_enter_brk",
     .fields = break_names,
     .without_own = true,
     .handle = virtual_memory_handle_break},
    {.tracepoint = "syscalls/sys_exit_brk",
     .fields = result_names,
     .hooks = {ETWAS_KERNEL_HOOK(VIRTUAL_MEMORY, ETWAS_VIRTUAL_ALLOC),
               ETWAS_KERNEL_HOOK(VIRTUAL_MEMORY, ETWAS_VIRTUAL_FREE)},
     .without_own = true,
     .handle = virtual_memory_handle_break_end},
};

static bool virtual_memory_is_without_file(const char *path)
{
    return strncmp(path, "//anon", 6) == 0 || strcmp(path, "[heap]") == 0 ||
           strncmp(path, "/dev/zero", 9) == 0;
}

/* For the own process: the mapping as it is now. */
static void virtual_memory_handle_process_record(void *state,
                                                 const struct etwas_event_group_host *host,
                                                 uint32_t slot,
                                                 const struct etwas_process_record *process_record)
{
    (void)state;
    if (virtual_memory_is_without_file(process_record->image.path)) {
        etwas_emit(
            host->emitter, slot,
            virtual_memory_make_record(host->record, ETWAS_VIRTUAL_ALLOC, &process_record->origin,
                                       process_record->image.address, process_record->image.bytes),
            process_record->origin.time_ns);
    }
}

static void *virtual_memory_open(const struct etwas_event_group_host *host)
{
    (void)host;
    return etwas_event_join_make(sizeof(struct call));
}

static void virtual_memory_close(void *state)
{
    etwas_event_join_free(state);
}

/* The loss may contain the beginning or end of a call of any thread. */
static void virtual_memory_handle_loss(void *state, uint32_t slot)
{
    (void)slot;
    etwas_event_join_clear(state);
}

const struct etwas_event_group etwas_event_group_virtual_memory = {
    .flags = EVENT_TRACE_FLAG_VIRTUAL_ALLOC,
    .own_process_records = ETWAS_PROCESS_RECORD_FILES,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = virtual_memory_open,
    .close = virtual_memory_close,
    .handle_process_record = virtual_memory_handle_process_record,
    .handle_loss = virtual_memory_handle_loss,
};
