/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records of a ring, decoded: as the kernel writes them, and cut or changed anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/perf_record.h"
#include "system/stream/sample.h"

enum {
    REGISTERS = __builtin_popcountll(ETWAS_SAMPLE_REGISTERS)
};

static struct perf_record record;

static void expect_origin(const struct etwas_sample_origin *origin)
{
    assert_int_equal(origin->process_id, 10);
    assert_int_equal(origin->thread_id, 11);
    assert_int_equal(origin->time_ns, 12);
    assert_int_equal(origin->processor, 13);
    assert_int_equal(origin->event, 14);
}

static void put_sample(uint64_t sample_type, uint64_t frames, uint32_t raw_bytes)
{
    perf_record_begin(&record, PERF_RECORD_SAMPLE, 0);
    perf_record_u64(&record, 14);
    if ((sample_type & PERF_SAMPLE_IP) != 0) {
        perf_record_u64(&record, 0x1234);
    }
    perf_record_u32(&record, 10);
    perf_record_u32(&record, 11);
    perf_record_u64(&record, 12);
    if ((sample_type & PERF_SAMPLE_ADDR) != 0) {
        perf_record_u64(&record, 0x5678);
    }
    perf_record_u32(&record, 13);
    perf_record_u32(&record, 0);
    if ((sample_type & PERF_SAMPLE_CALLCHAIN) != 0) {
        perf_record_u64(&record, frames);
        for (uint64_t frame = 0; frame < frames; frame++) {
            perf_record_u64(&record, 100 + frame);
        }
    }
    if ((sample_type & PERF_SAMPLE_RAW) != 0) {
        perf_record_u32(&record, raw_bytes);
        for (uint32_t index = 0; index < raw_bytes; index++) {
            perf_record_put(&record, &(uint8_t){(uint8_t)index}, 1);
        }
    }
    if ((sample_type & PERF_SAMPLE_REGS_USER) != 0) {
        perf_record_u64(&record, PERF_SAMPLE_REGS_ABI_64);
        for (uint32_t index = 0; index < REGISTERS; index++) {
            perf_record_u64(&record, 200 + index);
        }
    }
    if ((sample_type & PERF_SAMPLE_STACK_USER) != 0) {
        perf_record_u64(&record, 16);
        perf_record_u64(&record, 300);
        perf_record_u64(&record, 301);
        perf_record_u64(&record, 9); /* of these 16 */
    }
}

/*
 * Begun with one that has neither a stack of frames nor raw fields: where the registers' ABI
 * stands.
 */
enum {
    ABI_AT = 40
};

static void the_programs_registers_and_stack_are_decoded(void **state)
{
    const uint64_t sample_type = ETWAS_SAMPLE_ALWAYS | ETWAS_SAMPLE_USER;
    const uint64_t stack_at = ABI_AT + 8 + 8 * REGISTERS;
    struct etwas_sample sample;
    uint64_t value;

    (void)state;
    put_sample(sample_type, 0, 0);
    assert_true(etwas_sample_decode(&record.header, sample_type, &sample));
    memcpy(&value, sample.registers + 8 * (REGISTERS - 1), sizeof value);
    assert_int_equal(value, 200 + REGISTERS - 1);
    assert_int_equal(sample.stack_bytes, 9);
    memcpy(&value, sample.stack, sizeof value);
    assert_int_equal(value, 300);
    /*
     * Registers of a program of 32 bits are of no use; more of the stack than there is room for is
     * none.
     */
    record.bytes[ABI_AT] = PERF_SAMPLE_REGS_ABI_32;
    assert_true(etwas_sample_decode(&record.header, sample_type, &sample));
    assert_null(sample.registers);
    record.bytes[stack_at + 24] = 17;
    assert_false(etwas_sample_decode(&record.header, sample_type, &sample));
    value = UINT64_MAX;
    memcpy(record.bytes + stack_at, &value, sizeof value);
    assert_false(etwas_sample_decode(&record.header, sample_type, &sample));
    /* A thread of the kernel. */
    perf_record_begin(&record, PERF_RECORD_SAMPLE, 0);
    for (uint32_t index = 0; index < 4; index++) {
        perf_record_u64(&record, 14);
    }
    perf_record_u64(&record, PERF_SAMPLE_REGS_ABI_NONE);
    perf_record_u64(&record, 0);
    assert_int_equal(record.header.size, ABI_AT + 16);
    assert_true(etwas_sample_decode(&record.header, sample_type, &sample));
    assert_null(sample.registers);
    assert_null(sample.stack);
}

