/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/stepped.h"

#include <ck_pr.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/processor.h"
#include "shared/layout.h"
#include "support/metadata.h"
#include "support/step.h"

enum {
    UNTRACED = 77,
    KILLS = 10, /* children that are killed on the way, if each instruction is looked at … */
    SHORT_STEPS = 12000, /* … else one, of short ways */
    WORDS = STEPPED_PAYLOAD_BYTES / sizeof(uint64_t),
    MOST_NUMBERS = 4096,
    MOST_PARTS = 4,
};

/* In memory that the parent shares with the child. */
struct progress {
    uint64_t logged;    /* these numbers were recorded: those below */
    uint64_t lost;      /* so many events were not */
    uint64_t described; /* these classes were described */
    char path[4096];    /* of the mapping */
};

static struct progress *progress;

/* ---- the child ------------------------------------------------------------------------------- */

etwas_trace_handle stepped_session;

static struct rseq unknown_area;

bool stepped_log(void)
{
    static struct {
        EVENT_TRACE_HEADER header;
        uint64_t payload[WORDS];
    } event;
    uint64_t number = progress->logged;
    bool is_logged;

    event.header = (EVENT_TRACE_HEADER){
        .Size = sizeof event,
        .Class = {.Type = 10, .Level = TRACE_LEVEL_INFORMATION, .Version = 1},
        .Guid = event_class,
    };
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    for (uint32_t word = 0; word < WORDS; word++) {
        event.payload[word] = number;
    }
    is_logged = TraceEvent(stepped_session, &event.header) == ERROR_SUCCESS;
    ck_pr_fence_store();
    ck_pr_inc_64(is_logged ? &progress->logged : &progress->lost);
    return is_logged;
}

void stepped_describe(void)
{
    (void)describe_one(3);
    ck_pr_store_64(&progress->described, described_classes());
}

static const char *log_file_of(const struct stepped_case *one)
{
    return one->has_parts  ? folder_path("log%d.etl")
           : one->has_file ? folder_path("log.etl")
                           : NULL;
}

/* Until something is overwritten, or the flusher would be needed. */
static void fill(const struct stepped_case *one)
{
    etwas_session_counts counts;

    do {
        CHECK_IN_CHILD(stepped_log());
        CHECK_IN_CHILD(etwas_counts(stepped_session, &counts) == ERROR_SUCCESS);
    } while (!one->has_file && counts.overwritten < 2 * STEPPED_RECORDS);
}

/* A step aborts a sequence, so the kernel must not know of this thread's. */
static void leave_rseq(enum stepped_slots slots)
{
    if (slots != STEPPED_SEQUENCES && slots != STEPPED_EXTRA) {
        return;
    }
    unknown_area.cpu_id = slots == STEPPED_EXTRA ? UINT32_MAX : etwas_processor_of_rseq();
    etwas_processor_offset = (const char *)&unknown_area.cpu_id - etwas_thread_pointer();
}

static _Noreturn void be_traced(const struct stepped_case *one, enum stepped_slots slots)
{
    const etwas_session_options options = {
        .log_file_mode = (one->has_file ? 0 : EVENT_TRACE_BUFFERING_MODE) |
                         (one->has_parts ? EVENT_TRACE_FILE_MODE_NEWFILE : 0) |
                         (slots == STEPPED_ONE ? EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING : 0),
        .protocol = slots == STEPPED_SEQUENCES || slots == STEPPED_EXTRA ? ETWAS_PROTOCOL_RSEQ
                                                                         : ETWAS_PROTOCOL_SHARED,
        .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
        .crash_safe_folder = folder_path("run"),
        .buffer_size_kb = 4,
        .minimum_buffers = 4,
        .maximum_buffers = 8,
        .maximum_file_size = one->has_parts,
        .flusher.no_thread = true,
    };

    CHECK_IN_CHILD(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    CHECK_IN_CHILD(etwas_start("steps", log_file_of(one), &options, &stepped_session) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_crash_safe_path(stepped_session, progress->path, sizeof progress->path) ==
                   ERROR_SUCCESS);
    if (slots == STEPPED_EXTRA) {
        leave_rseq(slots);
    }
    fill(one);
    leave_rseq(slots);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(UNTRACED);
    }
    (void)raise(SIGSTOP);
    one->run();
    (void)raise(SIGSTOP);
    _exit(0);
}

/* ---- what is expected ------------------------------------------------------------------------ */

struct stepped {
    const struct stepped_case *one;
    pid_t child;
    int file; /* the mapping, as the parent sees it */
    uint8_t *mapping;
    uint8_t *before; /* as it was at the last look */
    size_t bytes;
    uint64_t acknowledged; /* at the last look */
    uint64_t steps;
    uint64_t kill_at; /* the step before which it is killed; UINT64_MAX: never */
    uint64_t changes;
    uint64_t looks;
    uint64_t settling; /* looks where the accounts were said to be unsettled */
    bool is_checked;
    uint64_t numbers[MOST_NUMBERS];
    size_t count;
};

