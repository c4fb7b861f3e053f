/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Interned strings: a frequent text is written once, with an id; later packets refer to the id. */

#include "convert/perfetto/perfetto.h"

#include "math/array.h"
#include "math/hash.h"

#include <stdlib.h>

enum {
    INTERNED_IID = 1,
    INTERNED_TEXT = 2,
};

/* Returns NULL if memory runs out. */
static struct etwas_perfetto_name *add_name(struct etwas_perfetto_names *names, uint64_t hash,
                                            enum etwas_perfetto_kind kind, const char *text,
                                            size_t bytes)
{
    struct etwas_perfetto_name *name = malloc(sizeof *name + bytes);

    if (name == NULL ||
        !etwas_array_reserve(&names->names, &names->capacity, names->count + 1,
                             sizeof(struct etwas_perfetto_name *)) ||
        !etwas_hash_index_add(&names->places, hash, names->count + 1)) {
        free(name);
        return NULL;
    }
    *name = (struct etwas_perfetto_name){
        .kind = kind, .iid = ++names->iids[kind], .bytes = (uint32_t)bytes};
    memcpy(name->text, text, bytes);
    names->names[names->count++] = name;
    return name;
}

struct etwas_perfetto_name *etwas_perfetto_name(struct etwas_perfetto_names *names,
                                                enum etwas_perfetto_kind kind, const char *text,
                                                size_t bytes)
{
    uint64_t hash = etwas_hash(ETWAS_HASH_OF_NOTHING ^ (uint64_t)kind, text, bytes);
    struct etwas_hash_place place;
    uint32_t number = etwas_hash_index_first(&names->places, hash, &place);

    for (; number != 0; number = etwas_hash_index_next(&names->places, &place)) {
        struct etwas_perfetto_name *name = names->names[number - 1];

        if (name->kind == kind && name->bytes == bytes && memcmp(name->text, text, bytes) == 0) {
            return name;
        }
    }
    return add_name(names, hash, kind, text, bytes);
}

uint32_t etwas_perfetto_iid(struct etwas_perfetto *perfetto, struct etwas_perfetto_name *name)
{
    size_t began;

    if (name->epoch != perfetto->names.epoch) {
        began = etwas_wire_begin(&perfetto->interned, name->kind);
        etwas_wire_number(&perfetto->interned, INTERNED_IID, name->iid);
        etwas_wire_bytes(&perfetto->interned, INTERNED_TEXT, name->text, name->bytes);
        etwas_wire_end(&perfetto->interned, began);
        name->epoch = perfetto->names.epoch;
    }
    return name->iid;
}

/* Resets the ids. Our own names have the first ones. */
static void start(struct etwas_perfetto_names *names)
{
    memset(names->iids, 0, sizeof names->iids);
    names->iids[ETWAS_PERFETTO_ANNOTATION] = ETWAS_PERFETTO_OWN_COUNT - 1;
}

static void forget(struct etwas_perfetto_names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        free(names->names[i]);
    }
    etwas_hash_index_clear(&names->places);
    start(names);
    names->count = 0;
    names->generation++;
}

void etwas_perfetto_names_tell_again(struct etwas_perfetto_names *names)
{
    names->epoch++;
    if (names->count > ETWAS_PERFETTO_NAMES) {
        forget(names);
    }
}

void etwas_perfetto_names_open(struct etwas_perfetto_names *names)
{
    *names = (struct etwas_perfetto_names){.epoch = 1, .generation = 1};
    start(names);
}

void etwas_perfetto_names_close(struct etwas_perfetto_names *names)
{
    forget(names);
    free(names->names);
}

void etwas_perfetto_put_own_names(struct etwas_wire *packet)
{
    static const char *const own[ETWAS_PERFETTO_OWN_COUNT] = {
        [ETWAS_PERFETTO_INSTANCE] = "instance",
        [ETWAS_PERFETTO_PARENT] = "parent",
        [ETWAS_PERFETTO_PARENT_CLASS] = "parent_class",
        [ETWAS_PERFETTO_ACTIVITY] = "activity",
        [ETWAS_PERFETTO_RELATED_ACTIVITY] = "related_activity",
        [ETWAS_PERFETTO_THREAD] = "thread",
        [ETWAS_PERFETTO_END_THREAD] = "end_thread",
        [ETWAS_PERFETTO_START] = "start",
        [ETWAS_PERFETTO_END] = "end",
        [ETWAS_PERFETTO_LEVEL] = "etw.level",
        [ETWAS_PERFETTO_KEYWORD] = "etw.keyword",
        [ETWAS_PERFETTO_VERSION] = "etw.version",
        [ETWAS_PERFETTO_PROCESSOR] = "etw.processor",
        [ETWAS_PERFETTO_TEXT] = "text",
        [ETWAS_PERFETTO_PAYLOAD] = "payload",
        [ETWAS_PERFETTO_TRUNCATED] = "truncated",
        [ETWAS_PERFETTO_UNDESCRIBED] = "undescribed",
        [ETWAS_PERFETTO_REST] = "rest",
        [ETWAS_PERFETTO_ODD] = "odd",
        [ETWAS_PERFETTO_TIME] = "time",
        [ETWAS_PERFETTO_DECODED_AS] = "decoded_as_version",
        [ETWAS_PERFETTO_PROCESS] = "process",
    };
    size_t began = etwas_wire_begin(packet, PACKET_INTERNED);

    for (uint32_t i = 1; i < ETWAS_PERFETTO_OWN_COUNT; i++) {
        size_t name = etwas_wire_begin(packet, ETWAS_PERFETTO_ANNOTATION);

        etwas_wire_number(packet, INTERNED_IID, i);
        etwas_wire_text(packet, INTERNED_TEXT, own[i]);
        etwas_wire_end(packet, name);
    }
    etwas_wire_end(packet, began);
}
