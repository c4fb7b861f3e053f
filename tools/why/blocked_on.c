/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Prints in words what chosen instances were blocked on. */

#include "why/why.h"

#include "print/text.h"

#include <arpa/inet.h>
#include <inttypes.h>

static void put_end(struct etwas_output *output, const struct etwas_kernel_socket *socket,
                    const uint8_t *address, uint16_t port)
{
    char text[INET6_ADDRSTRLEN] = "";

    (void)inet_ntop(socket->is_ipv6 ? AF_INET6 : AF_INET, address, text, sizeof text);
    etwas_output_format(output, socket->is_ipv6 ? "[%s]:%" PRIu16 : "%s:%" PRIu16, text, port);
}

void etwas_why_print_socket(struct etwas_output *output, const struct etwas_kernel_socket *socket)
{
    etwas_output_text(output, socket->is_udp ? "UDP" : "TCP");
    if (socket->local_port != 0 || socket->remote_port != 0) {
        etwas_output_char(output, ' ');
        put_end(output, socket, socket->local, socket->local_port);
        etwas_output_text(output, "->");
        put_end(output, socket, socket->remote, socket->remote_port);
    }
}

static void put_call(struct etwas_output *output, const struct etwas_why *why, int64_t call)
{
    char name[ETWAS_WHY_CALL_BYTES];

    if (call == ETWAS_WHY_ANY_CALL) {
        etwas_output_text(output, " in more ways");
    } else if (call == ETWAS_WHY_NO_CALL) {
        etwas_output_text(output, why->has_calls ? " in no system call" : "");
    } else if (etwas_why_call_name(why, call, name)) {
        etwas_output_text(output, " in ");
        etwas_text_plain(output, name);
    } else {
        etwas_output_format(output, " in system call %" PRId64, call);
    }
}

void etwas_why_print_what(struct etwas_output *output, const struct etwas_why *why,
                          const struct etwas_why_block *block)
{
    const char *between = " on ";

    if (!block->is_fault || block->call != ETWAS_WHY_NO_CALL) {
        put_call(output, why, block->call);
    }
    if (block->is_fault) {
        etwas_output_text(output, " in a hard page fault");
    }
    for (uint32_t i = 0; i < ETWAS_WHY_FILES && block->files[i] != NULL; i++) {
        etwas_output_text(output, between);
        etwas_text_plain(output, block->files[i]);
        between = " and ";
    }
    if (block->has_socket) {
        etwas_output_text(output, between);
        etwas_why_print_socket(output, &block->socket);
    }
}
