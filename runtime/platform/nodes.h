/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The machine's memory nodes (NUMA), and memory that lies on them in stripes, one node after the other and again
 * from the first. A node counts that has memory and processors.
 */
#ifndef ETWAS_PLATFORM_NODES_H
#define ETWAS_PLATFORM_NODES_H

#include <stddef.h>
#include <stdint.h>

#include "platform/machine.h"
#include "platform/processor.h"

enum {
    ETWAS_MOST_NODES = 64, /* processors of further ones are near none */
    ETWAS_NO_NODE = 255,
};

struct etwas_nodes {
    uint32_t count;                              /* 0: the machine does not say */
    uint16_t numbers[ETWAS_MOST_NODES];          /* the kernel's */
    uint8_t of_processor[ETWAS_MOST_PROCESSORS]; /* its index above; ETWAS_NO_NODE */
};

#define ETWAS_NODES_FOLDER "/sys/devices/system/node"

/* Of a machine, by its files. */
void etwas_nodes_read(const struct etwas_machine *machine, struct etwas_nodes *nodes);

/* Where they are asked for: a test may make up another machine before the first session asks. */
extern const struct etwas_machine *etwas_nodes_machine __attribute__((visibility("hidden")));

/* This machine's, constant from the first call on, which reads files. Thread-safe; not for signal handlers. */
const struct etwas_nodes *etwas_nodes_of_this_machine(void);

/* The index of a processor's node, once somebody has asked for them. Async-signal-safe. */
uint32_t etwas_node_of_processor(uint32_t processor);

/*
 * Has the pages of a mapping lie on the nodes, `stripe_bytes` on each, wherever they are touched. Where a node has no free
 * page, one is elsewhere. 0, or of errno; ENODATA: the machine does not say which nodes it has. With one node nothing
 * is done.
 */
int etwas_nodes_bind(uint8_t *start, size_t bytes, size_t stripe_bytes);

/* The same of a part of a file in a memory file system, before it has pages there. */
int etwas_nodes_bind_file(int file, uint64_t at, size_t bytes, size_t stripe_bytes);

#endif
