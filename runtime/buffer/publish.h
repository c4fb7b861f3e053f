/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Publication: one record into the current buffer of this processor.
 *
 * A slot has one of two protocols, for as long as a session runs:
 *
 *     rseq       publish_rseq.c: one restartable sequence for each record, one plain store commits
 *                it. The slots of processors, if the process can run sequences
 *     shared     publish_shared.c: atomics, any number of writers on a slot. All slots of a session
 *                that requested it, or of a process that cannot run sequences; the only slot of
 *                a session that has one; and the extra slot of a session with rseq slots, for
 *                threads that cannot run them
 *
 * quick_rseq.h is the first one's common case, inlined into every call that logs
 * (provider/quick.h); quick_shared.h the second one's, inlined into TraceEventInstance.
 *
 * Wait-free for the caller in the sense of I5: it never waits for the flusher, another writer or
 * the kernel; a retry means that another writer published, or that the sequence was interrupted.
 * Retries of sequences are bounded: then the event goes to the extra slot. Async-signal-safe; also
 * safe in a handler that interrupts a publish on the same thread.
 */
#ifndef ETWAS_BUFFER_PUBLISH_H
#define ETWAS_BUFFER_PUBLISH_H

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer/slot.h"
#include "etl/layout.h"

/*
 * A record in its on-disk form, without the time stamp, which publication takes itself, and the
 * times of the thread, which it fills in for sessions that have them. It consists of `header`, then
 * the bytes that the fields point to, without gaps. The first 4 bytes of the header are the marker.
 */
struct etwas_unstamped_record {
    union {
        struct etwas_etl_instance_header *header;
        struct etwas_etl_event_header *event;
    };
    uint32_t header_bytes; /* 48: FULL_HEADER, the start of `header`; 72: INSTANCE; 80: `event` */
    uint32_t bytes;        /* size of the whole record, not rounded, at most 65,535 */
    const MOF_FIELD *fields;
    uint32_t field_count;
    /*
     * Messages only, whose header has 8 to 44 bytes and another layout in the same room: offset of
     * the stamp. 0: the message has no stamp, but still has a place in the order of stamps.
     */
    uint32_t message_stamp_at;
    struct etwas_record_batch *batch; /* NULL: one record; otherwise the first record of these */
};

/*
 * Several records of one moment: they lie in one buffer one behind the other, have one stamp, and
 * become visible together. All are recorded or none is.
 */
struct etwas_record_batch {
    uint32_t records; /* at most 16 */
    uint32_t units;   /* of all records */
    /*
     * Builds the record with this index, which takes as many units as it did when `units` was
     * summed. It is valid until the next call. Async-signal-safe.
     */
    const struct etwas_unstamped_record *(*build)(struct etwas_record_batch *batch, uint32_t index);
    bool has_times; /* set by publication, with the times for each record (R106) */
    uint64_t times; /* as they lie in a header */
};

enum {
    ETWAS_MAXIMUM_ATTEMPTS = 100, /* attempts of a writer before its event goes to the extra slot */
};

static inline bool etwas_record_is_message(const struct etwas_unstamped_record *record)
{
    return record->header_bytes < sizeof(struct etwas_etl_full_header);
}

static inline bool etwas_record_is_event(const struct etwas_unstamped_record *record)
{
    return record->header_bytes == sizeof(struct etwas_etl_event_header);
}

static inline uint32_t etwas_record_count(const struct etwas_unstamped_record *record)
{
    return record->batch != NULL ? record->batch->records : 1;
}

/* Returns the room that the record, or its batch, takes. */
static inline uint32_t etwas_record_room_units(const struct etwas_unstamped_record *record)
{
    return record->batch != NULL ? record->batch->units
                                 : (uint32_t)etwas_etl_round_up_8(record->bytes) / ETWAS_UNIT_BYTES;
}

/* Returns the offset of KernelTime in the header of a record that is no message. */
static inline uint32_t etwas_record_times_at(const struct etwas_unstamped_record *record)
{
    return etwas_record_is_event(record) ? offsetof(struct etwas_etl_event_header, kernel_time)
                                         : offsetof(struct etwas_etl_full_header, kernel_time);
}

/* Returns the stamp's offset in the header; 0: the record has none. */
static inline uint32_t etwas_record_stamp_at(const struct etwas_unstamped_record *record)
{
    return etwas_record_is_message(record)
               ? record->message_stamp_at
               : (uint32_t)offsetof(struct etwas_etl_full_header, time_stamp);
}

/*
 * Returns how many bytes of a field go into a record that has room for `left` more. The field's
 * length is read once, and the record ends where its size says: another thread may change the
 * fields meanwhile.
 */
static inline uint32_t etwas_record_field_bytes(const MOF_FIELD *field, uint32_t left)
{
    uint32_t bytes = ck_pr_load_32(&field->Length);

    return bytes < left ? bytes : left;
}

