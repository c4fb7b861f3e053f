/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/connection.h"

#include <errno.h>
#include <etwas/types.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "platform/own_descriptor.h"
#include "platform/wait.h"
#include "registry/names.h"
#include "registry/registry.h"
#include "registry/removal.h"

/* ---- what the kernel passes beside a message ------------------------------------------------- */

static void ancillary_read_descriptors(struct etwas_ancillary *taken, const struct cmsghdr *part)
{
    size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

    for (size_t index = 0; index < count; index++) {
        int descriptor;

        memcpy(&descriptor, CMSG_DATA(part) + index * sizeof descriptor, sizeof descriptor);
        if (taken->descriptor < 0) {
            taken->descriptor = descriptor;
        } else {
            taken->has_surplus = true;
            (void)close(descriptor);
        }
    }
}

struct etwas_ancillary etwas_ancillary_read(struct msghdr *message)
{
    struct etwas_ancillary taken = {.descriptor = -1,
                                    .has_surplus = (message->msg_flags & MSG_CTRUNC) != 0};

    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
         part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET) {
            continue;
        }
        if (part->cmsg_type == SCM_RIGHTS) {
            ancillary_read_descriptors(&taken, part);
        } else if (part->cmsg_type == SCM_CREDENTIALS &&
                   part->cmsg_len >= CMSG_LEN(sizeof taken.sender)) {
            memcpy(&taken.sender, CMSG_DATA(part), sizeof taken.sender);
            taken.has_sender = true;
        }
    }
    return taken;
}

void etwas_ancillary_append(struct msghdr *message, int type, const void *data, size_t bytes)
{
    struct cmsghdr *part = message->msg_control;

    message->msg_controllen = CMSG_SPACE(bytes);
    memset(part, 0, message->msg_controllen);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = type;
    part->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(part), data, bytes);
}

/* ---- messages -------------------------------------------------------------------------------- */

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
 * The lock is released when the last descriptor of this open file description is closed and the
 * last mapping made through it is gone.
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
 * *bytes receives the size of the message; 0: the connection is closed. If the other end was closed
 * with unread messages, the kernel reports ECONNRESET once, before the messages that it had sent.
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
        code = ERROR_NO_SYSTEM_RESOURCES; /* the descriptor was dropped: too many open files */
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

/* ---- connections ----------------------------------------------------------------------------- */

enum {
    PAUSE_NS = 1000000, /* between two tries while the host's queue of connections is full */
    ROOT = 0,
    /* Room for a whole message, by the kernel's accounting, beside one that is in flight. */
    SEND_BYTES = 4 * ETWAS_MESSAGE_BYTES,
};

static void connection_make_room(int connection)
{
    int bytes = 0;
    socklen_t size = sizeof bytes;

    if (getsockopt(connection, SOL_SOCKET, SO_SNDBUF, &bytes, &size) == 0 && bytes < SEND_BYTES) {
        bytes = SEND_BYTES / 2; /* the kernel doubles it */
        (void)setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    }
}

uint32_t etwas_registry_peer_of(int connection, struct etwas_peer *peer)
{
    struct ucred who;
    socklen_t size = sizeof who;

    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
        return ERROR_ACCESS_DENIED;
    }
    *peer = (struct etwas_peer){.process_id = (uint32_t)who.pid, .user_id = who.uid};
    return ERROR_SUCCESS;
}

static void connection_name_socket(const etwas_guid *session, uint64_t nonce,
                                   char text[ETWAS_REGISTRY_FILE_BYTES])
{
    struct etwas_file_name name = {
        .kind = ETWAS_REGISTRY_FILE_SESSION_SOCKET, .session = *session, .nonce = nonce};

    etwas_file_name_format(&name, text);
}

uint32_t etwas_registry_listen(const etwas_guid *session, uint64_t nonce, int *listener)
{
    char name[ETWAS_REGISTRY_FILE_BYTES];
    uint32_t code;

    connection_name_socket(session, nonce, name);
    code = etwas_registry_socket(SOCK_SEQPACKET, name, listener);
    if (code == ERROR_SUCCESS && listen(*listener, SOMAXCONN) != 0) {
        code = ERROR_NO_SYSTEM_RESOURCES;
        (void)close(*listener);
        *listener = -1;
    }
    if (code == ERROR_SUCCESS) {
        etwas_removal_watch(name);
    }
    return code;
}

