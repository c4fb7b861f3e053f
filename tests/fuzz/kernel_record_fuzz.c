/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A record of a kernel's ring, decoded with every sample type: u32 type, u16 misc, and the bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "system/stream/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    REGISTER_BYTES = 8 * __builtin_popcountll(ETWAS_SAMPLE_REGISTERS)
};

/* Each byte is looked at, so that one outside of the record is noticed. */
static void look_at(const void *bytes, uint64_t count)
{
    volatile uint8_t sum = 0;

    for (uint64_t index = 0; index < count; index++) {
        sum = (uint8_t)(sum + ((const uint8_t *)bytes)[index]);
    }
}

static void decode_sample(const struct perf_event_header *record)
{
    static const uint64_t parts[] = {PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER, PERF_SAMPLE_IP,
                                     PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW};
    struct etwas_sample sample;

    for (uint32_t chosen = 0; chosen < 32; chosen++) {
        uint64_t sample_type = ETWAS_SAMPLE_ALWAYS;

        for (uint32_t part = 0; part < 5; part++) {
            sample_type |= (chosen & 1u << part) != 0 ? parts[part] : 0;
        }
        if (etwas_sample_decode(record, sample_type, &sample)) {
            look_at(sample.frames, 8 * sample.frame_count);
            look_at(sample.raw, sample.raw_bytes);
            look_at(sample.registers, sample.registers == NULL ? 0 : REGISTER_BYTES);
            look_at(sample.stack, sample.stack_bytes);
        }
    }
}

static void decode_sideband(const struct perf_event_header *record)
{
    struct etwas_process_record process_record;

    if (!etwas_process_record_decode(record, &process_record)) {
        return;
    }
    if (process_record.type == PERF_RECORD_COMM) {
        look_at(process_record.comm.name, strlen(process_record.comm.name));
    } else if (process_record.type == PERF_RECORD_MMAP2) {
        look_at(process_record.image.build_id, process_record.image.build_id_bytes);
        look_at(process_record.image.path, strlen(process_record.image.path));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct perf_event_header *record;
    struct etwas_sample_origin origin;

    if (size < 6 || size > UINT16_MAX - 2) {
        return 0;
    }
    record = malloc(size + 2);
    if (record == NULL) {
        abort();
    }
    memcpy(record, data, 6);
    record->size = (uint16_t)(size + 2);
    memcpy(record + 1, data + 6, size - 6);
    (void)etwas_sample_origin(record, &origin);
    decode_sample(record);
    decode_sideband(record);
    free(record);
    return 0;
}
