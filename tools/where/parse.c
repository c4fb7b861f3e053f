/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The parser of --where: a function for each rule of the grammar in where.h.
 */

#include "cli/value.h"
#include "event/field_paths.h"
#include "print/text.h"
#include "where/scan.h"

#include <string.h>

#define NO_NODE UINT32_MAX

struct parser {
    struct etwas_where_scan scan;
    struct etwas_where *where;
    struct etwas_field_paths *paths;
    unsigned depth;
};

static uint32_t parse_any(struct parser *parser);

static bool is_relation(const struct parser *parser, enum etwas_where_relation relation)
{
    return parser->scan.word == ETWAS_WORD_RELATION && parser->scan.relation == relation;
}

static void fail(struct parser *parser, const char *error)
{
    etwas_where_fail(&parser->scan, parser->scan.at, parser->scan.length, error);
}

static uint32_t new_node(struct parser *parser, enum etwas_where_relation relation, uint32_t left,
                         uint32_t right)
{
    struct etwas_where *where = parser->where;

    if (where->node_count == ETWAS_WHERE_NODES) {
        fail(parser, "the expression has too many parts");
        return NO_NODE;
    }
    where->nodes[where->node_count] =
        (struct etwas_where_node){.relation = relation, .left = left, .right = right};
    return where->node_count++;
}

/* ---- operands -------------------------------------------------------------------------------- */

static bool parse_name(struct parser *parser, struct etwas_where_operand *operand)
{
    const char *text = parser->scan.text;
    size_t bytes = parser->scan.bytes;
    size_t first = strlen(text);

    operand->property = ETWAS_PROPERTY_COUNT;
    if (!parser->scan.quoted && first + 1 == bytes) {
        operand->property = etwas_property_find(text, first);
    }
    if (etwas_property_kind(operand->property) != ETWAS_PROPERTY_IS_NOTHING) {
        operand->source = ETWAS_WHERE_OF_PROPERTY;
        etwas_field_paths_watch(parser->paths, text, bytes);
        parser->where->wants_process |= operand->property == ETWAS_PROPERTY_PROCESS ||
                                        operand->property == ETWAS_PROPERTY_THREAD;
        parser->where->wants_duration |= operand->property == ETWAS_PROPERTY_DURATION ||
                                         operand->property == ETWAS_PROPERTY_DURATION_ERROR;
        return true;
    }
    if (operand->property != ETWAS_PROPERTY_COUNT) {
        fail(parser, "this cannot be compared; fields.NAME is a field that is called so");
        return false;
    }
    if (first + 1 < bytes && strcmp(text, "fields") == 0) {
        text += first + 1;
        bytes -= first + 1;
    }
    operand->source = ETWAS_WHERE_OF_FIELD;
    operand->field = etwas_field_paths_add(parser->paths, text, bytes);
    if (operand->field == ETWAS_FIELD_PATH_NONE) {
        fail(parser, bytes > ETWAS_FIELD_PATH_BYTES ? "the name is too long"
                                                    : "there are too many different fields");
        return false;
    }
    return true;
}

static bool parse_mask(struct parser *parser, struct etwas_where_operand *operand)
{
    if (operand->source == ETWAS_WHERE_CONSTANT) {
        fail(parser, "& goes with the name of a number; && is 'and'");
        return false;
    }
    etwas_where_next(&parser->scan);
    if (parser->scan.word != ETWAS_WORD_NUMBER || parser->scan.has_time_unit ||
        parser->scan.number.kind != ETWAS_WHERE_UNSIGNED) {
        fail(parser, "expected the bits to look at, as a whole number");
        return false;
    }
    operand->masked = true;
    operand->mask = parser->scan.number.u;
    operand->length = parser->scan.at + parser->scan.length - operand->at;
    etwas_where_next(&parser->scan);
    return parser->where->error == NULL;
}

/*
 * Takes a string, and the number, time or GUID that it may also denote. A string with a 0 byte is
 * only a text.
 */
static void take_string(struct etwas_where_operand *operand, const struct etwas_where_scan *scan)
{
    operand->text = scan->text;
    operand->bytes = scan->bytes;
    operand->number.kind = ETWAS_WHERE_TEXT;
    if (strlen(scan->text) != scan->bytes) {
        return;
    }
    if (etwas_text_parse_guid(scan->text, &operand->number.guid)) {
        operand->number.kind = ETWAS_WHERE_GUID;
    } else if (etwas_where_date(scan->text, ETWAS_WHERE_UTC, &operand->number.i)) {
        operand->number.kind = ETWAS_WHERE_TIME;
    }
}

