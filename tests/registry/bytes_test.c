/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Entries and enablements as bytes: what is put is got, and what is wrong is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "registry/fixture.h"
#include "registry/session_entry.h"

enum {
    ENABLEMENTS = 5,
    FILTER_BYTES = 5000,
    VERSION_AT = 4, /* of an entry's head, as the next three */
    HEAD_BYTES_AT = 6,
    TOTAL_BYTES_AT = 8,
    GATE_AT = 80,
    GATE_BYTES = 16, /* with what came after it */
};

/* ---- an entry -------------------------------------------------------------------------------- */

static struct etwas_registry_enablement enablements[ENABLEMENTS];
static uint8_t filter_data[ETWAS_REGISTRY_FILTERS][FILTER_BYTES];

/*
 * Returns an entry in which every field has another value, with filters of every length up to
 * thousands of bytes.
 */
static struct etwas_registry_entry *make_entry(void)
{
    struct etwas_registry_entry *entry = entry_of(u"an entry", 3);

    for (uint32_t filter = 0; filter < ETWAS_REGISTRY_FILTERS; filter++) {
        memset(filter_data[filter], (int)filter + 1, FILTER_BYTES);
    }
    for (uint32_t index = 0; index < ENABLEMENTS; index++) {
        enablements[index] = (struct etwas_registry_enablement){
            .provider = guid_of(100 + index),
            .source = guid_of(200 + index),
            .match_any = UINT64_MAX - index,
            .match_all = index,
            .number = 10 + index,
            .captured = 20 + index,
            .asked_ns = UINT64_MAX / 2 - index,
            .property = 0x80000000 + index,
            .level = (uint8_t)(255 - index),
            .is_group = index % 2 != 0,
            .filter_count = index * ETWAS_REGISTRY_FILTERS / (ENABLEMENTS - 1),
        };
        for (uint32_t filter = 0; filter < enablements[index].filter_count; filter++) {
            enablements[index].filters[filter] = (struct etwas_registry_filter){
                .type = 0x80000000 + filter,
                .bytes = filter * (FILTER_BYTES / ETWAS_REGISTRY_FILTERS) + filter % 9,
                .data = filter_data[filter]};
        }
    }
    entry->socket = 0x1122334455667788;
    entry->number = 77;
    entry->process_id = 42;
    entry->process_start = 4242;
    entry->kind = 9; /* of a later build */
    entry->log_file_mode = 0x100;
    entry->clock = 3;
    entry->gate = 0x99887766;
    entry->enablements = enablements;
    entry->enablement_count = ENABLEMENTS;
    return entry;
}

static void expect_same_enablement(const struct etwas_registry_enablement *got,
                                   const struct etwas_registry_enablement *put)
{
    assert_memory_equal(&got->provider, &put->provider, sizeof got->provider);
    assert_memory_equal(&got->source, &put->source, sizeof got->source);
    assert_true(got->match_any == put->match_any && got->match_all == put->match_all);
    assert_true(got->number == put->number && got->captured == put->captured);
    assert_true(got->asked_ns == put->asked_ns);
    assert_int_equal(got->property, put->property);
    assert_int_equal(got->level, put->level);
    assert_int_equal(got->is_group, put->is_group);
    assert_int_equal(got->filter_count, put->filter_count);
    for (uint32_t index = 0; index < put->filter_count; index++) {
        assert_int_equal(got->filters[index].type, put->filters[index].type);
        assert_int_equal(got->filters[index].bytes, put->filters[index].bytes);
        assert_memory_equal(got->filters[index].data, put->filters[index].data,
                            put->filters[index].bytes);
        assert_int_equal((uintptr_t)got->filters[index].data % 8, 0);
    }
}

