/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Where a mapping is read from: core files, also of many mappings or cut short, and files of holes,
 * of which recovery takes no more memory than of what is really there.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "buffer/pool.h"
#include "recover/left.h"

enum {
    BUFFER_BYTES = 4096,
    MANY_SEGMENTS = 200000,
    MANY_BUFFERS = 768,
    LARGE_BYTES = 16 << 20,
    WIDE_STRIDE = 1 << 20,
    MOST_KB = 400 << 10,
};

static const uint64_t base = UINT64_C(0x7f0000000000);

static void put_at(int file, uint64_t at, const void *bytes, size_t size)
{
    assert_int_equal(pwrite(file, bytes, size, (off_t)at), size);
}

static int new_source(void)
{
    int file = open(folder_path("left"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(file >= 0);
    return file;
}

/* ---- core files ------------------------------------------------------------------------------ */

/*
 * A core with so many segments of a page before the one that is the mapping; more than the field
 * can say are said elsewhere, as the kernel does it. `times`: the mapping's segment is there so
 * often.
 */
static void write_core(const struct left *left, uint32_t segments, uint32_t times)
{
    uint32_t count = segments + times;
    Elf64_Ehdr head = {
        .e_ident = {0x7F, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_CORE,
        .e_phoff = sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr),
        .e_shoff = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = count < PN_XNUM ? (uint16_t)count : PN_XNUM,
    };
    const Elf64_Shdr section = {.sh_info = count};
    Elf64_Phdr *headers = calloc(count, sizeof *headers);
    uint64_t at = head.e_phoff + count * sizeof *headers;
    int file = new_source();

    for (uint32_t index = 0; index < segments; index++) {
        headers[index] = (Elf64_Phdr){.p_type = PT_LOAD,
                                      .p_vaddr = 0x10000 + (uint64_t)index * 0x10000,
                                      .p_offset = at + index,
                                      .p_filesz = 1};
    }
    at += segments;
    for (uint32_t time = 0; time < times; time++) {
        headers[segments + time] = (Elf64_Phdr){.p_type = PT_LOAD,
                                                .p_vaddr = base + time * (UINT64_C(1) << 32),
                                                .p_offset = at,
                                                .p_filesz = left->size};
    }
    put_at(file, 0, &head, sizeof head);
    put_at(file, sizeof head, &section, sizeof section);
    put_at(file, head.e_phoff, headers, count * sizeof *headers);
    put_at(file, at, left->bytes, left->size);
    assert_int_equal(close(file), 0);
    free(headers);
}

static struct left left_without_addresses(void)
{
    struct left left = left_with_events();

    for (size_t table = 0; table <= ETWAS_SHARED_REGION; table++) {
        left.head->tables[table].address = 0; /* at its offset behind the head */
    }
    return left;
}

static void a_core_of_many_mappings_is_read(void **state)
{
    struct left left = left_without_addresses();

    (void)state;
    write_core(&left, MANY_SEGMENTS, 1);
    left_free(&left);
    assert_int_equal(left_recover_file().events, LEFT_EVENTS);
    left_expect(NULL, 0);
}

/* Otherwise a small core could ask for any amount of memory. */
static void segments_that_share_their_bytes_are_refused(void **state)
{
    struct left left = left_without_addresses();
    etwas_recovered recovered;

    (void)state;
    write_core(&left, 0, 2);
    left_free(&left);
    assert_int_equal(etwas_recover(folder_path("left"), 0, NULL, &recovered), ERROR_FILE_CORRUPT);
}

static void of_a_core_that_was_cut_there_is_what_it_has(void **state)
{
    struct left left = left_without_addresses();
    uint64_t region = left.head->tables[ETWAS_SHARED_REGION].offset;
    uint64_t last = (uint64_t)(left_record(&left, LEFT_EVENTS - 1) - left.bytes) - region;
    uint64_t whole = 0;
    etwas_recovered recovered;
    struct events events;

    (void)state;
    write_core(&left, 0, 1);
    /* All but the last of the buffers that have events: of these the first 100 bytes. */
    assert_int_equal(truncate(folder_path("left"),
                              (off_t)(sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) + sizeof(Elf64_Phdr) +
                                      region + last / BUFFER_BYTES * BUFFER_BYTES + 100)),
                     0);
    for (uint64_t number = 0; number < LEFT_EVENTS; number++) {
        whole += (uint64_t)(left_record(&left, number) - left.bytes) - region <
                 last / BUFFER_BYTES * BUFFER_BYTES;
    }
    assert_in_range(whole, 1, LEFT_EVENTS - 1);
    left_free(&left);
    recovered = left_recover_file();
    assert_int_equal(recovered.events, whole);
    assert_int_equal(recovered.missing_buffers, 1);
    assert_int_equal(recovered.unfinished, LEFT_EVENTS - whole);
    read_events(folder_path("after.etl"), 0, &events);
    assert_int_equal(events.count, whole);
    free_events(&events);
}

/* ---- holes ----------------------------------------------------------------------------------- */

static uint64_t peak_kb(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)usage.ru_maxrss;
}

