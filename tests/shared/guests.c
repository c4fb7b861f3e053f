/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "shared/guests.h"

#include <ck_pr.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "buffer/pool_join.h"
#include "buffer/slot.h"
#include "control/lifecycle.h"
#include "control/prepare.h"
#include "control/properties.h"
#include "flush/drain.h"
#include "platform/processor.h"
#include "platform/testpoint.h"
#include "shared/mapping.h"
#include "sharing/service.h"

enum {
    THREAD_SHIFT = 48,
    REGISTERED_BYTES = 32, /* what glibc registers; __rseq_size may be less */
    BURST = 400,
    SHORT_BURST = 40,
    INTERRUPT_NS = 700000,
    DAWDLE_NS = 50000,
    PAUSE_US = 4000,
    RETRY_US = 200,
};

/* ---- the registry's folder ------------------------------------------------------------------- */

static char runtime[] = "/tmp/etwas-guests-XXXXXX";

int hosts_setup(void **state)
{
    etwas_drain_timeout_ns = GUEST_TIMEOUT_NS;
    return folder_in_memory(state) != 0 || mkdtemp(runtime) == NULL ||
                   setenv("ETWAS_RUNTIME_DIR", runtime, 1) != 0
               ? -1
               : 0;
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *walk)
{
    (void)facts;
    (void)kind;
    (void)walk;
    return remove(path);
}

