/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/groups/length_probe.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/bpf/reports.h"
#include "system/stream/probe.h"
#include "system/stream/tracepoint.h"

/* Indices of the maps and numbers that the loader passes to the program. */
enum {
    MAP_OUTPUTS,
};

#include "system/bpf/lengths.bpf.h"

#define CODE(program) program, sizeof(program) / sizeof *(program)

/* In the order of the numbers in system/bpf/lengths.bpf.c. */
static const struct function {
    const struct bpf_insn *code;
    size_t count;
    bool receives;
    bool is_udp;
    bool is_ipv6; /* a kernel without IPv6 does not have it */
} functions[ETWAS_PROBE_LINKS] = {
    {CODE(tcp_sendmsg_program), false, false, false},
    {CODE(tcp_recvmsg_program), true, false, false},
    {CODE(udp_sendmsg_program), false, true, false},
    {CODE(udp_recvmsg_program), true, true, false},
    {CODE(udpv6_sendmsg_program), false, true, true},
    {CODE(udpv6_recvmsg_program), true, true, true},
};

static const char *const names[ETWAS_PROBE_LINKS] = {
    "tcp_sendmsg", "tcp_recvmsg", "udp_sendmsg", "udp_recvmsg", "udpv6_sendmsg", "udpv6_recvmsg",
};

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
                         probe,
                         etwas_bpf_program_behind(numbers[index], functions[index].code,
                                                  functions[index].count, &probe->outputs),
                         NULL)
                   : functions[index].is_ipv6;
    }
    if (!good) {
        etwas_probe_close(probe);
    }
    return good;
}

bool etwas_length_decode(const struct etwas_sample *sample,
                         struct etwas_process_record *process_record)
{
    struct etwas_length_report report;

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