/*
 * They are alone, or among the others; of another kind of program there are none, and it says so.
 */
static void the_registers_of_a_call_are_decoded(void **state)
{
    const uint64_t lowest = ETWAS_SAMPLE_CALL_REGISTERS & -ETWAS_SAMPLE_CALL_REGISTERS;
    const uint64_t below = (uint64_t)__builtin_popcountll(ETWAS_SAMPLE_REGISTERS & (lowest - 1));
    const uint64_t alone = ETWAS_SAMPLE_ALWAYS | PERF_SAMPLE_REGS_USER;
    struct etwas_sample sample;
    uint64_t value;

    (void)state;
    put_sample(alone, 0, 0);
    assert_true(etwas_sample_decode(&record.header, alone, &sample));
    assert_null(sample.registers);
    assert_false(sample.is_32_bit);
    memcpy(&value, sample.call_registers, sizeof value);
    assert_int_equal(value, 200);
    put_sample(ETWAS_SAMPLE_ALWAYS | ETWAS_SAMPLE_USER, 0, 0);
    assert_true(
        etwas_sample_decode(&record.header, ETWAS_SAMPLE_ALWAYS | ETWAS_SAMPLE_USER, &sample));
    memcpy(&value, sample.call_registers, sizeof value);
    assert_int_equal(value, 200 + below);
    put_sample(alone, 0, 0);
    record.bytes[ABI_AT] = PERF_SAMPLE_REGS_ABI_32;
    assert_true(etwas_sample_decode(&record.header, alone, &sample));
    assert_null(sample.call_registers);
    assert_true(sample.is_32_bit);
    record.header.size = ABI_AT + 8;
    assert_false(etwas_sample_decode(&record.header, alone, &sample));
}

static void samples_have_what_their_event_asked_for(void **state)
{
    static const uint64_t parts[] = {PERF_SAMPLE_IP, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW,
                                     PERF_SAMPLE_ADDR};

    (void)state;
    for (uint32_t chosen = 0; chosen < 16; chosen++) {
        uint64_t sample_type = ETWAS_SAMPLE_ALWAYS;
        struct etwas_sample_origin origin;
        struct etwas_sample sample;
        uint64_t frame;

        for (uint32_t part = 0; part < 4; part++) {
            sample_type |= (chosen & 1u << part) != 0 ? parts[part] : 0;
        }
        put_sample(sample_type, 3, 20);
        assert_true(etwas_sample_decode(&record.header, sample_type, &sample));
        expect_origin(&sample.origin);
        assert_int_equal(sample.address, (chosen & 1) != 0 ? 0x1234 : 0);
        assert_int_equal(sample.data_address, (chosen & 8) != 0 ? 0x5678 : 0);
        assert_int_equal(sample.frame_count, (chosen & 2) != 0 ? 3 : 0);
        if (sample.frame_count != 0) {
            memcpy(&frame, sample.frames + 16, sizeof frame);
            assert_int_equal(frame, 102);
        }
        assert_int_equal(sample.raw_bytes, (chosen & 4) != 0 ? 20 : 0);
        assert_true(sample.raw_bytes == 0 || sample.raw[19] == 19);
        /* The event that it is of can be read before that. */
        assert_true(etwas_sample_origin(&record.header, &origin));
        assert_int_equal(origin.event, 14);
    }
}

static void samples_of_other_types_are_refused(void **state)
{
    struct etwas_sample sample;

    (void)state;
    put_sample(ETWAS_SAMPLE_ALWAYS, 0, 0);
    assert_true(etwas_sample_decode(&record.header, ETWAS_SAMPLE_ALWAYS, &sample));
    assert_false(etwas_sample_decode(&record.header, 0, &sample));
    assert_false(etwas_sample_decode(&record.header, PERF_SAMPLE_TID, &sample));
    assert_false(
        etwas_sample_decode(&record.header, ETWAS_SAMPLE_ALWAYS | PERF_SAMPLE_ADDR, &sample));
    record.header.type = PERF_RECORD_FORK;
    assert_false(etwas_sample_decode(&record.header, ETWAS_SAMPLE_ALWAYS, &sample));
}

