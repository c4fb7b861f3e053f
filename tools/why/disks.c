/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What disks did for chosen instances: requests that their threads handed over and that were done
 * before they ended.
 */

#include "why/why.h"

#include "print/human.h"
#include "print/json.h"

static const char *const kinds[ETWAS_KERNEL_DISK_KINDS] = {"read", "write", "flush"};

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
