/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Classes that are built in: their sizes, versions and widths of pointers, and some of their text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "builtin_classes.h"
#include "decode/builtin.h"
#include "etl/kernel_class.h"
#include "etl/own_layouts.h"
#include "system/stream/kernel_record.h"

/* ---- every one of them ----------------------------------------------------------------------- */

static void visit_layout(const struct etwas_builtin_class *class,
                         const struct etwas_builtin_layout *layout)
{
    static const uint8_t zeroes[8192];
    char *end = (char *)(uintptr_t)layout->types;

    for (;;) {
        long type = strtol(end, &end, 10);

        assert_true(type >= 0 && type <= 255 && *end == ' ');
        for (unsigned i = 0; i < 4; i++) {
            uint8_t version = i < 2 ? layout->since : layout->until;
            uint8_t pointer = i % 2 == 0 ? 8 : 4;
            etwas_decoder *decoder;
            const char *line;

            assert_int_equal(etwas_decoder_open(&decoder), ERROR_SUCCESS);
            line = shown_classic_event(decoder, &class->guid, (uint8_t)type, version, pointer,
                                       zeroes, sizeof zeroes);
            assert_true(strncmp(line, class->provider, strlen(class->provider)) == 0);
            assert_true(
                strncmp(line + strlen(class->provider) + 1, class->name, strlen(class->name)) == 0);
            assert_null(strchr(line, '~'));
            assert_null(strstr(line, "…"));
            etwas_decoder_close(decoder);
        }
        end = strchr(end, ',');
        if (end == NULL || end[2] == 0) {
            return;
        }
        end++;
    }
}

static void every_layout_makes_sense(void **state)
{
    const struct etwas_builtin_class *class;

    (void)state;
    for (size_t i = 0; (class = etwas_builtin_class_at(i)) != NULL; i++) {
        for (size_t j = 0; j < class->count; j++) {
            visit_layout(class, &class->layouts[j]);
        }
    }
}

/* ---- what the system logger writes ----------------------------------------------------------- */

/* A payload of a layout, as the writer's types make it; its texts are empty. */
static struct written {
    const etwas_guid *class;
    uint8_t version;
    uint8_t types[8];
    unsigned type_count;
    uint8_t payload[8192];
    uint16_t bytes;
} written;

static void written_begin(uint8_t header_type, uint8_t group, uint8_t version)
{
    written.class = header_type == ETWAS_ETL_FULL_HEADER64 ? &etwas_etl_debug_id_class
                                                           : etwas_class_of_hook(group, 0);
    written.version = version;
}

static void written_field(const char *type, size_t bytes)
{
    const etwas_field_sid sid = {.sid_at = 16, .revision = 1, .count = 2};

    if (strcmp(type, "sid") == 0) {
        memcpy(written.payload + written.bytes, &sid, sizeof sid);
    }
    written.bytes = (uint16_t)(written.bytes + bytes);
}

static void written_end(void)
{
    for (unsigned i = 0; i < written.type_count; i++) {
        etwas_decoder *decoder;
        const char *line;

        assert_int_equal(etwas_decoder_open(&decoder), ERROR_SUCCESS);
        line = shown_classic_event(decoder, written.class, written.types[i], written.version, 8,
                                   written.payload, written.bytes);
        assert_null(strchr(line, '~'));
        assert_null(strstr(line, "…"));
        assert_null(strstr(line, " +"));
        etwas_decoder_close(decoder);
    }
    written = (struct written){0};
}

