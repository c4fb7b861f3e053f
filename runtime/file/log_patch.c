/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_file_internal.h"

#include "etl/layout.h"
#include "platform/file.h"

enum {
    /*
     * To change a few bytes, the system reads their page, unless it is in its cache, which seldom
     * has the buffers of a trace. So pages are requested this many buffers ahead; otherwise each
     * change would wait for the disk.
     */
    AHEAD_BUFFERS = 512,
    AHEAD_STEP = 256,
};

bool etwas_log_patch(int descriptor, const void *bytes, size_t length, uint64_t position)
{
    /* struct iovec has no const. */
    struct iovec vector = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = length};
    int error;

    return etwas_file_write(descriptor, &vector, 1, position, NULL, &error) == length;
}

bool etwas_log_patch_number(int descriptor, uint64_t buffer_at, int64_t sequence_number)
{
    return etwas_log_patch(descriptor, &sequence_number, sizeof sequence_number,
                           buffer_at + offsetof(struct etwas_etl_buffer_header, sequence_number));
}

bool etwas_log_patch_flags(int descriptor, uint64_t buffer_at, uint16_t flags)
{
    return etwas_log_patch(descriptor, &flags, sizeof flags,
                           buffer_at + offsetof(struct etwas_etl_buffer_header, flags));
}

/* Returns the entry of the buffer that gets this number, if entry `first` has number 1. */
static uint32_t patch_entry_of(uint64_t number, uint32_t count, uint32_t first)
{
    return (uint32_t)((first - 1 + number - 1) % count) + 1;
}

bool etwas_log_patch_number_round(int descriptor, uint32_t buffer_bytes, uint32_t count,
                                  uint32_t first)
{
    uint64_t ahead = 0; /* how many buffers' headers were requested */

    for (uint64_t number = 1; number <= count; number++) {
        if (number % AHEAD_STEP == 1) {
            for (; ahead < count && ahead < number - 1 + AHEAD_BUFFERS; ahead++) {
                etwas_file_read_ahead(
                    descriptor, (uint64_t)patch_entry_of(ahead + 1, count, first) * buffer_bytes,
                    sizeof(struct etwas_etl_buffer_header));
            }
        }
        if (!etwas_log_patch_number(descriptor,
                                    (uint64_t)patch_entry_of(number, count, first) * buffer_bytes,
                                    (int64_t)number)) {
            return false;
        }
    }
    return true;
}

bool etwas_log_patch_number_backwards(int descriptor, uint32_t buffer_bytes, uint32_t count)
{
    bool good = true;

    for (uint32_t entry = 1; entry <= count; entry++) {
        good = etwas_log_patch_number(descriptor, (uint64_t)entry * buffer_bytes,
                                      (int64_t)count + 1 - (int64_t)entry) &&
               good;
    }
    return good;
}
