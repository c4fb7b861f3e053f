/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Log files by their descriptors: reads and writes them, and requests services of the file system.
 */
#include "platform/file.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/file_internal.h"

enum {
    SHORT_DIRECT_BYTES = 4096, /* short direct writes of tests are a multiple of this */
};

#ifdef ETWAS_TESTPOINTS

#include <ck_pr.h>

static void *failure;

void etwas_file_set_failure_hook(etwas_file_failure_hook fail)
{
    ck_pr_store_ptr(&failure, (void *)(uintptr_t)fail);
}

long etwas_file_call_permitted(enum etwas_log_file_call call, size_t bytes)
{
    etwas_file_failure_hook fail = (etwas_file_failure_hook)(uintptr_t)ck_pr_load_ptr(&failure);
    long result = fail != NULL ? fail(call, bytes) : (long)bytes;

    errno = result < 0 ? (int)-result : errno;
    return result;
}

#endif

size_t etwas_file_read(int descriptor, void *bytes, size_t length, uint64_t position)
{
    size_t got = 0;

    while (got < length) {
        long asked = PERMITTED_BYTES(READ, length - got);
        ssize_t result = asked < 0 ? -1
                                   : pread(descriptor, (char *)bytes + got, (size_t)asked,
                                           (off_t)(position + got));

        if (result < 0 && errno == EINTR) {
            continue;
        }
        if (result < 0) {
            return got;
        }
        if (result == 0) {
            break;
        }
        got += (size_t)result;
    }
    errno = 0;
    return got;
}

/* Removes `bytes` from the front of the vector. */
static void file_advance_vector(struct iovec **vector, int *count, size_t bytes)
{
    while (*count > 0 && bytes >= (*vector)->iov_len) {
        bytes -= (*vector)->iov_len;
        (*vector)++;
        (*count)--;
    }
    if (bytes > 0) {
        (*vector)->iov_base = (char *)(*vector)->iov_base + bytes;
        (*vector)->iov_len -= bytes;
    }
}

/* Makes one attempt. Tests may shorten it: then only the first element is written, in part. */
static ssize_t file_write_some(int descriptor, const struct iovec *vector, int count,
                               uint64_t position, bool direct)
{
    size_t asked = 0;
    long allowed;

    for (int index = 0; index < count; index++) {
        asked += vector[index].iov_len;
    }
    allowed = PERMITTED_BYTES(WRITE, asked);
    if (allowed < 0) {
        return -1;
    }
    if ((size_t)allowed < asked) {
        size_t length = vector[0].iov_len < (size_t)allowed ? vector[0].iov_len : (size_t)allowed;

        /* No device stops in the middle of its block. */
        if (direct && length % SHORT_DIRECT_BYTES != 0) {
            length += SHORT_DIRECT_BYTES - length % SHORT_DIRECT_BYTES;
        }
        return pwrite(descriptor, vector[0].iov_base, length, (off_t)position);
    }
    return pwritev(descriptor, vector, count, (off_t)position);
}

