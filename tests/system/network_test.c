/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_NETWORK_TCPIP: every connection begins and ends once on either side, with its
 * two ends, its bytes and its process.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "system/groups/length_probe.h"
#include "system/kernel_count.h"
#include "system/kernel_fixture.h"

enum {
    CONNECTIONS = 7,
    REQUEST_BYTES = 1000, /* and one more each time */
    ANSWER_BYTES = 300,
    DATAGRAM_BYTES = 123,
    SEND = 10,
    RECEIVE = 11,
    CONNECT = 12,
    DISCONNECT = 13,
    ACCEPT = 15,
    IPV6 = 16,
};

static const etwas_guid tcp_class = {
    0x9a280ac0, 0xc8e0, 0x11d1, {0x84, 0xe2, 0x00, 0xc0, 0x4f, 0xb9, 0x98, 0xa2}};
static const etwas_guid udp_class = {
    0xbf3a50c5, 0xa9c9, 0x4988, {0xa0, 0x05, 0x2d, 0xf0, 0xb7, 0xc8, 0x0f, 0x80}};

static const uint8_t ipv4_loopback[16] = {127, 0, 0, 1};
static const uint8_t ipv6_loopback[16] = {[15] = 1};

/* ---- a server and its clients ---------------------------------------------------------------- */

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in ipv4;
        struct sockaddr_in6 ipv6;
    };
    socklen_t bytes;
};

static struct address loopback(int family, uint16_t port)
{
    struct address address = {0};

    if (family == AF_INET6) {
        address.ipv6 = (struct sockaddr_in6){
            .sin6_family = AF_INET6, .sin6_port = port, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        address.bytes = sizeof address.ipv6;
    } else {
        address.ipv4 = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_port = port, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        address.bytes = sizeof address.ipv4;
    }
    return address;
}

/* In network order, where both families have it. */
static uint16_t port_of(int descriptor)
{
    struct address address = {.bytes = sizeof address.ipv6};

    return getsockname(descriptor, &address.any, &address.bytes) == 0 ? address.ipv4.sin_port : 0;
}

static int bound_socket(int family, int type)
{
    struct address address = loopback(family, 0);
    int descriptor = socket(family, type | SOCK_CLOEXEC, 0);

    assert_true(descriptor >= 0);
    assert_int_equal(bind(descriptor, &address.any, address.bytes), 0);
    return descriptor;
}

/* One after the other, in a child. Its ports are told through the pipe. */
static void be_client(int family, uint16_t port, int tell)
{
    static uint8_t bytes[REQUEST_BYTES + CONNECTIONS];

    for (int index = 0; index < CONNECTIONS; index++) {
        struct address address = loopback(family, port);
        int descriptor = socket(family, SOCK_STREAM, 0);
        uint16_t own;

        CHECK_IN_CHILD(connect(descriptor, &address.any, address.bytes) == 0);
        own = port_of(descriptor);
        CHECK_IN_CHILD(write(tell, &own, sizeof own) == sizeof own);
        CHECK_IN_CHILD(send(descriptor, bytes, (size_t)(REQUEST_BYTES + index), 0) ==
                       REQUEST_BYTES + index);
        CHECK_IN_CHILD(recv(descriptor, bytes, ANSWER_BYTES, MSG_PEEK | MSG_WAITALL) ==
                       ANSWER_BYTES);
        CHECK_IN_CHILD(recv(descriptor, bytes, ANSWER_BYTES, MSG_WAITALL) == ANSWER_BYTES);
        (void)close(descriptor);
    }
    _exit(0);
}

/* Its close waits until the other side has taken notice, so all has happened then. */
static void serve_one(int listener, int index)
{
    const struct linger wait = {.l_onoff = 1, .l_linger = 10};
    static uint8_t bytes[REQUEST_BYTES + CONNECTIONS];
    int descriptor = accept(listener, NULL, NULL);

    assert_true(descriptor >= 0);
    assert_int_equal(setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &wait, sizeof wait), 0);
    assert_int_equal(recv(descriptor, bytes, (size_t)(REQUEST_BYTES + index), MSG_WAITALL),
                     REQUEST_BYTES + index);
    assert_int_equal(write(descriptor, bytes, ANSWER_BYTES), ANSWER_BYTES);
    assert_int_equal(read(descriptor, bytes, sizeof bytes), 0);
    assert_int_equal(close(descriptor), 0);
}

struct talk {
    uint16_t server;
    uint16_t clients[CONNECTIONS];
    uint32_t client_id;
};

static void run_talk(int family, struct talk *talk)
{
    int listener = bound_socket(family, SOCK_STREAM);
    int tell[2];
    int child;

    assert_int_equal(listen(listener, CONNECTIONS), 0);
    assert_int_equal(pipe(tell), 0);
    talk->server = port_of(listener);
    child = fork_child();
    if (child == 0) {
        be_client(family, talk->server, tell[1]);
    }
    talk->client_id = (uint32_t)child;
    for (int index = 0; index < CONNECTIONS; index++) {
        serve_one(listener, index);
        assert_int_equal(read(tell[0], &talk->clients[index], sizeof(uint16_t)), sizeof(uint16_t));
    }
    assert_int_equal(exit_code_of(child), 0);
    (void)close(tell[0]);
    (void)close(tell[1]);
    (void)close(listener);
}

