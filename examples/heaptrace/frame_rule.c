/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads call frame information: the sorted index (.eh_frame_hdr), the entry that covers an address,
 * and the instructions of that entry up to the address.
 */

#include "frame_rule.h"

#include <string.h>

enum {
    REGISTER_BP = 6,
    REGISTER_SP = 7,
    REGISTER_IP = 16,
    REMEMBERED = 8, /* most states that an entry keeps at a time */
};

/* DW_EH_PE_*: how a pointer is written. */
enum {
    FORMAT_MASK = 0x0f,
    FORMAT_ABSOLUTE = 0x00,
    FORMAT_UDATA4 = 0x03,
    FORMAT_UDATA8 = 0x04,
    FORMAT_SDATA4 = 0x0b,
    FORMAT_SDATA8 = 0x0c,
    RELATIVE_TO_PLACE = 0x10,
    RELATIVE_MASK = 0x70,
    SORTED_INDEX = 0x3b, /* 4 bytes, relative to the index: the one form that linkers write */
};

/* ---- reading ---- */

/* The bytes still to be read. Reading past the end sets `failed` and returns zeros. */
struct bytes {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
};

static uint64_t fixed(struct bytes *bytes, size_t count)
{
    uint64_t value = 0;

    if ((size_t)(bytes->end - bytes->at) < count) {
        bytes->failed = true;
        bytes->at = bytes->end;
        return 0;
    }
    memcpy(&value, bytes->at, count);
    bytes->at += count;
    return value;
}

static uint64_t leb128(struct bytes *bytes, bool is_signed)
{
    uint64_t value = 0;
    uint64_t byte = 0x80;
    unsigned int shift = 0;

    while ((byte & 0x80) != 0 && !bytes->failed) {
        byte = fixed(bytes, 1);
        if (shift < 64) {
            value |= (byte & 0x7f) << shift;
            shift += 7;
        }
    }
    if (is_signed && (byte & 0x40) != 0 && shift < 64) {
        value |= UINT64_MAX << shift;
    }
    return value;
}

static uint64_t unsigned_leb128(struct bytes *bytes)
{
    return leb128(bytes, false);
}

static int64_t signed_leb128(struct bytes *bytes)
{
    return (int64_t)leb128(bytes, true);
}

static uint64_t pointer(struct bytes *bytes, uint8_t form)
{
    uint64_t place = (uint64_t)(uintptr_t)bytes->at;
    uint64_t value = 0;

    switch (form & FORMAT_MASK) {
    case FORMAT_ABSOLUTE:
    case FORMAT_UDATA8:
    case FORMAT_SDATA8:
        value = fixed(bytes, 8);
        break;
    case FORMAT_UDATA4:
        value = fixed(bytes, 4);
        break;
    case FORMAT_SDATA4:
        value = (uint64_t)(int64_t)(int32_t)fixed(bytes, 4);
        break;
    default:
        bytes->failed = true;
    }
    if ((form & RELATIVE_MASK) == RELATIVE_TO_PLACE) {
        value += place;
    } else if ((form & RELATIVE_MASK) != 0) {
        bytes->failed = true;
    }
    return value;
}

static struct bytes block(struct bytes *bytes, uint64_t count)
{
    struct bytes inside = {bytes->at, bytes->at, false};

    if (count > (uint64_t)(bytes->end - bytes->at)) {
        bytes->failed = true;
        return inside;
    }
    bytes->at += count;
    inside.end = bytes->at;
    return inside;
}

static struct heaptrace_expression expression(struct bytes *bytes)
{
    struct bytes inside = block(bytes, unsigned_leb128(bytes));

    return (struct heaptrace_expression){inside.at, inside.end};
}

/* ---- entries ---- */

/* What several functions have in common (CIE), and the part of one function (FDE). */
struct entry {
    uint64_t code_factor;
    int64_t data_factor;
    bool is_signal;
    struct bytes common_instructions;
    uint64_t first;
    uint64_t length;
    struct bytes instructions;
};

static bool read_common(const struct heaptrace_mapping *mapping, const uint8_t *start,
                        struct entry *entry, uint8_t *pointer_form, bool *has_augmentation)
{
    struct bytes bytes = {start, mapping->end, false};
    const char *augmentation;
    uint64_t version;

