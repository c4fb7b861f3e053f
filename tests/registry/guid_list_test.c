/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Lists of providers as bytes: what is put is got, and what is wrong is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "registry/fixture.h"
#include "registry/guid_list.h"

enum {
    VERSION_AT = 4, /* of its head, as the next two */
    HEAD_BYTES_AT = 6,
    TOTAL_BYTES_AT = 8,
    EARLIER_HEAD_BYTES = 32,
    LATER_BYTES = 8,
};

static void a_list_of_providers_is_got_as_it_was_put(void **state)
{
    char longest[ETWAS_REGISTRY_PROVIDER_NAME_BYTES + 2] = "";
    struct etwas_registry_guid guids[] = {
        {.guid = guid_of(1), .name = "Företag-Лог"},
        {.guid = guid_of(2), .is_group = true},
        {.guid = guid_of(3), .is_classic = true, .name = longest},
        {.guid = guid_of(4), .group = 2},
        {.guid = guid_of(5), .group = 3}, /* which is no group */
        {.guid = guid_of(6), .group = 7}, /* of six */
    };
    etwas_guid unattached[] = {guid_of(7), guid_of(8)};
    struct etwas_registry_guid_list put = {.process_id = 5,
                                           .process_start = 55,
                                           .count = 6,
                                           .guids = guids,
                                           .unattached_count = 2,
                                           .unattached = unattached};
    struct etwas_registry_guid_list *got;
    void *bytes;
    size_t size;

    (void)state;
    memset(longest, 'n', ETWAS_REGISTRY_PROVIDER_NAME_BYTES);
    assert_int_equal(etwas_registry_encode_guids(&put, &bytes, &size), ERROR_SUCCESS);
    for (size_t cut = 0; cut < size; cut++) {
        void *copy = malloc(cut);

        memcpy(copy, bytes, cut);
        assert_int_equal(etwas_registry_decode_guids(copy, cut, &got), ERROR_INVALID_DATA);
        free(copy);
    }
    assert_int_equal(etwas_registry_decode_guids(bytes, size, &got), ERROR_SUCCESS);
    memset(bytes, 0xFF, size);
    free(bytes);
    assert_int_equal(got->process_id, 5);
    assert_true(got->process_start == 55);
    assert_int_equal(got->count, 6);
    for (uint32_t index = 0; index < put.count; index++) {
        assert_memory_equal(&got->guids[index].guid, &guids[index].guid, sizeof(etwas_guid));
        assert_int_equal(got->guids[index].is_group, guids[index].is_group);
        assert_int_equal(got->guids[index].is_classic, guids[index].is_classic);
        assert_int_equal(got->guids[index].group, index == 3 ? 2 : 0);
        assert_string_equal(got->guids[index].name,
                            guids[index].name != NULL ? guids[index].name : "");
    }
    assert_int_equal(got->unattached_count, 2);
    assert_memory_equal(got->unattached, unattached, sizeof unattached);
    free(got);
    put.unattached_count = ETWAS_REGISTRY_UNATTACHED + 1;
    assert_int_equal(etwas_registry_encode_guids(&put, &bytes, &size), ERROR_INVALID_PARAMETER);
    put.unattached_count = 0;
    longest[ETWAS_REGISTRY_PROVIDER_NAME_BYTES] = 'n';
    assert_int_equal(etwas_registry_encode_guids(&put, &bytes, &size), ERROR_INVALID_PARAMETER);
    guids[2].name = "\xC3";
    assert_int_equal(etwas_registry_encode_guids(&put, &bytes, &size), ERROR_INVALID_PARAMETER);
}

