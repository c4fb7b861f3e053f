/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The records that etwas writes for itself: classic events (FULL_HEADER64) of one class. Other
 * readers see events of an unknown class and skip them. The reader of etwas neither delivers nor
 * counts the first four; these lie in buffer 0, behind the log file header record and in the order
 * below, and header.time_stamp is that of the log file header record. It delivers the formats of
 * messages, parts of manifests, and what a system logger records about its sources, about itself
 * and about the kernel's symbols, which are ordinary events. Losses lie in buffer 0 behind the
 * clock snapshots; the reader neither delivers nor counts them, but returns them on request.
 */
#ifndef ETWAS_ETL_OWN_RECORD_H
#define ETWAS_ETL_OWN_RECORD_H

#include <stddef.h>
#include <string.h>

#include "etl/layout.h"

/* 7be5a508-db35-4ec9-b650-a9720ecb3b69 */
static const etwas_guid etwas_etl_own_class = {
    0x7be5a508,
    0xdb35,
    0x4ec9,
    {0xb6, 0x50, 0xa9, 0x72, 0x0e, 0xcb, 0x3b, 0x69},
};

/* Class.Type, and the version that is in Class.Version and begins each payload. */
enum {
    ETWAS_ETL_CALIBRATION_TYPE = 0,
    ETWAS_ETL_CLOCK_SNAPSHOT_TYPE = 1,
    ETWAS_ETL_TOTALS_TYPE = 2,
    ETWAS_ETL_CLOCK_RECORD_TYPE = 3,
    ETWAS_ETL_MESSAGE_FORMAT_TYPE = 4,
    ETWAS_ETL_ACCOUNT_TYPE = 5,
    ETWAS_ETL_ACCOUNT_RECORDS_TYPE = 6,
    ETWAS_ETL_KERNEL_LOSS_TYPE = 7,
    ETWAS_ETL_SILENT_FLAG_TYPE = 8,
    ETWAS_ETL_KERNEL_SYMBOL_TYPE = 9,
    ETWAS_ETL_KERNEL_RUNG_TYPE = 10,
    ETWAS_ETL_USER_STACK_TYPE = 11,
    ETWAS_ETL_NAMESPACE_TYPE = 12,
    ETWAS_ETL_COUNTERS_TYPE = 13,
    ETWAS_ETL_WINDOW_TYPE = 14,
    ETWAS_ETL_MISSING_TYPE = 15,
    ETWAS_ETL_LAST_DELIVERED_TYPE = ETWAS_ETL_MISSING_TYPE,
    ETWAS_ETL_LOSS_TYPE = 16,
    ETWAS_ETL_MANIFEST_CHUNK_TYPE = 17, /* which is delivered, too */
    ETWAS_ETL_CALIBRATION_VERSION = 1,
    ETWAS_ETL_CLOCK_SNAPSHOT_VERSION = 1,
    ETWAS_ETL_TOTALS_VERSION = 1,
    ETWAS_ETL_CLOCK_RECORD_VERSION = 1,
    ETWAS_ETL_MESSAGE_FORMAT_VERSION = 1,
    ETWAS_ETL_ACCOUNT_VERSION = 1,
    ETWAS_ETL_SILENT_FLAG_VERSION = 1,
    ETWAS_ETL_KERNEL_SYMBOL_VERSION = 1,
    ETWAS_ETL_KERNEL_RUNG_VERSION = 1,
    ETWAS_ETL_USER_STACK_VERSION = 1,
    ETWAS_ETL_NAMESPACE_VERSION = 1,
    ETWAS_ETL_COUNTERS_VERSION = 1,
    ETWAS_ETL_WINDOW_VERSION = 1,
    ETWAS_ETL_LOSS_VERSION = 1,
    ETWAS_ETL_MANIFEST_CHUNK_VERSION = 1,
};

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