    bytes = block(&bytes, fixed(&bytes, 4));
    if (fixed(&bytes, 4) != 0 || bytes.failed) {
        return false;
    }
    version = fixed(&bytes, 1);
    augmentation = (const char *)bytes.at;
    while (fixed(&bytes, 1) != 0 && !bytes.failed) {
    }
    if (bytes.failed || (version != 1 && version != 3)) {
        return false;
    }
    entry->code_factor = unsigned_leb128(&bytes);
    entry->data_factor = signed_leb128(&bytes);
    if ((version == 1 ? fixed(&bytes, 1) : unsigned_leb128(&bytes)) != REGISTER_IP) {
        return false;
    }
    *pointer_form = FORMAT_ABSOLUTE;
    *has_augmentation = *augmentation == 'z';
    if (*has_augmentation) {
        struct bytes data = block(&bytes, unsigned_leb128(&bytes));

        for (augmentation++; *augmentation != '\0'; augmentation++) {
            if (*augmentation == 'R') {
                *pointer_form = (uint8_t)fixed(&data, 1);
            } else if (*augmentation == 'P') {
                (void)pointer(&data, (uint8_t)fixed(&data, 1) & FORMAT_MASK);
            } else if (*augmentation == 'L') {
                (void)fixed(&data, 1);
            } else if (*augmentation == 'S') {
                entry->is_signal = true;
            } else {
                return false;
            }
        }
        bytes.failed |= data.failed;
    } else if (*augmentation != '\0') {
        return false;
    }
    entry->common_instructions = bytes;
    return !bytes.failed;
}

static bool read_entry(const struct heaptrace_mapping *mapping, const uint8_t *start,
                       struct entry *entry)
{
    struct bytes bytes = {start, mapping->end, false};
    const uint8_t *place;
    uint64_t distance;
    uint8_t pointer_form = 0;
    bool has_augmentation = false;

    *entry = (struct entry){.is_signal = false};
    bytes = block(&bytes, fixed(&bytes, 4));
    place = bytes.at;
    distance = fixed(&bytes, 4);
    if (bytes.failed || distance == 0 || distance > (uint64_t)(place - mapping->start) ||
        !read_common(mapping, place - distance, entry, &pointer_form, &has_augmentation)) {
        return false;
    }
    entry->first = pointer(&bytes, pointer_form);
    entry->length = pointer(&bytes, pointer_form & FORMAT_MASK);
    if (has_augmentation) {
        (void)block(&bytes, unsigned_leb128(&bytes));
    }
    entry->instructions = bytes;
    return !bytes.failed;
}

static int32_t index_number(const uint8_t *table, uint64_t number)
{
    int32_t value;

    memcpy(&value, table + 4 * number, sizeof value);
    return value;
}

/* Returns the entry of the last function that begins at or before the address. */
static const uint8_t *find_entry(const struct heaptrace_mapping *mapping, uint64_t address)
{
    struct bytes bytes = {mapping->index, mapping->end, false};
    int64_t wanted = (int64_t)(address - (uint64_t)(uintptr_t)mapping->index);
    uint64_t low = 0;
    uint64_t high;
    uint64_t offset;
    uint8_t forms[4];

    for (int i = 0; i < 4; i++) {
        forms[i] = (uint8_t)fixed(&bytes, 1);
    }
    (void)pointer(&bytes, forms[1]);
    high = fixed(&bytes, 4);
    if (bytes.failed || forms[0] != 1 || forms[2] != FORMAT_UDATA4 || forms[3] != SORTED_INDEX ||
        high > (uint64_t)(bytes.end - bytes.at) / 8 || high == 0 ||
        index_number(bytes.at, 0) > wanted) {
        return NULL;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (index_number(bytes.at, 2 * middle) <= wanted) {
            low = middle;
        } else {
            high = middle;
        }
    }
    offset = (uint64_t)(int64_t)index_number(bytes.at, 2 * low + 1) +
             (uint64_t)(mapping->index - mapping->start);
    return offset < (uint64_t)(mapping->end - mapping->start) ? mapping->start + offset : NULL;
}

/* ---- instructions ---- */

struct state {
    struct heaptrace_frame_rule rule;
    uint64_t cfa_register;
};

struct run {
    const struct entry *entry;
    uint64_t address; /* wanted */
    uint64_t location;
    struct state state;
    struct state initial; /* after the common instructions */
    struct state remembered[REMEMBERED];
    unsigned int remembered_count;
};

static struct heaptrace_register_rule *rule_of(struct state *state, uint64_t number)
{
    return number == REGISTER_BP ? &state->rule.bp : number == REGISTER_IP ? &state->rule.ip : NULL;
}