static void take_event(struct stepped *stepped, const struct event *event)
{
    uint64_t words[WORDS];

    if (is_metadata(&event->record)) {
        return;
    }
    assert_int_equal(event->record.UserDataLength, sizeof words);
    memcpy(words, event->payload, sizeof words);
    for (uint32_t word = 1; word < WORDS; word++) {
        assert_int_equal(words[word], words[0]);
    }
    assert_true(stepped->count < MOST_NUMBERS);
    stepped->numbers[stepped->count++] = words[0];
}

static void take_file(struct stepped *stepped, const char *path)
{
    struct events events;

    read_events(path, 0, &events);
    for (size_t index = 0; index < events.count; index++) {
        take_event(stepped, &events.items[index]);
    }
    free_events(&events);
}

static const char *part_path(int part)
{
    char name[32];

    (void)snprintf(name, sizeof name, "log%d.etl", part);
    return folder_path(name);
}

/* A part that has no header yet has nothing. */
static void take_log(struct stepped *stepped)
{
    struct stat facts;

    if (!stepped->one->has_parts) {
        take_file(stepped, folder_path("log.etl"));
    }
    for (int part = 1; stepped->one->has_parts && part <= MOST_PARTS; part++) {
        if (stat(part_path(part), &facts) == 0 && facts.st_size != 0) {
            take_file(stepped, part_path(part));
        }
    }
}

static int by_number(const void *left, const void *right)
{
    uint64_t one = *(const uint64_t *)left;
    uint64_t other = *(const uint64_t *)right;

    return one < other ? -1 : one > other;
}

/*
 * From some number on all that were acknowledged, each once, and perhaps the one that is being
 * recorded.
 */
static uint64_t expect_numbers(struct stepped *stepped)
{
    uint64_t end = progress->logged;
    uint64_t first;

    qsort(stepped->numbers, stepped->count, sizeof stepped->numbers[0], by_number);
    first = stepped->count != 0 ? stepped->numbers[0] : end;
    if (stepped->count != 0 && first + stepped->count == end + 1) {
        end++;
    }
    assert_int_equal(first + stepped->count, end);
    for (size_t index = 0; index < stepped->count; index++) {
        assert_int_equal(stepped->numbers[index], first + index);
    }
    return first;
}

static void expect_descriptions(const char *path)
{
    struct metadata metadata;

    if (progress->described != 0) {
        metadata_read(path, &metadata);
        assert_true(has_classes(&metadata, (uint32_t)progress->described, 1));
    }
}

/* The mapping as it stands: what a kill would leave. */
static const char *copy_mapping(const struct stepped *stepped)
{
    const char *path = folder_path("copy");
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(file >= 0);
    assert_int_equal(write(file, stepped->mapping, stepped->bytes), stepped->bytes);
    assert_int_equal(close(file), 0);
    return path;
}

/* What is recovered of a mapping. */
static void expect_recovered(struct stepped *stepped, const char *mapping)
{
    bool has_file = stepped->one->has_file;
    const char *after = folder_path("after.etl");
    uint64_t found;
    etwas_recovered recovered;
    uint64_t first;

    assert_int_equal(etwas_recover(mapping, 0, after, &recovered), ERROR_SUCCESS);
    assert_false(recovered.is_alive);
    assert_int_equal(recovered.damaged_buffers + recovered.missing_buffers, 0);
    assert_in_range(recovered.unfinished, 0, 1);
    take_file(stepped, after);
    assert_int_equal(stepped->count, recovered.events);
    if (has_file) {
        take_log(stepped);
    }
    found = stepped->count;
    first = expect_numbers(stepped);
    assert_true(!has_file || first == 0);
    if (!recovered.is_settling) {
        assert_int_equal(recovered.overwritten, first);
        assert_in_range(recovered.lost, progress->lost, progress->lost + 1);
        assert_int_equal(recovered.attempted,
                         found + recovered.overwritten + recovered.lost + recovered.unfinished);
    }
    stepped->settling += recovered.is_settling;
    expect_descriptions(after);
}

/* A session that has ended leaves its log file. */
static void expect_account(struct stepped *stepped, bool is_killed)
{
    stepped->looks++;
    stepped->count = 0;
    if (access(progress->path, F_OK) == 0) {
        expect_recovered(stepped, is_killed ? progress->path : copy_mapping(stepped));
    } else if (stepped->one->has_file) {
        take_log(stepped);
        assert_int_equal(expect_numbers(stepped), 0);
    }
}

/* ---- its parent ------------------------------------------------------------------------------ */

