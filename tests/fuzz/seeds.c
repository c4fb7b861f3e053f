/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Makes the trace files that the fuzz targets begin with: one of each kind that the library writes,
 * some that only other systems write, and Windows' own where they are there. All are small, and
 * sound but for those that a running session has left.
 */
#include <elf.h>
#include <etwas/TraceLoggingProvider.h>
#include <etwas/winmeta.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/builder.h"
#include "reader/collect.h"
#include "shared/layout.h"
#include "support/flushing.h"
#include "support/metadata.h"
#include "support/places.h"

enum {
    KB = EVENT_TRACE_USE_KBYTES_FOR_SIZE,
    PACKED_BUFFERS = 8,
    LARGEST_BYTES = 65536, /* longer ones are searched too slowly */
};

TRACELOGGING_DEFINE_PROVIDER(shop, "Etwas.Fuzz.Shop",
                             (0x6b1f0c52, 0x2f0e, 0x4d0c, 0x9b, 0x1e, 0x52, 0x1a, 0x77, 0x40, 0x03,
                              0xfe));

static const char *path_of(const char *name)
{
    static char path[4096];

    (void)snprintf(path, sizeof path, "%s/etl/%s", ETWAS_FUZZ_MADE, name);
    return path;
}

static void expect_sound(const char *name)
{
    run_file(path_of(name));
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_true(collected.event_count > 1);
}

static void copy(const char *from, const char *name, size_t most)
{
    static uint8_t bytes[LARGEST_BYTES];
    FILE *source = fopen(from, "rb");
    FILE *target = fopen(path_of(name), "wb");
    size_t size;

    assert_true(source != NULL && target != NULL && most <= sizeof bytes);
    size = fread(bytes, 1, most, source);
    assert_int_equal(fwrite(bytes, 1, size, target), size);
    (void)fclose(source);
    assert_int_equal(fclose(target), 0);
}

/* ---- of the library -------------------------------------------------------------------------- */

/* Events that describe themselves, with items behind their headers. */
static void log_shop(etwas_trace_handle session)
{
    const GUID provider = TraceLoggingProviderId(shop);
    const uint16_t shelves[] = {3, 12};
    GUID order = {.Data1 = 1};

    assert_int_equal(EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                    WINEVENT_LEVEL_INFO, 0, 0, INFINITE, NULL),
                     ERROR_SUCCESS);
    TraceLoggingWriteActivity(
        shop, "Order", &order, NULL, TraceLoggingOpcode(WINEVENT_OPCODE_START),
        TraceLoggingUInt32(7, "Number"), TraceLoggingFloat64(1.5, "Price"),
        TraceLoggingStruct(2, "Customer"), TraceLoggingUtf8String("Ada", "Name"),
        TraceLoggingBoolean(true, "IsNew"));
    TraceLoggingWrite(shop, "Taken", TraceLoggingUInt16FixedArray(shelves, 2, "Shelves"),
                      TraceLoggingString("shelf", "Where"));
}

static void log_message(etwas_trace_handle session)
{
    static const GUID guid = {.Data1 = 0x4711};
    const uint32_t number = 42;

    assert_int_equal(etwas_describe_message(&guid, 10, "order %u of %s"), ERROR_SUCCESS);
    assert_int_equal(TraceMessage(session,
                                  TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID |
                                      TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_SYSTEMINFO,
                                  (GUID *)(uintptr_t)&guid, 10, &number, sizeof number, "Ada",
                                  (size_t)4, NULL),
                     ERROR_SUCCESS);
}

