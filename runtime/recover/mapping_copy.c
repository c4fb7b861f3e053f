/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/mapping_copy.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "clock/clock.h"

enum {
    NAMED_TABLES = ETWAS_SHARED_REGION + 1,
    MOST_SCHEMA_BYTES = 16 << 20,
    TABLE_ALIGNMENT = _Alignof(struct etwas_buffer_control),
};

/* ---- the head -------------------------------------------------------------------------------- */

/* Whether the table lies in the mapping, and its entries are at least as long as in this build. */
static bool head_table_fits(const struct etwas_shared_head *head, enum etwas_shared_table_name name,
                            uint64_t least_count, uint64_t least_stride)
{
    const struct etwas_shared_table *table = &head->tables[name];
    uint64_t bytes = (uint64_t)table->count * table->stride;

    return table->count >= least_count && table->stride >= least_stride && table->stride % 8 == 0 &&
           table->offset % 8 == 0 && table->offset <= head->total_bytes &&
           bytes <= head->total_bytes - table->offset;
}

static bool head_tables_fit(const struct etwas_shared_head *head)
{
    uint64_t slots = (uint64_t)head->first_slot + head->slot_count;

    return head->schema_bytes <= MOST_SCHEMA_BYTES &&
           head_table_fits(head, ETWAS_SHARED_FIRST, 1, head->first_bytes) &&
           head_table_fits(head, ETWAS_SHARED_CLOCK_SNAPSHOTS, 2,
                           sizeof(struct etwas_clock_history)) &&
           head_table_fits(head, ETWAS_SHARED_SCHEMAS, 1, head->schema_bytes) &&
           head_table_fits(head, ETWAS_SHARED_WORDS, 1, sizeof(struct etwas_pool_words)) &&
           head_table_fits(head, ETWAS_SHARED_SLOTS, slots, sizeof(struct etwas_slot)) &&
           head_table_fits(head, ETWAS_SHARED_OWNERS, head->buffers, sizeof(uint64_t)) &&
           head->tables[ETWAS_SHARED_OWNERS].stride == sizeof(uint64_t) &&
           head_table_fits(head, ETWAS_SHARED_CONTROLS, head->buffers,
                           sizeof(struct etwas_buffer_control)) &&
           head_table_fits(head, ETWAS_SHARED_REGION, head->buffers, head->buffer_bytes) &&
           head->tables[ETWAS_SHARED_REGION].stride == head->buffer_bytes;
}

static bool head_is_clock(uint32_t clock)
{
    return clock == ETWAS_CLOCK_KIND_QPC || clock == ETWAS_CLOCK_KIND_SYSTEM ||
           clock == ETWAS_CLOCK_KIND_TSC;
}

static bool head_is_possible(const struct etwas_shared_head *head,
                             const struct etwas_recover_source *source)
{
    return head->head_bytes >= ETWAS_SHARED_LEAST_HEAD && head->table_count >= NAMED_TABLES &&
           head->table_count <= ETWAS_SHARED_TABLES &&
           (source->is_core || head->total_bytes <= source->file_bytes) &&
           head->buffer_bytes % 8 == 0 && head->buffer_bytes >= ETWAS_VALIDATE_LEAST_FIRST &&
           head->buffer_bytes <= ETWAS_ETL_LARGEST_BUFFER_BYTES &&
           head->buffers <= ETWAS_POOL_MAXIMUM_BUFFERS && head->slot_count != 0 &&
           head->slot_count <= ETWAS_OWNER_SLOTS && head->first_slot <= ETWAS_OWNER_SLOTS &&
           head->rseq_slots < head->slot_count && head_is_clock(head->clock) &&
           head_tables_fit(head);
}

uint32_t etwas_mapping_copy_head(struct etwas_mapping_copy *copy,
                                 const struct etwas_recover_source *source)
{
    struct etwas_shared_head *head = &copy->head;

    *copy = (struct etwas_mapping_copy){0};
    if (!etwas_recover_source_head(source, head, sizeof *head)) {
        return ERROR_FILE_CORRUPT;
    }
    if (head->major != ETWAS_SHARED_MAJOR) {
        return ERROR_NOT_SUPPORTED;
    }
    if (head->state == ETWAS_SHARED_MADE) {
        return ERROR_NOT_FOUND;
    }
    if (head->head_bytes >= ETWAS_SHARED_LEAST_HEAD && head->head_bytes < sizeof *head) {
        memset((uint8_t *)head + head->head_bytes, 0, sizeof *head - head->head_bytes);
    }
    head->name[sizeof head->name - 1] = 0;
    head->file_paths[0][sizeof head->file_paths[0] - 1] = 0;
    head->file_paths[1][sizeof head->file_paths[1] - 1] = 0;
    head->newest_path &= 1;
    head->newest_clock_snapshots &= 1;
    return head_is_possible(head, source) ? ERROR_SUCCESS : ERROR_FILE_CORRUPT;
}

