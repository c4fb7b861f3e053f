/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/schema.h"

#include "decode/builder.h"

/* ---- types ----------------------------------------------------------------------------------- */

/* The read method of an in type, and the type of its values. */
struct step_type {
    uint8_t method;
    uint8_t bytes;
    bool is_integer; /* may be a count or a length */
    uint16_t out_type;
};

enum {
    FIRST_CLASSIC = TDH_INTYPE_COUNTEDSTRING
};

static const struct step_type types[] = {
    [TDH_INTYPE_NULL] = {ETWAS_READ_FIXED, 0, false, TDH_OUTTYPE_STRING},
    [TDH_INTYPE_UNICODESTRING] = {ETWAS_READ_UTF16, 0, false, TDH_OUTTYPE_STRING},
    [TDH_INTYPE_ANSISTRING] = {ETWAS_READ_UTF8, 0, false, TDH_OUTTYPE_STRING},
    [TDH_INTYPE_INT8] = {ETWAS_READ_FIXED, 1, true, TDH_OUTTYPE_BYTE},
    [TDH_INTYPE_UINT8] = {ETWAS_READ_FIXED, 1, true, TDH_OUTTYPE_UNSIGNEDBYTE},
    [TDH_INTYPE_INT16] = {ETWAS_READ_FIXED, 2, true, TDH_OUTTYPE_SHORT},
    [TDH_INTYPE_UINT16] = {ETWAS_READ_FIXED, 2, true, TDH_OUTTYPE_UNSIGNEDSHORT},
    [TDH_INTYPE_INT32] = {ETWAS_READ_FIXED, 4, true, TDH_OUTTYPE_INT},
    [TDH_INTYPE_UINT32] = {ETWAS_READ_FIXED, 4, true, TDH_OUTTYPE_UNSIGNEDINT},
    [TDH_INTYPE_INT64] = {ETWAS_READ_FIXED, 8, true, TDH_OUTTYPE_LONG},
    [TDH_INTYPE_UINT64] = {ETWAS_READ_FIXED, 8, true, TDH_OUTTYPE_UNSIGNEDLONG},
    [TDH_INTYPE_FLOAT] = {ETWAS_READ_FIXED, 4, false, TDH_OUTTYPE_FLOAT},
    [TDH_INTYPE_DOUBLE] = {ETWAS_READ_FIXED, 8, false, TDH_OUTTYPE_DOUBLE},
    [TDH_INTYPE_BOOLEAN] = {ETWAS_READ_FIXED, 4, false, TDH_OUTTYPE_BOOLEAN},
    [TDH_INTYPE_BINARY] = {ETWAS_READ_BINARY, 0, false, TDH_OUTTYPE_HEXBINARY},
    [TDH_INTYPE_GUID] = {ETWAS_READ_FIXED, 16, false, TDH_OUTTYPE_GUID},
    [TDH_INTYPE_POINTER] = {ETWAS_READ_POINTER, 0, true, TDH_OUTTYPE_HEXINT64},
    [TDH_INTYPE_FILETIME] = {ETWAS_READ_FIXED, 8, false, TDH_OUTTYPE_DATETIME},
    [TDH_INTYPE_SYSTEMTIME] = {ETWAS_READ_FIXED, 16, false, TDH_OUTTYPE_DATETIME},
    [TDH_INTYPE_SID] = {ETWAS_READ_SID, 0, false, TDH_OUTTYPE_STRING},
    [TDH_INTYPE_HEXINT32] = {ETWAS_READ_FIXED, 4, true, TDH_OUTTYPE_HEXINT32},
    [TDH_INTYPE_HEXINT64] = {ETWAS_READ_FIXED, 8, true, TDH_OUTTYPE_HEXINT64},
    [TDH_INTYPE_MANIFEST_COUNTEDSTRING] = {ETWAS_READ_COUNTED, 0, false, TDH_OUTTYPE_STRING},
    [TDH_INTYPE_MANIFEST_COUNTEDANSISTRING] = {ETWAS_READ_COUNTED, 0, false, TDH_OUTTYPE_STRING},
    [TDH_INTYPE_MANIFEST_COUNTEDBINARY] = {ETWAS_READ_COUNTED, 0, false, TDH_OUTTYPE_HEXBINARY},
};