int hosts_teardown(void **state)
{
    (void)state;
    etwas_service_end(); /* else this process makes the folder anew */
    return nftw(runtime, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- the host -------------------------------------------------------------------------------- */

static uint32_t start(const char *name, const char *file, const etwas_session_options *options,
                      etwas_trace_handle *handle)
{
    static struct etwas_configuration configuration;
    uint32_t code;

    memset(&configuration, 0, sizeof configuration);
    assert_int_equal(etwas_prepare_to_serve(), ERROR_SUCCESS);
    assert_int_equal(etwas_copy_name(name, ETWAS_NAMES_UTF8, configuration.name), ERROR_SUCCESS);
    if (file != NULL) {
        assert_int_equal(etwas_copy_name(file, ETWAS_NAMES_UTF8, configuration.file_name),
                         ERROR_SUCCESS);
    }
    configuration.log_file_mode = options->log_file_mode;
    configuration.clock = options->clock;
    configuration.protocol = options->protocol;
    configuration.buffer_size_kb = options->buffer_size_kb;
    configuration.minimum_buffers = options->minimum_buffers;
    configuration.maximum_buffers = options->maximum_buffers;
    configuration.flush_timer = options->flush_timer;
    configuration.reach = ETWAS_REACH_SHARED;
    code = etwas_configuration_complete(&configuration);
    if (code == ERROR_SUCCESS) {
        assert_int_equal(etwas_flusher_configuration_set(&configuration.flusher, &options->flusher),
                         ERROR_SUCCESS);
        code = etwas_lifecycle_start(&configuration, NULL, NULL, handle);
    }
    return code;
}

uint32_t host_refusal(const etwas_session_options *options)
{
    etwas_trace_handle handle;

    return start("refused", NULL, options, &handle);
}

/* As a guest gets it: one that has locks of its own. */
static int open_mapping(etwas_trace_handle session)
{
    struct etwas_session_key key;
    char path[64];
    int descriptor;

    assert_true(etwas_session_key_of(session, &key));
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d",
                   etwas_sessions[key.index].mapping->file.descriptor);
    descriptor = open(path, O_RDWR | O_CLOEXEC);
    assert_true(descriptor >= 0);
    return descriptor;
}

void host_or_skip(void)
{
    if (!can_have_sequences()) {
        print_message("skipped: there are no restartable sequences\n");
        skip();
    }
}

void host_start(struct hosted *hosted, const char *name, const char *file,
                const etwas_session_options *options)
{
    assert_int_equal(start(name, file, options, &hosted->session), ERROR_SUCCESS);
    hosted->descriptor = open_mapping(hosted->session);
}

struct etwas_session *host_take_role(const struct hosted *hosted)
{
    struct etwas_session *session;
    struct etwas_session_key key;

    assert_true(etwas_session_key_of(hosted->session, &key));
    session = etwas_lifecycle_acquire_role(key);
    assert_non_null(session);
    return session;
}

uint32_t host_take_slot(const struct hosted *hosted)
{
    struct etwas_session *session = host_take_role(hosted);
    uint32_t number;

    assert_true(etwas_guest_slot_claim(session->buffers.pool, &number));
    etwas_lifecycle_release_role(session);
    return number;
}

void host_reap(const struct hosted *hosted, uint32_t number)
{
    struct etwas_session *session = host_take_role(hosted);

    etwas_guest_slot_died(session->buffers.pool, number);
    etwas_collector_reap(&session->drain.collector);
    etwas_lifecycle_release_role(session);
}

void host_died(const struct hosted *hosted, uint32_t number)
{
    struct etwas_session *session = host_take_role(hosted);

    etwas_guest_slot_died(session->buffers.pool, number);
    etwas_lifecycle_release_role(session);
}

void host_expect_none_leaked(const struct hosted *hosted)
{
    struct etwas_session *session = host_take_role(hosted);
    const struct etwas_pool *pool = session->buffers.pool;
    uint64_t allocated = ck_pr_load_64(&pool->words->allocated);

    etwas_collector_reap(&session->drain.collector);
    for (uint32_t buffer = 0; buffer < allocated; buffer++) {
        uint64_t owner = ck_pr_load_64(&pool->owners[buffer]);
        const struct etwas_slot *slot = etwas_pool_slot(pool, etwas_owner_slot(owner));

        if (etwas_owner_state(owner) == ETWAS_OWNER_HELD &&
            etwas_pool_is_guest_slot(pool, etwas_owner_slot(owner))) {
            assert_int_equal(slot->slow_writers, 0);
            assert_true(etwas_word_buffer(ck_pr_load_64(&slot->word)) == buffer ||
                        etwas_pool_is_complete(pool, pool->buffers[buffer].commit));
        }
    }
    etwas_lifecycle_release_role(session);
}

void host_stop(struct hosted *hosted, etwas_session_counts *counts)
{
    stop_session(hosted->session, counts);
    (void)close(hosted->descriptor);
}

/* ---- a guest --------------------------------------------------------------------------------- */

void guest_prepare(void)
{
    bool is_prepared;

    etwas_prepare();
    (void)etwas_processor_count(); /* which reads a file */
    etwas_control_lock();
    is_prepared = etwas_slots_prepare();
    etwas_control_unlock();
    assert_true(is_prepared);
}

etwas_trace_handle guest_join(int descriptor, uint32_t number, struct etwas_shared_guest *guest)
{
    uint32_t code;

    guest_prepare();
    guest->gate = 0; /* any */
    code = etwas_shared_join(descriptor, ETWAS_SESSION_ENTRIES, number, guest);
    if (code == ERROR_WMI_INSTANCE_NOT_FOUND) {
        return 0;
    }
    CHECK_IN_CHILD(code == ERROR_SUCCESS);
    return etwas_session_handle((struct etwas_session_key){guest->entry, guest->gate});
}

void guest_unregister(void)
{
    const char *area = etwas_thread_pointer() + __rseq_offset;

    CHECK_IN_CHILD(syscall(SYS_rseq, area, REGISTERED_BYTES, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0 ||
                   syscall(SYS_rseq, area, __rseq_size, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0);
}

struct guest_board *guest_board_new(void)
{
    struct guest_board *board =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(board != MAP_FAILED);
    return board;
}

void guest_board_free(struct guest_board *board)
{
    (void)munmap(board, sizeof *board);
}

static uint64_t number_for(uint32_t life, uint32_t thread, uint64_t nth)
{
    return (uint64_t)(life * GUEST_THREADS + thread) << THREAD_SHIFT | nth;
}

static void add_one(uint64_t *count)
{
    ck_pr_fence_store();
    ck_pr_store_64(count, *count + 1);
    ck_pr_fence_store();
}

/* ---- an event's payload ---------------------------------------------------------------------- */

enum {
    MOST_PAYLOAD = 300,
};

static uint32_t payload_bytes(const struct guest_board *board, uint64_t number)
{
    return (uint32_t)sizeof number +
           (board->has_payload != 0 ? (uint32_t)(number * 131 % MOST_PAYLOAD) : 0);
}

static uint8_t payload_byte(uint64_t number, uint32_t index)
{
    return (uint8_t)(number * 7 + index);
}

/* Async-signal-safe. */
static uint32_t log_with_payload(etwas_trace_handle session, const struct guest_board *board,
                                 uint64_t number)
{
    struct {
        EVENT_TRACE_HEADER header;
        uint8_t payload[sizeof number + MOST_PAYLOAD];
    } event;
    uint32_t bytes = payload_bytes(board, number);

    memset(&event.header, 0, sizeof event.header);
    event.header.Size = (uint16_t)(sizeof event.header + bytes);
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    event.header.Guid = event_class;
    memcpy(event.payload, &number, sizeof number);
    for (uint32_t index = sizeof number; index < bytes; index++) {
        event.payload[index] = payload_byte(number, index);
    }
    return TraceEvent(session, &event.header);
}

static bool is_payload(const struct guest_board *board, const uint8_t *payload, uint32_t bytes)
{
    uint64_t number;

    memcpy(&number, payload, sizeof number);
    for (uint32_t index = sizeof number; index < bytes; index++) {
        if (payload[index] != payload_byte(number, index)) {
            return false;
        }
    }
    return bytes == payload_bytes(board, number);
}

/* ---- what is logged, and told ---------------------------------------------------------------- */

/* Counts before and after, so that a kill in between leaves them one apart. */
static uint32_t log_one(etwas_trace_handle session, const struct guest_board *board,
                        struct guest_tally *tally, uint64_t number)
{
    uint32_t code;

    add_one(&tally->attempted);
    code = board->has_payload != 0 ? log_with_payload(session, board, number)
                                   : log_number(session, number);
    add_one(code == ERROR_SUCCESS             ? &tally->recorded
            : code == ERROR_NOT_ENOUGH_MEMORY ? &tally->lost
            : code == ERROR_INVALID_HANDLE    ? &tally->refused
                                              : &tally->odd);
    return code;
}

uint32_t guest_attempt(etwas_trace_handle session, struct guest_board *board, uint32_t life,
                       uint32_t thread)
{
    struct guest_tally *tally = &board->lives[life].threads[thread];

    if (tally->attempted == 0) {
        tally->process_id = (uint32_t)getpid();
        tally->thread_id = (uint32_t)syscall(SYS_gettid);
    }
    return log_one(session, board, tally, number_for(life, thread, tally->recorded));
}

void guest_log(etwas_trace_handle session, struct guest_board *board, uint32_t life,
               uint32_t thread, uint64_t count)
{
    struct guest_tally *tally = &board->lives[life].threads[thread];

    for (uint64_t end = tally->recorded + count; tally->recorded < end;) {
        uint32_t code = guest_attempt(session, board, life, thread);

        if (code == ERROR_INVALID_HANDLE) {
            return;
        }
        if (code != ERROR_SUCCESS) {
            (void)usleep(RETRY_US); /* the flusher is behind */
        }
    }
}

struct logger {
    etwas_trace_handle session;
    struct guest_board *board;
    uint32_t life;
    uint32_t thread;
};

static const struct logger *interrupted;

static void log_in_handler(int number)
{
    (void)number;
    (void)guest_attempt(interrupted->session, interrupted->board, interrupted->life, GUEST_HANDLER);
}

/* The calling thread, every now and then. */
static void interrupt_me(const struct logger *logger)
{
    const struct itimerspec often = {{.tv_nsec = INTERRUPT_NS}, {.tv_nsec = INTERRUPT_NS}};
    struct sigaction action = {.sa_handler = log_in_handler, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2};
    timer_t timer;

    interrupted = logger;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    CHECK_IN_CHILD(sigaction(SIGUSR2, &action, NULL) == 0);
    CHECK_IN_CHILD(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK_IN_CHILD(timer_settime(timer, 0, &often, NULL) == 0);
}

static void *log_in_bursts(void *context)
{
    const struct logger *logger = context;
    struct guest_board *board = logger->board;
    uint32_t *inside = &board->lives[logger->life].inside;

    if (logger->thread != 0) {
        guest_unregister();
    }
    if (logger->thread == 0 && board->has_handler != 0) {
        interrupt_me(logger);
    }
    while (ck_pr_load_32(&board->quit) == 0) {
        ck_pr_inc_32(inside);
        guest_log(logger->session, board, logger->life, logger->thread,
                  board->has_payload != 0 ? SHORT_BURST : BURST);
        ck_pr_fence_release();
        ck_pr_dec_32(inside);
        (void)usleep(PAUSE_US);
    }
    return NULL;
}

/* So that a kill, a stop and other threads of the guest come between any two steps. */
static void dawdle(enum etwas_testpoint point)
{
    static _Thread_local uint32_t seed;
    const struct timespec moment = {.tv_nsec = DAWDLE_NS};

    seed = seed * 1103515245 + 12345 + (uint32_t)(uintptr_t)&seed;
    if (point <= ETWAS_POINT_SWITCH_INSTALLED && seed >> 28 == 0) {
        (void)nanosleep(&moment, NULL);
    }
}

static _Noreturn void wait_to_be_killed(void)
{
    for (;;) {
        (void)pause();
    }
}

static void live(const struct hosted *hosted, struct guest_board *board, uint32_t life,
                 uint32_t number)
{
    static struct logger loggers[GUEST_LOGGERS];
    static pthread_t threads[GUEST_LOGGERS];
    struct etwas_shared_guest guest;
    etwas_trace_handle session = guest_join(hosted->descriptor, number, &guest);

    if (session == 0) {
        wait_to_be_killed();
    }
    if (board->dawdles != 0) {
        etwas_testpoint_set(dawdle);
    }
    for (uint32_t thread = 0; thread < GUEST_LOGGERS; thread++) {
        loggers[thread] = (struct logger){session, board, life, thread};
        CHECK_IN_CHILD(pthread_create(&threads[thread], NULL, log_in_bursts, &loggers[thread]) ==
                       0);
    }
    for (uint32_t thread = 0; thread < GUEST_LOGGERS; thread++) {
        (void)pthread_join(threads[thread], NULL);
    }
}

int guest_process(const struct hosted *hosted, struct guest_board *board, uint32_t life,
                  uint32_t number)
{
    int child;

    assert_true(life < GUEST_LIVES);
    child = fork_child();
    if (child == 0) {
        live(hosted, board, life, number);
        _exit(0);
    }
    return child;
}

struct guest_sum guest_sum(const struct guest_board *board, uint32_t lives)
{
    struct guest_sum sum = {0};

    for (uint32_t index = 0; index < lives * GUEST_THREADS; index++) {
        const struct guest_tally *tally =
            &board->lives[index / GUEST_THREADS].threads[index % GUEST_THREADS];

        assert_int_equal(tally->odd, 0);
        sum.attempted += tally->attempted - tally->refused;
        sum.recorded += tally->recorded;
        sum.lost += tally->lost;
        sum.threads += tally->attempted != 0;
    }
    return sum;
}

/* ---- the file -------------------------------------------------------------------------------- */

struct reading {
    const struct guest_board *board;
    uint64_t *next; /* of each thread: behind the last number found */
    uint32_t threads;
    uint64_t events;
    uint64_t missing; /* of the numbers before others of their thread */
    uint64_t wrong;
};

static void WINAPI take_event(EVENT_RECORD *record)
{
    struct reading *reading = record->UserContext;
    const struct guest_tally *tally;
    uint64_t number;
    uint64_t thread;
    uint64_t nth;

    if (memcmp(&record->EventHeader.ProviderId, &event_class, sizeof event_class) != 0) {
        return;
    }
    reading->events++;
    memcpy(&number, record->UserData, sizeof number);
    thread = number >> THREAD_SHIFT;
    if (thread >= reading->threads) {
        reading->wrong++;
        return;
    }
    nth = number & ((UINT64_C(1) << THREAD_SHIFT) - 1);
    tally = &reading->board->lives[thread / GUEST_THREADS].threads[thread % GUEST_THREADS];
    reading->wrong += nth < reading->next[thread] ||
                      !is_payload(reading->board, record->UserData, record->UserDataLength) ||
                      record->EventHeader.ProcessId != tally->process_id ||
                      record->EventHeader.ThreadId != tally->thread_id;
    reading->missing += nth - reading->next[thread];
    reading->next[thread] = nth + 1;
}

uint64_t guest_expect_file(const char *path, const struct guest_board *board, uint32_t lives,
                           bool slack, uint64_t missing)
{
    struct reading reading = {.board = board, .threads = lives * GUEST_THREADS};
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)path,
                                    .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD |
                                                        PROCESS_TRACE_MODE_RAW_TIMESTAMP,
                                    .EventRecordCallback = take_event,
                                    .Context = &reading};
    etwas_trace_handle trace;

    reading.next = calloc(reading.threads, sizeof *reading.next);
    assert_non_null(reading.next);
    trace = OpenTraceA(&logfile);
    assert_int_not_equal(trace, INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(reading.wrong, 0);
    for (uint32_t thread = 0; thread < reading.threads; thread++) {
        uint64_t recorded =
            board->lives[thread / GUEST_THREADS].threads[thread % GUEST_THREADS].recorded;

        assert_true(reading.next[thread] <= recorded + (slack ? 1 : 0));
        if (reading.next[thread] < recorded) {
            reading.missing += recorded - reading.next[thread];
        }
    }
    assert_true(reading.missing <= missing);
    free(reading.next);
    return reading.events;
}
