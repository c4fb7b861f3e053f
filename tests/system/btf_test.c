/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel's description of its functions: made up, cut anywhere, and that of this kernel.
 */
#include "system/stream/probe.h"

#include <linux/btf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "system/groups/length_probe.h"

enum {
    TYPES = 5,
    OF_INT = 16,    /* bytes */
    OF_STRUCT = 36, /* with two members */
    OF_PROTO = 20,  /* with one */
    OF_FUNCTION = 12,
};

static const char strings[] = "\0int\0one\0another\0one_more";

struct made_up {
    struct btf_header header;
    uint8_t types[OF_INT + OF_STRUCT + OF_PROTO + 2 * OF_FUNCTION];
    char strings[sizeof strings];
};

enum {
    WHOLE = offsetof(struct made_up, strings) + sizeof strings
};

static uint32_t offset_of(const char *name)
{
    uint32_t at = 1;

    while (strcmp(strings + at, name) != 0) {
        at += (uint32_t)strlen(strings + at) + 1;
    }
    return at;
}

static size_t put(struct made_up *btf, size_t at, uint32_t kind, uint32_t members, const char *name)
{
    const struct btf_type type = {.name_off = offset_of(name), .info = kind << 24 | members};

    memcpy(btf->types + at, &type, sizeof type);
    return at;
}

/* Functions are the fourth and the fifth. */
static struct made_up make(void)
{
    struct made_up btf = {.header = {.magic = BTF_MAGIC,
                                     .version = 1,
                                     .hdr_len = sizeof btf.header,
                                     .type_len = sizeof btf.types,
                                     .str_off = sizeof btf.types,
                                     .str_len = sizeof strings}};
    size_t at = put(&btf, 0, BTF_KIND_INT, 0, "int") + OF_INT;

    at = put(&btf, at, BTF_KIND_STRUCT, 2, "one") + OF_STRUCT; /* of that name, and no function */
    at = put(&btf, at, BTF_KIND_FUNC_PROTO, 1, "int") + OF_PROTO;
    at = put(&btf, at, BTF_KIND_FUNC, 1, "another") + OF_FUNCTION;
    (void)put(&btf, at, BTF_KIND_FUNC, 1, "one_more");
    memcpy(btf.strings, strings, sizeof strings);
    return btf;
}

static const char *const names[] = {"one_more", "one", "another", "no_such"};

static void functions_are_found(void **state)
{
    const struct made_up btf = make();
    uint32_t numbers[4];

    (void)state;
    etwas_btf_find((const uint8_t *)&btf, WHOLE, names, 4, numbers);
    assert_int_equal(numbers[0], TYPES);
    assert_int_equal(numbers[1], 0);
    assert_int_equal(numbers[2], TYPES - 1);
    assert_int_equal(numbers[3], 0);
}

/* Each prefix in memory that ends there, and every byte changed. */
static void what_makes_no_sense_has_none(void **state)
{
    const struct made_up whole = make();
    uint32_t numbers[4];

    (void)state;
    for (size_t bytes = 0; bytes < WHOLE; bytes++) {
        uint8_t *cut = malloc(bytes + 1);

        assert_non_null(cut);
        memcpy(cut, &whole, bytes);
        etwas_btf_find(cut, bytes, names, 4, numbers);
        free(cut);
        assert_int_equal(numbers[0], 0);
        assert_int_equal(numbers[2], 0);
    }
    for (size_t at = 0; at < WHOLE; at++) {
        struct made_up other = whole;

        ((uint8_t *)&other)[at] ^= 0xFF;
        etwas_btf_find((const uint8_t *)&other, WHOLE, names, 4, numbers);
        assert_in_range(numbers[0], 0, TYPES);
        assert_in_range(numbers[2], 0, TYPES);
    }
}

static void this_kernels_are_found(void **state)
{
    const char *const here[] = {"tcp_sendmsg", "udp_recvmsg", "no_such_function"};
    uint32_t numbers[3];

    (void)state;
    if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
        (void)printf("skipped: this kernel does not describe itself\n");
        skip();
    }
    etwas_btf_find_here(here, 3, numbers);
    assert_int_not_equal(numbers[0], 0);
    assert_int_not_equal(numbers[1], 0);
    assert_int_not_equal(numbers[0], numbers[1]);
    assert_int_equal(numbers[2], 0);
}

static void a_length_is_decoded(void **state)
{
    uint64_t said[4] = {0x1234, UINT64_C(0xFFFFFFFF00000005), 10, 5}; /* of udpv6_recvmsg */
    struct etwas_sample sample = {.raw = (const uint8_t *)said, .raw_bytes = sizeof said};
    struct etwas_process_record process_record;

    (void)state;
    assert_true(etwas_length_decode(&sample, &process_record));
    assert_int_equal(process_record.length.socket, 0x1234);
    assert_int_equal(process_record.length.bytes, 5);
    assert_true(process_record.length.is_received && process_record.length.is_udp &&
                process_record.length.is_ipv6);
    said[3] = 0; /* of tcp_sendmsg */
    assert_true(etwas_length_decode(&sample, &process_record));
    assert_false(process_record.length.is_received || process_record.length.is_udp);
    said[3] = ETWAS_PROBE_LINKS;
    assert_false(etwas_length_decode(&sample, &process_record));
    said[3] = 0;
    sample.raw_bytes--;
    assert_false(etwas_length_decode(&sample, &process_record));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found),
        cmocka_unit_test(what_makes_no_sense_has_none),
        cmocka_unit_test(this_kernels_are_found),
        cmocka_unit_test(a_length_is_decoded),
    };

    return cmocka_run_group_tests_name("system btf", tests, NULL, NULL);
}
