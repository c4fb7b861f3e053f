/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_VAMAP: parts of files that processes map and unmap, as MapFile and UnmapFile of ETW's FileIo.
 *
 *     mmap      MapFile, when the call is over and was no failure; before it UnmapFile of what was there
 *     munmap    UnmapFile of each part of a file that was there
 *     exec      the same of what the kernel maps of the program, which is the whole first, and then its parts over it
 *
 * The calls say what was asked for, and the kernel's own records of mappings (MMAP2), of which there is one within
 * each call, which file it is. Of exec there are these alone. Others are of a change of rights.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock/clock.h"
#include "etl/layout.h"
#include "system/groups/event_groups.h"
#include "system/names/file_record.h"
#include "system/names/file_views.h"
#include "system/names/proc_list.h"
#include "system/names/view_table.h"
#include "system/stream/cpu_stream.h"
#include "system/stream/join.h"

enum {
    GROUP_FILE = 0x04,
    CLASS_VERSION = 3,
    MAP = 37,
    UNMAP = 38,
    MAP_RUNDOWN_START = 39,
    MAP_RUNDOWN_END = 40,
    LARGEST_ERROR = 4095,
};

struct map_topic {
    struct etwas_view_table table;
    struct etwas_file_keys named;
    struct etwas_join *calls; /* by thread, since the last loss */
    uint64_t losses;
    bool has_run_down;
};

/* What a thread asks for until the answer is there. */
struct call {
    uint64_t begin;
    uint64_t bytes;
    uint64_t offset;
    uint64_t key; /* 0: not known yet */
    bool is_of_file;
};