static void an_entry_with_all_its_filters_is_got_as_it_was_put(void **state)
{
    const struct etwas_registry_entry *put = make_entry();
    struct etwas_registry_entry *got;
    void *bytes;
    size_t size;

    (void)state;
    assert_int_equal(etwas_registry_encode_entry(put, &bytes, &size), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_decode_entry(bytes, size, &got), ERROR_SUCCESS);
    memset(bytes, 0xFF, size); /* nothing of it is needed any more */
    free(bytes);
    assert_memory_equal(&got->session, &put->session, sizeof put->session);
    assert_memory_equal(got->name, u"an entry", sizeof u"an entry");
    assert_true(got->number == 77 && got->socket == 0x1122334455667788);
    assert_true(got->process_id == 42 && got->process_start == 4242);
    assert_int_equal(got->state, ETWAS_REGISTRY_OPEN);
    assert_int_equal(got->kind, 9);
    assert_int_equal(got->log_file_mode, 0x100);
    assert_int_equal(got->clock, 3);
    assert_int_equal(got->gate, 0x99887766);
    assert_int_equal(got->enablement_count, ENABLEMENTS);
    for (uint32_t index = 0; index < ENABLEMENTS; index++) {
        expect_same_enablement(&got->enablements[index], &enablements[index]);
    }
    free(got);
}

/* The enablement comes from a build that does not write when it was requested. */
static void an_enablement_without_a_moment_is_got(void **state)
{
    struct etwas_registry_enablement expected;
    struct etwas_registry_enablement got;
    uint32_t shorter;
    size_t used;

    (void)state;
    (void)make_entry();
    for (uint32_t index = 0; index < ENABLEMENTS; index++) {
        static _Alignas(uint64_t) uint8_t bytes[1 << 18];
        size_t size;

        assert_int_equal(
            etwas_registry_encode_enablement(&enablements[index], bytes, sizeof bytes, &size),
            ERROR_SUCCESS);
        shorter = (uint32_t)(size - sizeof got.asked_ns);
        memcpy(bytes, &shorter, sizeof shorter);
        assert_int_equal(etwas_registry_decode_enablement(bytes, shorter, &got, &used),
                         ERROR_SUCCESS);
        assert_int_equal(used, shorter);
        expected = enablements[index];
        expected.asked_ns = 0;
        expect_same_enablement(&got, &expected);
    }
}

/* The entry comes from a build with a head that ends before the gate. The rest is where it was. */
static void an_entry_without_a_gate_is_got(void **state)
{
    struct etwas_registry_entry *got;
    uint16_t head_bytes = GATE_AT;
    uint32_t total;
    uint8_t *bytes;
    void *put;
    size_t size;

    (void)state;
    assert_int_equal(etwas_registry_encode_entry(make_entry(), &put, &size), ERROR_SUCCESS);
    bytes = put;
    total = (uint32_t)size - GATE_BYTES;
    memmove(bytes + GATE_AT, bytes + GATE_AT + GATE_BYTES, size - GATE_AT - GATE_BYTES);
    memcpy(bytes + HEAD_BYTES_AT, &head_bytes, sizeof head_bytes);
    memcpy(bytes + TOTAL_BYTES_AT, &total, sizeof total);
    assert_int_equal(etwas_registry_decode_entry(bytes, total, &got), ERROR_SUCCESS);
    free(put);
    assert_memory_equal(got->name, u"an entry", sizeof u"an entry");
    assert_int_equal(got->clock, 3);
    assert_int_equal(got->gate, 0);
    for (uint32_t index = 0; index < ENABLEMENTS; index++) {
        expect_same_enablement(&got->enablements[index], &enablements[index]);
    }
    free(got);
}

/* Memory of exactly that size, so that a sanitizer sees a read beyond it. */
static struct etwas_registry_template template;

/* Returns an entry of a private session, in which every field has another value. */
static struct etwas_registry_entry *make_private(void)
{
    struct etwas_registry_entry *entry = make_entry();

