/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events: what the calls refuse, how large an event may be, and every member of what a consumer
 * gets (R62–R64, R100–R109, R115–R120).
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/processor.h"
#include "session/fixture.h"

static etwas_trace_handle session;
static etwas_trace_handle registration;
static TRACE_GUID_REGISTRATION classes[2];

static void begin(uint32_t buffer_kb)
{
    const etwas_session_options options = {.buffer_size_kb = buffer_kb};

    classes[0] = (TRACE_GUID_REGISTRATION){.Guid = &first_class};
    classes[1] = (TRACE_GUID_REGISTRATION){.Guid = &second_class};
    assert_int_equal(RegisterTraceGuidsA(ignore_request, NULL, &control_guid, 2, classes, NULL,
                                         NULL, &registration),
                     ERROR_SUCCESS);
    assert_non_null(classes[0].RegHandle);
    assert_non_null(classes[1].RegHandle);
    assert_ptr_not_equal(classes[0].RegHandle, classes[1].RegHandle);
    session = start_session(folder_path("f.etl"), &options);
}

static void end(struct events *events)
{
    stop_session(session, NULL);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    if (events != NULL) {
        read_events(folder_path("f.etl"), 0, events);
    }
}

static EVENT_TRACE_HEADER header_of(size_t bytes)
{
    EVENT_TRACE_HEADER header = {.Size = (uint16_t)bytes, .Guid = event_class};

    header.Flags = WNODE_FLAG_TRACED_GUID;
    return header;
}

static EVENT_INSTANCE_HEADER instance_header_of(size_t bytes)
{
    EVENT_INSTANCE_HEADER header = {.Size = (uint16_t)bytes};

    header.Flags = WNODE_FLAG_TRACED_GUID;
    return header;
}

static EVENT_INSTANCE_INFO new_instance(uint32_t class_index)
{
    EVENT_INSTANCE_INFO instance = {0};

    assert_int_equal(CreateTraceInstanceId(classes[class_index].RegHandle, &instance),
                     ERROR_SUCCESS);
    return instance;
}

/* ---- refused --------------------------------------------------------------------------------- */

static void r100_and_r104_trace_event_refuses_bad_headers_and_records_nothing(void **state)
{
    EVENT_TRACE_HEADER header;
    etwas_session_counts counts;

    (void)state;
    begin(64);
    header = header_of(sizeof header);
    assert_int_equal(TraceEvent(0, &header), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceEvent(session, NULL), ERROR_INVALID_PARAMETER);
    for (uint16_t size = 0; size < sizeof header; size++) {
        header.Size = size;
        assert_int_equal(TraceEvent(session, &header), ERROR_INVALID_PARAMETER);
    }
    header = header_of(sizeof header);
    header.Flags = 0;
    assert_int_equal(TraceEvent(session, &header), ERROR_INVALID_FLAG_NUMBER);
    header.Flags = WNODE_FLAG_USE_MOF_PTR | WNODE_FLAG_USE_GUID_PTR;
    assert_int_equal(TraceEvent(session, &header), ERROR_INVALID_FLAG_NUMBER);
    header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_GUID_PTR;
    header.GuidPtr = 0;
    assert_int_equal(TraceEvent(session, &header), ERROR_INVALID_PARAMETER);
    counts = counts_of(session);
    assert_int_equal(counts.recorded + counts.lost, 0);
    end(NULL);
    assert_int_equal(count_events(folder_path("f.etl")), 0);
}

