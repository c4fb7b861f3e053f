/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Plain writes of as many bytes (drain.h): the rate of the system without tracing. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "drain.h"

enum {
    PIECES = 64,
    POOL_PIECES = 1024,
    RESERVED_AHEAD_BYTES = 64 << 20,
    POOL_ALIGNMENT = 2 << 20, /* a huge page, if the system has them */
    DROP_BYTES = 8 << 20,
};

uint64_t drain_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Returns memory that is kept for the life of the process. It is not all zeroes, which a lower
 * layer may treat specially.
 */
static uint8_t *pool(void)
{
    static uint8_t *memory;
    size_t bytes = (size_t)POOL_PIECES * DRAIN_BUFFER_BYTES;

    if (memory == NULL) {
        memory = aligned_alloc(POOL_ALIGNMENT, bytes);
        if (memory != NULL) {
            (void)madvise(memory, bytes, MADV_HUGEPAGE);
            for (size_t offset = 0; offset < bytes; offset += sizeof(uint64_t)) {
                uint64_t word = drain_mix(offset);

                memcpy(memory + offset, &word, sizeof word);
            }
        }
    }
    return memory;
}

static void drop_behind(int file, uint64_t end)
{
    if (end % DROP_BYTES == 0 && end >= 2 * (uint64_t)DROP_BYTES) {
        off_t chunk = (off_t)end - DROP_BYTES;

        (void)sync_file_range(file, chunk, DROP_BYTES, SYNC_FILE_RANGE_WRITE);
        (void)posix_fadvise(file, chunk - DROP_BYTES, DROP_BYTES, POSIX_FADV_DONTNEED);
    }
}

static bool write_all(int file, uint8_t *memory, uint64_t bytes, bool direct)
{
    struct iovec pieces[PIECES];
    uint32_t next = 0;

    for (uint64_t position = 0; position < bytes;
         position += sizeof pieces / sizeof *pieces * (uint64_t)DRAIN_BUFFER_BYTES) {
        if (direct && position % RESERVED_AHEAD_BYTES == 0) {
            (void)fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)position, RESERVED_AHEAD_BYTES);
        }
        for (uint32_t index = 0; index < PIECES; index++) {
            pieces[index] =
                (struct iovec){memory + (size_t)next * DRAIN_BUFFER_BYTES, DRAIN_BUFFER_BYTES};
            next = (next + 1) % POOL_PIECES;
        }
        if (pwritev(file, pieces, PIECES, (off_t)position) !=
            (ssize_t)PIECES * DRAIN_BUFFER_BYTES) {
            return false;
        }
        if (!direct) {
            drop_behind(file, position + (uint64_t)PIECES * DRAIN_BUFFER_BYTES);
        }
    }
    return fdatasync(file) == 0;
}

double drain_plain(const char *path, uint64_t bytes, bool direct)
{
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (direct ? O_DIRECT : 0);
    uint8_t *memory = pool();
    int file = memory != NULL ? open(path, flags, 0600) : -1;
    uint64_t begun_ns;
    uint64_t took_ns;
    bool good;

    if (file < 0) {
        return 0;
    }
    (void)unlink(path); /* nothing may stay behind if this process is killed */
    begun_ns = drain_now_ns();
    good = write_all(file, memory, bytes, direct);
    took_ns = drain_now_ns() - begun_ns;
    (void)close(file);
    return good ? (double)bytes * 1e3 / (double)took_ns : 0;
}