#define WRITTEN_LAYOUT(NAME, header, group, since, version)                                        \
    written_end();                                                                                 \
    written_begin(ETWAS_ETL_##header, group, version);
#define WRITTEN_TYPE(NAME, number, name) written.types[written.type_count++] = number;
#define WRITTEN_FIELD(type, name) written_field(#type, sizeof(etwas_field_##type));
#define WRITTEN_MAPPED(type, map, name) WRITTEN_FIELD(type, name)
#define WRITTEN_WIDE(count, name) written_field("wchar", (count) * sizeof(uint16_t));
#define WRITTEN_STRING(type, name) written_field(#type, *#type == 'w' ? sizeof(uint16_t) : 1);
#define WRITTEN_REST(type, name)

#define OWN_WRITTEN_RECORD(NAME, type, number, name)                                               \
    written_end();                                                                                 \
    written.class = &own;                                                                          \
    written.version = number;                                                                      \
    WRITTEN_TYPE(NAME, type, name)                                                                 \
    WRITTEN_FIELD(u32, Version)
#define OWN_WRITTEN_FIELD(type, member, name) WRITTEN_FIELD(type, name)
#define OWN_WRITTEN_CHARS(count, member, name) written_field("char", count);
#define OWN_WRITTEN_STRING(type, name) WRITTEN_STRING(type, name)
#define OWN_WRITTEN_REST(type, name)
#define OWN_WRITTEN(NAME) ETWAS_OWN_##NAME(OWN_WRITTEN)

static void the_writers_fields_are_all_that_the_decoder_knows(void **state)
{
    (void)state;
    ETWAS_EVERY_LAYOUT(WRITTEN)
    ETWAS_OWN_LAYOUTS(OWN_WRITTEN)
    written_end();
}

/* ---- sizes, versions, widths ----------------------------------------------------------------- */

/* The sizes that the format's description gives; of strings only their 0. */
static void payloads_have_the_sizes_that_are_known(void **state)
{
    static const uint8_t zeroes[4096];
    static const struct {
        const etwas_guid *class;
        uint8_t type;
        uint8_t version;
        uint16_t wide; /* bytes with pointers of 8 */
        uint8_t pointers;
    } sizes[] = {
        {&process, 1, 4, 47, 2},
        {&process, 1, 3, 39, 2},
        {&process, 39, 5, 55, 2},
        {&process, 32, 2, 104, 11},
        {&thread, 1, 3, 72, 7},
        {&thread, 3, 2, 68, 7},
        {&thread, 1, 1, 57, 6},
        {&thread, 36, 2, 24, 0},
        {&thread, 50, 2, 8, 0},
        {&image, 10, 2, 58, 3},
        {&image, 3, 3, 58, 3},
        {&disk_io, 10, 3, 52, 2},
        {&disk_io, 11, 2, 48, 2},
        {&disk_io, 12, 3, 12, 1},
        {&disk_io, 14, 3, 28, 1},
        {&disk_io, 34, 2, 36, 3},
        {&file_io, 64, 3, 34, 2},
        {&file_io, 67, 2, 48, 4},
        {&file_io, 67, 3, 48, 3},
        {&file_io, 65, 2, 32, 4},
        {&file_io, 69, 2, 44, 5},
        {&file_io, 76, 2, 20, 2},
        {&page_fault, 10, 2, 16, 2},
        {&page_fault, 32, 2, 40, 2},
        {&page_fault, 98, 2, 24, 2},
        {&page_fault, 105, 2, 16, 1},
        {&perf_info, 46, 2, 16, 1},
        {&perf_info, 51, 2, 8, 1},
        {&perf_info, 67, 2, 20, 1},
        {&perf_info, 68, 2, 16, 1},
        {&perf_info, 72, 3, 14, 0},
        {&perf_info, 72, 2, 12, 0},
        {&tcp_ip, 10, 2, 40, 1},
        {&tcp_ip, 26, 2, 64, 1},
        {&tcp_ip, 11, 2, 32, 1},
        {&tcp_ip, 27, 2, 56, 1},
        {&tcp_ip, 12, 2, 48, 1},
        {&tcp_ip, 28, 2, 72, 1},
        {&tcp_ip, 10, 1, 20, 0},
        {&udp_ip, 10, 2, 32, 1},
        {&udp_ip, 26, 2, 56, 1},
        {&object, 34, 2, 22, 1},
        {&stack_walk, 37, 2, 24, 1},
        {&system_config, 10, 2, 808, 1},
        {&system_config, 11, 2, 568, 0},
        {&system_config, 12, 2, 112, 0},
        {&system_config, 14, 2, 2584, 0},
        {&system_config, 18, 2, 64 + 2 * 2 + 2 * 1, 0},
        {&system_config, 10, 0, 808, 1},
        {&system_config, 10, 3, 808 + 20, 2},
        {&system_config, 12, 1, 108, 0},
        {&system_config, 13, 0, 584, 0},
        {&system_config, 15, 0, 652, 0},
        {&system_config, 21, 3, 20 + 2, 0},
        {&system_config, 22, 4, 24 + 5 * 2, 0},
        {&system_config, 22, 5, 32 + 5 * 2, 0},
        {&event_trace, 80, 2, 48, 0},
        {&system_config, 25, 2, 4 * 2, 0},
        {&event_trace, 0, 2, 284, 2},
        {&event_trace, 5, 2, 36, 0},
        {&own, 0, 1, 48, 0},
        {&own, 1, 1, 48, 0},
        {&own, 2, 1, 56, 0},
        {&own, 6, 1, 56, 0},
        {&own, 7, 1, 32, 0},
        {&own, 3, 1, 96, 0},
        {&own, 9, 1, 24 + 2, 0},
    };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (uint8_t pointer = 4; pointer <= 8; pointer += 4) {
            size_t bytes = sizes[i].wide - (pointer == 4 ? 4u * sizes[i].pointers : 0);
            const char *line = shown_classic_event(*state, sizes[i].class, sizes[i].type,
                                                   sizes[i].version, pointer, zeroes, bytes);

            if (line[0] == '(' || strstr(line, "…") != NULL || strstr(line, " +") != NULL) {
                fail_msg("%zu bytes: %s", bytes, line);
            }
        }
    }
}