static void r102_and_r104_trace_event_instance_refuses_bad_headers_and_records_nothing(void **state)
{
    EVENT_INSTANCE_HEADER header;
    EVENT_INSTANCE_INFO instance;
    EVENT_INSTANCE_INFO bad;
    etwas_session_counts counts;

    (void)state;
    begin(64);
    instance = new_instance(0);
    header = instance_header_of(sizeof header);
    assert_int_equal(TraceEventInstance(0, &header, &instance, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceEventInstance(session, NULL, &instance, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceEventInstance(session, &header, NULL, NULL), ERROR_INVALID_PARAMETER);
    bad = (EVENT_INSTANCE_INFO){NULL, 1};
    assert_int_equal(TraceEventInstance(session, &header, &bad, NULL), ERROR_INVALID_PARAMETER);
    bad = (EVENT_INSTANCE_INFO){instance.RegHandle, 0};
    assert_int_equal(TraceEventInstance(session, &header, &bad, NULL), ERROR_INVALID_PARAMETER);
    for (uint16_t size = 0; size < sizeof header; size++) {
        header.Size = size;
        assert_int_equal(TraceEventInstance(session, &header, &instance, NULL),
                         ERROR_INVALID_PARAMETER);
    }
    header = instance_header_of(sizeof header);
    header.Flags = 0;
    assert_int_equal(TraceEventInstance(session, &header, &instance, NULL), ERROR_INVALID_FLAGS);
    /* Class handles that never were, and ones that were. */
    header = instance_header_of(sizeof header);
    bad = (EVENT_INSTANCE_INFO){(etwas_handle)(uintptr_t)1, 1};
    assert_int_equal(TraceEventInstance(session, &header, &bad, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(TraceEventInstance(session, &header, &instance, &bad), ERROR_INVALID_HANDLE);
    bad.RegHandle = (etwas_handle)UINTPTR_MAX;
    assert_int_equal(TraceEventInstance(session, &header, &bad, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    assert_int_equal(TraceEventInstance(session, &header, &instance, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(CreateTraceInstanceId(instance.RegHandle, &bad), ERROR_INVALID_PARAMETER);
    /* Also when another class has its entry. */
    assert_int_equal(RegisterTraceGuidsA(ignore_request, NULL, &control_guid, 2, classes, NULL,
                                         NULL, &registration),
                     ERROR_SUCCESS);
    assert_ptr_not_equal(classes[0].RegHandle, instance.RegHandle);
    assert_int_equal(TraceEventInstance(session, &header, &instance, NULL), ERROR_INVALID_HANDLE);
    counts = counts_of(session);
    assert_int_equal(counts.recorded + counts.lost, 0);
    end(NULL);
    assert_int_equal(count_events(folder_path("f.etl")), 0);
}

/* ---- MOF fields ------------------------------------------------------------------------------ */

enum {
    FIELDS_ROOM = MAX_MOF_FIELDS + 1
};

struct mof_event {
    EVENT_TRACE_HEADER header;
    MOF_FIELD fields[FIELDS_ROOM];
};

static uint8_t pattern_byte(size_t position)
{
    return (uint8_t)(position * 7 + 3);
}

static void r101_up_to_16_mof_fields_are_recorded_in_order_and_unpadded(void **state)
{
    uint8_t data[1024];
    struct events events;

    (void)state;
    begin(64);
    for (size_t index = 0; index < sizeof data; index++) {
        data[index] = pattern_byte(index);
    }
    for (uint32_t count = 0; count <= FIELDS_ROOM; count++) {
        struct mof_event event = {.header = header_of(sizeof event.header + count * 16)};
        uint32_t at = 0;
        uint32_t code;

        event.header.Flags |= WNODE_FLAG_USE_MOF_PTR;
        /* Field i has i + 1 bytes, the next ones of the data; so order and padding show. */
        for (uint32_t index = 0; index < count && index < FIELDS_ROOM; index++) {
            DEFINE_TRACE_MOF_FIELD(&event.fields[index], data + at, index + 1, 0);
            at += index + 1;
        }
        code = TraceEvent(session, &event.header);
        assert_int_equal(code, count <= MAX_MOF_FIELDS ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER);
    }
    {
        struct mof_event event = {.header = header_of(sizeof event.header + 2 * 16)};

        event.header.Flags |= WNODE_FLAG_USE_MOF_PTR;
        event.header.Size--;
        assert_int_equal(TraceEvent(session, &event.header), ERROR_INVALID_PARAMETER);
        event.header.Size++;
        DEFINE_TRACE_MOF_FIELD(&event.fields[1], NULL, 1, 0);
        assert_int_equal(TraceEvent(session, &event.header), ERROR_INVALID_PARAMETER);
        /* Nothing at address 0 is nothing. */
        DEFINE_TRACE_MOF_FIELD(&event.fields[1], NULL, 0, 0);
        assert_int_equal(TraceEvent(session, &event.header), ERROR_SUCCESS);
    }
    end(&events);
    assert_int_equal(events.count, MAX_MOF_FIELDS + 2);
    for (uint32_t count = 0; count <= MAX_MOF_FIELDS; count++) {
        assert_int_equal(events.items[count].record.UserDataLength, count * (count + 1) / 2);
        assert_memory_equal(events.items[count].payload, data, count * (count + 1) / 2);
    }
    assert_int_equal(events.items[MAX_MOF_FIELDS + 1].record.UserDataLength, 0);
    free_events(&events);
}

/* R101: a field of any size arrives whole behind another one, wherever its record begins. */
static void r101_a_field_of_any_size_arrives_whole(void **state)
{
    enum {
        LARGEST = 700,
        BEFORE = 3,
        AFTER = 2
    };
    uint8_t data[BEFORE + LARGEST + AFTER];
    struct events events;

    (void)state;
    begin(64);
    for (size_t index = 0; index < sizeof data; index++) {
        data[index] = pattern_byte(index) ^ (uint8_t)(index >> 8);
    }
    for (uint32_t bytes = 0; bytes <= LARGEST; bytes++) {
        struct mof_event event = {.header = header_of(sizeof event.header + 3 * 16)};

        event.header.Flags |= WNODE_FLAG_USE_MOF_PTR;
        DEFINE_TRACE_MOF_FIELD(&event.fields[0], data, BEFORE, 0);
        DEFINE_TRACE_MOF_FIELD(&event.fields[1], data + BEFORE, bytes, 0);
        DEFINE_TRACE_MOF_FIELD(&event.fields[2], data + BEFORE + bytes, AFTER, 0);
        assert_int_equal(TraceEvent(session, &event.header), ERROR_SUCCESS);
    }
    end(&events);
    assert_int_equal(events.count, LARGEST + 1);
    for (uint32_t bytes = 0; bytes <= LARGEST; bytes++) {
        assert_int_equal(events.items[bytes].record.UserDataLength, BEFORE + bytes + AFTER);
        assert_memory_equal(events.items[bytes].payload, data, BEFORE + bytes + AFTER);
    }
    free_events(&events);
}

/* R100: the GUID is recorded, not its address; R108: for instances the flag means nothing. */
static void r100_and_r108_guid_pointers(void **state)
{
    const etwas_guid *place = &second_class;
    EVENT_TRACE_HEADER header;
    EVENT_INSTANCE_HEADER instance_header;
    EVENT_INSTANCE_INFO instance;
    struct events events;

    (void)state;
    begin(64);
    header = header_of(sizeof header);
    header.GuidPtr = (uint64_t)(uintptr_t)place;
    header.Flags |= WNODE_FLAG_USE_GUID_PTR;
    assert_int_equal(TraceEvent(session, &header), ERROR_SUCCESS);
    instance = new_instance(0);
    instance_header = instance_header_of(sizeof instance_header);
    instance_header.Flags |= WNODE_FLAG_USE_GUID_PTR;
    assert_int_equal(TraceEventInstance(session, &instance_header, &instance, NULL), ERROR_SUCCESS);
    end(&events);
    assert_int_equal(events.count, 2);
    assert_memory_equal(&events.items[0].record.EventHeader.ProviderId, &second_class, 16);
    assert_memory_equal(&events.items[1].record.EventHeader.ProviderId, &first_class, 16);
    free_events(&events);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* The largest Size that may be given, and the largest record: one past either is too much. */
struct limits {
    uint32_t given;  /* R63: Size is below this */
    uint32_t record; /* R62: header as recorded and data, in whole 8 bytes, at most this */
};

static struct limits limits_of(uint32_t buffer_kb)
{
    uint32_t room = buffer_kb * 1024 - 72;

    return (struct limits){.given = room, .record = room < 65535 ? room : 65535};
}

static uint32_t expected_code(const struct limits *limits, uint32_t given, uint32_t record)
{
    return given < limits->given && record <= limits->record ? ERROR_SUCCESS : ERROR_MORE_DATA;
}

static uint64_t try_sizes(uint8_t *bytes, const struct limits *limits, uint32_t first,
                          uint32_t last)
{
    EVENT_INSTANCE_INFO instance = new_instance(0);
    uint64_t good = 0;

    for (uint32_t size = first; size <= last && size <= UINT16_MAX; size++) {
        EVENT_TRACE_HEADER header = header_of(size);
        EVENT_INSTANCE_HEADER instance_header = instance_header_of(size);
        uint32_t code;

        memcpy(bytes, &header, sizeof header);
        code = TraceEvent(session, (EVENT_TRACE_HEADER *)(void *)bytes);
        if (code != expected_code(limits, size, size)) {
            fail_msg("TraceEvent with %u bytes: code %u", size, code);
        }
        good += code == ERROR_SUCCESS;
        memcpy(bytes, &instance_header, sizeof instance_header);
        code = TraceEventInstance(session, (EVENT_INSTANCE_HEADER *)(void *)bytes, &instance, NULL);
        if (code != expected_code(limits, size, size + 16)) {
            fail_msg("TraceEventInstance with %u bytes: code %u", size, code);
        }
        good += code == ERROR_SUCCESS;
    }
    return good;
}

/* MOF fields make Size small although the record is large. */
static uint64_t try_mof_sizes(const uint8_t *bytes, const struct limits *limits)
{
    static const uint32_t far_too_large[] = {65536, 131072, 0x80000000, 0xFFFFFFFF};
    uint64_t good = 0;
    struct mof_event event = {.header = header_of(sizeof event.header + 2 * 16)};

    event.header.Flags |= WNODE_FLAG_USE_MOF_PTR;
    for (uint32_t record = limits->record - 20; record <= limits->record + 20; record++) {
        uint32_t payload = record - (uint32_t)sizeof event.header;
        uint32_t code;

        DEFINE_TRACE_MOF_FIELD(&event.fields[0], bytes, payload - 10, 0);
        DEFINE_TRACE_MOF_FIELD(&event.fields[1], bytes, 10, 0);
        code = TraceEvent(session, &event.header);
        if (code != expected_code(limits, event.header.Size, record)) {
            fail_msg("fields of %u bytes: code %u", payload, code);
        }
        good += code == ERROR_SUCCESS;
    }
    for (size_t index = 0; index < sizeof far_too_large / sizeof far_too_large[0]; index++) {
        /* Two of them: the sum wraps in 32 bits. */
        DEFINE_TRACE_MOF_FIELD(&event.fields[0], bytes, far_too_large[index], 0);
        DEFINE_TRACE_MOF_FIELD(&event.fields[1], bytes, far_too_large[index], 0);
        assert_int_equal(TraceEvent(session, &event.header), ERROR_MORE_DATA);
    }
    return good;
}

static void r62_and_r63_the_largest_event_fits_and_one_byte_more_does_not(void **state)
{
    static const uint32_t buffers_kb[] = {4, 32, 64, 68, 128, 1024};
    uint8_t *bytes = aligned_alloc(16, 128 * 1024);

    (void)state;
    assert_non_null(bytes);
    memset(bytes, 0xA5, 128 * 1024);
    for (size_t index = 0; index < sizeof buffers_kb / sizeof buffers_kb[0]; index++) {
        struct limits limits = limits_of(buffers_kb[index]);
        uint32_t edge = limits.given < UINT16_MAX ? limits.given : UINT16_MAX;
        struct events events;
        etwas_session_counts counts;
        uint64_t good;

        begin(buffers_kb[index]);
        assert_int_equal(query_session(session).BufferSize, buffers_kb[index]);
        good = try_sizes(bytes, &limits, 56, 140);
        good += try_sizes(bytes, &limits, edge - 40, edge + 40);
        good += try_mof_sizes(bytes, &limits);
        counts = counts_of(session);
        assert_int_equal(counts.recorded, good);
        assert_int_equal(counts.lost, counts.lost_too_large);
        end(&events);
        assert_int_equal(events.count, good);
        free_events(&events);
    }
    free(bytes);
}

/* ---- what a consumer gets -------------------------------------------------------------------- */

struct instance_event {
    EVENT_INSTANCE_HEADER header;
    uint8_t data[5];
};

static EVENT_INSTANCE_INFO parent;
static EVENT_INSTANCE_INFO child;
static struct {
    EVENT_TRACE event;
    uint8_t data[8];
} old_events[8];
static uint32_t old_count;

static void keep_old_event(EVENT_TRACE *event)
{
    if (memcmp(&event->Header.Guid, &EventTraceGuid, sizeof EventTraceGuid) == 0 ||
        old_count == 8) {
        return;
    }
    old_events[old_count].event = *event;
    memcpy(old_events[old_count].data, event->MofData, event->MofLength < 8 ? event->MofLength : 8);
    old_count++;
}

static void log_family(void)
{
    struct instance_event event = {.data = {1, 2, 3, 4, 5}};

    /* Everything a caller may set is set; what is "out" must not get into the record. */
    memset(&event.header, 0xEE, sizeof event.header);
    event.header.Size = offsetof(struct instance_event, data) + sizeof event.data;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    event.header.Class = (etwas_event_class){.Type = 200, .Level = 5, .Version = 0x1234};
    parent = new_instance(1);
    child = new_instance(0);
    /* R120: the header's handles lose against those of the instances. */
    event.header.RegHandle = (uint64_t)(uintptr_t)classes[1].RegHandle;
    event.header.ParentRegHandle = (uint64_t)(uintptr_t)classes[0].RegHandle;
    assert_int_equal(TraceEventInstance(session, &event.header, &child, &parent), ERROR_SUCCESS);
    event.header.Class = (etwas_event_class){.Type = EVENT_TRACE_TYPE_START};
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    assert_int_equal(TraceEventInstance(session, &event.header, &parent, NULL), ERROR_SUCCESS);
    assert_int_equal(log_number(session, 0x0102030405060708), ERROR_SUCCESS);
}

static void expect_record(const struct event *event, uint16_t bytes, const etwas_guid *class_guid)
{
    const EVENT_HEADER *header = &event->record.EventHeader;
    static const etwas_guid zero;

    assert_int_equal(header->Size, bytes);
    assert_int_equal(header->Flags &
                         (EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER |
                          EVENT_HEADER_FLAG_32_BIT_HEADER | EVENT_HEADER_FLAG_STRING_ONLY |
                          EVENT_HEADER_FLAG_TRACE_MESSAGE),
                     EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER);
    assert_int_equal(header->ThreadId, gettid());
    assert_int_equal(header->ProcessId, getpid());
    assert_memory_equal(&header->ProviderId, class_guid, sizeof zero);
    assert_int_equal(header->EventDescriptor.Id, 0);
    assert_int_equal(header->EventDescriptor.Channel, 0);
    assert_int_equal(header->EventDescriptor.Task, 0);
    assert_int_equal(header->EventDescriptor.Keyword, 0);
    assert_int_equal(header->KernelTime, 0); /* R106: not asked for */
    assert_int_equal(header->UserTime, 0);
    assert_memory_equal(&header->ActivityId, &zero, sizeof zero);
    assert_in_range(event->record.BufferContext.ProcessorIndex, 0, etwas_processor_count() - 1);
    assert_in_range(event->record.BufferContext.LoggerId, 1, 64);
}

static void expect_class(const struct event *event, uint8_t type, uint8_t level, uint8_t version)
{
    const EVENT_DESCRIPTOR *descriptor = &event->record.EventHeader.EventDescriptor;

    assert_int_equal(descriptor->Opcode, type);
    assert_int_equal(descriptor->Level, level);
    assert_int_equal(descriptor->Version, version);
}

static void r103_and_r118_every_member_of_an_event_record(void **state)
{
    static const uint8_t payload[] = {1, 2, 3, 4, 5};
    static const etwas_guid zero;
    struct events events;

    (void)state;
    begin(64);
    log_family();
    end(&events);
    assert_int_equal(events.count, 3);

    expect_record(&events.items[0], 72 + 5, &first_class);
    expect_class(&events.items[0], 200, 5, 0x34); /* a byte is all a descriptor has */
    assert_int_equal(events.items[0].record.ExtendedDataCount, 1);
    assert_int_equal(events.items[0].instance_items, 1);
    assert_int_equal(events.items[0].instance.InstanceId, child.InstanceId);
    assert_int_equal(events.items[0].instance.ParentInstanceId, parent.InstanceId);
    assert_memory_equal(&events.items[0].instance.ParentGuid, &second_class, sizeof zero);
    assert_int_equal(events.items[0].record.UserDataLength, sizeof payload);
    assert_memory_equal(events.items[0].payload, payload, sizeof payload);

    /* R119: without a parent. */
    expect_record(&events.items[1], 72 + 5, &second_class);
    expect_class(&events.items[1], EVENT_TRACE_TYPE_START, 0, 0);
    assert_int_equal(events.items[1].instance.InstanceId, parent.InstanceId);
    assert_int_equal(events.items[1].instance.ParentInstanceId, 0);
    assert_memory_equal(&events.items[1].instance.ParentGuid, &zero, sizeof zero);

    expect_record(&events.items[2], 48 + 8, &event_class);
    expect_class(&events.items[2], 10, 4, 1);
    assert_int_equal(events.items[2].record.ExtendedDataCount, 0);
    assert_int_equal(number_of(&events.items[2]), 0x0102030405060708);
    free_events(&events);
}

static void expect_old_event(uint32_t index, const etwas_guid *class_guid,
                             const etwas_event_class *class_of_event)
{
    const EVENT_TRACE *event = &old_events[index].event;

    assert_memory_equal(&event->Header.Guid, class_guid, sizeof *class_guid);
    assert_int_equal(event->Header.Class.Type, class_of_event->Type);
    assert_int_equal(event->Header.Class.Level, class_of_event->Level);
    assert_int_equal(event->Header.Class.Version, class_of_event->Version);
    assert_int_equal(event->Header.ThreadId, gettid());
    assert_int_equal(event->Header.ProcessId, getpid());
    assert_int_equal(event->Header.KernelTime, 0);
    assert_int_equal(event->Header.UserTime, 0);
    assert_in_range(event->BufferContext.LoggerId, 1, 64);
}

static void r117_and_r118_every_member_of_an_event_trace(void **state)
{
    static const uint8_t payload[] = {1, 2, 3, 4, 5};
    static const etwas_guid zero;
    const etwas_event_class classes_logged[] = {
        {200, 5, 0x1234}, {EVENT_TRACE_TYPE_START, 0, 0}, {10, 4, 1}};
    EVENT_TRACE_LOGFILEA file = {.EventCallback = keep_old_event};
    etwas_trace_handle trace;
    int64_t before = etwas_clock_read(ETWAS_CLOCK_SYSTEM_TIME);

    (void)state;
    begin(64);
    log_family();
    end(NULL);
    file.LogFileName = (char *)(uintptr_t)folder_path("f.etl");
    old_count = 0;
    trace = OpenTraceA(&file);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(old_count, 3);

    expect_old_event(0, &first_class, &classes_logged[0]);
    assert_int_equal(old_events[0].event.InstanceId, child.InstanceId);
    assert_int_equal(old_events[0].event.ParentInstanceId, parent.InstanceId);
    assert_memory_equal(&old_events[0].event.ParentGuid, &second_class, sizeof zero);
    assert_int_equal(old_events[0].event.MofLength, sizeof payload);
    assert_memory_equal(old_events[0].data, payload, sizeof payload);

    expect_old_event(1, &second_class, &classes_logged[1]);
    assert_int_equal(old_events[1].event.InstanceId, parent.InstanceId);
    assert_int_equal(old_events[1].event.ParentInstanceId, 0);
    assert_memory_equal(&old_events[1].event.ParentGuid, &zero, sizeof zero);

    /* TraceEvent's have none of the three. */
    expect_old_event(2, &event_class, &classes_logged[2]);
    assert_int_equal(old_events[2].event.InstanceId, 0);
    assert_int_equal(old_events[2].event.ParentInstanceId, 0);
    assert_memory_equal(&old_events[2].event.ParentGuid, &zero, sizeof zero);
    assert_int_equal(old_events[2].event.MofLength, 8);
    for (uint32_t index = 0; index < 3; index++) {
        /* 100 ns units since 1601, within the second of what the clock of the day says. */
        int64_t late = old_events[index].event.Header.TimeStamp.QuadPart - before;

        assert_true(late > -10000000 && late < 600000000);
    }
}

/* R107, R109: type, level and version are the caller's, all values. */
static void r109_every_type_level_and_version_is_recorded_as_given(void **state)
{
    enum {
        VALUES = 256
    };
    struct events events;

    (void)state;
    begin(64);
    for (uint32_t value = 0; value < VALUES; value++) {
        EVENT_TRACE_HEADER header = header_of(sizeof header);

        header.Class = (etwas_event_class){.Type = (uint8_t)value,
                                           .Level = (uint8_t)(255 - value),
                                           .Version = (uint16_t)(value ^ 0x55)};
        assert_int_equal(TraceEvent(session, &header), ERROR_SUCCESS);
    }
    end(&events);
    assert_int_equal(events.count, VALUES);
    for (uint32_t value = 0; value < VALUES; value++) {
        expect_class(&events.items[value], (uint8_t)value, (uint8_t)(255 - value),
                     (uint8_t)(value ^ 0x55));
        assert_int_equal(events.items[value].record.UserDataLength, 0);
    }
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r100_and_r104_trace_event_refuses_bad_headers_and_records_nothing),
        FOLDER_TEST(r102_and_r104_trace_event_instance_refuses_bad_headers_and_records_nothing),
        FOLDER_TEST(r101_up_to_16_mof_fields_are_recorded_in_order_and_unpadded),
        FOLDER_TEST(r100_and_r108_guid_pointers),
        FOLDER_TEST(r101_a_field_of_any_size_arrives_whole),
        FOLDER_TEST(r62_and_r63_the_largest_event_fits_and_one_byte_more_does_not),
        FOLDER_TEST(r103_and_r118_every_member_of_an_event_record),
        FOLDER_TEST(r117_and_r118_every_member_of_an_event_trace),
        FOLDER_TEST(r109_every_type_level_and_version_is_recorded_as_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