/*
 * CpuSpeedInMHz of the log file header is a whole number of MHz. At 2,994.37 MHz that is wrong by
 * 0.02 %, half a second in 40 minutes. Our reader converts clock 3 with this ratio.
 *
 * `ticks` ticks of the session's clock take `nanoseconds` ns; both are between 1 and
 * ETWAS_ETL_CALIBRATION_LARGEST, so that products with a difference of stamps fit in 128 bits. The
 * three readings were taken together: as near as the clocks can be read.
 */
struct etwas_etl_calibration {
    uint32_t version;
    uint32_t clock_type; /* of the session, ETWAS_ETL_CLOCK_* */
    uint64_t ticks;
    uint64_t nanoseconds;
    int64_t raw_stamp; /* the session's clock */
    int64_t qpc_ns;    /* the performance counter */
    int64_t filetime;  /* system time */
};
#define ETWAS_ETL_CALIBRATION_LARGEST (UINT64_C(1) << 56)

struct etwas_etl_calibration_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_calibration calibration;
};
_Static_assert(sizeof(struct etwas_etl_calibration_record) == 96, "calibration record");

/* ---- The totals of one file ------------------------------------------------------------------ */

/* What a file is the end of. */
enum {
    ETWAS_ETL_ENDS_SESSION = 1,   /* no other file of the session follows */
    ETWAS_ETL_ENDS_RECOVERED = 2, /* made of what a session had in memory, which could not end it */
};

/*
 * The log file header counts what was lost in 32 bits, and knows nothing of what a circular file
 * replaced, nor which part of a new-file set a file is. Zeroes until the first sync, brought up to
 * date at each one, final at the end. The counts in an appended file are those of all its sessions.
 */
struct etwas_etl_totals {
    uint32_t version;
    uint32_t part;                /* number of the file in a new-file set, from 1; 0: no set */
    uint64_t overwritten_events;  /* were in the file, and newer ones took their place */
    uint64_t overwritten_buffers; /* likewise */
    uint64_t lost_events;         /* while this file was written; never in it */
    uint64_t lost_buffers;        /* likewise: could not be written */
    uint64_t
        attempted_events; /* by the session's writers, meanwhile; 0: a snapshot's, or not noted */
    uint32_t ends;        /* ETWAS_ETL_ENDS_*; 0 until the file is ended, and in files of before */
    uint16_t unattached_code; /* Win32: why the last of those could not; 0: they all could */
    /* processes that could not log into the session, since it began; UINT16_MAX: or more */
    uint16_t unattached_processes;
};
/* What all files have of it. */
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

/* ---- The clock: what was asked for, what the session got, what the counter was worth --------- */

/*
 * Values as in <etwas/etwas.h>. The counter is measured only for a session that asked for it, or if
 * the process had it measured before. Else verdict and reasons are by what the machine says of it,
 * frequency_hz is 0, and there is no reason that takes measuring.
 */
struct etwas_etl_clock_trust {
    uint32_t version;
    uint32_t requested_clock; /* ClientContext as asked for, 1 for 0 */
    uint32_t clock_type;      /* what the session got, ETWAS_ETL_CLOCK_* */
    uint32_t verdict;         /* ETWAS_CLOCK_VERDICT_*, of the cycle counter */
    uint32_t reasons;         /* ETWAS_CLOCK_REASON_*, likewise */
    uint32_t stated_by;       /* ETWAS_CLOCK_STATED_* */
    uint64_t frequency_hz;    /* of the cycle counter as calibrated; 0: it was not */
    uint64_t stated_hz;       /* 0: nothing states one */
    uint32_t frequency_error_ppb;
    uint16_t processors;  /* of the machine; 0: not noted. The header may count one more: the stream
                             of threads without restartable sequences */
    uint8_t rows;         /* retention classes, and one more for what is of none: so many times are
                             there these streams. 0: once */
    uint8_t one_stream;   /* 1: of each of several rows one, for all processors */
    char clocksource[30]; /* the kernel's, in any session's file; "" where it is not known */
    uint8_t protocol;     /* ETWAS_PROTOCOL_*, by which events came into its buffers; 0: not said */
    uint8_t sequences;    /* ETWAS_SEQUENCES_*: why that is not RSEQ, if it is not for that */
    char hypervisor[16];  /* its signature; "" on bare metal. Both end with 0 */
};

