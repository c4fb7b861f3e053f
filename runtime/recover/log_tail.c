/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/own_logs.h"

#include <errno.h>
#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "etl/layout.h"
#include "etl/xpress.h"
#include "platform/file.h"

enum {
    FILES = 2,
    BEGINNING = 32, /* bytes of records by which a buffer is found, or all of a shorter one */
    WORD_BYTES = 8, /* records begin and end on multiples of this */
    PACKED_BEGINNING = 64, /* enough for a beginning, however badly it compresses */
};
/*
 * A small file may claim to decompress to very much. The total is limited to this multiple of the
 * files' size, plus some GB.
 */
#define UNPACKED_TIMES UINT64_C(64)
#define UNPACKED_BYTES (UINT64_C(4) << 30)

/*
 * A buffer of a file. `beginning` and `content` are checksums of its beginning and of its whole
 * content. They use a secret factor, so that no file can be crafted in which many are equal. The
 * content is read only where the beginnings of several buffers are equal. Stamps prevent that if
 * the clock is fine enough.
 */
struct entry {
    uint64_t beginning; /* checksum of processor, length (up to BEGINNING) and first bytes */
    uint64_t content;   /* set when its group is sorted */
    uint64_t at;        /* position of the records */
    uint32_t bytes;
    uint32_t packed; /* size of the compressed records; 0: they are not compressed */
    uint16_t file;
    uint16_t is_sorted;  /* set in the first entry of a group (entries with equal beginnings) */
    uint64_t found_ones; /* set in the first of a run of equal entries: how many were found */
};

struct etwas_log_tail {
    int files[FILES];
    struct entry *entries; /* sorted by beginning; a sorted group by length, then content */
    size_t count;
    size_t room;
    uint8_t *copy;   /* room for a buffer */
    uint8_t *packed; /* room for a compressed buffer */
    uint64_t may_unpack;
    uint64_t factor;
};

/* ---- sums ------------------------------------------------------------------------------------ */

__extension__ typedef unsigned __int128 wide;

#define PRIME ((UINT64_C(1) << 61) - 1)

/* The checksum is a polynomial modulo 2^61 - 1, evaluated at a secret point. */
static uint64_t sum_add_half(const struct etwas_log_tail *tail, uint64_t sum, uint32_t half)
{
    wide product = (wide)sum * tail->factor;

    return ((uint64_t)(product & PRIME) + (uint64_t)(product >> 61) + half) % PRIME;
}

static uint64_t sum_add_word(const struct etwas_log_tail *tail, uint64_t sum, uint64_t word)
{
    return sum_add_half(tail, sum_add_half(tail, sum, (uint32_t)word), (uint32_t)(word >> 32));
}

static uint64_t sum_add_bytes(const struct etwas_log_tail *tail, uint64_t sum, const uint8_t *bytes,
                              uint32_t count)
{
    for (uint32_t at = 0; at < count; at += WORD_BYTES) {
        uint64_t word;

        memcpy(&word, bytes + at, sizeof word);
        sum = sum_add_word(tail, sum, word);
    }
    return sum;
}

static uint64_t sum_of_beginning(const struct etwas_log_tail *tail, uint32_t processor,
                                 const uint8_t *records, uint32_t bytes)
{
    uint32_t length = bytes < BEGINNING ? bytes : BEGINNING;

    return sum_add_bytes(tail, sum_add_word(tail, 1, (uint64_t)processor << 32 | length), records,
                         length);
}

/* The kernel gives each process random bytes at its start. Authors of files cannot know them. */
static uint64_t sum_secret_factor(void)
{
    const void *random_bytes = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    uint64_t words[2] = {(uintptr_t)&random_bytes, (uint64_t)getpid()};

    if (random_bytes != NULL) {
        memcpy(words, random_bytes, sizeof words);
    }
    return (words[0] ^ words[1] >> 7) >> 4 | 1;
}

/* ---- the buffers of the files ---------------------------------------------------------------- */

