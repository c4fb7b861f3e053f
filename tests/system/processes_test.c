/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Made-up sequences of what the kernel says, and a made-up /proc: what is told of processes and images.
 * Each record becomes a line, of when, where (* is the logger itself) and what.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "etl/layout.h"
#include "platform/processor.h"
#include "system/processes.h"

/* ---- what is told ---------------------------------------------------------------------------- */

struct log {
    struct etwas_emitter emitter;
    size_t length;
    char text[1 << 16];
};

static struct log told;

static void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    told.length += (size_t)vsnprintf(told.text + told.length, sizeof told.text - told.length,
                                     format, arguments);
    va_end(arguments);
    assert_true(told.length < sizeof told.text);
}

/* ASCII alone. */
static const char *narrow(const uint8_t *wide)
{
    static char text[256];
    size_t length = 0;

    while (length < sizeof text - 1 && (wide[2 * length] | wide[2 * length + 1]) != 0) {
        text[length] = wide[2 * length + 1] == 0 ? (char)wide[2 * length] : '?';
        length++;
    }
    text[length] = 0;
    return text;
}

static uint32_t u32_at(const uint8_t *bytes, size_t offset)
{
    uint32_t value;

    memcpy(&value, bytes + offset, sizeof value);
    return value;
}

static uint64_t u64_at(const uint8_t *bytes, size_t offset)
{
    uint64_t value;

    memcpy(&value, bytes + offset, sizeof value);
    return value;
}

static void say_process(const uint8_t *payload, uint8_t type)
{
    static const char *const types[] = {"?", "Start", "End", "DCStart", "DCEnd"};
    const char *name = (const char *)payload + 36 + 32;
    uint32_t flags = u32_at(payload, 32);

    assert_int_equal(u32_at(payload, 52 + 8), 1);
    say("%s %u of %u, %s", types[type], u32_at(payload, 8), u32_at(payload, 12), name);
    if ((flags & ETWAS_PROCESS_NO_COMMAND_LINE) == 0) {
        say(" [%s]", narrow((const uint8_t *)name + strlen(name) + 1));
    }
    if (type == 2 && (flags & ETWAS_PROCESS_NO_EXIT_STATUS) == 0) {
        say(" with %d", (int32_t)u32_at(payload, 20));
    }
    say("%s%s\n", (flags & ETWAS_PROCESS_EXEC) != 0 ? " exec" : "",
        (flags & ETWAS_PROCESS_END_NOT_SEEN) != 0 ? " not seen" : "");
    if ((flags & ETWAS_PROCESS_NO_EXIT_STATUS) != 0 || type != 2) {
        assert_int_equal((int32_t)u32_at(payload, 20), type == 2 ? 0 : 259);
    }
}

static void say_image(const uint8_t *payload, uint8_t type)
{
    static const char *const types[] = {
        [2] = "Unload", [3] = "DCStart", [4] = "DCEnd", [10] = "Load"};
    uint64_t base = u64_at(payload, 0);

    say("%s in %u %llx to %llx %s", types[type], u32_at(payload, 16), (unsigned long long)base,
        (unsigned long long)(base + u64_at(payload, 8)), narrow(payload + 56));
    if (u64_at(payload, 32) != 0) {
        say(" at %llx", (unsigned long long)u64_at(payload, 32));
    }
    say("\n");
}

static void take_record(struct etwas_emitter *emitter, uint32_t slot,
                        const struct etwas_stamped_record *record)
{
    struct etwas_etl_system_header header;
    const uint8_t *payload = (const uint8_t *)record->bytes + sizeof header;

    (void)emitter;
    memcpy(&header, record->bytes, sizeof header);
    say("%lld", (long long)record->stamp);
    if (slot == etwas_slot_count) {
        say("* ");
    } else {
        say("@%u by %u ", slot, header.thread_id);
    }
    if (header.header_type == ETWAS_ETL_FULL_HEADER64) {
        payload = (const uint8_t *)record->bytes + sizeof(struct etwas_etl_full_header);
        say("Id in %u %llx %s\n", u32_at(payload, 8), (unsigned long long)u64_at(payload, 0),
            (const char *)payload + 32);
    } else if (header.group == 3 && header.type != ETWAS_IMAGE_LOAD) {
        assert_int_equal(header.version, 4);
        say_process(payload, header.type);
    } else {
        assert_int_equal(header.version, 3);
        say_image(payload, header.type);
    }
}

