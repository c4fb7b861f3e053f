/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS: page faults that waited for a disk, as PageFault's
 * HardFault, when they end.
 *
 *     InitialTime     when the fault began; the event's own time: not known
 *     FileObject      the file's key (file_views.h), with ReadOffset in it; 0: no file, or not
 *                     known
 *
 * The kernel reports the address at the end, the time at the beginning, and the file in between.
 * The file is only used if the beginning was recorded; otherwise it could be that of an earlier
 * fault. While a thread waits for the disk, a stack walk may cause faults of the kernel in it. So
 * one fault of the program and one of the kernel are remembered side by side.
 *
 * The name of the file is read from the mappings of the process that had the fault, once for each
 * file.
 */
#include <etwas/evntrace.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

#include "system/groups/event_groups.h"
#include "system/names/file_record.h"
#include "system/names/file_views.h"
#include "system/stream/event_join.h"
#include "system/stream/kernel_record.h"

enum {
    MOST_UNNAMED = 64, /* between two drains; further ones wait for another fault */
};

/* A fault that a thread is in. */
struct fault {
    int64_t since_ns;
    uint64_t page;
    uint64_t key;
    uint64_t offset;
};

enum mode {
    MODE_USER,
    MODE_KERNEL,
    MODES,
};

struct unnamed {
    uint32_t process_id;
    uint64_t key;
};

struct hard_faults {
    struct etwas_event_join *faults; /* by thread, number of losses and mode */
    uint64_t losses;
    struct etwas_file_keys named; /* files whose names were emitted, or searched for */
    uint32_t unnamed_count;
    struct unnamed unnamed[MOST_UNNAMED];
};

static uint64_t hard_fault_page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t hard_fault_page_of(uint64_t address)
{
    return address / hard_fault_page_bytes();
}

/* ---- beginnings ------------------------------------------------------------------------------ */

static const char *const begin_names[] = {"address", NULL};

/* The second number of the join. */
static uint64_t hard_fault_key_of(const struct hard_faults *group, enum mode mode)
{
    return group->losses * MODES + mode;
}

static bool hard_fault_handle_begin(const struct etwas_source_event *event, enum mode mode)
{
    struct hard_faults *group = event->state;
    struct fault *fault;
    int64_t address;

    if (!etwas_source_event_numbers(event, &address, 1)) {
        return false;
    }
    if (event->sample->origin.thread_id == 0) {
        return true; /* outside of the namespace, where the end could not be matched */
    }
    fault = etwas_event_join_insert(group->faults, event->sample->origin.thread_id,
                                    hard_fault_key_of(group, mode));
    fault->since_ns = event->sample->origin.time_ns;
    fault->page = hard_fault_page_of((uint64_t)address);
    return true;
}

static bool hard_fault_handle_user(const struct etwas_source_event *event)
{
    return hard_fault_handle_begin(event, MODE_USER);
}

static bool hard_fault_handle_kernel(const struct etwas_source_event *event)
{
    return hard_fault_handle_begin(event, MODE_KERNEL);
}

static const char *const file_names[] = {"s_dev", "i_ino", "index", NULL};
enum {
    FILE_DEVICE,
    FILE_INODE,
    FILE_PAGE,
    FILE_FIELDS,
};

