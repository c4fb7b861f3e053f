/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * TraceMessage and TraceMessageVa: from flags and a list of arguments to a MESSAGE record on its
 * way into a buffer (R110).
 *
 *     8 bytes   size, marker, message number, flags
 *               then, each if its flag is set and in this order:
 *     4         sequence number
 *     16 or 4   class GUID, or component id
 *     8         time stamp
 *     8         thread id, process id
 *               then the arguments, without gaps
 *
 * No lock, no allocation, no system call. Everything is checked before a sequence number is taken
 * and the record is published, so a refused message changes nothing. The list of arguments lies on
 * the stack, which bounds their number.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "buffer/publish.h"
#include "platform/thread.h"
#include "provider/quick.h"
#include "session/handle.h"
#include "session/session.h"

/*
 * Reads the words of a va_list, pointers and sizes alike, one after the other. On x86-64 the
 * position of the next one is in registers. va_arg keeps it in memory, where each step waits for
 * the store of the previous step.
 */

#if defined(__x86_64__)
struct etwas_va_words {
    const uint64_t *next;
    const uint64_t *saved_end; /* end of the words passed in registers; past it, `others` follow */
    const uint64_t *others;
};

static inline struct etwas_va_words etwas_va_words_of(va_list given)
{
    enum {
        SAVED_BYTES = 48 /* six general registers: the System V ABI */
    };
    const char *saved;

    /* Makes the list visible outside, so that the compiler saves the registers. */
    __asm__("" : "+r"(given));
    saved = given->reg_save_area;
    return (struct etwas_va_words){(const uint64_t *)(const void *)(saved + given->gp_offset),
                                   (const uint64_t *)(const void *)(saved + SAVED_BYTES),
                                   given->overflow_arg_area};
}

static inline uint64_t etwas_va_next_word(struct etwas_va_words *words)
{
    return words->next < words->saved_end ? *words->next++ : *words->others++;
}
#else
struct etwas_va_words {
    va_list *given;
};

#define etwas_va_words_of(given) ((struct etwas_va_words){&(given)})

static inline uint64_t etwas_va_next_word(struct etwas_va_words *words)
{
    return va_arg(*words->given, uint64_t);
}
#endif

enum {
    /* As many as EventWrite takes; C guarantees no more than 60 pairs in one call. */
    MOST_ARGUMENTS = 128,
    LARGEST_HEADER_BYTES = sizeof(struct etwas_etl_message_header) + 4 + 16 + 8 + 8,
};

_Static_assert((int)LARGEST_HEADER_BYTES < (int)sizeof(struct etwas_etl_full_header),
               "etwas_record_is_message tells messages by their short headers");

struct message_arguments {
    MOF_FIELD list[MOST_ARGUMENTS];
    uint32_t count;
    uint32_t bytes;
};

/*
 * Lists pairs of a pointer and a size_t, up to the first NULL, whose size is not read because
 * callers leave it out. Empty arguments are skipped.
 */
static inline uint32_t message_list_arguments(struct message_arguments *arguments, va_list given)
{
    struct etwas_va_words words = etwas_va_words_of(given);
    MOF_FIELD *next = arguments->list;
    uint32_t bytes = 0;
    uint64_t data;

    while ((data = etwas_va_next_word(&words)) != 0) {
        uint64_t length = etwas_va_next_word(&words);

        if (length == 0) {
            continue;
        }
        if (next == arguments->list + MOST_ARGUMENTS) {
            return ERROR_INVALID_PARAMETER;
        }
        if (length > ETWAS_ETL_LARGEST_RECORD_BYTES) {
            return ERROR_MORE_DATA;
        }
        next->DataPtr = data;
        next->Length = (uint32_t)length;
        bytes += (uint32_t)length;
        next++;
    }
    arguments->count = (uint32_t)(next - arguments->list);
    arguments->bytes = bytes;
    return ERROR_SUCCESS;
}

static inline bool message_has_both(uint32_t flags, uint32_t one, uint32_t other)
{
    return (flags & one) != 0 && (flags & other) != 0;
}

static inline bool message_flags_are_valid(uint32_t flags, const etwas_guid *guid)
{
    const uint32_t known = TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID |
                           TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_PERFORMANCE_TIMESTAMP |
                           TRACE_MESSAGE_SYSTEMINFO | TRACE_MESSAGE_POINTER32 |
                           TRACE_MESSAGE_POINTER64;

    return (flags & ~known) == 0 &&
           !message_has_both(flags, TRACE_MESSAGE_GUID, TRACE_MESSAGE_COMPONENTID) &&
           !message_has_both(flags, TRACE_MESSAGE_POINTER32, TRACE_MESSAGE_POINTER64) &&
           (guid != NULL || (flags & (TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID)) == 0);
}

