/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A signal before each instruction of the quick restartable sequences, wherever they are inlined;
 * the handler logs as well (I1, I7). Both events are in the file, whole and once: the handler's
 * first as long as the interrupted one has not committed, and behind it from the instruction after
 * the commit on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/rseq.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/processor.h"
#include "platform/rseq.h"
#include "support/folder.h"
#include "support/start.h"
#include "support/step.h"

#if ETWAS_RSEQ

enum {
    AROUND = 4, /* instructions: where a sequence is armed, and what follows its commit */
    TRIES = 20,
    PAYLOAD_WORDS = 4,
    LARGE_WORDS = 48, /* in one piece, which is copied by lines of the cache */
    BATCH_EVENTS = 3,
    EARLIER = 0, /* an event so that the slot has a buffer */
    INTERRUPTED = 1,
    HANDLER_S = 2
};

/* How a child ends. */
enum {
    ALONE,          /* no signal came */
    HANDLER_FIRST,  /* the interrupted one had not begun, or saw what was new in time */
    BEGUN_AGAIN,    /* it had, and was aborted; the handler's is first */
    HANDLER_SECOND, /* it had committed */
    ENDED_WRONG,
    ENDED_UNTRACED
};

static const uint64_t magic = UINT64_C(0x9f1c0de5a7e57a11);

static const etwas_guid class_guid = {
    0x8c1e94a0, 0x77d2, 0x4f36, {0x8d, 0x0a, 0x5e, 0x21, 0x9b, 0x4c, 0x63, 0x17}};

/* ---- the child ------------------------------------------------------------------------------- */

struct event {
    EVENT_INSTANCE_HEADER header;
    uint64_t payload[PAYLOAD_WORDS];
};

/* Calls with a quick way, each with the payload in as many pieces as it can. */
enum call {
    CALL_INSTANCE,
    CALL_FIELDS,
    CALL_EVENT,
    CALL_WRITE,
    CALL_WRITE_RELATED,
    CALL_WRITE_LARGE,
    CALL_MESSAGE,
    CALL_MANY
};

static enum call call_to_make;
static uint32_t clock_to_use;
static etwas_trace_handle session;
static EVENT_INSTANCE_INFO instance;
static REGHANDLE modern;
static struct rseq unknown_area;

static uint32_t ignore_request(WMIDPREQUESTCODE code, void *context, uint32_t *reserved,
                               void *wnode)
{
    (void)code;
    (void)context;
    (void)reserved;
    (void)wnode;
    return ERROR_SUCCESS;
}

/*
 * 32 bytes in pieces of each kind that a sequence copies: 16 or more, 8 to 15, 4 to 7, fewer, none.
 */
static const uint32_t pieces[] = {17, 9, 0, 5, 1};

enum {
    PIECES = sizeof pieces / sizeof pieces[0]
};

static uint32_t log_fields(const uint64_t *payload)
{
    struct {
        EVENT_INSTANCE_HEADER header;
        MOF_FIELD fields[PIECES];
    } event = {.header.Size = sizeof event};
    const uint8_t *next = (const uint8_t *)payload;

    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        event.fields[piece] =
            (MOF_FIELD){.DataPtr = (uint64_t)(uintptr_t)next, .Length = pieces[piece]};
        next += pieces[piece];
    }
    return TraceEventInstance(session, &event.header, &instance, NULL);
}

static uint32_t log_event(const uint64_t *payload)
{
    struct {
        EVENT_TRACE_HEADER header;
        uint64_t payload[PAYLOAD_WORDS];
    } event = {.header.Size = sizeof event};

    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    memcpy(event.payload, payload, sizeof event.payload);
    return TraceEvent(session, &event.header);
}

static uint32_t log_instance(const uint64_t *payload)
{
    struct event event = {.header.Size = sizeof event};

    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    memcpy(event.payload, payload, sizeof event.payload);
    return TraceEventInstance(session, &event.header, &instance, NULL);
}

static uint32_t write_event(const uint64_t *payload, const etwas_guid *related)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = TRACE_LEVEL_ERROR};
    const uint8_t *next = (const uint8_t *)payload;
    EVENT_DATA_DESCRIPTOR blocks[PIECES];

    for (uint32_t piece = 0; piece < PIECES; piece++) {
        EventDataDescCreate(&blocks[piece], next, pieces[piece]);
        next += pieces[piece];
    }
    return related == NULL ? EventWrite(modern, &descriptor, PIECES, blocks)
                           : EventWriteTransfer(modern, &descriptor, NULL, related, PIECES, blocks);
}