static void forget(void)
{
    told.length = 0;
    told.text[0] = 0;
}

static void expect(const char *text)
{
    assert_string_equal(told.text, text);
    forget();
}

/* ---- a machine ------------------------------------------------------------------------------- */

struct made_up {
    uint32_t id;
    uint32_t parent_id;
    uint32_t threads[4];
    uint64_t start_tick;
    const char *name;
    const char *command_line;
    struct etwas_mapping mappings[3];
};

static struct made_up machine[8];
static int64_t now_ns;
static bool is_listed;

static struct made_up *find_made_up(uint32_t id)
{
    for (size_t index = 0; index < sizeof machine / sizeof machine[0]; index++) {
        if (machine[index].id == id) {
            return &machine[index];
        }
    }
    return NULL;
}

static bool made_up_list(void (*each)(void *context, uint32_t process_id), void *context)
{
    for (size_t index = 0; is_listed && index < sizeof machine / sizeof machine[0]; index++) {
        if (machine[index].id != 0) {
            each(context, machine[index].id);
        }
    }
    return is_listed;
}

static void made_up_threads(uint32_t process_id, void (*each)(void *context, uint32_t thread_id),
                            void *context)
{
    const struct made_up *process = find_made_up(process_id);

    for (size_t index = 0; process != NULL && index < 4 && process->threads[index] != 0; index++) {
        each(context, process->threads[index]);
    }
}

static bool made_up_facts(uint32_t process_id, struct etwas_process_facts *facts)
{
    const struct made_up *process = find_made_up(process_id);

    if (process == NULL) {
        return false;
    }
    *facts = (struct etwas_process_facts){.parent_id = process->parent_id,
                                          .start_tick = process->start_tick};
    (void)snprintf(facts->name, sizeof facts->name, "%s", process->name);
    (void)snprintf(facts->command_line, sizeof facts->command_line, "%s", process->command_line);
    return true;
}

static void made_up_mappings(uint32_t process_id,
                             void (*each)(void *context, const struct etwas_mapping *mapping),
                             void *context)
{
    const struct made_up *process = find_made_up(process_id);

    for (size_t index = 0; index < 3 && process->mappings[index].path != NULL; index++) {
        each(context, &process->mappings[index]);
    }
}

static void made_up_kernel(void (*each)(void *context, const struct etwas_mapping *mapping),
                           void *context)
{
    const struct etwas_mapping mapping = {
        .address = UINT64_C(0xFFFFFFFF81000000), .bytes = 0x1000, .path = "vmlinux"};

    each(context, &mapping);
}

static int64_t made_up_now(void)
{
    return now_ns;
}

static uint64_t made_up_tick(int64_t time_ns)
{
    return (uint64_t)time_ns / 100;
}

static const struct etwas_process_source source = {
    .list = made_up_list,
    .threads = made_up_threads,
    .facts = made_up_facts,
    .mappings = made_up_mappings,
    .kernel = made_up_kernel,
    .now_ns = made_up_now,
    .tick_of = made_up_tick,
};

/* ---- what the kernel says -------------------------------------------------------------------- */

static struct etwas_processes processes;
static struct etwas_record record = {.room = ETWAS_RECORD_MOST_BYTES};

/* By process 1 and its only thread, on processor 3. */
static struct etwas_sideband sideband_of(int64_t time_ns, uint32_t type, uint32_t process_id,
                                         uint32_t thread_id)
{
    return (struct etwas_sideband){
        .origin = {.time_ns = time_ns, .process_id = 1, .thread_id = 1, .processor = 3},
        .type = type,
        .process_id = process_id,
        .thread_id = thread_id};
}

static void fork_at(int64_t time_ns, uint32_t parent_id, uint32_t process_id, uint32_t thread_id)
{
    struct etwas_sideband sideband = sideband_of(time_ns, PERF_RECORD_FORK, process_id, thread_id);

    sideband.task.parent_process_id = parent_id;
    etwas_processes_take(&processes, &sideband);
}

