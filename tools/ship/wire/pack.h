/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_PACK_H
#define ETWAS_TOOLS_SHIP_WIRE_PACK_H

/*
 * A block as gzip has it, whole: a server takes none of it where its end is missing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct etwas_ship_pack {
    uint8_t *data;
    size_t used;
    size_t room;
};

/* Is zlib in this build? */
bool etwas_ship_pack_is_there(void);

/* Makes it of pieces. The memory is kept for the next; begin with zeros. False: no memory. */
bool etwas_ship_pack_make(struct etwas_ship_pack *pack, const struct iovec *pieces, uint32_t count);
void etwas_ship_pack_free(struct etwas_ship_pack *pack);

#endif
