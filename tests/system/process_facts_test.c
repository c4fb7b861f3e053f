/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Facts about a process from /proc: texts made up, whole, cut and hostile, and our own.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/images.h"
#include "system/names/image_list.h"
#include "system/names/proc_list.h"
#include "system/names/process_facts.h"

static struct etwas_process_facts facts;

#define STAT_TAIL " S 7 42 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 10 20"

static void a_name_may_have_any_letters(void **state)
{
    (void)state;
    assert_true(etwas_process_parse_stat("42 (sh)" STAT_TAIL, &facts));
    assert_string_equal(facts.name, "sh");
    assert_int_equal(facts.parent_id, 7);
    assert_int_equal(facts.session_id, 9);
    assert_int_equal(facts.start_tick, 123456);
    assert_true(etwas_process_parse_stat("42 (a) S 1 (\n\xFF)" STAT_TAIL, &facts));
    assert_string_equal(facts.name, "a) S 1 (\n\xFF");
    assert_int_equal(facts.parent_id, 7);
    assert_true(etwas_process_parse_stat("42 ()" STAT_TAIL, &facts));
    assert_string_equal(facts.name, "");
}

static void a_text_of_another_form_is_refused(void **state)
{
    static const char whole[] = "42 (sh)" STAT_TAIL;
    char text[sizeof whole];
    char name[400];
    char letters[200] = {0};

    (void)state;
    /* The last two numbers are not needed, nor all digits of the one before. */
    for (size_t length = 0; length < sizeof whole - sizeof "123456 10 20"; length++) {
        memcpy(text, whole, sizeof whole);
        text[length] = 0;
        assert_false(etwas_process_parse_stat(text, &facts));
    }
    assert_false(etwas_process_parse_stat(")(", &facts));
    memset(letters, 'x', sizeof letters - 1);
    (void)snprintf(name, sizeof name, "1 (%s)" STAT_TAIL, letters);
    assert_true(etwas_process_parse_stat(name, &facts));
    assert_int_equal(strlen(facts.name), sizeof facts.name - 1);
}

static void the_user_is_the_effective_one(void **state)
{
    uint32_t user = 0;

    (void)state;
    assert_true(etwas_process_parse_user("Name:\tx\nUid:\t1\t4294967295\t3\t4\n", &user));
    assert_int_equal(user, UINT32_MAX);
    assert_false(etwas_process_parse_user("Name:\tUid: 1 2\n", &user));
    assert_false(etwas_process_parse_user("Name:\tx\nUid:\t1", &user));
}

static bool parse_mapping(const char *text, struct etwas_mapping *mapping)
{
    static char line[256];

    (void)snprintf(line, sizeof line, "%s", text);
    return etwas_process_parse_mapping(line, mapping);
}

static void a_line_of_maps_is_a_mapping(void **state)
{
    struct etwas_mapping mapping;

    (void)state;
    assert_int_equal(etwas_process_parse_device("1000-2000 r-xp 0 fd:1a 1234 /x"),
                     UINT64_C(0xFD0000001A));
    assert_int_equal(etwas_process_parse_device("1000-2000 r-xp"), 0);
    assert_true(parse_mapping("55d0c0001000-55d0c0003000 r-xp 00002000 fd:01 1234      "
                              " /a b/c (deleted)\n",
                              &mapping));
    assert_int_equal(mapping.address, 0x55d0c0001000);
    assert_int_equal(mapping.bytes, 0x2000);
    assert_int_equal(mapping.file_offset, 0x2000);
    assert_string_equal(mapping.path, "/a b/c (deleted)");
    assert_true(parse_mapping("7ff000-7ff800 r-xp 0 00:00 0 [vdso]", &mapping));
    assert_string_equal(mapping.path, "[vdso]");
    assert_false(parse_mapping("7ff000-7ff800 r--p 0 00:00 0 /x", &mapping));
    assert_false(parse_mapping("7ff000-7ff800 rwxp 0 00:00 0 [heap]", &mapping));
    assert_false(parse_mapping("7ff000-7ff800 r-xp 0 00:00 0\n", &mapping));
    assert_false(parse_mapping("7ff000-7ff800 r-xp 0 00:00", &mapping));
    assert_false(parse_mapping("7ff000-7ff000 r-xp 0 00:00 0 /x", &mapping));
    assert_false(parse_mapping("7ff000-7fe000 r-xp 0 00:00 0 /x", &mapping));
    assert_false(parse_mapping("7ff000 r-xp 0 00:00 0 /x", &mapping));
    assert_false(parse_mapping("", &mapping));
}

