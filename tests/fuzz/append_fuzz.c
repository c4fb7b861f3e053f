/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A file that a session is to go on with: refused, it stays as it was; taken, what the session
 * writes is read back, whatever was there before. The last byte's lowest bit says whether space is
 * set aside; the session is compressed if the file's header says that it is. The file's count of
 * processors is made this machine's, of which it must be. The mutator is etl_mutate.c.
 */
#include <etwas/evntcons.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock/clock.h"
#include "etl/layout.h"
#include "etl_parts.h"
#include "file/log_file.h"
#include "platform/processor.h"
#include "read_trace.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    RECORDS = 3,
    OWN_CLASS = 0x0FF1CE,
    MAXIMUM_BYTES = 256 << 10,
    PROCESSORS_AT = ETWAS_ETL_LOG_HEADER_FILE_OFFSET +
                    offsetof(struct etwas_etl_log_header_start, number_of_processors),
    MODE_AT = ETWAS_ETL_LOG_HEADER_FILE_OFFSET +
              offsetof(struct etwas_etl_log_header_start, log_file_mode),
};

/* Returns a path in memory where that is possible. */
static const char *path_of_file(void)
{
    static char path[64];

    if (path[0] == 0) {
        (void)snprintf(path, sizeof path, "%s/etwas-fuzz-append-%d",
                       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
    }
    return path;
}

static void put(const char *path, const uint8_t *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    MUST(file >= 0 && write(file, bytes, size) == (ssize_t)size && close(file) == 0);
}

static void expect_unchanged(const char *path, const uint8_t *bytes, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t *now = malloc(size + 1);

    MUST(file >= 0 && now != NULL && read(file, now, size + 1) == (ssize_t)size);
    MUST(memcmp(now, bytes, size) == 0);
    (void)close(file);
    free(now);
}

static void write_records(struct etwas_log_file *file)
{
    struct etwas_etl_full_header records[RECORDS];
    struct etwas_drained buffer = {
        .data = records, .data_bytes = sizeof records, .records = RECORDS, .time_stamp = 1000};
    struct etwas_log_write write;

    for (uint32_t index = 0; index < RECORDS; index++) {
        records[index] = (struct etwas_etl_full_header){
            .size = sizeof records[index],
            .header_type = ETWAS_ETL_FULL_HEADER64,
            .marker_flags = ETWAS_ETL_MARKER_FLAGS,
            .time_stamp = 100 + index,
            .guid = {.Data1 = OWN_CLASS},
        };
    }
    write = etwas_log_file_write(file, &buffer, 1);
    MUST(write.written == 1 || (write.code == ERROR_SUCCESS && etwas_log_file_is_full(file)));
    MUST(etwas_log_file_finish(file, &(struct etwas_log_file_totals){0}));
    MUST(etwas_log_file_close(file));
}

static uint32_t buffer_bytes_of(const uint8_t *bytes, size_t size)
{
    uint64_t said = size < 4 ? 0 : etl_number(bytes, 4);

    return said > 0 && said <= 65536 && said % 4096 == 0 ? (uint32_t)said : 4096;
}

static uint32_t compressed_mode_of(const uint8_t *bytes, size_t size)
{
    return size < MODE_AT + sizeof(uint32_t)
               ? 0
               : (uint32_t)etl_number(bytes + MODE_AT, sizeof(uint32_t)) &
                     EVENT_TRACE_COMPRESSED_MODE;
}

static uint32_t append(const char *path, const uint8_t *bytes, size_t size)
{
    static const etwas_wchar name[] = u"log";
    bool with_space = size > 0 && bytes[size - 1] % 2 != 0;
    const struct etwas_log_file_options options = {
        .path = path,
        .session_name = name,
        .file_name = name,
        .buffer_bytes = buffer_bytes_of(bytes, size),
        .processors = etwas_processor_count(),
        .clock = ETWAS_CLOCK_KIND_SYSTEM,
        .log_file_mode = EVENT_TRACE_FILE_MODE_APPEND |
                         (with_space ? EVENT_TRACE_FILE_MODE_PREALLOCATE : 0) |
                         compressed_mode_of(bytes, size),
        .maximum_bytes = with_space ? MAXIMUM_BYTES : 0,
        .logger_id = 7,
    };
    struct etwas_log_file *file;
    uint32_t code = etwas_log_file_create(&options, &file);

    if (code == ERROR_SUCCESS) {
        bool had_room = !etwas_log_file_is_full(file);
        struct read_trace result = {.class_data1 = OWN_CLASS};

        write_records(file);
        read_trace_file(path, PROCESS_TRACE_MODE_EVENT_RECORD, &result);
        MUST(result.code == ERROR_SUCCESS || result.code == ERROR_FILE_CORRUPT);
        MUST(!had_room || result.events_of_class >= RECORDS);
    }
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = path_of_file();
    uint8_t *bytes = malloc(size + 1);
    uint32_t code;

    MUST(bytes != NULL);
    memcpy(bytes, data, size);
    if (size >= PROCESSORS_AT + sizeof(uint32_t)) {
        etl_put(bytes + PROCESSORS_AT, sizeof(uint32_t),
                etwas_processor_count() + etl_number(bytes + PROCESSORS_AT, 1) % 2);
    }
    put(path, bytes, size);
    code = append(path, bytes, size);
    MUST(code == ERROR_SUCCESS || code == ERROR_FILE_CORRUPT || code == ERROR_INVALID_PARAMETER);
    if (code != ERROR_SUCCESS) {
        expect_unchanged(path, bytes, size);
    }
    (void)unlink(path);
    free(bytes);
    return 0;
}
