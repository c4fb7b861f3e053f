/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Visits: which processors are reached and which are reported as out of reach, and that a visit
 * ends the restartable sequences of another process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <ck_pr.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/child.h"
#include "platform/processor.h"
#include "platform/rseq.h"
#include "platform/sequence.h"
#include "platform/visit.h"
#include "platform/wait.h"

#define LONG_NS (UINT64_C(60) * 1000000000)

/* The processors that the test may use, in a row. */
static uint32_t processors[CPU_SETSIZE];
static uint32_t processor_count;

static int find_processors(void **state)
{
    cpu_set_t allowed;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (uint32_t processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, &allowed)) {
            processors[processor_count++] = processor;
        }
    }
    return 0;
}

static void stay_on(uint32_t processor)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

static void go_anywhere(void)
{
    cpu_set_t all;

    CPU_ZERO(&all);
    for (uint32_t index = 0; index < processor_count; index++) {
        CPU_SET(processors[index], &all);
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static uint32_t skip_without_two(void)
{
    if (processor_count < 2) {
        print_message("skipped: there is one processor\n");
        skip();
    }
    return processors[processor_count - 1];
}

/* ---- what is reached ------------------------------------------------------------------------- */

/* The caller's affinity is no limit, and is what it was. */
static void each_processor_is_reached_from_one_of_them(void **state)
{
    bool wanted[CPU_SETSIZE] = {false};
    cpu_set_t after;

    (void)state;
    for (uint32_t index = 0; index < processor_count; index++) {
        wanted[processors[index]] = true;
    }
    stay_on(processors[0]);
    assert_true(etwas_visit_processors(wanted, CPU_SETSIZE, LONG_NS));
    for (uint32_t processor = 0; processor < CPU_SETSIZE; processor++) {
        assert_false(wanted[processor]);
    }
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_int_equal(CPU_COUNT(&after), 1);
    assert_true(CPU_ISSET(processors[0], &after));
    go_anywhere();
}

static void no_processor_is_wanted_and_all_are_reached(void **state)
{
    bool wanted[2] = {false, false};

    (void)state;
    assert_true(etwas_visit_processors(wanted, 2, 0));
    assert_true(etwas_visit_processors(wanted, 0, 0));
}

/* No kernel that we know has so many, so nobody runs there. */
static void a_processor_that_is_not_online_counts_as_reached(void **state)
{
    static bool wanted[ETWAS_MOST_PROCESSORS];
    const uint32_t last = ETWAS_MOST_PROCESSORS - 1;

    (void)state;
    if (etwas_processor_count() > last) {
        print_message("skipped: the machine may have all processors\n");
        skip();
    }
    wanted[last] = true;
    wanted[processors[0]] = true;
    assert_true(etwas_visit_processors(wanted, ETWAS_MOST_PROCESSORS, LONG_NS));
    assert_false(wanted[last]);
}

/* ---- what is not ----------------------------------------------------------------------------- */

static char group[PATH_MAX];

static bool write_to(const char *name, const char *text)
{
    char path[PATH_MAX + 32];
    int file;
    bool written;

    (void)snprintf(path, sizeof path, "%s/%s", group, name);
    file = open(path, O_WRONLY | O_CLOEXEC);
    written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) {
        (void)close(file);
    }
    return written;
}

/* A control group, of version 1 or 2, that may have the first processor. */
static bool make_group(void)
{
    char first[16];

    (void)snprintf(group, sizeof group, "/sys/fs/cgroup/cpuset/etwas-test-%d", (int)getpid());
    if (mkdir(group, 0700) != 0) {
        (void)snprintf(group, sizeof group, "/sys/fs/cgroup/etwas-test-%d", (int)getpid());
        if (mkdir(group, 0700) != 0) {
            return false;
        }
    }
    (void)snprintf(first, sizeof first, "%u", processors[0]);
    if (!write_to("cpuset.cpus", first) || !write_to("cpuset.mems", "0")) {
        (void)rmdir(group);
        return false;
    }
    return true;
}

static int visit_from_the_group(void)
{
    bool wanted[CPU_SETSIZE] = {false};
    uint32_t outside = processors[processor_count - 1];

    CHECK(write_to("cgroup.procs", "0"));
    wanted[processors[0]] = true;
    wanted[outside] = true;
    CHECK(!etwas_visit_processors(wanted, CPU_SETSIZE, LONG_NS));
    CHECK(!wanted[processors[0]]);
    CHECK(wanted[outside]);
    return 0;
}

static void a_processor_outside_of_our_cpuset_is_reported(void **state)
{
    (void)state;
    (void)skip_without_two();
    if (!make_group()) {
        print_message("skipped: no control group with processors of its own is granted\n");
        skip();
    }
    expect_child_passes(visit_from_the_group);
    while (rmdir(group) != 0) {
        assert_int_equal(errno, EBUSY);
        (void)usleep(1000); /* the kernel lets go of the child a moment later */
    }
}

static int visit_without_a_thread(void)
{
    const struct rlimit none = {0, 0};
    bool wanted[CPU_SETSIZE] = {false};

    /* The limit is not one of root's. */
    if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0) {
        (void)printf("note: the child may not become somebody else\n");
        return 0;
    }
    CHECK(setrlimit(RLIMIT_NPROC, &none) == 0);
    wanted[processors[0]] = true;
    CHECK(!etwas_visit_processors(wanted, CPU_SETSIZE, LONG_NS));
    CHECK(wanted[processors[0]]);
    return 0;
}

