/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* gzip compression by zlib. */

#include "ship/wire/pack.h"

#include <stdlib.h>

void etwas_ship_pack_free(struct etwas_ship_pack *pack)
{
    free(pack->data);
    *pack = (struct etwas_ship_pack){NULL, 0, 0};
}

#ifdef ETWAS_ZLIB

#include <zlib.h>

enum {
    FIRST_BYTES = 1024 * 1024,
    LEVEL = 1, /* the fastest: rows are so similar that more gains little */
    GZIP_WINDOW = 15 + 16,
    MEMORY_LEVEL = 8,
};

bool etwas_ship_pack_is_there(void)
{
    return true;
}

static bool grow(struct etwas_ship_pack *pack)
{
    size_t room = pack->room != 0 ? 2 * pack->room : FIRST_BYTES;
    uint8_t *data = realloc(pack->data, room);

    if (data == NULL) {
        return false;
    }
    pack->data = data;
    pack->room = room;
    return true;
}

/* Compresses all of `stream`'s input, and with Z_FINISH writes the end. */
static bool deflate_input(struct etwas_ship_pack *pack, z_stream *stream, int flush)
{
    int result = Z_OK;

    do {
        if (pack->used == pack->room && !grow(pack)) {
            return false;
        }
        stream->next_out = pack->data + pack->used;
        stream->avail_out = (uInt)(pack->room - pack->used);
        result = deflate(stream, flush);
        pack->used = pack->room - stream->avail_out;
    } while (result == Z_OK && (stream->avail_out == 0 || stream->avail_in != 0));
    return result == (flush == Z_FINISH ? Z_STREAM_END : Z_OK) || result == Z_BUF_ERROR;
}

bool etwas_ship_pack_make(struct etwas_ship_pack *pack, const struct iovec *pieces, uint32_t count)
{
    z_stream stream = {0};
    bool good;

    pack->used = 0;
    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        return false;
    }
    good = true;
    for (uint32_t i = 0; good && i < count; i++) {
        stream.next_in = pieces[i].iov_base;
        stream.avail_in = (uInt)pieces[i].iov_len;
        good = pieces[i].iov_len <= UINT32_MAX && deflate_input(pack, &stream, Z_NO_FLUSH);
    }
    good = good && deflate_input(pack, &stream, Z_FINISH);
    (void)deflateEnd(&stream);
    return good;
}

#else

bool etwas_ship_pack_is_there(void)
{
    return false;
}

bool etwas_ship_pack_make(struct etwas_ship_pack *pack, const struct iovec *pieces, uint32_t count)
{
    (void)pack;
    (void)pieces;
    (void)count;
    return false;
}

#endif
