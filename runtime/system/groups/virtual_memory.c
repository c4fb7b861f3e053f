/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_VIRTUAL_ALLOC: memory that processes take and give back by system calls, as
 * VirtualAlloc and VirtualFree of ETW's PageFault.
 *
 *     mmap      of memory without a file: VirtualAlloc
 *     munmap    VirtualFree, whatever was there
 *     mremap    what was added or taken away; if it moves, both of the whole
 *     brk       what was added or taken away, once the process's end of data has been asked for
 *
 * Of the own process alone: MMAP2, as the kernel says it of memory that is mapped, grows or may be used
 * otherwise. What is given back it does not say.
 *
 * They are told when the call is over and was no failure. After a loss nothing is known of calls that have
 * begun, nor where data end. The kernel's own records of mappings say
 * how large one has become that was merged with its neighbours, not what was asked for.
 */
#include <etwas/evntrace.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "etl/layout.h"
#include "system/groups/event_groups.h"
#include "system/stream/cpu_stream.h"
#include "system/stream/join.h"

enum {
    GROUP_MEMORY = 0x02,
    CLASS_VERSION = 2,
    TYPE_ALLOC = 98,
    TYPE_FREE = 99,
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

/* What a thread asks for until the answer is there, or by the other number what a process has. */
struct call {
    enum call_kind kind;
    uint64_t begin;
    uint64_t bytes;
    uint64_t new_bytes;
};

/* Second numbers of the join: a thread waits for one call at a time. */
enum {
    CALL_OF_THREAD,
    DATA_OF_PROCESS,
};

static uint64_t whole_pages(uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

static const void *make(struct etwas_record *record, uint8_t type,
                        const struct etwas_sample_origin *origin, uint64_t begin, uint64_t bytes)
{
    etwas_record_begin(record, ETWAS_ETL_SYSTEM64, GROUP_MEMORY, type, CLASS_VERSION);
    etwas_record_set_thread(record, origin->process_id, origin->thread_id);
    etwas_record_put_u64(record, begin);
    etwas_record_put_u64(record, bytes);
    etwas_record_put_u32(record, origin->process_id);
    etwas_record_put_u32(record, type == TYPE_ALLOC ? COMMIT_AND_RESERVE : RELEASE);
    return etwas_record_end(record);
}

static void tell(const struct etwas_taken *taken, uint8_t type, uint64_t begin, uint64_t bytes)
{
    const struct etwas_sample_origin *origin = &taken->sample->origin;

    if (bytes != 0) {
        etwas_emit(taken->host->emitter, taken->slot,
                   make(taken->host->record, type, origin, begin, bytes), origin->time_ns);
    }
}

/* A piece that begins where it did becomes larger or smaller. */
static void tell_growth(const struct etwas_taken *taken, uint64_t begin, uint64_t from, uint64_t to)
{
    if (to > from) {
        tell(taken, TYPE_ALLOC, begin + from, to - from);
    } else {
        tell(taken, TYPE_FREE, begin + to, from - to);
    }
}

/* ---- the beginning of a call ----------------------------------------------------------------- */

static struct call *begin_call(const struct etwas_taken *taken, enum call_kind kind)
{
    struct call *call = etwas_join_put(taken->state, etwas_taken_thread(taken), CALL_OF_THREAD);

    call->kind = kind;
    return call;
}

static const char *const range_names[] = {"addr", "len", NULL};

static bool begin_range(const struct etwas_taken *taken, enum call_kind kind)
{
    int64_t values[2];
    struct call *call;

    if (!etwas_taken_numbers(taken, values, 2)) {
        return false;
    }
    call = begin_call(taken, kind);
    call->begin = (uint64_t)values[0];
    call->bytes = whole_pages((uint64_t)values[1]);
    return true;
}

/* Its address is only a wish. */
static bool take_map(const struct etwas_taken *taken)
{
    return begin_range(taken, CALL_MAP);
}

static bool take_unmap(const struct etwas_taken *taken)
{
    return begin_range(taken, CALL_UNMAP);
}

static const char *const remap_names[] = {"addr", "old_len", "new_len", "flags", NULL};

static bool take_remap(const struct etwas_taken *taken)
{
    int64_t values[4];
    struct call *call;

    if (!etwas_taken_numbers(taken, values, 4)) {
        return false;
    }
    call = begin_call(taken, CALL_REMAP);
    call->begin = (uint64_t)values[0];
    call->bytes = (values[3] & MREMAP_DONTUNMAP) != 0 ? 0 : whole_pages((uint64_t)values[1]);
    call->new_bytes = whole_pages((uint64_t)values[2]);
    return true;
}

static const char *const break_names[] = {"brk", NULL};

static bool take_break(const struct etwas_taken *taken)
{
    int64_t end;

    if (!etwas_taken_numbers(taken, &end, 1)) {
        return false;
    }
    begin_call(taken, CALL_BREAK)->begin = (uint64_t)end;
    return true;
}

/* ---- the end of a call ----------------------------------------------------------------------- */

static const char *const result_names[] = {"ret", NULL};

/* False: the sample is too short. *is_good: it did not fail, and was seen to begin. */
static bool end_call(const struct etwas_taken *taken, enum call_kind kind, struct call *call,
                     bool *is_good, uint64_t *result)
{
    uint32_t thread_id = etwas_taken_thread(taken);
    const struct call *found = etwas_join_find(taken->state, thread_id, CALL_OF_THREAD);
    int64_t value;

    if (!etwas_taken_numbers(taken, &value, 1)) {
        return false;
    }
    *result = (uint64_t)value;
    *is_good = found != NULL && found->kind == kind && !(value < 0 && value >= -LARGEST_ERROR);
    if (found != NULL) {
        *call = *found;
        etwas_join_remove(taken->state, thread_id, CALL_OF_THREAD);
    }
    return true;
}

static bool take_map_end(const struct etwas_taken *taken)
{
    struct call call;
    uint64_t address;
    bool is_good;

    if (!end_call(taken, CALL_MAP, &call, &is_good, &address)) {
        return false;
    }
    if (is_good) {
        tell(taken, TYPE_ALLOC, address, call.bytes);
    }
    return true;
}

static bool take_unmap_end(const struct etwas_taken *taken)
{
    struct call call;
    uint64_t result;
    bool is_good;

    if (!end_call(taken, CALL_UNMAP, &call, &is_good, &result)) {
        return false;
    }
    if (is_good) {
        tell(taken, TYPE_FREE, call.begin, call.bytes);
    }
    return true;
}

static bool take_remap_end(const struct etwas_taken *taken)
{
    struct call call;
    uint64_t address;
    bool is_good;

    if (!end_call(taken, CALL_REMAP, &call, &is_good, &address)) {
        return false;
    }
    if (is_good && address == call.begin) {
        tell_growth(taken, address, call.bytes, call.new_bytes);
    } else if (is_good) {
        tell(taken, TYPE_FREE, call.begin, call.bytes);
        tell(taken, TYPE_ALLOC, address, call.new_bytes);
    }
    return true;
}

/* A program asks for its end of data, as brk(0), before it moves it. */
static bool take_break_end(const struct etwas_taken *taken)
{
    uint32_t process_id = taken->sample->origin.process_id;
    struct call *data = etwas_join_find(taken->state, process_id, DATA_OF_PROCESS);
    struct call call;
    uint64_t end;
    bool is_good;

    if (!end_call(taken, CALL_BREAK, &call, &is_good, &end)) {
        return false;
    }
    if (!is_good || process_id == 0) { /* of all that are outside there is one number */
        return true;
    }
    end = whole_pages(end);
    if (data != NULL && call.begin != 0) {
        tell_growth(taken, 0, data->begin, end);
    } else if (data == NULL) {
        data = etwas_join_put(taken->state, process_id, DATA_OF_PROCESS);
    }
    data->begin = end;
    return true;
}

/* ---- the topic ------------------------------------------------------------------------------- */

/* 32: MAP_ANONYMOUS, on every machine that the library is for. */
static const struct etwas_source sources[] = {
    {.tracepoint = "syscalls/sys_enter_mmap",
     .fields = range_names,
     .filter = "flags & 32",
     .without_own = true,
     .take = take_map},
    {.tracepoint = "syscalls/sys_exit_mmap",
     .fields = result_names,
     .hooks = {GROUP_MEMORY << 8 | TYPE_ALLOC},
     .without_own = true,
     .take = take_map_end},
    {.tracepoint = "syscalls/sys_enter_munmap",
     .fields = range_names,
     .without_own = true,
     .take = take_unmap},
    {.tracepoint = "syscalls/sys_exit_munmap",
     .fields = result_names,
     .hooks = {GROUP_MEMORY << 8 | TYPE_FREE},
     .without_own = true,
     .take = take_unmap_end},
    {.tracepoint = "syscalls/sys_enter_mremap",
     .fields = remap_names,
     .without_own = true,
     .take = take_remap},
    {.tracepoint = "syscalls/sys_exit_mremap",
     .fields = result_names,
     .hooks = {GROUP_MEMORY << 8 | TYPE_ALLOC, GROUP_MEMORY << 8 | TYPE_FREE},
     .without_own = true,
     .take = take_remap_end},
    {.tracepoint = "syscalls/sys_enter_brk",
     .fields = break_names,
     .without_own = true,
     .take = take_break},
    {.tracepoint = "syscalls/sys_exit_brk",
     .fields = result_names,
     .hooks = {GROUP_MEMORY << 8 | TYPE_ALLOC, GROUP_MEMORY << 8 | TYPE_FREE},
     .without_own = true,
     .take = take_break_end},
};

static bool is_without_file(const char *path)
{
    return strncmp(path, "//anon", 6) == 0 || strcmp(path, "[heap]") == 0 ||
           strncmp(path, "/dev/zero", 9) == 0;
}

/* Of the own process: what the mapping is now. */
static void take_mapping(void *state, const struct etwas_topic_host *host, uint32_t slot,
                         const struct etwas_sideband *sideband)
{
    (void)state;
    if (is_without_file(sideband->image.path)) {
        etwas_emit(host->emitter, slot,
                   make(host->record, TYPE_ALLOC, &sideband->origin, sideband->image.address,
                        sideband->image.bytes),
                   sideband->origin.time_ns);
    }
}

static void *open_topic(const struct etwas_topic_host *host)
{
    (void)host;
    return etwas_join_make(sizeof(struct call));
}

static void close_topic(void *state)
{
    etwas_join_free(state);
}

/* Of any thread: it may have begun there, or ended. */
static void take_loss(void *state, uint32_t slot)
{
    (void)slot;
    etwas_join_clear(state);
}

const struct etwas_topic etwas_topic_virtual_memory = {
    .flags = EVENT_TRACE_FLAG_VIRTUAL_ALLOC,
    .own_sideband = ETWAS_SIDEBAND_FILES,
    .take_sideband = take_mapping,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = open_topic,
    .close = close_topic,
    .take_loss = take_loss,
};