/* `expected` is the error if there is no operand. */
static bool parse_operand(struct parser *parser, struct etwas_where_operand *operand,
                          const char *expected)
{
    const struct etwas_where_scan *scan = &parser->scan;

    *operand = (struct etwas_where_operand){
        .source = ETWAS_WHERE_CONSTANT, .at = scan->at, .length = scan->length};
    if (scan->word == ETWAS_WORD_NAME) {
        if (!parse_name(parser, operand)) {
            return false;
        }
    } else if (scan->word == ETWAS_WORD_NUMBER) {
        operand->number = scan->number;
        operand->has_time_unit = scan->has_time_unit;
    } else if (scan->word == ETWAS_WORD_STRING) {
        take_string(operand, scan);
    } else {
        fail(parser, expected);
        return false;
    }
    etwas_where_next(&parser->scan);
    if (scan->word == ETWAS_WORD_MASK) {
        return parse_mask(parser, operand);
    }
    return parser->where->error == NULL;
}

/* ---- types ----------------------------------------------------------------------------------- */

static bool fail_at(struct parser *parser, const struct etwas_where_operand *operand,
                    const char *error)
{
    etwas_where_fail(&parser->scan, operand->at, operand->length, error);
    return false;
}

static bool is_property(const struct etwas_where_operand *operand, enum etwas_property_kind kind)
{
    return operand->source == ETWAS_WHERE_OF_PROPERTY &&
           etwas_property_kind(operand->property) == kind;
}

/* Replaces a level's name by its number. Returns false after an error if it names none. */
static bool level_fits(struct parser *parser, struct etwas_where_operand *constant)
{
    uint8_t level;

    if (!etwas_value_level_name(constant->text, &level)) {
        return fail_at(parser, constant,
                       "no level: there are critical, error, warning, information and verbose, or "
                       "numbers from 1 to 5");
    }
    constant->text = NULL;
    constant->number = (struct etwas_where_number){.kind = ETWAS_WHERE_UNSIGNED, .u = level};
    return true;
}

/* Returns false after an error if a property is compared with a constant of another type. */
static bool property_fits(struct parser *parser, struct etwas_where_operand *property,
                          struct etwas_where_operand *other)
{
    bool is_text = other->text != NULL;

    if (property->source != ETWAS_WHERE_OF_PROPERTY) {
        return true;
    }
    /* A number that is compared with a time counts from the session's start. */
    property->absolute = is_text || other->source != ETWAS_WHERE_CONSTANT;
    if (other->source != ETWAS_WHERE_CONSTANT) {
        return true;
    }
    switch (etwas_property_kind(property->property)) {
    case ETWAS_PROPERTY_IS_TIME:
        return !is_text || other->number.kind == ETWAS_WHERE_TIME ||
               fail_at(parser, other,
                       "not a time: 2026-11-21, \"2026-11-21T08:19\" or "
                       "\"2026-11-21T08:19:17.123456789Z\"; 1.5s is since the session's start");
    case ETWAS_PROPERTY_IS_GUID:
        return other->number.kind == ETWAS_WHERE_GUID ||
               fail_at(parser, other,
                       property->property == ETWAS_PROPERTY_EVENT_CLASS_ID
                           ? "expected a GUID such as \"68fdd900-4a3e-11d1-84f4-0000f80464e3\"; "
                             "names are in 'event_class' and 'event'"
                           : "expected a GUID such as \"68fdd900-4a3e-11d1-84f4-0000f80464e3\"");
    case ETWAS_PROPERTY_IS_STRING:
        return is_text || fail_at(parser, other, "a string stands in quotes");
    default:
        if (is_text && property->property == ETWAS_PROPERTY_LEVEL) {
            return level_fits(parser, other);
        }
        return !is_text || fail_at(parser, other, "expected a number");
    }
}

struct field_unit {
    const char *ending; /* end of the field's name: _ and the unit */
    int64_t ns;
};