static void set_rule(struct run *run, uint64_t number, struct heaptrace_register_rule rule)
{
    struct heaptrace_register_rule *place = rule_of(&run->state, number);

    if (place != NULL) {
        *place = rule;
    }
}

static void set_saved(struct run *run, uint64_t number, int64_t factored)
{
    set_rule(run, number,
             (struct heaptrace_register_rule){
                 .kind = HEAPTRACE_RULE_SAVED,
                 .offset = (int64_t)((uint64_t)factored * (uint64_t)run->entry->data_factor)});
}

static void restore(struct run *run, uint64_t number)
{
    const struct heaptrace_register_rule *initial = rule_of(&run->initial, number);

    if (initial != NULL) {
        set_rule(run, number, *initial);
    }
}

static void set_cfa(struct run *run, uint64_t number, int64_t offset)
{
    run->state.cfa_register = number;
    run->state.rule.cfa_offset = offset;
    run->state.rule.cfa_by_expression = false;
}

static void set_kind(struct run *run, uint64_t number, enum heaptrace_rule_kind kind)
{
    set_rule(run, number, (struct heaptrace_register_rule){.kind = kind});
}

static void set_expression(struct run *run, struct bytes *bytes, enum heaptrace_rule_kind kind)
{
    uint64_t number = unsigned_leb128(bytes);

    set_rule(run, number,
             (struct heaptrace_register_rule){.kind = kind, .expression = expression(bytes)});
}

/* Executes an opcode of DWARF 5, 6.4.2. Returns false if it is not known. */
static bool run_extended(struct run *run, struct bytes *bytes, uint8_t opcode)
{
    struct state *state = &run->state;
    uint64_t number;

    switch (opcode) {
    case 0x00: /* nop */
        return true;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        run->location += fixed(bytes, (size_t)1 << (opcode - 2)) * run->entry->code_factor;
        return true;
    case 0x05: /* offset_extended */
        number = unsigned_leb128(bytes);
        set_saved(run, number, (int64_t)unsigned_leb128(bytes));
        return true;
    case 0x06: /* restore_extended */
        restore(run, unsigned_leb128(bytes));
        return true;
    case 0x07: /* undefined */
        set_kind(run, unsigned_leb128(bytes), HEAPTRACE_RULE_UNDEFINED);
        return true;
    case 0x08: /* same_value */
        set_kind(run, unsigned_leb128(bytes), HEAPTRACE_RULE_SAME);
        return true;
    case 0x09: /* register: ours are never kept in another */
        set_kind(run, unsigned_leb128(bytes), HEAPTRACE_RULE_UNDEFINED);
        (void)unsigned_leb128(bytes);
        return true;
    case 0x0a: /* remember_state */
        if (run->remembered_count == REMEMBERED) {
            return false;
        }
        run->remembered[run->remembered_count++] = *state;
        return true;
    case 0x0b: /* restore_state */
        if (run->remembered_count == 0) {
            return false;
        }
        *state = run->remembered[--run->remembered_count];
        return true;
    case 0x0c: /* def_cfa */
        number = unsigned_leb128(bytes);
        set_cfa(run, number, (int64_t)unsigned_leb128(bytes));
        return true;
    case 0x0d: /* def_cfa_register */
        set_cfa(run, unsigned_leb128(bytes), state->rule.cfa_offset);
        return true;
    case 0x0e: /* def_cfa_offset */
        state->rule.cfa_offset = (int64_t)unsigned_leb128(bytes);
        return true;
    case 0x0f: /* def_cfa_expression */
        state->rule.cfa_by_expression = true;
        state->rule.cfa_expression = expression(bytes);
        return true;
    case 0x10: /* expression */
        set_expression(run, bytes, HEAPTRACE_RULE_SAVED_BY);
        return true;
    case 0x11: /* offset_extended_sf */
        number = unsigned_leb128(bytes);
        set_saved(run, number, signed_leb128(bytes));
        return true;
    case 0x16: /* val_expression */
        set_expression(run, bytes, HEAPTRACE_RULE_VALUE_BY);
        return true;
    case 0x2e: /* GNU_args_size */
        (void)unsigned_leb128(bytes);
        return true;
    default:
        return false;
    }
}

/* Executes the instructions up to the wanted address. */
static bool run_instructions(struct run *run, struct bytes bytes)
{
    while (bytes.at < bytes.end && !bytes.failed && run->location <= run->address) {
        uint8_t opcode = (uint8_t)fixed(&bytes, 1);
        uint8_t low = opcode & 0x3f;

        switch (opcode >> 6) {
        case 1: /* advance_loc */
            run->location += low * run->entry->code_factor;
            break;
        case 2: /* offset */
            set_saved(run, low, (int64_t)unsigned_leb128(&bytes));
            break;
        case 3: /* restore */
            restore(run, low);
            break;
        default:
            if (!run_extended(run, &bytes, opcode)) {
                return false;
            }
        }
    }
    return !bytes.failed;
}

