/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Messages on a connection (connection.h): one request, one answer with the same op. A message has
 * a body of up to 64 KB, and at most one descriptor with it.
 */
#ifndef ETWAS_REGISTRY_MESSAGE_H
#define ETWAS_REGISTRY_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_MESSAGE_BYTES = 64 << 10, /* of a body */
};

/* The bodies are defined in sharing/, but for ENABLE: an enablement of session_entry.h. */
enum etwas_message_op {
    ETWAS_MESSAGE_ATTACH = 1,  /* the answer has the descriptor of the pool */
    ETWAS_MESSAGE_CONTROL,     /* ControlTrace */
    ETWAS_MESSAGE_ENABLE,      /* EnableTraceEx2 */
    ETWAS_MESSAGE_DESCRIBE,    /* descriptions of a guest's events and images */
    ETWAS_MESSAGE_ACKNOWLEDGE, /* a guest acts by the entry's number */
    ETWAS_MESSAGE_SNAPSHOT,
    ETWAS_MESSAGE_CONSUME,
    ETWAS_MESSAGE_ACCOUNT, /* counts, and how far back a flight recorder goes */
};

struct etwas_message {
    uint16_t op;    /* others than these are of later builds */
    uint32_t code;  /* of an answer: a Win32 code */
    uint32_t bytes; /* of the body */
    int descriptor; /* -1: none */
    /*
     * sending: this byte of the file is locked as long as the receiver has its descriptor; 0: none
     * is
     */
    uint32_t lock;
};

/*
 * Sends a message. The descriptor stays the caller's; the receiver gets one that is opened anew,
 * for reading and writing, and shares no lock with it. Waits until the deadline (CLOCK_MONOTONIC,
 * ns; 0: never) for room. One thread at a time.
 *
 * ERROR_BROKEN_PIPE: the other end is closed. ERROR_BUSY: the byte is locked already.
 * ERROR_TIMEOUT: nothing was sent. ERROR_INVALID_PARAMETER: the body is too long.
 * ERROR_NOT_SUPPORTED: the descriptor cannot be opened anew. ERROR_NO_SYSTEM_RESOURCES.
 */
uint32_t etwas_message_send(int connection, const struct etwas_message *message, const void *body,
                            uint64_t deadline_ns);

/*
 * Receives the next message. `body` has `room`, up to ETWAS_MESSAGE_BYTES of which are used. A
 * descriptor is close-on-exec and closed by the caller; it is -1 on failure. Waits until the
 * deadline (0: never). One thread at a time.
 *
 * ERROR_BROKEN_PIPE: the other end is closed, and nothing more comes. ERROR_TIMEOUT: nothing has
 * arrived. ERROR_NOT_SUPPORTED: it is of another version. ERROR_INVALID_DATA: its length is not
 * what it says, it has more than one descriptor, or it is no message. ERROR_MORE_DATA: the body is
 * longer than `room`. ERROR_NO_SYSTEM_RESOURCES: no more files may be open for its descriptor. What
 * is refused has been consumed, and the next message can be received.
 */
uint32_t etwas_message_receive(int connection, struct etwas_message *message, void *body,
                               size_t room, uint64_t deadline_ns);

/*
 * Returns the op of the next message, which stays to be received. Waits until the deadline (0:
 * never). 0: nothing has arrived, or it is no message.
 */
uint16_t etwas_message_next_op(int connection, uint64_t deadline_ns);

#endif
