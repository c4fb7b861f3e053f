/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The parser of --where: a function for each rule of the grammar in where.h.
 */

#include "field_paths.h"
#include "where/scan.h"

#include <ctype.h>
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
    if (etwas_property_is_comparable(operand->property)) {
        operand->source = ETWAS_WHERE_OF_PROPERTY;
        parser->where->wants_duration |= operand->property == ETWAS_PROPERTY_DURATION;
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
    if (parser->scan.word != ETWAS_WORD_NUMBER ||
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

/* `expected` says what is wrong if there is none. */
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
    } else if (scan->word == ETWAS_WORD_STRING) {
        operand->text = scan->text;
        operand->bytes = scan->bytes;
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

/* ---- what a string means beside a property --------------------------------------------------- */

static bool is_property(const struct etwas_where_operand *operand, enum etwas_property property)
{
    return operand->source == ETWAS_WHERE_OF_PROPERTY && operand->property == property;
}

/* A time is compared with a date, or with the nanoseconds since the session's start. */
static bool settle_time(struct parser *parser, struct etwas_where_operand *time,
                        struct etwas_where_operand *other)
{
    int64_t unix_ns;

    if (!is_property(time, ETWAS_PROPERTY_TIME) || other->text == NULL) {
        return true;
    }
    if (!etwas_where_date(other->text, &unix_ns)) {
        etwas_where_fail(&parser->scan, other->at, other->length,
                         "not a time: 2026-11-21, \"2026-11-21T08:19\" or "
                         "\"2026-11-21T08:19:17.123456789Z\"; 1.5s is since the session's start");
        return false;
    }
    time->absolute = true;
    other->text = NULL;
    other->number = (struct etwas_where_number){.kind = ETWAS_WHERE_SIGNED, .i = unix_ns};
    return true;
}

/* {0AD614C4-…} is how others write 0ad614c4-…. */
static void settle_guid(struct parser *parser, struct etwas_where_operand *other)
{
    char *text = parser->where->text + (other->text - parser->where->text);

    if (other->bytes != 38 || text[0] != '{' || text[37] != '}') {
        return;
    }
    text[37] = '\0';
    for (size_t i = 1; i < 37; i++) {
        text[i] = (char)tolower((unsigned char)text[i]);
    }
    other->text = text + 1;
    other->bytes = 36;
}

static bool settle(struct parser *parser, struct etwas_where_node *node)
{
    struct etwas_where_operand *operands = node->operands;

    for (unsigned i = 0; i < 2; i++) {
        if (operands[i].text != NULL) {
            settle_guid(parser, &operands[i]);
        }
    }
    return settle_time(parser, &operands[0], &operands[1]) &&
           settle_time(parser, &operands[1], &operands[0]);
}

static bool compile(struct parser *parser, struct etwas_where_node *node)
{
    const struct etwas_where_operand *operand = &node->operands[1];

    if (operand->text == NULL) {
        etwas_where_fail(&parser->scan, operand->at, operand->length,
                         node->relation == ETWAS_WHERE_MATCHES
                             ? "=~ takes a regular expression as a string"
                             : "contains takes a string");
        return false;
    }
    if (node->relation == ETWAS_WHERE_MATCHES &&
        regcomp(&node->pattern, operand->text, REG_EXTENDED | REG_NOSUB) != 0) {
        node->relation = ETWAS_WHERE_CONTAINS; /* there is no pattern to free */
        etwas_where_fail(&parser->scan, operand->at, operand->length,
                         "not an extended regular expression");
        return false;
    }
    return true;
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
    /* Until it has a pattern that can be freed. */
    node->relation = ETWAS_WHERE_CONTAINS;
    {
        enum etwas_where_relation relation = parser->scan.relation;

        etwas_where_next(&parser->scan);
        if (!parse_operand(parser, &node->operands[1],
                           "expected a name, a number or a string to compare with")) {
            return NO_NODE;
        }
        node->relation = relation;
    }
    if (node->relation == ETWAS_WHERE_MATCHES || node->relation == ETWAS_WHERE_CONTAINS) {
        return compile(parser, node) ? number : NO_NODE;
    }
    return settle(parser, node) ? number : NO_NODE;
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

static uint32_t parse_all(struct parser *parser)
{
    uint32_t left = parse_one(parser);

    while (left != NO_NODE && is_relation(parser, ETWAS_WHERE_AND)) {
        uint32_t right;

        etwas_where_next(&parser->scan);
        right = parse_one(parser);
        left = right != NO_NODE ? new_node(parser, ETWAS_WHERE_AND, left, right) : NO_NODE;
    }
    return left;
}

static uint32_t parse_any(struct parser *parser)
{
    uint32_t left = parse_all(parser);

    while (left != NO_NODE && is_relation(parser, ETWAS_WHERE_OR)) {
        uint32_t right;

        etwas_where_next(&parser->scan);
        right = parse_all(parser);
        left = right != NO_NODE ? new_node(parser, ETWAS_WHERE_OR, left, right) : NO_NODE;
    }
    return left;
}

bool etwas_where_parse(struct etwas_where *where, const char *text, struct etwas_field_paths *paths)
{
    struct parser parser = {
        .scan = {.where = where, .expression = text}, .where = where, .paths = paths};

    memset(where, 0, sizeof *where);
    etwas_where_next(&parser.scan);
    where->root = parse_any(&parser);
    if (where->root != NO_NODE && parser.scan.word != ETWAS_WORD_END) {
        fail(&parser, "expected && or ||, or the end");
    }
    return where->error == NULL;
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