static void exit_at(int64_t time_ns, uint32_t process_id, uint32_t thread_id)
{
    struct etwas_sideband sideband = sideband_of(time_ns, PERF_RECORD_EXIT, process_id, thread_id);

    etwas_processes_take(&processes, &sideband);
}

static void name_at(int64_t time_ns, uint32_t process_id, uint32_t thread_id, const char *name,
                    bool is_exec)
{
    struct etwas_sideband sideband = sideband_of(time_ns, PERF_RECORD_COMM, process_id, thread_id);

    sideband.comm.name = name;
    sideband.comm.is_exec = is_exec;
    etwas_processes_take(&processes, &sideband);
}

static void map_at(int64_t time_ns, uint32_t process_id, const struct etwas_mapping *mapping)
{
    struct etwas_sideband sideband =
        sideband_of(time_ns, PERF_RECORD_MMAP2, process_id, process_id);

    sideband.image.address = mapping->address;
    sideband.image.bytes = mapping->bytes;
    sideband.image.file_offset = mapping->file_offset;
    sideband.image.build_id_bytes = mapping->build_id_bytes;
    sideband.image.build_id = mapping->build_id;
    sideband.image.path = mapping->path;
    sideband.image.protection = PROT_READ | PROT_EXEC;
    etwas_processes_take(&processes, &sideband);
}

static const uint8_t build_id[20] = {0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8,
                                     9,    10,   1, 2, 3, 4, 5, 6, 7, 0xef};
static const struct etwas_mapping shell = {
    .address = 0x401000, .bytes = 0x2000, .file_offset = 0x1000, .path = "/bin/sh"};
static const struct etwas_mapping library = {.address = 0x7001000,
                                             .bytes = 0x1000,
                                             .file_offset = 0x1000,
                                             .build_id_bytes = 20,
                                             .build_id = build_id,
                                             .path = "/lib/a.so"};

/* Process 1 is there, a shell with a library, and found at 50. */
static void begin_with(uint32_t tells)
{
    memset(machine, 0, sizeof machine);
    machine[0] = (struct made_up){.id = 1,
                                  .threads = {1},
                                  .start_tick = 1,
                                  .name = "sh",
                                  .command_line = "sh -c x",
                                  .mappings = {shell, library}};
    told.emitter.take = take_record;
    forget();
    now_ns = 50;
    is_listed = true;
    assert_true(etwas_processes_init(&processes, &source, &told.emitter, &record, tells));
    etwas_processes_run_down(&processes);
}

/* The rundown is of no interest. */
static void begin(void)
{
    begin_with(ETWAS_TELL_PROCESSES);
    expect("50* DCStart 1 of 0, sh [sh -c x]\n");
}

static int end_test(void **state)
{
    (void)state;
    etwas_processes_free(&processes);
    return 0;
}

/* ---- processes ------------------------------------------------------------------------------- */

static void a_fork_starts_what_its_parent_is(void **state)
{
    (void)state;
    begin();
    fork_at(100, 1, 10, 10);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    exit_at(110, 10, 10);
    expect("110@3 by 1 End 10 of 1, sh [sh -c x]\n");
    fork_at(120, 1, 10, 10);
    expect("120@3 by 1 Start 10 of 1, sh [sh -c x]\n");
}

static void a_process_ends_with_its_last_thread(void **state)
{
    (void)state;
    begin();
    fork_at(100, 1, 10, 10);
    fork_at(101, 10, 10, 11);
    fork_at(102, 10, 10, 12);
    fork_at(103, 10, 10, 12);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    exit_at(110, 10, 10);
    exit_at(111, 10, 12);
    exit_at(112, 10, 12);
    expect("");
    exit_at(113, 10, 11);
    expect("113@3 by 1 End 10 of 1, sh [sh -c x]\n");
}

