/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The owner of a socket, as far as its states show it; what is not known is reported as unknown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "system/groups/sockets.h"

enum {
    PORT = 80,
    SERVER = 100,
    OTHER_SERVER = 101,
    CLIENT = 200,
    BYSTANDER = 300, /* connections are completed while it runs */
    ESTABLISHED = ETWAS_TCP_ESTABLISHED,
    SYN_SENT = ETWAS_TCP_SYN_SENT,
    SYN_RECEIVED = ETWAS_TCP_SYN_RECEIVED,
    CLOSED = ETWAS_TCP_CLOSE,
    LISTENS = ETWAS_TCP_LISTEN,
    FIN_WAIT = 5,
};

static enum etwas_socket_change step(struct etwas_sockets *sockets, uint64_t socket, int from,
                                     int to, uint32_t process_id, struct etwas_socket *known)
{
    const struct etwas_socket_step taken = {.socket = socket,
                                            .from = from,
                                            .to = to,
                                            .process_id = process_id,
                                            .ends = {.local_port = PORT}};

    *known = (struct etwas_socket){0};
    return etwas_sockets_step(sockets, &taken, known);
}

/* What is accepted on the port now. */
static uint32_t who_accepts(struct etwas_sockets *sockets)
{
    struct etwas_socket known;

    assert_int_equal(step(sockets, 9, LISTENS, SYN_RECEIVED, BYSTANDER, &known),
                     ETWAS_SOCKET_OTHER);
    assert_int_equal(step(sockets, 9, SYN_RECEIVED, ESTABLISHED, BYSTANDER, &known),
                     ETWAS_SOCKET_ACCEPTED);
    return known.process_id;
}

static void a_socket_belongs_to_the_process_that_connects_or_listens(void **state)
{
    struct etwas_sockets sockets;
    struct etwas_socket known;

    (void)state;
    assert_true(etwas_sockets_init(&sockets));
    (void)step(&sockets, 1, CLOSED, SYN_SENT, CLIENT, &known);
    assert_int_equal(step(&sockets, 1, SYN_SENT, ESTABLISHED, BYSTANDER, &known),
                     ETWAS_SOCKET_CONNECTED);
    assert_int_equal(known.process_id, CLIENT);
    assert_int_equal(step(&sockets, 1, FIN_WAIT, CLOSED, BYSTANDER, &known),
                     ETWAS_SOCKET_DISCONNECTED);
    assert_int_equal(known.process_id, CLIENT);
    assert_int_equal(etwas_sockets_owner(&sockets, 1), 0);
    assert_int_equal(who_accepts(&sockets), 0);
    (void)step(&sockets, 2, CLOSED, LISTENS, SERVER, &known);
    assert_int_equal(who_accepts(&sockets), SERVER);
    (void)step(&sockets, 3, CLOSED, LISTENS, OTHER_SERVER, &known);
    assert_int_equal(who_accepts(&sockets), 0);
    (void)step(&sockets, 2, LISTENS, CLOSED, SERVER, &known);
    assert_int_equal(who_accepts(&sockets), 0);
    (void)step(&sockets, 3, LISTENS, CLOSED, OTHER_SERVER, &known);
    (void)step(&sockets, 3, CLOSED, LISTENS, OTHER_SERVER, &known);
    assert_int_equal(who_accepts(&sockets), OTHER_SERVER);
    etwas_sockets_free(&sockets);
}

static void a_socket_belongs_to_the_process_that_uses_it(void **state)
{
    struct etwas_sockets sockets;
    struct etwas_socket known;

    (void)state;
    assert_true(etwas_sockets_init(&sockets));
    assert_int_equal(etwas_sockets_use(&sockets, 1, SERVER)->ends.local_port, 0);
    assert_int_equal(etwas_sockets_owner(&sockets, 1), SERVER);
    assert_int_equal(step(&sockets, 1, ESTABLISHED, CLOSED, BYSTANDER, &known),
                     ETWAS_SOCKET_DISCONNECTED);
    assert_int_equal(known.process_id, SERVER);
    assert_int_equal(known.ends.local_port, PORT);
    etwas_sockets_free(&sockets);
}

static void what_never_was_a_connection_does_not_end(void **state)
{
    struct etwas_sockets sockets;
    struct etwas_socket known;

    (void)state;
    assert_true(etwas_sockets_init(&sockets));
    (void)step(&sockets, 1, CLOSED, SYN_SENT, CLIENT, &known);
    assert_int_equal(step(&sockets, 1, SYN_SENT, CLOSED, CLIENT, &known), ETWAS_SOCKET_OTHER);
    /* The address is another's now. */
    assert_int_equal(step(&sockets, 1, LISTENS, SYN_RECEIVED, BYSTANDER, &known),
                     ETWAS_SOCKET_OTHER);
    assert_int_equal(step(&sockets, 1, SYN_RECEIVED, ESTABLISHED, BYSTANDER, &known),
                     ETWAS_SOCKET_ACCEPTED);
    assert_int_equal(known.process_id, 0);
    etwas_sockets_free(&sockets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_socket_belongs_to_the_process_that_connects_or_listens),
        cmocka_unit_test(a_socket_belongs_to_the_process_that_uses_it),
        cmocka_unit_test(what_never_was_a_connection_does_not_end),
    };

    return cmocka_run_group_tests_name("system sockets", tests, NULL, NULL);
}
