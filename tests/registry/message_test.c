/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Connections to a host, and the messages on them. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/wait.h"
#include "registry/connection.h"
#include "registry/fixture.h"
#include "registry/names.h"
#include "registry/sessions.h"

enum {
    WAIT_S = 60,
};

static char body[ETWAS_MESSAGE_BYTES];
static char received[ETWAS_MESSAGE_BYTES + 1];

static uint64_t soon(void)
{
    return etwas_monotonic_ns() + (uint64_t)WAIT_S * 1000000000;
}

/* The two ends of a connection to a session that was there for a moment. */
static void connect_pair(int pair[2])
{
    struct etwas_spares spares = ETWAS_REGISTRY_NO_SPARES;
    struct etwas_registry_host host;
    struct etwas_registry_entry *entry;
    struct etwas_peer peer;

    assert_int_equal(open_session(&host, u"host", 1), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_accept(host.listener, &spares, &pair[1], &peer),
                     ERROR_NOT_FOUND);
    assert_int_equal(etwas_registry_find(u"host", &entry), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_connect(entry, soon(), &pair[0], &peer), ERROR_SUCCESS);
    assert_int_equal(peer.process_id, getpid());
    assert_int_equal(peer.user_id, geteuid());
    assert_int_equal(etwas_registry_accept(host.listener, &spares, &pair[1], &peer), ERROR_SUCCESS);
    etwas_registry_free_spares(&spares);
    assert_int_equal(peer.process_id, getpid());
    assert_int_equal(fcntl(pair[0], F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(pair[1], F_GETFD), FD_CLOEXEC);
    etwas_registry_host_close(&host);
    assert_int_equal(etwas_registry_connect(entry, soon(), &(int){-1}, &peer), ERROR_NOT_FOUND);
    free(entry);
}

static void close_pair(const int pair[2])
{
    assert_int_equal(close(pair[0]), 0);
    assert_int_equal(close(pair[1]), 0);
}

static uint32_t receive(int connection, struct etwas_message *message)
{
    return etwas_message_receive(connection, message, received, sizeof received, soon());
}

static void the_largest_message_arrives_whole(void **state)
{
    struct etwas_message message = {
        .op = ETWAS_MESSAGE_CONTROL, .code = 7, .bytes = sizeof body, .descriptor = -1};
    int pair[2];

    (void)state;
    connect_pair(pair);
    for (size_t index = 0; index < sizeof body; index++) {
        body[index] = (char)(index * 7 + index / 256);
    }
    assert_int_equal(etwas_message_receive(pair[1], &message, received, sizeof received, 0),
                     ERROR_TIMEOUT);
    message = (struct etwas_message){
        .op = ETWAS_MESSAGE_CONTROL, .code = 7, .bytes = sizeof body, .descriptor = -1};
    assert_int_equal(etwas_message_send(pair[0], &message, body, 0), ERROR_SUCCESS);
    message.bytes = 0;
    assert_int_equal(etwas_message_send(pair[0], &message, NULL, 0), ERROR_SUCCESS);
    message.bytes = sizeof body + 1;
    assert_int_equal(etwas_message_send(pair[0], &message, body, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_message_receive(pair[1], &message, received, sizeof received, soon()),
                     ERROR_SUCCESS);
    assert_int_equal(message.op, ETWAS_MESSAGE_CONTROL);
    assert_int_equal(message.code, 7);
    assert_int_equal(message.bytes, sizeof body);
    assert_int_equal(message.descriptor, -1);
    assert_memory_equal(received, body, sizeof body);
    assert_int_equal(etwas_message_receive(pair[1], &message, received, sizeof received, soon()),
                     ERROR_SUCCESS);
    assert_int_equal(message.bytes, 0);
    assert_int_equal(close(pair[0]), 0);
    assert_int_equal(etwas_message_receive(pair[1], &message, received, sizeof received, soon()),
                     ERROR_BROKEN_PIPE);
    assert_int_equal(etwas_message_send(pair[1], &message, NULL, soon()), ERROR_BROKEN_PIPE);
    assert_int_equal(close(pair[1]), 0);
}

/* A process that ends has mostly not read everything. What it sent before arrives all the same. */
static void what_was_sent_before_the_end_arrives(void **state)
{
    struct etwas_message message = {.op = ETWAS_MESSAGE_ACKNOWLEDGE, .bytes = 4, .descriptor = -1};
    int pair[2];

    (void)state;
    connect_pair(pair);
    assert_int_equal(etwas_message_send(pair[1], &message, "1234", 0), ERROR_SUCCESS);
    assert_int_equal(etwas_message_send(pair[0], &message, "5678", 0), ERROR_SUCCESS);
    assert_int_equal(close(pair[0]), 0);
    assert_int_equal(receive(pair[1], &message), ERROR_SUCCESS);
    assert_memory_equal(received, "5678", 4);
    assert_int_equal(receive(pair[1], &message), ERROR_BROKEN_PIPE);
    assert_int_equal(close(pair[1]), 0);
}

static bool is_locked_by_another(int file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    assert_int_equal(fcntl(file, F_OFD_GETLK, &lock), 0);
    return lock.l_type != F_UNLCK;
}

static void a_descriptor_arrives_without_the_senders_lock(void **state)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int memory = memfd_create("pool", MFD_CLOEXEC);
    struct etwas_message message = {.op = ETWAS_MESSAGE_ATTACH, .descriptor = memory};
    int pair[2];

    (void)state;
    connect_pair(pair);
    assert_int_equal(ftruncate(memory, 4096), 0);
    assert_int_equal(fcntl(memory, F_OFD_SETLK, &lock), 0);
    assert_int_equal(etwas_message_send(pair[0], &message, NULL, 0), ERROR_SUCCESS);
    assert_int_equal(etwas_message_receive(pair[1], &message, received, 0, soon()), ERROR_SUCCESS);
    assert_true(message.descriptor >= 0);
    assert_int_equal(fcntl(message.descriptor, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(message.descriptor, F_GETFL) & O_ACCMODE, O_RDWR);
    assert_true(is_locked_by_another(message.descriptor));
    assert_int_equal(close(memory), 0);
    assert_false(is_locked_by_another(message.descriptor));
    assert_int_equal(close(message.descriptor), 0);
    close_pair(pair);
}

static void what_cannot_be_opened_anew_is_not_passed(void **state)
{
    struct etwas_message message = {.op = ETWAS_MESSAGE_ATTACH};
    int pair[2];

    (void)state;
    connect_pair(pair);
    message.descriptor = pair[0];
    assert_int_equal(etwas_message_send(pair[0], &message, NULL, soon()), ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_message_receive(pair[1], &message, received, 0, 0), ERROR_TIMEOUT);
    close_pair(pair);
}

/* ---- what is not believed -------------------------------------------------------------------- */

struct raw {
    uint32_t magic;
    uint16_t version;
    uint16_t op;
    uint32_t code;
    uint32_t bytes;
    char body[ETWAS_MESSAGE_BYTES + 64];
};

enum {
    RAW_HEAD = 16
};

/* What a process really sends, with a body of 8 bytes. */
static void record(const int pair[2], struct raw *raw)
{
    struct etwas_message message = {.op = ETWAS_MESSAGE_ACKNOWLEDGE, .bytes = 8, .descriptor = -1};

    assert_int_equal(etwas_message_send(pair[0], &message, "12345678", soon()), ERROR_SUCCESS);
    assert_int_equal(recv(pair[1], raw, sizeof *raw, 0), RAW_HEAD + 8);
}

static void send_raw(int connection, const struct raw *raw, size_t size, int descriptor,
                     uint32_t descriptors)
{
    int copies[ETWAS_ANCILLARY_DESCRIPTORS];
    union etwas_ancillary_room room;
    struct iovec part = {.iov_base = (void *)(uintptr_t)raw, .iov_len = size};
    struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};

    for (uint32_t index = 0; index < descriptors; index++) {
        copies[index] = descriptor;
    }
    if (descriptors != 0) {
        whole.msg_control = &room;
        etwas_ancillary_append(&whole, SCM_RIGHTS, copies, descriptors * sizeof copies[0]);
    }
    assert_int_equal(sendmsg(connection, &whole, 0), size);
}

static void what_is_no_message_is_refused_and_the_next_one_is_not(void **state)
{
    static struct raw raw;
    struct etwas_message message;
    int pair[2];

    (void)state;
    connect_pair(pair);
    record(pair, &raw);
    for (size_t cut = 1; cut < RAW_HEAD + 8; cut++) {
        send_raw(pair[0], &raw, cut, -1, 0);
        assert_int_equal(receive(pair[1], &message), ERROR_INVALID_DATA);
    }
    send_raw(pair[0], &raw, RAW_HEAD + 9, -1, 0);
    assert_int_equal(receive(pair[1], &message), ERROR_INVALID_DATA);
    raw.bytes = ETWAS_MESSAGE_BYTES + 1;
    send_raw(pair[0], &raw, RAW_HEAD + ETWAS_MESSAGE_BYTES + 1, -1, 0);
    assert_int_equal(receive(pair[1], &message), ERROR_INVALID_DATA);
    raw.bytes = UINT32_MAX;
    send_raw(pair[0], &raw, RAW_HEAD + 8, -1, 0);
    assert_int_equal(receive(pair[1], &message), ERROR_INVALID_DATA);
    raw.bytes = 8;
    raw.version++;
    send_raw(pair[0], &raw, RAW_HEAD + 8, -1, 0);
    assert_int_equal(receive(pair[1], &message), ERROR_NOT_SUPPORTED);
    raw.version--;
    raw.magic++;
    send_raw(pair[0], &raw, RAW_HEAD + 8, -1, 0);
    assert_int_equal(receive(pair[1], &message), ERROR_INVALID_DATA);
    raw.magic--;
    raw.op = 999; /* of a later build: the receiver decides */
    send_raw(pair[0], &raw, RAW_HEAD + 8, -1, 0);
    assert_int_equal(receive(pair[1], &message), ERROR_SUCCESS);
    assert_int_equal(message.op, 999);
    assert_memory_equal(received, "12345678", 8);
    close_pair(pair);
}

static void a_body_longer_than_the_room_is_reported(void **state)
{
    static struct raw raw;
    struct etwas_message message;
    int pair[2];

    (void)state;
    connect_pair(pair);
    record(pair, &raw);
    memset(received, '.', sizeof received);
    send_raw(pair[0], &raw, RAW_HEAD + 8, -1, 0);
    assert_int_equal(etwas_message_receive(pair[1], &message, received, 7, soon()),
                     ERROR_MORE_DATA);
    assert_int_equal(received[7], '.');
    send_raw(pair[0], &raw, RAW_HEAD + 8, -1, 0);
    assert_int_equal(etwas_message_receive(pair[1], &message, received, 8, soon()), ERROR_SUCCESS);
    close_pair(pair);
}

/* Whatever is refused, no descriptor stays. */
static void surplus_descriptors_are_closed(void **state)
{
    static struct raw raw;
    struct etwas_message message;
    uint32_t before;
    int pair[2];

    (void)state;
    connect_pair(pair);
    record(pair, &raw);
    before = count_descriptors();
    for (uint32_t descriptors = 2; descriptors <= ETWAS_ANCILLARY_DESCRIPTORS; descriptors++) {
        send_raw(pair[0], &raw, RAW_HEAD + 8, pair[0], descriptors);
        assert_int_equal(receive(pair[1], &message), ERROR_INVALID_DATA);
        assert_int_equal(message.descriptor, -1);
        assert_int_equal(count_descriptors(), before);
    }
    send_raw(pair[0], &raw, RAW_HEAD + 7, pair[0], 1);
    assert_int_equal(receive(pair[1], &message), ERROR_INVALID_DATA);
    assert_int_equal(message.descriptor, -1);
    assert_int_equal(count_descriptors(), before);
    send_raw(pair[0], &raw, RAW_HEAD + 8, pair[0], 1);
    assert_int_equal(receive(pair[1], &message), ERROR_SUCCESS);
    assert_int_equal(close(message.descriptor), 0);
    assert_int_equal(count_descriptors(), before);
    close_pair(pair);
}

/* ---- deadlines ------------------------------------------------------------------------------- */

static uint64_t in_a_moment(void)
{
    return etwas_monotonic_ns() + 20000000;
}

static int host_and_wait(struct child *self, void *context)
{
    struct etwas_registry_host host;

    (void)context;
    say(self, (char)open_session(&host, u"sleepy", 1));
    return receive_byte(self) < 0;
}

static void a_host_that_is_stopped_holds_nobody_longer_than_the_deadline(void **state)
{
    struct child child = child_start(host_and_wait, NULL);
    struct etwas_message message = {.op = ETWAS_MESSAGE_CONTROL, .descriptor = -1};
    struct etwas_registry_entry *entry;
    struct etwas_peer peer;
    int connection;
    uint32_t code;

    (void)state;
    assert_int_equal(receive_byte(&child), ERROR_SUCCESS);
    child_stop(&child);
    assert_int_equal(etwas_registry_find(u"sleepy", &entry), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_connect(entry, in_a_moment(), &connection, &peer),
                     ERROR_SUCCESS);
    assert_int_equal(peer.process_id, child.process);
    do {
        message.bytes = sizeof body;
        code = etwas_message_send(connection, &message, body, in_a_moment());
    } while (code == ERROR_SUCCESS);
    assert_int_equal(code, ERROR_TIMEOUT);
    assert_int_equal(
        etwas_message_receive(connection, &message, received, sizeof received, in_a_moment()),
        ERROR_TIMEOUT);
    child_kill(&child);
    assert_int_equal(receive(connection, &message), ERROR_BROKEN_PIPE);
    assert_int_equal(close(connection), 0);
    assert_int_equal(etwas_registry_connect(entry, soon(), &connection, &peer), ERROR_NOT_FOUND);
    free(entry);
}

/* A host with a full queue of connections. */
static void who_cannot_be_connected_gives_up_at_the_deadline(void **state)
{
    struct etwas_registry_host host;
    struct etwas_registry_entry *entry;
    struct etwas_peer peer;
    int connections[2];

    (void)state;
    assert_int_equal(open_session(&host, u"popular", 1), ERROR_SUCCESS);
    assert_int_equal(listen(host.listener, 0), 0);
    assert_int_equal(etwas_registry_find(u"popular", &entry), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_connect(entry, 0, &connections[0], &peer), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_connect(entry, in_a_moment(), &connections[1], &peer),
                     ERROR_TIMEOUT);
    assert_int_equal(close(connections[0]), 0);
    free(entry);
    etwas_registry_host_close(&host);
}

/* ---- other users ----------------------------------------------------------------------------- */

static int connect_as_another_user(struct child *self, void *context)
{
    struct etwas_registry_entry *entry = context;
    struct sockaddr_un address;
    char name[ETWAS_REGISTRY_FILE_BYTES];
    int folder;
    struct etwas_file_name file = {.kind = ETWAS_REGISTRY_FILE_SESSION_SOCKET,
                                   .session = entry->session,
                                   .nonce = entry->socket};
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    become_another_user();
    etwas_file_name_format(&file, name);
    if (etwas_registry_open(&folder) != ERROR_SUCCESS ||
        etwas_registry_address(folder, name, &address) != ERROR_SUCCESS ||
        connect(connection, (const struct sockaddr *)&address, sizeof address) != 0) {
        return 1;
    }
    say(self, 'c');
    (void)receive_byte(self);
    return 0;
}

static void another_user_is_not_accepted(void **state)
{
    struct etwas_spares spares = ETWAS_REGISTRY_NO_SPARES;
    struct etwas_registry_host host;
    struct etwas_registry_entry *entry;
    struct etwas_peer peer;
    struct child child;
    int connection;

    (void)state;
    assert_int_equal(open_session(&host, u"host", 1), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_find(u"host", &entry), ERROR_SUCCESS);
    if (!let_others_in()) {
        etwas_registry_host_close(&host);
        free(entry);
        print_message("skipped: only root can become another user\n");
        skip();
    }
    child = child_start(connect_as_another_user, entry);
    assert_int_equal(receive_byte(&child), 'c');
    assert_int_equal(etwas_registry_accept(host.listener, &spares, &connection, &peer),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(etwas_registry_accept(host.listener, &spares, &connection, &peer),
                     ERROR_NOT_FOUND);
    assert_int_equal(child_end(&child), 0);
    etwas_registry_free_spares(&spares);
    etwas_registry_host_close(&host);
    free(entry);
}

static int listen_as_another_user(struct child *self, void *context)
{
    const struct etwas_registry_entry *entry = context;
    int listener;

    become_another_user();
    say(self, (char)etwas_registry_listen(&entry->session, entry->socket, &listener));
    (void)receive_byte(self);
    return 0;
}

/*
 * A process that has put a socket in a host's place does not receive what was meant for the host.
 */
static void another_users_host_is_not_connected_to(void **state)
{
    struct etwas_registry_host host;
    struct etwas_registry_entry *entry;
    struct etwas_peer peer;
    struct child child;
    int connection;

    (void)state;
    assert_int_equal(open_session(&host, u"host", 1), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_find(u"host", &entry), ERROR_SUCCESS);
    etwas_registry_host_close(&host);
    if (!let_others_in()) {
        free(entry);
        print_message("skipped: only root can become another user\n");
        skip();
    }
    child = child_start(listen_as_another_user, entry);
    assert_int_equal(receive_byte(&child), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_connect(entry, soon(), &connection, &peer),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(child_end(&child), 0);
    free(entry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REGISTRY_TEST(the_largest_message_arrives_whole),
        REGISTRY_TEST(what_was_sent_before_the_end_arrives),
        REGISTRY_TEST(a_descriptor_arrives_without_the_senders_lock),
        REGISTRY_TEST(what_cannot_be_opened_anew_is_not_passed),
        REGISTRY_TEST(what_is_no_message_is_refused_and_the_next_one_is_not),
        REGISTRY_TEST(a_body_longer_than_the_room_is_reported),
        REGISTRY_TEST(surplus_descriptors_are_closed),
        REGISTRY_TEST(a_host_that_is_stopped_holds_nobody_longer_than_the_deadline),
        REGISTRY_TEST(who_cannot_be_connected_gives_up_at_the_deadline),
        REGISTRY_TEST(another_user_is_not_accepted),
        REGISTRY_TEST(another_users_host_is_not_connected_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
