/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/metadata.h"

#include <etwas/tdh.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etl/event_metadata.h"
#include "etl/own_record.h"
#include "support/start.h"

enum {
    MADE_UP = 0x3e7a0000, /* Data1 of the classes' GUIDs, their number in the low half */
    MADE_UP_MASK = 0xFFFF,
    NAME_BYTES = 32,
};

/* ---- describing ------------------------------------------------------------------------------ */

static uint32_t made_up;

uint32_t described_classes(void)
{
    return made_up;
}

uint32_t describe_one(uint32_t fields)
{
    static const etwas_map_entry entries[] = {{.name = "off", .value = 0},
                                              {.name = "on", .value = 1}};
    const etwas_map_description map = {.name = "Switch", .entries = entries, .entry_count = 2};
    etwas_field_description *list = calloc(fields + 1, sizeof *list);
    char(*names)[NAME_BYTES] = calloc(fields + 1, sizeof *names);
    const etwas_type_description type = {
        .name = "Start", .type = 1, .fields = list, .field_count = fields};
    const etwas_class_description description = {
        .guid = &(etwas_guid){.Data1 = MADE_UP | made_up},
        .provider_name = "made up",
        .name = "Class",
        .types = &type,
        .type_count = 1,
        .maps = &map,
        .map_count = fields != 0,
    };

    assert_non_null(list);
    assert_non_null(names);
    for (uint32_t field = 0; field < fields; field++) {
        (void)snprintf(names[field], sizeof names[field], "field %u", field);
        list[field] = (etwas_field_description){
            .name = names[field], .in_type = TDH_INTYPE_UINT32, .map = "Switch"};
    }
    assert_true(made_up < METADATA_CLASSES);
    assert_int_equal(etwas_describe_class(&description, NULL), ERROR_SUCCESS);
    free(list);
    free(names);
    return made_up++;
}

/* ---- images ---------------------------------------------------------------------------------- */

const etwas_guid image_class = {
    0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0x00, 0xa0, 0xc9, 0x11, 0xf5, 0x18}};
const etwas_guid build_class = {
    0xb3e675d7, 0x2554, 0x4f18, {0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde}};

extern const char __ehdr_start[]; /* the program's first byte; of the linker */

void take_stacks(etwas_trace_handle session)
{
    static const etwas_guid nobody = {.Data1 = 0x57ac5};
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableProperty = EVENT_ENABLE_PROPERTY_STACK_TRACE};

    assert_int_equal(EnableTraceEx2(session, &nobody, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0,
                                    0, &parameters),
                     ERROR_SUCCESS);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool is_of(const EVENT_RECORD *record, const etwas_guid *class_guid)
{
    return memcmp(&record->EventHeader.ProviderId, class_guid, sizeof *class_guid) == 0;
}

bool is_metadata(const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    return is_of(record, &etwas_etl_metadata_class) ||
           (is_of(record, &etwas_etl_own_class) &&
            (type == ETWAS_ETL_MESSAGE_FORMAT_TYPE || type == ETWAS_ETL_MANIFEST_CHUNK_TYPE ||
             type == ETWAS_ETL_WINDOW_TYPE || type == ETWAS_ETL_MISSING_TYPE)) ||
           is_of(record, &image_class) || is_of(record, &build_class);
}

static void image_add(struct metadata *metadata, const EVENT_RECORD *record)
{
    uint64_t base;

    assert_true(record->UserDataLength >= sizeof base);
    memcpy(&base, record->UserData, sizeof base);
    metadata->images++;
    metadata->programs += base == (uint64_t)(uintptr_t)__ehdr_start;
}

void metadata_add(struct metadata *metadata, const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;
    etwas_guid guid;
    uint32_t number;

    if (is_of(record, &etwas_etl_own_class)) {
        if (type == ETWAS_ETL_WINDOW_TYPE || type == ETWAS_ETL_MISSING_TYPE) {
            return; /* of a snapshot */
        }
        assert_int_equal(type, ETWAS_ETL_MESSAGE_FORMAT_TYPE);
        metadata->formats++;
        return;
    }
    if (is_of(record, &image_class)) {
        image_add(metadata, record);
        return;
    }
    if (is_of(record, &build_class)) {
        metadata->builds++;
        return;
    }
    if (!is_of(record, &etwas_etl_metadata_class)) {
        metadata->events += !is_of(record, &EventTraceGuid);
        return;
    }
    assert_true(record->UserDataLength >= sizeof guid);
    memcpy(&guid, record->UserData, sizeof guid);
    number = guid.Data1 & MADE_UP_MASK;
    if ((guid.Data1 & ~(uint32_t)MADE_UP_MASK) != MADE_UP || number >= METADATA_CLASSES) {
        metadata->others += type == ETWAS_ETL_EVENT_INFO_TYPE;
    } else if (type == ETWAS_ETL_MAP_INFO_TYPE) {
        metadata->maps[number]++;
    } else {
        assert_int_equal(type, ETWAS_ETL_EVENT_INFO_TYPE);
        metadata->classes[number]++;
    }
}

static void on_event(EVENT_RECORD *record)
{
    metadata_add(record->UserContext, record);
}

void metadata_read(const char *path, struct metadata *metadata)
{
    EVENT_TRACE_LOGFILEA file = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = on_event,
        .Context = metadata,
    };
    etwas_trace_handle trace = OpenTraceA(&file);

    memset(metadata, 0, sizeof *metadata);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

bool has_classes(const struct metadata *metadata, uint32_t end, uint32_t times)
{
    bool found = true;

    for (uint32_t number = 0; number < end; number++) {
        found = found && metadata->classes[number] >= times;
    }
    return found;
}
