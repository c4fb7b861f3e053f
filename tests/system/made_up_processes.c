/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/made_up_processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "etl/layout.h"
#include "platform/processor.h"

/* ---- what is told ---------------------------------------------------------------------------- */

struct log {
    struct etwas_emitter emitter;
    size_t length;
    char text[1 << 16];
};

static struct log emitted;

static void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    emitted.length += (size_t)vsnprintf(emitted.text + emitted.length,
                                        sizeof emitted.text - emitted.length, format, arguments);
    va_end(arguments);
    assert_true(emitted.length < sizeof emitted.text);
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
        say((flags & ETWAS_PROCESS_COMMAND_LINE_READ) != 0 ? " [%s]" : " <%s>",
            narrow((const uint8_t *)name + strlen(name) + 1));
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

static void say_counters(const uint8_t *payload, uint8_t type)
{
    say("%s %u with %u faults, peak %llu, %llu read", type == 32 ? "PerfCtr" : "PerfCtrRundown",
        u32_at(payload, 0), u32_at(payload, 4), (unsigned long long)u64_at(payload, 24),
        (unsigned long long)u64_at(payload, 104));
    say("%s\n", u32_at(payload, 12) != 0 ? " at least" : "");
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
    } else if (header.group == 3 && header.type >= ETWAS_COUNTERS_END) {
        assert_int_equal(header.version, 2);
        assert_int_equal(header.size, sizeof header + 136);
        say_counters(payload, header.type);
    } else if (header.group == 3 && header.type != ETWAS_IMAGE_LOAD) {
        assert_int_equal(header.version, 4);
        say_process(payload, header.type);
    } else {
        assert_int_equal(header.version, 3);
        say_image(payload, header.type);
    }
}

void forget(void)
{
    emitted.length = 0;
    emitted.text[0] = 0;
}

bool was_emitted(void)
{
    return emitted.length != 0;
}

void expect(const char *text)
{
    assert_string_equal(emitted.text, text);
    forget();
}

/* ---- a machine ------------------------------------------------------------------------------- */

struct made_up machine[8];
int64_t now_ns;
bool is_listed;
struct etwas_quiesce *quiesce_with;

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

static void made_up_threads(uint32_t process_id, etwas_thread_callback *each, void *context)
{
    const struct made_up *process = find_made_up(process_id);

    for (size_t index = 0; process != NULL && index < 4 && process->threads[index] != 0; index++) {
        each(context, process->threads[index], process->is_leaving[index]);
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
    return true;
}

static bool made_up_command_line(uint32_t process_id, struct etwas_process_facts *facts)
{
    const struct made_up *process = find_made_up(process_id);

    if (process == NULL) {
        return false;
    }
    (void)snprintf(facts->command_line, sizeof facts->command_line, "%s", process->command_line);
    return true;
}

static bool made_up_counters(uint32_t process_id, struct etwas_process_counters *counters)
{
    const struct made_up *process = find_made_up(process_id);

    *counters = (struct etwas_process_counters){0};
    if (process != NULL) {
        counters->page_faults = process->page_faults;
    }
    return process != NULL;
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
    .command_line = made_up_command_line,
    .mappings = made_up_mappings,
    .counters = made_up_counters,
    .kernel = made_up_kernel,
    .now_ns = made_up_now,
    .tick_of = made_up_tick,
};

/* ---- what the kernel says -------------------------------------------------------------------- */

struct etwas_processes processes;
static struct etwas_record_builder record = {.room = ETWAS_RECORD_MOST_BYTES};

/* Returns a record by process 1 and its only thread, on processor 3. */
static struct etwas_process_record process_record_of(int64_t time_ns, uint32_t type,
                                                     uint32_t process_id, uint32_t thread_id)
{
    return (struct etwas_process_record){
        .origin = {.time_ns = time_ns, .process_id = 1, .thread_id = 1, .processor = 3},
        .type = type,
        .process_id = process_id,
        .thread_id = thread_id};
}

void fork_at(int64_t time_ns, uint32_t parent_id, uint32_t process_id, uint32_t thread_id)
{
    struct etwas_process_record process_record =
        process_record_of(time_ns, PERF_RECORD_FORK, process_id, thread_id);

    process_record.task.parent_process_id = parent_id;
    etwas_processes_handle(&processes, &process_record);
}

void exit_at(int64_t time_ns, uint32_t process_id, uint32_t thread_id)
{
    struct etwas_process_record process_record =
        process_record_of(time_ns, PERF_RECORD_EXIT, process_id, thread_id);

    etwas_processes_handle(&processes, &process_record);
}

void name_at(int64_t time_ns, uint32_t process_id, uint32_t thread_id, const char *name,
             bool is_exec)
{
    struct etwas_process_record process_record =
        process_record_of(time_ns, PERF_RECORD_COMM, process_id, thread_id);

    process_record.comm.name = name;
    process_record.comm.is_exec = is_exec;
    etwas_processes_handle(&processes, &process_record);
}

void start_at(int64_t time_ns, uint32_t process_id, const char *name, const char *arguments,
              uint32_t bytes)
{
    struct etwas_process_record process_record =
        process_record_of(time_ns, PERF_RECORD_SAMPLE, process_id, process_id);

    process_record.exec.name = name;
    process_record.exec.arguments = arguments;
    process_record.exec.bytes = bytes;
    etwas_processes_handle(&processes, &process_record);
}

void map_at(int64_t time_ns, uint32_t process_id, const struct etwas_mapping *mapping)
{
    struct etwas_process_record process_record =
        process_record_of(time_ns, PERF_RECORD_MMAP2, process_id, process_id);

    process_record.image.address = mapping->address;
    process_record.image.bytes = mapping->bytes;
    process_record.image.file_offset = mapping->file_offset;
    process_record.image.build_id_bytes = mapping->build_id_bytes;
    process_record.image.build_id = mapping->build_id;
    process_record.image.path = mapping->path;
    process_record.image.protection = PROT_READ | PROT_EXEC;
    etwas_processes_handle(&processes, &process_record);
}

static const uint8_t build_id[20] = {0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8,
                                     9,    10,   1, 2, 3, 4, 5, 6, 7, 0xef};
const struct etwas_mapping shell = {
    .address = 0x401000, .bytes = 0x2000, .file_offset = 0x1000, .path = "/bin/sh"};
const struct etwas_mapping library = {.address = 0x7001000,
                                      .bytes = 0x1000,
                                      .file_offset = 0x1000,
                                      .build_id_bytes = 20,
                                      .build_id = build_id,
                                      .path = "/lib/a.so"};

void begin_with(uint32_t emits)
{
    make_up_machine();
    begin_on_machine(emits);
}

void make_up_machine(void)
{
    memset(machine, 0, sizeof machine);
    machine[0] = (struct made_up){.id = 1,
                                  .threads = {1},
                                  .start_tick = 1,
                                  .name = "sh",
                                  .command_line = "sh -c x",
                                  .mappings = {shell, library}};
}

void begin_on_machine(uint32_t emits)
{
    emitted.emitter.receive = take_record;
    forget();
    now_ns = 50;
    is_listed = true;
    assert_true(etwas_processes_init(&processes, &source, &emitted.emitter, &record, emits));
    processes.quiesce = quiesce_with;
    etwas_processes_run_down(&processes);
}

void begin(void)
{
    begin_with(ETWAS_EMIT_PROCESSES);
    expect("50* DCStart 1 of 0, sh [sh -c x]\n");
}

int end_test(void **state)
{
    (void)state;
    quiesce_with = NULL;
    etwas_processes_free(&processes);
    return 0;
}
