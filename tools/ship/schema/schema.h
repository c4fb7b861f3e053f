/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_SCHEMA_H
#define ETWAS_TOOLS_SHIP_SCHEMA_H

/*
 * The two tables, for events and for buffers: their columns and types.
 *
 * Each column has one of two types: a plain one that every server knows, or a modern one. TIME is
 * UInt64 or DateTime64(9, 'UTC'), NAME is String or LowCardinality(String), pairs are Nested or
 * Map. The other kinds have the same type in both. The dialect of a table says which type each
 * column has. It is read from the table itself, since a modern server may have tables from before
 * its upgrade.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etwas_ship_table {
    ETWAS_SHIP_EVENTS,  /* a row per event: DATABASE.NAME */
    ETWAS_SHIP_BUFFERS, /* a row per buffer, end of file, or dropped file: DATABASE.NAME_buffer */
    ETWAS_SHIP_TABLES,
};

enum etwas_ship_type {
    ETWAS_SHIP_U8,
    ETWAS_SHIP_U16,
    ETWAS_SHIP_U32,
    ETWAS_SHIP_U64,
    ETWAS_SHIP_DATE,   /* u16: days since 1970 */
    ETWAS_SHIP_TIME,   /* i64: ns since 1970 */
    ETWAS_SHIP_GUID,   /* UUID */
    ETWAS_SHIP_STRING, /* any bytes */
    ETWAS_SHIP_NAME,   /* a string with few distinct values */
    ETWAS_SHIP_INTS,   /* any number of pairs of a key and an Int64, */
    ETWAS_SHIP_REALS,  /* a Float64, */
    ETWAS_SHIP_TEXTS,  /* or a string */
};

struct etwas_ship_column {
    const char *name;
    enum etwas_ship_type type;
    const char *codec; /* modern: the compression codec */
};

/* Columns of ETWAS_SHIP_EVENTS, in the order of the DDL and of blocks. */
enum etwas_ship_event_column {
    ETWAS_SHIP_EVENT_DAY, /* of the block's first event */
    ETWAS_SHIP_EVENT_TIME,
    ETWAS_SHIP_EVENT_TIME_ERROR, /* u32, ns: maximum error of `time` */
    ETWAS_SHIP_EVENT_HOST,
    ETWAS_SHIP_EVENT_SESSION,  /* u64 */
    ETWAS_SHIP_EVENT_PART,     /* u32 */
    ETWAS_SHIP_EVENT_CPU,      /* u16 */
    ETWAS_SHIP_EVENT_BUFFER,   /* u64 */
    ETWAS_SHIP_EVENT_POSITION, /* u32 */
    ETWAS_SHIP_EVENT_PID,      /* u32 */
    ETWAS_SHIP_EVENT_TID,      /* u32 */
    ETWAS_SHIP_EVENT_PROVIDER_ID,
    ETWAS_SHIP_EVENT_PROVIDER,
    ETWAS_SHIP_EVENT_CLASS_ID,
    ETWAS_SHIP_EVENT_CLASS,
    ETWAS_SHIP_EVENT_EVENT,
    ETWAS_SHIP_EVENT_OPCODE,          /* u8 */
    ETWAS_SHIP_EVENT_LEVEL,           /* u8 */
    ETWAS_SHIP_EVENT_ID,              /* u16 */
    ETWAS_SHIP_EVENT_KEYWORD,         /* u64 */
    ETWAS_SHIP_EVENT_INSTANCE,        /* u32 */
    ETWAS_SHIP_EVENT_PARENT_INSTANCE, /* u32 */
    ETWAS_SHIP_EVENT_ACTIVITY,
    ETWAS_SHIP_EVENT_RELATED_ACTIVITY,
    ETWAS_SHIP_EVENT_INTS,
    ETWAS_SHIP_EVENT_REALS,
    ETWAS_SHIP_EVENT_TEXTS,
    ETWAS_SHIP_EVENT_PAYLOAD,
    ETWAS_SHIP_EVENT_COLUMNS,
};

