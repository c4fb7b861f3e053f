/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS: page faults that had to wait for a disk, as PageFault's HardFault, when
 * they are over.
 *
 *     InitialTime     when the fault began; the event's own time: not known
 *     FileObject      the file's key (file_views.h), ReadOffset where in it; 0: not a file's, or not known
 *
 * The kernel says at the end which address it was, at the beginning when that was, and in between which
 * file. Which file is not asked where nobody says that a fault begins, since what was said of the one before would be
 * believed of this one. While a thread waits for the disk somebody may walk its stack, with faults of the kernel's
 * own: so a fault of the program and one of the kernel are remembered beside each other.
 *
 * What the file is called is looked up in the mappings of who had the fault, once for each file.
 */
#include <etwas/evntrace.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

#include "etl/layout.h"
#include "system/groups/event_groups.h"
#include "system/names/file_record.h"
#include "system/names/file_views.h"
#include "system/stream/join.h"

enum {
    GROUP_MEMORY = 0x02,
    TYPE_HARD_FAULT = 32,
    CLASS_VERSION = 2,
    MOST_UNNAMED = 64, /* between two looks; what is more waits for another fault */
};

/* That a thread is in. */
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
    struct etwas_join *faults; /* by thread, since the last loss */
    uint64_t losses;
    struct etwas_file_keys named; /* or looked for */
    uint32_t unnamed_count;
    struct unnamed unnamed[MOST_UNNAMED];
};

static uint64_t page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t page_of(uint64_t address)
{
    return address / page_bytes();
}

/* ---- beginnings ------------------------------------------------------------------------------ */

static const char *const begin_names[] = {"address", NULL};

/* The second number of the join. */
static uint64_t key_of(const struct hard_faults *topic, enum mode mode)
{
    return topic->losses * MODES + mode;
}

static bool take_begin(const struct etwas_taken *taken, enum mode mode)
{
    struct hard_faults *topic = taken->state;
    struct fault *fault;
    int64_t address;

    if (!etwas_taken_numbers(taken, &address, 1)) {
        return false;
    }
    if (taken->sample->origin.thread_id == 0) {
        return true; /* outside the namespace: the end has no other number by which it is known */
    }
    fault = etwas_join_put(topic->faults, taken->sample->origin.thread_id, key_of(topic, mode));
    fault->since_ns = taken->sample->origin.time_ns;
    fault->page = page_of((uint64_t)address);
    return true;
}

static bool take_user(const struct etwas_taken *taken)
{
    return take_begin(taken, MODE_USER);
}

static bool take_kernel(const struct etwas_taken *taken)
{
    return take_begin(taken, MODE_KERNEL);
}

static const char *const file_names[] = {"s_dev", "i_ino", "index", NULL};
enum {
    FILE_DEVICE,
    FILE_INODE,
    FILE_PAGE,
    FILE_FIELDS,
};

