/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Every kind of record, as EVENT_RECORD and as EVENT_TRACE. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "builder.h"
#include "collect.h"
#include "etl/own_record.h"

static struct builder builder;

static int begin(void **state)
{
    struct builder_options options = builder_defaults();

    (void)state;
    builder_begin(&builder, &options);
    builder_buffer(&builder, 2);
    return 0;
}

static int end(void **state)
{
    (void)state;
    builder_free(&builder);
    return 0;
}

/* Ends the file and reads it; the events after the header event begin at [1]. */
static void read_back(uint32_t mode)
{
    const char *path;

    builder_end(&builder);
    path = put_file(0, builder.bytes, builder.size);
    run_files(&path, 1, mode, NULL, NULL);
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.damage_count, 0);
}

static void put_system(uint8_t header_type, uint8_t group, uint8_t type, uint16_t version,
                       const void *rest, size_t rest_bytes)
{
    const struct etwas_etl_system_header header = {
        .version = version,
        .header_type = header_type,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .size = (uint16_t)(sizeof header + rest_bytes),
        .type = type,
        .group = group,
        .thread_id = 41,
        .process_id = 42,
        .time_stamp = 2000,
        .kernel_time = 51,
        .user_time = 52,
    };

    builder_record(&builder, &header, sizeof header, rest, rest_bytes);
}

static void put_perfinfo(uint8_t header_type, uint8_t group, uint8_t type, uint16_t version,
                         const void *rest, size_t rest_bytes)
{
    const struct etwas_etl_perfinfo_header header = {
        .version = version,
        .header_type = header_type,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .size = (uint16_t)(sizeof header + rest_bytes),
        .type = type,
        .group = group,
        .time_stamp = 2000,
    };

    builder_record(&builder, &header, sizeof header, rest, rest_bytes);
}

static const EVENT_HEADER *header_of(size_t number)
{
    assert_true(number < collected.event_count);
    return &collected.events[number].header;
}

static void assert_guid(const etwas_guid *guid, uint32_t data1, uint16_t data2)
{
    assert_int_equal(guid->Data1, data1);
    assert_int_equal(guid->Data2, data2);
}

static void a_classic_event_is_a_record_with_the_classic_flag(void **state)
{
    const EVENT_HEADER *header;

    (void)state;
    builder_number(&builder, 2000, 77);
    read_back(PROCESS_TRACE_MODE_EVENT_RECORD);
    header = header_of(1);
    assert_int_equal(header->Flags, EVENT_HEADER_FLAG_CLASSIC_HEADER |
                                        EVENT_HEADER_FLAG_64_BIT_HEADER |
                                        EVENT_HEADER_FLAG_PROCESSOR_INDEX);
    assert_int_equal(header->Size, 52);
    assert_int_equal(header->HeaderType, 0);
    assert_memory_equal(&header->ProviderId, &builder_class, sizeof builder_class);
    assert_int_equal(header->EventDescriptor.Id, 0);
    assert_int_equal(header->EventDescriptor.Opcode, 1);
    assert_int_equal(header->EventDescriptor.Level, 4);
    assert_int_equal(header->EventDescriptor.Version, 3);
    assert_int_equal(header->ThreadId, 21);
    assert_int_equal(header->ProcessId, 22);
    assert_int_equal(header->KernelTime, 31);
    assert_int_equal(header->UserTime, 32);
    assert_int_equal(header->TimeStamp.QuadPart, BUILDER_START + 1000);
    assert_int_equal(collected.events[1].payload_bytes, 4);
    assert_int_equal(collected.events[1].number, 77);
    assert_int_equal(collected.events[1].item_count, 0);
    assert_int_equal(collected.events[1].context.ProcessorIndex, 2);
    assert_int_equal(collected.events[1].context.LoggerId, 7);
    assert_ptr_equal(collected.events[1].user_context, &collected);
}

static void put_instance(uint8_t header_type)
{
    static const char payload[] = "0123456789";
    const struct etwas_etl_instance_header header = {
        .full =
            {
                .size = (uint16_t)(sizeof header + sizeof payload),
                .header_type = header_type,
                .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                .type = 2,
                .level = 5,
                .version = 0x0102,
                .thread_id = 61,
                .process_id = 62,
                .time_stamp = 2000,
                .guid = builder_class,
            },
        .instance_id = 71,
        .parent_instance_id = 72,
        .parent_guid = {.Data1 = 0xAABBCCDD},
    };

    builder_record(&builder, &header, sizeof header, payload, sizeof payload);
}