/*
 * Returns the result that etwas_publish would return, without publishing: ERROR_SUCCESS,
 * ERROR_INVALID_HANDLE or ERROR_MORE_DATA. For callers with side effects that must not happen for a
 * record that is refused.
 */
uint32_t etwas_publish_check(uint32_t session, uint32_t generation, uint32_t given_bytes,
                             const struct etwas_unstamped_record *record);

/*
 * Whether the buffer that takes the caller's events now has room for the record, in a running
 * session. An estimate: another writer may be faster, and without room there may be a free buffer.
 */
bool etwas_publish_has_room(uint32_t session, uint32_t generation,
                            const struct etwas_unstamped_record *record);

/*
 * Publishes into session `session` of the table, if `generation` runs there. `given_bytes` is the
 * Size that the caller stated. Returns ERROR_SUCCESS if the record is recorded;
 * ERROR_INVALID_HANDLE if that session does not run (nothing happened); ERROR_MORE_DATA if the
 * record, or the stated size (R63), does not fit into a buffer. ERROR_NOT_ENOUGH_MEMORY, or
 * ERROR_LOG_FILE_FULL for a real-time session whose backlog is full: the event is counted lost. A
 * process that is not attached yet counts an event lost with ERROR_NOT_ENOUGH_MEMORY
 * (unattached.h).
 */
#define ETWAS_PUBLISH_TOO_LARGE UINT32_MAX /* too large for any record */
uint32_t etwas_publish(uint32_t session, uint32_t generation, uint32_t given_bytes,
                       const struct etwas_unstamped_record *record);

/*
 * Returns the times of a session of this kind as in a record's header (R106): ticks in kernel mode
 * and, above them, in user mode; or one count of 64 bits of those in user mode.
 */
uint64_t etwas_publish_times(uint32_t kind);

/*
 * Counts an event lost that the session does not get; the record's header is available. Returns
 * false if the session does not run.
 */
bool etwas_publish_refuse(uint32_t session, uint32_t generation, enum etwas_slot_loss cause,
                          const struct etwas_unstamped_record *record);

/*
 * Publishes a record whose stated size fits into one shared slot. A record that itself does not fit
 * is not counted.
 */
uint32_t etwas_publish_shared(const struct etwas_attachment *attachment, struct etwas_slot *slot,
                              uint32_t generation, const struct etwas_unstamped_record *record);

/*
 * Publishes into the slot of whichever processor runs the caller, in the class row that begins at
 * slot `first`. Returns ETWAS_PUBLISH_FALLBACK, with nothing done, if the thread is not registered
 * for rseq or was interrupted too often, or if the record is long and has more than MAX_MOF_FIELDS
 * fields. The caller then uses the extra slot.
 */
#define ETWAS_PUBLISH_FALLBACK UINT32_MAX
uint32_t etwas_publish_rseq(uint32_t session, uint32_t generation, uint32_t first,
                            const struct etwas_unstamped_record *record);

/*
 * Counts events that a session does not get although it has buffers: they are too large for it, or
 * another session refused them. I9.
 */

/*
 * Counts lost events in the rseq slot of whichever processor runs the caller, in the class row
 * that begins at slot `first`. Returns false, with nothing counted, if etwas_publish_rseq would
 * return ETWAS_PUBLISH_FALLBACK.
 */
bool etwas_refuse_rseq(uint32_t session, uint32_t generation, uint32_t first,
                       enum etwas_slot_loss cause, uint32_t events);

/* Does the same in one shared slot. Returns false if the session no longer runs. */
bool etwas_refuse_shared(const struct etwas_attachment *attachment, struct etwas_slot *slot,
                         uint32_t generation, enum etwas_slot_loss cause, uint32_t events);

/*
 * Publication for a thread that records the events of others: it states the processor and the time
 * itself.
 *
 * It writes into a shared slot of which it is the only writer; the flusher takes its buffers like
 * all others. The record lies in one piece, whole except for its stamp.
 */

struct etwas_stamped_record {
    const void *bytes; /* begins with the marker */
    uint32_t size;     /* in bytes, not rounded, at most 65,535 */
    uint32_t stamp_at;
    /* the slot's newest stamp is recorded instead if this one is earlier */
    int64_t stamp;
    int64_t *recorded_stamp; /* receives the stamp that was recorded; may be NULL */
};

/*
 * Publishes into the slot with this index. Returns ERROR_SUCCESS if the record is recorded;
 * ERROR_INVALID_HANDLE if the slot has another gate; ERROR_MORE_DATA if it does not fit into a
 * buffer. ERROR_NOT_ENOUGH_MEMORY, or ERROR_LOG_FILE_FULL for a session whose backlog is full: it
 * is counted lost.
 */
uint32_t etwas_publish_stamped(const struct etwas_attachment *attachment, uint32_t index,
                               uint32_t gate, const struct etwas_stamped_record *record);

#endif