struct etwas_etl_clock_trust_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_clock_trust clock;
};
_Static_assert(sizeof(struct etwas_etl_clock_trust_record) == 144, "clock record");

/* ---- Clock snapshots: one moment by all clocks ----------------------------------------------- */

/*
 * A reader interpolates between clock snapshots. They lie in buffer 0, the oldest first. Clock
 * snapshots that do not fit there any more were moved into buffers of their own: data buffers whose
 * first record is a clock snapshot and which hold nothing else. There header.time_stamp keeps the
 * stream of its processor in order and is no newer than the clock snapshots. In a file that was
 * appended to or is damaged they need not be in order.
 */

/* Why it was taken. */
enum {
    ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED = 0,
    ETWAS_ETL_CLOCK_SNAPSHOT_FILE_OPENED =
        1, /* of a file that is not the session's first; of a snapshot */
    ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING = 2,
    ETWAS_ETL_CLOCK_SNAPSHOT_FILE_ENDED = 3,
};

/*
 * At some moment the session's clock was `raw_stamp`, the performance counter within qpc_error_ns
 * of qpc_ns, and the system time within filetime_error_ns of `filetime`. What is 0 is exact.
 */
struct etwas_etl_clock_snapshot {
    uint32_t version;
    uint32_t reason; /* ETWAS_ETL_CLOCK_SNAPSHOT_* */
    int64_t raw_stamp;
    int64_t qpc_ns;
    int64_t filetime;
    int64_t
        suspended_ns; /* since the machine booted; a jump between clock snapshots is a suspend */
    uint32_t qpc_error_ns;      /* 0 when the session's clock is QPC; system time: 100 at least */
    uint32_t filetime_error_ns; /* 0 when it is system time */
};

struct etwas_etl_clock_snapshot_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_clock_snapshot clock_snapshot;
};
_Static_assert(sizeof(struct etwas_etl_clock_snapshot_record) == 96, "clock snapshot record");

/* ---- Message formats: what messages say ------------------------------------------------------ */

/*
 * The format of messages, in buffers of event metadata (event_metadata.h). The format text follows,
 * in UTF-8 with a terminating 0; it has a conversion of printf for each argument
 * (docs/file-format.md).
 */
struct etwas_etl_message_format {
    uint32_t version;
    uint16_t number; /* of the message */
    uint16_t reserved;
    etwas_guid guid;
};
_Static_assert(sizeof(struct etwas_etl_message_format) == 24, "message format");

/* ---- Parts of manifests: what providers say of their events ---------------------------------- */

/*
 * What a provider wrote as an event once, repeated in every file, in buffers of event metadata
 * (event_metadata.h). The payload of that event follows.
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

/* ---- Whose events of the kernel these are ---------------------------------------------------- */

/*
 * The first that a system logger of its own process says; a file without it is of the whole system.
 */
struct etwas_etl_kernel_rung {
    uint32_t version;
    uint32_t rung; /* ETWAS_KERNEL_RUNG_* */
    uint32_t process_id;
    uint32_t error; /* errno with which the kernel refused the rung above; 0: it did not */
};
_Static_assert(sizeof(struct etwas_etl_kernel_rung) == 16, "rung");

/* ---- The accounts of a system logger's sources ----------------------------------------------- */

/* What counts the events. */
enum {
    ETWAS_ETL_COUNTED_BY_NOBODY = 0,  /* what the logger says by itself: no event of the kernel */
    ETWAS_ETL_COUNTED_EACH = 1,       /* the kernel counts each event, beside the ring */
    ETWAS_ETL_COUNTED_LOST_ALONE = 2, /* the kernel counts those that it lost */
};

/*
 * What became of the events of one of the kernel's sources on one processor. These are the last
 * records that a session writes, except those of its end that belong to no processor. The source's
 * name follows, with its 0.
 *
 *     attempted = taken + lost_no_room + lost_unread + lost_not_handed
 */