static void an_instance_event_has_its_item_R118(void **state)
{
    EVENT_EXTENDED_ITEM_INSTANCE item;
    const struct collected_event *event;

    (void)state;
    put_instance(ETWAS_ETL_INSTANCE64);
    read_back(PROCESS_TRACE_MODE_EVENT_RECORD);
    event = &collected.events[1];
    assert_int_equal(event->header.Flags & EVENT_HEADER_FLAG_EXTENDED_INFO, 1);
    assert_int_equal(event->header.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER,
                     EVENT_HEADER_FLAG_CLASSIC_HEADER);
    assert_int_equal(event->item_count, 1);
    assert_int_equal(event->items[0].ExtType, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO);
    assert_int_equal(event->items[0].DataSize, 24);
    assert_int_equal(event->items[0].Linkage, 0);
    memcpy(&item, event->item_data[0], sizeof item);
    assert_int_equal(item.InstanceId, 71);
    assert_int_equal(item.ParentInstanceId, 72);
    assert_int_equal(item.ParentGuid.Data1, 0xAABBCCDD);
    assert_int_equal(event->payload_bytes, 11);
    assert_string_equal(event->payload, "0123456789");
}

static void an_instance_event_has_its_ids_in_the_old_form_R118(void **state)
{
    const EVENT_TRACE *event;

    (void)state;
    put_instance(ETWAS_ETL_INSTANCE32);
    builder_number(&builder, 2001, 5);
    read_back(0);
    event = &collected.events[1].classic;
    assert_int_equal(event->InstanceId, 71);
    assert_int_equal(event->ParentInstanceId, 72);
    assert_int_equal(event->ParentGuid.Data1, 0xAABBCCDD);
    assert_int_equal(event->Header.Class.Type, 2);
    assert_int_equal(event->Header.Class.Level, 5);
    assert_int_equal(event->Header.Class.Version, 0x0102);
    assert_int_equal(event->Header.HeaderType, ETWAS_ETL_INSTANCE32);
    assert_int_equal(event->Header.MarkerFlags, ETWAS_ETL_MARKER_FLAGS);
    assert_int_equal(event->Header.ThreadId, 61);
    assert_int_equal(event->Header.ProcessId, 62);
    assert_memory_equal(&event->Header.Guid, &builder_class, sizeof builder_class);
    assert_int_equal(event->MofLength, 11);
    assert_int_equal(event->BufferContext.ProcessorIndex, 2);
    /* TraceEvent's events have none of the three. */
    event = &collected.events[2].classic;
    assert_int_equal(event->InstanceId, 0);
    assert_int_equal(event->ParentInstanceId, 0);
    assert_int_equal(event->ParentGuid.Data1, 0);
    assert_int_equal(event->Header.TimeStamp.QuadPart, BUILDER_START + 1001);
}

static void an_instance_in_the_56_byte_form_is_skipped_and_named(void **state)
{
    uint8_t record[56] = {56, 0, ETWAS_ETL_INSTANCE64, ETWAS_ETL_MARKER_FLAGS};

    (void)state;
    builder_raw(&builder, record, sizeof record);
    builder_number(&builder, 2000, 8);
    builder_end(&builder);
    run_file(put_file(0, builder.bytes, builder.size));
    assert_int_equal(collected.event_count, 2);
    assert_int_equal(collected.events[1].number, 8);
    assert_int_equal(damages_of(ETWAS_DAMAGE_RECORD), 1);
    assert_int_equal(collected.damages[0].file_offset, 4096 + 72);
    assert_int_equal(collected.damages[0].bytes_skipped, 56);
}

