/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Connections between a session's host and other processes (SOCK_SEQPACKET), and the messages on
 * them: one request, one answer with the same op. A message has a body of up to 64 KB, and at most
 * one descriptor with it.
 */
#ifndef ETWAS_REGISTRY_CONNECTION_H
#define ETWAS_REGISTRY_CONNECTION_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "registry/session_entry.h"

/* The process at the other end, as the kernel says. */
struct etwas_peer {
    uint32_t process_id; /* its id in this process's namespace; 0: it has none there */
    uint32_t user_id;
};

/*
 * Connects to the host of a session, by its entry. While the host's queue of connections is full,
 * waits until the deadline (CLOCK_MONOTONIC, ns). The caller closes the connection, which does not
 * block. ERROR_NOT_FOUND: the host has gone. ERROR_ACCESS_DENIED: another user listens there.
 * ERROR_TIMEOUT; ERROR_NO_SYSTEM_RESOURCES; errors of etwas_registry_address.
 */
uint32_t etwas_registry_connect(const struct etwas_registry_entry *entry, uint64_t deadline_ns,
                                int *connection, struct etwas_peer *peer);

/*
 * Spare descriptors, kept only to be closed. When no more files may be open, closing them makes
 * room for a connection, and for a descriptor that arrives on it, for a moment. -1: not open.
 */
struct etwas_spares {
    int descriptors[2];
};

#define ETWAS_REGISTRY_NO_SPARES                                                                   \
    {                                                                                              \
        .descriptors = { -1, -1 }                                                                  \
    }

/* Opens missing spares, as far as files may be open. Returns whether all are open. */
bool etwas_registry_fill_spares(struct etwas_spares *spares);

/* Closes all spares, until they are filled again. */
void etwas_registry_free_spares(struct etwas_spares *spares);

enum {
    /*
     * A host accepts a process only if it can open this many more files: the session's next file, a
     * snapshot, its entry, a controller's connection, and the process's connection and the page
     * that it counts in.
     */
    ETWAS_REGISTRY_HOST_FILES = 6
};

/* Whether this many more files may be open. `any` is any open descriptor; it is not changed. */
bool etwas_registry_can_open(int any, uint32_t files);

/*
 * Accepts the next connection. Never waits: ERROR_NOT_FOUND, there is none. ERROR_ACCESS_DENIED: it
 * came from another user than this one and root, and was closed. ERROR_NO_SYSTEM_RESOURCES: it was
 * accepted, but fewer than ETWAS_REGISTRY_HOST_FILES more files may be open, or it took the place
 * of a spare descriptor. The caller then closes it soon and fills the spares again. ERROR_BUSY: it
 * could not be accepted even so. It is still queued, so poll reports it again at once.
 */
uint32_t etwas_registry_accept(int listener, struct etwas_spares *spares, int *connection,
                               struct etwas_peer *peer);

/*
 * Reads which process is at the other end of a connection. ERROR_ACCESS_DENIED: the system does not
 * say.
 */
uint32_t etwas_registry_peer_of(int connection, struct etwas_peer *peer);

/*
 * For host_session.c: listens at the session's socket of this nonce. The descriptor is not kept yet
 * (own_descriptor.h). Errors of etwas_registry_address.
 */
uint32_t etwas_registry_listen(const etwas_guid *session, uint64_t nonce, int *listener);

/* Whether the name of that socket is missing in the folder. */
bool etwas_registry_listener_is_missing(const etwas_guid *session, uint64_t nonce);

/* ---- messages -------------------------------------------------------------------------------- */

enum {
    ETWAS_MESSAGE_BYTES = 64 << 10, /* the most in a body */
};