static void arguments_become_a_line(void **state)
{
    char text[] = "a\0b c\0\0d\0";
    char none[] = "\0\0";

    (void)state;
    etwas_process_join_arguments(text, sizeof text - 1);
    assert_string_equal(text, "a b c  d");
    etwas_process_join_arguments(none, 2);
    assert_string_equal(none, " ");
    etwas_process_join_arguments(none, 0);
    assert_string_equal(none, "");
}

/* As the linker put it into memory. */
static const uint8_t *our_build_id(void)
{
    static uint8_t build_id[ETWAS_BUILD_ID_ROOM];
    uint32_t count;
    struct etwas_loaded_image *images = etwas_images_read(&count);

    assert_non_null(images);
    assert_int_equal(images[0].build_id_bytes, sizeof build_id);
    memcpy(build_id, images[0].build_id, sizeof build_id);
    free(images);
    return build_id;
}

static void see_ourselves(void *context, const struct etwas_mapping *mapping)
{
    uint64_t here = (uint64_t)(uintptr_t)see_ourselves;
    char path[96];
    int place;

    if (here - mapping->address < mapping->bytes) {
        (void)snprintf(path, sizeof path, "/proc/self/map_files/%llx-%llx",
                       (unsigned long long)mapping->address,
                       (unsigned long long)(mapping->address + mapping->bytes));
        place = open(path, O_PATH | O_CLOEXEC); /* a process without that right gets no build ids */
        assert_int_equal(mapping->build_id_bytes, place >= 0 ? 20 : 0);
        assert_memory_equal(mapping->build_id, our_build_id(), mapping->build_id_bytes);
        (void)close(place);
        assert_non_null(strstr(mapping->path, "system_process_facts"));
        ++*(int *)context;
    }
}

static void count(void *context, uint32_t id)
{
    *(int *)context += id == (uint32_t)getpid();
}

static void count_thread(void *context, uint32_t id, bool is_leaving)
{
    assert_false(is_leaving);
    count(context, id);
}

static void we_are_there(void **state)
{
    int seen = 0;

    (void)state;
    assert_true(etwas_proc_is_ours());
    assert_true(etwas_process_facts_read((uint32_t)getpid(), &facts));
    assert_int_equal(facts.parent_id, getppid());
    assert_int_equal(facts.session_id, getsid(0));
    assert_int_equal(facts.user_id, geteuid());
    assert_string_equal(facts.name, "system_process_");
    assert_true(etwas_process_command_line_read((uint32_t)getpid(), &facts));
    assert_false(facts.is_cut);
    assert_non_null(strstr(facts.command_line, "system_process_facts"));
    assert_false(etwas_process_facts_read(UINT32_MAX, &facts));
    assert_false(etwas_process_command_line_read(UINT32_MAX, &facts));
    etwas_process_mappings((uint32_t)getpid(), see_ourselves, &seen);
    assert_int_equal(seen, 1);
    assert_true(etwas_proc_list_processes(count, &seen));
    assert_int_equal(seen, 2);
    etwas_proc_list_threads((uint32_t)getpid(), count_thread, &seen);
    assert_int_equal(seen, 3);
    etwas_proc_list_threads(UINT32_MAX, count_thread, &seen);
    etwas_process_mappings(UINT32_MAX, see_ourselves, &seen);
    assert_int_equal(seen, 3);
}

/* ---- builds ---------------------------------------------------------------------------------- */

static const uint8_t notes[] = {4, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0, 9, 9, 0, 0,
                                4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 7, 8, 9, 0};

