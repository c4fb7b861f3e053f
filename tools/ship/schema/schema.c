/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/*
 * The columns. A new column goes next to those to which it belongs. Tables may have columns in any
 * order, because blocks name them.
 */
#include "ship/schema/schema.h"

#define ZSTD "ZSTD"
#define STEPS_OF_4 "Delta(4), ZSTD"
#define STEPS_OF_8 "Delta(8), ZSTD"

static const struct etwas_ship_column event_columns[ETWAS_SHIP_EVENT_COLUMNS] = {
    [ETWAS_SHIP_EVENT_DAY] = {"day", ETWAS_SHIP_DATE, ZSTD},
    [ETWAS_SHIP_EVENT_TIME] = {"time", ETWAS_SHIP_TIME, STEPS_OF_8},
    [ETWAS_SHIP_EVENT_TIME_ERROR] = {"time_error", ETWAS_SHIP_U32, ZSTD},
    [ETWAS_SHIP_EVENT_HOST] = {"host", ETWAS_SHIP_NAME, ZSTD},
    [ETWAS_SHIP_EVENT_SESSION] = {"session_id", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_EVENT_PART] = {"part", ETWAS_SHIP_U32, ZSTD},
    [ETWAS_SHIP_EVENT_CPU] = {"cpu", ETWAS_SHIP_U16, ZSTD},
    [ETWAS_SHIP_EVENT_BUFFER] = {"buffer", ETWAS_SHIP_U64, STEPS_OF_8},
    [ETWAS_SHIP_EVENT_POSITION] = {"position", ETWAS_SHIP_U32, STEPS_OF_4},
    [ETWAS_SHIP_EVENT_PID] = {"pid", ETWAS_SHIP_U32, ZSTD},
    [ETWAS_SHIP_EVENT_TID] = {"tid", ETWAS_SHIP_U32, ZSTD},
    [ETWAS_SHIP_EVENT_PROVIDER_ID] = {"provider_id", ETWAS_SHIP_GUID, ZSTD},
    [ETWAS_SHIP_EVENT_PROVIDER] = {"provider", ETWAS_SHIP_NAME, ZSTD},
    [ETWAS_SHIP_EVENT_CLASS_ID] = {"event_class_id", ETWAS_SHIP_GUID, ZSTD},
    [ETWAS_SHIP_EVENT_CLASS] = {"event_class", ETWAS_SHIP_NAME, ZSTD},
    [ETWAS_SHIP_EVENT_EVENT] = {"event", ETWAS_SHIP_NAME, ZSTD},
    [ETWAS_SHIP_EVENT_OPCODE] = {"opcode", ETWAS_SHIP_U8, ZSTD},
    [ETWAS_SHIP_EVENT_LEVEL] = {"level", ETWAS_SHIP_U8, ZSTD},
    [ETWAS_SHIP_EVENT_ID] = {"event_id", ETWAS_SHIP_U16, ZSTD},
    [ETWAS_SHIP_EVENT_KEYWORD] = {"keyword", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_EVENT_INSTANCE] = {"instance", ETWAS_SHIP_U32, STEPS_OF_4},
    [ETWAS_SHIP_EVENT_PARENT_INSTANCE] = {"parent_instance", ETWAS_SHIP_U32, STEPS_OF_4},
    [ETWAS_SHIP_EVENT_ACTIVITY] = {"activity", ETWAS_SHIP_GUID, ZSTD},
    [ETWAS_SHIP_EVENT_RELATED_ACTIVITY] = {"related_activity", ETWAS_SHIP_GUID, ZSTD},
    [ETWAS_SHIP_EVENT_INTS] = {"ints", ETWAS_SHIP_INTS, ZSTD},
    [ETWAS_SHIP_EVENT_REALS] = {"reals", ETWAS_SHIP_REALS, ZSTD},
    [ETWAS_SHIP_EVENT_TEXTS] = {"texts", ETWAS_SHIP_TEXTS, ZSTD},
    [ETWAS_SHIP_EVENT_PAYLOAD] = {"payload", ETWAS_SHIP_STRING, ZSTD},
};

