/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "system/stream/sample.h"

#include "system/stream/perf_cursor.h"

enum {
    FRAME_BYTES = 8
};

/* Thread, time and processor follow each other in every record. */
static void read_origin(struct etwas_perf_cursor *cursor, struct etwas_sample_origin *origin)
{
    struct {
        uint32_t process_id;
        uint32_t thread_id;
        int64_t time_ns;
        uint32_t processor;
        uint32_t reserved;
    } taken;

    etwas_perf_cursor_copy(cursor, &taken, sizeof taken);
    origin->process_id = taken.process_id;
    origin->thread_id = taken.thread_id;
    origin->time_ns = taken.time_ns;
    origin->processor = taken.processor;
}

/* The same with PERF_SAMPLE_ADDR in between. Returns the address. */
static uint64_t read_origin_and_address(struct etwas_perf_cursor *cursor,
                                        struct etwas_sample_origin *origin)
{
    uint64_t address;

    origin->process_id = etwas_perf_cursor_u32(cursor);
    origin->thread_id = etwas_perf_cursor_u32(cursor);
    origin->time_ns = (int64_t)etwas_perf_cursor_u64(cursor);
    address = etwas_perf_cursor_u64(cursor);
    origin->processor = etwas_perf_cursor_u32(cursor);
    (void)etwas_perf_cursor_u32(cursor);
    return address;
}

bool etwas_sample_origin(const struct perf_event_header *record, struct etwas_sample_origin *origin)
{
    struct etwas_perf_cursor cursor = etwas_perf_cursor_of(record);

    *origin = (struct etwas_sample_origin){0};
    if (record->type == PERF_RECORD_SAMPLE) {
        /* What lies between them depends on the event's sample type. */
        origin->event = etwas_perf_cursor_u64(&cursor);
        return !cursor.is_short;
    }
    if (cursor.left < ETWAS_SAMPLE_ORIGIN_BYTES) {
        return false;
    }
    (void)etwas_perf_cursor_skip(&cursor, cursor.left - ETWAS_SAMPLE_ORIGIN_BYTES);
    read_origin(&cursor, origin);
    origin->event = etwas_perf_cursor_u64(&cursor);
    return !cursor.is_short;
}

static uint64_t bytes_of(uint64_t registers)
{
    return 8 * (uint64_t)__builtin_popcountll(registers);
}

/* The registers of a 64-bit program. A thread of the kernel has none. */
static void read_registers(struct etwas_perf_cursor *cursor, uint64_t sample_type,
                           struct etwas_sample *sample)
{
    const uint64_t lowest = ETWAS_SAMPLE_CALL_REGISTERS & -ETWAS_SAMPLE_CALL_REGISTERS;
    bool has_all = (sample_type & PERF_SAMPLE_STACK_USER) != 0;
    uint64_t abi = etwas_perf_cursor_u64(cursor);
    const uint8_t *registers;

    if (abi == PERF_SAMPLE_REGS_ABI_NONE) {
        return;
    }
    sample->is_32_bit = abi == PERF_SAMPLE_REGS_ABI_32;
    registers = etwas_perf_cursor_skip(
        cursor, bytes_of(has_all ? ETWAS_SAMPLE_REGISTERS : ETWAS_SAMPLE_CALL_REGISTERS));
    if (abi != PERF_SAMPLE_REGS_ABI_64 || cursor->is_short) {
        return;
    }
    sample->registers = has_all ? registers : NULL;
    sample->call_registers =
        has_all ? registers + bytes_of(ETWAS_SAMPLE_REGISTERS & (lowest - 1)) : registers;
}

/* Reads the stack: the requested number of bytes, followed by how many of them are valid. */
static void read_stack(struct etwas_perf_cursor *cursor, struct etwas_sample *sample)
{
    uint64_t room = etwas_perf_cursor_u64(cursor);

    if (room == 0) {
        return;
    }
    sample->stack = etwas_perf_cursor_skip(cursor, room);
    sample->stack_bytes = etwas_perf_cursor_u64(cursor);
    cursor->is_short = cursor->is_short || sample->stack_bytes > room;
}

/* Field by field: clearing so many bytes at once takes longer than everything else here. */
static void clear(struct etwas_sample *sample)
{
    sample->address = 0;
    sample->data_address = 0;
    sample->frames = NULL;
    sample->frame_count = 0;
    sample->raw = NULL;
    sample->raw_bytes = 0;
    sample->registers = NULL;
    sample->call_registers = NULL;
    sample->is_32_bit = false;
    sample->stack = NULL;
    sample->stack_bytes = 0;
}

bool etwas_sample_decode(const struct perf_event_header *record, uint64_t sample_type,
                         struct etwas_sample *sample)
{
    struct etwas_perf_cursor cursor = etwas_perf_cursor_of(record);

    sample->origin = (struct etwas_sample_origin){0};
    clear(sample);
    if (record->type != PERF_RECORD_SAMPLE ||
        (sample_type & ETWAS_SAMPLE_ALWAYS) != ETWAS_SAMPLE_ALWAYS ||
        (sample_type & ~ETWAS_SAMPLE_KNOWN) != 0) {
        return false;
    }
    sample->origin.event = etwas_perf_cursor_u64(&cursor);
    if ((sample_type & PERF_SAMPLE_IP) != 0) {
        sample->address = etwas_perf_cursor_u64(&cursor);
    }
    if ((sample_type & PERF_SAMPLE_ADDR) != 0) {
        sample->data_address = read_origin_and_address(&cursor, &sample->origin);
    } else {
        read_origin(&cursor, &sample->origin);
    }
    if ((sample_type & PERF_SAMPLE_CALLCHAIN) != 0) {
        sample->frame_count = etwas_perf_cursor_u64(&cursor);
        if (sample->frame_count > cursor.left / FRAME_BYTES) {
            return false;
        }
        sample->frames = etwas_perf_cursor_skip(&cursor, sample->frame_count * FRAME_BYTES);
    }
    if ((sample_type & PERF_SAMPLE_RAW) != 0) {
        sample->raw_bytes = etwas_perf_cursor_u32(&cursor);
        sample->raw = etwas_perf_cursor_skip(&cursor, sample->raw_bytes);
    }
    if ((sample_type & PERF_SAMPLE_REGS_USER) != 0) {
        read_registers(&cursor, sample_type, sample);
    }
    if ((sample_type & PERF_SAMPLE_STACK_USER) != 0) {
        read_stack(&cursor, sample);
    }
    return !cursor.is_short;
}