static bool hard_fault_handle_file(const struct etwas_source_event *event)
{
    struct hard_faults *group = event->state;
    int64_t values[FILE_FIELDS];

    if (!etwas_source_event_numbers(event, values, FILE_FIELDS)) {
        return false;
    }
    for (enum mode mode = MODE_USER; mode < MODES; mode++) {
        struct fault *fault = etwas_event_join_find(group->faults, event->sample->origin.thread_id,
                                                    hard_fault_key_of(group, mode));

        if (fault != NULL) {
            fault->key =
                etwas_file_key((uint32_t)values[FILE_DEVICE], (uint64_t)values[FILE_INODE]);
            fault->offset = (uint64_t)values[FILE_PAGE] * hard_fault_page_bytes();
        }
    }
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void hard_fault_queue_name(struct hard_faults *group, uint32_t process_id, uint64_t key)
{
    if (key != 0 && group->unnamed_count < MOST_UNNAMED &&
        etwas_file_keys_add(&group->named, key)) {
        group->unnamed[group->unnamed_count++] = (struct unnamed){process_id, key};
    }
}

/* Returns the last fault of this page. */
static struct fault hard_fault_end_fault(struct hard_faults *group,
                                         const struct etwas_sample *sample)
{
    uint32_t thread_id = sample->origin.thread_id;
    struct fault last = {0};

    for (enum mode mode = MODE_USER; mode < MODES; mode++) {
        const struct fault *fault =
            etwas_event_join_find(group->faults, thread_id, hard_fault_key_of(group, mode));

        if (fault != NULL && fault->page == hard_fault_page_of(sample->data_address) &&
            fault->since_ns > last.since_ns) {
            last = *fault;
        }
        etwas_event_join_remove(group->faults, thread_id, hard_fault_key_of(group, mode));
    }
    if (last.since_ns == 0) {
        last.since_ns = sample->origin.time_ns;
    }
    return last;
}

static bool hard_fault_handle_end(const struct etwas_source_event *event)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;
    struct hard_faults *group = event->state;
    struct etwas_record_builder *record = event->host->record;
    const struct fault fault = hard_fault_end_fault(group, event->sample);

    ETWAS_RECORD_MAKE(record, HARD_FAULT, ETWAS_HARD_FAULT,
                      .InitialTime = etwas_emit_stamp(event->host->emitter, fault.since_ns),
                      .ReadOffset = fault.offset, .VirtualAddress = event->sample->data_address,
                      .FileObject = fault.key, .TThreadId = origin->thread_id,
                      .ByteCount = (uint32_t)hard_fault_page_bytes());
    etwas_record_builder_set_thread(record, origin->process_id, origin->thread_id);
    etwas_emit(event->host->emitter, event->slot, etwas_record_builder_end(record),
               origin->time_ns);
    hard_fault_queue_name(group, origin->process_id, fault.key);
    return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

struct search {
    const struct etwas_event_group_host *host;
    uint64_t key;
};

static void hard_fault_emit_if_found(void *context, const struct etwas_file_view *view)
{
    struct search *search = context;

    if (view->key == search->key) {
        etwas_file_record_name(search->host, ETWAS_FILE_NAME, view->key, view->path);
        search->key = 0;
    }
}

/* The time does not matter: a file keeps its device and inode as long as it is mapped. */
static void hard_fault_drained(void *state, const struct etwas_event_group_host *host,
                               int64_t until_ns)
{
    struct hard_faults *group = state;

    (void)until_ns;
    while (group->unnamed_count != 0) {
        const struct unnamed *unnamed = &group->unnamed[--group->unnamed_count];
        struct search search = {host, unnamed->key};

        etwas_file_views_read(unnamed->process_id, hard_fault_emit_if_found, &search);
    }
}

static void hard_fault_handle_loss(void *state, uint32_t slot)
{
    struct hard_faults *group = state;

    (void)slot;
    group->losses++;
}

/* ---- the group ------------------------------------------------------------------------------- */

/* A fault on a present page does not wait for a disk. */
#define IS_NOT_THERE "!(error_code & 1)"

static const struct etwas_event_source sources[] = {
    {.tracepoint = "exceptions/page_fault_user",
     .fields = begin_names,
     .filter = IS_NOT_THERE,
     .is_optional = true,
     .handle = hard_fault_handle_user},
    {.tracepoint = "exceptions/page_fault_kernel",
     .fields = begin_names,
     .filter = IS_NOT_THERE,
     .is_optional = true,
     .handle = hard_fault_handle_kernel},
    {.tracepoint = "filemap/mm_filemap_fault",
     .fields = file_names,
     .is_optional = true,
     .handle = hard_fault_handle_file},
    {.type = PERF_TYPE_SOFTWARE,
     .config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
     .period = 1,
     .sample_type = PERF_SAMPLE_ADDR,
     .hooks = {ETWAS_KERNEL_HOOK(HARD_FAULT, ETWAS_HARD_FAULT)},
     .handle = hard_fault_handle_end},
};

static void *hard_fault_open(const struct etwas_event_group_host *host)
{
    struct hard_faults *group = calloc(1, sizeof *group);

    (void)host;
    if (group == NULL) {
        return NULL;
    }
    group->faults = etwas_event_join_make(sizeof(struct fault));
    if (group->faults == NULL || !etwas_file_keys_init(&group->named)) {
        etwas_event_join_free(group->faults);
        free(group);
        return NULL;
    }
    return group;
}

static void hard_fault_close(void *state)
{
    struct hard_faults *group = state;

    etwas_file_keys_free(&group->named);
    etwas_event_join_free(group->faults);
    free(group);
}

const struct etwas_event_group etwas_event_group_hard_faults = {
    .flags = EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = hard_fault_open,
    .close = hard_fault_close,
    .handle_loss = hard_fault_handle_loss,
    .drained = hard_fault_drained,
};