static void make(const char *name, uint32_t mode, uint32_t maximum_file_size, uint32_t clock,
                 int flushes)
{
    const etwas_session_options options = {
        .log_file_mode = mode,
        .maximum_file_size = maximum_file_size,
        .buffer_size_kb = 4,
        .minimum_buffers = 16,
        .clock = clock,
        .flusher = {.no_thread = true},
    };
    etwas_trace_handle session = start_session(path_of(name), &options);
    struct writer *writer = small_writer(session);

    log_shop(session);
    log_message(session);
    for (int flush = 0; flush < flushes; flush++) {
        log_and_flush(writer, 12);
    }
    if (flushes % 2 != 0) {
        /* As a process leaves it that is killed. */
        copy(path_of(name), "left", LARGEST_BYTES);
    }
    stop_session(session, NULL);
    expect_sound(name);
}

static void each_kind_that_the_library_writes(void **state)
{
    (void)state;
    (void)describe_one(3);
    TraceLoggingRegister(shop);
    make("sequential", EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, ETWAS_CLOCK_QPC, 3);
    make("system_time", EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, ETWAS_CLOCK_SYSTEM_TIME, 2);
    make("circular", EVENT_TRACE_FILE_MODE_CIRCULAR | KB, 24, ETWAS_CLOCK_QPC, 10);
    (void)unlink(path_of("appended"));
    make("appended", EVENT_TRACE_FILE_MODE_APPEND, 0, ETWAS_CLOCK_SYSTEM_TIME, 2);
    make("appended", EVENT_TRACE_FILE_MODE_APPEND, 0, ETWAS_CLOCK_SYSTEM_TIME, 2);
    (void)unlink(path_of("appended_compressed"));
    for (int session = 0; session < 2; session++) {
        make("appended_compressed", EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_COMPRESSED_MODE, 0,
             ETWAS_CLOCK_SYSTEM_TIME, 2 + session);
    }
    make("preallocated", EVENT_TRACE_FILE_MODE_PREALLOCATE | KB, 32, ETWAS_CLOCK_QPC, 2);
    TraceLoggingUnregister(shop);
}

/* ---- crash-safe sessions --------------------------------------------------------------------- */

struct packed {
    uint8_t bytes[2 * LARGEST_BYTES];
    size_t size;
    struct etwas_shared_head head;
};

/*
 * The mapping as it is, its tables one behind the other: most of it is room for descriptions, and
 * for buffers that a recorder may need later.
 */
static void pack(const uint8_t *mapping, struct packed *packed)
{
    struct etwas_shared_head *head = &packed->head;
    uint64_t at = (sizeof *head + 127) & ~(uint64_t)127;

    memcpy(head, mapping, sizeof *head);
    if (head->buffers > PACKED_BUFFERS) {
        head->buffers = PACKED_BUFFERS;
        head->tables[ETWAS_SHARED_OWNERS].count = PACKED_BUFFERS;
        head->tables[ETWAS_SHARED_CONTROLS].count = PACKED_BUFFERS;
        head->tables[ETWAS_SHARED_REGION].count = PACKED_BUFFERS;
    }
    head->tables[ETWAS_SHARED_SCHEMAS].stride =
        (uint32_t)etwas_etl_round_up_8((size_t)head->schema_bytes + 8);
    for (uint32_t index = 0; index <= ETWAS_SHARED_REGION; index++) {
        struct etwas_shared_table *table = &head->tables[index];
        uint64_t bytes = (uint64_t)table->count * table->stride;

        assert_true(at + bytes <= sizeof packed->bytes);
        memcpy(packed->bytes + at, mapping + table->offset, bytes);
        table->offset = at;
        table->address = 0;
        at += (bytes + 127) & ~(uint64_t)127;
    }
    head->total_bytes = at;
    packed->size = at;
    memcpy(packed->bytes, head, sizeof *head);
}

static void write_packed(const char *folder, const char *name, const void *before,
                         size_t before_bytes, const struct packed *packed, const void *behind,
                         size_t behind_bytes)
{
    char path[4096];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s/%s", ETWAS_FUZZ_MADE, folder, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(before, 1, before_bytes, file), before_bytes);
    assert_int_equal(fwrite(packed->bytes, 1, packed->size, file), packed->size);
    assert_int_equal(fwrite(behind, 1, behind_bytes, file), behind_bytes);
    assert_int_equal(fclose(file), 0);
}

