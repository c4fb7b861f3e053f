/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Connections to a host, and the messages on them. */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/wait.h"
#include "registry/connection.h"
#include "registry/fixture.h"
#include "registry/message.h"
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

static void connect_pair(int pair[2])
{
    struct etwas_registry_host host;
    struct etwas_peer peer;

    assert_int_equal(open_session(&host, u"host", 1), ERROR_SUCCESS);
    {
        const etwas_guid session = guid_of(1);
        struct etwas_registry_entry *entry;

        assert_int_equal(etwas_registry_accept(host.listener, &pair[1], &peer), ERROR_NOT_FOUND);
        assert_int_equal(etwas_registry_read(&session, &entry), ERROR_SUCCESS);
        assert_int_equal(etwas_registry_connect(entry, soon(), &pair[0], &peer), ERROR_SUCCESS);
        assert_int_equal(peer.process_id, getpid());
        assert_int_equal(peer.user_id, geteuid());
        assert_int_equal(etwas_registry_accept(host.listener, &pair[1], &peer), ERROR_SUCCESS);
        assert_int_equal(peer.process_id, getpid());
        etwas_registry_host_close(&host);
        assert_int_equal(etwas_registry_connect(entry, soon(), &pair[0], &peer), ERROR_NOT_FOUND);
        free(entry);
    }
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
    assert_int_equal(close(pair[0]), 0);
    assert_int_equal(close(pair[1]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REGISTRY_TEST(the_largest_message_arrives_whole),
        REGISTRY_TEST(a_descriptor_arrives_without_the_senders_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
