/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A hostile process: it has a session's mapping, and scribbles on it while the host and other
 * guests log into it, while it is flushed, copied, asked, changed and stopped. Nobody crashes,
 * hangs, or writes outside the mapping; the file can be read; the next session is whole, and one
 * beside is untouched.
 *
 * Its scribbles follow from a seed. 12 rounds, or so many as ETWAS_TEST_ROUNDS says, from the seed
 * ETWAS_TEST_SEED on.
 */
#include <ck_pr.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer/pool.h"
#include "flush/drain.h"
#include "platform/memory.h"
#include "platform/testpoint.h"
#include "platform/wait.h"
#include "shared/guests.h"
#include "shared/scribbler.h"

enum {
    ROUNDS = 12,
    WRITERS = 4, /* the last runs no sequences */
    VICTIMS = 2,
    BESIDE_A_ROUND = 100,
    AFTERWARDS = 2000,
    CANARY_BYTES = 1 << 20,
    CANARIES = 16,
    CANARY = 0xA5,
    MOST_SECONDS = 100, /* a round and what is in it; a round takes a few */
};

#define ROUND_NS (UINT64_C(400) * 1000000)
#define TIMEOUT_NS (UINT64_C(50) * 1000000)
#define GUARD_BYTES ((size_t)64 << 20)

/* ---- what nobody may write to ---------------------------------------------------------------- */

static uint8_t *canaries[CANARIES];

/* What is kept lies between pages that nobody may touch. */
void *__wrap_etwas_memory_allocate_permanent(size_t bytes);

void *__wrap_etwas_memory_allocate_permanent(size_t bytes)
{
    size_t page = etwas_memory_page_bytes();
    size_t room = (bytes + page - 1) / page * page;
    uint8_t *start = mmap(NULL, room + 2 * GUARD_BYTES, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (start == MAP_FAILED || mprotect(start + GUARD_BYTES, room, PROT_READ | PROT_WRITE) != 0) {
        return NULL;
    }
    return start + GUARD_BYTES;
}

static size_t canary_bytes(uint32_t index)
{
    return (size_t)CANARY_BYTES >> index % 8;
}

static void set_canaries(void)
{
    for (uint32_t index = 0; index < CANARIES; index++) {
        canaries[index] = malloc(canary_bytes(index));
        assert_non_null(canaries[index]);
        memset(canaries[index], CANARY, canary_bytes(index));
    }
}

static void expect_canaries(void)
{
    for (uint32_t index = 0; index < CANARIES; index++) {
        for (uint32_t byte = 0; byte < canary_bytes(index); byte++) {
            assert_int_equal(canaries[index][byte], CANARY);
        }
    }
}

static void free_canaries(void)
{
    for (uint32_t index = 0; index < CANARIES; index++) {
        free(canaries[index]);
    }
}

/*
 * ---- processes that log
 * ---------------------------------------------------------------------------
 */

static const etwas_session_options kinds[] = {
    {.log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER,
     .buffer_size_kb = 8,
     .minimum_buffers = 24,
     .maximum_buffers = 41,
     .flush_timer = 5},
    {.log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4, .minimum_buffers = 37},
    {.log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER,
     .buffer_size_kb = 64,
     .minimum_buffers = 8,
     .maximum_buffers = 12,
     .flush_timer = 2},
};

struct round {
    const etwas_session_options *options;
    struct hosted hosted;
    struct scribbles *scribbles;
    struct guest_board *board;
    uint32_t slots[VICTIMS];
    int victims[VICTIMS];
    int scribbler;
    uint32_t quit;
    uint64_t damage; /* that was named */
};

struct writer {
    struct round *round;
    uint32_t index;
    TRACEHANDLE registration;
    TRACE_GUID_REGISTRATION classes[1];
    pthread_t thread;
};

static void log_instance(const struct writer *writer, uint64_t number)
{
    struct {
        EVENT_INSTANCE_HEADER header;
        uint8_t payload[900];
    } event;
    EVENT_INSTANCE_INFO instance;

    memset(&event, 0, sizeof event.header);
    event.header.Size = (uint16_t)(sizeof event.header + number * 13 % sizeof event.payload);
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    if (CreateTraceInstanceId(writer->classes[0].RegHandle, &instance) == ERROR_SUCCESS) {
        (void)TraceEventInstance(writer->round->hosted.session, &event.header, &instance, NULL);
    }
}

static void log_message(const struct round *round, uint64_t number)
{
    static const char text[5000] = "text";

    (void)TraceMessage(round->hosted.session,
                       TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_SYSTEMINFO,
                       &event_class, (uint16_t)number, text, (size_t)(number * 31 % sizeof text),
                       &number, sizeof number, NULL);
}

static void *write_on(void *context)
{
    const struct writer *writer = context;
    uint64_t number = writer->index;

    if (writer->index == WRITERS - 1) {
        guest_unregister();
    }
    while (ck_pr_load_32(&writer->round->quit) == 0) {
        for (uint32_t burst = 0; burst < 200; burst++, number++) {
            if (number % 3 == 0) {
                log_instance(writer, number);
            } else if (number % 3 == 1) {
                (void)log_number(writer->round->hosted.session, number);
            } else {
                log_message(writer->round, number);
            }
        }
        (void)usleep(100);
    }
    return NULL;
}

static void start_writers(struct round *round, struct writer *writers)
{
    for (uint32_t index = 0; index < WRITERS; index++) {
        struct writer *writer = &writers[index];

        *writer =
            (struct writer){.round = round, .index = index, .classes = {{.Guid = &first_class}}};
        assert_int_equal(RegisterTraceGuids(ignore_request, NULL, &control_guid, 1, writer->classes,
                                            NULL, NULL, &writer->registration),
                         ERROR_SUCCESS);
        assert_int_equal(pthread_create(&writer->thread, NULL, write_on, writer), 0);
    }
}

static void end_writers(struct round *round, struct writer *writers)
{
    ck_pr_store_32(&round->quit, 1);
    for (uint32_t index = 0; index < WRITERS; index++) {
        (void)pthread_join(writers[index].thread, NULL);
        assert_int_equal(UnregisterTraceGuids(writers[index].registration), ERROR_SUCCESS);
    }
}

/* Kills a guest, which does not end of its own accord. */
static void end_child(int child)
{
    int status;

    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        fail_msg("a guest ended with status %#x", (unsigned)status);
    }
}

