/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Buffers on their memory nodes, on machines that are made up: what the kernel is asked for, which
 * buffers are taken, and what is said where there is nothing to do, or it is refused.
 */
#include <ck_pr.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/mempolicy.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "platform/nodes.h"
#include "session/fixture.h"
#include "support/inside.h"

enum {
    SKIPPED = 77,
    BUFFER_KB = 64,
    MINIMUM = 8,
    MAXIMUM = 32,
    STRIPE = 4, /* buffers: each of two nodes has some of the minimum */
    NEAR = 1,   /* index of the node on which every processor is but one that nobody has */
    NEAR_NUMBER = 5,
    CALLS_MOST = 256,
    EVENT_BYTES = 4000,
};

/* ---- machines -------------------------------------------------------------------------------- */

static const char *nodes_with_memory; /* NULL: no file says so */
static const char *possible_processors;

static bool say(const char *path, char *text, size_t size)
{
    const char *said = NULL;

    if (strcmp(path, ETWAS_NODES_FOLDER "/has_memory") == 0) {
        said = nodes_with_memory;
    } else if (strcmp(path, ETWAS_PROCESSORS_POSSIBLE) == 0) {
        said = possible_processors;
    } else if (strcmp(path, ETWAS_NODES_FOLDER "/node0/cpulist") == 0) {
        said = "2046\n";
    } else if (strcmp(path, ETWAS_NODES_FOLDER "/node5/cpulist") == 0) {
        said = "0-1000,1001-2045\n";
    } else if (strcmp(path, ETWAS_NODES_FOLDER "/node7/cpulist") == 0) {
        said = "\n"; /* memory alone */
    }
    if (said == NULL) {
        return false;
    }
    (void)snprintf(text, size, "%s", said);
    return true;
}

static const struct etwas_machine made_up = {.text = say};

static void make_up(const char *nodes)
{
    nodes_with_memory = nodes;
    possible_processors = "0-3\n";
    etwas_nodes_machine = &made_up;
}

static void a_machines_nodes_are_those_with_memory_and_processors(void **state)
{
    static struct etwas_nodes nodes;

    (void)state;
    nodes_with_memory = "0,5-8\n";
    etwas_nodes_read(&made_up, &nodes);
    assert_int_equal(nodes.count, 2);
    assert_int_equal(nodes.numbers[0], 0);
    assert_int_equal(nodes.numbers[NEAR], NEAR_NUMBER);
    assert_int_equal(nodes.of_processor[0], NEAR);
    assert_int_equal(nodes.of_processor[2045], NEAR);
    assert_int_equal(nodes.of_processor[2046], 0);
    nodes_with_memory = "7\n";
    etwas_nodes_read(&made_up, &nodes);
    assert_int_equal(nodes.count, 0);
    assert_int_equal(nodes.of_processor[0], ETWAS_NO_NODE);
    nodes_with_memory = "garbage 4-2 99999999999999999999999\n";
    etwas_nodes_read(&made_up, &nodes);
    assert_int_equal(nodes.count, 0);
    /* A kernel that knows of no nodes; and where nothing can be read. */
    nodes_with_memory = NULL;
    possible_processors = "0-3\n";
    etwas_nodes_read(&made_up, &nodes);
    assert_int_equal(nodes.count, 1);
    possible_processors = NULL;
    etwas_nodes_read(&made_up, &nodes);
    assert_int_equal(nodes.count, 0);
}

/* ---- what the kernel is asked ---------------------------------------------------------------- */

struct asked {
    uintptr_t start;
    uintptr_t bytes;
    uintptr_t mode;
    uint64_t mask;
};

static struct asked asked[CALLS_MOST];
static volatile sig_atomic_t calls;

/* In the kernel's place: it is done. */
static void note_call(int number, siginfo_t *information, void *context)
{
    mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
    struct asked call;

    (void)number;
    (void)information;
#if defined(__x86_64__)
    call.start = (uintptr_t)registers->gregs[REG_RDI];
    call.bytes = (uintptr_t)registers->gregs[REG_RSI];
    call.mode = (uintptr_t)registers->gregs[REG_RDX];
    memcpy(&call.mask, (const void *)(uintptr_t)registers->gregs[REG_R10], sizeof call.mask);
    registers->gregs[REG_RAX] = 0;
#else
    call.start = registers->regs[0];
    call.bytes = registers->regs[1];
    call.mode = registers->regs[2];
    memcpy(&call.mask, (const void *)(uintptr_t)registers->regs[3], sizeof call.mask);
    registers->regs[0] = 0;
#endif
    if (calls < CALLS_MOST) {
        asked[calls] = call;
    }
    calls = calls + 1;
}

/* What becomes of mbind from here on: SECCOMP_RET_…. */
static bool answer_mbind(uint32_t answer)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mbind, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof steps / sizeof steps[0], .filter = steps};
    struct sigaction action = {.sa_sigaction = note_call, .sa_flags = SA_SIGINFO};

    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* A log file for which nobody makes room: the buffers are used up one after the other. */
