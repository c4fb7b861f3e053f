/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What chosen instances were blocked on, their disk requests, and which events were not recorded.
 */

#include "show/why.h"

#include "print/human.h"
#include "print/json.h"
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

void etwas_why_print_frame(struct etwas_output *output, enum etwas_text_style style,
                           const struct etwas_why *why, const struct etwas_why_block *block,
                           uint32_t index)
{
    const struct etwas_address address = {.value = block->frames[index],
                                          .time = block->stack.stamp,
                                          .process = block->stack.process,
                                          .is_return = index != 0 && index != block->stack.user};

    etwas_addresses_print(output, style, &why->addresses[block->stack.input], &address);
}

/* ---- disks ---- */

static const char *const kinds[ETWAS_KERNEL_DISK_KINDS] = {"read", "write", "flush"};

void etwas_why_print_requests(struct etwas_output *output, const struct etwas_why_chosen *chosen)
{
    char text[ETWAS_HUMAN_CHARACTERS];
    const char *before = "  It asked disks for ";

    for (uint32_t i = 0; i < ETWAS_KERNEL_DISK_KINDS; i++) {
        const struct etwas_why_requests *requests = &chosen->requests[i];

        if (requests->count > 0) {
            etwas_output_format(output, "%s%s %s%s", before,
                                etwas_human_count(text, requests->count), kinds[i],
                                requests->count == 1           ? ""
                                : i == ETWAS_KERNEL_DISK_FLUSH ? "es"
                                                               : "s");
            if (requests->bytes > 0) {
                etwas_output_format(output, " of %s",
                                    etwas_human_bytes(text, (double)requests->bytes));
            }
            etwas_output_format(output, " (the longest took %s)",
                                etwas_human_ns(text, (double)requests->longest_ns));
            before = ", ";
        }
    }
    etwas_output_text(output, *before == ',' ? ".\n" : "");
}

void etwas_why_json_requests(struct etwas_output *output, const struct etwas_why_chosen *chosen)
{
    etwas_json_array(output, "disk_requests");
    for (uint32_t i = 0; i < ETWAS_KERNEL_DISK_KINDS; i++) {
        const struct etwas_why_requests *requests = &chosen->requests[i];

        if (requests->count > 0) {
            etwas_json_object(output, NULL);
            etwas_json_text(output, "request", kinds[i]);
            etwas_json_number(output, "count", requests->count);
            etwas_json_number(output, "bytes", requests->bytes);
            etwas_json_number(output, "longest_duration", requests->longest_ns);
            etwas_output_char(output, '}');
        }
    }
    etwas_output_char(output, ']');
}

/* ---- what was not recorded ---- */

void etwas_why_print_missing(struct etwas_output *output, const struct etwas_why *why,
                             const struct etwas_why_chosen *chosen)
{
    static const char *const texts[ETWAS_WHY_MISSING] = {
        [ETWAS_WHY_MISSING_CALL] = "systemcall (which call)",
        [ETWAS_WHY_MISSING_WAKER] = "dispatcher (who woke it)",
        [ETWAS_WHY_MISSING_FILE] = "file_io and file_io_init (which file)",
        [ETWAS_WHY_MISSING_SOCKET] = "network_tcpip (which socket)",
        [ETWAS_WHY_MISSING_FAULT] = "memory_hard_faults (page faults that wait for a disk)",
        [ETWAS_WHY_MISSING_STACK] = "stacks of cswitch (where)",
    };
    bool missing[ETWAS_WHY_MISSING];
    bool is_first = true;

    etwas_why_find_missing(why, chosen, missing);
    for (enum etwas_why_missing what = 0; what < ETWAS_WHY_MISSING; what++) {
        if (missing[what]) {
            etwas_output_text(output, is_first ? "  Not recorded: " : ", ");
            etwas_output_text(output, texts[what]);
            is_first = false;
        }
    }
    etwas_output_text(output, is_first ? "" : ".\n");
}
