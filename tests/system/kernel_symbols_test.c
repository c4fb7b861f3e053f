/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel's functions that contain addresses, by made-up lists of symbols; and the addresses in
 * records that are remembered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "etl/own_record.h"
#include "system/names/kernel_addresses.h"

#define KERNEL UINT64_C(0xffffffff81000000)
#define MODULE UINT64_C(0xffffffffc0000000)

/* ---- what is told ---------------------------------------------------------------------------- */

static struct {
    struct etwas_emitter emitter;
    char text[4096]; /* "name module offset bytes left_out; ..." */
    uint32_t records;
} emitted;

static void take(struct etwas_emitter *emitter, uint32_t slot,
                 const struct etwas_stamped_record *record)
{
    struct {
        struct etwas_etl_full_header header;
        struct etwas_etl_kernel_symbol symbol;
        char names[1024];
    } taken;
    size_t used = strlen(emitted.text);
    const char *module;

    (void)emitter;
    (void)slot;
    emitted.records++;
    if (record->size > sizeof taken || record->size < sizeof taken - sizeof taken.names) {
        return;
    }
    memcpy(&taken, record->bytes, record->size);
    assert_memory_equal(&taken.header.guid, &etwas_etl_own_class, sizeof etwas_etl_own_class);
    assert_int_equal(taken.header.type, ETWAS_ETL_KERNEL_SYMBOL_TYPE);
    assert_int_equal(taken.header.version, taken.symbol.version);
    module = taken.names + strlen(taken.names) + 1;
    assert_true(module + strlen(module) + 1 == (const char *)&taken + record->size);
    (void)snprintf(emitted.text + used, sizeof emitted.text - used, "%.20s%s%s %lx %lu%s; ",
                   taken.names, module[0] != 0 ? "@" : "", module,
                   (unsigned long)(taken.symbol.address & 0xFFFFFF),
                   (unsigned long)taken.symbol.bytes, taken.symbol.left_out != 0 ? " more" : "");
}

static struct etwas_kernel_addresses addresses;

static void emit_symbols(const char *list)
{
    static struct etwas_record_builder record = {.room = ETWAS_RECORD_MOST_BYTES};
    char path[] = "/tmp/etwas-kernel-symbols-XXXXXX";
    int file = mkstemp(path);

    assert_true(file >= 0);
    assert_int_equal(write(file, list, strlen(list)), (ssize_t)strlen(list));
    (void)close(file);
    emitted.text[0] = 0;
    emitted.records = 0;
    emitted.emitter.receive = take;
    etwas_kernel_symbols_emit(&addresses, path, &record, &emitted.emitter);
    (void)unlink(path);
}

static int begin(void **state)
{
    (void)state;
    emitted.emitter.receive = take;
    emitted.text[0] = 0;
    etwas_kernel_addresses_open(&addresses, &emitted.emitter);
    return 0;
}

static int end(void **state)
{
    (void)state;
    etwas_kernel_addresses_free(&addresses);
    return 0;
}

static void add(uint64_t address)
{
    etwas_kernel_addresses_add(&addresses, address);
}

static const char list[] = "0000000000000000 A fixed_percpu_data\n"
                           "0000000000005000 T in_the_lower_half\n"
                           "ffffffff81000000 T _text\n"
                           "ffffffff81000000 T startup\n"
                           "ffffffff81000100 t first\n"
                           "ffffffff81000180 d data_between\n"
                           "ffffffff81000200 W second\n"
                           "ffffffff81000300 T third\n"
                           "ffffffff81200000 T _etext\n"
                           "ffffffffc0002000 t late\t[mod]\n"
                           "ffffffffc0001000 t early\t[mod]\n"
                           "ffffffffc0009000 t lonely\t[other]\n";

/* ---- tests ----------------------------------------------------------------------------------- */

static void each_function_with_an_address_is_emitted_once(void **state)
{
    (void)state;
    add(KERNEL + 0x110);
    add(KERNEL + 0x120);
    add(KERNEL + 0x100);
    add(KERNEL + 0x2FF);
    add(KERNEL);
    emit_symbols(list);
    assert_string_equal(emitted.text, "_text 0 256; first 100 128; second 200 256; ");
}

static void symbols_may_come_in_any_order(void **state)
{
    (void)state;
    add(MODULE + 0x1800);
    add(MODULE + 0x2000);
    add(KERNEL + 0x300);
    emit_symbols(list);
    assert_string_equal(emitted.text,
                        "third 300 65536; early@mod 1000 4096; late@mod 2000 28672; ");
    emit_symbols("ffffffffc0002000 t late\t[mod]\n"
                 "ffffffff81000300 T third\n"
                 "ffffffffc0001000 t early\t[mod]\n"
                 "ffffffff81000000 T _text\n");
    assert_string_equal(emitted.text,
                        "third 300 65536; early@mod 1000 4096; late@mod 2000 65536; ");
}

static void an_address_in_no_function_is_not_emitted(void **state)
{
    (void)state;
    add(KERNEL + 0x10300);            /* too far behind the third */
    add(MODULE + 0x9000 + (1 << 16)); /* and behind the last */
    add(KERNEL - 1);
    add(UINT64_MAX);
    emit_symbols(list);
    assert_string_equal(emitted.text, "");
    add(MODULE + 0x9000 + (1 << 16) - 1);
    emit_symbols(list);
    assert_string_equal(emitted.text, "lonely@other 9000 65536; ");
}

