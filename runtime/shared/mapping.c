/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "shared/mapping.h"

#include <errno.h>
#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/nodes.h"
#include "platform/own_descriptor.h"

enum {
    FIRST_BYTES = 16 << 10,
    SCHEMA_BYTES = 256 << 10,
    HUGE_BYTES = 2 << 20, /* size of a page that may contain a part of the region */
};

static uint64_t mapping_aligned(uint64_t bytes, uint64_t alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

/* ---- layout ---------------------------------------------------------------------------------- */

static void mapping_place_table(struct etwas_shared_head *head, enum etwas_shared_table_name name,
                                uint64_t offset, uint64_t count, uint64_t stride, uint64_t used)
{
    head->tables[name] = (struct etwas_shared_table){.offset = offset,
                                                     .count = (uint32_t)count,
                                                     .stride = (uint32_t)stride,
                                                     .used = (uint32_t)used};
}

static uint64_t mapping_end_of(const struct etwas_shared_table *table)
{
    return table->offset + (uint64_t)table->count * table->stride;
}

/* Places everything before the pool. Returns its size, in whole pages. */
static uint64_t mapping_place_own(struct etwas_shared_head *head)
{
    const struct etwas_shared_table *tables = head->tables;

    mapping_place_table(head, ETWAS_SHARED_FIRST, mapping_aligned(sizeof *head, 64), 1, FIRST_BYTES,
                        FIRST_BYTES);
    mapping_place_table(head, ETWAS_SHARED_CLOCK_SNAPSHOTS,
                        mapping_end_of(&tables[ETWAS_SHARED_FIRST]), 2,
                        mapping_aligned(sizeof(struct etwas_clock_history), 64),
                        sizeof(struct etwas_clock_history));
    mapping_place_table(head, ETWAS_SHARED_SCHEMAS,
                        mapping_end_of(&tables[ETWAS_SHARED_CLOCK_SNAPSHOTS]), 1, SCHEMA_BYTES,
                        SCHEMA_BYTES);
    return mapping_aligned(mapping_end_of(&tables[ETWAS_SHARED_SCHEMAS]),
                           etwas_memory_page_bytes());
}

/* The padding that aligns the region takes space, too. */
static uint64_t mapping_region_alignment(const struct etwas_shared_request *request)
{
    uint64_t bytes = (uint64_t)request->buffers * request->buffer_bytes;

    return bytes >= 16 * (uint64_t)HUGE_BYTES ? HUGE_BYTES : etwas_memory_page_bytes();
}

static void mapping_place_pool(struct etwas_shared_head *head,
                               const struct etwas_shared_request *request,
                               const struct etwas_pool_file *file)
{
    const struct etwas_pool_layout *block = request->block;
    uint32_t capacity = block->capacity;

    mapping_place_table(head, ETWAS_SHARED_WORDS, file->block_at + block->words, 1,
                        sizeof(struct etwas_pool_words), sizeof(struct etwas_pool_words));
    mapping_place_table(head, ETWAS_SHARED_SLOTS, file->block_at + block->slots, request->slots,
                        sizeof(struct etwas_slot), sizeof(struct etwas_slot));
    mapping_place_table(head, ETWAS_SHARED_OWNERS, file->block_at + block->owners, capacity,
                        sizeof(uint64_t), sizeof(uint64_t));
    mapping_place_table(head, ETWAS_SHARED_FREE_SET, file->block_at + block->free_set, 1,
                        block->buffers - block->free_set, block->buffers - block->free_set);
    mapping_place_table(head, ETWAS_SHARED_CONTROLS, file->block_at + block->buffers, capacity,
                        sizeof(struct etwas_buffer_control), sizeof(struct etwas_buffer_control));
    mapping_place_table(head, ETWAS_SHARED_AGES, file->block_at + block->ages, capacity,
                        sizeof(uint64_t), sizeof(uint64_t));
    mapping_place_table(head, ETWAS_SHARED_CANDIDATES, file->block_at + block->candidates,
                        block->rows, etwas_pool_candidate_bytes(block) / block->rows,
                        etwas_pool_candidate_bytes(block) / block->rows);
    mapping_place_table(head, ETWAS_SHARED_REGION, file->region_at, request->buffers,
                        request->buffer_bytes, request->buffer_bytes);
}

/* ---- the file -------------------------------------------------------------------------------- */

static uint32_t mapping_open_memfd(struct etwas_shared_mapping *mapping)
{
    mapping->file.descriptor = etwas_file_create_in_memory("etwas-pool");
    return mapping->file.descriptor >= 0 ? ERROR_SUCCESS
           : errno == ENOSYS             ? ERROR_NOT_SUPPORTED
                                         : etwas_file_open_error(errno);
}

static void mapping_append_guid(char *text, size_t room, const etwas_guid *guid)
{
    (void)snprintf(text, room, "/s.%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x.pool",
                   guid->Data1, guid->Data2, guid->Data3, guid->Data4[0], guid->Data4[1],
                   guid->Data4[2], guid->Data4[3], guid->Data4[4], guid->Data4[5], guid->Data4[6],
                   guid->Data4[7]);
}

/*
 * A file of this name belongs to a process that died with a session of this GUID. It is left for
 * recovery.
 */
static uint32_t mapping_open_linked(struct etwas_shared_mapping *mapping,
                                    const struct etwas_shared_request *request)
{
    char name[64];
    int folder;
    uint32_t code = etwas_shared_folder_open(request->folder, mapping->path, &folder);
    size_t length = strlen(mapping->path);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    mapping_append_guid(name, sizeof name, request->session);
    if (length + strlen(name) >= sizeof mapping->path) {
        (void)close(folder);
        return ERROR_PATH_NOT_FOUND;
    }
    mapping->file.descriptor =
        openat(folder, name + 1, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    (void)close(folder);
    if (mapping->file.descriptor < 0) {
        return errno == EEXIST ? ERROR_ALREADY_EXISTS : etwas_file_open_error(errno);
    }
    (void)strcpy(mapping->path + length, name);
    mapping->is_linked = true;
    return ERROR_SUCCESS;
}

static uint32_t mapping_space_error(int error)
{
    if (error == 0) {
        return ERROR_SUCCESS;
    }
    return error == ENOSPC || error == EDQUOT || error == EFBIG ? ERROR_DISK_FULL
                                                                : ERROR_NOT_ENOUGH_MEMORY;
}

/* Pages allocated now cannot be missing when a writer touches them. */
static uint32_t mapping_give_space(const struct etwas_shared_mapping *mapping)
{
    int error = etwas_file_allocate(mapping->file.descriptor, mapping->taken_bytes);

    if (error == 0 && mapping->taken_bytes < mapping->total_bytes &&
        !etwas_file_truncate(mapping->file.descriptor, mapping->total_bytes)) {
        error = errno;
    }
    return mapping_space_error(error);
}

uint32_t etwas_shared_give_buffers_space(struct etwas_shared_mapping *mapping, uint32_t buffers,
                                         uint32_t buffer_bytes)
{
    uint64_t bytes = mapping->file.region_at + (uint64_t)buffers * buffer_bytes;

    return bytes <= mapping->taken_bytes
               ? ERROR_SUCCESS
               : mapping_space_error(etwas_file_allocate(mapping->file.descriptor, bytes));
}

/*
 * Seals the file, so that no process can truncate it while it is mapped. The system supports that
 * only for a file without a name.
 */
static void mapping_seal(const struct etwas_shared_mapping *mapping)
{
    if (!mapping->is_linked) {
        (void)fcntl(mapping->file.descriptor, F_ADD_SEALS,
                    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    }
}

static bool mapping_lock(int file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

static uint32_t mapping_map_own(struct etwas_shared_mapping *mapping)
{
    void *start = mmap(NULL, mapping->own_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                       mapping->file.descriptor, 0);

    if (start == MAP_FAILED) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    mapping->head = start;
    return ERROR_SUCCESS;
}

/* Only memory file systems honour the requested memory policy. */
static void mapping_place_on_nodes(struct etwas_shared_mapping *mapping,
                                   const struct etwas_shared_request *request)
{
    struct etwas_pool_file *file = &mapping->file;

    if (request->stripe_bytes != 0) {
        file->nodes_error =
            mapping->place.in_memory
                ? etwas_nodes_bind_file(file->descriptor, file->region_at,
                                        (uint64_t)request->buffers * request->buffer_bytes,
                                        request->stripe_bytes)
                : EOPNOTSUPP;
    }
}

static uint32_t mapping_make_file(struct etwas_shared_mapping *mapping,
                                  const struct etwas_shared_request *request)
{
    uint32_t code =
        request->is_linked ? mapping_open_linked(mapping, request) : mapping_open_memfd(mapping);

    if (code == ERROR_SUCCESS && !mapping_lock(mapping->file.descriptor)) {
        code = ERROR_NOT_SUPPORTED;
    }
    mapping->file.descriptor = etwas_descriptor_protect(mapping->file.descriptor);
    if (code == ERROR_SUCCESS) {
        etwas_shared_backing_read(&mapping->place, mapping->file.descriptor);
        mapping_place_on_nodes(mapping, request);
    }
    return code;
}

struct etwas_shared_mapping *etwas_shared_create(const struct etwas_shared_request *request,
                                                 struct etwas_shared_refusal *refusal)
{
    struct etwas_shared_mapping *mapping = calloc(1, sizeof *mapping);
    struct etwas_shared_head layout = {0};

    *refusal = (struct etwas_shared_refusal){.code = ERROR_NOT_ENOUGH_MEMORY};
    if (mapping == NULL) {
        return NULL;
    }
    mapping->file.descriptor = -1;
    mapping->own_bytes = mapping_place_own(&layout);
    mapping->file.block_at = mapping->own_bytes;
    mapping->file.region_at = mapping_aligned(mapping->own_bytes + request->block->bytes,
                                              mapping_region_alignment(request));
    mapping_place_pool(&layout, request, &mapping->file);
    mapping->total_bytes = mapping_end_of(&layout.tables[ETWAS_SHARED_REGION]);
    mapping->taken_bytes = mapping->total_bytes -
                           (uint64_t)(request->buffers - request->taken) * request->buffer_bytes;
    refusal->bytes = mapping->taken_bytes;
    refusal->code = mapping_make_file(mapping, request);
    if (refusal->code != ERROR_SUCCESS) {
        (void)strcpy(refusal->path, mapping->path);
        etwas_shared_close(mapping);
        return NULL;
    }
    return mapping;
}

uint32_t etwas_shared_give_space(struct etwas_shared_mapping *mapping,
                                 struct etwas_shared_refusal *refusal)
{
    refusal->code = mapping_give_space(mapping);
    if (refusal->code != ERROR_SUCCESS) {
        (void)strcpy(refusal->path, mapping->path);
    }
    return refusal->code;
}

uint32_t etwas_shared_map(struct etwas_shared_mapping *mapping,
                          const struct etwas_shared_request *request)
{
    struct etwas_shared_head head = {
        .major = ETWAS_SHARED_MAJOR,
        .minor = ETWAS_SHARED_MINOR,
        .head_bytes = sizeof head,
        .table_count = ETWAS_SHARED_TABLES,
        .total_bytes = mapping->total_bytes,
        .place = !mapping->is_linked        ? ETWAS_PLACE_MEMFD
                 : mapping->place.in_memory ? ETWAS_PLACE_MEMORY
                                            : ETWAS_PLACE_DISK,
        .file_system = (uint32_t)mapping->place.magic,
    };
    uint32_t code = mapping_map_own(mapping);

    if (code == ERROR_SUCCESS) {
        (void)mapping_place_own(&head);
        mapping_place_pool(&head, request, &mapping->file);
        mapping_seal(mapping);
        memcpy(head.magic, ETWAS_SHARED_MAGIC, sizeof head.magic);
        memcpy(mapping->tables, head.tables, sizeof head.tables);
        memcpy(mapping->head, &head, sizeof head);
    }
    return code;
}

void etwas_shared_open(struct etwas_shared_mapping *mapping)
{
    mapping->is_open = true;
    ck_pr_fence_release();
    ck_pr_store_32(&mapping->head->state, ETWAS_SHARED_OPEN);
}

void etwas_shared_close(struct etwas_shared_mapping *mapping)
{
    if (mapping->head != NULL) {
        ck_pr_fence_release();
        ck_pr_store_32(&mapping->head->state, ETWAS_SHARED_CLOSED);
        (void)munmap(mapping->head, mapping->own_bytes);
    }
    if (mapping->is_linked) {
        (void)unlink(mapping->path);
    }
    etwas_descriptor_close(mapping->file.descriptor);
    free(mapping);
}

void etwas_shared_forget(struct etwas_shared_mapping *mapping)
{
    if (mapping->head != NULL) {
        etwas_memory_map_zeroes(mapping->head, mapping->own_bytes);
    }
    etwas_descriptor_close(mapping->file.descriptor);
}

/* Reads the id, which is written as 8-4-4-4-12 hexadecimal digits. */
void etwas_shared_boot_id(uint8_t id[16])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    char digits[64] = "";
    uint32_t count = 0;

    memset(id, 0, 16);
    if (file == NULL) {
        return;
    }
    (void)fgets(digits, sizeof digits, file);
    (void)fclose(file);
    for (const char *digit = digits; *digit != 0 && count < 32; digit++) {
        uint32_t value = *digit >= '0' && *digit <= '9'   ? (uint32_t)(*digit - '0')
                         : *digit >= 'a' && *digit <= 'f' ? (uint32_t)(*digit - 'a') + 10
                                                          : UINT32_MAX;

        if (value != UINT32_MAX) {
            id[count / 2] = (uint8_t)((uint32_t)id[count / 2] << 4 | value);
            count++;
        }
    }
}

void *etwas_shared_table(const struct etwas_shared_mapping *mapping,
                         enum etwas_shared_table_name name)
{
    return (uint8_t *)mapping->head + mapping->tables[name].offset;
}

/* ---- changes while the session runs ---------------------------------------------------------- */

/*
 * Stores into the copy that is not the newest, so that a process that dies in between leaves a
 * complete one.
 */
void etwas_shared_set_history(struct etwas_shared_mapping *mapping,
                              const struct etwas_clock_history *history)
{
    const struct etwas_shared_table *table = &mapping->tables[ETWAS_SHARED_CLOCK_SNAPSHOTS];
    uint32_t other = mapping->newest_clock_snapshots == 0 ? 1 : 0;
    uint8_t *clock_snapshots = etwas_shared_table(mapping, ETWAS_SHARED_CLOCK_SNAPSHOTS);

    memcpy(clock_snapshots + (size_t)other * table->stride, history, sizeof *history);
    mapping->newest_clock_snapshots = other;
    ck_pr_fence_release();
    ck_pr_store_32(&mapping->head->newest_clock_snapshots, other);
}

void etwas_shared_set_file(struct etwas_shared_mapping *mapping, const char *path)
{
    struct etwas_shared_head *head = mapping->head;
    uint32_t other = mapping->newest_path == 0 ? 1 : 0;
    size_t length = strnlen(path, sizeof head->file_paths[other] - 1);

    /*
     * The path is never empty in between: an empty one says that there was no file before the
     * newest.
     */
    memcpy(head->file_paths[other], path, length);
    head->file_paths[other][length] = 0;
    mapping->newest_path = other;
    ck_pr_fence_release();
    ck_pr_store_32(&head->newest_path, other);
}

void etwas_shared_touch(struct etwas_shared_mapping *mapping, struct etwas_pool *pool)
{
    const struct etwas_shared_backing *place = &mapping->place;

    etwas_shared_backing_touch(&mapping->place, pool);
    ck_pr_store_64(&mapping->head->touches, place->touches);
    ck_pr_store_64(&mapping->head->longest_touch_ns, place->longest_touch_ns);
    ck_pr_store_64(&mapping->head->slow_touches, place->slow_touches);
}

void *etwas_shared_schema_room(const struct etwas_shared_mapping *mapping, uint32_t *room)
{
    uint64_t used = mapping->schema_bytes;

    *room = (uint32_t)(SCHEMA_BYTES - used);
    return (uint8_t *)etwas_shared_table(mapping, ETWAS_SHARED_SCHEMAS) + used;
}

void etwas_shared_add_schemas(struct etwas_shared_mapping *mapping, uint32_t bytes)
{
    ck_pr_fence_release();
    mapping->schema_bytes += bytes;
    ck_pr_store_64(&mapping->head->schema_bytes, mapping->schema_bytes);
}

void etwas_shared_leave_schema_out(struct etwas_shared_mapping *mapping)
{
    ck_pr_store_64(&mapping->head->schemas_left_out, ++mapping->schemas_left_out);
}
