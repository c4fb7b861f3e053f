/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The threads of this process, except for one.
 */
#ifndef ETWAS_SYSTEM_NAMES_THREAD_LIST_H
#define ETWAS_SYSTEM_NAMES_THREAD_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct etwas_thread_list {
    uint32_t except;
    uint32_t count;
    uint32_t room;
    uint32_t *ids; /* in the order of /proc: by age */
    bool is_short; /* there was no memory for all of them */
};

/* Reads the list again. False: /proc is of another namespace, or there is no memory. */
bool etwas_thread_list_read(struct etwas_thread_list *list);

bool etwas_thread_list_equals(const struct etwas_thread_list *left,
                              const struct etwas_thread_list *right);

void etwas_thread_list_free(struct etwas_thread_list *list);

#endif
