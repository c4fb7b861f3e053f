/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The ten allocation functions, which programs find before the real ones.
 *
 * free is logged before it happens, and every other call after. In time order, an address is thus
 * freed before another thread gets it again. realloc frees and allocates in one call, and cannot be
 * logged before its result is known. If another thread gets the old block in between, that thread's
 * event may come first.
 */

#include "heaptrace.h"
#include "real.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEFAULT_ALIGNMENT = 16
};

static void log_call(enum heaptrace_type type, uint64_t size, const void *address, uint64_t third)
{
    if (heaptrace_thread.own == 0) {
        const struct heaptrace_call call = {
            .size = size,
            .address = (uint64_t)(uintptr_t)address,
            .third = third,
            .type = (uint8_t)type,
        };

        heaptrace_log(&call);
    }
}

static uint64_t product(size_t count, size_t size)
{
    uint64_t bytes;

    return __builtin_mul_overflow(count, size, &bytes) ? UINT64_MAX : bytes;
}

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

HEAPTRACE_EXPORT void *malloc(size_t size)
{
    const struct heaptrace_real *real = heaptrace_real();
    void *address;

    if (real == NULL) {
        return heaptrace_bootstrap(size, DEFAULT_ALIGNMENT);
    }
    heaptrace_thread.in_allocator++;
    address = real->malloc(size);
    heaptrace_thread.in_allocator--;
    log_call(HEAPTRACE_MALLOC, size, address, 0);
    return address;
}

HEAPTRACE_EXPORT void *calloc(size_t count, size_t size)
{
    const struct heaptrace_real *real = heaptrace_real();
    void *address;

    if (real == NULL) {
        return heaptrace_bootstrap(product(count, size), DEFAULT_ALIGNMENT);
    }
    heaptrace_thread.in_allocator++;
    address = real->calloc(count, size);
    heaptrace_thread.in_allocator--;
    log_call(HEAPTRACE_CALLOC, product(count, size), address, 0);
    return address;
}

/*
 * A block of the arena that grows moves out of the arena or, during the search, within it. The
 * block outside is logged as a new one, since the one in the arena never was.
 */
static void *move_bootstrap(const struct heaptrace_real *real, const void *old, size_t size)
{
    void *address = real == NULL ? heaptrace_bootstrap(size, DEFAULT_ALIGNMENT) : malloc(size);
    size_t bytes = heaptrace_bootstrap_bytes(old);

    if (address != NULL) {
        memmove(address, old, bytes < size ? bytes : size);
    }
    return address;
}

HEAPTRACE_EXPORT void *realloc(void *old, size_t size)
{
    const struct heaptrace_real *real = heaptrace_real();
    uint64_t old_address = (uint64_t)(uintptr_t)old;
    void *address;

    if (real == NULL && old == NULL) {
        return heaptrace_bootstrap(size, DEFAULT_ALIGNMENT);
    }
    if (real == NULL || heaptrace_is_bootstrap(old)) {
        return move_bootstrap(real, old, size);
    }
    heaptrace_thread.in_allocator++;
    address = real->realloc(old, size);
    heaptrace_thread.in_allocator--;
    log_call(HEAPTRACE_REALLOC, size, address, old_address);
    return address;
}

HEAPTRACE_EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
    const struct heaptrace_real *real = heaptrace_real();
    uint64_t old_address = (uint64_t)(uintptr_t)old;
    void *address;

    if (real == NULL || heaptrace_is_bootstrap(old)) {
        return realloc(old, product(count, size));
    }
    /* glibc's reallocarray calls realloc, which is ours again: log one event for one call. */
    heaptrace_thread.own++;
    heaptrace_thread.in_allocator++;
    address = real->reallocarray(old, count, size);
    heaptrace_thread.in_allocator--;
    heaptrace_thread.own--;
    log_call(HEAPTRACE_REALLOCARRAY, product(count, size), address, old_address);
    return address;
}

HEAPTRACE_EXPORT void free(void *address)
{
    const struct heaptrace_real *real = heaptrace_real();

    if (real == NULL || heaptrace_is_bootstrap(address)) {
        return;
    }
    log_call(HEAPTRACE_FREE, 0, address, 0);
    heaptrace_thread.in_allocator++;
    real->free(address);
    heaptrace_thread.in_allocator--;
}

HEAPTRACE_EXPORT int posix_memalign(void **address, size_t alignment, size_t size)
{
    const struct heaptrace_real *real = heaptrace_real();
    int result;

    if (real == NULL) {
        *address = heaptrace_bootstrap(size, alignment);
        return *address != NULL ? 0 : ENOMEM;
    }
    heaptrace_thread.in_allocator++;
    result = real->posix_memalign(address, alignment, size);
    heaptrace_thread.in_allocator--;
    log_call(HEAPTRACE_POSIX_MEMALIGN, size, result == 0 ? *address : NULL, alignment);
    return result;
}

HEAPTRACE_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    const struct heaptrace_real *real = heaptrace_real();
    void *address;

    if (real == NULL) {
        return heaptrace_bootstrap(size, alignment);
    }
    heaptrace_thread.in_allocator++;
    address = real->aligned_alloc(alignment, size);
    heaptrace_thread.in_allocator--;
    log_call(HEAPTRACE_ALIGNED_ALLOC, size, address, alignment);
    return address;
}

HEAPTRACE_EXPORT void *memalign(size_t alignment, size_t size)
{
    const struct heaptrace_real *real = heaptrace_real();
    void *address;

    if (real == NULL) {
        return heaptrace_bootstrap(size, alignment);
    }
    heaptrace_thread.in_allocator++;
    address = real->memalign(alignment, size);
    heaptrace_thread.in_allocator--;
    log_call(HEAPTRACE_MEMALIGN, size, address, alignment);
    return address;
}

HEAPTRACE_EXPORT void *valloc(size_t size)
{
    const struct heaptrace_real *real = heaptrace_real();
    void *address;

    if (real == NULL) {
        return heaptrace_bootstrap(size, page_bytes());
    }
    heaptrace_thread.in_allocator++;
    address = real->valloc(size);
    heaptrace_thread.in_allocator--;
    log_call(HEAPTRACE_VALLOC, size, address, 0);
    return address;
}

HEAPTRACE_EXPORT void *pvalloc(size_t size)
{
    const struct heaptrace_real *real = heaptrace_real();
    void *address;

    if (real == NULL) {
        return heaptrace_bootstrap(size, page_bytes());
    }
    heaptrace_thread.in_allocator++;
    address = real->pvalloc(size);
    heaptrace_thread.in_allocator--;
    log_call(HEAPTRACE_PVALLOC, size, address, 0);
    return address;
}
