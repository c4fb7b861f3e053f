/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The records that etwas writes for itself: classic events (FULL_HEADER64) of one class. Other
 * readers see events of an unknown class and skip them. The reader of etwas neither delivers nor
 * counts the first four. These lie in buffer 0, after the log file header record and in the order
 * below, and header.time_stamp is that of the log file header record. The reader delivers message
 * formats, manifest chunks, and what a system logger records about its sources, itself and the
 * kernel's symbols; these are ordinary events. Losses lie in buffer 0 after the clock snapshots;
 * the reader neither delivers nor counts them, but returns them on request.
 */
#ifndef ETWAS_ETL_OWN_RECORD_H
#define ETWAS_ETL_OWN_RECORD_H

#include <stddef.h>
#include <string.h>

#include "etl/layout.h"
#include "etl/own_layouts.h"

/* 7be5a508-db35-4ec9-b650-a9720ecb3b69 */
static const etwas_guid etwas_etl_own_class = {
    0x7be5a508,
    0xdb35,
    0x4ec9,
    {0xb6, 0x50, 0xa9, 0x72, 0x0e, 0xcb, 0x3b, 0x69},
};

#define ETWAS_OWN_NUMBER_RECORD(NAME, type, version, name)                                         \
    ETWAS_ETL_##NAME##_TYPE = (type), ETWAS_ETL_##NAME##_VERSION = (version),
#define ETWAS_OWN_NUMBER_FIELD(type, member, name)
#define ETWAS_OWN_NUMBER_CHARS(count, member, name)
#define ETWAS_OWN_NUMBER_STRING(type, name)
#define ETWAS_OWN_NUMBER_REST(type, name)
#define ETWAS_OWN_NUMBERS(NAME) ETWAS_OWN_##NAME(ETWAS_OWN_NUMBER)

/* Class.Type, and the version that is in Class.Version and begins each payload. */
enum {
    ETWAS_OWN_LAYOUTS(ETWAS_OWN_NUMBERS) ETWAS_ETL_LAST_DELIVERED_TYPE = ETWAS_ETL_MISSING_TYPE,
    ETWAS_ETL_MESSAGE_FORMAT_TYPE = 4,
    ETWAS_ETL_LOSS_TYPE = 16,
    ETWAS_ETL_MANIFEST_CHUNK_TYPE = 17, /* delivered, too */
    ETWAS_ETL_MESSAGE_FORMAT_VERSION = 1,
    ETWAS_ETL_LOSS_VERSION = 1,
    ETWAS_ETL_MANIFEST_CHUNK_VERSION = 1,
};

#define ETWAS_OWN_MEMBER_RECORD(NAME, type, number, name) uint32_t version;
#define ETWAS_OWN_MEMBER_FIELD(type, member, name) etwas_field_##type member;
#define ETWAS_OWN_MEMBER_CHARS(count, member, name) char member[count];
#define ETWAS_OWN_MEMBER_STRING(type, name)
#define ETWAS_OWN_MEMBER_REST(type, name)

/* The fixed part of a record's payload. */
#define ETWAS_OWN_STRUCT(tag, NAME, bytes)                                                         \
    struct tag {                                                                                   \
        ETWAS_OWN_##NAME(ETWAS_OWN_MEMBER)                                                         \
    };                                                                                             \
    _Static_assert(sizeof(struct tag) == (bytes), #tag)

/* Returns whether this classic record is one of etwas' own that is never delivered or counted. */
static inline bool etwas_etl_is_own_record(const struct etwas_etl_full_header *header)
{
    return memcmp(&header->guid, &etwas_etl_own_class, sizeof header->guid) == 0 &&
           header->type != ETWAS_ETL_MANIFEST_CHUNK_TYPE &&
           (header->type < ETWAS_ETL_MESSAGE_FORMAT_TYPE ||
            header->type > ETWAS_ETL_LAST_DELIVERED_TYPE);
}

/*
 * Makes the header of one of etwas' own records, with the ids and the stamp of the log file header
 * record.
 */
static inline struct etwas_etl_full_header etwas_etl_own_header(const void *log_header_record,
                                                                size_t size, uint8_t type,
                                                                uint16_t version)
{
    struct etwas_etl_system_header first;

    memcpy(&first, log_header_record, sizeof first);
    return (struct etwas_etl_full_header){
        .size = (uint16_t)size,
        .header_type = ETWAS_ETL_FULL_HEADER64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .type = type,
        .version = version,
        .thread_id = first.thread_id,
        .process_id = first.process_id,
        .time_stamp = first.time_stamp,
        .guid = etwas_etl_own_class,
    };
}

/* ---- The calibration: the rate of the session's clock ---------------------------------------- */

ETWAS_OWN_STRUCT(etwas_etl_calibration, CALIBRATION, 48);
#define ETWAS_ETL_CALIBRATION_LARGEST (UINT64_C(1) << 56)

struct etwas_etl_calibration_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_calibration calibration;
};
_Static_assert(sizeof(struct etwas_etl_calibration_record) == 96, "calibration record");