/* Columns of ETWAS_SHIP_BUFFERS. */
enum etwas_ship_buffer_column {
    ETWAS_SHIP_BUFFER_DAY,
    ETWAS_SHIP_BUFFER_HOST,
    ETWAS_SHIP_BUFFER_SESSION,    /* u64 */
    ETWAS_SHIP_BUFFER_PART,       /* u32 */
    ETWAS_SHIP_BUFFER_CPU,        /* u16 */
    ETWAS_SHIP_BUFFER_BUFFER,     /* u64 */
    ETWAS_SHIP_BUFFER_FIRST_TIME, /* TIME; likewise LAST_TIME */
    ETWAS_SHIP_BUFFER_LAST_TIME,
    ETWAS_SHIP_BUFFER_EVENTS, /* u64; likewise BYTES */
    ETWAS_SHIP_BUFFER_BYTES,
    ETWAS_SHIP_BUFFER_FILE,          /* STRING */
    ETWAS_SHIP_BUFFER_FILE_POSITION, /* u64; likewise DAMAGES */
    ETWAS_SHIP_BUFFER_DAMAGES,
    ETWAS_SHIP_BUFFER_STATE, /* u8: enum etwas_ship_buffer_state */
    /* u64, as are all before ENDED; 0 unless the state is END or RECOVERED */
    ETWAS_SHIP_BUFFER_RECORDED,
    ETWAS_SHIP_BUFFER_OVERWRITTEN,
    ETWAS_SHIP_BUFFER_LOST, /* of all causes; by cause: */
    ETWAS_SHIP_BUFFER_LOST_NO_BUFFER,
    ETWAS_SHIP_BUFFER_LOST_BACKLOG_FULL,
    ETWAS_SHIP_BUFFER_LOST_WRITE_ERROR,
    ETWAS_SHIP_BUFFER_LOST_FILE_FULL,
    ETWAS_SHIP_BUFFER_LOST_ABANDONED,
    ETWAS_SHIP_BUFFER_LOST_UNDELIVERED,
    ETWAS_SHIP_BUFFER_LOST_UNATTACHED,
    ETWAS_SHIP_BUFFER_LOST_TOO_LARGE,
    ETWAS_SHIP_BUFFER_LOST_WITHHELD,
    ETWAS_SHIP_BUFFER_LOST_OTHER,
    ETWAS_SHIP_BUFFER_ENDED, /* u8: the session ended with this file */
    ETWAS_SHIP_BUFFER_COLUMNS,
};

/* The subject of a row of ETWAS_SHIP_BUFFERS. */
enum etwas_ship_buffer_state {
    ETWAS_SHIP_STATE_BUFFER, /* a buffer */
    ETWAS_SHIP_STATE_END,    /* the end of a file, with its totals */
    /* a file that was removed before all of it was shipped: `events` were not */
    ETWAS_SHIP_STATE_GONE,
    /* the end of a recovered file, with the totals of the whole session */
    ETWAS_SHIP_STATE_RECOVERED,
};

enum {
    ETWAS_SHIP_MOST_COLUMNS = 32
};

_Static_assert((int)ETWAS_SHIP_EVENT_COLUMNS <= (int)ETWAS_SHIP_MOST_COLUMNS,
               "and a bit each in 64");
_Static_assert((int)ETWAS_SHIP_BUFFER_COLUMNS <= (int)ETWAS_SHIP_MOST_COLUMNS, "likewise");

/* Returns all columns of a table, *count of them. */
const struct etwas_ship_column *etwas_ship_columns(enum etwas_ship_table table, uint32_t *count);

/*
 * A column that is not sent. It shows a TIME in ns since 1970 as Int64, so that the same queries
 * work on every server.
 */
struct etwas_ship_alias {
    const char *name;
    const char *time; /* the column that it shows */
};

const struct etwas_ship_alias *etwas_ship_aliases(enum etwas_ship_table table, uint32_t *count);

/* Returns what this table's name has behind the name of the first table: "" or "_buffer". */
const char *etwas_ship_table_suffix(enum etwas_ship_table table);

/*
 * Returns the type's name in a table of that dialect. For plain pairs it is the type of the values:
 * "Int64".
 */
const char *etwas_ship_type_name(enum etwas_ship_type type, bool is_modern);

/* Returns the size of a value in a block, or 0 for a type without fixed width. */
uint32_t etwas_ship_type_bytes(enum etwas_ship_type type);

/*
 * Suffixes of the two columns that plain pairs have. Queries name the halves of a Map in the same
 * way.
 */
#define ETWAS_SHIP_KEYS ".keys"
#define ETWAS_SHIP_VALUES ".values"

/* Returns whether the type is INTS, REALS or TEXTS. */
static inline bool etwas_ship_is_pairs(enum etwas_ship_type type)
{
    return type >= ETWAS_SHIP_INTS;
}

#endif