static uint32_t write_large(const uint64_t *payload)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = TRACE_LEVEL_ERROR};
    EVENT_DATA_DESCRIPTOR block;

    EventDataDescCreate(&block, payload, LARGE_WORDS * sizeof payload[0]);
    return EventWrite(modern, &descriptor, 1, &block);
}

static uint32_t log_message(const uint64_t *payload)
{
    const uint32_t flags = TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_SYSTEMINFO;

    return TraceMessage(session, flags, &class_guid, 1, &payload[0], sizeof payload[0], &payload[1],
                        (PAYLOAD_WORDS - 1) * sizeof payload[0], NULL, (size_t)0);
}

/* An instance, one whose payload is fields, and an event of a modern provider. */
static uint32_t write_many(const uint64_t *payload)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = TRACE_LEVEL_ERROR};
    struct event whole = {.header.Size = sizeof whole};
    struct {
        EVENT_INSTANCE_HEADER header;
        MOF_FIELD field;
    } pointing = {.header.Size = sizeof pointing};
    EVENT_DATA_DESCRIPTOR block;
    etwas_batch_event events[BATCH_EVENTS];

    whole.header.Flags = WNODE_FLAG_TRACED_GUID;
    memcpy(whole.payload, payload, sizeof whole.payload);
    pointing.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    pointing.field = (MOF_FIELD){.DataPtr = (uint64_t)(uintptr_t)payload,
                                 .Length = PAYLOAD_WORDS * sizeof payload[0]};
    EventDataDescCreate(&block, payload, PAYLOAD_WORDS * sizeof payload[0]);
    events[0] = etwas_batch_instance(session, &whole.header, &instance, NULL);
    events[1] = etwas_batch_write(modern, &descriptor, NULL, NULL, 1, &block);
    events[2] = etwas_batch_instance(session, &pointing.header, &instance, NULL);
    return etwas_write_many(events, BATCH_EVENTS, NULL, NULL);
}

static uint32_t log_payload(const uint64_t *payload)
{
    switch (call_to_make) {
    case CALL_FIELDS:
        return log_fields(payload);
    case CALL_EVENT:
        return log_event(payload);
    case CALL_WRITE:
        return write_event(payload, NULL);
    case CALL_WRITE_RELATED:
        return write_event(payload, &class_guid);
    case CALL_WRITE_LARGE:
        return write_large(payload);
    case CALL_MESSAGE:
        return log_message(payload);
    case CALL_MANY:
        return write_many(payload);
    default:
        return log_instance(payload);
    }
}

static uint32_t words_of_payload(void)
{
    return call_to_make == CALL_WRITE_LARGE ? LARGE_WORDS : PAYLOAD_WORDS;
}

static uint32_t events_of_call(void)
{
    return call_to_make == CALL_MANY ? BATCH_EVENTS : 1;
}

static void log_numbered(uint64_t number)
{
    uint64_t payload[LARGE_WORDS];

    for (uint32_t word = 0; word < words_of_payload(); word++) {
        payload[word] = magic + number;
    }
    if (log_payload(payload) != ERROR_SUCCESS) {
        _exit(ENDED_WRONG);
    }
}

static void on_signal(int number)
{
    (void)number;
    log_numbered(HANDLER_S);
}

/*
 * The numbers of the calls whose events are in the file, in its order; 0xF stands for a torn event,
 * and for a batch that is not whole.
 */
static uint32_t order_in(const char *path)
{
    static uint64_t words[65536];
    FILE *file = fopen(path, "rb");
    size_t count = fread(words, sizeof words[0], sizeof words / sizeof words[0], file);
    const uint32_t payload_words = words_of_payload();
    uint64_t current = 0;
    uint32_t missing = 0; /* events of the current call */
    uint32_t order = 0;

    (void)fclose(file);
    for (size_t at = 0; at + payload_words <= count; at++) {
        uint64_t number = words[at] - magic;

        if (number > HANDLER_S) {
            continue;
        }
        for (uint32_t word = 1; word < payload_words; word++) {
            number = words[at + word] == words[at] ? number : 0xF;
        }
        if (missing == 0) {
            current = number;
            missing = events_of_call();
        }
        missing--;
        if (number != current) {
            return 0xF;
        }
        if (missing == 0) {
            order = order << 4 | (uint32_t)number;
        }
        at += payload_words - 1;
    }
    return missing == 0 ? order : 0xF;
}

