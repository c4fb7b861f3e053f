/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * Derives a provider's GUID from its name (etwas_name_guid): a SHA-1 over 16 constant bytes and the
 * name in upper case, in UTF-16 with the high byte first.
 */
#include <etwas/evntprov.h>
#include <etwas/winerror.h>
#include <string.h>

#include "etl/utf16.h"
#include "platform/name_case.h"

enum {
    NAME_UNITS = 1024,
    BLOCK_BYTES = 64,
    LENGTH_BYTES = 8, /* of the message, in its last block */
    ROUNDS = 80,
};

/* ---- SHA-1 (RFC 3174) ------------------------------------------------------------------------ */

static uint32_t sha1_rotate(uint32_t word, unsigned bits)
{
    return word << bits | word >> (32 - bits);
}

/* The function of the words b, c and d in the rounds of each quarter. */
static uint32_t sha1_mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
    switch (round / 20) {
    case 0:
        return ((b & c) | (~b & d)) + 0x5A827999;
    case 1:
        return (b ^ c ^ d) + 0x6ED9EBA1;
    case 2:
        return ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC;
    default:
        return (b ^ c ^ d) + 0xCA62C1D6;
    }
}

static void sha1_add_block(uint32_t state[5], const unsigned char *block)
{
    uint32_t words[ROUNDS];
    uint32_t a = state[0];
    uint32_t b = state[1];
    uint32_t c = state[2];
    uint32_t d = state[3];
    uint32_t e = state[4];

    for (unsigned i = 0; i < ROUNDS; i++) {
        words[i] =
            i < 16 ? (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                         (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3]
                   : sha1_rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t next = sha1_rotate(a, 5) + sha1_mix(i, b, c, d) + e + words[i];

        e = d;
        d = c;
        c = sha1_rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

/* Hashes a message that has room after it for its padding: a bit, zeros, and its length in bits. */
static void sha1_hash(unsigned char *message, size_t bytes, unsigned char digest[20])
{
    uint32_t state[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    size_t end = (bytes + 1 + LENGTH_BYTES + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;

    memset(message + bytes, 0, end - bytes);
    message[bytes] = 0x80;
    for (unsigned i = 0; i < LENGTH_BYTES; i++) {
        message[end - 1 - i] = (unsigned char)((uint64_t)bytes * 8 >> 8 * i);
    }
    for (size_t at = 0; at < end; at += BLOCK_BYTES) {
        sha1_add_block(state, message + at);
    }
    for (unsigned i = 0; i < 20; i++) {
        digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

/* ---- the name -------------------------------------------------------------------------------- */

uint32_t etwas_name_guid(const char *name, etwas_guid *guid)
{
    static const unsigned char beginning[16] = {0x48, 0x2C, 0x2D, 0xB2, 0xC3, 0x90, 0x47, 0xC8,
                                                0x87, 0xF8, 0x1A, 0x15, 0xBF, 0xC1, 0x30, 0xFB};
    unsigned char message[sizeof beginning + 2 * NAME_UNITS + 2 * BLOCK_BYTES];
    unsigned char digest[20];
    etwas_wchar units[NAME_UNITS + 1];
    size_t used = sizeof beginning;
    size_t needed;

    if (name == NULL || guid == NULL || name[0] == '\0' ||
        etwas_utf8_to_utf16(name, strlen(name), units, NAME_UNITS + 1, &needed) != ETWAS_UTF_OK) {
        return ERROR_INVALID_PARAMETER;
    }
    memcpy(message, beginning, sizeof beginning);
    for (size_t i = 0; units[i] != 0; i++) {
        etwas_wchar unit = etwas_name_upper(units[i]);

        message[used++] = (unsigned char)(unit >> 8);
        message[used++] = (unsigned char)unit;
    }
    sha1_hash(message, used, digest);
    digest[7] = (unsigned char)((digest[7] & 0x0F) | 0x50); /* a GUID made from a name */
    memcpy(guid, digest, sizeof *guid);
    return ERROR_SUCCESS;
}