static bool file_set_direct(int descriptor, bool direct)
{
    int flags = fcntl(descriptor, F_GETFL);

    return flags >= 0 &&
           fcntl(descriptor, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

/*
 * After a file size limit, or after the system has written part of a block through the cache, the
 * rest is not aligned. It is refused like data that the file never takes.
 */
static bool file_direct_is_refused(int error)
{
    return error == EINVAL || error == EOPNOTSUPP || error == ENOTBLK;
}

/* *direct says whether the descriptor is in direct mode, which ends when a write is refused. */
static uint64_t file_write_all(int descriptor, struct iovec *vector, int count, uint64_t position,
                               bool *direct, int *error)
{
    uint64_t written = 0;

    *error = 0;
    file_advance_vector(&vector, &count, 0);
    while (count > 0) {
        ssize_t result = file_write_some(descriptor, vector, count, position + written, *direct);

        if (result < 0 && errno == EINTR) {
            continue;
        }
        if (result < 0 && *direct && file_direct_is_refused(errno)) {
            (void)file_set_direct(descriptor, false);
            *direct = false;
            continue;
        }
        if (result <= 0) {
            *error = result < 0 ? errno : EIO;
            return written;
        }
        written += (uint64_t)result;
        file_advance_vector(&vector, &count, (size_t)result);
    }
    return written;
}

/*
 * A file that grows past RLIMIT_FSIZE raises SIGXFSZ, which kills by default. In the host's threads
 * the signal is blocked during the write and removed afterwards; the write's EFBIG is sufficient.
 */
struct held_signal {
    sigset_t too_large;
    sigset_t before;
    bool was_pending;
};

static void file_block_size_signal(struct held_signal *held)
{
    sigset_t pending;

    (void)sigemptyset(&held->too_large);
    (void)sigaddset(&held->too_large, SIGXFSZ);
    (void)pthread_sigmask(SIG_BLOCK, &held->too_large, &held->before);
    (void)sigpending(&pending);
    held->was_pending = sigismember(&pending, SIGXFSZ) != 0;
}

static void file_restore_size_signal(const struct held_signal *held, int error)
{
    const struct timespec now = {0};

    if (error == EFBIG && !held->was_pending) {
        (void)sigtimedwait(&held->too_large, NULL, &now);
    }
    (void)pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}

/* Direct mode is set for this write alone: all others may write any bytes at any position. */
uint64_t etwas_file_write(int descriptor, struct iovec *vector, int count, uint64_t position,
                          bool *direct, int *error)
{
    struct held_signal held;
    bool is_direct = direct != NULL && file_set_direct(descriptor, true);
    uint64_t written;

    file_block_size_signal(&held);
    written = file_write_all(descriptor, vector, count, position, &is_direct, error);
    file_restore_size_signal(&held, *error);
    if (is_direct) {
        (void)file_set_direct(descriptor, false);
    }
    if (direct != NULL) {
        *direct = is_direct;
    }
    return written;
}

bool etwas_file_write_in_handler(int descriptor, const void *bytes, size_t length,
                                 uint64_t position, int *error)
{
    const uint8_t *next = bytes;

    if (lseek(descriptor, (off_t)position, SEEK_SET) < 0) {
        *error = errno;
        return false;
    }
    while (length != 0) {
        long most = PERMITTED_BYTES(WRITE, length);
        ssize_t written = most >= 0 ? write(descriptor, next, (size_t)most) : -1;

        if (written == 0 || (written < 0 && errno != EINTR)) {
            *error = written == 0 ? ENOSPC : errno;
            return false;
        }
        if (written > 0) {
            next += written;
            length -= (size_t)written;
        }
    }
    return true;
}

bool etwas_file_truncate_in_handler(int descriptor, uint64_t bytes, int *error)
{
    int result;

    do {
        result = PERMITTED(TRUNCATE) ? ftruncate(descriptor, (off_t)bytes) : -1;
    } while (result != 0 && errno == EINTR);
    *error = result != 0 ? errno : 0;
    return result == 0;
}

uint32_t etwas_file_direct_alignment(int descriptor)
{
#ifdef STATX_DIOALIGN
    struct statx status;

    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 &&
        (status.stx_mask & STATX_DIOALIGN) != 0) {
        /* Both are powers of two, or both are 0. */
        return status.stx_dio_mem_align > status.stx_dio_offset_align ? status.stx_dio_mem_align
                                                                      : status.stx_dio_offset_align;
    }
#else
    (void)descriptor;
#endif
    return 0;
}

bool etwas_file_reserve(int descriptor, uint64_t offset, uint64_t bytes)
{
    struct held_signal held;
    long result;

    file_block_size_signal(&held);
    result = TEMP_FAILURE_RETRY(
        PERMITTED(RESERVE) ? fallocate(descriptor, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes)
                           : -1);
    file_restore_size_signal(&held, result == 0 ? 0 : errno);
    return result == 0;
}

int etwas_file_allocate(int descriptor, uint64_t bytes)
{
    struct held_signal held;
    int error;

    file_block_size_signal(&held);
    do {
        error = PERMITTED(ALLOCATE) ? posix_fallocate(descriptor, 0, (off_t)bytes) : errno;
    } while (error == EINTR);
    file_restore_size_signal(&held, error);
    return error;
}

/*
 * Another process may have truncated the file meanwhile. Then this call makes it longer, and is
 * subject to limits.
 */
bool etwas_file_truncate(int descriptor, uint64_t bytes)
{
    struct held_signal held;
    int error;

    file_block_size_signal(&held);
    error = TEMP_FAILURE_RETRY(PERMITTED(TRUNCATE) ? ftruncate(descriptor, (off_t)bytes) : -1) == 0
                ? 0
                : errno;
    file_restore_size_signal(&held, error);
    errno = error;
    return error == 0;
}

bool etwas_file_sync(int descriptor)
{
    return TEMP_FAILURE_RETRY(PERMITTED(SYNC) ? fdatasync(descriptor) : -1) == 0;
}

void etwas_file_start_writing(int descriptor, uint64_t offset, uint64_t bytes)
{
    (void)sync_file_range(descriptor, (off_t)offset, (off_t)bytes, SYNC_FILE_RANGE_WRITE);
}

void etwas_file_read_ahead(int descriptor, uint64_t offset, uint64_t bytes)
{
    if (PERMITTED(READ_AHEAD)) {
        (void)posix_fadvise(descriptor, (off_t)offset, (off_t)bytes, POSIX_FADV_WILLNEED);
    }
}

void etwas_file_drop_cached(int descriptor, uint64_t offset, uint64_t bytes)
{
    (void)posix_fadvise(descriptor, (off_t)offset, (off_t)bytes, POSIX_FADV_DONTNEED);
}

uint32_t etwas_file_write_error(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return ERROR_DISK_FULL;
    default:
        return ERROR_WRITE_FAULT;
    }
}