/*
 * A core of a process that had it in two parts, the second in two segments, and a note before them.
 */
static void write_core(const char *name, struct packed *packed)
{
    static const uint64_t addresses[] = {0x10000000, 0x20000000};
    struct {
        Elf64_Ehdr head;
        Elf64_Phdr segments[4];
    } core = {.head = {.e_ident = {0x7F, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_CORE,
                       .e_phoff = sizeof core.head,
                       .e_phentsize = sizeof core.segments[0],
                       .e_phnum = 4}};
    uint64_t ends[] = {0, packed->head.tables[ETWAS_SHARED_WORDS].offset,
                       packed->head.tables[ETWAS_SHARED_REGION].offset, packed->size};

    for (uint32_t index = ETWAS_SHARED_WORDS; index <= ETWAS_SHARED_REGION; index++) {
        packed->head.tables[index].address = addresses[1] + packed->head.tables[index].offset;
    }
    memcpy(packed->bytes, &packed->head, sizeof packed->head);
    core.segments[0] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = 0, .p_filesz = 64};
    for (uint32_t part = 0; part < 3; part++) {
        core.segments[1 + part] = (Elf64_Phdr){.p_type = PT_LOAD,
                                               .p_offset = sizeof core + ends[part],
                                               .p_vaddr = addresses[part != 0] + ends[part],
                                               .p_filesz = ends[part + 1] - ends[part]};
    }
    write_packed("core", name, &core, sizeof core, packed, "", 0);
}

static void pack_session(etwas_trace_handle session, struct packed *packed)
{
    char path[4096];
    uint8_t *mapping;
    struct stat facts;
    int file;

    assert_int_equal(etwas_crash_safe_path(session, path, sizeof path), ERROR_SUCCESS);
    file = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0 && fstat(file, &facts) == 0);
    mapping = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_SHARED, file, 0);
    assert_true(mapping != MAP_FAILED);
    pack(mapping, packed);
    assert_int_equal(munmap(mapping, (size_t)facts.st_size), 0);
    (void)close(file);
}

static etwas_session_options crash_safe(uint32_t log_file_mode, uint32_t protocol)
{
    return (etwas_session_options){
        .log_file_mode = log_file_mode,
        .crash_safe = ETWAS_CRASH_SAFE_MEMFD,
        .buffer_size_kb = 4,
        .minimum_buffers = 8,
        .maximum_buffers = 8,
        .protocol = protocol,
        .flusher = {.no_thread = true},
    };
}

static void what_crash_safe_sessions_leave(void **state)
{
    static const uint32_t protocols[] = {ETWAS_PROTOCOL_BEST, ETWAS_PROTOCOL_SHARED,
                                         ETWAS_PROTOCOL_SHARED};
    static const char *const names[] = {"best", "shared", "classes"};
    static const etwas_retention_class messages = {.guid = {.Data1 = 0x4711}, .share_percent = 50};
    static struct packed packed;

    (void)state;
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        etwas_session_options options = crash_safe(EVENT_TRACE_BUFFERING_MODE, protocols[index]);
        etwas_trace_handle session;

        if (index == 2) {
            options.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
            options.classes = &messages;
            options.class_count = 1;
        }
        session = start_session(NULL, &options);
        for (int message = 0; message < 8; message++) {
            log_message(session);
        }
        log_events(small_writer(session), 150);
        pack_session(session, &packed);
        write_packed("recover", names[index], "", 0, &packed, "", 0);
        write_core(names[index], &packed);
        stop_session(session, NULL);
    }
    /* Each of the programs that is installed packs it. */
    assert_int_equal(system("cd " ETWAS_FUZZ_MADE " && for program in gzip zstd xz lz4; do "
                            "$program -c core/best >packed/$program || rm -f packed/$program; done "
                            "2>/dev/null"),
                     0);
}

