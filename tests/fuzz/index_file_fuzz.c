/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * FILE.index of a sound file, with words of the input in its records: two bytes choose the span,
 * one how many records there are, then come places and words. Its header is made right, as it is in
 * a forged file. Whatever it says, no event of a sound file comes twice, and none from outside of
 * the span.
 */
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "reader/builder.h"
#include "reader/index_file.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    EVENTS = 120,
    STEP = 100, /* 100 ns, from one event to the next */
};

static char trace_path[256];
static int index_descriptor = -1;
static struct etwas_index_file_header true_header;
static struct etwas_index_file_record true_records[EVENTS];

struct seen {
    int64_t from;
    int64_t to;
    uint8_t came[EVENTS];
};

static void on_record(EVENT_RECORD *record)
{
    struct seen *seen = record->UserContext;
    int64_t stamp = record->EventHeader.TimeStamp.QuadPart;
    uint32_t number;

    if (record->EventHeader.EventDescriptor.Opcode == 1 &&
        record->UserDataLength == sizeof number) {
        memcpy(&number, record->UserData, sizeof number);
        MUST(number < EVENTS && seen->came[number]++ == 0);
        MUST(stamp >= seen->from && stamp <= seen->to);
    }
}

static etwas_trace_handle open_trace(struct seen *seen)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = trace_path,
                                    .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                    .EventRecordCallback = on_record,
                                    .Context = seen};
    etwas_trace_handle trace = OpenTraceA(&logfile);

    MUST(trace != INVALID_PROCESSTRACE_HANDLE);
    return trace;
}

static void remove_all(void)
{
    char path[sizeof trace_path + 8];

    (void)snprintf(path, sizeof path, "%s.index", trace_path);
    (void)unlink(path);
    remove_files();
}

static void make_trace(void)
{
    struct builder_options options = builder_defaults();
    struct builder builder;
    char path[sizeof trace_path + 8];
    etwas_trace_handle trace;

    builder_begin(&builder, &options);
    builder_calibration(&builder);
    for (uint32_t number = 0; number < EVENTS; number++) {
        if (number % 10 == 0) {
            builder_buffer(&builder, (uint16_t)(number / 10 % 3));
        }
        builder_number(&builder, options.first_raw + (int64_t)number * STEP, number);
    }
    builder_end(&builder);
    for (uint32_t i = 1; i <= EVENTS / 10; i++) {
        builder_header(&builder, i)->time_stamp = options.first_raw + (int64_t)i * 10 * STEP;
    }
    (void)snprintf(trace_path, sizeof trace_path, "%s", put_file(0, builder.bytes, builder.size));
    builder_free(&builder);
    (void)snprintf(path, sizeof path, "%s.index", trace_path);
    index_descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    trace = open_trace(NULL);
    MUST(etwas_trace_write_index(trace, index_descriptor) == ERROR_SUCCESS);
    MUST(pread(index_descriptor, &true_header, sizeof true_header, 0) == sizeof true_header);
    MUST(true_header.count == EVENTS / 10);
    MUST(pread(index_descriptor, true_records, sizeof true_records, sizeof true_header) > 0);
    CloseTrace(trace);
    (void)atexit(remove_all);
}

/* The true records, cut to `count`, with words of the input in them. */
static void put_index(uint64_t count, const uint8_t *patches, size_t size)
{
    static struct etwas_index_file_record records[EVENTS];
    struct etwas_index_file_header header = true_header;
    size_t bytes;
    uint64_t word;
    uint16_t at;

    header.count = count < header.count ? count : header.count;
    bytes = header.count * sizeof records[0];
    memcpy(records, true_records, bytes);
    for (; size >= sizeof at + sizeof word; size -= sizeof at + sizeof word) {
        memcpy(&at, patches, sizeof at);
        memcpy(&word, patches + sizeof at, sizeof word);
        patches += sizeof at + sizeof word;
        if ((size_t)at + sizeof word <= bytes) {
            memcpy((uint8_t *)records + at, &word, sizeof word);
        }
    }
    header.checksum =
        etwas_index_file_checksum(0, records, bytes) ^
        etwas_index_file_checksum(0, &header, offsetof(struct etwas_index_file_header, checksum));
    MUST(pwrite(index_descriptor, &header, sizeof header, 0) == sizeof header);
    MUST(pwrite(index_descriptor, records, bytes, sizeof header) == (ssize_t)bytes);
    MUST(ftruncate(index_descriptor, (off_t)(sizeof header + bytes)) == 0);
}

static etwas_filetime filetime(int64_t value)
{
    return (etwas_filetime){(uint32_t)value, (uint32_t)((uint64_t)value >> 32)};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen seen = {0};
    etwas_trace_information information;
    etwas_filetime from;
    etwas_filetime to;
    etwas_trace_handle trace;

    if (index_descriptor < 0) {
        make_trace();
    }
    if (size < 3) {
        return 0;
    }
    seen.from = BUILDER_START + data[0] * (int64_t)STEP;
    seen.to = seen.from + data[1] * (int64_t)STEP;
    from = filetime(seen.from);
    to = filetime(seen.to);
    put_index(data[2], data + 3, size - 3);
    trace = open_trace(&seen);
    (void)ProcessTrace(&trace, 1, &from, &to);
    MUST(etwas_trace_query(trace, &information) == ERROR_SUCCESS);
    MUST(information.index_file == ETWAS_INDEX_FILE_USED);
    CloseTrace(trace);
    return 0;
}