/* ---- a round --------------------------------------------------------------------------------- */

static bool is_recorder(const struct round *round)
{
    return round->options->log_file_mode == EVENT_TRACE_BUFFERING_MODE;
}

/* What is asked of the host meanwhile: whatever it answers, it answers. */
static void control(const struct round *round, uint32_t turn)
{
    etwas_session_counts counts;
    etwas_retention retention;
    struct block block;

    prepare_block(&block, NULL);
    switch (turn % 5) {
    case 0:
        (void)ControlTraceA(round->hosted.session, NULL, &block.properties,
                            EVENT_TRACE_CONTROL_QUERY);
        break;
    case 1:
        block.properties.MaximumBuffers = 30 + turn % 20;
        (void)ControlTraceA(round->hosted.session, NULL, &block.properties,
                            EVENT_TRACE_CONTROL_UPDATE);
        break;
    case 2:
        (void)etwas_counts(round->hosted.session, &counts);
        break;
    case 3:
        (void)etwas_retention_query(round->hosted.session, &retention, NULL, 0);
        break;
    default:
        if (is_recorder(round) && turn % 2 == 0) {
            (void)etwas_trigger(round->hosted.session);
        } else if (is_recorder(round)) {
            (void)etwas_snapshot(round->hosted.session, folder_path("log.etl"));
        } else {
            prepare_block(&block, NULL);
            (void)ControlTraceA(round->hosted.session, NULL, &block.properties,
                                EVENT_TRACE_CONTROL_FLUSH);
        }
        break;
    }
}

static void WINAPI take_any(EVENT_RECORD *record)
{
    ++*(uint64_t *)record->UserContext;
}

/* It may be damaged; what can be read of it is. */
static uint64_t read_what_there_is(const char *path)
{
    uint64_t events = 0;
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)path,
                                    .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                    .EventRecordCallback = take_any,
                                    .Context = &events};
    etwas_trace_handle trace = OpenTraceA(&logfile);
    uint32_t code;

    assert_int_not_equal(trace, INVALID_PROCESSTRACE_HANDLE);
    code = ProcessTrace(&trace, 1, NULL, NULL);
    assert_true(code == ERROR_SUCCESS || code == ERROR_FILE_CORRUPT);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    return events;
}

static void begin(struct round *round, const char *name)
{
    host_start(&round->hosted, name, is_recorder(round) ? NULL : folder_path("log.etl"),
               round->options);
}

/* On a machine of many processors there are too few buffers. */
static void arm(const struct round *round)
{
    const etwas_trigger_options options = {.log_file = folder_path("window%d.etl"), .after_ms = 5};
    uint32_t code = etwas_trigger_arm(round->hosted.session, &options);

    assert_true(code == ERROR_SUCCESS || code == ERROR_INVALID_PARAMETER);
}

/* Victims join before anything is scribbled on: else they might be refused. */
static void begin_guests(struct round *round, uint64_t seed)
{
    for (uint32_t index = 0; index < VICTIMS; index++) {
        round->slots[index] = host_take_slot(&round->hosted);
        round->victims[index] =
            guest_process(&round->hosted, round->board, index, round->slots[index]);
    }
    for (uint32_t index = 0; index < VICTIMS; index++) {
        while (ck_pr_load_32(&round->board->lives[index].threads[0].thread_id) == 0) {
            (void)usleep(1000);
        }
    }
    round->scribbler = fork_child();
    if (round->scribbler == 0) {
        scribble(round->hosted.descriptor, seed, round->scribbles);
    }
}