static int entry_by_beginning(const void *left, const void *right)
{
    const struct entry *one = left;
    const struct entry *other = right;

    return one->beginning < other->beginning ? -1 : one->beginning > other->beginning;
}

static int entry_by_content(const void *left, const void *right)
{
    const struct entry *one = left;
    const struct entry *other = right;

    if (one->bytes != other->bytes) {
        return one->bytes < other->bytes ? -1 : 1;
    }
    return one->content < other->content ? -1 : one->content > other->content;
}

static bool tail_add_entry(struct etwas_log_tail *tail, const struct entry *entry)
{
    if (tail->count == tail->room) {
        size_t room = tail->room != 0 ? 2 * tail->room : 64;
        struct entry *entries = realloc(tail->entries, room * sizeof *entries);

        if (entries == NULL) {
            return false;
        }
        tail->entries = entries;
        tail->room = room;
    }
    tail->entries[tail->count++] = *entry;
    return true;
}

/*
 * Returns the position of the next buffer that contains data. A sparse file may be of any length,
 * so its holes are skipped.
 */
static uint64_t tail_skip_hole(int file, uint64_t at, uint32_t buffer_bytes)
{
    off_t data = lseek(file, (off_t)at, SEEK_DATA);

    if (data < 0) {
        return errno == ENXIO ? UINT64_MAX : at;
    }
    return (uint64_t)data - (uint64_t)data % buffer_bytes > at
               ? (uint64_t)data - (uint64_t)data % buffer_bytes
               : at;
}

/* The first bytes of a buffer of the file. */
struct beginning {
    struct etwas_etl_buffer_header header;
    uint8_t bytes[PACKED_BEGINNING];
};

/* Whether the size is that of the session's buffers; in a compressed file, at most that. */
static bool tail_is_buffer(const struct etwas_etl_buffer_header *header, uint32_t buffer_bytes,
                           bool packed)
{
    bool is_packed = packed && (header->flags & ETWAS_ETL_BUFFER_COMPRESSED) != 0;

    return (packed ? header->buffer_bytes >= sizeof *header && header->buffer_bytes <= buffer_bytes
                   : header->buffer_bytes == buffer_bytes) &&
           header->saved_offset <= (is_packed ? buffer_bytes : header->buffer_bytes) &&
           header->saved_offset > ETWAS_ETL_BUFFER_HEADER_BYTES &&
           header->saved_offset % WORD_BYTES == 0;
}

/* Returns false if there is no memory. */
static bool tail_add_buffer(struct etwas_log_tail *tail, uint16_t file, uint64_t at,
                            const struct beginning *begin, size_t got, bool packed)
{
    bool is_packed = packed && (begin->header.flags & ETWAS_ETL_BUFFER_COMPRESSED) != 0;
    struct entry entry = {
        .file = file,
        .at = at + ETWAS_ETL_BUFFER_HEADER_BYTES,
        .bytes = begin->header.saved_offset - ETWAS_ETL_BUFFER_HEADER_BYTES,
        .packed = is_packed ? begin->header.buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES : 0,
    };
    uint32_t length = entry.bytes < BEGINNING ? entry.bytes : BEGINNING;
    size_t there = got - sizeof begin->header;
    uint8_t records[BEGINNING];
    bool exact;

    if (is_packed) {
        there = etwas_xpress_decode(begin->bytes, there < entry.packed ? there : entry.packed,
                                    records, length, &exact);
    } else {
        memcpy(records, begin->bytes, length < there ? length : there);
    }
    if (there < length) {
        return true;
    }
    entry.beginning =
        sum_of_beginning(tail, etwas_etl_buffer_processor(&begin->header), records, entry.bytes);
    return tail_add_entry(tail, &entry);
}