bool heaptrace_frame_rule(const struct heaptrace_mapping *mapping, uint64_t address,
                          struct heaptrace_frame_rule *rule)
{
    const uint8_t *place = mapping->index != NULL ? find_entry(mapping, address) : NULL;
    struct entry entry;
    struct run run;

    if (place == NULL || !read_entry(mapping, place, &entry) ||
        address - entry.first >= entry.length) {
        return false;
    }
    run.entry = &entry;
    run.address = address;
    run.location = entry.first;
    run.state = (struct state){.rule.is_signal = entry.is_signal};
    run.initial = run.state;
    run.remembered_count = 0;
    if (!run_instructions(&run, entry.common_instructions)) {
        return false;
    }
    run.initial = run.state;
    if (!run_instructions(&run, entry.instructions)) {
        return false;
    }
    *rule = run.state.rule;
    rule->cfa_from_bp = run.state.cfa_register == REGISTER_BP;
    return rule->cfa_by_expression || rule->cfa_from_bp || run.state.cfa_register == REGISTER_SP;
}

/* ---- expressions ---- */

enum {
    OPERANDS = 16
};

struct machine {
    uint64_t operands[OPERANDS];
    unsigned int count;
    uint64_t bp;
    uint64_t sp;
    heaptrace_read *read;
    void *context;
};

static bool push(struct machine *machine, uint64_t value)
{
    if (machine->count == OPERANDS) {
        return false;
    }
    machine->operands[machine->count++] = value;
    return true;
}

/* Executes an operation of two operands. Linkers and compilers use plus, minus, and, shl and ge. */
static bool combine(struct machine *machine, uint8_t operation)
{
    uint64_t right;
    uint64_t *left;

    if (machine->count < 2) {
        return false;
    }
    right = machine->operands[--machine->count];
    left = &machine->operands[machine->count - 1];
    switch (operation) {
    case 0x1a:
        *left &= right;
        return true;
    case 0x1c:
        *left -= right;
        return true;
    case 0x22:
        *left += right;
        return true;
    case 0x24:
        *left = right < 64 ? *left << right : 0;
        return true;
    case 0x2a:
        *left = (int64_t)*left >= (int64_t)right;
        return true;
    default:
        return false;
    }
}

static bool operate(struct machine *machine, struct bytes *bytes, uint8_t operation)
{
    uint64_t *top = machine->count > 0 ? &machine->operands[machine->count - 1] : NULL;

    if (operation >= 0x30 && operation <= 0x4f) { /* lit0 to lit31 */
        return push(machine, operation - 0x30u);
    }
    switch (operation) {
    case 0x06: /* deref */
        return top != NULL && machine->read(machine->context, *top, top);
    case 0x08: /* const1u */
        return push(machine, fixed(bytes, 1));
    case 0x09: /* const1s */
        return push(machine, (uint64_t)(int64_t)(int8_t)fixed(bytes, 1));
    case 0x0a: /* const2u */
        return push(machine, fixed(bytes, 2));
    case 0x0b: /* const2s */
        return push(machine, (uint64_t)(int64_t)(int16_t)fixed(bytes, 2));
    case 0x23: /* plus_uconst */
        if (top == NULL) {
            return false;
        }
        *top += unsigned_leb128(bytes);
        return true;
    case 0x76: /* breg6 */
        return push(machine, machine->bp + (uint64_t)signed_leb128(bytes));
    case 0x77: /* breg7 */
        return push(machine, machine->sp + (uint64_t)signed_leb128(bytes));
    default:
        return combine(machine, operation);
    }
}

bool heaptrace_expression_value(const struct heaptrace_expression *expression, uint64_t initial,
                                uint64_t bp, uint64_t sp, heaptrace_read *read, void *context,
                                uint64_t *value)
{
    struct bytes bytes = {expression->start, expression->end, false};
    struct machine machine = {{initial}, 1, bp, sp, read, context};

    while (bytes.at < bytes.end) {
        if (!operate(&machine, &bytes, (uint8_t)fixed(&bytes, 1)) || bytes.failed) {
            return false;
        }
    }
    *value = machine.operands[machine.count - 1];
    return true;
}
