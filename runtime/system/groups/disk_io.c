/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_DISK_IO, _DISK_IO_INIT and _SPLIT_IO: requests to disks as ETW's DiskIo, and
 * requests that are made of other requests as its SplitIo.
 *
 *     DiskNumber           major << 20 | minor, of the whole disk
 *     Irp                  made of the disk and of the request's first sector: unique at any
 *                          time. A request that was split, or was one of a partition, has in
 *                          SplitIo the Irp that it would have had
 *     IrpFlags             read, write, and whether a thread waits for it
 *     IssuingThreadId      the thread that gave it to the driver; for delayed writes, one of
 *                          the kernel
 *     HighResResponseTime  from there to its completion; 0: not known
 *     TransferSize         0 if it failed
 *
 * Requests other than reads, writes and flushes are not recorded, and the file is not known: 0.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>
#include <string.h>

#include "system/groups/event_groups.h"
#include "system/stream/event_join.h"
#include "system/stream/kernel_record.h"

enum {
    /* The values of Windows. */
    IRP_SYNCHRONOUS = 0x0004,
    IRP_READ = 0x0100,
    IRP_WRITE = 0x0200,

    SECTOR_BYTES = 512,
    SECTOR_BITS = 44,
    MINOR_BITS = 8,
    KERNEL_MINOR_BITS = 20,
};

/* Flushes have no sector. */
#define FLUSH_SECTOR ((UINT64_C(1) << SECTOR_BITS) - 1)

struct issue {
    int64_t time_ns;
    uint32_t thread_id;
    uint32_t count; /* two at once cannot be distinguished */
};

struct request {
    uint64_t disk;
    uint64_t sector;
    uint8_t operation; /* 'R', 'W', 'F'; 0: any other */
    uint32_t flags;
};

