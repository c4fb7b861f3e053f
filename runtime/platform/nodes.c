/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/nodes.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LIST_BYTES = 4096,
    MASK_BITS = 1024, /* no kernel has more nodes */
    WORD_BITS = 64,
};

const struct etwas_machine *etwas_nodes_machine = &etwas_this_machine;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct etwas_nodes here;

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Reads the next range of a list such as "0-3,8\n". Returns false at its end. */
static bool nodes_next_range(const char **list, unsigned long *first, unsigned long *last)
{
    char *end;

    *first = strtoul(*list, &end, 10);
    if (end == *list) {
        return false;
    }
    *last = *first;
    if (*end == '-') {
        *last = strtoul(end + 1, &end, 10);
    }
    *list = *end == ',' ? end + 1 : end;
    return true;
}

/* Adds the node of this number if it has processors. */
static void nodes_add(const struct etwas_machine *machine, struct etwas_nodes *nodes,
                      unsigned long number)
{
    char path[64];
    char list[LIST_BYTES];
    const char *rest = list;
    unsigned long first;
    unsigned long last;
    bool has_processors = false;

    (void)snprintf(path, sizeof path, ETWAS_NODES_FOLDER "/node%lu/cpulist", number);
    if (nodes->count == ETWAS_MOST_NODES || !machine->text(path, list, sizeof list)) {
        return;
    }
    while (nodes_next_range(&rest, &first, &last)) {
        for (; first <= last && first < ETWAS_MOST_PROCESSORS; first++) {
            nodes->of_processor[first] = (uint8_t)nodes->count;
            has_processors = true;
        }
    }
    if (has_processors) {
        nodes->numbers[nodes->count++] = (uint16_t)number;
    }
}

/* A kernel without memory nodes has no such folder, but reports the possible processors. */
void etwas_nodes_read(const struct etwas_machine *machine, struct etwas_nodes *nodes)
{
    char list[LIST_BYTES];
    const char *rest = list;
    unsigned long first;
    unsigned long last;

    nodes->count = 0;
    memset(nodes->of_processor, ETWAS_NO_NODE, sizeof nodes->of_processor);
    if (!machine->text(ETWAS_NODES_FOLDER "/has_memory", list, sizeof list)) {
        nodes->count = machine->text(ETWAS_PROCESSORS_POSSIBLE, list, sizeof list) ? 1 : 0;
        return;
    }
    while (nodes_next_range(&rest, &first, &last)) {
        for (; first <= last && first < MASK_BITS; first++) {
            nodes_add(machine, nodes, first);
        }
    }
}

static void nodes_read_this_machine(void)
{
    etwas_nodes_read(etwas_nodes_machine, &here);
}

const struct etwas_nodes *etwas_nodes_of_this_machine(void)
{
    (void)pthread_once(&once, nodes_read_this_machine);
    return &here;
}

uint32_t etwas_node_of_processor(uint32_t processor)
{
    return processor < ETWAS_MOST_PROCESSORS ? here.of_processor[processor] : ETWAS_NO_NODE;
}

/* ---- binding --------------------------------------------------------------------------------- */

/* Sets the policy of a range, and moves pages that exist already, such as explicit huge ones. */
static int nodes_set_policy(uint8_t *start, size_t bytes, uint32_t number)
{
    uint64_t mask[MASK_BITS / WORD_BITS] = {0};

    mask[number / WORD_BITS] = UINT64_C(1) << number % WORD_BITS;
    /* The kernel reads one bit less than the call states. */
    return syscall(SYS_mbind, start, bytes, MPOL_PREFERRED, mask, (unsigned long)MASK_BITS + 1,
                   MPOL_MF_MOVE) == 0
               ? 0
               : errno;
}

int etwas_nodes_bind(uint8_t *start, size_t bytes, size_t stripe_bytes)
{
    const struct etwas_nodes *nodes = etwas_nodes_of_this_machine();
    int error = nodes->count == 0 ? ENODATA : 0;
    uint32_t stripe = 0;

    for (size_t at = 0; at < bytes && nodes->count > 1 && error == 0; at += stripe_bytes) {
        size_t rest = bytes - at;

        error = nodes_set_policy(start + at, rest < stripe_bytes ? rest : stripe_bytes,
                                 nodes->numbers[stripe++ % nodes->count]);
    }
    return error;
}

/* The policy stays with the file after the mapping is gone. */
int etwas_nodes_bind_file(int file, uint64_t at, size_t bytes, size_t stripe_bytes)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)at);
    int error;

    if (start == MAP_FAILED) {
        return errno;
    }
    error = etwas_nodes_bind(start, bytes, stripe_bytes);
    (void)munmap(start, bytes);
    return error;
}