/* ---- what is told of it ---------------------------------------------------------------------- */

struct expected {
    const uint8_t *address;
    uint8_t type;
    bool is_ipv6;
    uint32_t process_id;
    uint32_t bytes;
    uint16_t local;
    uint16_t remote;
};

/* The connid behind all else. */
static uint64_t socket_of(const struct event *event)
{
    uint64_t value;

    memcpy(&value, event->payload + event->record.UserDataLength - sizeof value, sizeof value);
    return value;
}

static bool is_expected(const struct event *event, const struct expected *expected)
{
    size_t bytes = expected->is_ipv6 ? 16 : 4;
    uint8_t type = (uint8_t)(expected->type + (expected->is_ipv6 ? IPV6 : 0));
    uint16_t ports[2];

    if (!is_kernel_event(event, &tcp_class, type)) {
        return false;
    }
    memcpy(ports, event->payload + 8 + 2 * bytes, sizeof ports);
    return ports[0] == expected->remote && ports[1] == expected->local &&
           u32_at(event, 0) == expected->process_id && u32_at(event, 4) == expected->bytes &&
           memcmp(event->payload + 8, expected->address, bytes) == 0 &&
           memcmp(event->payload + 8 + bytes, expected->address, bytes) == 0;
}

static uint32_t payload_bytes(const struct expected *expected)
{
    uint32_t addresses = expected->is_ipv6 ? 24 : 0;

    switch (expected->type) {
    case SEND:
        return 40 + addresses;
    case CONNECT:
    case ACCEPT:
        return 48 + addresses;
    default:
        return 32 + addresses;
    }
}

/* Once; the socket, which is `socket` unless that is 0. */
static uint64_t expect_once(const struct events *events, const struct expected *expected,
                            uint64_t socket)
{
    const struct event *found = NULL;

    for (size_t index = 0; index < events->count; index++) {
        if (is_expected(&events->items[index], expected)) {
            assert_null(found);
            found = &events->items[index];
        }
    }
    assert_non_null(found);
    assert_int_equal(found->record.EventHeader.EventDescriptor.Version, 2);
    assert_int_equal(found->record.UserDataLength, payload_bytes(expected));
    assert_int_not_equal(socket_of(found), 0);
    assert_true(socket == 0 || socket_of(found) == socket);
    return socket_of(found);
}

static bool has_lengths; /* whether the kernel tells of bytes at all */

static bool find_lengths(void)
{
    struct etwas_probe probe;

    if (etwas_length_has_tracepoints()) {
        return true;
    }
    if (!etwas_length_probe_open(&probe, 1)) {
        return false;
    }
    etwas_probe_close(&probe);
    return true;
}

static void expect_side(const struct events *events, const struct talk *talk, int index,
                        bool is_server, int family)
{
    struct expected expected = {.address = family == AF_INET6 ? ipv6_loopback : ipv4_loopback,
                                .type = is_server ? ACCEPT : CONNECT,
                                .is_ipv6 = family == AF_INET6,
                                .process_id = is_server ? (uint32_t)getpid() : talk->client_id,
                                .local = is_server ? talk->server : talk->clients[index],
                                .remote = is_server ? talk->clients[index] : talk->server};
    uint32_t request = (uint32_t)(REQUEST_BYTES + index);
    uint64_t socket = expect_once(events, &expected, 0);

    if (has_lengths) {
        expected.type = SEND;
        expected.bytes = is_server ? ANSWER_BYTES : request;
        (void)expect_once(events, &expected, socket);
        expected.type = RECEIVE;
        expected.bytes = is_server ? request : ANSWER_BYTES;
        (void)expect_once(events, &expected, socket);
    }
    expected.type = DISCONNECT;
    expected.bytes = 0;
    (void)expect_once(events, &expected, socket);
}

