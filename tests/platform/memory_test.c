/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The memory of a session: what it begins with, what it costs, and what a fork's child has of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"
#include "platform/memory.h"

enum {
    MIB = 1 << 20,
};

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static bool is_zeroed(const void *start, size_t bytes)
{
    const uint8_t *byte = start;

    /* Equal to itself one byte further on, and zero at the beginning. */
    return byte[0] == 0 && memcmp(byte, byte + 1, bytes - 1) == 0;
}

static void a_region_is_zeroed_and_aligned_also_when_the_memory_was_used_before(void **state)
{
    static const size_t sizes[] = {1, 65536, 3 * MIB + 1, 4096};

    (void)state;
    for (size_t round = 0; round < 12; round++) {
        size_t region_bytes = sizes[round % 4];
        struct etwas_memory memory;

        assert_true(etwas_memory_create(&memory, region_bytes));
        assert_int_equal((uintptr_t)memory.region % page_bytes(), 0);
        assert_true(memory.region_bytes >= region_bytes);
        assert_true(is_zeroed(memory.region, memory.region_bytes));
        memset(memory.region, 0xa5, memory.region_bytes);
        etwas_memory_destroy(&memory);
        assert_null(memory.region);
        assert_int_equal(memory.region_bytes, 0);
    }
}

static void kept_memory_is_zeroed_at_first_and_when_it_is_cleared(void **state)
{
    const size_t bytes = 10 * page_bytes();
    uint8_t *kept = etwas_memory_allocate_permanent(bytes);

    (void)state;
    assert_non_null(kept);
    assert_int_equal((uintptr_t)kept % page_bytes(), 0);
    assert_true(is_zeroed(kept, bytes));
    memset(kept, 0x5a, bytes);
    etwas_memory_clear_permanent(kept + page_bytes(), bytes - page_bytes());
    assert_int_equal(kept[page_bytes() - 1], 0x5a);
    assert_true(is_zeroed(kept + page_bytes(), bytes - page_bytes()));
    assert_null(etwas_memory_allocate_permanent((size_t)1 << 60));
}

static void memory_costs_nothing_until_it_is_populated(void **state)
{
    const size_t bytes = 16 * MIB;
    struct etwas_memory memory;
    uint64_t mapped;
    uint64_t resident;

    (void)state;
    assert_true(etwas_memory_create(&memory, bytes));
    assert_true(etwas_memory_resident_bytes(&memory) < bytes / 4);
    assert_true(etwas_memory_populate(memory.region, bytes / 2));
    assert_true(etwas_memory_resident_bytes(&memory) >= bytes / 2);
    assert_true(is_zeroed(memory.region, bytes));
    memory.region[3] = 7;
    assert_true(etwas_memory_populate(memory.region, bytes));
    assert_int_equal(etwas_memory_resident_bytes(&memory), bytes);
    assert_int_equal(memory.region[3], 7);
    etwas_memory_arena_bytes(&memory, &mapped, &resident);
#ifdef ETWAS_WITH_JEMALLOC
    assert_true(mapped >= bytes);
    assert_true(resident >= bytes);
#else
    assert_int_equal(mapped, 0);
    assert_int_equal(resident, 0);
#endif
    etwas_memory_destroy(&memory);
}

static uint64_t resident_bytes_of_the_process(void)
{
    unsigned long long resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %llu", &resident), 1);
    assert_int_equal(fclose(file), 0);
    return resident * page_bytes();
}

static void destroyed_memory_goes_back_to_the_system(void **state)
{
    const uint64_t before = resident_bytes_of_the_process();

    (void)state;
    for (int round = 0; round < 50; round++) {
        struct etwas_memory memory;

        assert_true(etwas_memory_create(&memory, 8 * MIB));
        assert_true(etwas_memory_populate(memory.region, memory.region_bytes));
        etwas_memory_destroy(&memory);
    }
    assert_true(resident_bytes_of_the_process() < before + 32 * MIB);
}

static void more_than_there_is_is_refused_and_nothing_is_held(void **state)
{
    struct etwas_memory memory;

    (void)state;
    assert_false(etwas_memory_create(&memory, (size_t)1 << 60));
    assert_true(etwas_memory_create(&memory, 4096));
    etwas_memory_destroy(&memory);
}

