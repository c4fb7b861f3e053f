/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The format on disk: the buffer header, the record headers and the log file header of an .etl
 * file.
 *
 * Writer and reader share it, so that they cannot diverge. Every structure is naturally aligned,
 * without padding and little-endian. Its size is asserted below it, the offset of each field in
 * tests/etl/layout_test.c. "raw" stamps are ticks of the session's clock, "filetime" is 100 ns
 * units since 1601-01-01 UTC.
 *
 * A file is buffer 0, buffer 1, … back to back. A buffer is a 72-byte header, then records, each
 * beginning on a multiple of 8 counted from the start of the buffer, then 0xFF up to its size.
 */
#ifndef ETWAS_ETL_LAYOUT_H
#define ETWAS_ETL_LAYOUT_H

#include <etwas/evntrace.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Buffers --------------------------------------------------------------------------------- */

enum {
    ETWAS_ETL_BUFFER_HEADER_BYTES = 72,
    ETWAS_ETL_SMALLEST_BUFFER_BYTES = 1024,        /* the smallest any system accepts */
    ETWAS_ETL_LARGEST_BUFFER_BYTES = 16384 * 1024, /* 16 MiB, the largest */
    ETWAS_ETL_LARGEST_RECORD_BYTES = 65535,        /* the size field of a record is 16 bits */
    ETWAS_ETL_PADDING_BYTE = 0xFF,                 /* fills a buffer from Offset to its size */
};

/* etwas_etl_buffer_header.flags */
enum {
    ETWAS_ETL_BUFFER_FLUSH_MARKER = 0x0001, /* buffer 0, and the last buffer of the file */
    ETWAS_ETL_BUFFER_EVENTS_LOST = 0x0002,
    ETWAS_ETL_BUFFER_BUFFER_LOST = 0x0004,
    ETWAS_ETL_BUFFER_BACKUP_CORRUPT = 0x0008,
    ETWAS_ETL_BUFFER_PROCESSOR_INDEX = 0x0020, /* context holds a 16-bit processor index */
    ETWAS_ETL_BUFFER_COMPRESSED = 0x0040,
};

/* etwas_etl_buffer_header.type */
enum {
    ETWAS_ETL_BUFFER_GENERIC = 0,
    ETWAS_ETL_BUFFER_HEADER = 4, /* buffer 0 */
    ETWAS_ETL_BUFFER_DEBUG_INFORMATION = 7,
};

enum {
    ETWAS_ETL_BUFFER_STATE_FLUSH = 3,        /* state of every buffer in a file */
    ETWAS_ETL_PROCESSOR_INDEX_MASK = 0x07FF, /* processor indexes are 11 bits */
    ETWAS_ETL_TIMES_TICK_100NS = 10000,      /* unit of processor times, if records have them */
};

struct etwas_etl_buffer_header {
    uint32_t buffer_bytes;   /* bytes this buffer takes in the file */
    uint32_t saved_offset;   /* = offset */
    uint32_t current_offset; /* allocation cursor at flush: anything >= offset */
    int32_t reference_count; /* 0 */
    int64_t time_stamp;      /* raw, when the buffer was collected; 0 in buffer 0 */
    int64_t sequence_number; /* 0 for buffer 0, then 1, 2, 3 …; from 1 again when appended */
    uint64_t clock;          /* 0 in files */
    uint16_t processor;      /* with PROCESSOR_INDEX; else low byte number, high byte alignment */
    uint16_t logger_id;
    uint32_t state;  /* ETWAS_ETL_BUFFER_STATE_FLUSH */
    uint32_t offset; /* end of data counted from the buffer's start, uncompressed */
    uint16_t flags;
    uint16_t type;
    uint64_t reserved[2]; /* 0 */
};
_Static_assert(sizeof(struct etwas_etl_buffer_header) == ETWAS_ETL_BUFFER_HEADER_BYTES, "size");

/* Returns the index of the processor whose records are in the buffer. */
static inline uint16_t etwas_etl_buffer_processor(const struct etwas_etl_buffer_header *header)
{
    bool wide = (header->flags & ETWAS_ETL_BUFFER_PROCESSOR_INDEX) != 0;

    return header->processor & (wide ? ETWAS_ETL_PROCESSOR_INDEX_MASK : 0xFF);
}

