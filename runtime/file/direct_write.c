/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/direct_write.h"

#include <unistd.h>

#include "platform/file.h"
#include "platform/wait.h"

enum {
    MB = 1 << 20,
    RESERVED_AHEAD_BYTES = 16 * MB,
    /* The time of smaller writes depends on their fixed cost, and says little about the device. */
    JUDGED_BYTES = 1 * MB,
    /*
     * 250 MB a second. Hard disks and small shares of network storage are that slow, and the page
     * cache is many times faster. A busy processor alone does not make a write as slow as this.
     */
    SLOW_NS_A_MB = 4000000,
};
#define CACHED_FIRST_BYTES (UINT64_C(1) << 30)
#define CACHED_LONGEST_BYTES (UINT64_C(16) << 30)

void etwas_direct_write_begin(struct etwas_direct_write *direct, int descriptor,
                              uint32_t buffer_bytes, uint64_t limit_bytes, bool has_space)
{
    uint32_t alignment = etwas_file_direct_alignment(descriptor);
    uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

    *direct = (struct etwas_direct_write){.limit_bytes = limit_bytes};
    direct->possible = alignment != 0 && page % alignment == 0 && buffer_bytes % alignment == 0;
    direct->reserves = direct->possible && !has_space;
}

void etwas_direct_write_inherit(struct etwas_direct_write *direct,
                                const struct etwas_direct_write *before, uint64_t position)
{
    uint64_t end = before->wrapped_bytes + position;

    direct->ns_a_mb = before->ns_a_mb;
    direct->cached_bytes = before->cached_bytes;
    direct->was_cached = before->was_cached;
    direct->cached_until = before->cached_until > end ? before->cached_until - end : 0;
}

void etwas_direct_write_wrap(struct etwas_direct_write *direct, uint64_t bytes)
{
    direct->wrapped_bytes += bytes;
}

/*
 * Reserves space ahead, which keeps the file contiguous beside others that grow, and saves small
 * writes the allocation. A file that is still small gets none. After one failure nothing more is
 * reserved: the writes themselves find out what space is left.
 */
static void direct_write_reserve_ahead(struct etwas_direct_write *direct, int descriptor,
                                       uint64_t position, uint64_t bytes)
{
    uint64_t ahead = position + bytes;
    uint64_t end;

    if (!direct->reserves || position < RESERVED_AHEAD_BYTES || ahead <= direct->reserved_bytes) {
        return;
    }
    end = ahead + RESERVED_AHEAD_BYTES;
    if (direct->limit_bytes != 0 && end > direct->limit_bytes) {
        end = direct->limit_bytes;
    }
    if (position < direct->reserved_bytes) {
        position = direct->reserved_bytes;
    }
    direct->reserves = etwas_file_reserve(descriptor, position, end - position);
    direct->reserved_bytes = direct->reserves ? end : 0;
}

/*
 * A slow device gets time to write what the cache holds: twice as much each time it is found slow
 * again. The first direct write after that waits for the cache to be written, so it is not judged.
 *
 * Times are averaged, not rates, so that long pauses of a device count in full. A single pause
 * changes nothing.
 */
static void direct_write_judge_device(struct etwas_direct_write *direct, uint64_t position,
                                      uint64_t bytes, uint64_t took_ns)
{
    uint64_t ns_a_mb = took_ns * MB / bytes;

    if (bytes < JUDGED_BYTES) {
        return;
    }
    if (direct->was_cached) {
        direct->was_cached = false;
        return;
    }
    direct->ns_a_mb = (7 * direct->ns_a_mb + ns_a_mb) / 8;
    if (direct->ns_a_mb <= SLOW_NS_A_MB) {
        direct->cached_bytes = 0;
        return;
    }
    direct->cached_bytes =
        direct->cached_bytes == 0 ? CACHED_FIRST_BYTES : 2 * direct->cached_bytes;
    if (direct->cached_bytes > CACHED_LONGEST_BYTES) {
        direct->cached_bytes = CACHED_LONGEST_BYTES;
    }
    direct->cached_until = direct->wrapped_bytes + position + bytes + direct->cached_bytes;
    /* The next judged write decides. */
    direct->ns_a_mb = SLOW_NS_A_MB;
    direct->was_cached = true;
}

uint64_t etwas_direct_write_write(struct etwas_direct_write *direct, int descriptor,
                                  struct iovec *pieces, uint32_t count, uint64_t position,
                                  int *error)
{
    uint64_t bytes = 0;
    uint64_t begun_ns;
    uint64_t written;

    for (uint32_t index = 0; index < count; index++) {
        bytes += pieces[index].iov_len;
    }
    direct_write_reserve_ahead(direct, descriptor, position, bytes);
    if (!direct->possible || etwas_direct_write_is_cached(direct, position)) {
        return etwas_file_write(descriptor, pieces, (int)count, position, NULL, error);
    }
    begun_ns = etwas_monotonic_ns();
    written = etwas_file_write(descriptor, pieces, (int)count, position, &direct->possible, error);
    direct_write_judge_device(direct, position, bytes, etwas_monotonic_ns() - begun_ns);
    return written;
}

void etwas_direct_write_truncated(struct etwas_direct_write *direct, uint64_t bytes)
{
    if (direct->reserved_bytes > bytes) {
        direct->reserved_bytes = bytes;
    }
}