static void expect_connections(int family)
{
    etwas_trace_handle session;
    struct events events;
    struct talk talk;

    session = start_kernel(EVENT_TRACE_FLAG_NETWORK_TCPIP | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    run_talk(family, &talk);
    read_and_account(session, &events);
    for (int index = 0; index < CONNECTIONS; index++) {
        expect_side(&events, &talk, index, false, family);
        expect_side(&events, &talk, index, true, family);
    }
    free_events(&events);
}

static void a_connection_is_recorded_on_both_sides(void **state)
{
    (void)state;
    expect_connections(AF_INET);
}

static void an_ipv6_connection_is_recorded_on_both_sides(void **state)
{
    (void)state;
    expect_connections(AF_INET6);
}

/* The sender is known; the destination is not. */
static void a_datagram_has_a_size(void **state)
{
    static const uint8_t nowhere[12] = {0};
    int receiver = bound_socket(AF_INET, SOCK_DGRAM);
    int sender = bound_socket(AF_INET, SOCK_DGRAM);
    struct address address = loopback(AF_INET, port_of(receiver));
    uint8_t bytes[DATAGRAM_BYTES] = {0};
    etwas_trace_handle session;
    struct events events;
    uint32_t counts[2] = {0};

    (void)state;
    if (!has_lengths) {
        (void)printf("skipped: this kernel tells nothing of bytes\n");
        skip();
    }
    session = start_kernel(EVENT_TRACE_FLAG_NETWORK_TCPIP | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    for (int index = 0; index < CONNECTIONS; index++) {
        assert_int_equal(sendto(sender, bytes, sizeof bytes, 0, &address.any, address.bytes),
                         sizeof bytes);
        assert_int_equal(recv(receiver, bytes, sizeof bytes, 0), sizeof bytes);
    }
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        for (uint8_t type = SEND; type <= RECEIVE; type++) {
            if (is_kernel_event(event, &udp_class, type) && u32_at(event, 4) == DATAGRAM_BYTES &&
                u32_at(event, 0) == (uint32_t)getpid()) {
                assert_int_equal(event->record.UserDataLength, 32);
                assert_memory_equal(event->payload + 8, nowhere, sizeof nowhere);
                counts[type - SEND]++;
            }
        }
    }
    assert_int_equal(counts[0], CONNECTIONS);
    assert_int_equal(counts[1], CONNECTIONS);
    free_events(&events);
    (void)close(receiver);
    (void)close(sender);
}

/*
 * Where there are neither tracepoints nor BPF programs the file says it, and connections are told
 * all the same.
 */
static int log_without_leave(void)
{
    etwas_trace_handle session;
    struct etwas_probe probe;
    struct events events;
    struct talk talk;
    uint32_t said = 0;
    uint32_t lengths = 0;
    uint32_t connects = 0;

    if (!become_nobody_with(monitoring_capabilities()) || etwas_length_probe_open(&probe, 1)) {
        /* where CAP_SYS_ADMIN has to do for CAP_PERFMON it does for CAP_BPF, too */
        print_message("skipped: capabilities cannot be given up, or BPF needs none\n");
        return 77;
    }
    session = start_kernel(EVENT_TRACE_FLAG_NETWORK_TCPIP | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    run_talk(AF_INET, &talk);
    stop_session(session, NULL);
    read_events(folder_path("k.etl"), 0, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        said += is_kernel_event(event, &etwas_etl_own_class, ETWAS_ETL_SILENT_FLAG_TYPE) &&
                u32_at(event, 4) == EVENT_TRACE_FLAG_NETWORK_TCPIP;
        lengths += is_kernel_event(event, &tcp_class, SEND);
        connects += is_kernel_event(event, &tcp_class, CONNECT);
    }
    free_events(&events);
    CHECK_IN_CHILD(connects >= CONNECTIONS);
    CHECK_IN_CHILD(said == (lengths == 0) && (lengths != 0) == etwas_length_has_tracepoints());
    return 0;
}

static void without_lengths_the_file_says_so(void **state)
{
    (void)state;
    if (geteuid() != 0 || chmod(folder_path(""), 0777) != 0) {
        print_message("skipped: only root can become another user\n");
        skip();
    }
    expect_in_child(log_without_leave);
}

/* As many as the kernel itself counts, from before the start to behind the end, and within. */
static void the_kernel_counts_as_many(void **state)
{
    static struct kernel_count outer;
    static struct kernel_count inner;
    static const char tracepoint[] = "sock/sock_send_length";
    static const char filter[] = "protocol == 6 && family == 2 && ret > 0";
    etwas_trace_handle session;
    struct events events;
    struct talk talk;
    uint64_t least;
    uint64_t sends = 0;

    (void)state;
    if (!etwas_length_has_tracepoints()) {
        (void)printf("skipped: this kernel has no tracepoint that counts them\n");
        skip();
    }
    begin_counting(&outer, tracepoint, filter);
    session = start_kernel(EVENT_TRACE_FLAG_NETWORK_TCPIP | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    begin_counting(&inner, tracepoint, filter);
    run_talk(AF_INET, &talk);
    least = end_counting(&inner);
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        sends += is_kernel_event(&events.items[index], &tcp_class, SEND);
    }
    assert_in_range(least, 2 * CONNECTIONS, UINT64_MAX);
    assert_in_range(sends, least, end_counting(&outer));
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_connection_is_recorded_on_both_sides),
        FOLDER_TEST(an_ipv6_connection_is_recorded_on_both_sides),
        FOLDER_TEST(a_datagram_has_a_size),
        FOLDER_TEST(without_lengths_the_file_says_so),
        FOLDER_TEST(the_kernel_counts_as_many),
    };

    has_lengths = find_lengths();
    return RUN_KERNEL_TESTS("system network", tests);
}