/* What of the mapping can change: not all the room for descriptions. */
static bool is_as_before(const struct stepped *stepped)
{
    const struct etwas_shared_head *head = (const void *)stepped->mapping;
    const struct etwas_shared_table *schemas = &head->tables[ETWAS_SHARED_SCHEMAS];
    size_t used = schemas->offset + head->schema_bytes;
    size_t end = schemas->offset + schemas->stride;

    return progress->logged + progress->lost + progress->described == stepped->acknowledged &&
           memcmp(stepped->mapping, stepped->before, used) == 0 &&
           memcmp(stepped->mapping + end, stepped->before + end, stepped->bytes - end) == 0;
}

static void keep(struct stepped *stepped)
{
    memcpy(stepped->before, stepped->mapping, stepped->bytes);
    stepped->acknowledged = progress->logged + progress->lost + progress->described;
}

static bool look(void *context, const struct step_moment *moment)
{
    struct stepped *stepped = context;

    stepped->steps = moment->steps;
    if (moment->steps == stepped->kill_at) {
        return false;
    }
    if (stepped->kill_at != UINT64_MAX || (!moment->after_a_system_call && is_as_before(stepped))) {
        return true;
    }
    keep(stepped);
    if (stepped->changes++ % stepped->one->stride == 0) {
        expect_account(stepped, false);
    }
    return true;
}

static void open_mapping(struct stepped *stepped)
{
    struct stat facts;

    stepped->file = open(progress->path, O_RDONLY | O_CLOEXEC);
    assert_true(stepped->file >= 0);
    assert_int_equal(fstat(stepped->file, &facts), 0);
    stepped->bytes = (size_t)facts.st_size;
    stepped->mapping = mmap(NULL, stepped->bytes, PROT_READ, MAP_SHARED, stepped->file, 0);
    assert_true(stepped->mapping != MAP_FAILED);
    stepped->before = malloc(stepped->bytes);
    assert_non_null(stepped->before);
    keep(stepped);
}

static void close_mapping(struct stepped *stepped)
{
    free(stepped->before);
    (void)munmap(stepped->mapping, stepped->bytes);
    (void)close(stepped->file);
}

static void start_child(struct stepped *stepped, enum stepped_slots slots)
{
    memset(progress, 0, sizeof *progress);
    for (int part = 1; part <= MOST_PARTS; part++) {
        (void)unlink(part_path(part)); /* of the child before */
    }
    stepped->child = fork();
    assert_true(stepped->child >= 0);
    if (stepped->child == 0) {
        be_traced(stepped->one, slots);
    }
    if (!step_await(stepped->child, UNTRACED)) {
        print_message("skipped: a process may not be traced\n");
        skip();
    }
    open_mapping(stepped);
}

/* Steps, and what it leaves when it is killed. */
static void run_once(struct stepped *stepped, enum stepped_slots slots)
{
    int status;

    start_child(stepped, slots);
    status = step_each(stepped->child, look, stepped);
    if (WIFSTOPPED(status)) {
        assert_int_equal(WSTOPSIG(status), SIGSTOP);
        assert_int_equal(kill(stepped->child, SIGKILL), 0);
        assert_int_equal(waitpid(stepped->child, &status, 0), stepped->child);
    }
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        fail_msg("the child ended with status %#x", (unsigned)status);
    }
    expect_account(stepped, true);
    (void)unlink(progress->path);
    close_mapping(stepped);
}

void stepped_is_long(void)
{
    if (FIXTURE_SANITIZER && getenv("ETWAS_TEST_EACH_INSTRUCTION") == NULL) {
        print_message(
            "skipped: takes long under a sanitizer; ETWAS_TEST_EACH_INSTRUCTION=1 asks for it\n");
        skip();
    }
}

void stepped_through(const struct stepped_case *one, enum stepped_slots slots)
{
    static struct stepped stepped;
    bool looks_at_each = getenv("ETWAS_TEST_EACH_INSTRUCTION") != NULL;
    struct stepped_case chosen = *one;
    uint64_t kills;
    uint64_t steps;

    if ((slots == STEPPED_SEQUENCES || slots == STEPPED_EXTRA) && !can_have_sequences()) {
        return;
    }
    chosen.stride = looks_at_each ? 1 : one->stride;
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(progress != MAP_FAILED);
    stay_on_one_processor();
    stepped = (struct stepped){.one = &chosen, .kill_at = UINT64_MAX};
    run_once(&stepped, slots);
    steps = stepped.steps;
    print_message("%s, slots %d: %lu instructions, %lu changes, %lu looks, %lu unsettled\n",
                  one->what, (int)slots, (unsigned long)steps, (unsigned long)stepped.changes,
                  (unsigned long)stepped.looks, (unsigned long)stepped.settling);
    kills = looks_at_each ? KILLS : steps < SHORT_STEPS;
    for (uint64_t kill = 0; kill < kills; kill++) {
        stepped.kill_at = steps / kills * kill + (uint64_t)rand() % (steps / kills);
        run_once(&stepped, slots);
    }
    leave_one_processor();
    (void)munmap(progress, sizeof *progress);
}