static bool take_file(const struct etwas_taken *taken)
{
    struct hard_faults *topic = taken->state;
    int64_t values[FILE_FIELDS];

    if (!etwas_taken_numbers(taken, values, FILE_FIELDS)) {
        return false;
    }
    for (enum mode mode = MODE_USER; mode < MODES; mode++) {
        struct fault *fault =
            etwas_join_find(topic->faults, taken->sample->origin.thread_id, key_of(topic, mode));

        if (fault != NULL) {
            fault->key =
                etwas_file_key((uint32_t)values[FILE_DEVICE], (uint64_t)values[FILE_INODE]);
            fault->offset = (uint64_t)values[FILE_PAGE] * page_bytes();
        }
    }
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void want_name(struct hard_faults *topic, uint32_t process_id, uint64_t key)
{
    if (key != 0 && topic->unnamed_count < MOST_UNNAMED &&
        etwas_file_keys_add(&topic->named, key)) {
        topic->unnamed[topic->unnamed_count++] = (struct unnamed){process_id, key};
    }
}

/* The one that began last, of the page. */
static struct fault end_fault(struct hard_faults *topic, const struct etwas_sample *sample)
{
    uint32_t thread_id = sample->origin.thread_id;
    struct fault last = {0};

    for (enum mode mode = MODE_USER; mode < MODES; mode++) {
        const struct fault *fault = etwas_join_find(topic->faults, thread_id, key_of(topic, mode));

        if (fault != NULL && fault->page == page_of(sample->data_address) &&
            fault->since_ns > last.since_ns) {
            last = *fault;
        }
        etwas_join_remove(topic->faults, thread_id, key_of(topic, mode));
    }
    if (last.since_ns == 0) {
        last.since_ns = sample->origin.time_ns;
    }
    return last;
}

static bool take_end(const struct etwas_taken *taken)
{
    const struct etwas_sample_origin *origin = &taken->sample->origin;
    struct hard_faults *topic = taken->state;
    struct etwas_record *record = taken->host->record;
    const struct fault fault = end_fault(topic, taken->sample);

    etwas_record_begin(record, ETWAS_ETL_SYSTEM64, GROUP_MEMORY, TYPE_HARD_FAULT, CLASS_VERSION);
    etwas_record_set_thread(record, origin->process_id, origin->thread_id);
    etwas_record_put_u64(record, (uint64_t)etwas_emit_stamp(taken->host->emitter, fault.since_ns));
    etwas_record_put_u64(record, fault.offset);
    etwas_record_put_u64(record, taken->sample->data_address);
    etwas_record_put_u64(record, fault.key);
    etwas_record_put_u32(record, origin->thread_id);
    etwas_record_put_u32(record, (uint32_t)page_bytes());
    etwas_emit(taken->host->emitter, taken->slot, etwas_record_end(record), origin->time_ns);
    want_name(topic, origin->process_id, fault.key);
    return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

struct search {
    const struct etwas_topic_host *host;
    uint64_t key;
};

static void tell_if_it_is(void *context, const struct etwas_file_view *view)
{
    struct search *search = context;

    if (view->key == search->key) {
        etwas_file_record_name(search->host, ETWAS_FILE_NAME, view->key, view->path);
        search->key = 0;
    }
}

/* Whenever it is: a file has its device and inode as long as it is mapped. */
static void settle(void *state, const struct etwas_topic_host *host, int64_t until_ns)
{
    struct hard_faults *topic = state;

    (void)until_ns;
    while (topic->unnamed_count != 0) {
        const struct unnamed *unnamed = &topic->unnamed[--topic->unnamed_count];
        struct search search = {host, unnamed->key};

        etwas_file_views_read(unnamed->process_id, tell_if_it_is, &search);
    }
}

static void take_loss(void *state, uint32_t slot)
{
    struct hard_faults *topic = state;

    (void)slot;
    topic->losses++;
}

/* ---- the topic ------------------------------------------------------------------------------- */

/* Of a page that is there nobody waits for a disk. */
#define IS_NOT_THERE "!(error_code & 1)"

static const struct etwas_source sources[] = {
    {.tracepoint = "exceptions/page_fault_user",
     .fields = begin_names,
     .filter = IS_NOT_THERE,
     .is_optional = true,
     .take = take_user},
    {.tracepoint = "exceptions/page_fault_kernel",
     .fields = begin_names,
     .filter = IS_NOT_THERE,
     .is_optional = true,
     .take = take_kernel},
    {.tracepoint = "filemap/mm_filemap_fault",
     .fields = file_names,
     .is_optional = true,
     .take = take_file},
    {.type = PERF_TYPE_SOFTWARE,
     .config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
     .period = 1,
     .sample_type = PERF_SAMPLE_ADDR,
     .hooks = {GROUP_MEMORY << 8 | TYPE_HARD_FAULT},
     .take = take_end},
};

static void *open_topic(const struct etwas_topic_host *host)
{
    struct hard_faults *topic = calloc(1, sizeof *topic);

    (void)host;
    if (topic == NULL) {
        return NULL;
    }
    topic->faults = etwas_join_make(sizeof(struct fault));
    if (topic->faults == NULL || !etwas_file_keys_init(&topic->named)) {
        etwas_join_free(topic->faults);
        free(topic);
        return NULL;
    }
    return topic;
}

static void close_topic(void *state)
{
    struct hard_faults *topic = state;

    etwas_file_keys_free(&topic->named);
    etwas_join_free(topic->faults);
    free(topic);
}

const struct etwas_topic etwas_topic_hard_faults = {
    .flags = EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = open_topic,
    .close = close_topic,
    .take_loss = take_loss,
    .settle = settle,
};