/* ---- Markers: the first u32 of every record -------------------------------------------------- */

/*
 * Header types, bits 16..23 of a marker whose top byte is ETWAS_ETL_MARKER_FLAGS. Both types of a
 * pair, 32 and 64, have the same header; the type says how wide the pointers in the payload are.
 */
enum {
    ETWAS_ETL_SYSTEM32 = 0x01,
    ETWAS_ETL_SYSTEM64 = 0x02,
    ETWAS_ETL_COMPACT32 = 0x03,
    ETWAS_ETL_COMPACT64 = 0x04,
    ETWAS_ETL_FULL_HEADER32 = 0x0A,
    ETWAS_ETL_INSTANCE32 = 0x0B,
    ETWAS_ETL_TIMED = 0x0C,
    ETWAS_ETL_ERROR = 0x0D,
    ETWAS_ETL_WNODE = 0x0E,
    ETWAS_ETL_PERFINFO32 = 0x10,
    ETWAS_ETL_PERFINFO64 = 0x11,
    ETWAS_ETL_EVENT_HEADER32 = 0x12,
    ETWAS_ETL_EVENT_HEADER64 = 0x13,
    ETWAS_ETL_FULL_HEADER64 = 0x14,
    ETWAS_ETL_INSTANCE64 = 0x15,
};

enum {
    ETWAS_ETL_MARKER_FLAGS = 0xC0,         /* bit 31 "trace", bit 30 "event trace" */
    ETWAS_ETL_MESSAGE_MARKER_FLAGS = 0x90, /* bit 31, bit 28: a software trace message */
    ETWAS_ETL_TIMED_MARKER_NIBBLE = 0xB,   /* top nibble of the obsolete short form */
};

#define ETWAS_ETL_END_OF_DATA 0xFFFFFFFFu

/* The marker of a record: `low` is the size for FULL_HEADER, INSTANCE and EVENT_HEADER, and the
 * class version for SYSTEM, COMPACT and PERFINFO.
 * etwas_etl_marker(ETWAS_ETL_SYSTEM64, 2) == 0xC0020002. */
static inline uint32_t etwas_etl_marker(uint8_t header_type, uint16_t low)
{
    return (uint32_t)ETWAS_ETL_MARKER_FLAGS << 24 | (uint32_t)header_type << 16 | low;
}

