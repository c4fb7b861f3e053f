/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_NETWORK_TCPIP: connections, and what is sent and received, as ETW's TcpIp and
 * UdpIp.
 *
 *     saddr, sport    our end; daddr and dport the other, whatever the direction; 0: not known
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

#include "etl/layout.h"
#include "system/groups/empty_groups.h"
#include "system/groups/event_groups.h"
#include "system/groups/length_probe.h"
#include "system/groups/sockets.h"
#include "system/stream/cpu_stream.h"

enum {
    GROUP_TCP = 0x06,
    GROUP_UDP = 0x08,
    CLASS_VERSION = 2,
    TYPE_SEND = 10,
    TYPE_RECEIVE = 11,
    TYPE_CONNECT = 12,
    TYPE_DISCONNECT = 13,
    TYPE_RETRANSMIT = 14,
    TYPE_ACCEPT = 15,
    TYPE_IPV6 = 16, /* added to the types of IPv4 */
    IPV4_BYTES = 4,
    SEND_TIMES_BYTES = 8,      /* startime, endtime */
    CONNECT_OPTION_BYTES = 16, /* mss to sndwinscale */
};

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

static void put_ends(struct etwas_record_builder *record, const struct etwas_ends *ends,
                     bool is_ipv6)
{
    size_t bytes = is_ipv6 ? ETWAS_ADDRESS_BYTES : IPV4_BYTES;

    etwas_record_builder_put(record, ends->remote, bytes);
    etwas_record_builder_put(record, ends->local, bytes);
    etwas_record_builder_put_u16(record, htons(ends->remote_port));
    etwas_record_builder_put_u16(record, htons(ends->local_port));
}

static void emit_at(const struct etwas_event_group_host *host, uint32_t slot, int64_t time_ns,
                    const struct message *message)
{
    struct etwas_record_builder *record = host->record;
    uint8_t type = (uint8_t)(message->type + (message->is_ipv6 ? TYPE_IPV6 : 0));

    etwas_record_builder_begin(record, ETWAS_ETL_PERFINFO64, message->group, type, CLASS_VERSION);
    etwas_record_builder_put_u32(record, message->process_id);
    etwas_record_builder_put_u32(record, message->bytes);
    put_ends(record, message->ends, message->is_ipv6);
    if (message->group == GROUP_TCP && message->type == TYPE_SEND) {
        etwas_record_builder_put_zeros(record, SEND_TIMES_BYTES);
    } else if (message->type == TYPE_CONNECT || message->type == TYPE_ACCEPT) {
        etwas_record_builder_put_zeros(record, CONNECT_OPTION_BYTES);
    }
    etwas_record_builder_put_u32(record, 0); /* seqnum */
    etwas_record_builder_put_u64(record, message->socket);
    etwas_emit(host->emitter, slot, etwas_record_builder_end(record), time_ns);
}