static void end_guests(const struct round *round, uint32_t turn)
{
    for (uint32_t index = 0; index < VICTIMS; index++) {
        end_child(round->victims[index]);
        if (turn % 2 == 0) {
            host_died(&round->hosted, round->slots[index]);
        }
    }
}

/* Half of the sessions are stopped while it scribbles on. */
static void scribbled_on(struct round *round, uint64_t seed)
{
    const uint64_t end_ns = etwas_monotonic_ns() + ROUND_NS;
    struct writer writers[WRITERS];
    etwas_session_counts counts;

    begin(round, "scribbled on");
    if (is_recorder(round)) {
        arm(round);
    }
    begin_guests(round, seed);
    start_writers(round, writers);
    for (uint32_t turn = 0; etwas_monotonic_ns() < end_ns; turn++) {
        control(round, turn);
        (void)usleep(2000);
    }
    if (seed % 2 == 0) {
        end_child(round->scribbler);
    }
    end_guests(round, (uint32_t)seed);
    (void)etwas_stop(round->hosted.session, &counts);
    round->damage += counts.quarantined_slots + counts.damaged_buffers;
    end_writers(round, writers);
    if (seed % 2 != 0) {
        end_child(round->scribbler);
    }
    (void)close(round->hosted.descriptor);
    if (access(folder_path("log.etl"), F_OK) == 0) {
        (void)read_what_there_is(folder_path("log.etl"));
        assert_int_equal(unlink(folder_path("log.etl")), 0);
    }
}

/* In the same place, whatever was left there. */
static void expect_next_whole(struct round *round)
{
    etwas_session_counts counts;

    begin(round, "afterwards");
    for (uint64_t number = 0; number < AFTERWARDS; number++) {
        while (log_number(round->hosted.session, number) == ERROR_NOT_ENOUGH_MEMORY) {
            (void)usleep(1000);
        }
    }
    if (is_recorder(round)) {
        assert_int_equal(etwas_snapshot(round->hosted.session, folder_path("log.etl")),
                         ERROR_SUCCESS);
    }
    host_stop(&round->hosted, &counts);
    assert_int_equal(counts.recorded + counts.overwritten, AFTERWARDS);
    assert_int_equal(counts.quarantined_slots + counts.damaged_buffers, 0);
    assert_int_equal(count_events(folder_path("log.etl")), counts.recorded);
    assert_int_equal(unlink(folder_path("log.etl")), 0);
}

static long number_from(const char *variable, long otherwise)
{
    const char *value = getenv(variable);

    return value != NULL ? strtol(value, NULL, 10) : otherwise;
}

static void a_hostile_process_costs_records_and_nothing_else(void **state)
{
    const long rounds = number_from("ETWAS_TEST_ROUNDS", ROUNDS);
    const uint64_t seed = (uint64_t)number_from("ETWAS_TEST_SEED", 0);
    struct scribbles *scribbles = scribbles_new();
    struct guest_board *board = guest_board_new();
    uint64_t damage = 0;
    etwas_trace_handle beside;
    etwas_session_counts counts;
    struct block block;

    (void)state;
    host_or_skip();
    etwas_invariants_are_broken = true;
    etwas_drain_timeout_ns = TIMEOUT_NS;
    set_canaries();
    prepare_block(&block, folder_path("beside.etl"));
    beside = start_block("beside", &block);
    for (uint64_t round = 0; round < (uint64_t)rounds; round++) {
        struct round each = {.options = &kinds[round % (sizeof kinds / sizeof kinds[0])],
                             .scribbles = scribbles,
                             .board = board};

        (void)alarm(MOST_SECONDS);
        memset(board, 0, sizeof *board);
        board->has_payload = 1;
        scribbled_on(&each, seed + round);
        damage += each.damage;
        expect_next_whole(&each);
        expect_canaries();
        for (uint64_t number = 0; number < BESIDE_A_ROUND; number++) {
            assert_int_equal(log_number(beside, number), ERROR_SUCCESS);
        }
    }
    (void)alarm(0);
    assert_true(damage != 0);
    stop_session(beside, &counts);
    assert_int_equal(counts.recorded, rounds * BESIDE_A_ROUND);
    assert_int_equal(counts.lost, 0);
    assert_int_equal(count_events(folder_path("beside.etl")), rounds * BESIDE_A_ROUND);
    print_message("%llu scribbles, %llu times named\n", (unsigned long long)scribbles->count,
                  (unsigned long long)damage);
    etwas_drain_timeout_ns = GUEST_TIMEOUT_NS;
    free_canaries();
    guest_board_free(board);
    scribbles_free(scribbles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_hostile_process_costs_records_and_nothing_else),
    };

    return cmocka_run_group_tests_name("a hostile process", tests, hosts_setup, hosts_teardown);
}