static void an_exec_is_the_same_process_as_another_program(void **state)
{
    (void)state;
    begin();
    fork_at(1000, 1, 10, 10);
    fork_at(1001, 10, 10, 11);
    expect("1000@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    machine[1] = (struct made_up){.id = 10,
                                  .parent_id = 1,
                                  .threads = {10},
                                  .start_tick = 11,
                                  .name = "ls",
                                  .command_line = "ls -l"};
    name_at(1002, 10, 10, "ls", true);
    expect("1002@3 by 1 DCStart 10 of 1, ls [ls -l] exec\n");
    /* The other thread went with the exec, whether that was seen or not. */
    exit_at(1003, 10, 10);
    expect("1003@3 by 1 End 10 of 1, ls [ls -l]\n");
    exit_at(1004, 10, 11);
    expect("");
}

static void a_command_line_that_is_not_the_programs_is_not_believed(void **state)
{
    (void)state;
    begin();
    fork_at(1000, 1, 10, 10);
    expect("1000@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    name_at(1001, 10, 10, "ls", true);
    expect("1001@3 by 1 DCStart 10 of 1, ls exec\n");
    /* Another program by now, another process, and one that has no arguments yet. */
    machine[1] = (struct made_up){
        .id = 10, .threads = {10}, .start_tick = 10, .name = "cat", .command_line = "cat"};
    name_at(1002, 10, 10, "ls", true);
    expect("1002@3 by 1 DCStart 10 of 1, ls exec\n");
    machine[1].start_tick = 12;
    name_at(1003, 10, 10, "cat", true);
    expect("1003@3 by 1 DCStart 10 of 1, cat exec\n");
    machine[1].start_tick = 10;
    machine[1].command_line = "";
    name_at(1004, 10, 10, "cat", true);
    expect("1004@3 by 1 DCStart 10 of 1, cat exec\n");
    machine[1].command_line = "cat a";
    name_at(1005, 10, 10, "cat", true);
    expect("1005@3 by 1 DCStart 10 of 1, cat [cat a] exec\n");
}

static void a_name_that_a_process_gives_itself_is_its_name(void **state)
{
    (void)state;
    begin();
    fork_at(100, 1, 10, 10);
    name_at(101, 10, 10, "worker\n) S", false);
    name_at(102, 10, 11, "thread", false);
    exit_at(103, 10, 10);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "103@3 by 1 End 10 of 1, worker\n) S [sh -c x]\n");
}

static void how_a_process_ended_is_known_once(void **state)
{
    static struct etwas_exits exits = {.socket = -1};

    (void)state;
    begin();
    processes.exits = &exits;
    exits.kept[10] = (struct etwas_exit){10, 3 << 8};
    fork_at(100, 1, 10, 10);
    exit_at(101, 10, 10);
    exits.kept[10] = (struct etwas_exit){ETWAS_EXITS_KEPT + 10, 3 << 8};
    fork_at(102, 1, 10, 10);
    exit_at(103, 10, 10);
    exits.kept[10] = (struct etwas_exit){10, 9};
    fork_at(104, 1, 10, 10);
    fork_at(105, 1, 10, 10);
    exit_at(106, 10, 10);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "101@3 by 1 End 10 of 1, sh [sh -c x] with 3\n"
           "102@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "103@3 by 1 End 10 of 1, sh [sh -c x]\n"
           "104@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "105@3 by 1 End 10 of 1, sh [sh -c x] with -9 not seen\n"
           "105@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "106@3 by 1 End 10 of 1, sh [sh -c x]\n");
}

static void numbers_that_are_none_are_passed_over(void **state)
{
    (void)state;
    begin();
    fork_at(100, 1, 0, 0);
    fork_at(101, 1, UINT32_MAX, UINT32_MAX);
    name_at(102, 0, 0, "x", true);
    map_at(103, UINT32_MAX, &shell);
    exit_at(104, 0, 0);
    exit_at(105, 77, 77);
    expect("");
}

/* ---- the rundown while things happen --------------------------------------------------------- */