static void a_kernel_record_gets_the_class_of_its_group(void **state)
{
    (void)state;
    put_system(ETWAS_ETL_SYSTEM64, 0x05, 0x24, 2, "abcd", 4);     /* thread, CSwitch */
    put_system(ETWAS_ETL_SYSTEM32, 0x03, 0x01, 4, NULL, 0);       /* process start */
    put_system(ETWAS_ETL_SYSTEM64, 0x03, 0x0A, 3, NULL, 0);       /* image load */
    put_system(ETWAS_ETL_SYSTEM64, 0x14, 0x02, 3, NULL, 0);       /* image unload */
    put_system(ETWAS_ETL_SYSTEM64, 0x1E, 0x01, 3, NULL, 0);       /* the last group known */
    put_system(ETWAS_ETL_SYSTEM64, 0x77, 0x01, 3, NULL, 0);       /* no such group */
    put_perfinfo(ETWAS_ETL_PERFINFO64, 0x0F, 0x2E, 2, "abcd", 4); /* profile */
    put_perfinfo(ETWAS_ETL_PERFINFO32, 0x18, 0x20, 2, NULL, 0);   /* stack */
    read_back(PROCESS_TRACE_MODE_EVENT_RECORD);
    assert_guid(&header_of(1)->ProviderId, 0x3d6fa8d1, 0xfe05);
    assert_guid(&header_of(2)->ProviderId, 0x3d6fa8d0, 0xfe05);
    assert_guid(&header_of(3)->ProviderId, 0x2cb15d1d, 0x5fc1);
    assert_guid(&header_of(4)->ProviderId, 0x2cb15d1d, 0x5fc1);
    assert_guid(&header_of(5)->ProviderId, 0x2ce9a149, 0xeffe);
    assert_guid(&header_of(6)->ProviderId, 0, 0);
    assert_guid(&header_of(7)->ProviderId, 0xce1dbfb4, 0x137e);
    assert_guid(&header_of(8)->ProviderId, 0xdef2fe46, 0x7bd6);

    assert_int_equal(header_of(1)->EventDescriptor.Opcode, 0x24);
    assert_int_equal(header_of(1)->EventDescriptor.Version, 2);
    assert_int_equal(header_of(1)->ThreadId, 41);
    assert_int_equal(header_of(1)->ProcessId, 42);
    assert_int_equal(header_of(1)->KernelTime, 51);
    assert_int_equal(header_of(1)->UserTime, 52);
    assert_int_equal(collected.events[1].payload_bytes, 4);
    assert_true((header_of(1)->Flags & EVENT_HEADER_FLAG_64_BIT_HEADER) != 0);
    assert_true((header_of(1)->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0);
    assert_true((header_of(2)->Flags & EVENT_HEADER_FLAG_32_BIT_HEADER) != 0);
    assert_true((header_of(2)->Flags & EVENT_HEADER_FLAG_64_BIT_HEADER) == 0);
    /* A PERFINFO record does not name the thread that logged it. */
    assert_int_equal(header_of(7)->ThreadId, UINT32_MAX);
    assert_int_equal(header_of(7)->ProcessId, UINT32_MAX);
    assert_int_equal(header_of(7)->KernelTime, 0);
    assert_int_equal(header_of(7)->TimeStamp.QuadPart, BUILDER_START + 1000);
    assert_true((header_of(8)->Flags & EVENT_HEADER_FLAG_32_BIT_HEADER) != 0);
}

static void a_compact_record_has_no_processor_times(void **state)
{
    const struct etwas_etl_compact_header header = {
        .version = 2,
        .header_type = ETWAS_ETL_COMPACT64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .size = (uint16_t)(sizeof header + 6),
        .type = 0x32,
        .group = 5,
        .thread_id = 1,
        .process_id = 2,
        .time_stamp = 2000,
    };

    (void)state;
    builder_record(&builder, &header, sizeof header, "abcdef", 6);
    read_back(PROCESS_TRACE_MODE_EVENT_RECORD);
    assert_guid(&header_of(1)->ProviderId, 0x3d6fa8d1, 0xfe05);
    assert_int_equal(header_of(1)->KernelTime, 0);
    assert_int_equal(header_of(1)->UserTime, 0);
    assert_int_equal(header_of(1)->ProcessId, 2);
    assert_int_equal(collected.events[1].payload_bytes, 6);
    assert_memory_equal(collected.events[1].payload, "abcdef", 6);
}

static void counters_before_the_payload_become_items(void **state)
{
    const uint64_t rest[4] = {0x1111, 0x2222, 0x3333, 0x4444};
    uint64_t value;
    const struct collected_event *event;

    (void)state;
    put_perfinfo(ETWAS_ETL_PERFINFO64, 0x0F, 0x2E, 0x8202, rest, sizeof rest);
    put_system(ETWAS_ETL_SYSTEM64, 0x0F, 0x2E, 0x0102, rest, sizeof rest);
    read_back(PROCESS_TRACE_MODE_EVENT_RECORD);
    event = &collected.events[1];
    assert_int_equal(event->header.EventDescriptor.Version, 2);
    assert_int_equal(event->item_count, 2);
    assert_int_equal(event->items[0].ExtType, EVENT_HEADER_EXT_TYPE_PEBS_INDEX);
    assert_int_equal(event->items[0].Linkage, 1);
    memcpy(&value, event->item_data[0], sizeof value);
    assert_int_equal(value, 0x1111);
    assert_int_equal(event->items[1].ExtType, EVENT_HEADER_EXT_TYPE_PMC_COUNTERS);
    assert_int_equal(event->items[1].DataSize, 16);
    memcpy(&value, event->item_data[1] + 8, sizeof value);
    assert_int_equal(value, 0x3333);
    assert_int_equal(event->payload_bytes, 8);
    assert_int_equal(event->number, 0x4444);
    event = &collected.events[2];
    assert_int_equal(event->item_count, 1);
    assert_int_equal(event->payload_bytes, 24);
}

/* An EVENT_HEADER record: `items` lie between header and payload. */
static void put_event(uint16_t flags, const void *items, size_t item_bytes, const char *payload)
{
    uint8_t rest[1024];
    const struct etwas_etl_event_header header = {
        .size = (uint16_t)(sizeof header + item_bytes + strlen(payload)),
        .header_type = ETWAS_ETL_EVENT_HEADER64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .flags = flags,
        .event_property = 8,
        .thread_id = 81,
        .process_id = 82,
        .time_stamp = 2000,
        .provider_id = builder_class,
        .id = 0x1234,
        .version = 5,
        .channel = 11,
        .level = 4,
        .opcode = 9,
        .task = 0x4321,
        .keyword = 0x8000000000000001,
        .kernel_time = 1,
        .user_time = 2,
        .activity_id = {.Data1 = 0x55},
    };

    if (item_bytes > 0) {
        memcpy(rest, items, item_bytes);
    }
    memcpy(rest + item_bytes, payload, strlen(payload));
    builder_record(&builder, &header, sizeof header, rest, item_bytes + strlen(payload));
}

static void an_event_comes_with_its_descriptor(void **state)
{
    const EVENT_HEADER *header;

    (void)state;
    put_event(0, NULL, 0, "payload");
    read_back(PROCESS_TRACE_MODE_EVENT_RECORD);
    header = header_of(1);
    assert_int_equal(header->Flags,
                     EVENT_HEADER_FLAG_64_BIT_HEADER | EVENT_HEADER_FLAG_PROCESSOR_INDEX);
    assert_int_equal(header->EventProperty, 8);
    assert_int_equal(header->EventDescriptor.Id, 0x1234);
    assert_int_equal(header->EventDescriptor.Version, 5);
    assert_int_equal(header->EventDescriptor.Channel, 11);
    assert_int_equal(header->EventDescriptor.Level, 4);
    assert_int_equal(header->EventDescriptor.Opcode, 9);
    assert_int_equal(header->EventDescriptor.Task, 0x4321);
    assert_true(header->EventDescriptor.Keyword == 0x8000000000000001);
    assert_int_equal(header->ActivityId.Data1, 0x55);
    assert_int_equal(header->ThreadId, 81);
    assert_int_equal(header->ProcessId, 82);
    assert_int_equal(header->KernelTime, 1);
    assert_int_equal(header->UserTime, 2);
    assert_memory_equal(&header->ProviderId, &builder_class, sizeof builder_class);
    assert_int_equal(collected.events[1].payload_bytes, 7);
}

static size_t put_item(uint8_t *at, uint16_t type, bool more, const void *data, uint16_t bytes)
{
    const struct etwas_etl_extended_item item = {
        .item_bytes = (uint16_t)etwas_etl_round_up_8(sizeof item + bytes),
        .type = type,
        .linkage = more,
        .data_bytes = bytes,
    };

    memset(at, 0, item.item_bytes);
    memcpy(at, &item, sizeof item);
    memcpy(at + sizeof item, data, bytes);
    return item.item_bytes;
}

static void extended_items_on_disk_become_pointers(void **state)
{
    uint8_t items[128];
    size_t bytes = put_item(items, 1, true, "0123456789abcdef", 16);
    const struct collected_event *event;

    (void)state;
    bytes += put_item(items + bytes, 16, true, "", 0);
    bytes += put_item(items + bytes, 12, false, "xyz", 3);
    put_event(1, items, bytes, "payload");
    read_back(PROCESS_TRACE_MODE_EVENT_RECORD);
    event = &collected.events[1];
    assert_int_equal(event->header.Flags & EVENT_HEADER_FLAG_EXTENDED_INFO, 1);
    assert_int_equal(event->item_count, 3);
    assert_int_equal(event->items[0].ExtType, 1);
    assert_int_equal(event->items[0].DataSize, 16);
    assert_int_equal(event->items[0].Linkage, 1);
    assert_memory_equal(event->item_data[0], "0123456789abcdef", 16);
    assert_int_equal(event->items[1].ExtType, 16);
    assert_int_equal(event->items[1].DataSize, 0);
    assert_int_equal(event->items[2].ExtType, 12);
    assert_int_equal(event->items[2].Linkage, 0);
    assert_memory_equal(event->item_data[2], "xyz", 3);
    assert_int_equal(event->payload_bytes, 7);
    assert_memory_equal(event->payload, "payload", 7);
}

static void an_event_in_the_old_form_keeps_what_fits(void **state)
{
    const EVENT_TRACE *event;

    (void)state;
    put_event(0, NULL, 0, "payload");
    read_back(0);
    event = &collected.events[1].classic;
    assert_memory_equal(&event->Header.Guid, &builder_class, sizeof builder_class);
    assert_int_equal(event->Header.Class.Type, 9);
    assert_int_equal(event->Header.Class.Level, 4);
    assert_int_equal(event->Header.Class.Version, 5);
    assert_int_equal(event->MofLength, 7);
}

/* A trace message with these options and `rest` after its 8 bytes. */
static void put_message(uint16_t options, const void *rest, size_t rest_bytes)
{
    const struct etwas_etl_message_header header = {
        .size = (uint16_t)(sizeof header + rest_bytes),
        .marker_flags = ETWAS_ETL_MESSAGE_MARKER_FLAGS,
        .message_number = 19,
        .option_flags = options,
    };

    builder_record(&builder, &header, sizeof header, rest, rest_bytes);
}

static void a_message_has_the_fields_its_flags_name_R110(void **state)
{
    uint8_t all[4 + 16 + 8 + 8 + 5];
    const uint32_t sequence = 77;
    const int64_t stamp = 2500;
    const uint32_t ids[2] = {91, 92};
    const struct collected_event *event;

    (void)state;
    memset(all, 0, sizeof all);
    memcpy(all, &sequence, 4);
    memcpy(all + 4, &builder_class, 16);
    memcpy(all + 20, &stamp, 8);
    memcpy(all + 28, ids, 8);
    memcpy(all + 36, "args", 5);
    builder_number(&builder, 2000, 1);
    put_message(0x2B | 0x80, all, sizeof all);  /* sequence, GUID, stamp, ids */
    put_message(0x40, "only arguments", 15);    /* no stamp: that of the record before */
    put_message(0x04, "\x78\x56\x34\x12..", 6); /* component id */
    read_back(PROCESS_TRACE_MODE_EVENT_RECORD);
    event = &collected.events[2];
    assert_int_equal(event->header.Flags & ~EVENT_HEADER_FLAG_PROCESSOR_INDEX,
                     EVENT_HEADER_FLAG_TRACE_MESSAGE | EVENT_HEADER_FLAG_64_BIT_HEADER |
                         EVENT_HEADER_FLAG_EXTENDED_INFO | EVENT_HEADER_FLAG_NO_CPUTIME);
    assert_int_equal(event->header.EventDescriptor.Id, 19);
    assert_int_equal(event->header.EventDescriptor.Task, 0x2B | 0x80);
    assert_int_equal(event->item_count, 1);
    assert_int_equal(event->items[0].ExtType, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO);
    assert_int_equal(event->items[0].DataSize, sizeof(EVENT_EXTENDED_ITEM_INSTANCE));
    assert_memory_equal(event->item_data[0], &sequence, sizeof sequence);
    assert_int_equal(event->header.TimeStamp.QuadPart, BUILDER_START + 1500);
    assert_int_equal(event->header.ThreadId, 91);
    assert_int_equal(event->header.ProcessId, 92);
    assert_memory_equal(&event->header.ProviderId, &builder_class, sizeof builder_class);
    assert_int_equal(event->payload_bytes, 5);
    assert_string_equal(event->payload, "args");
    event = &collected.events[3];
    assert_int_equal(event->header.TimeStamp.QuadPart, BUILDER_START + 1500);
    assert_int_equal(event->item_count, 0);
    assert_int_equal(event->payload_bytes, 15);
    assert_true((event->header.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER) != 0);
    event = &collected.events[4];
    assert_int_equal(event->header.ProviderId.Data1, 0x12345678);
    assert_int_equal(event->payload_bytes, 2);
}

static void our_own_records_are_neither_delivered_nor_counted(void **state)
{
    struct etwas_etl_full_header header = {
        .size = sizeof header + 8,
        .header_type = ETWAS_ETL_FULL_HEADER64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .time_stamp = 2001,
        .guid = etwas_etl_own_class,
    };

    (void)state;
    builder_number(&builder, 2000, 1);
    builder_record(&builder, &header, sizeof header, "12345678", 8);
    builder_number(&builder, 2002, 2);
    read_back(PROCESS_TRACE_MODE_EVENT_RECORD);
    assert_int_equal(collected.event_count, 3);
    assert_int_equal(collected.information.events, 2);
    assert_int_equal(collected.events[2].number, 2);
}

static void the_largest_record_is_delivered_whole(void **state)
{
    struct builder_options options = builder_defaults();
    uint8_t *payload = calloc(1, 65535 - 48);

    (void)state;
    assert_non_null(payload);
    payload[65535 - 49] = 0x5A;
    builder_free(&builder);
    options.buffer_bytes = 16 * 65536;
    builder_begin(&builder, &options);
    builder_buffer(&builder, 0);
    /* Fifteen of them: the reader's window ends inside some. */
    for (uint32_t i = 0; i < 15; i++) {
        memcpy(payload, &i, sizeof i);
        builder_classic(&builder, 2000 + i, 1, payload, 65535 - 48);
        builder_number(&builder, 2000 + i, 100 + i);
    }
    read_back(PROCESS_TRACE_MODE_EVENT_RECORD);
    assert_int_equal(collected.event_count, 31);
    for (uint32_t i = 0; i < 15; i++) {
        assert_int_equal(collected.events[1 + 2 * i].payload_bytes, 65535 - 48);
        assert_int_equal(collected.events[1 + 2 * i].number, i);
        assert_int_equal(collected.events[2 + 2 * i].number, 100 + i);
    }
    free(payload);
}

static void buffers_of_old_systems_have_8_bit_processors(void **state)
{
    struct builder_options options = builder_defaults();

    (void)state;
    builder_free(&builder);
    options.legacy = true;
    options.narrow = true;
    builder_begin(&builder, &options);
    builder_buffer(&builder, 3);
    builder_number(&builder, 2000, 1);
    read_back(PROCESS_TRACE_MODE_EVENT_RECORD);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(collected.events[i].context.ProcessorIndex, i == 0 ? 0 : 3);
        assert_true((header_of(i)->Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX) != 0);
        assert_int_equal(header_of(i)->HeaderType, 0);
    }
}