bool etwas_registry_listener_is_missing(const etwas_guid *session, uint64_t nonce)
{
    char name[ETWAS_REGISTRY_FILE_BYTES];

    connection_name_socket(session, nonce, name);
    return etwas_registry_is_missing(name);
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* The kernel does not report when the host's queue has room again, so this tries repeatedly. */
static uint32_t connection_connect_before(int connection, int folder, const char *name,
                                          uint64_t deadline_ns)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    struct sockaddr_un address;
    uint32_t code = etwas_registry_address(folder, name, &address);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    while (connect(connection, (const struct sockaddr *)&address, sizeof address) != 0) {
        if (errno != EAGAIN && errno != EINTR) {
            return etwas_registry_socket_error(errno);
        }
        if (etwas_monotonic_ns() >= deadline_ns) {
            return ERROR_TIMEOUT;
        }
        (void)nanosleep(&pause, NULL);
    }
    return ERROR_SUCCESS;
}

uint32_t etwas_registry_connect(const struct etwas_registry_entry *entry, uint64_t deadline_ns,
                                int *connection, struct etwas_peer *peer)
{
    struct etwas_registry_walk walk;
    char name[ETWAS_REGISTRY_FILE_BYTES];
    uint32_t code;
    int opened;

    code = etwas_registry_socket(SOCK_SEQPACKET, NULL, &opened);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    connection_name_socket(&entry->session, entry->socket, name);
    code = etwas_registry_walk_to(name, &walk);
    if (code == ERROR_SUCCESS) {
        code = connection_connect_before(opened, walk.folder, name, deadline_ns);
    }
    etwas_registry_walk_end(&walk);
    if (code == ERROR_SUCCESS) {
        code = etwas_registry_peer_of(opened, peer);
    }
    if (code == ERROR_SUCCESS && peer->user_id != geteuid()) {
        code = ERROR_ACCESS_DENIED;
    }
    if (code != ERROR_SUCCESS) {
        (void)close(opened);
        return code;
    }
    connection_make_room(opened);
    *connection = opened;
    return ERROR_SUCCESS;
}

/* ---- accepting ------------------------------------------------------------------------------- */

bool etwas_registry_fill_spares(struct etwas_spares *spares)
{
    bool is_full = true;

    for (uint32_t index = 0; index < sizeof spares->descriptors / sizeof(int); index++) {
        int *spare = &spares->descriptors[index];

        if (*spare < 0 && etwas_registry_socket(SOCK_DGRAM, NULL, spare) == ERROR_SUCCESS) {
            *spare = etwas_descriptor_protect(*spare);
        }
        is_full = is_full && *spare >= 0;
    }
    return is_full;
}

void etwas_registry_free_spares(struct etwas_spares *spares)
{
    for (uint32_t index = 0; index < sizeof spares->descriptors / sizeof(int); index++) {
        if (spares->descriptors[index] >= 0) {
            etwas_descriptor_close(spares->descriptors[index]);
            spares->descriptors[index] = -1;
        }
    }
}

bool etwas_registry_can_open(int any, uint32_t files)
{
    bool has_room = true;

    if (files != 0) {
        int copy = fcntl(any, F_DUPFD_CLOEXEC, 0);

        has_room = copy >= 0 && etwas_registry_can_open(any, files - 1);
        if (copy >= 0) {
            (void)close(copy);
        }
    }
    return has_room;
}

static bool connection_is_for_want_of_files(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

static int connection_accept_next(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

uint32_t etwas_registry_accept(int listener, struct etwas_spares *spares, int *connection,
                               struct etwas_peer *peer)
{
    int accepted = connection_accept_next(listener);
    uint32_t code = ERROR_SUCCESS;

    if (accepted < 0 && connection_is_for_want_of_files(errno)) {
        etwas_registry_free_spares(spares);
        accepted = connection_accept_next(listener);
    }
    if (accepted < 0) {
        /* ERROR_NOT_FOUND: another thread may have accepted the connection. */
        code = connection_is_for_want_of_files(errno) ? ERROR_BUSY : ERROR_NOT_FOUND;
    } else if (etwas_registry_peer_of(accepted, peer) != ERROR_SUCCESS ||
               (peer->user_id != geteuid() && peer->user_id != ROOT)) {
        (void)close(accepted);
        code = ERROR_ACCESS_DENIED;
    } else {
        connection_make_room(accepted);
        *connection = etwas_descriptor_protect(accepted);
    }
    /* Keep enough descriptors for the session's own files and for accepting the next connection. */
    if (!etwas_registry_fill_spares(spares) ||
        (code == ERROR_SUCCESS &&
         !etwas_registry_can_open(*connection, ETWAS_REGISTRY_HOST_FILES))) {
        code = code == ERROR_SUCCESS ? (uint32_t)ERROR_NO_SYSTEM_RESOURCES : code;
    }
    return code;
}
