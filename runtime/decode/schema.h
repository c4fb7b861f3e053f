/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A schema that was checked. Every source's description becomes a TRACE_EVENT_INFO first, and here
 * it is seen that nothing in it leads outside of it; then the names are made UTF-8, and each
 * property gets a step: how its bytes are read, which fields.c follows.
 *
 * What is checked: offsets, strings with their 0 inside; of each property that its type is known, that
 * structs are nested at most ETWAS_SCHEMA_DEPTH deep and their members belong to one struct each, and
 * that counts and lengths name an integer which was read before, in the same struct or in one around
 * it. A property of which that is not so is kept by its name: it and what follows are bytes.
 */
#ifndef ETWAS_DECODE_SCHEMA_H
#define ETWAS_DECODE_SCHEMA_H

#include <etwas/decode.h>

enum {
    ETWAS_SCHEMA_DEPTH = 32,
    ETWAS_SCHEMA_SLOTS = 128, /* properties that count others */
    ETWAS_SCHEMA_PROPERTIES = 1024,
    ETWAS_SCHEMA_NAME_UNITS = 256,      /* of a property or a map */
    ETWAS_SCHEMA_NAMES_BYTES = 1 << 16, /* of all: an event without a payload may show them */
};

enum etwas_read_method {
    ETWAS_READ_FIXED,        /* step.bytes */
    ETWAS_READ_POINTER,      /* as wide as the event's */
    ETWAS_READ_UTF16,        /* to its 0 */
    ETWAS_READ_UTF8,         /* likewise */
    ETWAS_READ_UTF16_LENGTH, /* length characters; ends at a 0 */
    ETWAS_READ_UTF8_LENGTH,
    ETWAS_READ_BINARY,   /* length bytes */
    ETWAS_READ_COUNTED,  /* u16 bytes, then as many */
    ETWAS_READ_REVERSED, /* likewise, big-endian */
    ETWAS_READ_HEXDUMP,  /* u32 bytes, then as many */
    ETWAS_READ_REST,     /* to the end of the payload, or to a 0 there of step.bytes */
    ETWAS_READ_SID,
    ETWAS_READ_WBEMSID,
    ETWAS_READ_STRUCT,  /* no bytes of its own */
    ETWAS_READ_UNKNOWN, /* its description does not say how */
};

/* Where a count or a length comes from: a slot below ETWAS_SCHEMA_SLOTS, or */
enum {
    ETWAS_FROM_REST = 0xFFFD,   /* as many elements of fixed size as there is room for */
    ETWAS_FROM_SCHEMA = 0xFFFE, /* the schema itself */
    ETWAS_FROM_PAYLOAD =
        0xFFFF, /* a u16 before the elements or the bytes: the property names itself */
    ETWAS_NO_SLOT = 0xFFFF,
};

struct etwas_read_step {
    uint8_t method; /* enum etwas_read_method, of one element */
    bool is_array;
    bool is_text;     /* an array of characters, given as one value */
    uint16_t in_type; /* as a value has them */
    uint16_t out_type;
    uint16_t bytes;      /* ETWAS_READ_FIXED */
    uint16_t count_from; /* is_array */
    uint16_t count;
    uint16_t length_from;
    uint16_t length;
    uint16_t slot;  /* where its value is kept; ETWAS_NO_SLOT */
    uint16_t first; /* ETWAS_READ_STRUCT: its members */
    uint16_t end;
    uint16_t parent; /* the struct around it: for the checks */
};

/* What fields.c knows of a schema besides its fields. */
struct etwas_plan {
    uint32_t top;           /* top-level properties: they come first */
    uint32_t payload_begin; /* where the first field begins */
    const struct etwas_read_step *steps;
};

/* A schema and what the store knows of it: one allocation. */
struct etwas_stored_schema {
    etwas_schema exact;
    etwas_schema other; /* the same, for events of another version */
    struct etwas_plan plan;
    etwas_schema_field *fields;

    /* The store's. */
    struct etwas_stored_schema *older;  /* the next lower version of the same event, or layout */
    struct etwas_stored_schema *next;   /* of all */
    struct etwas_map_field *map_fields; /* one for each field that names a map */
    uint32_t map_field_count;
    uint32_t bytes;    /* of all of it */
    uint16_t least[2]; /* payloads are no shorter: of events with pointers of 32 bits, and of 64 */
    uint8_t rank;
    bool is_whole; /* of each property it is known how it is read */
};

/* A field that names a map, among all that name it. */
struct etwas_map_field {
    struct etwas_map_field *next;
    etwas_schema_field *field;
};

/*
 * The schema of a TRACE_EVENT_INFO, a copy of it: the caller's to free. `info` may be unaligned.
 * ERROR_INVALID_DATA: it makes no sense. ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_schema_make(const void *info, size_t bytes, struct etwas_stored_schema **stored);

#endif
