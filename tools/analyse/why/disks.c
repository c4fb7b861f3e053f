/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Disk requests of chosen instances: those that their threads issued, and that completed before the
 * instances ended.
 */

#include "analyse/why/why.h"

void etwas_why_take_request(struct etwas_why *why, const struct etwas_kernel_event *event,
                            uint32_t number, int64_t since_ns, uint64_t took_ns)
{
    struct etwas_why_chosen *chosen = NULL;

    while ((chosen = etwas_why_next_chosen(why, number, chosen)) != NULL) {
        struct etwas_why_requests *requests = &chosen->requests[event->request];

        if (since_ns >= chosen->from_ns) {
            requests->count++;
            requests->bytes += event->bytes;
            requests->longest_ns = took_ns > requests->longest_ns ? took_ns : requests->longest_ns;
        }
    }
}