static etwas_session_options logger(uint32_t crash_safe)
{
    return (etwas_session_options){
        .buffer_size_kb = BUFFER_KB,
        .minimum_buffers = MINIMUM,
        .maximum_buffers = MAXIMUM,
        .flusher.no_thread = true,
        .memory = ETWAS_MEMORY_NODES,
        .crash_safe = crash_safe,
        .crash_safe_folder = crash_safe != 0 ? folder_path("pool") : NULL,
    };
}

static etwas_trace_handle start(const etwas_session_options *options)
{
    etwas_trace_handle session;

    CHECK_IN_CHILD(etwas_start("nodes", folder_path("f.etl"), options, &session) == ERROR_SUCCESS);
    return session;
}

static etwas_session_memory memory_of(etwas_trace_handle session)
{
    etwas_session_memory memory;

    CHECK_IN_CHILD(etwas_memory(session, &memory) == ERROR_SUCCESS);
    CHECK_IN_CHILD(memory.asked == ETWAS_MEMORY_NODES);
    return memory;
}

static const char *sentence_of(etwas_trace_handle session)
{
    static char text[512];

    (void)etwas_memory_refusal(session, ETWAS_MEMORY_NODES, text, sizeof text);
    return text;
}

/* Piece by piece, on each node in turn, and nothing left out. */
static void check_what_was_asked(size_t region_bytes)
{
    const size_t stripe_bytes = (size_t)STRIPE * BUFFER_KB * 1024;
    size_t bytes = 0;

    CHECK_IN_CHILD(calls == (int)((region_bytes + stripe_bytes - 1) / stripe_bytes));
    for (int call = 0; call < calls; call++) {
        CHECK_IN_CHILD(asked[call].start == asked[0].start + bytes);
        CHECK_IN_CHILD(asked[call].mode == MPOL_PREFERRED);
        CHECK_IN_CHILD(asked[call].mask == (call % 2 == NEAR ? UINT64_C(1) << NEAR_NUMBER : 1));
        bytes += asked[call].bytes;
    }
    CHECK_IN_CHILD(bytes == region_bytes);
}

static uint32_t log_large(etwas_trace_handle session)
{
    static struct {
        EVENT_TRACE_HEADER header;
        uint8_t payload[EVENT_BYTES];
    } event = {.header = {.Flags = WNODE_FLAG_TRACED_GUID}};

    event.header.Size = sizeof event;
    return TraceEvent(session, &event.header);
}

/* Buffers that were taken: near ones, and others. */
static void count_taken(const struct etwas_pool *pool, uint32_t *near, uint32_t *far)
{
    *near = 0;
    *far = 0;
    for (uint32_t buffer = 0; buffer < MAXIMUM; buffer++) {
        bool is_taken = etwas_owner_state(ck_pr_load_64(&pool->owners[buffer])) != ETWAS_OWNER_FREE;

        *(buffer / STRIPE % 2 == NEAR ? near : far) += is_taken ? 1 : 0;
    }
}

/*
 * Near ones first, however low the numbers of the others are; then these, and new ones, up to all.
 */
static void check_what_is_taken(etwas_trace_handle session)
{
    const struct etwas_pool *pool = inside_of(session)->buffers.pool;
    uint32_t near;
    uint32_t far;

    do {
        CHECK_IN_CHILD(log_large(session) == ERROR_SUCCESS);
        count_taken(pool, &near, &far);
        CHECK_IN_CHILD(far == 0 || near >= MINIMUM / 2);
    } while (far == 0);
    while (log_large(session) == ERROR_SUCCESS) {
    }
    count_taken(pool, &near, &far);
    CHECK_IN_CHILD(near + far == MAXIMUM);
}

static int place(uint32_t crash_safe)
{
    const etwas_session_options options = logger(crash_safe);
    etwas_crash_safe_place place = {.in_memory = true};
    etwas_session_memory memory;
    etwas_trace_handle session;

    make_up("0,5\n");
    if (!answer_mbind(SECCOMP_RET_TRAP)) {
        return SKIPPED;
    }
    session = start(&options);
    memory = memory_of(session);
    if (crash_safe != 0) {
        CHECK_IN_CHILD(etwas_crash_safe_query_place(session, &place) == ERROR_SUCCESS);
    }
    if (place.in_memory) {
        CHECK_IN_CHILD(memory.granted == ETWAS_MEMORY_NODES && memory.memory_nodes == 2);
        CHECK_IN_CHILD(sentence_of(session)[0] == 0);
        check_what_was_asked(memory.region_bytes);
        check_what_is_taken(session);
    } else {
        CHECK_IN_CHILD(memory.granted == 0 && memory.memory_nodes == 0 && calls == 0);
        CHECK_IN_CHILD(strstr(sentence_of(session), "a disk's file system") != NULL);
        CHECK_IN_CHILD(log_number(session, 1) == ERROR_SUCCESS);
    }
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    return 0;
}

static int place_private(void)
{
    return place(0);
}

static int place_memfd(void)
{
    return place(ETWAS_CRASH_SAFE_MEMFD);
}

