/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/groups/length_probe.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/stream/bpf.h"
#include "system/stream/btf.h"
#include "system/stream/tracepoint.h"

/* What a program writes. */
struct report {
    uint64_t socket;
    uint64_t bytes; /* the lower half */
    uint64_t family;
    uint64_t function; /* its index in the table below */
};

enum {
    /*
     * 19 functions that receive have one argument more: the verifier refuses the pointer in place
     * of the result.
     */
    FAMILY_AT = 16,
    WORD = 8,
    SIZE = 2,  /* the third argument */
    FLAGS = 3, /* the fourth argument of a function that receives */
};

/*
 * The functions return the length. For an IPv4 address in IPv6, udpv6_sendmsg calls udp_sendmsg,
 * which is ignored. Before
 */
static const struct function {
    bool receives;
    bool is_udp;
    uint8_t arguments;
    int32_t family; /* 0: any */
} functions[ETWAS_PROBE_LINKS] = {
    {false, false, 3, 0},     {true, false, 5, 0},        {false, true, 3, AF_INET},
    {true, true, 5, AF_INET}, {false, true, 3, AF_INET6}, {true, true, 5, AF_INET6},
};

static const char *const names[ETWAS_PROBE_LINKS] = {
    "tcp_sendmsg", "tcp_recvmsg", "udp_sendmsg", "udp_recvmsg", "udpv6_sendmsg", "udpv6_recvmsg",
};

/* Registers that belong to the program. */
enum {
    CONTEXT = 6, /* the function's arguments and its result */
    SOCKET = 7,
    BYTES = 8,
    FAMILY = 9,
};

#define IN_FRAME(field) ((int)offsetof(struct report, field) - (int)sizeof(struct report))

/* clang-format off */
static int length_probe_load(uint32_t index, uint32_t number, int outputs)
{
    const struct function *function = &functions[index];
    const struct bpf_insn code[] = {
        ETWAS_BPF_COPY(CONTEXT, FIRST),
        ETWAS_BPF_LOAD(BYTES, CONTEXT, function->arguments * WORD),
        ETWAS_BPF_SKIP_IF_U32(BPF_JSLE, BYTES, 0, 19), /* an int */

        /* Data that is peeked at is received later. */
        ETWAS_BPF_LOAD(FIRST, CONTEXT, (function->receives ? FLAGS : SIZE) * WORD),
        ETWAS_BPF_SKIP_IF(BPF_JSET, FIRST, function->receives ? MSG_PEEK : 0, 17),

        ETWAS_BPF_LOAD(SOCKET, CONTEXT, 0),
        ETWAS_BPF_LOAD_U16(FAMILY, SOCKET, FAMILY_AT),
        ETWAS_BPF_SKIP_IF(BPF_JEQ, FAMILY, function->family != 0 ? function->family : AF_INET, 2),
        ETWAS_BPF_SKIP_IF(BPF_JEQ, FAMILY, function->family != 0 ? function->family : AF_INET6, 1),
        ETWAS_BPF_SKIP(12),

        ETWAS_BPF_STORE(FRAME, IN_FRAME(socket), SOCKET),
        ETWAS_BPF_STORE(FRAME, IN_FRAME(bytes), BYTES),
        ETWAS_BPF_STORE(FRAME, IN_FRAME(family), FAMILY),
        ETWAS_BPF_STORE_NUMBER(FRAME, IN_FRAME(function), (int32_t)index),
        ETWAS_BPF_COPY(FIRST, CONTEXT),
        ETWAS_BPF_MAP(SECOND, 0), /* index 0 of what it is given */
        ETWAS_BPF_SET_U32(THIRD, -1), /* BPF_F_CURRENT_CPU */
        ETWAS_BPF_COPY(FOURTH, FRAME), ETWAS_BPF_ADD_NUMBER(FOURTH, -(int)sizeof(struct report)),
        ETWAS_BPF_SET(FIFTH, sizeof(struct report)),
        ETWAS_BPF_CALL(BPF_FUNC_perf_event_output),

        ETWAS_BPF_SET(RESULT, 0),
        ETWAS_BPF_EXIT,
    };

    return etwas_bpf_program_behind(number, code, sizeof code / sizeof *code, &outputs);
}
/* clang-format on */

bool etwas_length_has_tracepoints(void)
{
    struct etwas_tracepoint tracepoint;
    struct etwas_unavailability ignored;
    bool has = etwas_tracepoint_read(&tracepoint, "sock/sock_send_length", &ignored);

    if (has) {
        etwas_tracepoint_free(&tracepoint);
    }
    return has;
}

/* Opens all programs or none; without IPv6 there are fewer. */
bool etwas_length_probe_open(struct etwas_probe *probe, uint32_t processors)
{
    uint32_t numbers[ETWAS_PROBE_LINKS];
    bool good;

    *probe = ETWAS_PROBE_CLOSED;
    if (etwas_length_has_tracepoints() || !etwas_probe_begin(probe, processors)) {
        return false;
    }
    etwas_btf_find_here(names, ETWAS_PROBE_LINKS, numbers);
    good = numbers[0] != 0;
    for (uint32_t index = 0; good && index < ETWAS_PROBE_LINKS; index++) {
        good = numbers[index] != 0
                   ? etwas_probe_attach(
                         probe, length_probe_load(index, numbers[index], probe->outputs), NULL)
                   : functions[index].family == AF_INET6;
    }
    if (!good) {
        etwas_probe_close(probe);
    }
    return good;
}

bool etwas_length_decode(const struct etwas_sample *sample,
                         struct etwas_process_record *process_record)
{
    struct report report;

    if (sample->raw_bytes < sizeof report) {
        return false;
    }
    memcpy(&report, sample->raw, sizeof report);
    if (report.function >= ETWAS_PROBE_LINKS) {
        return false;
    }
    *process_record =
        (struct etwas_process_record){.origin = sample->origin,
                                      .type = PERF_RECORD_SAMPLE,
                                      .process_id = sample->origin.process_id,
                                      .thread_id = sample->origin.thread_id,
                                      .length = {.socket = report.socket,
                                                 .bytes = (uint32_t)report.bytes,
                                                 .is_received = functions[report.function].receives,
                                                 .is_udp = functions[report.function].is_udp,
                                                 .is_ipv6 = report.family == AF_INET6}};
    return true;
}