static void a_private_session_is_marked_R106(void **state)
{
    struct builder_options options = builder_defaults();

    (void)state;
    builder_free(&builder);
    options.mode = EVENT_TRACE_PRIVATE_LOGGER_MODE;
    builder_begin(&builder, &options);
    builder_buffer(&builder, 0);
    builder_number(&builder, 2000, 1);
    read_back(PROCESS_TRACE_MODE_EVENT_RECORD);
    assert_true((header_of(1)->Flags & EVENT_HEADER_FLAG_PRIVATE_SESSION) != 0);
}

#define RECORD_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RECORD_TEST(a_classic_event_is_a_record_with_the_classic_flag),
        RECORD_TEST(an_instance_event_has_its_item_R118),
        RECORD_TEST(an_instance_event_has_its_ids_in_the_old_form_R118),
        RECORD_TEST(an_instance_in_the_56_byte_form_is_skipped_and_named),
        RECORD_TEST(a_kernel_record_gets_the_class_of_its_group),
        RECORD_TEST(a_compact_record_has_no_processor_times),
        RECORD_TEST(counters_before_the_payload_become_items),
        RECORD_TEST(an_event_comes_with_its_descriptor),
        RECORD_TEST(extended_items_on_disk_become_pointers),
        RECORD_TEST(an_event_in_the_old_form_keeps_what_fits),
        RECORD_TEST(a_message_has_the_fields_its_flags_name_R110),
        RECORD_TEST(our_own_records_are_neither_delivered_nor_counted),
        RECORD_TEST(the_largest_record_is_delivered_whole),
        RECORD_TEST(buffers_of_old_systems_have_8_bit_processors),
        RECORD_TEST(a_private_session_is_marked_R106),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