static int judge(const char *path)
{
    etwas_session_counts counts;
    uint64_t calls;

    if (etwas_stop(session, &counts) != ERROR_SUCCESS || counts.lost != 0) {
        return ENDED_WRONG;
    }
    calls = counts.recorded / events_of_call();
    switch (order_in(path)) {
    case EARLIER << 4 | INTERRUPTED:
        return calls == 2 ? ALONE : ENDED_WRONG;
    case EARLIER << 8 | HANDLER_S << 4 | INTERRUPTED:
        return calls != 3 ? ENDED_WRONG : counts.restarts == 0 ? HANDLER_FIRST : BEGUN_AGAIN;
    case EARLIER << 8 | INTERRUPTED << 4 | HANDLER_S:
        return calls == 3 ? HANDLER_SECOND : ENDED_WRONG;
    default:
        return ENDED_WRONG;
    }
}

static _Noreturn void be_traced(const char *path, bool known_to_kernel)
{
    const etwas_session_options options = {
        .protocol = ETWAS_PROTOCOL_RSEQ, .clock = clock_to_use, .flusher.no_thread = true};
    TRACE_GUID_REGISTRATION class_registration = {.Guid = &class_guid};
    etwas_trace_handle provider;
    ptrdiff_t offset;

    session = start_session(path, &options);
    if (RegisterTraceGuidsA(ignore_request, NULL, &class_guid, 1, &class_registration, NULL, NULL,
                            &provider) != ERROR_SUCCESS ||
        CreateTraceInstanceId(class_registration.RegHandle, &instance) != ERROR_SUCCESS ||
        EventRegister(&class_guid, NULL, NULL, &modern) != ERROR_SUCCESS ||
        EnableTrace(1, 1, TRACE_LEVEL_ERROR, &class_guid, session) != ERROR_SUCCESS) {
        _exit(ENDED_WRONG);
    }
    log_numbered(EARLIER);
    offset = etwas_processor_offset;
    if (!known_to_kernel) {
        unknown_area.cpu_id = etwas_processor_of_rseq();
        etwas_processor_offset = (const char *)&unknown_area.cpu_id - etwas_thread_pointer();
    }
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(ENDED_UNTRACED);
    }
    (void)signal(SIGUSR1, on_signal);
    (void)raise(SIGSTOP);
    log_numbered(INTERRUPTED);
    if (!known_to_kernel) {
        (void)raise(SIGSTOP);
        etwas_processor_offset = offset;
    }
    _exit(judge(path));
}

/* ---- the tracer ------------------------------------------------------------------------------ */

static pid_t start_child(const char *path, bool known_to_kernel)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        be_traced(path, known_to_kernel);
    }
    return step_await(child, ENDED_UNTRACED) ? child : 0;
}

/*
 * What the assembler keeps of each restartable sequence, in a section of their own (linux/rseq.h).
 */
extern const struct rseq_cs __start___rseq_cs[];
extern const struct rseq_cs __stop___rseq_cs[];

/* From the first look to the commit: the kernel aborts there. */
static bool is_in_sequence(uint64_t address)
{
    for (const struct rseq_cs *one = __start___rseq_cs; one < __stop___rseq_cs; one++) {
        if (address - one->start_ip < one->post_commit_offset) {
            return true;
        }
    }
    return false;
}

/*
 * What a signal before the instruction shall lead to; ALONE: it is in no sequence, nor close to
 * one. The instructions are in the order in which the event came to them.
 */
static int expected_at(const struct step_range *range, uint32_t index)
{
    uint32_t first = 0;
    uint32_t end = range->count;

    while (first < range->count && !is_in_sequence(range->addresses[first])) {
        first++;
    }
    while (end > first && !is_in_sequence(range->addresses[end - 1])) {
        end--;
    }
    if (index >= first && index < end) {
        return BEGUN_AGAIN;
    }
    if (index < first) {
        return first - index <= AROUND ? HANDLER_FIRST : ALONE;
    }
    return index - end < AROUND ? HANDLER_SECOND : ALONE;
}

static cpu_set_t everywhere;

/* The children are made on this processor, and stay there. */
static int stay(void **state)
{
    cpu_set_t one;

    if (folder_setup(state) != 0 || sched_getaffinity(0, sizeof everywhere, &everywhere) != 0) {
        return -1;
    }
    CPU_ZERO(&one);
    CPU_SET(etwas_processor_query(), &one);
    return sched_setaffinity(0, sizeof one, &one);
}