static void emit_message(const struct etwas_source_event *event, const struct message *message)
{
    emit_at(event->host, event->slot, event->sample->origin.time_ns, message);
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

static bool handle_address(const struct etwas_source_event *event, uint32_t index, size_t bytes,
                           uint8_t *address)
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
static bool handle_ends(const struct etwas_source_event *event, uint32_t first,
                        const int64_t *numbers, struct etwas_ends *ends)
{
    bool is_ipv6 = numbers[FAMILY] == AF_INET6;
    size_t bytes = is_ipv6 ? ETWAS_ADDRESS_BYTES : IPV4_BYTES;

    *ends = (struct etwas_ends){.local_port = (uint16_t)numbers[LOCAL_PORT],
                                .remote_port = (uint16_t)numbers[REMOTE_PORT]};
    return handle_address(event, first + (is_ipv6 ? LOCAL_IPV6 : LOCAL_IPV4), bytes, ends->local) &&
           handle_address(event, first + (is_ipv6 ? REMOTE_IPV6 : REMOTE_IPV4), bytes,
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

static bool handle_state(const struct etwas_source_event *event)
{
    static const uint8_t types[] = {
        [ETWAS_SOCKET_CONNECTED] = TYPE_CONNECT,
        [ETWAS_SOCKET_ACCEPTED] = TYPE_ACCEPT,
        [ETWAS_SOCKET_DISCONNECTED] = TYPE_DISCONNECT,
    };
    int64_t values[STATE_NUMBERS];
    struct etwas_socket_step step = {.process_id = event->sample->origin.process_id};
    struct etwas_socket known;
    enum etwas_socket_change change;

    if (!etwas_source_event_numbers(event, values, STATE_NUMBERS) ||
        !handle_ends(event, STATE_ENDS, values + STATE_ENDS, &step.ends)) {
        return false;
    }
    step.socket = (uint64_t)values[STATE_SOCKET];
    step.from = values[STATE_FROM];
    step.to = values[STATE_TO];
    change = etwas_sockets_step(event->state, &step, &known);
    if (change != ETWAS_SOCKET_OTHER) {
        emit_message(event, &(struct message){.group = GROUP_TCP,
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

static bool handle_length(const struct etwas_source_event *event, uint8_t type)
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
    emit_message(event, &message);
    return true;
}

static bool handle_send(const struct etwas_source_event *event)
{
    return handle_length(event, TYPE_SEND);
}

static bool handle_receive(const struct etwas_source_event *event)
{
    return handle_length(event, TYPE_RECEIVE);
}

/* Called on kernels without tracepoints. */
static void handle_process_record(void *state, const struct etwas_event_group_host *host,
                                  uint32_t slot, const struct etwas_process_record *process_record)
{
    struct message message = {.group = process_record->length.is_udp ? GROUP_UDP : GROUP_TCP,
                              .type = process_record->length.is_received ? TYPE_RECEIVE : TYPE_SEND,
                              .is_ipv6 = process_record->length.is_ipv6,
                              .process_id = process_record->process_id,
                              .bytes = process_record->length.bytes,
                              .socket = process_record->length.socket,
                              .ends = &nowhere};

    if (message.group == GROUP_TCP) {
        message.ends = &etwas_sockets_use(state, message.socket, message.process_id)->ends;
    }
    emit_at(host, slot, process_record->origin.time_ns, &message);
}

/* ---- repetitions ----------------------------------------------------------------------------- */

enum {
    REPEAT_SOCKET,
    REPEAT_ENDS,
    REPEAT_NUMBERS = REPEAT_ENDS + ENDS_NUMBERS,
};

static const char *const repeat_names[] = {"skaddr", ENDS_NAMES, NULL};

static bool handle_repeat(const struct etwas_source_event *event)
{
    int64_t values[REPEAT_NUMBERS];
    struct etwas_ends ends;

    if (!etwas_source_event_numbers(event, values, REPEAT_NUMBERS) ||
        !handle_ends(event, REPEAT_ENDS, values + REPEAT_ENDS, &ends)) {
        return false;
    }
    emit_message(event, &(struct message){.group = GROUP_TCP,
                                          .type = TYPE_RETRANSMIT,
                                          .is_ipv6 = values[REPEAT_ENDS + FAMILY] == AF_INET6,
                                          .process_id = etwas_sockets_owner(
                                              event->state, (uint64_t)values[REPEAT_SOCKET]),
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
     .handle = handle_state},
    {.tracepoint = "sock/sock_send_length",
     .fields = length_names,
     .filter = LENGTH_FILTER,
     .hooks = {LENGTH_HOOKS(TYPE_SEND)},
     .is_optional = true,
     .handle = handle_send},
    {.tracepoint = "sock/sock_recv_length",
     .fields = length_names,
     .filter = LENGTH_FILTER " && !(flags & 2)",
     .hooks = {LENGTH_HOOKS(TYPE_RECEIVE)},
     .is_optional = true,
     .handle = handle_receive},
    {.tracepoint = "tcp/tcp_retransmit_skb",
     .fields = repeat_names,
     .is_optional = true,
     .handle = handle_repeat},
};

static void run_down(void *state, const struct etwas_event_group_host *host, bool is_end)
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

static void *open_group(const struct etwas_event_group_host *host)
{
    struct etwas_sockets *sockets = malloc(sizeof *sockets);

    (void)host;
    if (sockets != NULL && !etwas_sockets_init(sockets)) {
        free(sockets);
        return NULL;
    }
    return sockets;
}

static void close_group(void *state)
{
    etwas_sockets_free(state);
    free(state);
}

const struct etwas_event_group etwas_event_group_network = {
    .flags = EVENT_TRACE_FLAG_NETWORK_TCPIP,
    .process_records = ETWAS_PROCESS_RECORD_LENGTHS,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = open_group,
    .close = close_group,
    .run_down = run_down,
    .handle_process_record = handle_process_record,
};
