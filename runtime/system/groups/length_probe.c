/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/groups/length_probe.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/stream/bpf.h"
#include "system/stream/bpf_registers.h"
#include "system/stream/btf.h"
#include "system/stream/tracepoint.h"

/* What a program writes. */
struct said {
    uint64_t socket;
    uint64_t bytes; /* the lower half */
    uint64_t family;
    uint64_t function; /* which of those below */
};

enum {
    FAMILY_AT =
        16, /* in the kernel's struct sock; its verifier refuses a place where nothing begins */
    WORD = 8,
    SIZE = 2,  /* the third argument */
    FLAGS = 3, /* the fourth of a function that receives */
};

/*
 * They return how much it was. For an address of IPv4 in IPv6 udpv6_sendmsg calls udp_sendmsg, which is passed over. Before
 * 5.19 those that receive have an argument more: the verifier refuses the pointer that stands where the result should.
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

/* Registers that are the program's own. */
enum {
    CONTEXT = 6, /* the function's arguments, and behind them what it returned */
    SOCKET = 7,
    BYTES = 8,
    FAMILY = 9,
};

#define IN_FRAME(field) ((int)offsetof(struct said, field) - (int)sizeof(struct said))

/* clang-format off */
static int load(uint32_t index, uint32_t number, int outputs)
{
    const struct function *function = &functions[index];
    const struct bpf_insn code[] = {
        ETWAS_BPF_COPY(CONTEXT, FIRST),
        ETWAS_BPF_LOAD(BYTES, CONTEXT, function->arguments * WORD),
        ETWAS_BPF_SKIP_IF_U32(BPF_JSLE, BYTES, 0, 19), /* an int */

        /* What was looked at is received later. */
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
        ETWAS_BPF_MAP(SECOND, 0), /* of what is given */
        ETWAS_BPF_SET_U32(THIRD, -1), /* BPF_F_CURRENT_CPU */
        ETWAS_BPF_COPY(FOURTH, FRAME), ETWAS_BPF_ADD_NUMBER(FOURTH, -(int)sizeof(struct said)),
        ETWAS_BPF_SET(FIFTH, sizeof(struct said)),
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

/* All of them, or none: without IPv6 there are fewer. */
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
                   ? etwas_probe_attach(probe, load(index, numbers[index], probe->outputs), NULL)
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
    struct said said;

    if (sample->raw_bytes < sizeof said) {
        return false;
    }
    memcpy(&said, sample->raw, sizeof said);
    if (said.function >= ETWAS_PROBE_LINKS) {
        return false;
    }
    *process_record =
        (struct etwas_process_record){.origin = sample->origin,
                                      .type = PERF_RECORD_SAMPLE,
                                      .process_id = sample->origin.process_id,
                                      .thread_id = sample->origin.thread_id,
                                      .length = {.socket = said.socket,
                                                 .bytes = (uint32_t)said.bytes,
                                                 .is_received = functions[said.function].receives,
                                                 .is_udp = functions[said.function].is_udp,
                                                 .is_ipv6 = said.family == AF_INET6}};
    return true;
}