/* ---- The totals of one file ------------------------------------------------------------------ */

/* Why a file is the last of its session. */
enum {
    ETWAS_ETL_ENDS_SESSION = 1,   /* no other file of the session follows */
    ETWAS_ETL_ENDS_RECOVERED = 2, /* from the memory of a session that could not end it */
};

ETWAS_OWN_STRUCT(etwas_etl_totals, TOTALS, 56);
/* The part that all files have. */
#define ETWAS_ETL_TOTALS_LEAST_BYTES offsetof(struct etwas_etl_totals, attempted_events)

static inline uint16_t etwas_etl_saturate16(uint32_t count)
{
    return count < UINT16_MAX ? (uint16_t)count : UINT16_MAX;
}

struct etwas_etl_totals_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_totals totals;
};
_Static_assert(sizeof(struct etwas_etl_totals_record) == 104, "totals record");

/* ---- The clock: what was requested, what the session got, whether the counter was trusted ---- */

ETWAS_OWN_STRUCT(etwas_etl_clock_trust, CLOCK_RECORD, 96);

struct etwas_etl_clock_trust_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_clock_trust clock;
};
_Static_assert(sizeof(struct etwas_etl_clock_trust_record) == 144, "clock record");

/* ---- Clock snapshots: one moment by all clocks ----------------------------------------------- */

/*
 * A reader interpolates between clock snapshots. They lie in buffer 0, the oldest first. Clock
 * snapshots that no longer fit there were moved into buffers of their own: data buffers whose first
 * record is a clock snapshot, and which contain nothing else. There header.time_stamp keeps the
 * stream of its processor in order and is no newer than the clock snapshots. In a file that was
 * appended to or is damaged, they need not be in order.
 */

/* Why a clock snapshot was taken. */
enum {
    ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED = 0,
    ETWAS_ETL_CLOCK_SNAPSHOT_FILE_OPENED =
        1, /* a file that is not the session's first, or a snapshot */
    ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING = 2,
    ETWAS_ETL_CLOCK_SNAPSHOT_FILE_ENDED = 3,
};

ETWAS_OWN_STRUCT(etwas_etl_clock_snapshot, CLOCK_SNAPSHOT, 48);

struct etwas_etl_clock_snapshot_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_clock_snapshot clock_snapshot;
};
_Static_assert(sizeof(struct etwas_etl_clock_snapshot_record) == 96, "clock snapshot record");

/* ---- Message formats ------------------------------------------------------------------------- */

/*
 * The format of messages, in buffers of event metadata (event_metadata.h). The format text follows,
 * in UTF-8 with a terminating 0; it has a conversion of printf for each argument
 * (docs/reference/file-format.md).
 */
struct etwas_etl_message_format {
    uint32_t version;
    uint16_t number; /* the message's number */
    uint16_t reserved;
    etwas_guid guid;
};
_Static_assert(sizeof(struct etwas_etl_message_format) == 24, "message format");

/* ---- Manifest chunks: what providers describe of their events -------------------------------- */

/*
 * A chunk that a provider wrote once as an event. It is repeated in every file, in buffers of event
 * metadata (event_metadata.h). The payload of that event follows.
 */
struct etwas_etl_manifest_chunk {
    uint32_t version;
    /* the process that wrote it; the chunks of one document come from one thread */
    uint32_t process_id;
    uint32_t thread_id;
    uint32_t reserved;
    etwas_guid provider;
};
_Static_assert(sizeof(struct etwas_etl_manifest_chunk) == 32, "part of a manifest");

ETWAS_OWN_STRUCT(etwas_etl_kernel_rung, KERNEL_RUNG, 16);

/* ---- The accounts of a system logger's sources ----------------------------------------------- */

/* How the events are counted. */
enum {
    ETWAS_ETL_COUNTED_BY_NOBODY = 0,  /* the logger's own record, not an event of the kernel */
    ETWAS_ETL_COUNTED_EACH = 1,       /* the kernel counts each event, outside the ring */
    ETWAS_ETL_COUNTED_LOST_ALONE = 2, /* the kernel counts only those that it lost */
};

