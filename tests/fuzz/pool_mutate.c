/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A mutator of what crash-safe sessions leave: words of the head and of what its tables say is
 * there, headers of records; of the log file behind it headers, and which of the session's records
 * it has; of a core file its headers, and which part of memory is where.
 */
#include <elf.h>
#include <string.h>

#include "etl/layout.h"
#include "etl_parts.h"
#include "shared/layout.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static uint64_t random_state;

static uint32_t random_below(size_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return limit == 0 ? 0 : (uint32_t)((random_state >> 16) % limit);
}

static uint64_t choose_number(uint64_t before)
{
    static const uint64_t values[] = {0,          1,          71,        72,
                                      4096,       1 << 18,    0xFFFF,    1u << 31,
                                      UINT32_MAX, 1ull << 48, INT64_MAX, UINT64_MAX};

    switch (random_below(4)) {
    case 0:
        return values[random_below(sizeof values / sizeof values[0])];
    case 1:
        return before ^ 1ull << random_below(64);
    case 2:
        return before + random_below(65) - 32;
    default:
        return random_state >> random_below(64);
    }
}

static void change_at(uint8_t *data, size_t size, size_t at, size_t width)
{
    at &= ~(width - 1);
    if (at < size && width <= size - at) {
        etl_put(data + at, width, choose_number(etl_number(data + at, width)));
    }
}

/* ---- a mapping ------------------------------------------------------------------------------- */

static void read_table(const uint8_t *data, size_t which, struct etwas_shared_table *table)
{
    memcpy(table, data + offsetof(struct etwas_shared_head, tables) + which * sizeof *table,
           sizeof *table);
}

static void change_word(uint8_t *data, size_t size)
{
    struct etwas_shared_table table;
    size_t width = (size_t)1 << (1 + random_below(3));
    size_t at = 8 * (size_t)random_below(128);

    if (random_below(4) != 0) {
        read_table(data, random_below(ETWAS_SHARED_REGION + 1), &table);
        at = table.offset + random_below((size_t)table.count * table.stride);
    }
    change_at(data, size, at, width);
}

/* Its header, or that of an item behind it. */
static void change_record(uint8_t *data, size_t size)
{
    enum {
        LOOKS = 256,
        CHANGED_BYTES = 120,
    };
    struct etwas_shared_table region;
    size_t at;

    read_table(data, ETWAS_SHARED_REGION, &region);
    at = (region.offset + random_below((size_t)region.count * region.stride)) & ~(size_t)7;
    for (uint32_t look = 0; look < LOOKS && at < size && size - at > CHANGED_BYTES;
         look++, at += 8) {
        if (data[at + 3] == ETWAS_ETL_MARKER_FLAGS ||
            data[at + 3] == ETWAS_ETL_MESSAGE_MARKER_FLAGS) {
            static const uint8_t types[] = {ETWAS_ETL_SYSTEM64, ETWAS_ETL_PERFINFO64,
                                            ETWAS_ETL_EVENT_HEADER64, ETWAS_ETL_FULL_HEADER64,
                                            ETWAS_ETL_INSTANCE64};

            if (random_below(4) == 0) {
                data[at + 2] = types[random_below(sizeof types)];
            } else if (random_below(4) == 0) {
                data[at + 3] ^= ETWAS_ETL_MARKER_FLAGS ^ ETWAS_ETL_MESSAGE_MARKER_FLAGS;
            } else {
                change_at(data, size, at + random_below(CHANGED_BYTES), 2);
            }
            return;
        }
    }
}

/* A buffer of the log file with what one of the region begins with, or goes on with. */
static void copy_to_log(const uint8_t *data, size_t mapping_bytes, uint8_t *log, uint32_t bytes)
{
    struct etwas_shared_table region;
    struct etwas_etl_buffer_header header;
    uint32_t part = 8 * random_below((bytes - sizeof header) / 8 + 1);
    uint64_t from;

    read_table(data, ETWAS_SHARED_REGION, &region);
    from = region.offset + (uint64_t)random_below(region.count) * bytes + sizeof header +
           (random_below(2) == 0 ? 0 : 8 * random_below(bytes / 8));
    if (from < mapping_bytes && part <= mapping_bytes - from) {
        memcpy(&header, log, sizeof header);
        header.buffer_bytes = bytes;
        header.saved_offset = (uint32_t)sizeof header + part;
        memcpy(log, &header, sizeof header);
        memcpy(log + sizeof header, data + from, part);
    }
}

