/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_PACK_H
#define ETWAS_TOOLS_SHIP_WIRE_PACK_H

/* A block as a complete gzip stream. A server takes none of it if its end is missing. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct etwas_ship_pack {
    uint8_t *data;
    size_t used;
    size_t room;
};

/* Returns whether this build has zlib. */
bool etwas_ship_pack_is_there(void);

/*
 * Compresses the pieces. The memory is reused for the next block; initialize with zeros. Returns
 * false if there is not enough memory.
 */
bool etwas_ship_pack_make(struct etwas_ship_pack *pack, const struct iovec *pieces, uint32_t count);
void etwas_ship_pack_free(struct etwas_ship_pack *pack);

#endif