static int move_freely(void **state)
{
    return sched_setaffinity(0, sizeof everywhere, &everywhere) | folder_teardown(state);
}

/* Steps through one event: the program's instructions, those of libraries left out. */
static uint32_t learn_instructions(const char *path, struct step_range *range)
{
    extern const char __executable_start[];
    extern const char etext[];
    pid_t child = start_child(path, false);

    if (child == 0) {
        return 0;
    }
    *range = (struct step_range){.first = (uint64_t)(uintptr_t)__executable_start,
                                 .bytes = (uint64_t)(etext - __executable_start)};
    assert_int_equal(WEXITSTATUS(step_learn(child, range)), ALONE);
    return range->count;
}

/*
 * How the child ended. It is made again if its sequence was aborted before it came to the
 * instruction.
 */
static int result_at(const char *path, uint64_t address)
{
    bool passed = false;
    int status = 0;

    while (!passed) {
        status = step_signal_at(start_child(path, true), address, &passed);
        assert_true(WIFEXITED(status));
        assert_true(passed || WEXITSTATUS(status) == ALONE);
    }
    return WEXITSTATUS(status);
}

/*
 * An aborted sequence may come to the same instructions behind a commit. A child that was aborted
 * there by another thread of the machine, and not by the signal, is made again.
 */
static int result_expected_at(const char *path, uint64_t address, int expected)
{
    int result = result_at(path, address);

    for (uint32_t tries = 0; tries < TRIES; tries++) {
        if (expected != HANDLER_SECOND || result != BEGUN_AGAIN) {
            break;
        }
        result = result_at(path, address);
    }
    return result;
}

static void interrupt_each(const char *path, const struct step_range *range)
{
    uint32_t seen[ENDED_UNTRACED] = {0};

    for (uint32_t index = 0; index < range->count; index++) {
        int expected = expected_at(range, index);
        int result;

        if (expected == ALONE) {
            continue;
        }
        result = result_expected_at(path, range->addresses[index], expected);
        /*
         * A child that the signal did not interrupt in a sequence may have been interrupted by
         * another thread of the machine.
         */
        if (result != expected && !(expected == HANDLER_FIRST && result == BEGUN_AGAIN)) {
            fail_msg("a signal at the %uth instruction: %d, not %d", index, result, expected);
        }
        seen[expected]++;
    }
    assert_true(seen[HANDLER_FIRST] > 0);
    assert_true(seen[BEGUN_AGAIN] > 30);
    assert_true(seen[HANDLER_SECOND] > 0);
}

static void a_signal_at_any_instruction_finds_the_event_committed_or_not_begun(void **state)
{
    static const struct {
        enum call call;
        uint32_t clock;
    } turns[] = {
        {CALL_INSTANCE, ETWAS_CLOCK_TSC}, {CALL_INSTANCE, ETWAS_CLOCK_QPC},
        {CALL_FIELDS, ETWAS_CLOCK_TSC},   {CALL_EVENT, ETWAS_CLOCK_TSC},
        {CALL_WRITE, ETWAS_CLOCK_TSC},    {CALL_WRITE_RELATED, ETWAS_CLOCK_QPC},
        {CALL_MESSAGE, ETWAS_CLOCK_TSC},  {CALL_WRITE_LARGE, ETWAS_CLOCK_TSC},
        {CALL_MANY, ETWAS_CLOCK_TSC},     {CALL_MANY, ETWAS_CLOCK_SYSTEM_TIME},
    };
    static struct step_range range;
    const char *path = folder_path("trace.etl");

    (void)state;
    etwas_processor_prepare();
    if (!etwas_rseq_prepare()) {
        print_message("skipped: there are no restartable sequences\n");
        skip();
    }
    for (size_t index = 0; index < sizeof turns / sizeof turns[0]; index++) {
        call_to_make = turns[index].call;
        clock_to_use = turns[index].clock;
        if (learn_instructions(path, &range) == 0) {
            print_message("skipped: a process may not be traced\n");
            skip();
        }
        interrupt_each(path, &range);
    }
}

#define STEP_TEST(test) cmocka_unit_test_setup_teardown(test, stay, move_freely)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEP_TEST(a_signal_at_any_instruction_finds_the_event_committed_or_not_begun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    (void)puts("skipped: built without restartable sequences");
    return 77;
}

#endif