/* ---- some of them ---------------------------------------------------------------------------- */

static void a_process_has_an_owner_or_none(void **state)
{
    assert_string_equal(
        SHOWN(process, 1, 4,
              "\x10\0\0\0\0\0\0\0"
              "\x40\1\0\0"
              "\x04\0\0\0"
              "\1\0\0\0"
              "\3\1\0\0"
              "\0\x20\0\0\0\0\0\0"
              "\2\0\0\x30"
              "\1\2\3\4\5\6\7\x8"
              "\0\0\0\0\0\0\0\0"
              "\1\1\0\0\0\0\0\5\x12\0\0\0"
              "sh\0"
              "s\0h\0\0\0"
              "\0\0"
              "\0\0"),
        "MSNT_SystemTrace/Process/Start UniqueProcessKey=0x10 ProcessId=320 ParentId=4 "
        "SessionId=1 ExitStatus=259 DirectoryTableBase=0x2000 "
        "Flags=Wow64|CommandLineFromProc|CommandLineCut UserSID=S-1-5-18 "
        "ImageFileName=\"sh\" CommandLine=\"sh\" PackageFullName=\"\" ApplicationId=\"\"");
    assert_string_equal(
        SHOWN(process, 2, 3,
              "\x10\0\0\0\0\0\0\0"
              "\x40\1\0\0"
              "\x04\0\0\0"
              "\1\0\0\0"
              "\0\0\0\0"
              "\0\x20\0\0\0\0\0\0"
              "\0\0\0\0"
              "sh\0"
              "\0\0"),
        "MSNT_SystemTrace/Process/End UniqueProcessKey=0x10 ProcessId=320 ParentId=4 SessionId=1 "
        "ExitStatus=0 DirectoryTableBase=0x2000 UserSID= ImageFileName=\"sh\" CommandLine=\"\"");
}

/* Systems differ in the end of version 3. */
static void a_thread_may_have_a_name(void **state)
{
    uint8_t payload[76] = {[0] = 1, [4] = 2, [72] = 'a'};
    etwas_decoder *decoder;

    assert_non_null(strstr(shown_classic_event(*state, &thread, 1, 3, 8, payload, 76),
                           " ThreadFlags=0x0 ThreadName=\"a\""));
    assert_int_equal(etwas_decoder_open(&decoder), ERROR_SUCCESS);
    assert_null(strstr(shown_classic_event(decoder, &thread, 1, 3, 8, payload, 72), "ThreadName"));
    etwas_decoder_close(decoder);
}