/* Twelve bits of the major number, eight of the minor, and the sector. */
static uint64_t disk_io_irp_of(uint64_t disk, uint64_t sector)
{
    return disk >> KERNEL_MINOR_BITS << (SECTOR_BITS + MINOR_BITS) |
           (disk & ((1U << MINOR_BITS) - 1)) << SECTOR_BITS | (sector & FLUSH_SECTOR);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/*
 * "R", "WS", "FWFSM", "FF": flush before, operation, flush after, read ahead, synchronous,
 * metadata.
 */
static void disk_io_read_letters(const uint8_t *letters, size_t count, struct request *request)
{
    size_t place =
        count > 1 && letters[0] == 'F' && letters[1] != 0 && strchr("RWDFNZ", letters[1]) != NULL
            ? 1
            : 0;

    request->operation = 0;
    request->flags = 0;
    if (count == 0 || letters[place] == 0 || strchr("RWF", letters[place]) == NULL) {
        return;
    }
    request->operation = letters[place];
    if (request->operation != 'F') {
        request->flags = request->operation == 'R' ? IRP_READ : IRP_WRITE;
    }
    for (size_t index = place + 1; index < count && letters[index] != 0; index++) {
        request->flags |= letters[index] == 'S' ? IRP_SYNCHRONOUS : 0;
    }
}

/* The first two numbers are disk and sector; the letters are the field behind the numbers. */
static bool disk_io_handle_request(const struct etwas_source_event *event, int64_t *values,
                                   uint32_t count, struct request *request)
{
    const uint8_t *letters;
    size_t bytes;

    if (!etwas_source_event_numbers(event, values, count) ||
        !etwas_tracepoint_format_bytes(&event->fields[count], event->sample->raw,
                                       event->sample->raw_bytes, &letters, &bytes)) {
        return false;
    }
    disk_io_read_letters(letters, bytes, request);
    request->disk = (uint64_t)values[0];
    request->sector = request->operation == 'F' ? FLUSH_SECTOR : (uint64_t)values[1];
    return true;
}

/* A read and a write of the same sector are two requests. */
static uint64_t disk_io_key_of(const struct request *request)
{
    return request->disk | (uint64_t)request->operation << 32;
}

/* ---- issue ----------------------------------------------------------------------------------- */

static const char *const issue_names[] = {"dev", "sector", "rwbs", NULL};
enum {
    ISSUE_NUMBERS = 2
};

static void disk_io_emit_issue(const struct etwas_source_event *event,
                               const struct request *request)
{
    struct etwas_record_builder *record = event->host->record;
    uint8_t type = request->operation == 'R'   ? ETWAS_DISK_READ_INIT
                   : request->operation == 'W' ? ETWAS_DISK_WRITE_INIT
                                               : ETWAS_DISK_FLUSH_INIT;

    ETWAS_RECORD_MAKE(record, DISK_INIT, type,
                      .Irp = disk_io_irp_of(request->disk, request->sector),
                      .IssuingThreadId = event->sample->origin.thread_id);
    etwas_record_builder_set_thread(record, event->sample->origin.process_id,
                                    event->sample->origin.thread_id);
    etwas_emit(event->host->emitter, event->slot, etwas_record_builder_end(record),
               event->sample->origin.time_ns);
}

static bool disk_io_handle_issue(const struct etwas_source_event *event)
{
    int64_t values[ISSUE_NUMBERS];
    struct request request;
    struct issue *issue;

    if (!disk_io_handle_request(event, values, ISSUE_NUMBERS, &request)) {
        return false;
    }
    if (request.operation == 0) {
        return true;
    }
    issue = etwas_event_join_find(event->state, disk_io_key_of(&request), request.sector);
    if (issue == NULL) {
        issue = etwas_event_join_insert(event->state, disk_io_key_of(&request), request.sector);
    }
    issue->time_ns = event->sample->origin.time_ns;
    issue->thread_id = event->sample->origin.thread_id;
    issue->count++;
    if ((event->host->flags & EVENT_TRACE_FLAG_DISK_IO_INIT) != 0) {
        disk_io_emit_issue(event, &request);
    }
    return true;
}

/* The driver had no room; the request will be issued again. */
static bool disk_io_handle_back(const struct etwas_source_event *event)
{
    int64_t values[ISSUE_NUMBERS];
    struct request request;

    if (!disk_io_handle_request(event, values, ISSUE_NUMBERS, &request)) {
        return false;
    }
    etwas_event_join_remove(event->state, disk_io_key_of(&request), request.sector);
    return true;
}

/* ---- completion ------------------------------------------------------------------------------ */

static const char *const completion_names[] = {"dev", "sector", "nr_sector", "error", "rwbs", NULL};
enum {
    COMPLETION_SECTORS = 2,
    COMPLETION_ERROR,
    COMPLETION_NUMBERS,
};

/* Returns all zeros if it was issued before the session, or two were issued at once. */
static struct issue disk_io_handle_issued(const struct etwas_source_event *event,
                                          const struct request *request)
{
    const struct issue *found =
        etwas_event_join_find(event->state, disk_io_key_of(request), request->sector);
    struct issue issue = {0};

    if (found != NULL && found->count == 1) {
        issue = *found;
    }
    etwas_event_join_remove(event->state, disk_io_key_of(request), request->sector);
    return issue;
}

/* Returns the response time in ticks of the session's clock. */
static uint64_t disk_io_response_of(const struct etwas_emitter *emitter, int64_t from_ns,
                                    int64_t to_ns)
{
    return from_ns == 0
               ? 0
               : (uint64_t)(etwas_emit_stamp(emitter, to_ns) - etwas_emit_stamp(emitter, from_ns));
}

static void disk_io_emit_completion(const struct etwas_source_event *event,
                                    const struct request *request, uint32_t bytes)
{
    struct etwas_record_builder *record = event->host->record;
    const struct issue issue = disk_io_handle_issued(event, request);
    int64_t now_ns = event->sample->origin.time_ns;
    uint64_t response = disk_io_response_of(event->host->emitter, issue.time_ns, now_ns);
    const uint64_t irp = disk_io_irp_of(request->disk, request->sector);

    if (request->operation != 'R' && request->operation != 'W') {
        ETWAS_RECORD_MAKE(record, DISK_FLUSH, ETWAS_DISK_FLUSH,
                          .DiskNumber = (uint32_t)request->disk, .IrpFlags = request->flags,
                          .HighResResponseTime = response, .Irp = irp,
                          .IssuingThreadId = issue.thread_id);
    } else {
        ETWAS_RECORD_MAKE(
            record, DISK_TRANSFER, request->operation == 'R' ? ETWAS_DISK_READ : ETWAS_DISK_WRITE,
            .DiskNumber = (uint32_t)request->disk, .IrpFlags = request->flags,
            .TransferSize = bytes, .ByteOffset = (int64_t)(request->sector * SECTOR_BYTES),
            .Irp = irp, .HighResResponseTime = response, .IssuingThreadId = issue.thread_id);
    }
    etwas_emit(event->host->emitter, event->slot, etwas_record_builder_end(record), now_ns);
}

/* An empty write that requests a flush is not emitted: a separate request does the flush. */
static bool disk_io_is_emitted(const struct request *request, int64_t sectors)
{
    return request->operation == 'F' || (request->operation != 0 && sectors != 0);
}

static bool disk_io_handle_completion(const struct etwas_source_event *event)
{
    int64_t values[COMPLETION_NUMBERS];
    struct request request;

    if (!disk_io_handle_request(event, values, COMPLETION_NUMBERS, &request)) {
        return false;
    }
    if (disk_io_is_emitted(&request, values[COMPLETION_SECTORS])) {
        bool failed = values[COMPLETION_ERROR] != 0;

        disk_io_emit_completion(event, &request,
                                failed ? 0 : (uint32_t)values[COMPLETION_SECTORS] * SECTOR_BYTES);
    }
    return true;
}

/* ---- splits ---------------------------------------------------------------------------------- */

static bool disk_io_emit_split(const struct etwas_source_event *event, uint64_t parent,
                               uint64_t child)
{
    struct etwas_record_builder *record = event->host->record;

    ETWAS_RECORD_MAKE(record, SPLIT_IO, ETWAS_SPLIT_IO, .ParentIrp = parent, .ChildIrp = child);
    etwas_record_builder_set_thread(record, event->sample->origin.process_id,
                                    event->sample->origin.thread_id);
    etwas_emit(event->host->emitter, event->slot, etwas_record_builder_end(record),
               event->sample->origin.time_ns);
    return true;
}

static const char *const split_names[] = {"dev", "sector", "new_sector", NULL};

/* The part behind the new sector becomes a request of its own. */
static bool disk_io_handle_split(const struct etwas_source_event *event)
{
    int64_t values[3];

    return etwas_source_event_numbers(event, values, 3) &&
           disk_io_emit_split(event, disk_io_irp_of((uint64_t)values[0], (uint64_t)values[1]),
                              disk_io_irp_of((uint64_t)values[0], (uint64_t)values[2]));
}

static const char *const remap_names[] = {"dev", "sector", "old_dev", "old_sector", NULL};

/* A request to a partition becomes one to its disk; one to a volume, one to a disk below it. */
static bool disk_io_handle_remap(const struct etwas_source_event *event)
{
    int64_t values[4];

    return etwas_source_event_numbers(event, values, 4) &&
           disk_io_emit_split(event, disk_io_irp_of((uint64_t)values[2], (uint64_t)values[3]),
                              disk_io_irp_of((uint64_t)values[0], (uint64_t)values[1]));
}

/* ---- the group ------------------------------------------------------------------------------- */

#define DISK_FLAGS (EVENT_TRACE_FLAG_DISK_IO | EVENT_TRACE_FLAG_DISK_IO_INIT)

static const struct etwas_event_source sources[] = {
    {.tracepoint = "block/block_rq_issue",
     .fields = issue_names,
     .hooks = {ETWAS_KERNEL_HOOK(DISK_INIT, ETWAS_DISK_READ_INIT),
               ETWAS_KERNEL_HOOK(DISK_INIT, ETWAS_DISK_WRITE_INIT),
               ETWAS_KERNEL_HOOK(DISK_INIT, ETWAS_DISK_FLUSH_INIT)},
     .flags = DISK_FLAGS,
     .handle = disk_io_handle_issue},
    {.tracepoint = "block/block_rq_requeue",
     .fields = issue_names,
     .flags = DISK_FLAGS,
     .handle = disk_io_handle_back},
    {.tracepoint = "block/block_rq_complete",
     .fields = completion_names,
     .flags = EVENT_TRACE_FLAG_DISK_IO,
     .handle = disk_io_handle_completion},
    {.tracepoint = "block/block_split",
     .fields = split_names,
     .hooks = {ETWAS_KERNEL_HOOK(SPLIT_IO, ETWAS_SPLIT_IO)},
     .flags = EVENT_TRACE_FLAG_SPLIT_IO,
     .handle = disk_io_handle_split},
    {.tracepoint = "block/block_bio_remap",
     .fields = remap_names,
     .hooks = {ETWAS_KERNEL_HOOK(SPLIT_IO, ETWAS_SPLIT_IO)},
     .flags = EVENT_TRACE_FLAG_SPLIT_IO,
     .handle = disk_io_handle_remap},
};

static void *disk_io_open(const struct etwas_event_group_host *host)
{
    (void)host;
    return etwas_event_join_make(sizeof(struct issue));
}

static void disk_io_close(void *state)
{
    etwas_event_join_free(state);
}

/* The loss may contain a completion and the next issue at the same sector. */
static void disk_io_handle_loss(void *state, uint32_t slot)
{
    (void)slot;
    etwas_event_join_clear(state);
}

const struct etwas_event_group etwas_event_group_disk_io = {
    .flags = DISK_FLAGS | EVENT_TRACE_FLAG_SPLIT_IO,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = disk_io_open,
    .close = disk_io_close,
    .handle_loss = disk_io_handle_loss,
};