static void change_log(uint8_t *data, size_t size, size_t mapping_bytes)
{
    uint32_t bytes = (uint32_t)etl_number(data + offsetof(struct etwas_shared_head, buffer_bytes),
                                          sizeof(uint32_t));
    size_t log_bytes = size - mapping_bytes;
    uint8_t *log = data + mapping_bytes;

    if (bytes < ETWAS_ETL_BUFFER_HEADER_BYTES + 8 || bytes > log_bytes) {
        return;
    }
    log += (size_t)random_below(log_bytes / bytes) * bytes;
    if (random_below(2) == 0) {
        copy_to_log(data, mapping_bytes, log, bytes);
    } else {
        change_at(log, bytes,
                  random_below(random_below(2) == 0 ? ETWAS_ETL_BUFFER_HEADER_BYTES : bytes),
                  (size_t)1 << random_below(4));
    }
}

static void change_mapping(uint8_t *data, size_t size)
{
    uint64_t mapping_bytes;

    if (size < sizeof(struct etwas_shared_head)) {
        return;
    }
    mapping_bytes = etl_number(data + offsetof(struct etwas_shared_head, total_bytes), 8);
    if (mapping_bytes >= sizeof(struct etwas_shared_head) && mapping_bytes < size &&
        random_below(3) == 0) {
        change_log(data, size, mapping_bytes);
    } else if (random_below(3) == 0) {
        change_record(data, size);
    } else {
        change_word(data, size);
    }
}

/* ---- a core file ----------------------------------------------------------------------------- */

static uint8_t *any_segment(uint8_t *data, size_t size)
{
    Elf64_Ehdr head;
    size_t at;

    memcpy(&head, data, sizeof head);
    at = head.e_phoff + random_below(head.e_phnum) * sizeof(Elf64_Phdr);
    return at < size && size - at >= sizeof(Elf64_Phdr) ? data + at : NULL;
}

static void swap_segments(uint8_t *data, size_t size)
{
    uint8_t *one = any_segment(data, size);
    uint8_t *other = any_segment(data, size);
    Elf64_Phdr kept;

    if (one != NULL && other != NULL) {
        memcpy(&kept, one, sizeof kept);
        memmove(one, other, sizeof kept);
        memcpy(other, &kept, sizeof kept);
    }
}

/*
 * Near an end of it, or by one place in the file: mappings are found by what a segment begins with.
 */
static void change_segment(uint8_t *data, size_t size)
{
    static const size_t fields[] = {offsetof(Elf64_Phdr, p_vaddr), offsetof(Elf64_Phdr, p_filesz),
                                    offsetof(Elf64_Phdr, p_offset)};
    uint8_t *segment = any_segment(data, size);

    if (segment != NULL) {
        change_at(data, size,
                  (size_t)(segment - data) + fields[random_below(sizeof fields / sizeof *fields)],
                  8);
    }
}

static void change_core(uint8_t *data, size_t size)
{
    uint8_t *mapping;

    switch (random_below(8)) {
    case 0:
        change_at(data, size, random_below(sizeof(Elf64_Ehdr)), 2);
        break;
    case 1:
        swap_segments(data, size);
        break;
    case 2:
    case 3:
        change_segment(data, size);
        break;
    default:
        mapping = memmem(data, size, ETWAS_SHARED_MAGIC, strlen(ETWAS_SHARED_MAGIC));
        if (mapping != NULL) {
            change_mapping(mapping, size - (size_t)(mapping - data));
        }
    }
}

/* ---- for the fuzzer -------------------------------------------------------------------------- */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    random_state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    if (size < sizeof(Elf64_Ehdr) || random_below(64) == 0) {
        return LLVMFuzzerMutate(data, size, room);
    }
    for (uint32_t times = 1 + random_below(6); times > 0; times--) {
        if (memcmp(data, ELFMAG, SELFMAG) == 0) {
            change_core(data, size);
        } else {
            change_mapping(data, size);
        }
    }
    return random_below(100) == 0 ? 1 + random_below(size) : size;
}
