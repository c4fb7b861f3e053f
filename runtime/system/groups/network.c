/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_NETWORK_TCPIP: connections, and data sent and received, as ETW's TcpIp and
 * UdpIp.
 *
 *     saddr, sport    the local end; daddr and dport the other, for either direction; 0: not known
 *     connid          the kernel's address of the socket, unique while it lives
 *     PID             see sockets.h; 0: not known
 *     size            what send or receive returned, however many packets that were
 *
 * Linux reports only the size of a datagram, and for a retransmission not even that. Times,
 * sequence numbers and options of the protocol are not known: 0.
 */
#include <arpa/inet.h>
#include <etwas/evntrace.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "system/groups/event_groups.h"
#include "system/groups/length_probe.h"
#include "system/groups/sockets.h"
#include "system/stream/cpu_stream.h"
#include "system/stream/kernel_record.h"

enum {
    GROUP_TCP = ETWAS_TCP_GROUP,
    GROUP_UDP = ETWAS_UDP_GROUP,
    TYPE_IPV6 = ETWAS_TCP_SEND_V6 - ETWAS_TCP_SEND, /* added to the types of IPv4 */
    IPV4_BYTES = 4,
};
_Static_assert((int)ETWAS_UDP_SEND == (int)ETWAS_TCP_SEND &&
                   (int)ETWAS_UDP_RECEIVE == (int)ETWAS_TCP_RECEIVE,
               "both protocols have the same types");

/* ---- records --------------------------------------------------------------------------------- */

struct message {
    uint8_t group;
    uint8_t type; /* the type of IPv4 */
    bool is_ipv6;
    uint32_t process_id;
    uint32_t bytes;
    uint64_t socket;
    const struct etwas_ends *ends;
};

static void network_put_ends_v4(struct etwas_record_builder *record, const struct message *message)
{
    const struct etwas_ends *ends = message->ends;
    uint32_t remote, local;

    memcpy(&remote, ends->remote, sizeof remote);
    memcpy(&local, ends->local, sizeof local);
    ETWAS_RECORD_PUT(record, ENDS_V4, .PID = message->process_id, .size = message->bytes,
                     .daddr = remote, .saddr = local, .dport = htons(ends->remote_port),
                     .sport = htons(ends->local_port));
}

static void network_put_ends_v6(struct etwas_record_builder *record, const struct message *message)
{
    const struct etwas_ends *ends = message->ends;
    etwas_field_ipv6 remote, local;

    memcpy(remote.bytes, ends->remote, sizeof remote.bytes);
    memcpy(local.bytes, ends->local, sizeof local.bytes);
    ETWAS_RECORD_PUT(record, ENDS_V6, .PID = message->process_id, .size = message->bytes,
                     .daddr = remote, .saddr = local, .dport = htons(ends->remote_port),
                     .sport = htons(ends->local_port));
}

static void network_emit_at(const struct etwas_event_group_host *host, uint32_t slot,
                            int64_t time_ns, const struct message *message)
{
    struct etwas_record_builder *record = host->record;
    uint8_t type = (uint8_t)(message->type + (message->is_ipv6 ? TYPE_IPV6 : 0));

    etwas_record_builder_begin(record, ETWAS_TCP_HEADER, message->group, type, ETWAS_TCP_VERSION);
    (message->is_ipv6 ? network_put_ends_v6 : network_put_ends_v4)(record, message);
    if (message->group == GROUP_TCP && message->type == ETWAS_TCP_SEND) {
        ETWAS_RECORD_PUT(record, CONNECTION_SEND, .connid = message->socket);
    } else if (message->type == ETWAS_TCP_CONNECT || message->type == ETWAS_TCP_ACCEPT) {
        ETWAS_RECORD_PUT(record, CONNECTION_BEGIN, .connid = message->socket);
    } else {
        ETWAS_RECORD_PUT(record, CONNECTION, .connid = message->socket);
    }
    etwas_emit(host->emitter, slot, etwas_record_builder_end(record), time_ns);
}