    memset(&template, 0x11, sizeof template);
    template.bytes = sizeof template;
    template.process_count = ETWAS_REGISTRY_PROCESSES;
    template.programs[ETWAS_REGISTRY_PROGRAM_UNITS - 1] = 0;
    template.file_name[ETWAS_REGISTRY_NAME_UNITS] = 0;
    template.snapshot_name[ETWAS_REGISTRY_NAME_UNITS] = 0;
    entry->kind = ETWAS_REGISTRY_TEMPLATE;
    entry->private = &template;
    return entry;
}

static void a_template_is_got_as_it_was_put(void **state)
{
    struct etwas_registry_entry *got;
    void *bytes;
    size_t size;

    (void)state;
    assert_int_equal(etwas_registry_encode_entry(make_private(), &bytes, &size), ERROR_SUCCESS);
    assert_int_equal(etwas_registry_decode_entry(bytes, size, &got), ERROR_SUCCESS);
    memset(bytes, 0xFF, size); /* nothing of it is needed any more */
    free(bytes);
    assert_int_equal(got->kind, ETWAS_REGISTRY_TEMPLATE);
    assert_memory_equal(got->private, &template, sizeof template);
    for (uint32_t index = 0; index < ENABLEMENTS; index++) {
        expect_same_enablement(&got->enablements[index], &enablements[index]);
    }
    free(got);
}

static uint32_t get_entry(const void *bytes, size_t size)
{
    void *copy = malloc(size);
    struct etwas_registry_entry *entry;
    uint32_t code;

    memcpy(copy, bytes, size);
    code = etwas_registry_decode_entry(copy, size, &entry);
    free(copy);
    if (code == ERROR_SUCCESS) {
        free(entry);
    }
    return code;
}

static void expect_cuts_refused(struct etwas_registry_entry *entry)
{
    uint8_t *bytes;
    void *put;
    size_t size;

    entry->enablement_count = 2;
    assert_int_equal(etwas_registry_encode_entry(entry, &put, &size), ERROR_SUCCESS);
    bytes = calloc(1, size + 8);
    memcpy(bytes, put, size);
    free(put);
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_equal(get_entry(bytes, cut), ERROR_INVALID_DATA);
    }
    assert_int_equal(get_entry(bytes, size), ERROR_SUCCESS);
    assert_int_equal(get_entry(bytes, size + 8), ERROR_INVALID_DATA);
    /* The same when it says so of itself. */
    for (size_t cut = 0; cut < size + 8; cut++) {
        uint32_t total = (uint32_t)cut;

        memcpy(bytes + TOTAL_BYTES_AT, &total, sizeof total);
        if (cut > TOTAL_BYTES_AT + sizeof total) {
            assert_int_equal(get_entry(bytes, cut),
                             cut == size ? ERROR_SUCCESS : ERROR_INVALID_DATA);
        }
    }
    free(bytes);
}

static void an_entry_that_is_cut_or_longer_than_it_says_is_refused(void **state)
{
    (void)state;
    expect_cuts_refused(make_entry());
    expect_cuts_refused(make_private());
}

static void expect_changes_harmless(const struct etwas_registry_entry *entry)
{
    uint8_t *bytes;
    void *put;
    size_t size;
    uint32_t refused = 0;

    assert_int_equal(etwas_registry_encode_entry(entry, &put, &size), ERROR_SUCCESS);
    bytes = put;
    for (size_t at = 0; at < size; at += at < 1024 ? 1 : 97) {
        static const uint8_t changes[] = {0x01, 0x08, 0x80, 0xFF};

        for (size_t change = 0; change < sizeof changes; change++) {
            bytes[at] ^= changes[change];
            refused += get_entry(bytes, size) != ERROR_SUCCESS;
            bytes[at] ^= changes[change];
        }
    }
    assert_true(refused > 100);
    assert_int_equal(get_entry(bytes, size), ERROR_SUCCESS);
    free(put);
}

/* Some values of a byte are legal, and none does harm. */
static void an_entry_with_any_byte_changed_does_no_harm(void **state)
{
    (void)state;
    expect_changes_harmless(make_entry());
    expect_changes_harmless(make_private());
}