static const struct etwas_ship_column buffer_columns[ETWAS_SHIP_BUFFER_COLUMNS] = {
    [ETWAS_SHIP_BUFFER_DAY] = {"day", ETWAS_SHIP_DATE, ZSTD},
    [ETWAS_SHIP_BUFFER_HOST] = {"host", ETWAS_SHIP_NAME, ZSTD},
    [ETWAS_SHIP_BUFFER_SESSION] = {"session_id", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_PART] = {"part", ETWAS_SHIP_U32, ZSTD},
    [ETWAS_SHIP_BUFFER_CPU] = {"cpu", ETWAS_SHIP_U16, ZSTD},
    [ETWAS_SHIP_BUFFER_BUFFER] = {"buffer", ETWAS_SHIP_U64, STEPS_OF_8},
    [ETWAS_SHIP_BUFFER_FIRST_TIME] = {"first_time", ETWAS_SHIP_TIME, STEPS_OF_8},
    [ETWAS_SHIP_BUFFER_LAST_TIME] = {"last_time", ETWAS_SHIP_TIME, STEPS_OF_8},
    [ETWAS_SHIP_BUFFER_EVENTS] = {"events", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_BYTES] = {"bytes", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_FILE] = {"file", ETWAS_SHIP_STRING, ZSTD},
    [ETWAS_SHIP_BUFFER_FILE_POSITION] = {"file_position", ETWAS_SHIP_U64, STEPS_OF_8},
    [ETWAS_SHIP_BUFFER_DAMAGES] = {"damages", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_STATE] = {"state", ETWAS_SHIP_U8, ZSTD},
    [ETWAS_SHIP_BUFFER_RECORDED] = {"recorded", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_OVERWRITTEN] = {"overwritten", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_LOST] = {"lost", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_LOST_NO_BUFFER] = {"lost_no_buffer", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_LOST_BACKLOG_FULL] = {"lost_backlog_full", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_LOST_WRITE_ERROR] = {"lost_write_error", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_LOST_FILE_FULL] = {"lost_file_full", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_LOST_ABANDONED] = {"lost_abandoned", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_LOST_UNDELIVERED] = {"lost_undelivered", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_LOST_UNATTACHED] = {"lost_unattached", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_LOST_TOO_LARGE] = {"lost_too_large", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_LOST_WITHHELD] = {"lost_withheld", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_LOST_OTHER] = {"lost_other", ETWAS_SHIP_U64, ZSTD},
    [ETWAS_SHIP_BUFFER_ENDED] = {"ended", ETWAS_SHIP_U8, ZSTD},
};

const struct etwas_ship_column *etwas_ship_columns(enum etwas_ship_table table, uint32_t *count)
{
    if (table == ETWAS_SHIP_EVENTS) {
        *count = ETWAS_SHIP_EVENT_COLUMNS;
        return event_columns;
    }
    *count = ETWAS_SHIP_BUFFER_COLUMNS;
    return buffer_columns;
}

const struct etwas_ship_alias *etwas_ship_aliases(enum etwas_ship_table table, uint32_t *count)
{
    static const struct etwas_ship_alias of_events[] = {{"unix_time", "time"}};
    static const struct etwas_ship_alias of_buffers[] = {{"first_unix_time", "first_time"},
                                                         {"last_unix_time", "last_time"}};

    *count = table == ETWAS_SHIP_EVENTS ? 1 : 2;
    return table == ETWAS_SHIP_EVENTS ? of_events : of_buffers;
}

const char *etwas_ship_table_suffix(enum etwas_ship_table table)
{
    return table == ETWAS_SHIP_EVENTS ? "" : "_buffer";
}

const char *etwas_ship_type_name(enum etwas_ship_type type, bool is_modern)
{
    switch (type) {
    case ETWAS_SHIP_U8:
        return "UInt8";
    case ETWAS_SHIP_U16:
        return "UInt16";
    case ETWAS_SHIP_U32:
        return "UInt32";
    case ETWAS_SHIP_U64:
        return "UInt64";
    case ETWAS_SHIP_DATE:
        return "Date";
    case ETWAS_SHIP_TIME:
        return is_modern ? "DateTime64(9, 'UTC')" : "UInt64";
    case ETWAS_SHIP_GUID:
        return "UUID";
    case ETWAS_SHIP_STRING:
        return "String";
    case ETWAS_SHIP_NAME:
        return is_modern ? "LowCardinality(String)" : "String";
    case ETWAS_SHIP_INTS:
        return is_modern ? "Map(LowCardinality(String), Int64)" : "Int64";
    case ETWAS_SHIP_REALS:
        return is_modern ? "Map(LowCardinality(String), Float64)" : "Float64";
    case ETWAS_SHIP_TEXTS:
        return is_modern ? "Map(LowCardinality(String), String)" : "String";
    }
    return "";
}

uint32_t etwas_ship_type_bytes(enum etwas_ship_type type)
{
    switch (type) {
    case ETWAS_SHIP_U8:
        return 1;
    case ETWAS_SHIP_U16:
    case ETWAS_SHIP_DATE:
        return 2;
    case ETWAS_SHIP_U32:
        return 4;
    case ETWAS_SHIP_U64:
    case ETWAS_SHIP_TIME:
        return 8;
    case ETWAS_SHIP_GUID:
        return 16;
    default:
        return 0;
    }
}