#define CLASSIC(type) [TDH_INTYPE_##type - FIRST_CLASSIC]

static const struct step_type classic_types[] = {
    CLASSIC(COUNTEDSTRING) = {ETWAS_READ_COUNTED, 0, false, TDH_OUTTYPE_STRING},
    CLASSIC(COUNTEDANSISTRING) = {ETWAS_READ_COUNTED, 0, false, TDH_OUTTYPE_STRING},
    CLASSIC(REVERSEDCOUNTEDSTRING) = {ETWAS_READ_REVERSED, 0, false, TDH_OUTTYPE_STRING},
    CLASSIC(REVERSEDCOUNTEDANSISTRING) = {ETWAS_READ_REVERSED, 0, false, TDH_OUTTYPE_STRING},
    CLASSIC(NONNULLTERMINATEDSTRING) = {ETWAS_READ_REST, 2, false, TDH_OUTTYPE_STRING},
    CLASSIC(NONNULLTERMINATEDANSISTRING) = {ETWAS_READ_REST, 1, false, TDH_OUTTYPE_STRING},
    CLASSIC(UNICODECHAR) = {ETWAS_READ_FIXED, 2, false, TDH_OUTTYPE_STRING},
    CLASSIC(ANSICHAR) = {ETWAS_READ_FIXED, 1, false, TDH_OUTTYPE_STRING},
    CLASSIC(SIZET) = {ETWAS_READ_POINTER, 0, true, TDH_OUTTYPE_UNSIGNEDLONG},
    CLASSIC(HEXDUMP) = {ETWAS_READ_HEXDUMP, 0, false, TDH_OUTTYPE_HEXBINARY},
    CLASSIC(WBEMSID) = {ETWAS_READ_WBEMSID, 0, false, TDH_OUTTYPE_STRING},
};

/* Finds a type; NULL: there is none. */
static const struct step_type *step_type_of(uint16_t in_type)
{
    if (in_type < sizeof types / sizeof types[0] && in_type != TDH_INTYPE_RESERVED24) {
        return &types[in_type];
    }
    if (in_type >= FIRST_CLASSIC &&
        in_type - FIRST_CLASSIC < (int)(sizeof classic_types / sizeof classic_types[0])) {
        return &classic_types[in_type - FIRST_CLASSIC];
    }
    return NULL;
}

uint16_t etwas_in_type_bytes(uint16_t in_type)
{
    const struct step_type *type = step_type_of(in_type);

    if (type == NULL) {
        return 0;
    }
    return type->method == ETWAS_READ_POINTER ? 8
           : type->method == ETWAS_READ_FIXED ? type->bytes
                                              : 0;
}

/* ---- what a property names ------------------------------------------------------------------- */

struct step_tree {
    const TRACE_EVENT_INFO *info;
    struct etwas_read_step *steps;
    uint16_t slots; /* assigned so far */
};

/* values of step.parent for properties without a parent */
enum {
    TOP = 0xFFFF,
    NOT_REACHED = 0xFFFE, /* neither a top-level property nor a member of a struct */
};

/* Whether the struct's members lie after all top-level properties and belong to no other struct. */
static bool step_has_own_members(const struct step_tree *tree, uint32_t first, uint32_t members)
{
    uint32_t member = first;

    if (members > 0 && (first < tree->info->TopLevelPropertyCount ||
                        first + members > tree->info->PropertyCount)) {
        return false;
    }
    while (member < first + members && tree->steps[member].parent == NOT_REACHED) {
        member++;
    }
    return member == first + members;
}