static void nothing_is_emitted_where_the_kernel_shows_no_addresses(void **state)
{
    (void)state;
    emit_symbols(list);
    add(KERNEL + 0x110);
    emit_symbols(
        "0000000000000000 T _text\n0000000000000000 t first\n0000000000000000 t late\t[mod]\n");
    emit_symbols("");
    etwas_kernel_symbols_emit(&addresses, "/does/not/exist", NULL, &emitted.emitter);
    assert_int_equal(emitted.records, 0);
}

static void lines_that_make_no_sense_are_passed_over(void **state)
{
    static char long_line[200000];

    (void)state;
    add(KERNEL + 0x110);
    emit_symbols(
        "\n \n  \nffffffff81000100\nffffffff81000101 \nffffffff81000102 t\nffffffff81000103 t \n"
        "zzzzffff81000104 t no_number\nffffffff8100010 5 t no_number\n-fffffff81000106 t x\n"
        "ffffffff81000108 t [\nffffffff8100010a t good\nffffffff8100010b t without an end");
    assert_string_equal(emitted.text, "good 10a 65536; ");
    memset(long_line, 'x', sizeof long_line - 2);
    memcpy(long_line, "ffffffff81000105 t ", 19);
    memcpy(long_line + sizeof long_line - 60,
           "\nffffffff81000109 t good\nffffffff81000111 t next\n", 50);
    emit_symbols(long_line);
    assert_string_equal(emitted.text, "good 109 8; ");
    memset(long_line + 1000, '\n', 1);
    long_line[1001] = 0;
    emit_symbols(long_line);
    assert_string_equal(emitted.text, "xxxxxxxxxxxxxxxxxxxx 105 65536; ");
}

static void what_there_is_no_room_for_is_counted(void **state)
{
    (void)state;
    for (uint32_t index = 0; index < ETWAS_KERNEL_ADDRESSES; index++) {
        add(KERNEL + 0x110 + index % 2);
        add(MODULE + index);
    }
    assert_int_equal(addresses.count, ETWAS_KERNEL_ADDRESSES);
    assert_int_equal(addresses.left_out, 2); /* two of the kernel took the places of two */
    add(MODULE + 5);
    assert_int_equal(addresses.left_out, 2);
    emit_symbols(list);
    assert_string_equal(emitted.text,
                        "first 100 128 more; early@mod 1000 4096 more; late@mod 2000 28672 more; ");
    addresses.left_out = UINT32_MAX;
    add(UINT64_MAX);
    assert_true(addresses.left_out == UINT32_MAX);
}

/* ---- records --------------------------------------------------------------------------------- */

static void pass(uint8_t group, uint8_t type, const uint64_t *payload, uint16_t bytes)
{
    struct {
        struct etwas_etl_perfinfo_header header;
        uint64_t payload[8];
    } record = {.header = {.version = 2,
                           .header_type = ETWAS_ETL_PERFINFO64,
                           .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                           .size = (uint16_t)(sizeof record.header + bytes),
                           .type = type,
                           .group = group}};
    struct etwas_stamped_record stamped = {.bytes = &record, .size = record.header.size};
    uint32_t records = emitted.records;

    memcpy(record.payload, payload, bytes);
    addresses.emitter.receive(&addresses.emitter, 0, &stamped);
    assert_int_equal(emitted.records, records + 1);
}

static void expect(const uint64_t *wanted, uint32_t count)
{
    uint64_t *sorted = etwas_kernel_addresses_sorted(&addresses);

    assert_int_equal(addresses.count, count);
    if (count != 0) {
        assert_memory_equal(sorted, wanted, count * sizeof *sorted);
    }
    free(sorted);
    etwas_kernel_addresses_free(&addresses);
    etwas_kernel_addresses_open(&addresses, &emitted.emitter);
}

static void samples_routines_and_frames_of_the_kernel_are_noted(void **state)
{
    const uint64_t user[] = {5, 6, 7, 8};
    const uint64_t kernel[] = {KERNEL + 1, KERNEL + 2, KERNEL + 3, KERNEL + 5};
    const uint64_t mixed[] = {KERNEL + 1, KERNEL + 2, 7, KERNEL + 5};

    (void)state;
    pass(0x0F, 46, kernel, 16); /* SampledProfile */
    expect((uint64_t[]){KERNEL + 1}, 1);
    pass(0x0F, 46, user, 16);
    pass(0x0F, 46, kernel, 7);
    pass(0x18, 32, user, 32);
    pass(0x18, 32, kernel, 23);
    pass(0x05, 36, kernel, 24); /* CSwitch */
    expect(NULL, 0);
    pass(0x18, 32, kernel, 32); /* Stack; the second frame is behind a call */
    expect((uint64_t[]){KERNEL + 3, KERNEL + 4}, 2);
    pass(0x18, 32, mixed, 32);
    expect(NULL, 0);
    for (uint8_t type = 66; type <= 69; type++) {
        pass(0x0F, type, kernel, 24);
        expect((uint64_t[]){KERNEL + 2}, type != 67); /* ISR says no address */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_function_with_an_address_is_emitted_once, begin, end),
        cmocka_unit_test_setup_teardown(symbols_may_come_in_any_order, begin, end),
        cmocka_unit_test_setup_teardown(an_address_in_no_function_is_not_emitted, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_emitted_where_the_kernel_shows_no_addresses,
                                        begin, end),
        cmocka_unit_test_setup_teardown(lines_that_make_no_sense_are_passed_over, begin, end),
        cmocka_unit_test_setup_teardown(what_there_is_no_room_for_is_counted, begin, end),
        cmocka_unit_test_setup_teardown(samples_routines_and_frames_of_the_kernel_are_noted, begin,
                                        end),
    };

    return cmocka_run_group_tests_name("system kernel symbols", tests, NULL, NULL);
}
