/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Programs that run when the functions that send and receive return the length. For an IPv4 address
 * in IPv6, udpv6_sendmsg calls udp_sendmsg; that call is ignored. Before Linux 5.19 functions that
 * receive have one more argument, so the verifier refuses the pointer in place of the result.
 */
#include "system/bpf/program.h"
#include "system/bpf/reports.h"

extern char MAP_OUTPUTS;

enum {
    FAMILY_AT = 16,
    PEEK = 2, /* MSG_PEEK: what is peeked at is received later */
    ANY = 0,
    IPV4 = 2,
    IPV6 = 10,
};

/* `arguments`: those of the function, of which the first is the socket. */
INLINE int write_length(uint64_t *arguments, uint64_t result, uint64_t flags, uint32_t family,
                        uint64_t function)
{
    struct etwas_length_report report = {.bytes = result, .function = function};

    if ((int32_t)result <= 0 || (flags & PEEK) != 0) {
        return 0;
    }
    report.socket = arguments[0];
    report.family = *(const uint16_t *)(report.socket + FAMILY_AT);
    if (family == ANY ? report.family != IPV4 && report.family != IPV6 : report.family != family) {
        return 0;
    }
    (void)output(arguments, &MAP_OUTPUTS, CURRENT_PROCESSOR, &report, sizeof report);
    return 0;
}

#define SENDS(name, family, function)                                                              \
    PROGRAM(name)(uint64_t * arguments)                                                            \
    {                                                                                              \
        return write_length(arguments, arguments[3], 0, family, function);                         \
    }
#define RECEIVES(name, family, function)                                                           \
    PROGRAM(name)(uint64_t * arguments)                                                            \
    {                                                                                              \
        return write_length(arguments, arguments[5], arguments[3], family, function);              \
    }

SENDS(tcp_sendmsg, ANY, 0)
RECEIVES(tcp_recvmsg, ANY, 1)
SENDS(udp_sendmsg, IPV4, 2)
RECEIVES(udp_recvmsg, IPV4, 3)
SENDS(udpv6_sendmsg, IPV6, 4)
RECEIVES(udpv6_recvmsg, IPV6, 5)