static void ends_of_a_connection_are_addresses_and_ports(void **state)
{
    assert_string_equal(
        SHOWN(tcp_ip, 11, 2,
              "\7\0\0\0"
              "\x64\0\0\0"
              "\x7f\0\0\1"
              "\x0a\0\0\2"
              "\x01\xbb"
              "\x13\x88"
              "\0\0\0\0"
              "\x10\0\0\0\0\0\0\0"),
        "MSNT_SystemTrace/TcpIp/RecvIPV4 PID=7 size=100 daddr=127.0.0.1 saddr=10.0.0.2 dport=443 "
        "sport=5000 seqnum=0 connid=0x10");
    assert_string_equal(
        SHOWN(udp_ip, 26, 2,
              "\7\0\0\0"
              "\x64\0\0\0"
              "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1"
              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"
              "\x01\xbb"
              "\x13\x88"
              "\0\0\0\0"
              "\x10\0\0\0\0\0\0\0"),
        "MSNT_SystemTrace/UdpIp/SendIPV6 PID=7 size=100 daddr=fe80::1 saddr=::1 dport=443 "
        "sport=5000 seqnum=0 connid=0x10");
}

static void a_stack_has_as_many_frames_as_there_are(void **state)
{
#define STACK_HEAD                                                                                 \
    "\1\0\0\0\0\0\0\0"                                                                             \
    "\2\0\0\0"                                                                                     \
    "\3\0\0\0"
    assert_string_equal(SHOWN(stack_walk, 32, 2, STACK_HEAD),
                        "MSNT_SystemTrace/StackWalk/Stack EventTimeStamp=1 StackProcess=2 "
                        "StackThread=3 Stack=[]");
    assert_string_equal(SHOWN(stack_walk, 32, 2,
                              STACK_HEAD "\4\0\0\0\0\0\0\0"
                                         "\5\0\0\0\0\0\0\0"),
                        "MSNT_SystemTrace/StackWalk/Stack EventTimeStamp=1 StackProcess=2 "
                        "StackThread=3 Stack=[0x4,0x5]");
    assert_string_equal(SHOWN(stack_walk, 32, 2,
                              STACK_HEAD "\4\0\0\0\0\0\0\0"
                                         "\5\0\0"),
                        "MSNT_SystemTrace/StackWalk/Stack EventTimeStamp=1 StackProcess=2 "
                        "StackThread=3 Stack=[0x4] +3");
    assert_string_equal(shown_classic_event(*state, &stack_walk, 32, 2, 4,
                                            STACK_HEAD "\4\0\0\0"
                                                       "\5\0\0\0",
                                            24),
                        "MSNT_SystemTrace/StackWalk/Stack EventTimeStamp=1 StackProcess=2 "
                        "StackThread=3 Stack=[0x4,0x5]");
}

static void numbers_that_have_names_are_shown_by_them(void **state)
{
    assert_string_equal(SHOWN(thread, 36, 2,
                              "\1\0\0\0"
                              "\2\0\0\0"
                              "\x08\x09\0\0\x0f\1\5\2"
                              "\3\0\0\0"
                              "\0\0\0\0"),
                        "MSNT_SystemTrace/Thread/CSwitch NewThreadId=1 OldThreadId=2 "
                        "NewThreadPriority=8 OldThreadPriority=9 PreviousCState=0 SpareByte=0 "
                        "OldThreadWaitReason=WrQueue OldThreadWaitMode=UserMode "
                        "OldThreadState=Waiting OldThreadWaitIdealProcessor=2 "
                        "NewThreadWaitTime=3 Reserved=0");
    assert_string_equal(SHOWN(thread, 50, 2, "\1\0\0\0\2\xff\x09\0"),
                        "MSNT_SystemTrace/Thread/ReadyThread TThreadId=1 AdjustReason=Boost "
                        "AdjustIncrement=-1 Flag=ReadiedFromDpc|DirectSwitchAttempt Reserved=0");
    assert_string_equal(SHOWN(page_fault, 98, 2,
                              "\0\x10\0\0\0\0\0\0"
                              "\0\x20\0\0\0\0\0\0"
                              "\7\0\0\0"
                              "\0\x30\1\0"),
                        "MSNT_SystemTrace/PageFault/VirtualAlloc BaseAddress=0x1000 "
                        "RegionSize=8192 ProcessId=7 Flags=Commit|Reserve|0x10000");
}

static void a_line_of_the_log_is_its_text(void **state)
{
    assert_string_equal(
        SHOWN(debug_print, 32, 2,
              "\x65\0\0\0"
              "\3\0\0\0"
              "text\0"),
        "MSNT_SystemTrace/DbgPrint/DbgPrint Component=101 Level=3 Message=\"text\"");
}