static void step_find_parents(struct step_tree *tree)
{
    uint32_t count = tree->info->PropertyCount;

    for (uint32_t i = 0; i < count; i++) {
        tree->steps[i].parent = i < tree->info->TopLevelPropertyCount ? TOP : NOT_REACHED;
    }
    for (uint32_t i = 0; i < count; i++) {
        const EVENT_PROPERTY_INFO *property = &tree->info->EventPropertyInfoArray[i];
        uint32_t first = property->structType.StructStartIndex;
        uint32_t members = property->structType.NumOfStructMembers;

        if ((property->Flags & PropertyStruct) == 0) {
            continue;
        }
        if (!step_has_own_members(tree, first, members)) {
            tree->steps[i].method = ETWAS_READ_UNKNOWN;
            continue;
        }
        for (uint32_t member = first; member < first + members; member++) {
            tree->steps[member].parent = (uint16_t)i;
        }
    }
}

/* Whether the property is nested no deeper than the bound, and no struct contains itself. */
static bool step_is_shallow(const struct step_tree *tree, uint32_t property)
{
    uint32_t depth = 0;

    for (uint32_t at = property; tree->steps[at].parent < NOT_REACHED;
         at = tree->steps[at].parent) {
        if (++depth > ETWAS_SCHEMA_DEPTH) {
            return false;
        }
    }
    return true;
}

/* Whether `earlier` is always read before `property`: in the same struct, or in one around it. */
static bool step_is_read_before(const struct step_tree *tree, uint32_t earlier, uint32_t property)
{
    for (uint32_t at = property; at < NOT_REACHED; at = tree->steps[at].parent) {
        if (tree->steps[earlier].parent == tree->steps[at].parent) {
            return earlier < at;
        }
    }
    return false;
}

/*
 * Finds the slot in which the value of `named` is saved for `property`. Returns false if the
 * reference is invalid.
 */
