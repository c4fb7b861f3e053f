/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes the declaration of an event class: its name and the types of its fields. */

#include "convert/ctf/ctf.h"
#include "convert/ctf/member_names.h"

enum {
    INDENT = 4,
};

/* A member that follows the fields of a schema. */
struct addition {
    const char *name;
    const char *type;
    bool is_counted;
};

struct declaration {
    struct etwas_output *output;
    const struct etwas_ctf_class *class;
    const etwas_schema *schema;
    unsigned depth;
    bool out_of_memory;
};

static void put_line(const struct declaration *declaration, const char *text)
{
    for (unsigned i = 0; i < INDENT * declaration->depth; i++) {
        etwas_output_char(declaration->output, ' ');
    }
    etwas_output_text(declaration->output, text);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Returns a value of a field with this number, as the decoder would make it. */
static etwas_value made_up(const etwas_schema_field *field, const struct etwas_ctf_shape *shape,
                           const uint64_t *number)
{
    return (etwas_value){
        .token = ETWAS_TOKEN_VALUE,
        .in_type = shape->in_type,
        .out_type = shape->out_type,
        .field = field,
        .data = number,
        .bytes = shape->bytes,
    };
}

/* Gets the number of a map's entry. Returns false if it has none. */
static bool entry_number(const EVENT_MAP_INFO *map, uint32_t entry, uint64_t *number)
{
    if ((map->Flag & (EVENTMAP_INFO_FLAG_WBEM_NO_MAP | EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP)) !=
            0 ||
        map->MapEntryValueType != EVENTMAP_ENTRY_VALUETYPE_ULONG) {
        return false;
    }
    *number = map->MapEntryArray[entry].Value;
    return true;
}

/* Returns whether an integer of this size can hold the number, which has at most 32 bits. */
static bool is_in_range(uint64_t number, uint32_t bytes, bool is_signed)
{
    return bytes >= sizeof number || number >> (8 * bytes - is_signed) == 0;
}

/* Writes ` { "Ready" = 1, "Running" = 2 }`; nothing if the field can hold no number of the map. */
static void put_entries(struct etwas_output *output, const etwas_schema_field *field,
                        const struct etwas_ctf_shape *shape, bool is_signed)
{
    char name[4096];
    const char *before = " { ";

    for (uint32_t i = 0; i < field->map->EntryCount; i++) {
        uint64_t number;
        etwas_value value = made_up(field, shape, &number);
        struct etwas_output *plain;
        size_t bytes;

        if (!entry_number(field->map, i, &number) ||
            !is_in_range(number, shape->bytes, is_signed)) {
            continue;
        }
        bytes = etwas_value_text(&value, name, sizeof name);
        plain = etwas_output_scratch(output);
        etwas_text_utf8(plain, ETWAS_TEXT_PLAIN, name,
                        bytes < sizeof name ? bytes : sizeof name - 1);
        etwas_output_text(output, before);
        etwas_ctf_put_quoted(output, plain->bytes, plain->used_bytes);
        etwas_output_text(output, " = ");
        etwas_output_unsigned(output, number);
        before = ", ";
    }
    etwas_output_text(output, before[0] == ',' ? " }" : "");
}

static bool has_entries(const etwas_schema_field *field, const struct etwas_ctf_shape *shape,
                        bool is_signed)
{
    uint64_t number;

    for (uint32_t i = 0; field->map != NULL && i < field->map->EntryCount; i++) {
        if (entry_number(field->map, i, &number) && is_in_range(number, shape->bytes, is_signed)) {
            return true;
        }
    }
    return false;
}

static bool is_hexadecimal(const etwas_value *value)
{
    char digits[8];

    return etwas_value_text(value, digits, sizeof digits) >= 2 && digits[0] == '0' &&
           digits[1] == 'x';
}

static void put_integer(struct etwas_output *output, const etwas_schema_field *field,
                        const struct etwas_ctf_shape *shape, bool is_signed)
{
    static const uint64_t zero;
    etwas_value value = made_up(field, shape, &zero);
    bool is_enumeration = has_entries(field, shape, is_signed);

    etwas_output_text(output, is_enumeration ? "enum : " : "");
    etwas_output_char(output, is_signed                                   ? 'i'
                              : !is_enumeration && is_hexadecimal(&value) ? 'x'
                                                                          : 'u');
    etwas_output_unsigned(output, 8 * (uint64_t)shape->bytes);
    if (is_enumeration) {
        put_entries(output, field, shape, is_signed);
    }
}

/*
 * Writes the type of one value. Bytes in an array become structs, since each element has a length
 * of its own.
 */
static void put_type(struct etwas_output *output, const etwas_schema_field *field,
                     const struct etwas_ctf_shape *shape)
{
    static const uint64_t zeros[2];
    etwas_value value = made_up(field, shape, zeros);

    if (!shape->has_value) {
        etwas_output_text(output, "u8"); /* any type: there are no elements */
        return;
    }
    switch (etwas_ctf_kind_of(&value)) {
    case ETWAS_CTF_UNSIGNED:
        put_integer(output, field, shape, false);
        break;
    case ETWAS_CTF_SIGNED:
        put_integer(output, field, shape, true);
        break;
    case ETWAS_CTF_FLOAT:
        etwas_output_text(output, shape->bytes == sizeof(float) ? "f32" : "f64");
        break;
    case ETWAS_CTF_BOOLEAN:
        etwas_output_format(output, "u%u", 8 * shape->bytes);
        break;
    case ETWAS_CTF_GUID:
        etwas_output_text(output, "guid");
        break;
    case ETWAS_CTF_BYTES:
        etwas_output_text(output,
                          shape->is_array ? "struct { u32 _length; x8 _bytes[_length]; }" : "x8");
        break;
    case ETWAS_CTF_STRING:
        etwas_output_text(output, "text");
        break;
    }
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool is_counted(const etwas_schema_field *field, const struct etwas_ctf_shape *shape)
{
    static const uint64_t zeros[2];
    etwas_value value = made_up(field, shape, zeros);

    return shape->is_array ? etwas_ctf_fixed_count(field) == 0
                           : shape->has_value && (field->info->Flags & PropertyStruct) == 0 &&
                                 etwas_ctf_kind_of(&value) == ETWAS_CTF_BYTES;
}

static void put_members(struct declaration *declaration, uint32_t first, uint32_t count,
                        const struct addition *additions, uint32_t addition_count);

static void put_length(const struct declaration *declaration, const struct etwas_ctf_names *names,
                       uint32_t member)
{
    put_line(declaration, "u32 ");
    etwas_ctf_names_put(declaration->output, names, member, true);
    etwas_output_text(declaration->output, ";\n");
}

/* Ends a counted member with its length. */
static void put_counted(const struct declaration *declaration, const struct etwas_ctf_names *names,
                        uint32_t member)
{
    etwas_output_char(declaration->output, '[');
    etwas_ctf_names_put(declaration->output, names, member, true);
    etwas_output_char(declaration->output, ']');
}

static void put_field(struct declaration *declaration, uint32_t index,
                      const struct etwas_ctf_names *names, uint32_t member)
{
    const etwas_schema_field *field = &declaration->schema->fields[index];
    const struct etwas_ctf_shape *shape = &declaration->class->shape[index];
    struct etwas_output *output = declaration->output;

    if (is_counted(field, shape)) {
        put_length(declaration, names, member);
    }
    put_line(declaration, "");
    if ((field->info->Flags & PropertyStruct) != 0) {
        etwas_output_text(output, "struct {\n");
        declaration->depth++;
        put_members(declaration, field->info->structType.StructStartIndex,
                    field->info->structType.NumOfStructMembers, NULL, 0);
        declaration->depth--;
        put_line(declaration, "}");
    } else {
        put_type(output, field, shape);
    }
    etwas_output_char(output, ' ');
    etwas_ctf_names_put(output, names, member, false);
    if (is_counted(field, shape)) {
        put_counted(declaration, names, member);
    } else if (shape->is_array) {
        etwas_output_format(output, "[%u]", etwas_ctf_fixed_count(field));
    }
    etwas_output_text(output, ";\n");
}

static void put_addition(const struct declaration *declaration, const struct addition *addition,
                         const struct etwas_ctf_names *names, uint32_t member)
{
    if (addition->is_counted) {
        put_length(declaration, names, member);
    }
    put_line(declaration, addition->type);
    etwas_output_char(declaration->output, ' ');
    etwas_ctf_names_put(declaration->output, names, member, false);
    if (addition->is_counted) {
        put_counted(declaration, names, member);
    }
    etwas_output_text(declaration->output, ";\n");
}

/* Writes the members of a struct, or all top-level fields with their additions. */
static void put_members(struct declaration *declaration, uint32_t first, uint32_t count,
                        const struct addition *additions, uint32_t addition_count)
{
    struct etwas_ctf_names names = {0};

    for (uint32_t i = 0; i < count; i++) {
        etwas_ctf_names_add(&names, declaration->schema->fields[first + i].name,
                            is_counted(&declaration->schema->fields[first + i],
                                       &declaration->class->shape[first + i]));
    }
    for (uint32_t i = 0; i < addition_count; i++) {
        etwas_ctf_names_add(&names, additions[i].name, additions[i].is_counted);
    }
    etwas_ctf_names_settle(&names);
    declaration->out_of_memory |= names.out_of_memory;
    for (uint32_t i = 0; i < count && !declaration->out_of_memory; i++) {
        put_field(declaration, first + i, &names, i);
    }
    for (uint32_t i = 0; i < addition_count && !declaration->out_of_memory; i++) {
        put_addition(declaration, &additions[i], &names, count + i);
    }
    etwas_ctf_names_free(&names);
}

static void put_fields(struct declaration *declaration)
{
    enum etwas_ctf_form form = declaration->class->form;
    bool has_schema = form == ETWAS_CTF_FIELDS || form == ETWAS_CTF_FIELDS_REST;
    struct addition additions[4];
    uint32_t count = 0;

    if (form == ETWAS_CTF_TEXT || form == ETWAS_CTF_TEXT_REST || form == ETWAS_CTF_TEXT_TRUNCATED) {
        additions[count++] = (struct addition){"text", "text", false};
    }
    if (form == ETWAS_CTF_TRUNCATED || form == ETWAS_CTF_TEXT_TRUNCATED) {
        additions[count++] = (struct addition){"truncated", "text", false};
    }
    if (form == ETWAS_CTF_UNDESCRIBED) {
        additions[count++] = (struct addition){"undescribed", "text", false};
    }
    if (form == ETWAS_CTF_FIELDS_REST || form == ETWAS_CTF_TEXT_REST ||
        form == ETWAS_CTF_TEXT_TRUNCATED) {
        additions[count++] = (struct addition){"rest", "x8", true};
    }
    if (form == ETWAS_CTF_PAYLOAD || form == ETWAS_CTF_TRUNCATED || form == ETWAS_CTF_UNDESCRIBED) {
        additions[count++] = (struct addition){"payload", "x8", true};
    }
    if ((declaration->class->has & ETWAS_CTF_CALL_STACK) != 0) {
        additions[count++] = (struct addition){"call_stack", "x64", true};
    }
    etwas_output_text(declaration->output, "    fields := struct {\n");
    declaration->depth = 2;
    put_members(declaration, 0, has_schema ? declaration->schema->info->TopLevelPropertyCount : 0,
                additions, count);
    etwas_output_text(declaration->output, "    };\n");
}

/* ---- the event ------------------------------------------------------------------------------- */

static void put_name(struct etwas_output *output, const struct etwas_ctf_class *class)
{
    etwas_output_text(output, "    name = ");
    if (class->schema_texts != NULL) {
        etwas_ctf_put_quoted(output, class->schema_texts->texts + class->schema_texts->title.at,
                             class->schema_texts->title.bytes);
    } else {
        etwas_ctf_put_quoted(output, (const char *)class->name.data, class->name.used);
    }
    etwas_output_text(output, ";\n");
}

/* Writes LTTng's log level, which readers know by name. Level 0 is always recorded and has none. */
static void put_level(struct etwas_output *output, uint8_t level)
{
    static const uint8_t levels[] = {[1] = 2, [2] = 3, [3] = 4, [4] = 6, [5] = 14};

    if (level > 0) {
        etwas_output_format(output, "    loglevel = %u;\n",
                            level < sizeof levels ? levels[level] : 14);
    }
}

static void put_context(struct declaration *declaration)
{
    static const struct {
        uint8_t has;
        const char *text;
    } parts[] = {
        {ETWAS_CTF_INSTANCE, "u32 _instance;\n"},
        {ETWAS_CTF_SEQUENCE, "u32 _sequence;\n"},
        {ETWAS_CTF_PARENT, "u32 _parent_instance;\n        guid _parent_class;\n"},
        {ETWAS_CTF_ACTIVITY, "guid _activity;\n"},
        {ETWAS_CTF_RELATED_ACTIVITY, "guid _related_activity;\n"},
        {ETWAS_CTF_OTHER_VERSION, "u8 _decoded_as_version;\n"},
    };

    if ((declaration->class->has & ~ETWAS_CTF_CALL_STACK) == 0) {
        return;
    }
    declaration->depth = 2;
    etwas_output_text(declaration->output, "    context := struct {\n");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if ((declaration->class->has & parts[i].has) != 0) {
            put_line(declaration, parts[i].text);
        }
    }
    etwas_output_text(declaration->output, "    };\n");
}

bool etwas_ctf_declare(struct etwas_output *output, const struct etwas_ctf_trace *trace,
                       const struct etwas_ctf_class *class)
{
    struct declaration declaration = {.output = output, .class = class};

    if (class->schema_texts != NULL) {
        declaration.schema = class->schema_texts->schema;
    }
    etwas_output_format(output, "event {\n    id = %u;\n", class->id);
    put_name(output, class);
    etwas_output_format(output, "    stream_id = %u;\n", trace->has_processors ? 0 : 1);
    put_level(output, class->level);
    put_context(&declaration);
    put_fields(&declaration);
    etwas_output_text(output, "};\n\n");
    return !declaration.out_of_memory;
}