/* The bodies are defined in sharing/, except that of ENABLE: an enablement of session_entry.h. */
enum etwas_message_op {
    ETWAS_MESSAGE_ATTACH = 1,  /* the answer has the descriptor of the pool */
    ETWAS_MESSAGE_CONTROL,     /* ControlTrace */
    ETWAS_MESSAGE_ENABLE,      /* EnableTraceEx2 */
    ETWAS_MESSAGE_DESCRIBE,    /* descriptions of a guest's events and images */
    ETWAS_MESSAGE_ACKNOWLEDGE, /* a guest has applied the entry of this number */
    ETWAS_MESSAGE_SNAPSHOT,
    ETWAS_MESSAGE_CONSUME,
    ETWAS_MESSAGE_ACCOUNT, /* counts, and how far back a flight recorder goes */
};

struct etwas_message {
    uint16_t op;    /* unknown ones are of later builds */
    uint32_t code;  /* of an answer: a Win32 code */
    uint32_t bytes; /* of the body */
    int descriptor; /* -1: none */
    /* sending: this byte of the file is locked while the receiver has its descriptor; 0: none */
    uint32_t lock;
};

/*
 * Sends a message. The caller keeps its descriptor. The receiver gets one that is opened anew for
 * reading and writing, and shares no lock with the caller's. Waits for room until the deadline
 * (CLOCK_MONOTONIC, ns; 0: never). One thread at a time.
 *
 * ERROR_BROKEN_PIPE: the other end is closed. ERROR_BUSY: the byte is locked already.
 * ERROR_TIMEOUT: nothing was sent. ERROR_INVALID_PARAMETER: the body is too long.
 * ERROR_NOT_SUPPORTED: the descriptor cannot be opened anew. ERROR_NO_SYSTEM_RESOURCES.
 */
uint32_t etwas_message_send(int connection, const struct etwas_message *message, const void *body,
                            uint64_t deadline_ns);

/*
 * Receives the next message. `body` has `room`, up to ETWAS_MESSAGE_BYTES of which are used. A
 * descriptor is close-on-exec, and the caller closes it; it is -1 on failure. Waits until the
 * deadline (0: never). One thread at a time.
 *
 * ERROR_BROKEN_PIPE: the other end is closed, and nothing more comes. ERROR_TIMEOUT: nothing has
 * arrived. ERROR_NOT_SUPPORTED: it is of another version. ERROR_INVALID_DATA: its length is not
 * what it says, it has more than one descriptor, or it is no message. ERROR_MORE_DATA: the body is
 * longer than `room`. ERROR_NO_SYSTEM_RESOURCES: no more files may be open for its descriptor. A
 * refused message is consumed, and the next one can be received.
 */
uint32_t etwas_message_receive(int connection, struct etwas_message *message, void *body,
                               size_t room, uint64_t deadline_ns);

/*
 * Returns the op of the next message without receiving it. Waits until the deadline (0: never). 0:
 * nothing has arrived, or it is not a valid message.
 */
uint16_t etwas_message_next_op(int connection, uint64_t deadline_ns);

/* ---- what the kernel passes beside a message ------------------------------------------------- */

/* Descriptors, and the sender's credentials. For notification.c, too. */

enum {
    ETWAS_ANCILLARY_DESCRIPTORS = 4, /* the most that are read; the kernel closes further ones */
};

/* Memory for msg_control, for sending and receiving. */
union etwas_ancillary_room {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(ETWAS_ANCILLARY_DESCRIPTORS * sizeof(int)) +
               CMSG_SPACE(sizeof(struct ucred))];
};

struct etwas_ancillary {
    int descriptor;   /* the first one, which the caller closes; -1: none */
    bool has_surplus; /* there were more, which are closed */
    bool has_sender;  /* `sender` is known */
    struct ucred sender;
};

/* Reads the ancillary data of a message that recvmsg has filled, with MSG_CMSG_CLOEXEC. */
struct etwas_ancillary etwas_ancillary_read(struct msghdr *message);

/* Adds ancillary data to a message. Its msg_control is an empty union etwas_ancillary_room. */
void etwas_ancillary_append(struct msghdr *message, int type, const void *data, size_t bytes);

#endif