static int place_pool_file(void)
{
    return place(ETWAS_CRASH_SAFE_POOL_FILE);
}

static void buffers_lie_on_the_nodes_in_turn_and_a_processor_takes_its_own(void **state)
{
    (void)state;
    expect_in_child(place_private);
}

static void so_do_those_of_a_memfd(void **state)
{
    (void)state;
    expect_in_child(place_memfd);
}

static void so_do_those_of_a_pool_file_unless_a_disk_has_it(void **state)
{
    (void)state;
    expect_in_child(place_pool_file);
}

/* ---- the kernel itself ----------------------------------------------------------------------- */

/* One node twice is as good as two. */
static int place_in_earnest(void)
{
    const etwas_session_options options = logger(0);
    etwas_session_memory memory;
    etwas_trace_handle session;
    int mode = -1;

    make_up("0,0\n");
    session = start(&options);
    memory = memory_of(session);
    if (memory.granted == 0) {
        print_message("%s\n", sentence_of(session));
        return SKIPPED; /* a container's filter, or a kernel without nodes */
    }
    CHECK_IN_CHILD(memory.memory_nodes == 2);
    CHECK_IN_CHILD(syscall(SYS_get_mempolicy, &mode, NULL, 0,
                           inside_of(session)->buffers.pool->memory.region, MPOL_F_ADDR) == 0);
    CHECK_IN_CHILD(mode == MPOL_PREFERRED);
    CHECK_IN_CHILD(log_number(session, 1) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    return 0;
}

static void the_kernel_keeps_what_was_asked_of_it(void **state)
{
    (void)state;
    expect_in_child(place_in_earnest);
}

/* ---- nothing to do, and refused -------------------------------------------------------------- */

static int place_on_one(void)
{
    etwas_session_options options = logger(0);
    etwas_session_memory memory;
    etwas_trace_handle session;

    options.memory_required = ETWAS_MEMORY_NODES;
    make_up("5\n");
    if (!answer_mbind(SECCOMP_RET_TRAP)) {
        return SKIPPED;
    }
    session = start(&options);
    memory = memory_of(session);
    CHECK_IN_CHILD(memory.granted == ETWAS_MEMORY_NODES && memory.memory_nodes == 1 && calls == 0);
    CHECK_IN_CHILD(sentence_of(session)[0] == 0);
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    return 0;
}

static void with_one_node_there_is_nothing_to_do(void **state)
{
    (void)state;
    expect_in_child(place_on_one);
}

/* It runs all the same; and does not where that is a condition. */
static void check_refused(uint32_t crash_safe, const char *why)
{
    etwas_session_options options = logger(crash_safe);
    etwas_trace_handle session = start(&options);
    etwas_session_memory memory = memory_of(session);

    CHECK_IN_CHILD(memory.granted == 0 && memory.memory_nodes == 0);
    CHECK_IN_CHILD(strstr(sentence_of(session), why) != NULL);
    while (log_large(session) == ERROR_SUCCESS) {
    }
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    options.memory_required = ETWAS_MEMORY_NODES;
    CHECK_IN_CHILD(etwas_start("nodes", folder_path("f.etl"), &options, &session) ==
                   ERROR_NOT_ENOUGH_MEMORY);
    CHECK_IN_CHILD(strstr(sentence_of(0), why) != NULL);
}

static int refuse_with(int error, const char *why)
{
    make_up("0,5\n");
    if (!answer_mbind(SECCOMP_RET_ERRNO | (uint32_t)error)) {
        return SKIPPED;
    }
    check_refused(0, why);
    check_refused(ETWAS_CRASH_SAFE_MEMFD, why);
    return 0;
}

static int refuse_as_unknown(void)
{
    return refuse_with(ENOSYS, "(mbind): Function not implemented");
}

static int refuse_as_forbidden(void)
{
    return refuse_with(EPERM, "(mbind): Operation not permitted");
}

static int refuse_elsewhere(void)
{
    return refuse_with(EINVAL, "cpuset.mems");
}

static int say_nothing(void)
{
    make_up(NULL);
    possible_processors = NULL;
    check_refused(0, "/sys/devices/system/node");
    return 0;
}

static void what_the_system_refuses_is_reported_and_harms_nobody(void **state)
{
    (void)state;
    expect_in_child(refuse_as_unknown);
    expect_in_child(refuse_as_forbidden);
    expect_in_child(refuse_elsewhere);
    expect_in_child(say_nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machines_nodes_are_those_with_memory_and_processors),
        FOLDER_TEST(buffers_lie_on_the_nodes_in_turn_and_a_processor_takes_its_own),
        FOLDER_TEST(so_do_those_of_a_memfd),
        FOLDER_TEST(so_do_those_of_a_pool_file_unless_a_disk_has_it),
        FOLDER_TEST(the_kernel_keeps_what_was_asked_of_it),
        FOLDER_TEST(with_one_node_there_is_nothing_to_do),
        FOLDER_TEST(what_the_system_refuses_is_reported_and_harms_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
