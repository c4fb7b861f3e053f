/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/write_way.h"

#include <unistd.h>

#include "platform/file.h"
#include "platform/wait.h"

enum {
    MB = 1 << 20,
    RESERVED_AHEAD_BYTES = 16 * MB,
    /* Smaller writes are bound by what each costs, and say little of the device. */
    JUDGED_BYTES = 1 * MB,
    /*
     * 250 MB a second. So slow are disks with platters and small shares of a network's: there the
     * page cache is many times faster. A busy processor alone does not make a write as slow as
     * this.
     */
    SLOW_NS_A_MB = 4000000,
};
#define CACHED_FIRST_BYTES (UINT64_C(1) << 30)
#define CACHED_LONGEST_BYTES (UINT64_C(16) << 30)

void etwas_write_way_begin(struct etwas_write_way *way, int descriptor, uint32_t buffer_bytes,
                           uint64_t limit_bytes, bool has_space)
{
    uint32_t alignment = etwas_file_direct_alignment(descriptor);
    uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

    *way = (struct etwas_write_way){.limit_bytes = limit_bytes};
    way->direct = alignment != 0 && page % alignment == 0 && buffer_bytes % alignment == 0;
    way->reserves = way->direct && !has_space;
}

void etwas_write_way_learn(struct etwas_write_way *way, const struct etwas_write_way *before,
                           uint64_t position)
{
    uint64_t end = before->went_round + position;

    way->ns_a_mb = before->ns_a_mb;
    way->cached_bytes = before->cached_bytes;
    way->settles = before->settles;
    way->cached_until = before->cached_until > end ? before->cached_until - end : 0;
}

void etwas_write_way_goes_round(struct etwas_write_way *way, uint64_t bytes)
{
    way->went_round += bytes;
}

/*
 * Space ahead keeps the file in one piece beside others that grow, and spares small writes the
 * allocation. A file that has not grown so far itself gets none. A full disk, or one that cannot,
 * is not asked twice: the writes say what is left.
 */
static void reserve_ahead(struct etwas_write_way *way, int descriptor, uint64_t position,
                          uint64_t bytes)
{
    uint64_t ahead = position + bytes;
    uint64_t end;

    if (!way->reserves || position < RESERVED_AHEAD_BYTES || ahead <= way->reserved_bytes) {
        return;
    }
    end = ahead + RESERVED_AHEAD_BYTES;
    if (way->limit_bytes != 0 && end > way->limit_bytes) {
        end = way->limit_bytes;
    }
    if (position < way->reserved_bytes) {
        position = way->reserved_bytes;
    }
    way->reserves = etwas_file_reserve(descriptor, position, end - position);
    way->reserved_bytes = way->reserves ? end : 0;
}

/*
 * A slow device gets time to write what the cache holds: twice as much each time it is found slow
 * again. The first write after that waits for the cache's, so it is not judged.
 *
 * Times are averaged, not rates: a device that pauses is as slow as its pauses are long, and a
 * single one does not change the way.
 */
static void judge(struct etwas_write_way *way, uint64_t position, uint64_t bytes, uint64_t took_ns)
{
    uint64_t ns_a_mb = took_ns * MB / bytes;

    if (bytes < JUDGED_BYTES) {
        return;
    }
    if (way->settles) {
        way->settles = false;
        return;
    }
    way->ns_a_mb = (7 * way->ns_a_mb + ns_a_mb) / 8;
    if (way->ns_a_mb <= SLOW_NS_A_MB) {
        way->cached_bytes = 0;
        return;
    }
    way->cached_bytes = way->cached_bytes == 0 ? CACHED_FIRST_BYTES : 2 * way->cached_bytes;
    if (way->cached_bytes > CACHED_LONGEST_BYTES) {
        way->cached_bytes = CACHED_LONGEST_BYTES;
    }
    way->cached_until = way->went_round + position + bytes + way->cached_bytes;
    /* The next one that is judged decides. */
    way->ns_a_mb = SLOW_NS_A_MB;
    way->settles = true;
}

uint64_t etwas_write_way_write(struct etwas_write_way *way, int descriptor, struct iovec *pieces,
                               uint32_t count, uint64_t position, int *error)
{
    uint64_t bytes = 0;
    uint64_t begun_ns;
    uint64_t written;

    for (uint32_t index = 0; index < count; index++) {
        bytes += pieces[index].iov_len;
    }
    reserve_ahead(way, descriptor, position, bytes);
    if (!way->direct || etwas_write_way_spares_device(way, position)) {
        return etwas_file_write(descriptor, pieces, (int)count, position, error);
    }
    begun_ns = etwas_monotonic_ns();
    written =
        etwas_file_write_direct(descriptor, pieces, (int)count, position, &way->direct, error);
    judge(way, position, bytes, etwas_monotonic_ns() - begun_ns);
    return written;
}

void etwas_write_way_was_cut(struct etwas_write_way *way, uint64_t bytes)
{
    if (way->reserved_bytes > bytes) {
        way->reserved_bytes = bytes;
    }
}
