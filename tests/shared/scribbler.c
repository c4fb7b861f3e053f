/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "shared/scribbler.h"

#include <ck_pr.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "buffer/pool.h"
#include "session/fixture.h"
#include "shared/layout.h"

enum {
    MOST_PAUSE_NS = 300000,
    CALM = 8, /* each so manieth scribble is left as it is; the others are taken back */
};

struct scribbler {
    uint8_t *file;
    uint64_t bytes;
    struct etwas_shared_head head; /* as it was at first */
    uint64_t random;
};

struct scribbles *scribbles_new(void)
{
    struct scribbles *scribbles =
        mmap(NULL, sizeof *scribbles, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(scribbles != MAP_FAILED);
    return scribbles;
}

void scribbles_free(struct scribbles *scribbles)
{
    (void)munmap(scribbles, sizeof *scribbles);
}

static uint64_t any(struct scribbler *scribbler)
{
    scribbler->random ^= scribbler->random << 13;
    scribbler->random ^= scribbler->random >> 7;
    scribbler->random ^= scribbler->random << 17;
    return scribbler->random * UINT64_C(0x2545F4914F6CDD1D) >> 8;
}

static uint32_t below(struct scribbler *scribbler, uint64_t most)
{
    return (uint32_t)(any(scribbler) % most);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* An index of a buffer: one there is, one that there is not quite, or none. */
static uint32_t buffer_index(struct scribbler *scribbler)
{
    uint32_t buffers = scribbler->head.buffers;
    uint32_t capacity = scribbler->head.tables[ETWAS_SHARED_OWNERS].count;
    const uint32_t edges[] = {0,        buffers - 1,  buffers,         buffers + 1,
                              capacity, capacity - 1, ETWAS_NO_BUFFER, ETWAS_NO_BUFFER - 1,
                              1 << 17,  UINT32_MAX,   UINT32_MAX / 2,  capacity + 1};

    return below(scribbler, 2) == 0 ? below(scribbler, buffers)
                                    : edges[below(scribbler, sizeof edges / sizeof edges[0])];
}

static uint32_t units(struct scribbler *scribbler)
{
    uint32_t limit = scribbler->head.buffer_bytes / ETWAS_UNIT_BYTES;
    const uint32_t edges[] = {0,
                              1,
                              8,
                              9,
                              10,
                              limit - 1,
                              limit,
                              limit + 1,
                              limit - 11,
                              2 * limit,
                              (1 << 22) - 1,
                              (1 << 22) - 12,
                              UINT32_MAX,
                              1 << 21};

    return below(scribbler, 2) == 0 ? below(scribbler, limit)
                                    : edges[below(scribbler, sizeof edges / sizeof edges[0])];
}

static uint64_t word(struct scribbler *scribbler)
{
    return etwas_slot_word(below(scribbler, 4) == 0 ? any(scribbler) : below(scribbler, 100),
                           buffer_index(scribbler) & ETWAS_NO_BUFFER,
                           units(scribbler) & ((1 << ETWAS_UNITS_BITS) - 1));
}

static uint64_t owner(struct scribbler *scribbler)
{
    uint64_t ticket = below(scribbler, 3) == 0 ? any(scribbler) : below(scribbler, 1000);
    uint32_t slots = scribbler->head.slot_count;

    return etwas_owner(ticket, below(scribbler, below(scribbler, 4) == 0 ? 16384 : slots),
                       (enum etwas_owner_state)below(scribbler, 4));
}

/*
 * Returns a record's marker, with a size of 0, beyond the buffer, or any, and every kind of header.
 */
static uint64_t marker(struct scribbler *scribbler)
{
    const uint64_t types[] = {0xC014, 0xC013, 0xC015, 0xC011, 0xC010, 0x9000, 0xC002, 0xFFFF};

    return types[below(scribbler, 8)] << 16 |
           (below(scribbler, 2) == 0 ? 0 : any(scribbler) & 0xFFFF);
}

/* ---- places ---------------------------------------------------------------------------------- */

enum meaning {
    ANYTHING,
    COUNT32,
    INDEX32,
    UNITS32,
    SLOT_WORD,
    OWNER,
    MARKER,
    COMMIT,
};

struct field {
    enum etwas_shared_table_name table;
    uint32_t offset;
    uint32_t bytes;
    enum meaning meaning;
};

#define SLOT(NAME, MEANING)                                                                        \
    {                                                                                              \
        ETWAS_SHARED_SLOTS, offsetof(struct etwas_slot, NAME),                                     \
            sizeof(((struct etwas_slot *)NULL)->NAME), MEANING                                     \
    }
#define WORDS(NAME, MEANING)                                                                       \
    {                                                                                              \
        ETWAS_SHARED_WORDS, offsetof(struct etwas_pool_words, NAME),                               \
            sizeof(((struct etwas_pool_words *)NULL)->NAME), MEANING                               \
    }
#define CONTROL(NAME, MEANING)                                                                     \
    {                                                                                              \
        ETWAS_SHARED_CONTROLS, offsetof(struct etwas_buffer_control, NAME),                        \
            sizeof(((struct etwas_buffer_control *)NULL)->NAME), MEANING                           \
    }

static const struct field fields[] = {
    SLOT(word, SLOT_WORD),
    SLOT(word, SLOT_WORD),
    SLOT(word, SLOT_WORD),
    SLOT(word, ANYTHING),
    SLOT(newest, ANYTHING),
    SLOT(gate, COUNT32),
    SLOT(kind, ANYTHING),
    SLOT(slow_writers, COUNT32),
    SLOT(processor, INDEX32),
    SLOT(next_buffer, INDEX32),
    SLOT(counters, ANYTHING),
    WORDS(ticket, ANYTHING),
    WORDS(allocated, INDEX32),
    WORDS(allocated, ANYTHING),
    WORDS(maximum_buffers, INDEX32),
    WORDS(free_count, INDEX32),
    WORDS(shared_held, INDEX32),
    WORDS(recent_group, ANYTHING),
    WORDS(backlog_full, COUNT32),
    WORDS(guest_reserve, INDEX32),
    WORDS(wake, ANYTHING),
    WORDS(pass_began, ANYTHING),
    WORDS(woken, ANYTHING),
    WORDS(accounted, ANYTHING),
    WORDS(accounted_recorded, ANYTHING),
    WORDS(account_begins, ANYTHING),
    WORDS(account_ends, ANYTHING),
    WORDS(rows, ANYTHING),
    {ETWAS_SHARED_OWNERS, 0, 8, OWNER},
    {ETWAS_SHARED_OWNERS, 0, 8, ANYTHING},
    {ETWAS_SHARED_FREE_SET, 0, 0, ANYTHING},
    {ETWAS_SHARED_AGES, 0, 8, COUNT32},
    {ETWAS_SHARED_CANDIDATES, 0, 0, COUNT32},
    {ETWAS_SHARED_CANDIDATES, 0, 0, ANYTHING},
    CONTROL(commit, COMMIT),
    CONTROL(link.previous, INDEX32),
    CONTROL(link.previous, INDEX32),
    CONTROL(link.previous_end_units, UNITS32),
    CONTROL(link.previous_newest, ANYTHING),
    CONTROL(link.previous_owner, OWNER),
    CONTROL(link.stored_before, ANYTHING),
    CONTROL(link.overwritten_before, ANYTHING),
    CONTROL(end.newest, ANYTHING),
    CONTROL(end.units, UNITS32),
    CONTROL(end.records, INDEX32),
    {ETWAS_SHARED_CONTROLS, 64, 64, INDEX32}, /* what is behind */
    {ETWAS_SHARED_REGION, 0, 0, MARKER},
    {ETWAS_SHARED_REGION, 0, 0, ANYTHING},
};

static uint64_t value_of(struct scribbler *scribbler, enum meaning meaning, uint64_t old)
{
    uint32_t how = below(scribbler, 8);

    if (how == 0) {
        return old ^ UINT64_C(1) << below(scribbler, 64);
    }
    if (how == 1) {
        return any(scribbler) << 8;
    }
    switch (meaning) {
    case COUNT32:
        return below(scribbler, 4000);
    case INDEX32:
        return buffer_index(scribbler);
    case UNITS32:
        return units(scribbler);
    case SLOT_WORD:
        return word(scribbler);
    case OWNER:
        return owner(scribbler);
    case MARKER:
        return marker(scribbler);
    case COMMIT:
        return (uint64_t)below(scribbler, 4) << 62 |
               (uint64_t)below(scribbler, 100) << 32 * below(scribbler, 2) |
               (uint64_t)units(scribbler) * ETWAS_UNIT_BYTES;
    default:
        return how % 2 == 0 ? 0 : UINT64_MAX;
    }
}

/* 8 bytes of a field, aligned, or 4. Slots and buffers that are in use more often. */
static uint8_t *place_of(struct scribbler *scribbler, const struct field *field, bool *is_half)
{
    const struct etwas_shared_table *table = &scribbler->head.tables[field->table];
    uint32_t most = field->table == ETWAS_SHARED_SLOTS ? (uint32_t)sysconf(_SC_NPROCESSORS_CONF) + 4
                                                       : scribbler->head.buffers;
    uint32_t count = table->count < most || below(scribbler, 8) == 0 ? table->count : most;
    uint32_t bytes = field->bytes != 0 ? field->bytes : table->stride;
    uint64_t at = table->offset + (uint64_t)below(scribbler, count) * table->stride + field->offset;

    *is_half = bytes == sizeof(uint32_t) ||
               (field->meaning == INDEX32 && bytes > sizeof(uint64_t)) ||
               (field->meaning == MARKER && below(scribbler, 2) == 0);
    at += bytes > sizeof(uint64_t) ? below(scribbler, bytes / 4) * 4 : 0;
    at -= *is_half ? 0 : at % sizeof(uint64_t);
    return scribbler->file + at;
}

static uint64_t put(uint8_t *place, bool is_half, uint64_t value)
{
    return is_half ? ck_pr_fas_32((uint32_t *)(void *)place, (uint32_t)value)
                   : ck_pr_fas_64((uint64_t *)(void *)place, value);
}

static uint64_t get(const uint8_t *place, bool is_half)
{
    return is_half ? ck_pr_load_32((const uint32_t *)(const void *)place)
                   : ck_pr_load_64((const uint64_t *)(const void *)place);
}

static void pause_for(uint32_t ns)
{
    const struct timespec moment = {.tv_nsec = ns};

    (void)nanosleep(&moment, NULL);
}

/*
 * Most are taken back after a while: else the session would soon stand still, and nothing more be
 * tried.
 */
static void scribble_once(struct scribbler *scribbler)
{
    const struct field *field = &fields[below(scribbler, sizeof fields / sizeof fields[0])];
    bool is_half;
    uint8_t *place = place_of(scribbler, field, &is_half);
    uint64_t value = value_of(scribbler, field->meaning, get(place, is_half));
    uint64_t before = put(place, is_half, value);

    if (below(scribbler, 4) == 0) {
        pause_for(below(scribbler, MOST_PAUSE_NS));
    }
    if (below(scribbler, CALM) != 0 || field->offset == offsetof(struct etwas_slot, gate)) {
        (void)put(place, is_half, before);
    }
}

/* What is before the pool: the head is not read after the guests have joined, but for its state. */
static void scribble_on_head(struct scribbler *scribbler)
{
    uint64_t before_pool = scribbler->head.tables[ETWAS_SHARED_WORDS].offset;
    uint64_t at = below(scribbler, 2) == 0 ? below(scribbler, sizeof scribbler->head)
                                           : below(scribbler, before_pool);
    uint8_t *place = scribbler->file + at - at % sizeof(uint64_t);

    (void)put(place, false, value_of(scribbler, ANYTHING, get(place, false)));
}

/* It cannot be cut, but pages can be taken away: then there are zeroes. */
static void punch(struct scribbler *scribbler, int descriptor)
{
    const struct etwas_shared_table *region = &scribbler->head.tables[ETWAS_SHARED_REGION];
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t pages = (uint64_t)region->count * region->stride / page;

    CHECK_IN_CHILD(fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                             (off_t)(region->offset + below(scribbler, pages) * page),
                             (off_t)page) == 0);
    CHECK_IN_CHILD(ftruncate(descriptor, (off_t)page) != 0);
}

_Noreturn void scribble(int descriptor, uint64_t seed, struct scribbles *scribbles)
{
    struct scribbler scribbler = {.random = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15)};
    struct stat facts;

    CHECK_IN_CHILD(fstat(descriptor, &facts) == 0);
    scribbler.bytes = (uint64_t)facts.st_size;
    scribbler.file = mmap(NULL, scribbler.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    CHECK_IN_CHILD(scribbler.file != MAP_FAILED);
    memcpy(&scribbler.head, scribbler.file, sizeof scribbler.head);
    for (;;) {
        if (below(&scribbler, 50) == 0) {
            scribble_on_head(&scribbler);
        } else if (below(&scribbler, 200) == 0) {
            punch(&scribbler, descriptor);
        } else {
            scribble_once(&scribbler);
        }
        ck_pr_inc_64(&scribbles->count);
    }
}