static void a_note_says_the_build(void **state)
{
    uint8_t build_id[ETWAS_BUILD_ID_ROOM] = {0};

    (void)state;
    assert_int_equal(etwas_build_id_of_notes(notes, sizeof notes, build_id), 3);
    assert_memory_equal(build_id, "\x07\x08\x09", 3);
    for (size_t bytes = 0; bytes < sizeof notes; bytes++) {
        uint8_t *cut = malloc(bytes + 1);

        memcpy(cut, notes, bytes);
        assert_int_equal(etwas_build_id_of_notes(cut, bytes, build_id), 0);
        free(cut);
    }
}

static void a_note_that_is_too_long_is_not_followed(void **state)
{
    uint8_t hostile[sizeof notes];
    uint8_t build_id[ETWAS_BUILD_ID_ROOM];

    (void)state;
    for (size_t at = 0; at < 8; at += 4) {
        memcpy(hostile, notes, sizeof notes);
        memset(hostile + at, 0xFF, 4);
        assert_int_equal(etwas_build_id_of_notes(hostile, sizeof hostile, build_id), 0);
    }
}

static uint32_t build_id_of_path(const char *path, uint8_t build_id[ETWAS_BUILD_ID_ROOM])
{
    int place = open(path, O_PATH | O_CLOEXEC);
    uint32_t bytes = etwas_build_id_of_path_file(place, build_id);

    assert_true(place >= 0);
    (void)close(place);
    return bytes;
}

static void what_is_no_file_is_not_opened(void **state)
{
    uint8_t build_id[ETWAS_BUILD_ID_ROOM];
    char path[] = "/tmp/etwas-build-XXXXXX";
    char pipe_path[64];
    static const char text[] = "\x7f"
                               "ELF and nothing that makes sense behind it, but more than a header "
                               "has of it";
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    assert_int_equal(build_id_of_path(path, build_id), 0);
    assert_int_equal(write(file, text, sizeof text), sizeof text);
    assert_int_equal(build_id_of_path(path, build_id), 0);
    (void)close(file);
    (void)snprintf(pipe_path, sizeof pipe_path, "%s.pipe", path);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(build_id_of_path(pipe_path, build_id), 0); /* and does not wait */
    assert_int_equal(unlink(pipe_path), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(build_id_of_path("/proc/self/exe", build_id), 20);
    assert_memory_equal(build_id, our_build_id(), 20);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static void the_kernel_has_symbols_and_modules(void **state)
{
    uint64_t address = 0;
    struct etwas_mapping mapping;
    char module[] = "nf_tables 262144 2 a,b, Live 0xffffffffc0000000 (OE)\n";
    char hidden[] = "nf_tables 262144 0 - Live 0x0000000000000000\n";
    char other[] = "nf_tables\n";

    (void)state;
    assert_true(etwas_kernel_parse_symbol("ffffffff81000000 T _text\n", "_text", &address));
    assert_true(address == UINT64_C(0xFFFFFFFF81000000));
    assert_false(etwas_kernel_parse_symbol("ffffffff81000000 T _text2\n", "_text", &address));
    assert_false(etwas_kernel_parse_symbol("ffffffff81000000 T _tex\n", "_text", &address));
    assert_false(etwas_kernel_parse_symbol("ffffffff81000000 T", "_text", &address));
    assert_false(etwas_kernel_parse_symbol("", "_text", &address));
    assert_true(etwas_kernel_parse_module(module, &mapping));
    assert_string_equal(mapping.path, "nf_tables");
    assert_true(mapping.address == UINT64_C(0xFFFFFFFFC0000000));
    assert_int_equal(mapping.bytes, 262144);
    assert_false(etwas_kernel_parse_module(hidden, &mapping));
    assert_false(etwas_kernel_parse_module(other, &mapping));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_may_have_any_letters),
        cmocka_unit_test(a_text_of_another_form_is_refused),
        cmocka_unit_test(the_user_is_the_effective_one),
        cmocka_unit_test(a_line_of_maps_is_a_mapping),
        cmocka_unit_test(arguments_become_a_line),
        cmocka_unit_test(we_are_there),
        cmocka_unit_test(a_note_says_the_build),
        cmocka_unit_test(a_note_that_is_too_long_is_not_followed),
        cmocka_unit_test(what_is_no_file_is_not_opened),
        cmocka_unit_test(the_kernel_has_symbols_and_modules),
    };

    return cmocka_run_group_tests_name("process facts", tests, NULL, NULL);
}