/* Records and extended items begin on multiples of 8: 0 → 0, 1 → 8, 72 → 72, 73 → 80. */
static inline size_t etwas_etl_round_up_8(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/* ---- Record headers -------------------------------------------------------------------------- */

/* Kernel events and the session's own records. */
struct etwas_etl_system_header {
    uint16_t version; /* class version in the low 8 bits, extension bits above */
    uint8_t header_type;
    uint8_t marker_flags;
    uint16_t size; /* of the whole record, not rounded */
    uint8_t type;
    uint8_t group;
    uint32_t thread_id;
    uint32_t process_id;
    int64_t time_stamp; /* raw */
    uint32_t kernel_time;
    uint32_t user_time;
};
_Static_assert(sizeof(struct etwas_etl_system_header) == 32, "SYSTEM header");

/* SYSTEM without the processor times. */
struct etwas_etl_compact_header {
    uint16_t version;
    uint8_t header_type;
    uint8_t marker_flags;
    uint16_t size;
    uint8_t type;
    uint8_t group;
    uint32_t thread_id;
    uint32_t process_id;
    int64_t time_stamp;
};
_Static_assert(sizeof(struct etwas_etl_compact_header) == 24, "COMPACT header");

/* Frequent kernel events. */
struct etwas_etl_perfinfo_header {
    uint16_t version;
    uint8_t header_type;
    uint8_t marker_flags;
    uint16_t size;
    uint8_t type;
    uint8_t group;
    int64_t time_stamp;
};
_Static_assert(sizeof(struct etwas_etl_perfinfo_header) == 16, "PERFINFO header");

/* Extension bits in the version of SYSTEM, COMPACT and PERFINFO: what lies between the header and
 * the payload. */
enum {
    ETWAS_ETL_VERSION_MASK = 0x00FF,
    ETWAS_ETL_EXTENSION_PEBS = 0x8000,          /* one u64 */
    ETWAS_ETL_EXTENSION_COUNTERS_MASK = 0x0700, /* 0..7 times u64 */
    ETWAS_ETL_EXTENSION_COUNTERS_SHIFT = 8,
};

/* A classic event (TraceEvent). */
struct etwas_etl_full_header {
    uint16_t size;
    uint8_t header_type;
    uint8_t marker_flags;
    uint8_t type; /* Class.Type, the opcode */
    uint8_t level;
    uint16_t version;
    uint32_t thread_id;
    uint32_t process_id;
    int64_t time_stamp; /* raw */
    etwas_guid guid;
    uint32_t kernel_time; /* with user_time: ProcessorTime of a private session */
    uint32_t user_time;
};
_Static_assert(sizeof(struct etwas_etl_full_header) == 48, "FULL_HEADER");

/*
 * An instance event (TraceEventInstance): FULL_HEADER, then the ids of the instance and its parent.
 */
struct etwas_etl_instance_header {
    struct etwas_etl_full_header full;
    uint32_t instance_id;
    uint32_t parent_instance_id;
    etwas_guid parent_guid;
};
_Static_assert(sizeof(struct etwas_etl_instance_header) == 72, "INSTANCE header");

/* A manifest or TraceLogging event (EventWrite). */
struct etwas_etl_event_header {
    uint16_t size;
    uint8_t header_type;
    uint8_t marker_flags;
    uint16_t flags; /* on disk 0 or 1 (extended items follow); the other bits are derived */
    uint16_t event_property;
    uint32_t thread_id;
    uint32_t process_id;
    int64_t time_stamp; /* raw */
    etwas_guid provider_id;
    uint16_t id;
    uint8_t version;
    uint8_t channel;
    uint8_t level;
    uint8_t opcode;
    uint16_t task;
    uint64_t keyword;
    uint32_t kernel_time;
    uint32_t user_time;
    etwas_guid activity_id;
};
_Static_assert(sizeof(struct etwas_etl_event_header) == 80, "EVENT_HEADER");

enum {
    ETWAS_ETL_EVENT_EXTENDED_INFO = 0x0001
}; /* etwas_etl_event_header.flags */

/* An extended item as it lies on disk after an EVENT_HEADER: this, then data_bytes of data, then
 * zero up to item_bytes. Sixteen bytes of data make an item of 24. */
struct etwas_etl_extended_item {
    uint16_t item_bytes; /* round_up_8(8 + data_bytes) */
    uint16_t type;       /* EVENT_HEADER_EXT_TYPE_* */
    uint16_t linkage;    /* bit 0: another item follows */
    uint16_t data_bytes;
};
_Static_assert(sizeof(struct etwas_etl_extended_item) == 8, "extended item");

enum {
    ETWAS_ETL_ITEM_LINKAGE = 0x0001
};

/* A software trace message (TraceMessage): this, then the optional fields its flags name, in the
 * order of the flags, then the arguments. */
struct etwas_etl_message_header {
    uint16_t size;
    uint8_t zero;
    uint8_t marker_flags; /* ETWAS_ETL_MESSAGE_MARKER_FLAGS */
    uint16_t message_number;
    uint16_t option_flags; /* TRACE_MESSAGE_… as given to TraceMessage */
};
_Static_assert(sizeof(struct etwas_etl_message_header) == 8, "MESSAGE header");

static inline bool etwas_etl_message_has_stamp(uint16_t option_flags)
{
    return (option_flags & (TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_PERFORMANCE_TIMESTAMP)) != 0;
}

/*
 * Returns where the stamp lies from the record's start, by its option flags; if it has none, where
 * it would be.
 */
static inline uint32_t etwas_etl_message_stamp_at(uint16_t option_flags)
{
    uint32_t at = sizeof(struct etwas_etl_message_header);

    if ((option_flags & TRACE_MESSAGE_SEQUENCE) != 0) {
        at += 4;
    }
    if ((option_flags & TRACE_MESSAGE_GUID) != 0) {
        at += 16;
    } else if ((option_flags & TRACE_MESSAGE_COMPONENTID) != 0) {
        at += 4;
    }
    return at;
}

/* ---- Groups: the high byte of a hook id ------------------------------------------------------ */

enum {
    ETWAS_ETL_GROUP_HEADER = 0x00,
    ETWAS_ETL_HOOK_HEADER_EXTENSION = 0x0005,
    ETWAS_ETL_HOOK_IMAGE_LOAD = 0x030A, /* in group process, but of the image class */
};

/* ---- The log file header: payload of the first record of buffer 0 ---------------------------- */

struct etwas_etl_system_time {
    uint16_t year;
    uint16_t month;
    uint16_t day_of_week;
    uint16_t day;
    uint16_t hour;
    uint16_t minute;
    uint16_t second;
    uint16_t milliseconds;
};
_Static_assert(sizeof(struct etwas_etl_system_time) == 16, "SYSTEMTIME");

struct etwas_etl_time_zone {
    int32_t bias_minutes; /* UTC = local + bias */
    uint16_t standard_name[32];
    struct etwas_etl_system_time standard_date;
    int32_t standard_bias_minutes;
    uint16_t daylight_name[32];
    struct etwas_etl_system_time daylight_date;
    int32_t daylight_bias_minutes;
};
_Static_assert(sizeof(struct etwas_etl_time_zone) == 172, "time zone");

/* The beginning that both forms of the log file header share. */
struct etwas_etl_log_header_start {
    uint32_t buffer_bytes; /* of the session, uncompressed */
    uint8_t version[4];    /* of the system: major, minor; of the layout: major, minor */
    uint32_t provider_version;
    uint32_t number_of_processors; /* exceeds every processor index in the file */
    int64_t end_filetime;          /* 0 while the session runs */
    uint32_t timer_resolution_100ns;
    uint32_t maximum_file_size; /* MiB, or KiB with USE_KBYTES_FOR_SIZE; 0 = no limit */
    uint32_t log_file_mode;
    uint32_t buffers_written; /* buffer 0 included */
    uint32_t start_buffers;   /* 1 */
    uint32_t pointer_bytes;   /* 4 or 8 */
    uint32_t events_lost;
    uint32_t cpu_speed_mhz;
};
_Static_assert(sizeof(struct etwas_etl_log_header_start) == 56, "common start");

/* The form of a SYSTEM64 record; two UTF-16 strings, each ending with 0, follow: the session's name
 * and the file's. */
struct etwas_etl_log_header64 {
    struct etwas_etl_log_header_start start;
    uint64_t logger_name;   /* not a pointer in files: 0 */
    uint64_t log_file_name; /* likewise */
    struct etwas_etl_time_zone time_zone;
    uint32_t padding;
    int64_t boot_filetime;
    int64_t performance_frequency_hz;
    int64_t start_filetime;
    uint32_t clock_type; /* ReservedFlags */
    uint32_t buffers_lost;
};
_Static_assert(sizeof(struct etwas_etl_log_header64) == 280, "64-bit form");

/* The form of a SYSTEM32 record is the same, except that the two names have 4 bytes each. */
enum {
    ETWAS_ETL_LOG_HEADER32_BYTES = sizeof(struct etwas_etl_log_header64) - 8,
    ETWAS_ETL_LOG_HEADER32_TIME_ZONE = offsetof(struct etwas_etl_log_header64, time_zone) - 8,
};

/*
 * Where the log file header of every file begins: 72 + 32. The fields that a session rewrites at
 * its end (EndTime, BuffersWritten, EventsLost, BuffersLost) lie at this offset plus their own.
 */
enum {
    ETWAS_ETL_LOG_HEADER_FILE_OFFSET = 104,
    ETWAS_ETL_LOG_HEADER_CLASS_VERSION = 2, /* version of the SYSTEM record that carries it */
};

/* clock_type */
enum {
    ETWAS_ETL_CLOCK_PERFORMANCE = 1,
    ETWAS_ETL_CLOCK_SYSTEM = 2,
    ETWAS_ETL_CLOCK_CYCLES = 3,
};

#endif
