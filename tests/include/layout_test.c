/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Layouts of the public structures: sizes, alignments and offsets as ETW documents them, bit
 * fields by the bits they occupy, and constants that must not overlap.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <etwas/KernelTraceControl.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <etwas/windows_bool.h>
#include <etwas/wmistr.h>

struct measured {
    const char *name;
    size_t actual;
    size_t documented;
};

static void check_all(const struct measured *rows, size_t count)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].actual != rows[i].documented) {
            print_error("%s is %zu, documented %zu\n", rows[i].name, rows[i].actual,
                        rows[i].documented);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void every_structure_has_its_documented_size_and_alignment(void **state)
{
#define STRUCTURE(type, size, alignment)                                                           \
    {"sizeof(" #type ")", sizeof(type), size}, {"alignof(" #type ")", _Alignof(type), alignment},
#define FIELD(type, member, offset, size)
    static const struct measured rows[] = {
#include "layout_rows.h"
    };
#undef STRUCTURE
#undef FIELD

    (void)state;
    check_all(rows, sizeof(rows) / sizeof(rows[0]));
}

static void every_member_has_its_documented_offset_and_size(void **state)
{
#define STRUCTURE(type, size, alignment)
#define FIELD(type, member, offset, size)                                                          \
    {"offset of " #type "." #member, offsetof(type, member), offset},                              \
        {"size of " #type "." #member, sizeof(((type *)0)->member), size},
    static const struct measured rows[] = {
#include "layout_rows.h"
    };
#undef STRUCTURE
#undef FIELD

    (void)state;
    check_all(rows, sizeof(rows) / sizeof(rows[0]));
}

static void bit_fields_occupy_the_documented_bits(void **state)
{
    EVENT_TRACE_PROPERTIES_V2 properties;
    EVENT_HEADER_EXTENDED_DATA_ITEM item;
    uint16_t word;

    (void)state;
    memset(&properties, 0, sizeof(properties));
    properties.VersionNumber = 0xFF;
    assert_int_equal(properties.V2Control, 0xFF);
    properties.Wow = 1;
    assert_true(properties.V2Options == 0x1);
    properties.QpcDeltaTracking = 1;
    assert_true(properties.V2Options == 0x3);
    properties.LargeMdlPages = 1;
    assert_true(properties.V2Options == 0x7);
    properties.ExcludeKernelStack = 1;
    assert_true(properties.V2Options == 0xF);

    memset(&item, 0, sizeof(item));
    item.Linkage = 1;
    memcpy(&word, (const uint8_t *)&item + 4, sizeof(word));
    assert_int_equal(word, 0x0001);
    item.Linkage = 0;
    item.Reserved2 = 0x7FFF;
    memcpy(&word, (const uint8_t *)&item + 4, sizeof(word));
    assert_int_equal(word, 0xFFFE);
}

static void the_first_120_bytes_of_both_property_structures_agree(void **state)
{
    EVENT_TRACE_PROPERTIES_V2 second;
    EVENT_TRACE_PROPERTIES first;

    (void)state;
    for (size_t i = 0; i < sizeof(second); i++) {
        ((uint8_t *)&second)[i] = (uint8_t)(i + 1);
    }
    memcpy(&first, &second, sizeof(first));
    assert_int_equal(first.Wnode.Flags, second.Wnode.Flags);
    assert_int_equal(first.BufferSize, second.BufferSize);
    assert_int_equal(first.FlushThreshold, second.FlushThreshold);
    assert_ptr_equal(first.LoggerThreadId, second.LoggerThreadId);
    assert_int_equal(first.LoggerNameOffset, second.LoggerNameOffset);
}

static void the_version_of_a_header_is_the_roll_up_of_its_class(void **state)
{
    EVENT_INSTANCE_HEADER header;

    (void)state;
    memset(&header, 0, sizeof(header));
    header.Class.Type = 0x11;
    header.Class.Level = 0x22;
    header.Class.Version = 0x4433;
    assert_int_equal(header.Version, 0x44332211);
}

static void define_trace_mof_field_fills_the_field(void **state)
{
    static const char text[] = "text";
    MOF_FIELD fields[2];

    (void)state;
    memset(fields, 0xFF, sizeof(fields));
    DEFINE_TRACE_MOF_FIELD(&fields[1], text, sizeof(text), ETW_ASCIISTRING_TYPE_VALUE);
    assert_true(fields[1].DataPtr == (uint64_t)(uintptr_t)text);
    assert_int_equal(fields[1].Length, 5);
    assert_int_equal(fields[1].DataType, 103);
    assert_true(fields[0].DataPtr == UINT64_MAX);
}

/* Every value is one bit, and no two are the same. */
static void check_distinct_bits(const uint32_t *values, size_t count)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(values[i] != 0 && (values[i] & (values[i] - 1)) == 0);
        assert_int_equal(seen & values[i], 0);
        seen |= values[i];
    }
}

static void logging_modes_and_kernel_flags_are_bits_of_their_own(void **state)
{
    static const uint32_t modes[] = {
        EVENT_TRACE_FILE_MODE_SEQUENTIAL,
        EVENT_TRACE_FILE_MODE_CIRCULAR,
        EVENT_TRACE_FILE_MODE_APPEND,
        EVENT_TRACE_FILE_MODE_NEWFILE,
        EVENT_TRACE_USE_MS_FLUSH_TIMER,
        EVENT_TRACE_FILE_MODE_PREALLOCATE,
        EVENT_TRACE_NONSTOPPABLE_MODE,
        EVENT_TRACE_SECURE_MODE,
        EVENT_TRACE_REAL_TIME_MODE,
        EVENT_TRACE_DELAY_OPEN_FILE_MODE,
        EVENT_TRACE_BUFFERING_MODE,
        EVENT_TRACE_PRIVATE_LOGGER_MODE,
        EVENT_TRACE_ADD_HEADER_MODE,
        EVENT_TRACE_USE_KBYTES_FOR_SIZE,
        EVENT_TRACE_USE_GLOBAL_SEQUENCE,
        EVENT_TRACE_USE_LOCAL_SEQUENCE,
        EVENT_TRACE_RELOG_MODE,
        EVENT_TRACE_PRIVATE_IN_PROC,
        EVENT_TRACE_MODE_RESERVED,
        EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN,
        EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN,
        EVENT_TRACE_USE_PAGED_MEMORY,
        EVENT_TRACE_SYSTEM_LOGGER_MODE,
        EVENT_TRACE_COMPRESSED_MODE,
        EVENT_TRACE_INDEPENDENT_SESSION_MODE,
        EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
        EVENT_TRACE_ADDTO_TRIAGE_DUMP,
    };
    static const uint32_t flags[] = {
        EVENT_TRACE_FLAG_PROCESS,
        EVENT_TRACE_FLAG_THREAD,
        EVENT_TRACE_FLAG_IMAGE_LOAD,
        EVENT_TRACE_FLAG_PROCESS_COUNTERS,
        EVENT_TRACE_FLAG_CSWITCH,
        EVENT_TRACE_FLAG_DPC,
        EVENT_TRACE_FLAG_INTERRUPT,
        EVENT_TRACE_FLAG_SYSTEMCALL,
        EVENT_TRACE_FLAG_DISK_IO,
        EVENT_TRACE_FLAG_DISK_FILE_IO,
        EVENT_TRACE_FLAG_DISK_IO_INIT,
        EVENT_TRACE_FLAG_DISPATCHER,
        EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS,
        EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS,
        EVENT_TRACE_FLAG_VIRTUAL_ALLOC,
        EVENT_TRACE_FLAG_VAMAP,
        EVENT_TRACE_FLAG_NETWORK_TCPIP,
        EVENT_TRACE_FLAG_REGISTRY,
        EVENT_TRACE_FLAG_DBGPRINT,
        EVENT_TRACE_FLAG_JOB,
        EVENT_TRACE_FLAG_ALPC,
        EVENT_TRACE_FLAG_SPLIT_IO,
        EVENT_TRACE_FLAG_DEBUG_EVENTS,
        EVENT_TRACE_FLAG_DRIVER,
        EVENT_TRACE_FLAG_PROFILE,
        EVENT_TRACE_FLAG_FILE_IO,
        EVENT_TRACE_FLAG_FILE_IO_INIT,
        EVENT_TRACE_FLAG_NO_SYSCONFIG,
        EVENT_TRACE_FLAG_ENABLE_RESERVE,
        EVENT_TRACE_FLAG_FORWARD_WMI,
        EVENT_TRACE_FLAG_EXTENSION,
    };

    (void)state;
    check_distinct_bits(modes, sizeof(modes) / sizeof(modes[0]));
    assert_int_equal(EVENT_TRACE_FILE_MODE_NONE, 0);
    check_distinct_bits(flags, sizeof(flags) / sizeof(flags[0]));
}

static void the_flags_of_event_headers_are_those_of_wnode_headers(void **state)
{
    (void)state;
    assert_int_equal(TRACE_HEADER_FLAG_USE_TIMESTAMP, WNODE_FLAG_USE_TIMESTAMP);
    assert_int_equal(TRACE_HEADER_FLAG_TRACED_GUID, WNODE_FLAG_TRACED_GUID);
    assert_int_equal(TRACE_HEADER_FLAG_LOG_WNODE, WNODE_FLAG_LOG_WNODE);
    assert_int_equal(TRACE_HEADER_FLAG_USE_GUID_PTR, WNODE_FLAG_USE_GUID_PTR);
    assert_int_equal(TRACE_HEADER_FLAG_USE_MOF_PTR, WNODE_FLAG_USE_MOF_PTR);
    assert_int_equal(WNODE_FLAG_TRACED_GUID, 0x20000);
    assert_int_equal(WNODE_FLAG_VERSIONED_PROPERTIES, 0x800000);
}

static void names_of_system_sessions_come_in_both_widths(void **state)
{
    static const WCHAR wide[] = KERNEL_LOGGER_NAMEW;

    (void)state;
    assert_int_equal(sizeof(wide), 2 * sizeof(KERNEL_LOGGER_NAMEA));
    for (size_t i = 0; i < sizeof(KERNEL_LOGGER_NAMEA); i++) {
        assert_int_equal(wide[i], KERNEL_LOGGER_NAMEA[i]);
    }
    assert_string_equal(KERNEL_LOGGER_NAME, "NT Kernel Logger");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_structure_has_its_documented_size_and_alignment),
        cmocka_unit_test(every_member_has_its_documented_offset_and_size),
        cmocka_unit_test(bit_fields_occupy_the_documented_bits),
        cmocka_unit_test(the_first_120_bytes_of_both_property_structures_agree),
        cmocka_unit_test(the_version_of_a_header_is_the_roll_up_of_its_class),
        cmocka_unit_test(define_trace_mof_field_fills_the_field),
        cmocka_unit_test(logging_modes_and_kernel_flags_are_bits_of_their_own),
        cmocka_unit_test(the_flags_of_event_headers_are_those_of_wnode_headers),
        cmocka_unit_test(names_of_system_sessions_come_in_both_widths),
    };
    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