/* Returns the unit that a field's name ends with; NULL if there is none. */
static const struct field_unit *unit_of_field(const struct etwas_field_path *path)
{
    static const struct field_unit units[] = {
        {"_ns", 1}, {"_us", 1000}, {"_ms", 1000000}, {"_s", 1000000000}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t bytes = strlen(units[i].ending) + 1;

        if (path->bytes > bytes &&
            memcmp(path->text + path->bytes - bytes, units[i].ending, bytes) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

/* Converts nanoseconds to the field's unit; the result is an integer if that is exact. */
static void convert(struct etwas_where_number *number, int64_t unit_ns)
{
    bool is_float = number->kind == ETWAS_WHERE_FLOAT;
    bool is_negative = number->kind == ETWAS_WHERE_SIGNED;

    if (is_float) {
        number->f /= (double)unit_ns;
    } else if (is_negative ? number->i % unit_ns == 0 : number->u % (uint64_t)unit_ns == 0) {
        number->u = is_negative ? (uint64_t)(number->i / unit_ns) : number->u / (uint64_t)unit_ns;
    } else {
        number->f = (is_negative ? (double)number->i : (double)number->u) / (double)unit_ns;
        number->kind = ETWAS_WHERE_FLOAT;
    }
}

/* Returns false after an error if a unit of time is used with an operand that has none. */
static bool unit_fits(struct parser *parser, struct etwas_where_operand *constant,
                      const struct etwas_where_operand *other)
{
    const struct field_unit *unit;

    if (!constant->has_time_unit || other->source == ETWAS_WHERE_CONSTANT) {
        return true;
    }
    if (other->source == ETWAS_WHERE_OF_PROPERTY) {
        return other->property == ETWAS_PROPERTY_TIME ||
               other->property == ETWAS_PROPERTY_DURATION ||
               other->property == ETWAS_PROPERTY_DURATION_ERROR ||
               fail_at(parser, constant, "this is no time: write a number without a unit of time");
    }
    unit = unit_of_field(&parser->paths->paths[other->field]);
    if (unit == NULL) {
        parser->where->error_meant = etwas_field_path_column(&parser->paths->paths[other->field]);
        return fail_at(parser, constant,
                       "the field's name does not end in _ns, _us, _ms or _s, so its unit is not "
                       "known: write a number in it, without a unit");
    }
    convert(&constant->number, unit->ns);
    constant->field_unit = unit->ending + 1;
    return true;
}

static bool operands_fit(struct parser *parser, struct etwas_where_node *node)
{
    struct etwas_where_operand *operands = node->operands;

    if (operands[1].source == ETWAS_WHERE_OF_FIELD) {
        parser->paths->paths[operands[1].field].is_compared_with = true;
    }
    return property_fits(parser, &operands[0], &operands[1]) &&
           property_fits(parser, &operands[1], &operands[0]) &&
           unit_fits(parser, &operands[0], &operands[1]) &&
           unit_fits(parser, &operands[1], &operands[0]);
}

static bool compile(struct parser *parser, struct etwas_where_node *node)
{
    const struct etwas_where_operand *operand = &node->operands[1];

    if (is_property(&node->operands[0], ETWAS_PROPERTY_IS_TIME)) {
        return fail_at(parser, &node->operands[0], "a time is no text: < and >= compare it");
    }
    if (operand->text == NULL) {
        return fail_at(parser, operand,
                       node->relation == ETWAS_WHERE_MATCHES
                           ? "=~ takes a regular expression as a string"
                           : "contains takes a string");
    }
    if (node->relation == ETWAS_WHERE_MATCHES &&
        regcomp(&node->pattern, operand->text, REG_EXTENDED | REG_NOSUB) != 0) {
        node->relation = ETWAS_WHERE_CONTAINS; /* so that no pattern is freed */
        return fail_at(parser, operand, "not an extended regular expression");
    }
    return true;
}

/* Takes a level's bare name beside `level` as its number. A field of that name is fields.NAME. */
static void take_level(struct parser *parser, const struct etwas_where_operand *left)
{
    struct etwas_where_scan *scan = &parser->scan;
    uint8_t level;

    if (scan->word == ETWAS_WORD_NAME && !scan->quoted && strlen(scan->text) + 1 == scan->bytes &&
        left->source == ETWAS_WHERE_OF_PROPERTY && left->property == ETWAS_PROPERTY_LEVEL &&
        etwas_value_level_name(scan->text, &level)) {
        scan->word = ETWAS_WORD_NUMBER;
        scan->number = (struct etwas_where_number){.kind = ETWAS_WHERE_UNSIGNED, .u = level};
        scan->has_time_unit = false;
    }
}

/* ---- expressions ----------------------------------------------------------------------------- */

static uint32_t parse_comparison(struct parser *parser)
{
    struct etwas_where_operand left;
    struct etwas_where_node *node;
    uint32_t number;

    if (!parse_operand(parser, &left, "expected a name, a number, a string, ! or (")) {
        return NO_NODE;
    }
    if (parser->scan.word != ETWAS_WORD_RELATION || parser->scan.relation < ETWAS_WHERE_EQUAL) {
        number = new_node(parser, ETWAS_WHERE_HOLDS, 0, 0);
        if (number != NO_NODE) {
            parser->where->nodes[number].operands[0] = left;
        }
        return number;
    }
    number = new_node(parser, parser->scan.relation, 0, 0);
    if (number == NO_NODE) {
        return NO_NODE;
    }
    node = &parser->where->nodes[number];
    node->operands[0] = left;
    /* Set until there is a pattern that must be freed. */
    node->relation = ETWAS_WHERE_CONTAINS;
    {
        enum etwas_where_relation relation = parser->scan.relation;

        etwas_where_next(&parser->scan);
        take_level(parser, &node->operands[0]);
        if (!parse_operand(parser, &node->operands[1],
                           "expected a name, a number or a string to compare with")) {
            return NO_NODE;
        }
        node->relation = relation;
    }
    if (node->relation == ETWAS_WHERE_MATCHES || node->relation == ETWAS_WHERE_CONTAINS) {
        return compile(parser, node) ? number : NO_NODE;
    }
    return operands_fit(parser, node) ? number : NO_NODE;
}

static uint32_t parse_one(struct parser *parser)
{
    uint32_t inner;

    if (!is_relation(parser, ETWAS_WHERE_NOT) && parser->scan.word != ETWAS_WORD_OPEN) {
        return parse_comparison(parser);
    }
    if (parser->depth == ETWAS_WHERE_DEPTH) {
        fail(parser, "too deep: at most 64 ! and ( in each other");
        return NO_NODE;
    }
    parser->depth++;
    if (parser->scan.word == ETWAS_WORD_OPEN) {
        etwas_where_next(&parser->scan);
        inner = parse_any(parser);
        if (inner != NO_NODE && parser->scan.word != ETWAS_WORD_CLOSE) {
            fail(parser, "expected && or || or )");
            return NO_NODE;
        }
        etwas_where_next(&parser->scan);
    } else {
        etwas_where_next(&parser->scan);
        inner = parse_one(parser);
        inner = inner != NO_NODE ? new_node(parser, ETWAS_WHERE_NOT, inner, 0) : NO_NODE;
    }
    parser->depth--;
    return inner;
}

/* Parses operands with `inner`, joined by && or ||. */
static uint32_t parse_chain(struct parser *parser, enum etwas_where_relation relation,
                            uint32_t (*inner)(struct parser *parser))
{
    uint32_t left = inner(parser);

    while (left != NO_NODE && is_relation(parser, relation)) {
        uint32_t right;

        etwas_where_next(&parser->scan);
        right = inner(parser);
        left = right != NO_NODE ? new_node(parser, relation, left, right) : NO_NODE;
    }
    return left;
}

static uint32_t parse_all(struct parser *parser)
{
    return parse_chain(parser, ETWAS_WHERE_AND, parse_one);
}

static uint32_t parse_any(struct parser *parser)
{
    return parse_chain(parser, ETWAS_WHERE_OR, parse_all);
}

/* Clears what an earlier parse may have left. */
static void begin(struct etwas_where *where)
{
    where->error = NULL;
    where->error_meant = NULL;
    where->text_bytes = 0;
    where->whole[0] = '\0';
    where->wants_duration = where->wants_process = false;
    where->was_asked = where->has_held = where->has_process = false;
}

bool etwas_where_parse(struct etwas_where *where, const char *text, struct etwas_field_paths *paths)
{
    struct parser parser = {
        .scan = {.where = where, .expression = text}, .where = where, .paths = paths};

    bool is_first = !etwas_where_is_given(where);
    uint32_t root;

    if (is_first) {
        begin(where);
    }
    etwas_where_next(&parser.scan);
    root = parse_any(&parser);
    if (root != NO_NODE && parser.scan.word != ETWAS_WORD_END) {
        fail(&parser, "expected && or ||, or the end");
    }
    where->root =
        is_first || root == NO_NODE ? root : new_node(&parser, ETWAS_WHERE_AND, where->root, root);
    if (where->error != NULL) {
        etwas_where_clear(where);
    }
    return where->error == NULL;
}

void etwas_where_move(struct etwas_where *to, struct etwas_where *from)
{
    *to = *from;
    for (uint32_t i = 0; i < 2 * to->node_count; i++) {
        const char **text = &to->nodes[i / 2].operands[i % 2].text;

        if (*text != NULL) {
            *text = to->text + (*text - from->text);
        }
    }
    memset(from, 0, sizeof *from);
}

bool etwas_where_asks(const struct etwas_where *where, enum etwas_property property)
{
    bool any = false;

    for (uint32_t i = 0; i < 2 * where->node_count; i++) {
        const struct etwas_where_node *node = &where->nodes[i / 2];
        const struct etwas_where_operand *operand = &node->operands[i % 2];

        any = any || (node->relation >= ETWAS_WHERE_HOLDS &&
                      operand->source == ETWAS_WHERE_OF_PROPERTY && operand->property == property &&
                      (i % 2 == 0 || node->relation != ETWAS_WHERE_HOLDS));
    }
    return any;
}

void etwas_where_clear(struct etwas_where *where)
{
    for (uint32_t i = 0; i < where->node_count; i++) {
        if (where->nodes[i].relation == ETWAS_WHERE_MATCHES) {
            regfree(&where->nodes[i].pattern);
        }
    }
    where->node_count = 0;
}