/* ---- the tables ------------------------------------------------------------------------------ */

/* Allocates zeroed memory that lies directly before a page without access. */
static uint8_t *copy_new_piece(struct etwas_mapping_copy *copy, uint64_t bytes, uint32_t *code)
{
    uint64_t page = etwas_memory_page_bytes();
    uint64_t aligned = (bytes + TABLE_ALIGNMENT - 1) / TABLE_ALIGNMENT * TABLE_ALIGNMENT;
    uint64_t pages = (aligned + page - 1) / page * page;
    void *mapping = MAP_FAILED;

    if (*code == ERROR_SUCCESS && bytes <= SIZE_MAX / 2) {
        mapping = mmap(NULL, pages + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (mapping == MAP_FAILED) {
        *code = *code != ERROR_SUCCESS ? *code : ERROR_NOT_ENOUGH_MEMORY;
        return NULL;
    }
    copy->pieces[copy->piece_count++] = (struct etwas_mapping_copy_piece){mapping, pages + page};
    (void)mprotect((uint8_t *)mapping + pages, page, PROT_NONE);
    return (uint8_t *)mapping + (pages - aligned);
}

static uint8_t *copy_table(struct etwas_mapping_copy *copy,
                           const struct etwas_recover_source *source,
                           const struct etwas_shared_table *table, uint64_t bytes, uint32_t *code)
{
    uint8_t *taken = copy_new_piece(copy, bytes, code);
    bool has_any;

    if (taken != NULL && !etwas_recover_source_fill(source, table, 0, taken, bytes, &has_any)) {
        *code = ERROR_FILE_CORRUPT;
    }
    return taken;
}

/*
 * Copies `count` entries of the table from `first` on. The entries of another build may be wider,
 * so only the bytes that this build knows are taken of each.
 */
static uint8_t *copy_entries(struct etwas_mapping_copy *copy,
                             const struct etwas_recover_source *source,
                             enum etwas_shared_table_name name, uint64_t first, uint64_t count,
                             size_t bytes, uint32_t *code)
{
    const struct etwas_shared_table *table = &copy->head.tables[name];
    bool is_whole = table->stride == bytes;
    uint64_t reads = is_whole && count != 0 ? 1 : count;
    uint64_t size = is_whole ? count * bytes : bytes;
    uint8_t *taken = copy_new_piece(copy, count * bytes, code);
    bool has_any;

    for (uint64_t index = 0; *code == ERROR_SUCCESS && index < reads; index++) {
        if (!etwas_recover_source_fill(source, table, (first + index) * table->stride,
                                       taken + index * size, size, &has_any)) {
            *code = ERROR_FILE_CORRUPT;
        }
    }
    return taken;
}

/* Whether the values of a reading are small enough that sums with them do not overflow. */
static bool copy_is_reading(const struct etwas_clock_reading *reading)
{
    const int64_t values[] = {reading->tsc, reading->qpc_ns, reading->filetime,
                              reading->system_stamp, reading->suspended_ns};

    for (size_t index = 0; index < sizeof values / sizeof values[0]; index++) {
        if (values[index] < 0 || values[index] > INT64_MAX / 4) {
            return false;
        }
    }
    return true;
}

static bool copy_is_history(const struct etwas_clock_history *history)
{
    if (history->count == 0 || history->count > ETWAS_CLOCK_HISTORY_READINGS) {
        return false;
    }
    for (uint32_t index = 0; index < history->count; index++) {
        if (!copy_is_reading(&history->readings[index])) {
            return false;
        }
    }
    return true;
}

/* Copies the clock history. Impossible readings are ignored. */
static void copy_history(struct etwas_mapping_copy *copy, const struct etwas_recover_source *source,
                         uint32_t *code)
{
    const struct etwas_shared_table *table = &copy->head.tables[ETWAS_SHARED_CLOCK_SNAPSHOTS];
    struct etwas_clock_history *history = &copy->history;

    if (*code != ERROR_SUCCESS) {
        return;
    }
    if (!etwas_recover_source_read(source, table,
                                   (uint64_t)table->stride * copy->head.newest_clock_snapshots,
                                   history, sizeof *history)) {
        *code = ERROR_FILE_CORRUPT;
    } else if (!copy_is_history(history)) {
        *history = (struct etwas_clock_history){.count = 1};
        if (copy_is_reading(&copy->head.started)) {
            history->readings[0] = copy->head.started;
        }
    }
}

/* Extends the totals record of an older build to the length that this build uses. */
static void copy_lengthen_totals(struct etwas_mapping_copy *copy, uint32_t totals_bytes,
                                 uint32_t *code)
{
    const uint32_t more = (uint32_t)sizeof(struct etwas_etl_totals_record) - totals_bytes;
    const uint32_t behind = (uint32_t)sizeof(struct etwas_etl_clock_trust_record);
    const uint32_t bytes = copy->head.first_bytes;
    const uint8_t *older = copy->first;
    uint8_t *totals;
    struct etwas_etl_full_header header;

    copy->first =
        bytes + more <= copy->head.buffer_bytes ? copy_new_piece(copy, bytes + more, code) : NULL;
    if (copy->first == NULL) {
        return;
    }
    copy->head.first_bytes = bytes + more;
    memcpy(copy->first, older, bytes - behind);
    memcpy(copy->first + bytes - behind + more, older + bytes - behind, behind);
    totals = copy->first + bytes - behind - totals_bytes;
    memcpy(&header, totals, sizeof header);
    header.size = sizeof(struct etwas_etl_totals_record);
    memcpy(totals, &header, sizeof header);
}

/* Copies buffer 0. If it is invalid, it is left out here and built anew. */
static void copy_first_buffer(struct etwas_mapping_copy *copy,
                              const struct etwas_recover_source *source, uint32_t *code)
{
    const struct etwas_shared_head *head = &copy->head;
    uint32_t totals_bytes;

    if (head->first_bytes >= ETWAS_VALIDATE_LEAST_FIRST &&
        head->first_bytes <= head->buffer_bytes && head->first_bytes % 8 == 0) {
        copy->first =
            copy_table(copy, source, &head->tables[ETWAS_SHARED_FIRST], head->first_bytes, code);
    }
    if (*code != ERROR_SUCCESS || copy->first == NULL) {
        return;
    }
    totals_bytes = etwas_validate_first_buffer(head, copy->first);
    if (totals_bytes == 0) {
        copy->first = NULL;
    } else if (totals_bytes != sizeof(struct etwas_etl_totals_record)) {
        copy_lengthen_totals(copy, totals_bytes, code);
    }
}

static void copy_descriptions(struct etwas_mapping_copy *copy,
                              const struct etwas_recover_source *source, uint32_t *code)
{
    uint64_t bytes = copy->head.schema_bytes;

    copy->schemas = copy_table(copy, source, &copy->head.tables[ETWAS_SHARED_SCHEMAS], bytes, code);
    if (*code == ERROR_SUCCESS) {
        copy->schema_bytes =
            etwas_validate_descriptions(copy->schemas, bytes, &copy->head.schemas_left_out);
    }
}

/* Copies the pool's words, and corrects those that counting relies on. */
static struct etwas_pool_words *copy_words(struct etwas_mapping_copy *copy,
                                           const struct etwas_recover_source *source,
                                           uint32_t *code)
{
    const struct etwas_shared_head *head = &copy->head;
    struct etwas_pool_words *words = NULL;

    if (*code == ERROR_SUCCESS) {
        words = aligned_alloc(_Alignof(struct etwas_pool_words), sizeof *words);
        *code = words != NULL ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
    }
    copy->pool.words = words;
    if (*code != ERROR_SUCCESS ||
        !etwas_recover_source_read(source, &head->tables[ETWAS_SHARED_WORDS], 0, words,
                                   sizeof *words)) {
        *code = *code != ERROR_SUCCESS ? *code : ERROR_FILE_CORRUPT;
        return NULL;
    }
    if (words->allocated > head->buffers) {
        words->allocated = head->buffers;
    }
    copy->is_accounting = words->account_ends != words->account_begins;
    words->account_ends = words->account_begins; /* no thread continues an accounting step */
    return words;
}

static void copy_region(struct etwas_mapping_copy *copy, const struct etwas_recover_source *source,
                        uint64_t buffers, uint32_t *code)
{
    const struct etwas_shared_table *table = &copy->head.tables[ETWAS_SHARED_REGION];

    copy->region = copy_new_piece(copy, buffers * table->stride, code);
    copy->is_absent = copy_new_piece(copy, buffers, code);
    for (uint64_t buffer = 0; *code == ERROR_SUCCESS && buffer < buffers; buffer++) {
        bool has_any = false;

        if (etwas_owner_state(copy->owners[buffer]) != ETWAS_OWNER_FREE) {
            copy->is_absent[buffer] =
                !etwas_recover_source_fill(source, table, buffer * table->stride,
                                           copy->region + buffer * table->stride, table->stride,
                                           &has_any) ||
                !has_any;
        }
    }
}

/* The place of a buffer's first record in the source. */
struct copied_records {
    const struct etwas_recover_source *source;
    const struct etwas_shared_table *table;
    uint64_t at;
};

static bool copy_zero_is_still(void *context, uint32_t unit)
{
    const struct copied_records *records = context;
    uint64_t word = 0;

    return etwas_recover_source_read(records->source, records->table,
                                     records->at + (uint64_t)unit * ETWAS_UNIT_BYTES, &word,
                                     sizeof word) &&
           word == 0;
}

/* For the buffers of shared slots, whose writers may go on: see etwas_pool_read_zeroes_again. */
static void copy_zeroes_again(struct etwas_mapping_copy *copy,
                              const struct etwas_recover_source *source, uint64_t buffers)
{
    const struct etwas_shared_table *table = &copy->head.tables[ETWAS_SHARED_REGION];

    for (uint64_t buffer = 0; buffer < buffers; buffer++) {
        const uint64_t at = buffer * table->stride;
        const uint64_t owner = copy->owners[buffer];
        struct copied_records records = {source, table, at + ETWAS_ETL_BUFFER_HEADER_BYTES};

        if (etwas_owner_state(owner) != ETWAS_OWNER_FREE && copy->is_absent[buffer] == 0 &&
            etwas_owner_slot(owner) >= copy->head.rseq_slots) {
            etwas_pool_read_zeroes_again(copy->region + at + ETWAS_ETL_BUFFER_HEADER_BYTES,
                                         copy->head.buffer_bytes / ETWAS_UNIT_BYTES -
                                             ETWAS_FIRST_UNIT,
                                         copy_zero_is_still, &records);
        }
    }
}

static void copy_set_view(struct etwas_mapping_copy *copy, uint32_t buffers)
{
    const struct etwas_shared_head *head = &copy->head;
    struct etwas_slot *slots = (struct etwas_slot *)(void *)copy->slots;
    struct etwas_buffer_control *controls = (struct etwas_buffer_control *)(void *)copy->controls;

    memcpy(copy->pool.accounted, copy->pool.words->accounted, sizeof copy->pool.accounted);
    copy->pool.accounted_recorded = copy->pool.words->accounted_recorded;
    copy->pool.slots = slots;
    copy->pool.owners = copy->owners;
    copy->pool.buffers = controls;
    copy->pool.layout.capacity = buffers;
    copy->pool.slot_count = head->slot_count;
    copy->pool.used_slots = head->slot_count;
    copy->pool.rseq_slots = head->rseq_slots;
    copy->pool.buffer_bytes = head->buffer_bytes;
    copy->pool.region_buffers = buffers;
    copy->pool.buffering = (head->flags & ETWAS_SHARED_BUFFERING) != 0;
    copy->view = (struct etwas_pool_view){
        .slots = slots,
        .slot_stride = sizeof *slots,
        .slot_count = head->slot_count,
        .rseq_slots = head->rseq_slots,
        .controls = controls,
        .control_stride = sizeof *controls,
        .owners = copy->owners,
        .owners_after = copy->owners_after,
        .region = copy->region,
        .buffer_bytes = head->buffer_bytes,
        .buffer_count = buffers,
        .capacity = buffers,
    };
}

uint32_t etwas_mapping_copy_pool(struct etwas_mapping_copy *copy,
                                 const struct etwas_recover_source *source)
{
    const struct etwas_shared_head *head = &copy->head;
    uint32_t code = ERROR_SUCCESS;
    const struct etwas_pool_words *words = copy_words(copy, source, &code);
    uint32_t buffers = words != NULL ? (uint32_t)words->allocated : 0;

    copy->owners = (uint64_t *)(void *)copy_entries(copy, source, ETWAS_SHARED_OWNERS, 0, buffers,
                                                    sizeof(uint64_t), &code);
    copy->slots = copy_entries(copy, source, ETWAS_SHARED_SLOTS, head->first_slot, head->slot_count,
                               sizeof(struct etwas_slot), &code);
    copy->controls = copy_entries(copy, source, ETWAS_SHARED_CONTROLS, 0, buffers,
                                  sizeof(struct etwas_buffer_control), &code);
    copy_region(copy, source, buffers, &code);
    if (code == ERROR_SUCCESS && !source->is_core) {
        copy_zeroes_again(copy, source, buffers);
    }
    copy->owners_after = (uint64_t *)(void *)copy_entries(copy, source, ETWAS_SHARED_OWNERS, 0,
                                                          buffers, sizeof(uint64_t), &code);
    copy_descriptions(copy, source, &code);
    copy_first_buffer(copy, source, &code);
    copy_history(copy, source, &code);
    if (code == ERROR_SUCCESS) {
        copy_set_view(copy, buffers);
    }
    return code;
}

void etwas_mapping_copy_free(struct etwas_mapping_copy *copy)
{
    free(copy->pool.words);
    for (uint32_t index = 0; index < copy->piece_count; index++) {
        (void)munmap(copy->pieces[index].mapping, copy->pieces[index].bytes);
    }
}
