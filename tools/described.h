/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_DESCRIBED_H
#define ETWAS_TOOLS_DESCRIBED_H

/*
 * What a file says of its events: their schemas, each with what is made of it once, so that an event
 * costs no more than its own values.
 *
 * A description may come after the events that it describes. So the first event that nothing
 * describes has the whole file read for descriptions, once.
 */

#include "field_paths.h"
#include "input.h"

#include <etwas/decode.h>

/* A text within the texts of a schema; not terminated. */
struct etwas_kept_text {
    size_t at;
    size_t bytes;
};

struct etwas_described_field {
    struct etwas_kept_text label; /* `size=`, harmless on a terminal */
    struct etwas_kept_text key;   /* `"size":` as JSON; the second of a name is "size#2" */
    uint32_t path;                /* which of the fields asked for it is, or _NONE */
};

struct etwas_described {
    const etwas_schema *schema;
    struct etwas_kept_text title; /* PROVIDER/EVENT as one word, harmless on a terminal */
    bool asked_for;               /* one of its fields is asked for */
    bool told;                    /* that a payload contradicts it */
    char *texts;                  /* of the members above */
    struct etwas_described_field fields[];
};

/* What the decoder said of events with this header, which have no items that describe them. */
struct etwas_described_kind {
    bool known;
    bool classic;
    etwas_guid guid;
    EVENT_DESCRIPTOR descriptor;
    struct etwas_described *described;
};

enum {
    ETWAS_DESCRIBED_KINDS = 256, /* a power of 2 */
};

/* The descriptions of one file. */
struct etwas_descriptions {
    const char *path;
    etwas_decoder *decoder;
    struct etwas_field_paths *paths;
    struct etwas_described **table; /* by schema, at most half full; capacity is a power of 2 */
    size_t capacity;
    size_t count;
    struct etwas_described_kind kinds[ETWAS_DESCRIBED_KINDS]; /* by a hash of the header */
    bool read_whole; /* the file was read for descriptions */
    bool out_of_memory;
};

/* `path` and `paths` must stay. False without memory. */
bool etwas_descriptions_open(struct etwas_descriptions *descriptions, const char *path,
                             struct etwas_field_paths *paths);
void etwas_descriptions_close(struct etwas_descriptions *descriptions);

/*
 * Takes in what a record says about others. ERROR_SUCCESS: it is no event to be shown;
 * ERROR_INVALID_DATA: it makes no sense; else it says nothing.
 */
uint32_t etwas_descriptions_take(struct etwas_descriptions *descriptions,
                                 const EVENT_RECORD *record);

/* What describes an event; NULL: nothing does. *senseless: what should, makes no sense. */
struct etwas_described *etwas_descriptions_find(struct etwas_descriptions *descriptions,
                                                const EVENT_RECORD *record, bool *senseless);

/*
 * What describes events with this header, if both functions were asked about one and nothing was
 * learned since: then the answers are the same. NULL: ask them.
 */
struct etwas_described *etwas_descriptions_known(const struct etwas_descriptions *descriptions,
                                                 const EVENT_RECORD *record);

/*
 * What tells self-describing events of one name apart, behind that name: "/Start", "/Stop", "/7", and
 * nothing for opcode 0. The names of others have their opcode's.
 */
void etwas_described_put_opcode(struct etwas_output *output, uint8_t opcode);

/* The provider of an event that nothing describes, "" if it is not known. Until the next call. */
const char *etwas_descriptions_provider(const struct etwas_descriptions *descriptions,
                                        const EVENT_RECORD *record);

/* Reads the whole file for descriptions, unless that was done. */
void etwas_descriptions_read_whole(struct etwas_descriptions *descriptions);

enum {
    ETWAS_DESCRIBED_PIECE = 32, /* so many bytes may be read from anywhere in the texts */
};

/* Most texts are short: they are copied in one piece, and what is too much is overwritten. */
static inline void etwas_described_put(struct etwas_output *output,
                                       const struct etwas_described *described,
                                       struct etwas_kept_text kept)
{
    if (kept.bytes <= ETWAS_DESCRIBED_PIECE) {
        memcpy(etwas_output_room(output, ETWAS_DESCRIBED_PIECE), described->texts + kept.at,
               ETWAS_DESCRIBED_PIECE);
        output->used_bytes += kept.bytes;
    } else {
        etwas_output_bytes(output, described->texts + kept.at, kept.bytes);
    }
}

#endif