static void what_the_rundown_told_is_not_told_again(void **state)
{
    (void)state;
    begin_with(ETWAS_TELL_PROCESSES | ETWAS_TELL_IMAGES);
    expect("50* DCStart in 0 ffffffff81000000 to ffffffff81001000 vmlinux\n"
           "50* DCStart 1 of 0, sh [sh -c x]\n"
           "50* DCStart in 1 400000 to 403000 /bin/sh\n"
           "50* Id in 1 7000000 .build-id/ab/cd0102030405060708090a010203040506"
           "07ef.debug\n"
           "50* DCStart in 1 7000000 to 7002000 /lib/a.so\n");
    /* All of it was in the rings when the rundown looked. */
    fork_at(10, 9, 1, 1);
    name_at(20, 1, 1, "before", true);
    map_at(30, 1, &library);
    fork_at(40, 1, 1, 2);
    expect("");
    now_ns = 200;
    etwas_processes_finish(&processes);
    expect("200* DCEnd in 0 ffffffff81000000 to ffffffff81001000 vmlinux\n"
           "200* DCEnd in 1 400000 to 403000 /bin/sh\n"
           "200* Id in 1 7000000 .build-id/ab/cd0102030405060708090a010203040506"
           "07ef.debug\n"
           "200* DCEnd in 1 7000000 to 7002000 /lib/a.so\n"
           "200* DCEnd 1 of 0, sh [sh -c x]\n");
}

static void what_happens_during_the_rundown_is_in_order(void **state)
{
    (void)state;
    begin();
    /* It was looked at from 50 on, and was another then. */
    name_at(51, 1, 1, "cat", true);
    expect("51@3 by 1 DCStart 1 of 0, cat exec\n");
    /* A thread that is about to end is seen although its end is in the ring. */
    now_ns = 70;
    exit_at(49, 1, 1);
    expect("70* End 1 of 0, cat\n");
}

static void who_had_no_threads_any_more_is_not_there(void **state)
{
    (void)state;
    begin();
    machine[1] = (struct made_up){.id = 10, .name = "gone", .command_line = ""};
    etwas_processes_run_down(&processes);
    expect("");
}

/* ---- losses ---------------------------------------------------------------------------------- */

static void a_number_that_comes_again_ends_who_had_it(void **state)
{
    (void)state;
    begin();
    fork_at(100, 1, 10, 10);
    fork_at(200, 1, 10, 10);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "200@3 by 1 End 10 of 1, sh [sh -c x] not seen\n"
           "200@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    /* A thread's number, which was the only one of another process. */
    fork_at(300, 1, 1, 10);
    expect("300@3 by 1 End 10 of 1, sh [sh -c x] not seen\n");
}

static void who_was_not_seen_to_begin_is_looked_up(void **state)
{
    (void)state;
    begin();
    machine[1] = (struct made_up){.id = 10,
                                  .parent_id = 1,
                                  .threads = {10, 11},
                                  .start_tick = 2,
                                  .name = "lost",
                                  .command_line = "lost x"};
    now_ns = 150;
    fork_at(100, 10, 10, 11);
    expect("150* DCStart 10 of 1, lost [lost x]\n");
    exit_at(160, 10, 10);
    expect("");
    exit_at(161, 10, 11);
    expect("161@3 by 1 End 10 of 1, lost [lost x]\n");
    machine[1].id = 0;
    fork_at(170, 10, 10, 11);
    name_at(171, 10, 10, "gone", true);
    expect("");
    /* The parent is not known. */
    fork_at(180, 20, 21, 21);
    expect("180@3 by 1 Start 21 of 20, \n");
}

