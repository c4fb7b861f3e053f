/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/file_events.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

const etwas_guid file_class = {
    0x90cbdc39, 0x4a3e, 0x11d1, {0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3}};

etwas_trace_handle start_files(void)
{
    return start_kernel(EVENT_TRACE_FLAG_FILE_IO | EVENT_TRACE_FLAG_FILE_IO_INIT |
                        EVENT_TRACE_FLAG_NO_SYSCONFIG);
}

static bool is_mine(const struct event *event, uint8_t type)
{
    return is_kernel_event(event, &file_class, type) &&
           event->record.EventHeader.ThreadId == (uint32_t)syscall(SYS_gettid);
}

const struct event *nth(const struct events *events, uint8_t type, uint32_t number)
{
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_mine(event, type) && number-- == 0) {
            assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 3);
            assert_int_equal(event->record.EventHeader.ProcessId, getpid());
            return event;
        }
    }
    return NULL;
}

uint32_t count_files(const struct events *events, uint8_t type)
{
    uint32_t found = 0;

    while (nth(events, type, found) != NULL) {
        found++;
    }
    return found;
}

/* A read and a write begin with an offset. */
uint64_t irp_of(const struct event *event)
{
    uint8_t type = event->record.EventHeader.EventDescriptor.Opcode;

    return u64_at(event, type == READ || type == WRITE ? 8 : 0);
}

uint64_t file_of(const struct event *event)
{
    uint8_t type = event->record.EventHeader.EventDescriptor.Opcode;

    return u64_at(event, type == READ || type == WRITE ? 16 : 8);
}

void expect_end(const struct events *events, const struct event *begin, int64_t result)
{
    const struct event *found = NULL;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_mine(event, OPERATION_END) && u64_at(event, 0) == irp_of(begin)) {
            assert_null(found);
            found = event;
        }
    }
    assert_non_null(found);
    assert_true(found > begin);
    assert_int_equal(found->record.UserDataLength, 20);
    assert_int_equal(u64_at(found, 8), result < 0 ? 0 : result);
    assert_int_equal((int32_t)u32_at(found, 16), result < 0 ? result : 0);
}

void expect_transfer(const struct events *events, const struct event *event, uint64_t file,
                     int64_t offset, uint32_t asked, int64_t done)
{
    assert_non_null(event);
    assert_int_equal(event->record.UserDataLength, 48);
    assert_int_equal(u64_at(event, 0), offset);
    assert_int_equal(file_of(event), file);
    assert_int_equal(u64_at(event, 24), file);
    assert_int_equal(u32_at(event, 32), syscall(SYS_gettid));
    assert_int_equal(u32_at(event, 36), asked);
    expect_end(events, event, done);
}

/* Uses system calls alone, so that no other events come. */
int open_file(const char *name, int flags)
{
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, folder_path(name), flags, 0600);

    assert_true(descriptor >= 0);
    return descriptor;
}

void expect_info(const struct events *events, const struct event *event, uint64_t file,
                 uint64_t extra, uint32_t info_class, int64_t result)
{
    assert_non_null(event);
    assert_int_equal(event->record.UserDataLength, 40);
    assert_int_equal(file_of(event), file);
    assert_int_equal(u64_at(event, 16), file);
    assert_int_equal(u64_at(event, 24), extra);
    assert_int_equal(u32_at(event, 32), syscall(SYS_gettid));
    assert_int_equal(u32_at(event, 36), info_class);
    expect_end(events, event, result);
}
