/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/notification.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/wait.h"
#include "registry/connection.h"
#include "registry/names.h"
#include "registry/removal.h"

#define MAGIC UINT32_C(0x54575445)         /* "ETWT" */
#define ALL_TIMEOUT_NS UINT64_C(100000000) /* total for all full queues */

enum {
    VERSION = 1,
    ROOT = 0,
};

struct stored_tell {
    uint32_t magic;
    uint16_t version;
    uint16_t op;
    uint64_t number;
    etwas_guid session;
    char sender[ETWAS_REGISTRY_FILE_BYTES];
};
ETWAS_ASSERT_SIZE(struct stored_tell, 128);

static bool notify_is_process(const char *name)
{
    return etwas_file_name_parse(name).kind == ETWAS_REGISTRY_FILE_PROCESS_SOCKET;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* A notification, and the socket through which it is sent. */
struct sending {
    struct stored_tell stored;
    struct ucred sender;
    int socket;
    uint32_t notified;
    const struct etwas_notification *notification;
    uint64_t deadline_ns;
};

static uint32_t notify_begin(struct sending *sending, const struct etwas_notification *notification)
{
    *sending = (struct sending){
        .stored = {.magic = MAGIC,
                   .version = VERSION,
                   .op = (uint16_t)notification->op,
                   .number = notification->number,
                   .session = notification->session},
        /*
         * The credentials name the effective user, on whose behalf the program acts. The default
         * would be the real user.
         */
        .sender = {.pid = getpid(), .uid = geteuid(), .gid = getegid()},
        .notification = notification,
    };
    memcpy(sending->stored.sender, notification->sender,
           strnlen(notification->sender, sizeof notification->sender - 1));
    return etwas_registry_socket(SOCK_DGRAM, NULL, &sending->socket);
}

/* Sends to an address, or, with NULL, to the socket's peer. Returns an errno. */
static int notify_send_to(struct sending *sending, const struct sockaddr_un *address)
{
    struct iovec part = {.iov_base = &sending->stored, .iov_len = sizeof sending->stored};
    union etwas_ancillary_room room;
    struct msghdr whole = {.msg_name = (void *)(uintptr_t)address,
                           .msg_namelen = address != NULL ? sizeof *address : 0,
                           .msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &room};

    etwas_ancillary_append(&whole, SCM_CREDENTIALS, &sending->sender, sizeof sending->sender);
    return sendmsg(sending->socket, &whole, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

/* ECONNREFUSED: no process has the socket open, so its file is removed. */
static uint32_t notify_refused(int folder, const char *name, int error)
{
    if (error == ECONNREFUSED) {
        (void)etwas_registry_clear_socket(folder, name);
    }
    return etwas_registry_socket_error(error);
}

/* A connected socket can be polled for room in the other's queue. */
static uint32_t notify_before(struct sending *sending, int folder, const char *name,
                              uint64_t deadline_ns)
{
    struct sockaddr_un address;
    uint32_t code = etwas_registry_address(folder, name, &address);
    int error;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (connect(sending->socket, (const struct sockaddr *)&address, sizeof address) != 0) {
        return notify_refused(folder, name, errno);
    }
    while ((error = notify_send_to(sending, NULL)) == EAGAIN) {
        if (!etwas_registry_wait(sending->socket, POLLOUT, deadline_ns)) {
            return ERROR_TIMEOUT;
        }
    }
    return error == 0 ? ERROR_SUCCESS : notify_refused(folder, name, error);
}

uint32_t etwas_registry_notify(const char *name, const struct etwas_notification *notification,
                               uint64_t deadline_ns)
{
    struct etwas_registry_walk walk;
    struct sending sending;
    uint32_t code =
        notify_is_process(name) ? notify_begin(&sending, notification) : ERROR_INVALID_PARAMETER;

    if (code == ERROR_SUCCESS) {
        code = etwas_registry_walk_to(name, &walk);
        if (code == ERROR_SUCCESS) {
            code = notify_before(&sending, walk.folder, name, deadline_ns);
        }
        etwas_registry_walk_end(&walk);
        (void)close(sending.socket);
    }
    return code;
}

/*
 * EAGAIN has two reasons: the receiver's queue is full, or notifications that other processes have
 * not received yet fill the send buffer of this socket. Sending again through a new socket rules
 * out the second. If an acknowledgement is wanted, a full queue is waited for: the receiver will
 * reconcile in any case, but acknowledges only what it receives.
 */
static uint32_t notify_one(struct sending *sending, int folder, const char *name)
{
    struct sockaddr_un address;
    uint32_t code = etwas_registry_address(folder, name, &address);
    int error;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    error = notify_send_to(sending, &address);
    if (error == EAGAIN) {
        code = etwas_registry_notify(name, sending->notification, sending->deadline_ns);
    } else if (error != 0) {
        code = notify_refused(folder, name, error);
    }
    if (code == ERROR_SUCCESS || code == ERROR_TIMEOUT) {
        sending->notified++;
        return ERROR_SUCCESS;
    }
    return code;
}

static bool notify_visit(int folder, const char *name, void *context)
{
    struct sending *sending = context;

    if (notify_is_process(name)) {
        (void)notify_one(sending, folder, name);
    }
    return true;
}

uint32_t etwas_registry_notify_all(const struct etwas_notification *notification,
                                   uint32_t *notified)
{
    struct sending sending;
    uint32_t code = notify_begin(&sending, notification);

    if (code == ERROR_SUCCESS) {
        sending.deadline_ns =
            notification->sender[0] != 0 ? etwas_monotonic_ns() + ALL_TIMEOUT_NS : 0;
        code = etwas_registry_each(notify_visit, &sending);
        (void)close(sending.socket);
    }
    if (notified != NULL) {
        *notified = sending.notified;
    }
    return code;
}

/* ---- receiving ------------------------------------------------------------------------------- */

uint32_t etwas_registry_receive(const struct etwas_registry_process *process,
                                struct etwas_notification *notification)
{
    struct stored_tell stored;
    struct iovec part = {.iov_base = &stored, .iov_len = sizeof stored};
    union etwas_ancillary_room room;
    struct msghdr whole = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    struct etwas_ancillary taken;
    ssize_t bytes = recvmsg(process->socket, &whole, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (bytes < 0) {
        return ERROR_NOT_FOUND;
    }
    taken = etwas_ancillary_read(&whole);
    if (taken.descriptor >= 0) {
        (void)close(taken.descriptor);
    }
    if (!taken.has_sender || (taken.sender.uid != geteuid() && taken.sender.uid != ROOT) ||
        bytes != (ssize_t)sizeof stored || (whole.msg_flags & MSG_TRUNC) != 0 ||
        stored.magic != MAGIC || stored.version != VERSION) {
        return ERROR_NOT_FOUND;
    }
    *notification = (struct etwas_notification){.op = stored.op,
                                                .number = stored.number,
                                                .session = stored.session,
                                                .process_id = (uint32_t)taken.sender.pid};
    memcpy(notification->sender, stored.sender, sizeof stored.sender - 1);
    if (!notify_is_process(notification->sender)) {
        notification->sender[0] = 0; /* no answer is wanted, or the name is not a process's */
    }
    return ERROR_SUCCESS;
}