/* Its texts end, and it is as long as it says. */
static void a_template_has_bounds(void **state)
{
    struct etwas_registry_entry *entry;
    void *bytes;
    size_t size;

    (void)state;
    for (uint32_t wrong = 0; wrong < 5; wrong++) {
        entry = make_private();
        template.bytes += wrong == 0;
        template.process_count += wrong == 1;
        template.programs[ETWAS_REGISTRY_PROGRAM_UNITS - 1] = wrong == 2;
        template.file_name[ETWAS_REGISTRY_NAME_UNITS] = wrong == 3;
        template.snapshot_name[ETWAS_REGISTRY_NAME_UNITS] = wrong == 4;
        assert_int_equal(etwas_registry_encode_entry(entry, &bytes, &size), ERROR_SUCCESS);
        assert_int_equal(get_entry(bytes, size), ERROR_INVALID_DATA);
        free(bytes);
    }
    entry = make_private();
    entry->private = NULL;
    assert_int_equal(etwas_registry_encode_entry(entry, &bytes, &size), ERROR_INVALID_PARAMETER);
    entry = make_private();
    entry->kind = ETWAS_REGISTRY_SHARED;
    assert_int_equal(etwas_registry_encode_entry(entry, &bytes, &size), ERROR_INVALID_PARAMETER);
}

static void another_version_is_told_from_damage(void **state)
{
    uint8_t *bytes;
    void *put;
    size_t size;

    (void)state;
    assert_int_equal(etwas_registry_encode_entry(make_entry(), &put, &size), ERROR_SUCCESS);
    bytes = put;
    bytes[VERSION_AT]++;
    assert_int_equal(get_entry(bytes, size), ERROR_NOT_SUPPORTED);
    bytes[0]++;
    assert_int_equal(get_entry(bytes, size), ERROR_INVALID_DATA);
    free(put);
}

/* A build with more fields in the heads: they are stepped over. */
static void what_a_later_build_has_more_is_stepped_over(void **state)
{
    struct etwas_registry_entry *entry = make_entry();
    struct etwas_registry_entry *got;
    uint16_t head_bytes;
    uint32_t total;
    uint8_t *bytes;
    void *put;
    size_t size;

    (void)state;
    assert_int_equal(etwas_registry_encode_entry(entry, &put, &size), ERROR_SUCCESS);
    memcpy(&head_bytes, (uint8_t *)put + HEAD_BYTES_AT, sizeof head_bytes);
    bytes = calloc(1, size + 16);
    memcpy(bytes, put, head_bytes);
    memset(bytes + head_bytes, 0xEE, 16);
    memcpy(bytes + head_bytes + 16, (uint8_t *)put + head_bytes, size - head_bytes);
    free(put);
    head_bytes = (uint16_t)(head_bytes + 16);
    total = (uint32_t)size + 16;
    memcpy(bytes + HEAD_BYTES_AT, &head_bytes, sizeof head_bytes);
    memcpy(bytes + TOTAL_BYTES_AT, &total, sizeof total);
    assert_int_equal(etwas_registry_decode_entry(bytes, total, &got), ERROR_SUCCESS);
    free(bytes);
    assert_memory_equal(got->name, u"an entry", sizeof u"an entry");
    expect_same_enablement(&got->enablements[ENABLEMENTS - 1], &enablements[ENABLEMENTS - 1]);
    free(got);
}