static uint64_t place_table(struct etwas_shared_head *head, enum etwas_shared_table_name name,
                            uint64_t offset, uint32_t count, uint32_t stride)
{
    head->tables[name].offset = offset;
    head->tables[name].count = count;
    head->tables[name].stride = stride;
    head->total_bytes = offset + (uint64_t)count * stride;
    return head->total_bytes;
}

/*
 * Twelve gigabytes of buffers, all of which say that they are full, and that the file does not
 * have.
 */
static void a_mapping_of_holes_takes_no_memory(void **state)
{
    struct left left = left_with_events();
    const struct etwas_shared_head *old = left.head;
    struct etwas_shared_head head = *old;
    struct etwas_pool_words words;
    uint64_t before = peak_kb();
    etwas_recovered recovered;
    uint64_t at = left.size;
    int file = new_source();

    (void)state;
    memcpy(&words, left_table(&left, ETWAS_SHARED_WORDS), sizeof words);
    words.allocated = MANY_BUFFERS;
    at = place_table(&head, ETWAS_SHARED_OWNERS, at, MANY_BUFFERS, sizeof(uint64_t));
    at = place_table(&head, ETWAS_SHARED_CONTROLS, at, MANY_BUFFERS,
                     sizeof(struct etwas_buffer_control));
    at = place_table(&head, ETWAS_SHARED_REGION, at, MANY_BUFFERS, LARGE_BYTES);
    head.buffers = MANY_BUFFERS;
    head.buffer_bytes = LARGE_BYTES;
    put_at(file, 0, left.bytes, left.size);
    put_at(file, 0, &head, sizeof head);
    put_at(file, head.tables[ETWAS_SHARED_WORDS].offset, &words, sizeof words);
    for (uint64_t buffer = 0; buffer < MANY_BUFFERS; buffer++) {
        const struct etwas_buffer_control control = {
            .end = {.units = LARGE_BYTES / ETWAS_UNIT_BYTES, .records = 1}};
        uint64_t owner = etwas_owner(1000 + buffer, 0, ETWAS_OWNER_CLOSED);

        put_at(file, head.tables[ETWAS_SHARED_OWNERS].offset + buffer * sizeof owner, &owner,
               sizeof owner);
        put_at(file, head.tables[ETWAS_SHARED_CONTROLS].offset + buffer * sizeof control, &control,
               sizeof control);
    }
    assert_int_equal(ftruncate(file, (off_t)at), 0);
    assert_int_equal(close(file), 0);
    left_free(&left);
    recovered = left_recover_file();
    assert_int_equal(recovered.events, 0);
    assert_true(peak_kb() - before < MOST_KB);
}

/* Another build's entries may be as wide as they like: what this one knows of them is read. */
static void entries_that_are_wider_take_no_more_memory(void **state)
{
    struct left left = left_with_events();
    struct etwas_shared_head head = *left.head;
    const struct etwas_shared_table *old = left.head->tables;
    uint64_t before = peak_kb();
    uint64_t at = (left.size + WIDE_STRIDE - 1) / WIDE_STRIDE * WIDE_STRIDE;
    int file = new_source();

    (void)state;
    put_at(file, 0, left.bytes, left.size);
    for (size_t turn = 0; turn < 2; turn++) {
        enum etwas_shared_table_name name = turn == 0 ? ETWAS_SHARED_SLOTS : ETWAS_SHARED_CONTROLS;

        for (uint64_t entry = 0; entry < old[name].count; entry++) {
            put_at(file, at + entry * WIDE_STRIDE,
                   left_table(&left, name) + entry * old[name].stride, old[name].stride);
        }
        at = place_table(&head, name, at, old[name].count, WIDE_STRIDE);
    }
    put_at(file, 0, &head, sizeof head);
    assert_int_equal(ftruncate(file, (off_t)at), 0);
    assert_int_equal(close(file), 0);
    left_free(&left);
    assert_int_equal(left_recover_file().events, LEFT_EVENTS);
    left_expect(NULL, 0);
    assert_true(peak_kb() - before < MOST_KB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_core_of_many_mappings_is_read),
        FOLDER_TEST(segments_that_share_their_bytes_are_refused),
        FOLDER_TEST(of_a_core_that_was_cut_there_is_what_it_has),
        FOLDER_TEST(a_mapping_of_holes_takes_no_memory),
        FOLDER_TEST(entries_that_are_wider_take_no_more_memory),
    };

    return cmocka_run_group_tests_name("recover_source", tests, NULL, NULL);
}