/*
 * The mapping as it was before the last flush, whose process died before it said that it had
 * written.
 */
static void what_crash_safe_sessions_leave_beside_their_files(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                     EVENT_TRACE_FILE_MODE_CIRCULAR | KB};
    static const char *const names[] = {"beside_sequential", "beside_circular"};
    static struct packed packed;
    static uint8_t log[LARGEST_BYTES / 2];

    (void)state;
    for (size_t index = 0; index < 2; index++) {
        etwas_session_options options = crash_safe(modes[index], ETWAS_PROTOCOL_BEST);
        etwas_trace_handle session;
        struct writer *writer;
        FILE *file;
        size_t bytes;

        options.maximum_file_size = index == 0 ? 0 : 24;
        session = start_session(folder_path("log"), &options);
        writer = small_writer(session);
        log_and_flush(writer, 40);
        log_events(writer, 100);
        pack_session(session, &packed);
        log_and_flush(writer, 5);
        file = fopen(folder_path("log"), "rb");
        assert_non_null(file);
        bytes = fread(log, 1, sizeof log, file);
        (void)fclose(file);
        write_packed("recover", names[index], "", 0, &packed, log, bytes);
        stop_session(session, NULL);
    }
}

/* ---- of others ------------------------------------------------------------------------------- */

static void build(const char *name, bool compressed, bool old)
{
    struct builder_options options = builder_defaults();
    struct builder builder;
    FILE *file;

    options.buffer_bytes = 1024;
    options.compressed = compressed;
    options.narrow = old;
    options.legacy = old;
    builder_begin(&builder, &options);
    for (uint32_t event = 0; event < 18; event++) {
        if (event % 3 == 0) {
            builder_buffer(&builder, (uint16_t)(event / 3 % 3));
        }
        builder_number(&builder, 2000 + event, event + 1);
    }
    builder_end(&builder);
    file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(builder.bytes, 1, builder.size, file), builder.size);
    assert_int_equal(fclose(file), 0);
    builder_free(&builder);
    expect_sound(name);
}

static void kinds_that_only_others_write(void **state)
{
    (void)state;
    build("compressed", true, false);
    build("old", false, true);
    build("plain", false, false);
}

/* Copies all trace files of a folder, only the beginning of longer ones. Returns how many. */
static size_t copy_all(const char *folder)
{
    char pattern[4096];
    glob_t found = {0};
    size_t count;

    (void)snprintf(pattern, sizeof pattern, "%s/*.etl", folder);
    (void)glob(pattern, 0, NULL, &found);
    count = found.gl_pathc;
    for (size_t i = 0; i < count; i++) {
        copy(found.gl_pathv[i], strrchr(found.gl_pathv[i], '/') + 1, LARGEST_BYTES);
    }
    globfree(&found);
    return count;
}

static void files_with_the_layouts_of_windows(void **state)
{
    char samples[4096];

    (void)state;
    (void)snprintf(samples, sizeof samples, "%s/etl-samples", shared_folder());
    assert_int_not_equal(copy_all(data_folder()), 0);
    if (copy_all(samples) == 0) {
        print_message("real ones are not there: %s\n", samples);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_kind_that_the_library_writes),
        FOLDER_TEST(what_crash_safe_sessions_leave),
        FOLDER_TEST(what_crash_safe_sessions_leave_beside_their_files),
        cmocka_unit_test(kinds_that_only_others_write),
        cmocka_unit_test(files_with_the_layouts_of_windows),
    };

    (void)mkdir(ETWAS_FUZZ_MADE, 0777);
    (void)mkdir(ETWAS_FUZZ_MADE "/etl", 0777);
    (void)mkdir(ETWAS_FUZZ_MADE "/recover", 0777);
    (void)mkdir(ETWAS_FUZZ_MADE "/core", 0777);
    (void)mkdir(ETWAS_FUZZ_MADE "/packed", 0777);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