/* Each length, in memory of that size. */
static void cut_samples_are_refused(void **state)
{
    (void)state;
    put_sample(ETWAS_SAMPLE_KNOWN, 3, 20);
    for (uint16_t bytes = sizeof record.header; bytes < record.header.size; bytes++) {
        struct perf_event_header *cut = perf_record_cut(&record, bytes);
        struct etwas_sample_origin origin;
        struct etwas_sample sample;

        assert_false(etwas_sample_decode(cut, ETWAS_SAMPLE_KNOWN, &sample));
        assert_int_equal(etwas_sample_origin(cut, &origin), bytes >= 16);
        free(cut);
    }
}

static void counts_that_lead_outside_are_refused(void **state)
{
    static const uint64_t frames[] = {4, 8, UINT64_MAX, UINT64_MAX / 8 + 1, UINT64_C(1) << 61};
    const uint64_t sample_type = ETWAS_SAMPLE_ALWAYS | PERF_SAMPLE_CALLCHAIN;
    struct etwas_sample sample;
    const uint32_t raw_bytes = UINT32_MAX;

    (void)state;
    for (size_t index = 0; index < sizeof frames / sizeof *frames; index++) {
        put_sample(sample_type, 3, 0);
        memcpy(record.bytes + 40, &frames[index], sizeof *frames);
        assert_false(etwas_sample_decode(&record.header, sample_type, &sample));
    }
    put_sample(ETWAS_SAMPLE_ALWAYS | PERF_SAMPLE_RAW, 0, 20);
    memcpy(record.bytes + 40, &raw_bytes, sizeof raw_bytes);
    assert_false(
        etwas_sample_decode(&record.header, ETWAS_SAMPLE_ALWAYS | PERF_SAMPLE_RAW, &sample));
}

/* ---- what is no sample ----------------------------------------------------------------------- */

static void put_task(uint32_t type)
{
    perf_record_begin(&record, type, 0);
    perf_record_u32(&record, 20);
    perf_record_u32(&record, 21);
    perf_record_u32(&record, 22);
    perf_record_u32(&record, 23);
    perf_record_u64(&record, 12);
    perf_record_origin(&record);
}

static void put_comm(uint16_t misc)
{
    perf_record_begin(&record, PERF_RECORD_COMM, misc);
    perf_record_u32(&record, 20);
    perf_record_u32(&record, 22);
    perf_record_text(&record, "cook");
    perf_record_origin(&record);
}

static void put_image(uint16_t misc, uint8_t build_id_bytes)
{
    uint8_t file[24] = {build_id_bytes, 0, 0, 0, 0xAA, 0xBB};

    perf_record_begin(&record, PERF_RECORD_MMAP2, misc);
    perf_record_u32(&record, 20);
    perf_record_u32(&record, 22);
    perf_record_u64(&record, 0x7000);
    perf_record_u64(&record, 0x2000);
    perf_record_u64(&record, 0x1000);
    perf_record_put(&record, file, sizeof file);
    perf_record_u32(&record, 5);
    perf_record_u32(&record, 2);
    perf_record_text(&record, "/lib/libc.so.6");
    perf_record_origin(&record);
}

