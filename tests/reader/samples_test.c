/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Real Windows files, with the record counts of the format's Evidence table (the whole file,
 * buffer 0 included), and our own with their layouts (tests/data/make.py). A real one that is not
 * beside the repository is skipped by name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect.h"
#include "etl/layout.h"
#include "support/places.h"

struct sample {
    const char *name;
    size_t total;
    size_t system32, system64, full64, event32, event64; /* the types that occur in them */
    uint64_t buffers;
    uint32_t processors;
    uint32_t pointer_bytes;
    uint32_t build;
    uint32_t events_lost;
    int64_t frequency_hz;
    bool compressed;
    const char *session;
};

static const struct sample samples[] = {
    {"AMSITrace.etl", 21, 0, 2, 0, 0, 19, 6, 8, 8, 18362, 3, 10000000, false, "AMSITraceSession"},
    {"SelfDescribingSingleEvent.etl", 23, 0, 4, 18, 0, 1, 3, 12, 8, 22000, 0, 10000000, true,
     "Relogger"},
    {"gcevents.etl", 71, 0, 2, 0, 0, 69, 5, 8, 8, 19045, 0, 10000000, false, "PerfViewSession"},
    {"lxcore_kernel.etl", 4, 0, 2, 0, 0, 2, 3, 6, 8, 19041, 0, 10000000, false, "lxcore_kernel"},
    {"primitive-types.etl", 7, 0, 2, 0, 0, 5, 2, 8, 8, 19043, 0, 10000000, false, "solar_system"},
    {"smallEtlFile.etl", 2, 1, 0, 0, 1, 0, 2, 4, 4, 10586, 0, 3117777, true,
     "PerfWatsonGCHeapETLSession688"},
    {"HTTP_Server.etl", 2042, 0, 1, 0, 0, 2041, 36, 4, 8, 7601, 0, 1818300, false,
     "DataCollector01"},
    {"manifest.etl", 51, 0, 2, 0, 5, 44, 5, 8, 8, 19045, 3, 10000000, false, "ManifestSession"},
    {"tracelogging.etl", 7, 0, 2, 0, 0, 5, 2, 8, 8, 19043, 0, 10000000, false, "SelfDescribing"},
    {"merged.etl", 69, 0, 2, 7, 0, 60, 4, 12, 8, 22000, 0, 10000000, true, "Relogger"},
    {"narrow.etl", 32, 4, 0, 0, 20, 0, 3, 4, 4, 10586, 0, 3117777, true, "NarrowSession"},
    {"windows7.etl", 91, 0, 1, 0, 0, 90, 4, 4, 8, 7601, 0, 1818300, false, "DataCollector"},
    {"kernel.etl", 60, 0, 7, 2, 0, 0, 4, 8, 8, 19045, 0, 10000000, false, "NT Kernel Logger"},
};

enum {
    HTTP_SERVER = 6, /* the last real one */
};

static bool is_ours(const struct sample *sample)
{
    return sample > &samples[HTTP_SERVER];
}

/* The path of a sample; skips the test when it is not there. */
static const char *path_of(const struct sample *sample)
{
    static char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s%s", is_ours(sample) ? data_folder() : shared_folder(),
             is_ours(sample) ? "" : "etl-samples/", sample->name);
    file = fopen(path, "rb");
    if (file == NULL && !is_ours(sample)) {
        print_message("%s is not there: skipped\n", path);
        skip();
    }
    assert_non_null(file);
    fclose(file);
    return path;
}

static void it_has_the_records_of_the_evidence_table(void **state)
{
    const struct sample *sample = *state;
    const char *path = path_of(sample);

    run_file(path);
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.damage_count, 0);
    assert_int_equal(collected.event_count, sample->total);
    assert_int_equal(collected.buffer_count, sample->buffers);
    assert_int_equal(collected.information.buffers, sample->buffers);
    assert_int_equal(collected.information.compressed, sample->compressed);
    assert_int_equal(collected.information.clock, 1);
    assert_int_equal(collected.information.clock_frequency, sample->frequency_hz);
    assert_false(collected.information.unfinished);
    for (size_t i = 1; i < collected.event_count; i++) {
        assert_true(collected.events[i].header.TimeStamp.QuadPart >=
                    collected.events[i - 1].header.TimeStamp.QuadPart);
    }
    run_files(&path, 1, 0, NULL, NULL);
    assert_int_equal(collected.event_count, sample->total);
    assert_int_equal(collected.per_type[ETWAS_ETL_SYSTEM32], sample->system32);
    assert_int_equal(collected.per_type[ETWAS_ETL_SYSTEM64], sample->system64);
    assert_int_equal(collected.per_type[ETWAS_ETL_FULL_HEADER64], sample->full64);
    assert_int_equal(collected.per_type[ETWAS_ETL_EVENT_HEADER32], sample->event32);
    assert_int_equal(collected.per_type[ETWAS_ETL_EVENT_HEADER64], sample->event64);
}