static void a_job_may_have_a_path(void **state)
{
    assert_string_equal(SHOWN(job, 35, 2,
                              "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
                              "\1\0\0\0"
                              "\7\0\0\0"
                              "\0\0\0\0"
                              "/\0a\0\0\0"),
                        "MSNT_SystemTrace/Job/AssignProcess "
                        "JobGuid={00000001-0000-0000-0200-000000000000} JobId=1 ProcessId=7 "
                        "Status=0x0(STATUS_SUCCESS) Path=\"/a\"");
    assert_string_equal(SHOWN(job, 32, 2,
                              "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
                              "\1\0\0\0"
                              "\0\0\0\0"
                              "\0\0\0\0"),
                        "MSNT_SystemTrace/Job/Create "
                        "JobGuid={00000001-0000-0000-0200-000000000000} JobId=1 Flags=0x0 "
                        "Status=0x0(STATUS_SUCCESS)");
}

/* As Windows has them: the names of a build and of a debug file are ANSI. */
static void strings_are_of_the_kind_that_windows_writes(void **state)
{
    assert_string_equal(SHOWN(event_trace, 66, 2, "12345.6.own.build.string\0"),
                        "MSNT_SystemTrace/EventTrace/BuildInfo "
                        "BuildString=\"12345.6.own.build.string\"");
    assert_string_equal(SHOWN(event_trace, 64, 2,
                              "\1\0\0\0\2\0\3\0\4\5\6\7\x8\x9\xa\xb"
                              "\1\0\0\0own.pdb\0"),
                        "MSNT_SystemTrace/EventTrace/DbgIdRSDS "
                        "Guid={00000001-0002-0003-0405-060708090a0b} Age=1 PdbName=\"own.pdb\"");
    assert_non_null(strstr(SHOWN(system_config, 18, 2,
                                 "\0\0\0\0\0\0\0\0"
                                 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                 "D\0:\0\0\0U\0D\0F\0\0\0"
                                 "drive\0maker\0"),
                           "DriveLetter=\"D:\" FileSystemName=\"UDF\" DeviceName=\"drive\" "
                           "ManufacturerName=\"maker\""));
}

/* ---- none of them ---------------------------------------------------------------------------- */

static void what_is_not_built_in_is_not_known(void **state)
{
    EVENT_RECORD modern = classic_event(&process, 1, 4, 8, "", 0);

    assert_string_equal(SHOWN(process, 120, 4, ""), "(none)");
    assert_string_equal(SHOWN(event_trace, 0x51, 2, ""), "(none)");
    modern.EventHeader.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER;
    modern.EventHeader.EventDescriptor.Id = 1;
    assert_string_equal(shown(*state, &modern), "(none)");
}

static void the_kernels_provider_has_its_control_guid(void **state)
{
    EVENT_RECORD record = classic_event(&process, 1, 4, 8, "", 0);
    const etwas_schema *schema;

    assert_int_equal(etwas_decoder_schema(*state, &record, &schema), ERROR_SUCCESS);
    assert_int_equal(schema->info->DecodingSource, DecodingSourceWbem);
    assert_int_equal(schema->info->ProviderGuid.Data1, 0x9e814aad);
    assert_memory_equal(&schema->info->EventGuid, &process, sizeof process);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_decoder, close_decoder)
    const struct CMUnitTest tests[] = {
        TEST(every_layout_makes_sense),
        TEST(the_writers_fields_are_all_that_the_decoder_knows),
        TEST(payloads_have_the_sizes_that_are_known),
        TEST(a_process_has_an_owner_or_none),
        TEST(a_thread_may_have_a_name),
        TEST(ends_of_a_connection_are_addresses_and_ports),
        TEST(numbers_that_have_names_are_shown_by_them),
        TEST(a_stack_has_as_many_frames_as_there_are),
        TEST(a_line_of_the_log_is_its_text),
        TEST(a_job_may_have_a_path),
        TEST(strings_are_of_the_kind_that_windows_writes),
        TEST(what_is_not_built_in_is_not_known),
        TEST(the_kernels_provider_has_its_control_guid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
