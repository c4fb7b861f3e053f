/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "flush/log_patch.h"

#include "etl/layout.h"
#include "platform/file.h"

bool etwas_log_patch(int descriptor, const void *bytes, size_t length, uint64_t position)
{
    /* A vector of what is written has no const. */
    struct iovec vector = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = length};
    int error;

    return etwas_file_write(descriptor, &vector, 1, position, &error) == length;
}

bool etwas_log_patch_number(int descriptor, uint32_t buffer_bytes, uint32_t place, int64_t sequence)
{
    return etwas_log_patch(descriptor, &sequence, sizeof sequence,
                           (uint64_t)place * buffer_bytes +
                               offsetof(struct etwas_etl_buffer_header, sequence_number));
}

bool etwas_log_patch_flags(int descriptor, uint32_t buffer_bytes, uint32_t place, uint16_t flags)
{
    return etwas_log_patch(descriptor, &flags, sizeof flags,
                           (uint64_t)place * buffer_bytes +
                               offsetof(struct etwas_etl_buffer_header, flags));
}

bool etwas_log_patch_number_round(int descriptor, uint32_t buffer_bytes, uint32_t count,
                                  uint32_t first)
{
    bool good = true;

    for (uint32_t place = 1; place <= count; place++) {
        uint32_t after_first = place >= first ? place - first : place + count - first;

        good = etwas_log_patch_number(descriptor, buffer_bytes, place, 1 + (int64_t)after_first) &&
               good;
    }
    return good;
}

bool etwas_log_patch_number_backwards(int descriptor, uint32_t buffer_bytes, uint32_t count)
{
    bool good = true;

    for (uint32_t place = 1; place <= count; place++) {
        good = etwas_log_patch_number(descriptor, buffer_bytes, place,
                                      (int64_t)count + 1 - (int64_t)place) &&
               good;
    }
    return good;
}
