/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What comes on a connection, and what processes are told: u8, how many descriptors come with it,
 * and whether it is a datagram; u8 room, in eighths of what the largest body needs; the bytes. No
 * descriptor stays, whatever is in them.
 */
#include <etwas/winerror.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "registry/connection.h"
#include "registry/names.h"
#include "registry/notification.h"
#include "registry/session_entry.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    IS_DATAGRAM = 0x80,
};

static void send_to(int connection, const void *bytes, size_t size, uint32_t descriptors)
{
    int copies[ETWAS_ANCILLARY_DESCRIPTORS];
    union etwas_ancillary_room room;
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};

    for (uint32_t index = 0; index < descriptors; index++) {
        copies[index] = connection;
    }
    if (descriptors != 0) {
        whole.msg_control = &room;
        etwas_ancillary_append(&whole, SCM_RIGHTS, copies, descriptors * sizeof copies[0]);
    }
    MUST(sendmsg(connection, &whole, MSG_DONTWAIT) == (ssize_t)size);
}

static void receive_message(int connection, size_t room, size_t size)
{
    struct etwas_message message;
    uint8_t *body = malloc(room);
    uint32_t code = etwas_message_receive(connection, &message, body, room, 0);
    struct etwas_registry_enablement enablement;
    size_t used;

    MUST((code == ERROR_SUCCESS && size == message.bytes + 16 && message.bytes <= room) ||
         message.descriptor < 0);
    if (code == ERROR_SUCCESS && message.op == ETWAS_MESSAGE_ENABLE &&
        etwas_registry_decode_enablement(body, message.bytes, &enablement, &used) ==
            ERROR_SUCCESS) {
        MUST(used <= message.bytes);
    }
    if (message.descriptor >= 0) {
        (void)close(message.descriptor);
    }
    free(body);
}

/* The sender that is to be answered is a process, by the form of the name at least. */
static void hear(int socket)
{
    struct etwas_registry_process process = {.socket = socket};
    struct etwas_notification notification;

    if (etwas_registry_receive(&process, &notification) == ERROR_SUCCESS &&
        notification.sender[0] != 0) {
        MUST(etwas_file_name_parse(notification.sender).kind == ETWAS_REGISTRY_FILE_PROCESS_SOCKET);
    }
}

/* The least that is free: the same again where nothing was left open. */
static int next_descriptor(int any)
{
    int next = dup(any);

    (void)close(next);
    return next;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    uint8_t how = take_u8(&input);
    size_t room = (size_t)take_u8(&input) % 9 * (ETWAS_MESSAGE_BYTES / 8);
    const int yes = 1;
    int pair[2];
    int next;

    MUST(socketpair(AF_UNIX, (how & IS_DATAGRAM) != 0 ? SOCK_DGRAM : SOCK_SEQPACKET, 0, pair) == 0);
    MUST(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0);
    next = next_descriptor(pair[0]);
    send_to(pair[0], input.at, input.left, how % (ETWAS_ANCILLARY_DESCRIPTORS + 1));
    if ((how & IS_DATAGRAM) != 0) {
        hear(pair[1]);
    } else {
        receive_message(pair[1], room, input.left);
    }
    MUST(next_descriptor(pair[0]) == next);
    (void)close(pair[0]);
    (void)close(pair[1]);
    return 0;
}