static void tail_list_buffers(struct etwas_log_tail *tail, uint16_t file, uint32_t buffer_bytes,
                              uint64_t file_bytes, bool packed)
{
    uint32_t least = packed ? (uint32_t)ETWAS_ETL_BUFFER_HEADER_BYTES : buffer_bytes;
    uint64_t at = buffer_bytes;

    while (at < file_bytes && file_bytes - at >= least) {
        struct beginning begin;
        size_t got = etwas_file_read(tail->files[file], &begin, sizeof begin, at);

        if (got < sizeof begin.header) {
            return;
        }
        if (begin.header.buffer_bytes == 0) {
            uint64_t next =
                packed ? file_bytes : tail_skip_hole(tail->files[file], at, buffer_bytes);

            at = next > at || next == UINT64_MAX ? next : at + buffer_bytes;
            continue;
        }
        if (packed && begin.header.buffer_bytes > file_bytes - at) {
            return;
        }
        if (tail_is_buffer(&begin.header, buffer_bytes, packed)) {
            if (!tail_add_buffer(tail, file, at, &begin, got, packed)) {
                return;
            }
        } else if (packed && begin.header.buffer_bytes < sizeof begin.header) {
            return; /* the position of the next buffer is not known */
        }
        at += packed ? begin.header.buffer_bytes : buffer_bytes;
    }
}

/* Returns whether the mode in the header says that the file is compressed. The file is hostile. */
static bool tail_file_is_packed(int file)
{
    struct etwas_etl_log_header64 log;

    return etwas_file_read(file, &log, sizeof log, ETWAS_ETL_LOG_HEADER_FILE_OFFSET) ==
               sizeof log &&
           (log.start.log_file_mode & EVENT_TRACE_COMPRESSED_MODE) != 0;
}

struct etwas_log_tail *etwas_log_tail_open(const int files[2], uint32_t buffer_bytes)
{
    struct etwas_log_tail *tail = calloc(1, sizeof *tail);

    if (tail == NULL) {
        return NULL;
    }
    tail->copy = malloc(buffer_bytes);
    tail->packed = malloc(buffer_bytes);
    tail->factor = sum_secret_factor();
    tail->may_unpack = UNPACKED_BYTES;
    for (uint16_t index = 0; index < FILES; index++) {
        struct stat status;

        tail->files[index] = files[index];
        if (files[index] >= 0 && fstat(files[index], &status) == 0) {
            tail->may_unpack += (uint64_t)status.st_size * UNPACKED_TIMES;
            tail_list_buffers(tail, index, buffer_bytes, (uint64_t)status.st_size,
                              tail_file_is_packed(files[index]));
        }
    }
    if (tail->copy == NULL || tail->packed == NULL || tail->count == 0) {
        etwas_log_tail_close(tail);
        return NULL;
    }
    qsort(tail->entries, tail->count, sizeof *tail->entries, entry_by_beginning);
    return tail;
}

void etwas_log_tail_close(struct etwas_log_tail *tail)
{
    if (tail != NULL) {
        free(tail->entries);
        free(tail->copy);
        free(tail->packed);
        free(tail);
    }
}

/* ---- finding --------------------------------------------------------------------------------- */

static bool tail_read_entry(struct etwas_log_tail *tail, const struct entry *entry)
{
    bool exact;

    if (entry->packed != 0) {
        if (entry->bytes > tail->may_unpack) {
            return false;
        }
        tail->may_unpack -= entry->bytes;
        return etwas_file_read(tail->files[entry->file], tail->packed, entry->packed, entry->at) ==
                   entry->packed &&
               etwas_xpress_decode(tail->packed, entry->packed, tail->copy, entry->bytes, &exact) ==
                   entry->bytes;
    }
    return etwas_file_read(tail->files[entry->file], tail->copy, entry->bytes, entry->at) ==
           entry->bytes;
}

/* Returns the index of the first entry that is not before `beginning`. */
static size_t tail_lower_bound(const struct etwas_log_tail *tail, uint64_t beginning)
{
    size_t low = 0;
    size_t high = tail->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tail->entries[middle].beginning < beginning) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Sorts a group after reading each of its buffers once. An unreadable buffer counts as empty. */