static struct etwas_memory inherited;
static uint8_t *ordinary;

static int use_the_empty_region(void)
{
    struct etwas_memory own;
    uint8_t *block;

    CHECK(is_zeroed(inherited.region, inherited.region_bytes));
    /* A writer that forked in the middle of a record goes on. */
    memset(inherited.region, 2, inherited.region_bytes);
    block = malloc(MIB);
    CHECK(block != NULL);
    memset(block, 1, MIB);
    free(block);
    CHECK(etwas_memory_create(&own, 4 * MIB));
    CHECK(etwas_memory_populate(own.region, own.region_bytes));
    CHECK(is_zeroed(own.region, own.region_bytes));
    memset(own.region, 1, own.region_bytes);
    etwas_memory_destroy(&own);
    return 0;
}

static void a_forks_child_finds_the_region_empty(void **state)
{
    (void)state;
    assert_true(etwas_memory_create(&inherited, 4 * MIB));
    memset(inherited.region, 1, inherited.region_bytes);
    expect_child_passes(use_the_empty_region);
    assert_int_equal(inherited.region[MIB], 1);
    etwas_memory_destroy(&inherited);
}

static size_t ordinary_bytes;

static int read_ordinary_memory(void)
{
    for (size_t offset = 0; offset < ordinary_bytes; offset++) {
        CHECK(ordinary[offset] == 9);
    }
    return 0;
}

/* The same addresses may serve the host next; its children need them. */
static void memory_given_back_is_inherited_again(void **state)
{
    static const size_t sizes[] = {16384, 65536, 4 * MIB};

    (void)state;
    for (size_t index = 0; index < sizeof sizes / sizeof sizes[0]; index++) {
        ordinary_bytes = sizes[index];
        assert_true(etwas_memory_create(&inherited, ordinary_bytes));
        etwas_memory_destroy(&inherited);
        ordinary = malloc(ordinary_bytes);
        assert_non_null(ordinary);
        memset(ordinary, 9, ordinary_bytes);
        expect_child_passes(read_ordinary_memory);
        free(ordinary);
    }
}

/* Whether the mapping of this address has a flag of VmFlags. */
static bool has_flag(const uint8_t *address, const char *flag)
{
    FILE *file = fopen("/proc/self/smaps", "re");
    char line[512];
    unsigned long start;
    unsigned long end;
    bool inside = false;
    bool found = false;

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2) {
            inside = (uintptr_t)address >= start && (uintptr_t)address < end;
        } else if (inside && strncmp(line, "VmFlags:", 8) == 0) {
            found = strstr(line, flag) != NULL;
        }
    }
    assert_int_equal(fclose(file), 0);
    return found;
}

/* A system may make huge pages of everything: then a page that is touched would cost 2 MB. */
static void no_page_is_huge_where_nobody_asked_for_it(void **state)
{
    const size_t bytes = 8 * MIB;
    struct etwas_memory memory;

    (void)state;
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) != 0) {
        print_message("skipped: the kernel has no transparent huge pages\n");
        skip();
    }
    assert_true(has_flag(etwas_memory_allocate_permanent(page_bytes()), " nh "));
    assert_true(etwas_memory_create(&memory, bytes));
    assert_true(has_flag(memory.region, " nh "));
    assert_true(has_flag(memory.region + bytes - 1, " hg "));
    etwas_memory_destroy(&memory);
    assert_true(etwas_memory_create_huge(&memory, bytes, 0, 0));
    assert_true(has_flag(memory.region, " hg "));
    assert_true(has_flag(memory.region + bytes - 1, " hg "));
    etwas_memory_destroy(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_is_zeroed_and_aligned_also_when_the_memory_was_used_before),
        cmocka_unit_test(kept_memory_is_zeroed_at_first_and_when_it_is_cleared),
        cmocka_unit_test(memory_costs_nothing_until_it_is_populated),
        cmocka_unit_test(destroyed_memory_goes_back_to_the_system),
        cmocka_unit_test(more_than_there_is_is_refused_and_nothing_is_held),
        cmocka_unit_test(no_page_is_huge_where_nobody_asked_for_it),
        cmocka_unit_test(a_forks_child_finds_the_region_empty),
        cmocka_unit_test(memory_given_back_is_inherited_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