struct etwas_etl_account {
    uint32_t version; /* ETWAS_ETL_ACCOUNT_VERSION, as of the next two */
    uint32_t number;  /* of this record among the accounts of the session, from 0 */
    uint32_t count;   /* how many of both kinds there are */
    uint32_t source;  /* the same of all its accounts */
    uint32_t processor;
    uint32_t counted; /* ETWAS_ETL_COUNTED_* */
    uint32_t flags;   /* EnableFlags that ask for it */
    uint32_t damaged; /* 1: the processor's ring was */
    uint64_t attempted;
    uint64_t taken;
    uint64_t without_record;  /* of those that were taken: no record came of them alone */
    uint64_t lost_no_room;    /* in the ring, as the kernel says */
    uint64_t lost_unread;     /* came, and were not as the kernel describes them */
    uint64_t lost_not_handed; /* the kernel counted them, and says nothing of them */
};
_Static_assert(sizeof(struct etwas_etl_account) == 80, "account");

/*
 * The number of records of one kind that were made of the events of a source, in the stream of one
 * processor.
 */
struct etwas_etl_account_records {
    uint32_t version;
    uint32_t number;
    uint32_t count;
    uint32_t source;
    uint32_t processor;
    uint32_t type; /* of the class */
    etwas_guid class_guid;
    uint64_t made;
    uint64_t refused; /* of these: no buffer had room */
};
_Static_assert(sizeof(struct etwas_etl_account_records) == 56, "records of an account");

/* The cause of a loss in the kernel. */
enum {
    ETWAS_ETL_KERNEL_LOSS_NO_ROOM = 0, /* in the processor's ring */
    ETWAS_ETL_KERNEL_LOSS_OFF = 1, /* the processor was off, or came, and was not recorded yet */
};

/*
 * Events of a processor are missing, in whose stream this record lies: so many between the last one
 * that was read from its ring before and the first one after. Events of a processor that was not
 * recorded are not counted.
 */
struct etwas_etl_kernel_loss {
    uint32_t version;
    uint32_t cause;   /* ETWAS_ETL_KERNEL_LOSS_* */
    uint64_t events;  /* 0 of ETWAS_ETL_KERNEL_LOSS_OFF */
    int64_t from_raw; /* 0: since the session began */
    int64_t until_raw;
};
_Static_assert(sizeof(struct etwas_etl_kernel_loss) == 32, "loss in the kernel");

/* ---- Symbols of the kernel ------------------------------------------------------------------- */

/*
 * A function of the kernel in which addresses of the session's events lie. Its name and its module,
 * which is empty for the kernel itself, follow; both end with 0.
 */
struct etwas_etl_kernel_symbol {
    uint32_t version;
    uint32_t left_out; /* how often an address came that there was no room to note, until then */
    uint64_t address;
    uint64_t bytes; /* to the next symbol, at most 65,536 */
};
_Static_assert(sizeof(struct etwas_etl_kernel_symbol) == 24, "kernel symbol");

/* ---- The stacks of programs ------------------------------------------------------------------ */

/*
 * Follows an event that has a stack: what a reader unwinds the program's part from. The registers
 * of `mask` follow, in the order of its bits, as perf events number them; then the stack, from the
 * stack pointer upwards.
 */
struct etwas_etl_user_stack {
    uint32_t version;
    uint32_t machine; /* as ELF has it: 62 x86-64, 183 aarch64 */
    uint32_t process_id;
    uint32_t thread_id;
    int64_t event_stamp;
    uint64_t mask;
};
_Static_assert(sizeof(struct etwas_etl_user_stack) == 32, "user stack");

/* ---- Whose numbers those of processes and threads are ---------------------------------------- */

struct etwas_etl_namespace {
    uint32_t version;
    uint32_t process_id;   /* the process that logs, as it is numbered there */
    uint64_t namespace_id; /* the inode of its PID namespace; 0: not known */
};
_Static_assert(sizeof(struct etwas_etl_namespace) == 16, "namespace");

/* ---- What a thread has used ------------------------------------------------------------------ */