static void its_header_is_filled_in_by_OpenTrace(void **state)
{
    const struct sample *sample = *state;
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)path_of(sample)};
    etwas_trace_handle handle = OpenTraceA(&logfile);
    const TRACE_LOGFILE_HEADER *header = &logfile.LogfileHeader;

    assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(header->NumberOfProcessors, sample->processors);
    assert_int_equal(header->PointerSize, sample->pointer_bytes);
    assert_int_equal(header->ProviderVersion, sample->build);
    assert_int_equal(header->EventsLost, sample->events_lost);
    assert_int_equal(header->PerfFreq.QuadPart, sample->frequency_hz);
    assert_int_equal(header->BuffersWritten, sample->buffers);
    assert_int_equal(header->ReservedFlags, 1);
    assert_int_equal(header->StartBuffers, 1);
    assert_true(header->EndTime.QuadPart >= header->StartTime.QuadPart);
    assert_true(header->BootTime.QuadPart > 0);
    for (size_t i = 0; i <= strlen(sample->session); i++) {
        assert_int_equal(header->LoggerName[i], sample->session[i]);
    }
    assert_true(header->LogFileName[0] != 0);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

/* R99, R159: the header event comes first, at the start time. */
static void its_header_event_comes_first_R99(void **state)
{
    const struct sample *sample = *state;

    run_file(path_of(sample));
    assert_memory_equal(&collected.events[0].header.ProviderId, &EventTraceGuid,
                        sizeof(etwas_guid));
    assert_int_equal(collected.events[0].header.EventDescriptor.Opcode, 0);
    assert_true(collected.events[0].payload_bytes >= (sample->pointer_bytes == 4 ? 272u : 280u));
}

/* What Windows delivers of a file of Windows 7, as tests of others assert it. */
static void a_file_of_Windows_7_is_delivered_as_Windows_does(void **state)
{
    const struct sample *sample = &samples[HTTP_SERVER];
    uint32_t parse = 0;
    uint32_t fast_send = 0;

    (void)state;
    run_file(path_of(sample));
    assert_int_equal(collected.event_count, 1 + 2041);
    assert_int_equal(collected.events[1].header.TimeStamp.QuadPart, 129402940472257591);
    assert_int_equal(collected.events[1].header.Flags, 0x240);
    assert_int_equal(collected.events[1].context.ProcessorIndex, 3);
    for (size_t i = 1; i < collected.event_count; i++) {
        const struct collected_event *event = &collected.events[i];

        assert_int_equal(event->header.HeaderType, 0);
        assert_int_equal(event->header.Flags,
                         EVENT_HEADER_FLAG_64_BIT_HEADER | EVENT_HEADER_FLAG_PROCESSOR_INDEX |
                             (event->item_count > 0 ? EVENT_HEADER_FLAG_EXTENDED_INFO : 0));
        assert_in_range(event->context.ProcessorIndex, 0, 3);
        parse += event->header.EventDescriptor.Id == 2;
        fast_send += event->header.EventDescriptor.Id == 8;
    }
    assert_int_equal(parse, 291);
    assert_int_equal(fast_send, 289);
}

#define TESTS_OF(number)                                                                           \
    {"records of sample " #number, it_has_the_records_of_the_evidence_table, NULL, NULL,           \
     (void *)(uintptr_t)&samples[number]},                                                         \
        {"header of sample " #number, its_header_is_filled_in_by_OpenTrace, NULL, NULL,            \
         (void *)(uintptr_t)&samples[number]},                                                     \
    {                                                                                              \
        "header event of sample " #number, its_header_event_comes_first_R99, NULL, NULL,           \
            (void *)(uintptr_t)&samples[number]                                                    \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TESTS_OF(0),  TESTS_OF(1),
        TESTS_OF(2),  TESTS_OF(3),
        TESTS_OF(4),  TESTS_OF(5),
        TESTS_OF(6),  TESTS_OF(7),
        TESTS_OF(8),  TESTS_OF(9),
        TESTS_OF(10), TESTS_OF(11),
        TESTS_OF(12), cmocka_unit_test(a_file_of_Windows_7_is_delivered_as_Windows_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