static void who_was_not_seen_to_end_is_missed(void **state)
{
    (void)state;
    begin();
    machine[1] = (struct made_up){.id = 10,
                                  .parent_id = 1,
                                  .threads = {10},
                                  .start_tick = 10,
                                  .name = "sh",
                                  .command_line = "sh -c x"};
    fork_at(1000, 1, 10, 10);
    fork_at(1001, 1, 11, 11);
    expect("1000@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "1001@3 by 1 Start 11 of 1, sh [sh -c x]\n");
    now_ns = 1100;
    assert_false(etwas_processes_find_lost(&processes, 1050));
    assert_false(etwas_processes_find_lost(&processes, 1099));
    expect("");
    assert_true(etwas_processes_find_lost(&processes, 1100));
    expect("1100* End 11 of 1, sh [sh -c x] not seen\n");
    machine[1].threads[0] = 0; /* it is not waited for */
    assert_false(etwas_processes_find_lost(&processes, 1100));
    expect("");
    exit_at(1090, 10, 10); /* the ring had it */
    expect("1090@3 by 1 End 10 of 1, sh [sh -c x]\n");
    now_ns = 1200;
    assert_true(etwas_processes_find_lost(&processes, 1200));
    expect("");
}

static void who_is_another_by_now_has_ended_and_begun(void **state)
{
    (void)state;
    begin();
    machine[1] = (struct made_up){.id = 10,
                                  .parent_id = 1,
                                  .threads = {10},
                                  .start_tick = 12,
                                  .name = "new",
                                  .command_line = "new"};
    fork_at(1000, 1, 10, 10);
    expect("1000@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    now_ns = 1300;
    assert_false(etwas_processes_find_lost(&processes, 1300));
    expect("1300* End 10 of 1, sh [sh -c x] not seen\n"
           "1300* DCStart 10 of 1, new [new]\n");
}

static void where_nobody_knows_who_is_there_nobody_is_missed(void **state)
{
    (void)state;
    begin();
    is_listed = false;
    fork_at(100, 1, 10, 10);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    assert_false(etwas_processes_find_lost(&processes, 200));
    assert_true(etwas_processes_find_lost(&processes, 200));
    expect("");
}

/* ---- images ---------------------------------------------------------------------------------- */

static void begin_with_images(void)
{
    begin_with(ETWAS_TELL_IMAGES);
    forget();
}

static void a_child_has_its_parents_images_until_it_runs_another_program(void **state)
{
    struct etwas_mapping other = shell;

    (void)state;
    begin_with_images();
    fork_at(100, 1, 10, 10);
    expect("100@3 by 1 Load in 10 400000 to 403000 /bin/sh\n"
           "100@3 by 1 Id in 10 7000000 .build-id/ab/cd0102030405060708090a010203040506"
           "07ef.debug\n"
           "100@3 by 1 Load in 10 7000000 to 7002000 /lib/a.so\n");
    name_at(101, 10, 10, "cat", true);
    expect("101@3 by 1 Unload in 10 400000 to 403000 /bin/sh\n"
           "101@3 by 1 Unload in 10 7000000 to 7002000 /lib/a.so\n");
    other.path = "/bin/cat";
    map_at(102, 10, &other);
    exit_at(103, 10, 10);
    expect("102@3 by 1 Load in 10 400000 to 403000 /bin/cat\n"
           "103@3 by 1 Unload in 10 400000 to 403000 /bin/cat\n");
    exit_at(104, 1, 1);
    expect("104@3 by 1 Unload in 1 400000 to 403000 /bin/sh\n"
           "104@3 by 1 Unload in 1 7000000 to 7002000 /lib/a.so\n");
}

static void what_is_mapped_over_is_unloaded(void **state)
{
    struct etwas_mapping over = {.address = 0x402000, .bytes = 0x1000, .path = "/lib/b.so"};

    (void)state;
    begin_with_images();
    map_at(100, 1, &shell);
    map_at(101, 1, &library);
    expect("");
    map_at(102, 1, &over);
    expect("102@3 by 1 Unload in 1 400000 to 403000 /bin/sh\n"
           "102@3 by 1 Load in 1 402000 to 403000 /lib/b.so\n");
}

static void parts_of_a_file_are_one_image(void **state)
{
    struct etwas_mapping part = shell;

    (void)state;
    begin_with_images();
    part.address = 0x402000;
    part.file_offset = 0x2000;
    part.bytes = 0x1000;
    map_at(100, 1, &part); /* of what is there */
    expect("");
    part.address = 0x405000;
    part.file_offset = 0x5000;
    map_at(101, 1, &part);
    expect("101@3 by 1 Unload in 1 400000 to 403000 /bin/sh\n"
           "101@3 by 1 Load in 1 400000 to 406000 /bin/sh\n");
    part.address = 0x9000; /* the same file elsewhere, where its first byte could not be */
    part.file_offset = 0xA000;
    map_at(102, 1, &part);
    expect("102@3 by 1 Load in 1 9000 to a000 /bin/sh at a000\n");
}

static void what_is_no_file_is_no_image(void **state)
{
    struct etwas_mapping mapping = {.address = 0x1000, .bytes = 0x1000, .path = "//anon"};

    (void)state;
    begin_with_images();
    map_at(100, 1, &mapping);
    mapping.path = "[heap]";
    map_at(101, 1, &mapping);
    mapping.path = "";
    map_at(102, 1, &mapping);
    mapping.path = "/x";
    mapping.bytes = 0;
    map_at(103, 1, &mapping);
    mapping.address = UINT64_MAX - 0xFFF;
    mapping.bytes = 0x2000;
    map_at(104, 1, &mapping);
    expect("");
    mapping = (struct etwas_mapping){.address = 0x1000, .bytes = 0x1000, .path = "[vdso]"};
    map_at(105, 1, &mapping);
    expect("105@3 by 1 Load in 1 1000 to 2000 [vdso]\n");
}

static void too_many_images_are_told_and_not_kept(void **state)
{
    struct etwas_mapping mapping = {.bytes = 0x1000, .path = "/x"};

    (void)state;
    begin_with_images();
    for (uint64_t index = 0; index < ETWAS_IMAGE_LIST_MOST + 100; index++) {
        mapping.address = 0x10000000 + index * 0x2000;
        map_at(100, 1, &mapping);
        assert_true(told.length != 0);
        forget();
    }
    assert_int_equal(etwas_process_find(&processes.table, 1)->images.count, ETWAS_IMAGE_LIST_MOST);
}

/* ---- all of it -------------------------------------------------------------------------------- */

static void nothing_is_left_of_those_who_ended(void **state)
{
    (void)state;
    begin_with_images();
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t id = 2; id < 3000; id++) {
            fork_at(round * 100000 + id + 100, id / 2, id, id);
            fork_at(round * 100000 + id + 101, id, id, id + 10000);
            forget();
        }
        assert_int_equal(processes.table.processes.count, 3000);
        for (uint32_t id = 2; id < 3000; id++) {
            exit_at(round * 100000 + 50000, id, id + 10000);
            exit_at(round * 100000 + 50000, id, id);
            forget();
        }
        assert_int_equal(processes.table.processes.count, 2);
        assert_int_equal(processes.table.threads.count, 1);
        assert_int_equal(processes.table.files.count, 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_fork_starts_what_its_parent_is, end_test),
        cmocka_unit_test_teardown(a_process_ends_with_its_last_thread, end_test),
        cmocka_unit_test_teardown(an_exec_is_the_same_process_as_another_program, end_test),
        cmocka_unit_test_teardown(a_command_line_that_is_not_the_programs_is_not_believed,
                                  end_test),
        cmocka_unit_test_teardown(a_name_that_a_process_gives_itself_is_its_name, end_test),
        cmocka_unit_test_teardown(how_a_process_ended_is_known_once, end_test),
        cmocka_unit_test_teardown(numbers_that_are_none_are_passed_over, end_test),
        cmocka_unit_test_teardown(what_the_rundown_told_is_not_told_again, end_test),
        cmocka_unit_test_teardown(what_happens_during_the_rundown_is_in_order, end_test),
        cmocka_unit_test_teardown(who_had_no_threads_any_more_is_not_there, end_test),
        cmocka_unit_test_teardown(a_number_that_comes_again_ends_who_had_it, end_test),
        cmocka_unit_test_teardown(who_was_not_seen_to_begin_is_looked_up, end_test),
        cmocka_unit_test_teardown(who_was_not_seen_to_end_is_missed, end_test),
        cmocka_unit_test_teardown(who_is_another_by_now_has_ended_and_begun, end_test),
        cmocka_unit_test_teardown(where_nobody_knows_who_is_there_nobody_is_missed, end_test),
        cmocka_unit_test_teardown(a_child_has_its_parents_images_until_it_runs_another_program,
                                  end_test),
        cmocka_unit_test_teardown(what_is_mapped_over_is_unloaded, end_test),
        cmocka_unit_test_teardown(parts_of_a_file_are_one_image, end_test),
        cmocka_unit_test_teardown(what_is_no_file_is_no_image, end_test),
        cmocka_unit_test_teardown(too_many_images_are_told_and_not_kept, end_test),
        cmocka_unit_test_teardown(nothing_is_left_of_those_who_ended, end_test),
    };

    return cmocka_run_group_tests_name("processes", tests, NULL, NULL);
}