ETWAS_OWN_STRUCT(etwas_etl_account, ACCOUNT, 80);

ETWAS_OWN_STRUCT(etwas_etl_account_records, ACCOUNT_RECORDS, 56);

/* The cause of a loss in the kernel. */
enum {
    ETWAS_ETL_KERNEL_LOSS_NO_ROOM = 0, /* in the processor's ring */
    ETWAS_ETL_KERNEL_LOSS_OFF = 1,     /* the processor was offline, or not yet recorded */
};

ETWAS_OWN_STRUCT(etwas_etl_kernel_loss, KERNEL_LOSS, 32);

ETWAS_OWN_STRUCT(etwas_etl_kernel_symbol, KERNEL_SYMBOL, 24);

ETWAS_OWN_STRUCT(etwas_etl_user_stack, USER_STACK, 32);

ETWAS_OWN_STRUCT(etwas_etl_namespace, NAMESPACE, 16);

/* ---- What a thread has used ------------------------------------------------------------------ */

/* Which counters are known. */
enum {
    ETWAS_ETL_COUNTERS_RAN = 1 << 0,    /* run_ns */
    ETWAS_ETL_COUNTERS_USED = 1 << 1,   /* times in user and kernel mode, switches, faults */
    ETWAS_ETL_COUNTERS_WAITED = 1 << 2, /* wait_ns */
};

ETWAS_OWN_STRUCT(etwas_etl_counters, COUNTERS, 120);

/* ---- What a trigger's file has --------------------------------------------------------------- */

ETWAS_OWN_STRUCT(etwas_etl_window, WINDOW, 64);

ETWAS_OWN_STRUCT(etwas_etl_missing, MISSING, 24);

/* ---- What a session has lost, and when ------------------------------------------------------- */

/*
 * Events that were counted as lost between two moments. These records lie in buffer 0, after the
 * clock snapshots. In a file that was ended, their sum is the file's count of lost events without
 * those lost in the kernel.
 */
struct etwas_etl_loss {
    uint32_t version;
    uint32_t cause;           /* ETWAS_LOST_* of <etwas/reading.h>, as is the next */
    uint32_t processor;       /* ETWAS_LOST_ANYWHERE: unknown; their number: extra stream */
    uint32_t retention_class; /* 0: no class, or not known */
    uint64_t events;
    int64_t from_raw;
    int64_t until_raw;
};
_Static_assert(sizeof(struct etwas_etl_loss) == 40, "loss");

struct etwas_etl_loss_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_loss loss;
};
_Static_assert(sizeof(struct etwas_etl_loss_record) == 88, "loss record");

/* ---- The least size of buffer 0 -------------------------------------------------------------- */

/*
 * Returns the size of the log file header record, not rounded; names in UTF-16 units without their
 * terminating 0.
 */
static inline uint32_t etwas_etl_log_header_record_bytes(size_t session_name_units,
                                                         size_t file_name_units)
{
    return (uint32_t)(sizeof(struct etwas_etl_system_header) +
                      sizeof(struct etwas_etl_log_header64) +
                      (session_name_units + 1 + file_name_units + 1) * sizeof(etwas_wchar));
}

/*
 * Returns the offset of the first clock snapshot: 72 + 312 + 4 + 4 (rounding) + 96 + 104 + 144 =
 * 736 with two empty names.
 */
static inline uint32_t etwas_etl_first_clock_snapshot_offset(size_t session_name_units,
                                                             size_t file_name_units)
{
    return ETWAS_ETL_BUFFER_HEADER_BYTES +
           (uint32_t)etwas_etl_round_up_8(
               etwas_etl_log_header_record_bytes(session_name_units, file_name_units)) +
           (uint32_t)(sizeof(struct etwas_etl_calibration_record) +
                      sizeof(struct etwas_etl_totals_record) +
                      sizeof(struct etwas_etl_clock_trust_record));
}

/*
 * Returns the size with the first and the last clock snapshot: 736 + 2 × 96 = 928 with two empty
 * names.
 */
static inline uint32_t etwas_etl_header_buffer_bytes(size_t session_name_units,
                                                     size_t file_name_units)
{
    return etwas_etl_first_clock_snapshot_offset(session_name_units, file_name_units) +
           2 * (uint32_t)sizeof(struct etwas_etl_clock_snapshot_record);
}

#endif
