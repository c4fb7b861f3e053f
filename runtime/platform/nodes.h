/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The machine's memory nodes (NUMA), and memory that lies on them in stripes, one node after the
 * other and again from the first. Only nodes with memory and processors count.
 */
#ifndef ETWAS_PLATFORM_NODES_H
#define ETWAS_PLATFORM_NODES_H

#include <stddef.h>
#include <stdint.h>

#include "platform/machine.h"
#include "platform/processor.h"

enum {
    ETWAS_MOST_NODES = 64, /* processors of further nodes have no node */
    ETWAS_NO_NODE = 255,
};

struct etwas_nodes {
    uint32_t count;                              /* 0: the machine does not report them */
    uint16_t numbers[ETWAS_MOST_NODES];          /* the kernel's numbers */
    uint8_t of_processor[ETWAS_MOST_PROCESSORS]; /* an index into `numbers`; ETWAS_NO_NODE */
};

#define ETWAS_NODES_FOLDER "/sys/devices/system/node"

/* Reads the nodes of a machine from its files. */
void etwas_nodes_read(const struct etwas_machine *machine, struct etwas_nodes *nodes);

/*
 * The machine whose nodes are used. A test may set another one before the first session reads them.
 */
extern const struct etwas_machine *etwas_nodes_machine __attribute__((visibility("hidden")));

/*
 * Returns this machine's nodes, constant from the first call on, which reads files. Thread-safe;
 * not for signal handlers.
 */
const struct etwas_nodes *etwas_nodes_of_this_machine(void);

/* Returns the index of a processor's node, once the nodes have been read. Async-signal-safe. */
uint32_t etwas_node_of_processor(uint32_t processor);

/*
 * Binds the pages of a mapping to the nodes, `stripe_bytes` to each in turn, whichever processor
 * touches them first. A page goes elsewhere if its node has none free. Returns 0 or an errno;
 * ENODATA: the machine does not report its nodes. Does nothing on a machine with one node.
 */
int etwas_nodes_bind(uint8_t *start, size_t bytes, size_t stripe_bytes);

/* Does the same for a part of a file in a memory file system, before it has pages there. */
int etwas_nodes_bind_file(int file, uint64_t at, size_t bytes, size_t stripe_bytes);

#endif
