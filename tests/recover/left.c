/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/left.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "etl/layout.h"

_Static_assert(LEFT_RECORD_BYTES == sizeof(struct etwas_etl_full_header) + sizeof(uint64_t),
               "a number");

static const etwas_session_options recorder = {
    .log_file_mode = EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
    .crash_safe = ETWAS_CRASH_SAFE_MEMFD,
    .buffer_size_kb = 4,
    .minimum_buffers = 8,
    .maximum_buffers = 8,
};

static struct left copy_of(etwas_trace_handle session)
{
    struct left left;
    char path[4096];
    struct stat facts;
    int file;

    assert_int_equal(etwas_crash_safe_path(session, path, sizeof path), ERROR_SUCCESS);
    file = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0 && fstat(file, &facts) == 0);
    left.size = (size_t)facts.st_size;
    left.bytes =
        mmap(NULL, left.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0); /* ours to change */
    assert_ptr_not_equal(left.bytes, MAP_FAILED);
    left.head = (struct etwas_shared_head *)(void *)left.bytes;
    (void)close(file);
    return left;
}

struct left left_with_events(void)
{
    etwas_trace_handle session = start_session(NULL, &recorder);
    struct left left;

    for (uint64_t number = 0; number < LEFT_EVENTS; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    left = copy_of(session);
    stop_session(session, NULL);
    return left;
}

uint8_t *left_table(const struct left *left, enum etwas_shared_table_name name)
{
    return left->bytes + left->head->tables[name].offset;
}

uint8_t *left_record(const struct left *left, uint64_t number)
{
    uint8_t *region = left_table(left, ETWAS_SHARED_REGION);

    for (size_t at = 0; at + LEFT_RECORD_BYTES <= left->size - (size_t)(region - left->bytes);
         at += 8) {
        struct etwas_etl_full_header header;

        memcpy(&header, region + at, sizeof header);
        if (header.size == LEFT_RECORD_BYTES && header.marker_flags == ETWAS_ETL_MARKER_FLAGS &&
            memcmp(&header.guid, &event_class, sizeof event_class) == 0 &&
            memcmp(region + at + sizeof header, &number, sizeof number) == 0) {
            return region + at;
        }
    }
    fail_msg("event %u is not there", (unsigned)number);
    return NULL;
}

void left_free(struct left *left)
{
    assert_int_equal(munmap(left->bytes, left->size), 0);
}

etwas_recovered left_recover_file(void)
{
    static etwas_recovered recovered;

    assert_int_equal(etwas_recover(folder_path("left"), 0, folder_path("after.etl"), &recovered),
                     ERROR_SUCCESS);
    return recovered;
}

etwas_recovered left_recover(struct left *left)
{
    int file = open(folder_path("left"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(file >= 0);
    assert_int_equal(write(file, left->bytes, left->size), left->size);
    assert_int_equal(close(file), 0);
    left_free(left);
    return left_recover_file();
}

void left_expect(const uint64_t *missing, size_t count)
{
    struct events events;
    size_t index = 0;

    read_events(folder_path("after.etl"), 0, &events);
    assert_int_equal(events.count, LEFT_EVENTS - count);
    for (uint64_t number = 0; number < LEFT_EVENTS; number++) {
        if (count != 0 && number == *missing) {
            missing++;
            count--;
        } else {
            assert_int_equal(number_of(&events.items[index]), number);
            index++;
        }
    }
    free_events(&events);
}