/* Whether the flags are of the commonest form, which is valid: GUID, stamp and ids. */
static inline bool message_flags_are_common(uint32_t flags, const etwas_guid *guid)
{
    const uint32_t stamps = TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_PERFORMANCE_TIMESTAMP;
    const uint32_t others = flags & ~(stamps | TRACE_MESSAGE_POINTER64);

    return (flags & stamps) != 0 && others == (TRACE_MESSAGE_GUID | TRACE_MESSAGE_SYSTEMINFO) &&
           guid != NULL;
}

struct trace_message {
    const etwas_guid *guid; /* NULL: none */
    uint32_t flags;
    uint16_t number;
};

/* The first 8 bytes of a record, without its size. */
static inline uint64_t message_start_word(uint16_t number, uint32_t flags)
{
    return (uint64_t)(uint16_t)flags << 48 | (uint64_t)number << 32 |
           (uint64_t)ETWAS_ETL_MESSAGE_MARKER_FLAGS << 24;
}

/* A header of any length, in the struct that etwas_publish takes. */
union message_header {
    struct etwas_etl_instance_header room;
    struct etwas_etl_message_header start;
    uint8_t bytes[LARGEST_HEADER_BYTES];
};

static uint32_t message_record_write(union message_header *header, uint32_t at, const void *data,
                                     uint32_t bytes)
{
    memcpy(header->bytes + at, data, bytes);
    return at + bytes;
}

/* Writes the optional fields, except the values of number and stamp, and sets the header's size. */
static void message_write_fields(union message_header *header,
                                 struct etwas_unstamped_record *record, uint32_t flags,
                                 const etwas_guid *guid)
{
    uint32_t at = sizeof header->start;

    if ((flags & TRACE_MESSAGE_SEQUENCE) != 0) {
        at += sizeof(uint32_t);
    }
    if ((flags & TRACE_MESSAGE_GUID) != 0) {
        at = message_record_write(header, at, guid, sizeof *guid);
    } else if ((flags & TRACE_MESSAGE_COMPONENTID) != 0) {
        at = message_record_write(header, at, guid, sizeof(uint32_t));
    }
    if ((flags & (TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_PERFORMANCE_TIMESTAMP)) != 0) {
        record->message_stamp_at = at;
        at += sizeof(int64_t);
    }
    if ((flags & TRACE_MESSAGE_SYSTEMINFO) != 0) {
        struct etwas_thread_ids ids = etwas_thread_ids();

        at = message_record_write(header, at, &ids.thread_id, sizeof ids.thread_id);
        at = message_record_write(header, at, &ids.process_id, sizeof ids.process_id);
    }
    record->header_bytes = at;
}

/* The number is taken last, right before publication, so that a refused message takes none. */
static uint32_t message_write_number(union message_header *header,
                                     const struct etwas_session_key *key,
                                     const struct message_arguments *arguments,
                                     const struct etwas_unstamped_record *record)
{
    struct etwas_sequence_numbers *numbers = &etwas_sessions[key->index].sequence_numbers;
    uint32_t code = etwas_publish_check(key->index, key->generation, arguments->bytes, record);
    uint32_t number;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    number = etwas_sequence_numbers_next(numbers, key->generation);
    (void)message_record_write(header, sizeof header->start, &number, sizeof number);
    return number != 0 ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
}

/* The general path. */
static __attribute__((noinline)) uint32_t message_publish_general(
    const struct etwas_session_key *key, const struct trace_message *message,
    const struct message_arguments *arguments)
{
    union message_header header;
    struct etwas_unstamped_record record = {
        .header = &header.room, .fields = arguments->list, .field_count = arguments->count};
    uint64_t start;

    message_write_fields(&header, &record, message->flags, message->guid);
    record.bytes = record.header_bytes + arguments->bytes;
    start = message_start_word(message->number, message->flags) + record.bytes;
    (void)message_record_write(&header, 0, &start, sizeof start);
    if (record.bytes > ETWAS_ETL_LARGEST_RECORD_BYTES) {
        return etwas_publish(key->index, key->generation, ETWAS_PUBLISH_TOO_LARGE, &record);
    }
    if ((message->flags & TRACE_MESSAGE_SEQUENCE) != 0) {
        uint32_t code = message_write_number(&header, key, arguments, &record);

        if (code != ERROR_SUCCESS && code != ERROR_MORE_DATA) {
            return code;
        }
    }
    return etwas_publish(key->index, key->generation, arguments->bytes, &record);
}

#if ETWAS_RSEQ

static inline __attribute__((always_inline)) uint32_t message_trace_to(
    const struct etwas_quick_target *target, int64_t stamp, uint64_t ids,
    const struct trace_message *message, const struct message_arguments *arguments)
{
    struct etwas_quick_header header;

    header.ids = ids;
    header.start = message_start_word(message->number, message->flags | TRACE_MESSAGE_POINTER64);
    header.second = etwas_pair_load(message->guid);
    header.third = header.second;
    header.fourth = header.second;
    return etwas_quick_publish(etwas_quick_message, target, &header, stamp, arguments->list,
                               arguments->count);
}