static void a_list_of_too_many_providers_is_refused(void **state)
{
    enum {
        MANY = 100000
    };
    struct etwas_registry_guid *guids = calloc(MANY, sizeof *guids);
    struct etwas_registry_guid_list put = {.count = MANY, .guids = guids};
    void *bytes;
    size_t size;

    (void)state;
    assert_int_equal(etwas_registry_encode_guids(&put, &bytes, &size), ERROR_BUFFER_OVERFLOW);
    put.count = MANY / 4;
    assert_int_equal(etwas_registry_encode_guids(&put, &bytes, &size), ERROR_SUCCESS);
    free(bytes);
    free(guids);
}

/* ---- of other builds ------------------------------------------------------------------------- */

static void another_version_is_told_from_damage(void **state)
{
    static struct etwas_registry_guid_list none;
    struct etwas_registry_guid_list *list;
    uint8_t *bytes;
    void *put;
    size_t size;

    (void)state;
    assert_int_equal(etwas_registry_encode_guids(&none, &put, &size), ERROR_SUCCESS);
    bytes = put;
    bytes[VERSION_AT]++;
    assert_int_equal(etwas_registry_decode_guids(bytes, size, &list), ERROR_NOT_SUPPORTED);
    bytes[0]++;
    assert_int_equal(etwas_registry_decode_guids(bytes, size, &list), ERROR_INVALID_DATA);
    free(put);
}

/* A list with another head: `kept` bytes of the present one, `more` bytes, then the sessions. */
static uint32_t decode_with_head(const uint8_t *put, size_t size, size_t kept, size_t more,
                                 size_t session_bytes, struct etwas_registry_guid_list **list)
{
    const uint16_t head_bytes = (uint16_t)(kept + more + session_bytes);
    uint8_t *bytes = calloc(1, size + more);
    uint16_t whole;
    uint32_t total;
    uint32_t code;

    memcpy(&whole, put + HEAD_BYTES_AT, sizeof whole);
    total = (uint32_t)(size - whole + head_bytes);
    memcpy(bytes, put, kept);
    memset(bytes + kept, 0xEE, more);
    memcpy(bytes + kept + more, put + whole - session_bytes, session_bytes);
    memcpy(bytes + head_bytes, put + whole, size - whole);
    memcpy(bytes + HEAD_BYTES_AT, &head_bytes, sizeof head_bytes);
    memcpy(bytes + TOTAL_BYTES_AT, &total, sizeof total);
    code = etwas_registry_decode_guids(bytes, total, list);
    free(bytes);
    return code;
}

/* Earlier builds list no sessions; later ones have more fields before them. */
static void lists_of_earlier_and_later_builds_are_read(void **state)
{
    struct etwas_registry_guid guid = {.guid = guid_of(1), .name = "one"};
    etwas_guid session = guid_of(7);
    struct etwas_registry_guid_list list = {
        .process_id = 5, .count = 1, .guids = &guid, .unattached_count = 1, .unattached = &session};
    struct etwas_registry_guid_list *got;
    uint16_t head_bytes;
    void *put;
    size_t size;

    (void)state;
    assert_int_equal(etwas_registry_encode_guids(&list, &put, &size), ERROR_SUCCESS);
    memcpy(&head_bytes, (uint8_t *)put + HEAD_BYTES_AT, sizeof head_bytes);
    assert_int_equal(decode_with_head(put, size, EARLIER_HEAD_BYTES, 0, 0, &got), ERROR_SUCCESS);
    assert_string_equal(got->guids[0].name, "one");
    assert_int_equal(got->unattached_count, 0);
    free(got);
    assert_int_equal(
        decode_with_head(put, size, head_bytes - sizeof session, LATER_BYTES, sizeof session, &got),
        ERROR_SUCCESS);
    assert_string_equal(got->guids[0].name, "one");
    assert_int_equal(got->unattached_count, 1);
    assert_memory_equal(got->unattached, &session, sizeof session);
    free(got);
    free(put);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_providers_is_got_as_it_was_put),
        cmocka_unit_test(a_list_of_too_many_providers_is_refused),
        cmocka_unit_test(another_version_is_told_from_damage),
        cmocka_unit_test(lists_of_earlier_and_later_builds_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