/* Which counters are known. */
enum {
    ETWAS_ETL_COUNTERS_RAN = 1 << 0,    /* run_ns */
    ETWAS_ETL_COUNTERS_USED = 1 << 1,   /* times in user and kernel mode, switches, faults */
    ETWAS_ETL_COUNTERS_WAITED = 1 << 2, /* wait_ns */
};

/*
 * What the kernel has counted of the logging thread since it began: the first thing that the thread
 * does behind the START of an instance or activity, or the last before its END. An unknown counter
 * is 0.
 */
struct etwas_etl_counters {
    uint32_t version;
    uint32_t known;      /* ETWAS_ETL_COUNTERS_* */
    etwas_guid guid;     /* class of the instance, or provider of the activity */
    etwas_guid activity; /* 0 of an instance */
    uint32_t instance;   /* 0 of an activity */
    uint32_t type;       /* EVENT_TRACE_TYPE_START or _END: of which of its events */
    uint32_t processor;  /* on which it was read */
    uint32_t reserved;
    uint64_t run_ns;  /* on processors */
    uint64_t wait_ns; /* ready to run, and not on one */
    uint64_t user_us;
    uint64_t kernel_us;
    uint64_t voluntary_switches; /* it had to wait for something */
    uint64_t involuntary_switches;
    uint64_t minor_faults;
    uint64_t major_faults; /* that had to wait for a disk */
};
_Static_assert(sizeof(struct etwas_etl_counters) == 120, "counters");

/* ---- What a trigger's file has --------------------------------------------------------------- */

/*
 * In a file that a flight recorder wrote for a trigger. It has what was recorded from `from_raw`
 * until `until_raw`, which was requested; older buffers were left out. Between covered_from_raw,
 * exclusively, and covered_to_raw the file has everything that any processor recorded, except what
 * was lost. The trigger lies in there, or both are the trigger's and there is no such interval.
 */
struct etwas_etl_window {
    uint32_t version;  /* ETWAS_ETL_WINDOW_VERSION, as of the next */
    uint32_t number;   /* of the session's windows, from 1; 0: all recorders were asked for it */
    uint32_t triggers; /* that it answers: the first, and those joined to it */
    uint32_t missing;  /* how many records of the next kind there are */
    int64_t trigger_raw;
    int64_t from_raw;
    int64_t until_raw;
    int64_t covered_from_raw;
    int64_t covered_to_raw;
    uint64_t lost; /* events that the session lost between the trigger and the writing */
};
_Static_assert(sizeof(struct etwas_etl_window) == 64, "window");

/* What was overwritten of the window: recorded on a processor after `from_raw` and until to_raw. */
struct etwas_etl_missing {
    uint32_t version;
    uint32_t processor;
    int64_t from_raw;
    int64_t to_raw;
};
_Static_assert(sizeof(struct etwas_etl_missing) == 24, "what is missing");

/* ---- What a session has lost, and when ------------------------------------------------------- */

/*
 * Events that were counted lost between two moments. These records lie in buffer 0, behind the
 * clock snapshots. In a file that was ended their sum is what the file counts as lost, without what
 * was lost in the kernel.
 */
struct etwas_etl_loss {
    uint32_t version;
    uint32_t cause;           /* ETWAS_LOST_*, of <etwas/reading.h> as the next */
    uint32_t processor;       /* ETWAS_LOST_ANYWHERE: not known. Their number: the extra stream */
    uint32_t retention_class; /* 0: of none, or not known */
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

/* ---- How large buffer 0 is at least ---------------------------------------------------------- */

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
 * Returns the size with the clock snapshots of both ends: 736 + 2 × 96 = 928 with two empty names.
 */
static inline uint32_t etwas_etl_header_buffer_bytes(size_t session_name_units,
                                                     size_t file_name_units)
{
    return etwas_etl_first_clock_snapshot_offset(session_name_units, file_name_units) +
           2 * (uint32_t)sizeof(struct etwas_etl_clock_snapshot_record);
}

#endif