static void without_a_thread_nothing_is_reached(void **state)
{
    (void)state;
    expect_child_passes(visit_without_a_thread);
}

struct hog {
    uint32_t processor;
    uint32_t runs; /* it has its processor, and gives it to nobody */
    uint32_t end;
};

/* The kernel may give others a twentieth of each second. */
static void *hog(void *argument)
{
    const struct sched_param priority = {.sched_priority = 50};
    struct hog *hog = argument;

    stay_on(hog->processor);
    ck_pr_store_32(&hog->runs, sched_setscheduler(0, SCHED_FIFO, &priority) == 0 ? 1 : 2);
    while (ck_pr_load_32(&hog->runs) == 1 && ck_pr_load_32(&hog->end) == 0) {
        ck_pr_stall();
    }
    return NULL;
}

static void a_processor_that_is_not_had_within_the_timeout_is_reported(void **state)
{
    const uint64_t timeout_ns = 2000000;
    struct hog its = {.processor = skip_without_two()};
    uint64_t end_ns = etwas_monotonic_ns() + LONG_NS;
    bool permitted;
    bool reported = false;
    pthread_t thread;

    (void)state;
    stay_on(processors[0]);
    assert_int_equal(pthread_create(&thread, NULL, hog, &its), 0);
    while (ck_pr_load_32(&its.runs) == 0) {
        (void)usleep(1000);
    }
    permitted = ck_pr_load_32(&its.runs) == 1;
    while (permitted && !reported && etwas_monotonic_ns() < end_ns) {
        bool wanted[CPU_SETSIZE] = {false};

        wanted[its.processor] = true;
        reported = !etwas_visit_processors(wanted, CPU_SETSIZE, timeout_ns);
        assert_int_equal(wanted[its.processor], reported);
    }
    ck_pr_store_32(&its.end, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    go_anywhere();
    if (!permitted) {
        print_message("skipped: no real-time priority is granted\n");
        skip();
    }
    assert_true(reported);
}

/* ---- sequences of another process ------------------------------------------------------------ */

enum {
    LONG_COPY_BYTES = 1 << 20, /* some 0.1 ms: there is time to be late */
    STOPS = 100,
    MOST_STOPS = 2000,
};

struct gated {
    uint64_t gate;
    uint64_t count;
    uint64_t refused; /* how often a sequence found the gate closed */
    uint32_t processor;
    uint32_t end;
    uint8_t from[LONG_COPY_BYTES];
    uint8_t to[LONG_COPY_BYTES];
};

static struct gated *gated; /* shared with the child */

/* The child's thread. Between its look at the gate and the commit there is time. */
static void *count_through_the_gate(void *unused)
{
    const struct etwas_rseq_check open = {.word = &gated->gate, .expected = 1};
    const struct etwas_rseq_copy copy = {
        .to = gated->to, .from = gated->from, .bytes = LONG_COPY_BYTES};
    struct etwas_rseq_sequence sequence = {.checks = &open,
                                           .check_count = 1,
                                           .copies = &copy,
                                           .copy_count = 1,
                                           .target = &gated->count,
                                           .processor = gated->processor};

    (void)unused;
    stay_on(gated->processor);
    while (ck_pr_load_32(&gated->end) == 0) {
        sequence.value = ck_pr_load_64(&gated->count) + 1;
        if (run(&sequence) == ETWAS_RSEQ_CHANGED) {
            ck_pr_inc_64(&gated->refused);
            (void)sched_yield();
        }
    }
    return NULL;
}

static int begin_to_count(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, count_through_the_gate, NULL);
}