static void group_sort(struct etwas_log_tail *tail, struct entry *group, size_t count,
                       bool has_content)
{
    for (size_t index = 0; index < count && has_content; index++) {
        struct entry *entry = &group[index];

        entry->bytes = tail_read_entry(tail, entry) ? entry->bytes : 0;
        entry->content = sum_add_bytes(tail, 1, tail->copy, entry->bytes);
    }
    qsort(group, count, sizeof *group, entry_by_content);
    group[0].is_sorted = true;
}

/* Returns the first entry with this content in a run of equal length; NULL: there is none. */
static struct entry *run_find_content(struct entry *run, size_t count, uint64_t content)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (run[middle].content < content) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && run[low].content == content ? &run[low] : NULL;
}

/* Returns how many of the sorted entries have the length of the first. */
static size_t run_of_length(const struct entry *first, size_t count)
{
    size_t low = 1;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (first[middle].bytes == first->bytes) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Whether an entry of a run of equal ones has not been found yet. */
static bool run_has_unfound(const struct entry *first, const struct entry *end)
{
    const struct entry *last = first + first->found_ones;

    return last < end && last->bytes == first->bytes && last->content == first->content;
}

/*
 * Returns the longest entry of a group that is a prefix of these records. Each length is tried
 * once, and the checksum of the records continues from one length to the next.
 */
static struct entry *group_find(const struct etwas_log_tail *tail, struct entry *group,
                                size_t count, bool has_content, const uint8_t *records,
                                uint32_t bytes)
{
    struct entry *longest = NULL;
    uint32_t summed = 0;
    uint64_t sum = 1;
    size_t run;

    for (size_t at = 0; at < count && group[at].bytes <= bytes; at += run) {
        struct entry *found;

        run = run_of_length(&group[at], count - at);
        if (has_content) {
            sum = sum_add_bytes(tail, sum, records + summed, group[at].bytes - summed);
            summed = group[at].bytes;
        }
        found = run_find_content(&group[at], run, has_content ? sum : 0);
        if (found != NULL && group[at].bytes != 0 && run_has_unfound(found, group + count)) {
            longest = found;
        }
    }
    return longest;
}

/* Finds a buffer of a file that is a prefix of these records. Returns its length; 0: none. */
static uint32_t tail_find(struct etwas_log_tail *tail, uint32_t processor, const uint8_t *records,
                          uint32_t bytes)
{
    uint32_t length = bytes < BEGINNING ? bytes : BEGINNING;

    for (; length != 0; length -= WORD_BYTES) {
        uint64_t beginning = sum_of_beginning(tail, processor, records, length);
        size_t first = tail_lower_bound(tail, beginning);
        struct entry *group = tail->entries + first;
        struct entry *found;
        bool has_content;
        size_t count;

        if (first == tail->count || group->beginning != beginning) {
            continue;
        }
        count = tail_lower_bound(tail, beginning + 1) - first;
        has_content = count > 1 && length == BEGINNING;
        if (!group->is_sorted) {
            group_sort(tail, group, count, has_content);
        }
        found = group_find(tail, group, count, has_content, records, bytes);
        /* The checksums only find a candidate; the bytes themselves are compared. */
        if (found != NULL && tail_read_entry(tail, found) &&
            memcmp(tail->copy, records, found->bytes) == 0) {
            found->found_ones++;
            return found->bytes;
        }
    }
    return 0;
}

uint32_t etwas_log_tail_has(struct etwas_log_tail *tail, uint32_t processor, const uint8_t *records,
                            uint32_t bytes)
{
    uint32_t has = 0;
    uint32_t part;

    if (tail == NULL) {
        return 0;
    }
    do { /* each of several flushes may have written a part */
        part = tail_find(tail, processor, records + has, bytes - has);
        has += part;
    } while (part != 0);
    return has;
}