static void processes_and_threads_come_and_go(void **state)
{
    static const uint32_t types[] = {PERF_RECORD_FORK, PERF_RECORD_EXIT};
    struct etwas_process_record process_record;

    (void)state;
    for (uint32_t index = 0; index < 2; index++) {
        put_task(types[index]);
        assert_true(etwas_process_record_decode(&record.header, &process_record));
        expect_origin(&process_record.origin);
        assert_int_equal(process_record.type, types[index]);
        assert_int_equal(process_record.process_id, 20);
        assert_int_equal(process_record.task.parent_process_id, 21);
        assert_int_equal(process_record.thread_id, 22);
        assert_int_equal(process_record.task.parent_thread_id, 23);
    }
    for (uint32_t index = 0; index < 2; index++) {
        put_comm(index == 0 ? 0 : PERF_RECORD_MISC_COMM_EXEC);
        assert_true(etwas_process_record_decode(&record.header, &process_record));
        expect_origin(&process_record.origin);
        assert_int_equal(process_record.process_id, 20);
        assert_int_equal(process_record.thread_id, 22);
        assert_string_equal(process_record.comm.name, "cook");
        assert_int_equal(process_record.comm.is_exec, index);
    }
}

static void images_are_reported_with_and_without_a_build_id(void **state)
{
    struct etwas_process_record process_record;

    (void)state;
    for (uint16_t with = 0; with < 2; with++) {
        put_image(with != 0 ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0, 20);
        assert_true(etwas_process_record_decode(&record.header, &process_record));
        expect_origin(&process_record.origin);
        assert_int_equal(process_record.image.address, 0x7000);
        assert_int_equal(process_record.image.bytes, 0x2000);
        assert_int_equal(process_record.image.file_offset, 0x1000);
        assert_int_equal(process_record.image.protection, 5);
        assert_string_equal(process_record.image.path, "/lib/libc.so.6");
        assert_int_equal(process_record.image.build_id_bytes, with != 0 ? 20 : 0);
        assert_true(with == 0 || process_record.image.build_id[1] == 0xBB);
    }
    put_image(PERF_RECORD_MISC_MMAP_BUILD_ID, 21);
    assert_false(etwas_process_record_decode(&record.header, &process_record));
}

/* A record that is cut has its origin elsewhere; its text must still end before that. */
static void cut_records_lead_nowhere(void **state)
{
    uint32_t decoded = 0;

    (void)state;
    for (uint32_t kind = 0; kind < 3; kind++) {
        if (kind == 0) {
            put_task(PERF_RECORD_FORK);
        } else if (kind == 1) {
            put_comm(0);
        } else {
            put_image(PERF_RECORD_MISC_MMAP_BUILD_ID, 20);
        }
        for (uint16_t bytes = sizeof record.header; bytes < record.header.size; bytes++) {
            struct perf_event_header *cut = perf_record_cut(&record, bytes);
            struct etwas_process_record process_record;

            if (etwas_process_record_decode(cut, &process_record)) {
                decoded++;
                assert_true(kind == 0 || strlen(kind == 1 ? process_record.comm.name
                                                          : process_record.image.path) < bytes);
            }
            free(cut);
        }
    }
    /* All that a task has is what it must have. */
    assert_true(decoded < 64);
}

static void other_records_are_refused(void **state)
{
    struct etwas_process_record process_record;

    (void)state;
    put_task(PERF_RECORD_THROTTLE);
    assert_false(etwas_process_record_decode(&record.header, &process_record));
    put_task(PERF_RECORD_SAMPLE);
    assert_false(etwas_process_record_decode(&record.header, &process_record));
    put_task(PERF_RECORD_FORK);
    record.header.size = 4;
    assert_false(etwas_process_record_decode(&record.header, &process_record));
    /* No 0 before the origin. */
    perf_record_begin(&record, PERF_RECORD_COMM, 0);
    perf_record_u64(&record, 0);
    perf_record_u64(&record, UINT64_MAX);
    perf_record_origin(&record);
    assert_false(etwas_process_record_decode(&record.header, &process_record));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_have_what_their_event_asked_for),
        cmocka_unit_test(the_programs_registers_and_stack_are_decoded),
        cmocka_unit_test(the_registers_of_a_call_are_decoded),
        cmocka_unit_test(samples_of_other_types_are_refused),
        cmocka_unit_test(cut_samples_are_refused),
        cmocka_unit_test(counts_that_lead_outside_are_refused),
        cmocka_unit_test(processes_and_threads_come_and_go),
        cmocka_unit_test(images_are_reported_with_and_without_a_build_id),
        cmocka_unit_test(cut_records_lead_nowhere),
        cmocka_unit_test(other_records_are_refused),
    };

    return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
