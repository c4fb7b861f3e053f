/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/message.h"

#include <errno.h>
#include <etwas/types.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/own_descriptor.h"
#include "registry/ancillary.h"
#include "registry/registry.h"

#define MAGIC UINT32_C(0x4D575445) /* "ETWM" */

enum {
    VERSION = 1,
};

struct stored_message {
    uint32_t magic;
    uint16_t version;
    uint16_t op;
    uint32_t code;
    uint32_t bytes; /* of the body, which follows */
};
ETWAS_ASSERT_SIZE(struct stored_message, 16);

static uint32_t message_transfer_error(int error)
{
    switch (error) {
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
        return ERROR_BROKEN_PIPE;
    case EBADF:
    case ENOTSOCK:
        return ERROR_INVALID_HANDLE;
    default:
        return ERROR_NO_SYSTEM_RESOURCES;
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

static uint32_t message_send_whole(int connection, const struct msghdr *whole, uint64_t deadline_ns)
{
    while (sendmsg(connection, whole, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno == EINTR) {
            continue;
        }
        if (errno != EAGAIN) {
            return message_transfer_error(errno);
        }
        if (!etwas_registry_wait(connection, POLLOUT, deadline_ns)) {
            return ERROR_TIMEOUT;
        }
    }
    return ERROR_SUCCESS;
}

/*
 * It is released when the last descriptor of what is open there is closed, and the last mapping by
 * it is gone.
 */
static bool message_lock_byte(int descriptor, uint32_t byte)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};

    return byte == 0 || fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

uint32_t etwas_message_send(int connection, const struct etwas_message *message, const void *body,
                            uint64_t deadline_ns)
{
    struct stored_message head = {.magic = MAGIC,
                                  .version = VERSION,
                                  .op = message->op,
                                  .code = message->code,
                                  .bytes = message->bytes};
    struct iovec parts[2] = {{.iov_base = &head, .iov_len = sizeof head},
                             {.iov_base = (void *)(uintptr_t)body, .iov_len = message->bytes}};
    union etwas_ancillary_room room;
    struct msghdr whole = {.msg_iov = parts, .msg_iovlen = message->bytes != 0 ? 2 : 1};
    int anew = -1;
    uint32_t code;

    if (message->bytes > ETWAS_MESSAGE_BYTES) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_descriptor_is_own(connection) ||
        (message->descriptor >= 0 && !etwas_descriptor_is_own(message->descriptor))) {
        return ERROR_INVALID_HANDLE;
    }
    if (message->descriptor >= 0) {
        anew = etwas_descriptor_reopen(message->descriptor);
        if (anew < 0) {
            return errno == EMFILE || errno == ENFILE ? ERROR_NO_SYSTEM_RESOURCES
                                                      : ERROR_NOT_SUPPORTED;
        }
        if (!message_lock_byte(anew, message->lock)) {
            (void)close(anew);
            return ERROR_BUSY;
        }
        whole.msg_control = &room;
        etwas_ancillary_append(&whole, SCM_RIGHTS, &anew, sizeof anew);
    }
    code = message_send_whole(connection, &whole, deadline_ns);
    if (anew >= 0) {
        (void)close(anew);
    }
    return code;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/*
 * How many bytes there were, 0 at the end. That the other end was closed with something unread is
 * said once, before what it had sent.
 */
static uint32_t message_receive_whole(int connection, struct msghdr *whole, uint64_t deadline_ns,
                                      size_t *bytes)
{
    bool was_reset = false;
    ssize_t received;

    while ((received = recvmsg(connection, whole, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) < 0) {
        if (errno == EINTR || (errno == ECONNRESET && !was_reset)) {
            was_reset = was_reset || errno == ECONNRESET;
            continue;
        }
        if (errno != EAGAIN) {
            return message_transfer_error(errno);
        }
        if (!etwas_registry_wait(connection, POLLIN, deadline_ns)) {
            return ERROR_TIMEOUT;
        }
    }
    *bytes = (size_t)received;
    return ERROR_SUCCESS;
}

static uint32_t message_check(const struct stored_message *head, size_t bytes, size_t room,
                              bool is_cut)
{
    if (bytes < sizeof *head || head->magic != MAGIC) {
        return ERROR_INVALID_DATA;
    }
    if (head->version != VERSION) {
        return ERROR_NOT_SUPPORTED;
    }
    if (head->bytes > ETWAS_MESSAGE_BYTES) {
        return ERROR_INVALID_DATA;
    }
    if (head->bytes > room) {
        return ERROR_MORE_DATA;
    }
    return is_cut || bytes != sizeof *head + head->bytes ? ERROR_INVALID_DATA : ERROR_SUCCESS;
}

uint32_t etwas_message_receive(int connection, struct etwas_message *message, void *body,
                               size_t room, uint64_t deadline_ns)
{
    struct stored_message head = {0};
    struct iovec parts[2] = {
        {.iov_base = &head, .iov_len = sizeof head},
        {.iov_base = body, .iov_len = room < ETWAS_MESSAGE_BYTES ? room : ETWAS_MESSAGE_BYTES}};
    union etwas_ancillary_room ancillary;
    struct msghdr whole = {.msg_iov = parts,
                           .msg_iovlen = 2,
                           .msg_control = &ancillary,
                           .msg_controllen = sizeof ancillary};
    struct etwas_ancillary taken;
    size_t bytes = 0;
    uint32_t code = message_receive_whole(connection, &whole, deadline_ns, &bytes);

    *message = (struct etwas_message){.descriptor = -1};
    if (code != ERROR_SUCCESS) {
        return code;
    }
    taken = etwas_ancillary_read(&whole);
    code = bytes == 0 ? ERROR_BROKEN_PIPE
                      : message_check(&head, bytes, room, (whole.msg_flags & MSG_TRUNC) != 0);
    if (code == ERROR_SUCCESS && taken.has_surplus) {
        code = ERROR_INVALID_DATA;
    }
    if (code == ERROR_SUCCESS && taken.descriptor < 0 && (whole.msg_flags & MSG_CTRUNC) != 0) {
        code = ERROR_NO_SYSTEM_RESOURCES; /* there was one, for which no more files may be open */
    }
    if (code != ERROR_SUCCESS) {
        if (taken.descriptor >= 0) {
            (void)close(taken.descriptor);
        }
        return code;
    }
    *message = (struct etwas_message){
        .op = head.op, .code = head.code, .bytes = head.bytes, .descriptor = taken.descriptor};
    return ERROR_SUCCESS;
}

uint16_t etwas_message_next_op(int connection, uint64_t deadline_ns)
{
    struct stored_message head = {0};
    ssize_t bytes = -1;

    if (etwas_registry_wait(connection, POLLIN, deadline_ns)) {
        bytes = recv(connection, &head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
    }
    return bytes == sizeof head && head.magic == MAGIC ? head.op : 0;
}