static void an_entry_has_bounds(void **state)
{
    struct etwas_registry_entry *entry = make_entry();
    struct etwas_registry_enablement *many = calloc(100, sizeof *many);
    static uint8_t large[ETWAS_REGISTRY_FILTER_BYTES];
    void *bytes;
    size_t size;

    (void)state;
    entry->state = ETWAS_REGISTRY_CLOSING + 1;
    assert_int_equal(etwas_registry_encode_entry(entry, &bytes, &size), ERROR_INVALID_PARAMETER);
    entry = make_entry();
    entry->name[0] = 0;
    assert_int_equal(etwas_registry_encode_entry(entry, &bytes, &size), ERROR_INVALID_PARAMETER);
    entry = make_entry();
    enablements[0].filter_count = ETWAS_REGISTRY_FILTERS + 1;
    assert_int_equal(etwas_registry_encode_entry(entry, &bytes, &size), ERROR_INVALID_PARAMETER);
    enablements[0].filter_count = 1;
    enablements[0].filters[0] =
        (struct etwas_registry_filter){.bytes = sizeof large + 1, .data = large};
    assert_int_equal(etwas_registry_encode_entry(entry, &bytes, &size), ERROR_INVALID_PARAMETER);
    enablements[0].filters[0].bytes = sizeof large;
    assert_int_equal(etwas_registry_encode_entry(entry, &bytes, &size), ERROR_SUCCESS);
    assert_int_equal(get_entry(bytes, size), ERROR_SUCCESS);
    free(bytes);
    for (uint32_t index = 0; index < 100; index++) {
        many[index] = enablements[0];
    }
    entry->enablements = many;
    entry->enablement_count = 15;
    assert_int_equal(etwas_registry_encode_entry(entry, &bytes, &size), ERROR_SUCCESS);
    assert_true(size <= ETWAS_REGISTRY_ENTRY_BYTES);
    free(bytes);
    entry->enablement_count = 100;
    assert_int_equal(etwas_registry_encode_entry(entry, &bytes, &size), ERROR_BUFFER_OVERFLOW);
    free(many);
}

/* ---- an enablement alone --------------------------------------------------------------------- */

static void an_enablement_says_what_room_it_needs_and_how_much_it_took(void **state)
{
    struct etwas_registry_enablement got;
    struct etwas_registry_enablement *put = &enablements[ENABLEMENTS - 1];
    uint8_t *bytes;
    uint8_t *other;
    size_t needed;
    size_t size;
    size_t used;

    (void)state;
    (void)make_entry();
    assert_int_equal(etwas_registry_encode_enablement(put, NULL, 0, &needed),
                     ERROR_INSUFFICIENT_BUFFER);
    bytes = malloc(needed);
    assert_int_equal(etwas_registry_encode_enablement(put, bytes, needed - 1, &size),
                     ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(size, needed);
    other = malloc(needed);
    memset(other, 0xEE, needed); /* nothing of what was there goes to another process */
    assert_int_equal(etwas_registry_encode_enablement(put, other, needed, &size), ERROR_SUCCESS);
    memset(bytes, 0, needed);
    assert_int_equal(etwas_registry_encode_enablement(put, bytes, needed, &size), ERROR_SUCCESS);
    assert_memory_equal(bytes, other, needed);
    free(other);
    assert_int_equal(etwas_registry_decode_enablement(bytes, size, &got, &used), ERROR_SUCCESS);
    assert_int_equal(used, size);
    expect_same_enablement(&got, put);
    assert_int_equal(etwas_registry_decode_enablement(bytes, size - 1, &got, &used),
                     ERROR_INVALID_DATA);
    put->filter_count = ETWAS_REGISTRY_FILTERS + 1;
    assert_int_equal(etwas_registry_encode_enablement(put, bytes, needed, &size),
                     ERROR_INVALID_PARAMETER);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_with_all_its_filters_is_got_as_it_was_put),
        cmocka_unit_test(an_enablement_without_a_moment_is_got),
        cmocka_unit_test(an_entry_without_a_gate_is_got),
        cmocka_unit_test(a_template_is_got_as_it_was_put),
        cmocka_unit_test(a_template_has_bounds),
        cmocka_unit_test(an_entry_that_is_cut_or_longer_than_it_says_is_refused),
        cmocka_unit_test(an_entry_with_any_byte_changed_does_no_harm),
        cmocka_unit_test(another_version_is_told_from_damage),
        cmocka_unit_test(what_a_later_build_has_more_is_stepped_over),
        cmocka_unit_test(an_entry_has_bounds),
        cmocka_unit_test(an_enablement_says_what_room_it_needs_and_how_much_it_took),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