/* Returns ETWAS_QUICK_NOT if the general path has to publish the message. */
static inline __attribute__((always_inline)) uint32_t message_trace_quickly(
    uint64_t handle, const struct trace_message *message, const struct message_arguments *arguments)
{
    const uint64_t ids = etwas_thread_ids_word();
    struct etwas_quick_target target;
    int64_t stamp;

    if (__builtin_expect((uint32_t)ids == 0, 0)) {
        return ETWAS_QUICK_NOT;
    }
    if (__builtin_expect(!etwas_quick_find(&target, handle), 0)) {
        const struct etwas_class_attributes facts = {.type_and_level = ETWAS_CLASS_MESSAGE,
                                                     .guid = message->guid};

        return etwas_quick_find_class(&target, etwas_handle_index(handle), &facts, &stamp)
                   ? message_trace_to(&target, stamp, ids, message, arguments)
                   : ETWAS_QUICK_NOT;
    }
    stamp = etwas_clock_now(target.clock);
    return message_trace_to(&target, stamp, ids, message, arguments);
}

#else

static inline uint32_t message_trace_quickly(uint64_t handle, const struct trace_message *message,
                                             const struct message_arguments *arguments)
{
    (void)handle;
    (void)message;
    (void)arguments;
    return ETWAS_QUICK_NOT;
}

#endif

/* A session of another process does not number messages. */
static bool message_session_gives_numbers(const struct etwas_session_key *key)
{
    return key->index < ETWAS_SESSION_ENTRIES &&
           etwas_sequence_numbers_has(&etwas_sessions[key->index].sequence_numbers,
                                      key->generation);
}

static __attribute__((noinline)) uint32_t message_trace_general(
    etwas_trace_handle handle, struct trace_message message,
    const struct message_arguments *arguments)
{
    struct etwas_session_key key;

    if (!etwas_writer_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    if ((message.flags & TRACE_MESSAGE_SEQUENCE) != 0 && !message_session_gives_numbers(&key)) {
        message.flags &= ~TRACE_MESSAGE_SEQUENCE;
    }
    if ((message.flags & TRACE_MESSAGE_POINTER32) == 0) {
        message.flags |= TRACE_MESSAGE_POINTER64;
    }
    return message_publish_general(&key, &message, arguments);
}

/* Counts a message that fits into no record. */
static __attribute__((noinline, cold)) uint32_t message_refuse(uint32_t code,
                                                               etwas_trace_handle handle,
                                                               struct trace_message message)
{
    struct message_arguments arguments;

    arguments.count = 0;
    arguments.bytes = ETWAS_ETL_LARGEST_RECORD_BYTES;
    return code == ERROR_MORE_DATA ? message_trace_general(handle, message, &arguments) : code;
}

static inline __attribute__((always_inline)) uint32_t message_trace(
    etwas_trace_handle handle, const struct trace_message message, va_list given)
{
    const bool is_common =
        __builtin_expect(message_flags_are_common(message.flags, message.guid), 1);
    struct message_arguments arguments;
    uint32_t code;

    if (__builtin_expect(handle == 0, 0)) {
        return ERROR_INVALID_HANDLE;
    }
    if (!is_common && !message_flags_are_valid(message.flags, message.guid)) {
        return ERROR_INVALID_PARAMETER;
    }
    code = message_list_arguments(&arguments, given);
    if (__builtin_expect(code != ERROR_SUCCESS, 0)) {
        return message_refuse(code, handle, message);
    }
    code = is_common ? message_trace_quickly(handle, &message, &arguments) : ETWAS_QUICK_NOT;
    return __builtin_expect(code != ETWAS_QUICK_NOT, 1)
               ? code
               : message_trace_general(handle, message, &arguments);
}

uint32_t TraceMessageVa(etwas_trace_handle handle, uint32_t flags, const etwas_guid *guid,
                        uint16_t message_number, va_list given)
{
    return message_trace(handle, (struct trace_message){guid, flags, message_number}, given);
}

/*
 * In C, va_start is undefined after a parameter narrower than int, and ETW's prototype has one. gcc
 * and clang use the position of the parameter, not its type.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvarargs"

uint32_t TraceMessage(etwas_trace_handle handle, uint32_t flags, const etwas_guid *guid,
                      uint16_t message_number, ...)
{
    va_list given;
    uint32_t code;

    va_start(given, message_number);
    code = message_trace(handle, (struct trace_message){guid, flags, message_number}, given);
    va_end(given);
    return code;
}

#pragma GCC diagnostic pop