static void network_emit_message(const struct etwas_source_event *event,
                                 const struct message *message)
{
    network_emit_at(event->host, event->slot, event->sample->origin.time_ns, message);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* The source's fields from `first` on are the ports, the family and four addresses. */
enum {
    LOCAL_PORT,
    REMOTE_PORT,
    FAMILY,
    ENDS_NUMBERS,
    LOCAL_IPV4 = ENDS_NUMBERS,
    REMOTE_IPV4,
    LOCAL_IPV6,
    REMOTE_IPV6,
};
#define ENDS_NAMES "sport", "dport", "family", "saddr", "daddr", "saddr_v6", "daddr_v6"

static bool network_handle_address(const struct etwas_source_event *event, uint32_t index,
                                   size_t bytes, uint8_t *address)
{
    const uint8_t *found;
    size_t count;

    if (!etwas_tracepoint_format_bytes(&event->fields[index], event->sample->raw,
                                       event->sample->raw_bytes, &found, &count) ||
        count != bytes) {
        return false;
    }
    memcpy(address, found, bytes);
    return true;
}

/* `numbers`: the ports and the family. */
static bool network_handle_ends(const struct etwas_source_event *event, uint32_t first,
                                const int64_t *numbers, struct etwas_ends *ends)
{
    bool is_ipv6 = numbers[FAMILY] == AF_INET6;
    size_t bytes = is_ipv6 ? ETWAS_ADDRESS_BYTES : IPV4_BYTES;

    *ends = (struct etwas_ends){.local_port = (uint16_t)numbers[LOCAL_PORT],
                                .remote_port = (uint16_t)numbers[REMOTE_PORT]};
    return network_handle_address(event, first + (is_ipv6 ? LOCAL_IPV6 : LOCAL_IPV4), bytes,
                                  ends->local) &&
           network_handle_address(event, first + (is_ipv6 ? REMOTE_IPV6 : REMOTE_IPV4), bytes,
                                  ends->remote);
}

/* ---- states ---------------------------------------------------------------------------------- */

enum {
    STATE_SOCKET,
    STATE_FROM,
    STATE_TO,
    STATE_ENDS,
    STATE_NUMBERS = STATE_ENDS + ENDS_NUMBERS,
};

static const char *const state_names[] = {"skaddr", "oldstate", "newstate", ENDS_NAMES, NULL};

static bool network_handle_state(const struct etwas_source_event *event)
{
    static const uint8_t types[] = {
        [ETWAS_SOCKET_CONNECTED] = ETWAS_TCP_CONNECT,
        [ETWAS_SOCKET_ACCEPTED] = ETWAS_TCP_ACCEPT,
        [ETWAS_SOCKET_DISCONNECTED] = ETWAS_TCP_DISCONNECT,
    };
    int64_t values[STATE_NUMBERS];
    struct etwas_socket_step step = {.process_id = event->sample->origin.process_id};
    struct etwas_socket known;
    enum etwas_socket_change change;

    if (!etwas_source_event_numbers(event, values, STATE_NUMBERS) ||
        !network_handle_ends(event, STATE_ENDS, values + STATE_ENDS, &step.ends)) {
        return false;
    }
    step.socket = (uint64_t)values[STATE_SOCKET];
    step.from = values[STATE_FROM];
    step.to = values[STATE_TO];
    change = etwas_sockets_step(event->state, &step, &known);
    if (change != ETWAS_SOCKET_OTHER) {
        network_emit_message(event,
                             &(struct message){.group = GROUP_TCP,
                                               .type = types[change],
                                               .is_ipv6 = values[STATE_ENDS + FAMILY] == AF_INET6,
                                               .process_id = known.process_id,
                                               .socket = step.socket,
                                               .ends = &known.ends});
    }
    return true;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

enum {
    LENGTH_SOCKET,
    LENGTH_FAMILY,
    LENGTH_PROTOCOL,
    LENGTH_BYTES,
    LENGTH_NUMBERS,
};

static const char *const length_names[] = {"sk", "family", "protocol", "ret", NULL};

static const struct etwas_ends nowhere = {0};

static bool network_handle_length(const struct etwas_source_event *event, uint8_t type)
{
    int64_t values[LENGTH_NUMBERS];
    struct message message = {
        .type = type, .process_id = event->sample->origin.process_id, .ends = &nowhere};

    if (!etwas_source_event_numbers(event, values, LENGTH_NUMBERS)) {
        return false;
    }
    message.socket = (uint64_t)values[LENGTH_SOCKET];
    message.bytes = (uint32_t)values[LENGTH_BYTES];
    message.is_ipv6 = values[LENGTH_FAMILY] == AF_INET6;
    message.group = values[LENGTH_PROTOCOL] == IPPROTO_TCP ? GROUP_TCP : GROUP_UDP;
    if (message.group == GROUP_TCP) {
        message.ends = &etwas_sockets_use(event->state, message.socket, message.process_id)->ends;
    }
    network_emit_message(event, &message);
    return true;
}

static bool network_handle_send(const struct etwas_source_event *event)
{
    return network_handle_length(event, ETWAS_TCP_SEND);
}

static bool network_handle_receive(const struct etwas_source_event *event)
{
    return network_handle_length(event, ETWAS_TCP_RECEIVE);
}

/* Called on kernels without tracepoints. */
static void network_handle_process_record(void *state, const struct etwas_event_group_host *host,
                                          uint32_t slot,
                                          const struct etwas_process_record *process_record)
{
    struct message message = {.group = process_record->length.is_udp ? GROUP_UDP : GROUP_TCP,
                              .type = process_record->length.is_received ? ETWAS_TCP_RECEIVE
                                                                         : ETWAS_TCP_SEND,
                              .is_ipv6 = process_record->length.is_ipv6,
                              .process_id = process_record->process_id,
                              .bytes = process_record->length.bytes,
                              .socket = process_record->length.socket,
                              .ends = &nowhere};

    if (message.group == GROUP_TCP) {
        message.ends = &etwas_sockets_use(state, message.socket, message.process_id)->ends;
    }
    network_emit_at(host, slot, process_record->origin.time_ns, &message);
}

/* ---- repetitions ----------------------------------------------------------------------------- */

enum {
    REPEAT_SOCKET,
    REPEAT_ENDS,
    REPEAT_NUMBERS = REPEAT_ENDS + ENDS_NUMBERS,
};

static const char *const repeat_names[] = {"skaddr", ENDS_NAMES, NULL};

static bool network_handle_repeat(const struct etwas_source_event *event)
{
    int64_t values[REPEAT_NUMBERS];
    struct etwas_ends ends;

    if (!etwas_source_event_numbers(event, values, REPEAT_NUMBERS) ||
        !network_handle_ends(event, REPEAT_ENDS, values + REPEAT_ENDS, &ends)) {
        return false;
    }
    network_emit_message(
        event, &(struct message){
                   .group = GROUP_TCP,
                   .type = ETWAS_TCP_RETRANSMIT,
                   .is_ipv6 = values[REPEAT_ENDS + FAMILY] == AF_INET6,
                   .process_id = etwas_sockets_owner(event->state, (uint64_t)values[REPEAT_SOCKET]),
                   .socket = (uint64_t)values[REPEAT_SOCKET],
                   .ends = &ends});
    return true;
}

/* ---- the group ------------------------------------------------------------------------------- */

/* What is received with MSG_PEEK is received again later. */
#define LENGTH_FILTER                                                                              \
    "(family == 2 || family == 10) && (protocol == 6 || protocol == 17) && ret > 0"

#define LENGTH_HOOKS(type)                                                                         \
    GROUP_TCP << 8 | (type), GROUP_TCP << 8 | ((type) + TYPE_IPV6), GROUP_UDP << 8 | (type),       \
        GROUP_UDP << 8 | ((type) + TYPE_IPV6)

/* States of a connection also change in interrupts, where the stack belongs to another thread. */
static const struct etwas_event_source sources[] = {
    {.tracepoint = "sock/inet_sock_set_state",
     .fields = state_names,
     .filter = "protocol == 6 && (family == 2 || family == 10)",
     .handle = network_handle_state},
    {.tracepoint = "sock/sock_send_length",
     .fields = length_names,
     .filter = LENGTH_FILTER,
     .hooks = {LENGTH_HOOKS(ETWAS_TCP_SEND)},
     .is_optional = true,
     .handle = network_handle_send},
    {.tracepoint = "sock/sock_recv_length",
     .fields = length_names,
     .filter = LENGTH_FILTER " && !(flags & 2)",
     .hooks = {LENGTH_HOOKS(ETWAS_TCP_RECEIVE)},
     .is_optional = true,
     .handle = network_handle_receive},
    {.tracepoint = "tcp/tcp_retransmit_skb",
     .fields = repeat_names,
     .is_optional = true,
     .handle = network_handle_repeat},
};

static void network_run_down(void *state, const struct etwas_event_group_host *host, bool is_end)
{
    (void)state;
    if (!is_end && (host->process_records & ETWAS_PROCESS_RECORD_LENGTHS) == 0 &&
        !etwas_length_has_tracepoints()) {
        etwas_empty_group_emit(
            host, EVENT_TRACE_FLAG_NETWORK_TCPIP,
            "NETWORK_TCPIP records no Send and no Recv, since this kernel has no "
            "tracepoints for them, and the process may not have BPF programs there");
    }
}

static void *network_open(const struct etwas_event_group_host *host)
{
    struct etwas_sockets *sockets = malloc(sizeof *sockets);

    (void)host;
    if (sockets != NULL && !etwas_sockets_init(sockets)) {
        free(sockets);
        return NULL;
    }
    return sockets;
}

static void network_close(void *state)
{
    etwas_sockets_free(state);
    free(state);
}

const struct etwas_event_group etwas_event_group_network = {
    .flags = EVENT_TRACE_FLAG_NETWORK_TCPIP,
    .process_records = ETWAS_PROCESS_RECORD_LENGTHS,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = network_open,
    .close = network_close,
    .run_down = network_run_down,
    .handle_process_record = network_handle_process_record,
};