static void wait_for_more(const uint64_t *count)
{
    uint64_t before = ck_pr_load_64(count);

    while (ck_pr_load_64(count) == before) {
        (void)sched_yield();
    }
}

/*
 * Closes the gate while the other process counts, fences or does not, and returns how many commits
 * came after that. Once the other process has found the gate closed, it is through with what it did
 * before.
 */
static uint64_t late_after_a_stop(bool fenced)
{
    uint64_t after;

    ck_pr_store_64(&gated->gate, 1);
    wait_for_more(&gated->count);
    ck_pr_store_64(&gated->gate, 0);
    if (fenced) {
        bool wanted[CPU_SETSIZE] = {false};

        wanted[gated->processor] = true;
        assert_true(etwas_visit_processors(wanted, CPU_SETSIZE, LONG_NS));
    }
    after = ck_pr_load_64(&gated->count);
    wait_for_more(&gated->refused);
    return ck_pr_load_64(&gated->count) - after;
}

static void after_a_visit_no_other_process_commits_what_saw_what_was_before(void **state)
{
    uint32_t processor = skip_without_two();
    struct child child;
    uint64_t late = 0;
    int stop = 0;

    (void)state;
    etwas_processor_prepare();
    if (!etwas_rseq_prepare()) {
        print_message("skipped: there are no restartable sequences\n");
        skip();
    }
    gated = mmap(NULL, sizeof *gated, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(gated, MAP_FAILED);
    gated->processor = processor;
    child_begin(&child, begin_to_count);
    stay_on(processors[0]);
    for (int index = 0; index < STOPS; index++) {
        assert_int_equal(late_after_a_stop(true), 0);
    }
    while (late == 0 && stop++ < MOST_STOPS) {
        late = late_after_a_stop(false);
    }
    go_anywhere();
    ck_pr_store_32(&gated->end, 1);
    child_end(&child);
    assert_int_equal(munmap(gated, sizeof *gated), 0);
    if (late == 0) {
        print_message("skipped: without a visit nothing was late in %d stops\n", MOST_STOPS);
        skip();
    }
    print_message("without a visit one was late at stop %d\n", stop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_processor_is_reached_from_one_of_them),
        cmocka_unit_test(no_processor_is_wanted_and_all_are_reached),
        cmocka_unit_test(a_processor_that_is_not_online_counts_as_reached),
        cmocka_unit_test(a_processor_outside_of_our_cpuset_is_reported),
        cmocka_unit_test(without_a_thread_nothing_is_reached),
        cmocka_unit_test(a_processor_that_is_not_had_within_the_timeout_is_reported),
        cmocka_unit_test(after_a_visit_no_other_process_commits_what_saw_what_was_before),
    };

    return cmocka_run_group_tests(tests, find_processors, NULL);
}