static bool step_slot_of(struct step_tree *tree, uint32_t property, uint16_t named, uint16_t *from)
{
    const EVENT_PROPERTY_INFO *info;
    const struct step_type *type;
    struct etwas_read_step *step;

    if (named == property) {
        *from = ETWAS_FROM_PAYLOAD;
        return true;
    }
    if (named >= tree->info->PropertyCount || tree->steps[property].parent == NOT_REACHED ||
        !step_is_read_before(tree, named, property)) {
        return false;
    }
    info = &tree->info->EventPropertyInfoArray[named];
    type = (info->Flags & (PropertyStruct | PropertyHasCustomSchema)) == 0
               ? step_type_of(info->nonStructType.InType)
               : NULL;
    step = &tree->steps[named];
    if (type == NULL || !type->is_integer || step->is_array) {
        return false;
    }
    if (step->slot == ETWAS_NO_SLOT) {
        if (tree->slots == ETWAS_SCHEMA_SLOTS) {
            return false;
        }
        step->slot = tree->slots++;
    }
    *from = step->slot;
    return true;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static bool step_is_array(const EVENT_PROPERTY_INFO *property)
{
    return (property->Flags & (PropertyParamCount | PropertyParamFixedCount)) != 0 ||
           property->count > 1;
}

/* Returns the type of the text that an array of such characters is; 0: it is no text. */
static uint16_t step_text_of_characters(const struct etwas_read_step *step)
{
    switch (step->in_type) {
    case TDH_INTYPE_UNICODECHAR:
        return TDH_INTYPE_NONNULLTERMINATEDSTRING;
    case TDH_INTYPE_ANSICHAR:
        return TDH_INTYPE_NONNULLTERMINATEDANSISTRING;
    case TDH_INTYPE_UINT16:
        return step->out_type == TDH_OUTTYPE_STRING ? TDH_INTYPE_NONNULLTERMINATEDSTRING : 0;
    case TDH_INTYPE_INT8:
    case TDH_INTYPE_UINT8:
        return step->out_type == TDH_OUTTYPE_STRING ? TDH_INTYPE_NONNULLTERMINATEDANSISTRING : 0;
    default:
        return 0;
    }
}

static void step_join_characters(struct etwas_read_step *step)
{
    uint16_t in_type = step->is_array ? step_text_of_characters(step) : 0;

    if (in_type != 0) {
        step->is_text = true;
        step->in_type = in_type;
    }
}

/* Strings with a length have no terminating 0. Binary data always have a length. */
static void step_read_by_length(struct etwas_read_step *step, const EVENT_PROPERTY_INFO *property)
{
    bool has_length = property->length > 0 ||
                      (property->Flags & (PropertyParamLength | PropertyParamFixedLength)) != 0;

    if (step->method == ETWAS_READ_UTF16 && has_length) {
        step->method = ETWAS_READ_UTF16_LENGTH;
    } else if (step->method == ETWAS_READ_UTF8 && has_length) {
        step->method = ETWAS_READ_UTF8_LENGTH;
    } else if (step->method == ETWAS_READ_BINARY && !has_length &&
               step->out_type == TDH_OUTTYPE_IPV6) {
        step->length = 16;
    }
}

static void step_set_value(struct etwas_read_step *step, const EVENT_PROPERTY_INFO *property)
{
    const struct step_type *type = step_type_of(property->nonStructType.InType);

    step->in_type = property->nonStructType.InType;
    step->out_type = property->nonStructType.OutType;
    if (type == NULL) {
        step->method = ETWAS_READ_UNKNOWN;
        return;
    }
    step->method = type->method;
    step->bytes = type->bytes;
    if (step->out_type == TDH_OUTTYPE_NULL) {
        step->out_type = type->out_type;
    }
    step->length = property->length;
    step_read_by_length(step, property);
    step_join_characters(step);
}

static void step_set(struct etwas_read_step *step, const EVENT_PROPERTY_INFO *property)
{
    *step = (struct etwas_read_step){
        .is_array = step_is_array(property),
        .count_from = ETWAS_FROM_SCHEMA,
        .count = property->count,
        .length_from = ETWAS_FROM_SCHEMA,
        .slot = ETWAS_NO_SLOT,
    };
    if ((property->Flags & PropertyStruct) != 0) {
        step->method = ETWAS_READ_STRUCT;
        step->first = property->structType.StructStartIndex;
        step->end = (uint16_t)(step->first + property->structType.NumOfStructMembers);
    } else if ((property->Flags & PropertyHasCustomSchema) != 0) {
        step->method = ETWAS_READ_COUNTED;
        step->in_type = TDH_INTYPE_MANIFEST_COUNTEDBINARY;
        step->out_type = TDH_OUTTYPE_HEXBINARY;
    } else {
        step_set_value(step, property);
    }
}

/* Whether the property is an array that takes the rest of the payload. Elements have one size. */
static bool step_is_rest(const struct etwas_read_step *step, const EVENT_PROPERTY_INFO *property)
{
    const uint32_t both = PropertyParamFixedCount | PropertyParamCount;

    return (property->Flags & both) == both &&
           property->countPropertyIndex == ETWAS_BUILDER_NO_PROPERTY &&
           (step->method == ETWAS_READ_FIXED || step->method == ETWAS_READ_POINTER);
}

static bool step_set_references(struct step_tree *tree, uint32_t i)
{
    const EVENT_PROPERTY_INFO *property = &tree->info->EventPropertyInfoArray[i];
    struct etwas_read_step *step = &tree->steps[i];

    if (step_is_rest(step, property)) {
        step->count_from = ETWAS_FROM_REST;
    } else if ((property->Flags & PropertyParamCount) != 0 &&
               !step_slot_of(tree, i, property->countPropertyIndex, &step->count_from)) {
        return false;
    }
    return (property->Flags & (PropertyParamLength | PropertyStruct)) != PropertyParamLength ||
           step_slot_of(tree, i, property->lengthPropertyIndex, &step->length_from);
}

bool etwas_read_steps_make(const TRACE_EVENT_INFO *info, struct etwas_read_step *steps)
{
    struct step_tree tree = {.info = info, .steps = steps};
    bool is_whole = true;

    for (uint32_t i = 0; i < info->PropertyCount; i++) {
        step_set(&steps[i], &info->EventPropertyInfoArray[i]);
    }
    step_find_parents(&tree);
    for (uint32_t i = 0; i < info->PropertyCount; i++) {
        if (!step_is_shallow(&tree, i) || !step_set_references(&tree, i)) {
            steps[i].method = ETWAS_READ_UNKNOWN;
        }
        is_whole = is_whole && steps[i].method != ETWAS_READ_UNKNOWN;
    }
    return is_whole;
}