static uint64_t whole_pages(uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Where and when a view is told. */
struct place {
    const struct etwas_topic_host *host;
    uint8_t type;
    bool is_silent;
    bool is_now;
    uint32_t slot;
    uint32_t process_id;
    uint32_t thread_id;
    int64_t time_ns;
};

static void tell(void *context, const struct etwas_view *view)
{
    const struct place *place = context;
    struct etwas_record *record = place->host->record;

    if (place->is_silent) {
        return;
    }
    etwas_record_begin(record, ETWAS_ETL_SYSTEM64, GROUP_FILE, place->type, CLASS_VERSION);
    etwas_record_set_thread(record, place->process_id, place->thread_id);
    etwas_record_put_u64(record, view->begin);
    etwas_record_put_u64(record, view->key);
    etwas_record_put_u64(record, view->offset);
    etwas_record_put_u64(record, view->end - view->begin);
    if (place->is_now) {
        etwas_emit_now(place->host->emitter, etwas_record_end(record));
    } else {
        etwas_emit(place->host->emitter, place->slot, etwas_record_end(record), place->time_ns);
    }
}

static struct place place_of(const struct etwas_topic_host *host, uint32_t slot,
                             const struct etwas_sample_origin *origin, uint8_t type)
{
    return (struct place){.host = host,
                          .type = type,
                          .slot = slot,
                          .process_id = origin->process_id,
                          .thread_id = origin->thread_id,
                          .time_ns = origin->time_ns};
}

static void tell_name(struct map_topic *topic, const struct etwas_topic_host *host,
                      enum etwas_file_name_type type, uint64_t key, const char *path)
{
    if (etwas_file_keys_add(&topic->named, key)) {
        etwas_file_record_name(host, type, key, path);
    }
}

/* NULL: it is not known, or not yet. */
static struct etwas_view_process *process_at(const struct map_topic *topic, uint32_t process_id,
                                             int64_t time_ns)
{
    struct etwas_view_process *process = etwas_view_table_find(&topic->table, process_id);

    return process != NULL && process->since_ns <= time_ns ? process : NULL;
}

/* ---- the beginning of a call ----------------------------------------------------------------- */

static struct call *begin_call(const struct etwas_taken *taken)
{
    struct map_topic *topic = taken->state;

    return etwas_join_put(topic->calls, taken->sample->origin.thread_id, topic->losses);
}

static const char *const map_names[] = {"len", "flags", "off", NULL};
enum {
    MAP_BYTES,
    MAP_FLAGS,
    MAP_OFFSET,
    MAP_FIELDS,
};

static bool take_map(const struct etwas_taken *taken)
{
    int64_t values[MAP_FIELDS];
    struct call *call;

    if (!etwas_taken_numbers(taken, values, MAP_FIELDS)) {
        return false;
    }
    call = begin_call(taken);
    call->bytes = whole_pages((uint64_t)values[MAP_BYTES]);
    call->offset = (uint64_t)values[MAP_OFFSET];
    call->is_of_file = (values[MAP_FLAGS] & MAP_ANONYMOUS) == 0;
    return true;
}

static const char *const unmap_names[] = {"addr", "len", NULL};

static bool take_unmap(const struct etwas_taken *taken)
{
    int64_t values[2];
    struct call *call;

    if (!etwas_taken_numbers(taken, values, 2)) {
        return false;
    }
    call = begin_call(taken);
    call->begin = (uint64_t)values[0];
    call->bytes = whole_pages((uint64_t)values[1]);
    return true;
}

/* ---- the end of a call ----------------------------------------------------------------------- */

static const char *const result_names[] = {"ret", NULL};

/*
 * False: the sample is too short. *is_good: it began here, and was no failure; and who calls has a number in
 * the namespace: all others have none, and their calls would be taken for one another.
 */
static bool end_call(const struct etwas_taken *taken, struct call *call, bool *is_good,
                     int64_t *result)
{
    struct map_topic *topic = taken->state;
    uint32_t thread_id = taken->sample->origin.thread_id;
    const struct call *found = etwas_join_find(topic->calls, thread_id, topic->losses);

    if (!etwas_taken_numbers(taken, result, 1)) {
        return false;
    }
    *is_good = found != NULL && thread_id != 0 && !(*result < 0 && *result >= -LARGEST_ERROR);
    if (found != NULL) {
        *call = *found;
        etwas_join_remove(topic->calls, thread_id, topic->losses);
    }
    return true;
}

/* What was found by looking may have been unmapped already. */
static void unmap(const struct etwas_taken *taken, uint64_t begin, uint64_t bytes)
{
    const struct etwas_sample_origin *origin = &taken->sample->origin;
    struct etwas_view_process *process =
        process_at(taken->state, origin->process_id, origin->time_ns);
    struct place place = place_of(taken->host, taken->slot, origin, UNMAP);

    if (process != NULL && begin + bytes >= begin) {
        place.is_silent = origin->time_ns < process->looked_ns;
        etwas_view_remove(process, begin, begin + bytes, tell, &place);
    }
}

static bool take_unmap_end(const struct etwas_taken *taken)
{
    struct call call;
    int64_t result;
    bool is_good;

    if (!end_call(taken, &call, &is_good, &result)) {
        return false;
    }
    if (is_good) {
        unmap(taken, call.begin, call.bytes);
    }
    return true;
}

static bool take_map_end(const struct etwas_taken *taken)
{
    const struct etwas_sample_origin *origin = &taken->sample->origin;
    struct place place = place_of(taken->host, taken->slot, origin, MAP);
    struct etwas_view_process *process;
    struct call call;
    int64_t result;
    bool is_good;

    if (!end_call(taken, &call, &is_good, &result)) {
        return false;
    }
    if (!is_good) {
        return true;
    }
    unmap(taken, (uint64_t)result, call.bytes);
    if (call.is_of_file) {
        struct etwas_view view = {(uint64_t)result, (uint64_t)result + call.bytes, call.offset,
                                  call.key};

        tell(&place, &view);
        process = process_at(taken->state, origin->process_id, origin->time_ns);
        if (process != NULL) {
            etwas_view_add(process, &view);
        }
    }
    return true;
}

/* The program has what it begins with. */
static bool take_exec_end(const struct etwas_taken *taken)
{
    struct map_topic *topic = taken->state;
    struct etwas_view_process *process =
        etwas_view_table_find(&topic->table, taken->sample->origin.process_id);

    if (process != NULL) {
        process->is_starting = false;
    }
    return true;
}

/* ---- what the kernel says by itself ---------------------------------------------------------- */

/* How a name begins for which the kernel had no room. */
#define NO_NAME "//"

static void take_mapping(struct map_topic *topic, const struct etwas_topic_host *host,
                         uint32_t slot, const struct etwas_sideband *sideband)
{
    const struct etwas_sample_origin *origin = &sideband->origin;
    struct place place = place_of(host, slot, origin, MAP);
    struct call *call = etwas_join_find(topic->calls, origin->thread_id, topic->losses);
    struct etwas_view_process *process = process_at(topic, sideband->process_id, origin->time_ns);
    const struct etwas_view view = {
        .begin = sideband->image.address,
        .end = sideband->image.address + sideband->image.bytes,
        .offset = sideband->image.file_offset,
        .key = etwas_file_key(sideband->image.device, sideband->image.inode)};

    if (sideband->image.inode != 0 &&
        strncmp(sideband->image.path, NO_NAME, strlen(NO_NAME)) != 0) {
        tell_name(topic, host, ETWAS_FILE_NAME, view.key, sideband->image.path);
    }
    if (call != NULL && call->is_of_file) {
        call->key = view.key;
    } else if (process != NULL && process->is_starting) {
        place.type = UNMAP;
        etwas_view_remove(process, view.begin, view.end, tell, &place);
        if (sideband->image.inode != 0) {
            place.type = MAP;
            tell(&place, &view);
            etwas_view_add(process, &view);
        }
    }
}

static void begin_program(struct map_topic *topic, uint32_t process_id, int64_t time_ns)
{
    struct etwas_view_process *process = etwas_view_table_begin(&topic->table, process_id, time_ns);

    if (process != NULL) {
        process->is_starting = true;
    }
}

static void take_sideband(void *state, const struct etwas_topic_host *host, uint32_t slot,
                          const struct etwas_sideband *sideband)
{
    struct map_topic *topic = state;
    int64_t time_ns = sideband->origin.time_ns;
    const struct etwas_view_process *known =
        etwas_view_table_find(&topic->table, sideband->process_id);

    if (sideband->type == PERF_RECORD_MMAP2) {
        take_mapping(topic, host, slot, sideband);
    } else if (known != NULL && known->since_ns > time_ns) {
        return;
    } else if (sideband->type == PERF_RECORD_COMM && sideband->comm.is_exec) {
        begin_program(topic, sideband->process_id, time_ns);
    } else if (sideband->type == PERF_RECORD_FORK &&
               sideband->process_id != sideband->task.parent_process_id) {
        etwas_view_table_fork(&topic->table, sideband->process_id, sideband->task.parent_process_id,
                              time_ns);
    } else if (sideband->type == PERF_RECORD_EXIT && sideband->process_id == sideband->thread_id) {
        etwas_view_table_end(&topic->table, sideband->process_id);
    }
}

static void forget(struct map_topic *topic)
{
    topic->losses++;
    etwas_view_table_forget(&topic->table);
}

static void take_loss(void *state, uint32_t slot)
{
    (void)slot;
    forget(state);
}

/* ---- what is there --------------------------------------------------------------------------- */

struct finding {
    struct map_topic *topic;
    struct etwas_view_process *process;
    struct place place;
};

static void find_view(void *context, const struct etwas_file_view *found)
{
    struct finding *finding = context;
    const struct etwas_view view = {found->begin, found->begin + found->bytes, found->offset,
                                    found->key};

    tell_name(finding->topic, finding->place.host, ETWAS_FILE_NAME_RUNDOWN, found->key,
              found->path);
    etwas_view_add(finding->process, &view);
    tell(&finding->place, &view);
}

static void find_views(void *context, uint32_t process_id)
{
    struct finding *finding = context;

    if (etwas_view_table_find(&finding->topic->table, process_id) != NULL) {
        return;
    }
    finding->place.process_id = process_id;
    finding->place.thread_id = process_id;
    finding->process =
        etwas_view_table_begin(&finding->topic->table, process_id, etwas_clock_qpc());
    if (finding->process != NULL) {
        etwas_file_views_read(process_id, find_view, finding);
        finding->process->looked_ns = etwas_clock_qpc();
    }
    etwas_pause(finding->place.host->pause);
}

static void tell_known(const struct map_topic *topic, struct place *place)
{
    for (const struct etwas_view_process *process = etwas_view_table_after(&topic->table, NULL);
         process != NULL; process = etwas_view_table_after(&topic->table, process)) {
        place->process_id = process->node.id;
        place->thread_id = process->node.id;
        for (uint32_t index = 0; index < process->count; index++) {
            tell(place, &process->views[index]);
        }
    }
}

/* What is known already, and in the beginning what is not. */
static void run_down(void *state, const struct etwas_topic_host *host, bool is_end)
{
    struct place place = {
        .host = host, .type = is_end ? MAP_RUNDOWN_END : MAP_RUNDOWN_START, .is_now = true};
    struct map_topic *topic = state;
    struct finding finding = {.topic = topic, .place = place};

    if (is_end || topic->has_run_down) {
        tell_known(topic, &place);
    }
    topic->has_run_down = true;
    if (!is_end && etwas_proc_is_ours()) {
        (void)etwas_proc_list_processes(find_views, &finding);
    }
}

/* ---- the topic ------------------------------------------------------------------------------- */

static const struct etwas_source sources[] = {
    {.tracepoint = "syscalls/sys_enter_mmap",
     .fields = map_names,
     .without_own = true,
     .take = take_map},
    {.tracepoint = "syscalls/sys_exit_mmap",
     .fields = result_names,
     .without_own = true,
     .take = take_map_end},
    {.tracepoint = "syscalls/sys_enter_munmap",
     .fields = unmap_names,
     .without_own = true,
     .take = take_unmap},
    {.tracepoint = "syscalls/sys_exit_munmap",
     .fields = result_names,
     .without_own = true,
     .take = take_unmap_end},
    {.tracepoint = "syscalls/sys_exit_execve", .without_own = true, .take = take_exec_end},
    {.tracepoint = "syscalls/sys_exit_execveat", .without_own = true, .take = take_exec_end},
};

static void *open_topic(const struct etwas_topic_host *host)
{
    struct map_topic *topic = calloc(1, sizeof *topic);

    (void)host;
    if (topic == NULL) {
        return NULL;
    }
    topic->calls = etwas_join_make(sizeof(struct call));
    if (topic->calls != NULL && etwas_view_table_init(&topic->table)) {
        if (etwas_file_keys_init(&topic->named)) {
            return topic;
        }
        etwas_view_table_free(&topic->table);
    }
    etwas_join_free(topic->calls);
    free(topic);
    return NULL;
}

static void close_topic(void *state)
{
    struct map_topic *topic = state;

    etwas_file_keys_free(&topic->named);
    etwas_view_table_free(&topic->table);
    etwas_join_free(topic->calls);
    free(topic);
}

const struct etwas_topic etwas_topic_file_maps = {
    .flags = EVENT_TRACE_FLAG_VAMAP,
    .sideband = ETWAS_SIDEBAND_TASKS | ETWAS_SIDEBAND_NAMES | ETWAS_SIDEBAND_FILES,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = open_topic,
    .close = close_topic,
    .run_down = run_down,
    .take_sideband = take_sideband,
    .take_loss = take_loss,
};
