/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * System loggers begin, change and end in several threads, with everything there is to record,
 * while processes begin and end, have faults and talk to each other. Each file is verified, and
 * nothing is left behind.
 *
 * A few seconds as a test; ETWAS_STORM_SECONDS=60 for longer.
 */
#include <ck_pr.h>
#include <etwas/evntrace_keywords.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/testpoint.h"
#include "system/kernel_fixture.h"

enum {
    CONTROLLERS = 3, /* each with a session of its own at a time */
    WORKERS = 2,
    SECONDS = 2,
    MOST_ASKED = 12, /* of a session while it runs */
    MOST_PAUSE_US = 20000,
    TOUCHED = 64 << 12,
    WARM_SESSIONS = 2,
};

static const uint32_t flags_there_are =
    EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD |
    EVENT_TRACE_FLAG_PROCESS_COUNTERS | EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_DPC |
    EVENT_TRACE_FLAG_INTERRUPT | EVENT_TRACE_FLAG_SYSTEMCALL | EVENT_TRACE_FLAG_DISK_IO |
    EVENT_TRACE_FLAG_DISK_FILE_IO | EVENT_TRACE_FLAG_DISK_IO_INIT | EVENT_TRACE_FLAG_DISPATCHER |
    EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS | EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS |
    EVENT_TRACE_FLAG_VIRTUAL_ALLOC | EVENT_TRACE_FLAG_VAMAP | EVENT_TRACE_FLAG_NETWORK_TCPIP |
    EVENT_TRACE_FLAG_JOB | EVENT_TRACE_FLAG_DBGPRINT | EVENT_TRACE_FLAG_SPLIT_IO |
    EVENT_TRACE_FLAG_PROFILE | EVENT_TRACE_FLAG_FILE_IO | EVENT_TRACE_FLAG_FILE_IO_INIT |
    EVENT_TRACE_FLAG_NO_SYSCONFIG | EVENT_TRACE_FLAG_ALPC;

/* ---- what happens ---------------------------------------------------------------------------- */

static void fork_and_run(void)
{
    pid_t child = fork();

    if (child == 0) {
        (void)execl("/bin/true", "true", (char *)NULL);
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
}

static void touch_memory(void)
{
    uint8_t *memory =
        mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (size_t at = 0; memory != MAP_FAILED && at < TOUCHED; at += 4096) {
        memory[at] = 1;
    }
    (void)munmap(memory, TOUCHED);
}

static void talk(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int caller = socket(AF_INET, SOCK_STREAM, 0);
    int callee = -1;

    if (bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
        listen(listener, 1) == 0 &&
        getsockname(listener, (struct sockaddr *)&address, &bytes) == 0 &&
        connect(caller, (struct sockaddr *)&address, sizeof address) == 0) {
        callee = accept(listener, NULL, NULL);
        (void)!write(caller, &address, sizeof address);
        (void)!read(callee, &address, sizeof address);
    }
    (void)close(callee);
    (void)close(caller);
    (void)close(listener);
}

static void read_files(void)
{
    char bytes[4096];
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    while (read(file, bytes, sizeof bytes) > 0) {
    }
    (void)close(file);
}

/* In processes of their own, so that this one has what is its own. */
static pid_t begin_worker(void)
{
    pid_t worker = fork();

    if (worker != 0) {
        return worker;
    }
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        fork_and_run();
        touch_memory();
        talk();
        read_files();
    }
}

static void end_worker(pid_t worker)
{
    (void)kill(-worker, SIGKILL);
    assert_int_equal(waitpid(worker, NULL, 0), worker);
}

/* ---- controllers ----------------------------------------------------------------------------- */

static uint32_t over;
static uint32_t failures;
static uint32_t sessions_ended;

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                  \
            ck_pr_inc_32(&failures);                                                               \
        }                                                                                          \
    } while (0)

struct controller {
    uint32_t number;
    unsigned seed;
    uint32_t sessions; /* that it begins; 0: until it is over */
    char path[256];
    pthread_t thread;
};

static uint32_t chance(struct controller *controller, uint32_t below)
{
    return (uint32_t)rand_r(&controller->seed) % below;
}

/* Some of the flags. */
static uint32_t some_flags(struct controller *controller)
{
    uint32_t flags = flags_there_are;

    for (uint32_t turn = chance(controller, 4); turn != 0; turn--) {
        flags &= (uint32_t)rand_r(&controller->seed);
    }
    return flags;
}

static void prepare_logger(struct controller *controller, struct block *block, uint32_t flags)
{
    prepare_block(block, controller->path);
    block->properties.Wnode.Guid = (etwas_guid){0x77000000 + controller->number, 1, 2, {3}};
    block->properties.Wnode.ClientContext = 1 + chance(controller, 3);
    block->properties.LogFileMode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
    block->properties.BufferSize = 256;
    block->properties.MaximumBuffers = 64;
    block->properties.EnableFlags = flags;
}

static void name_of(const struct controller *controller, char *name, size_t room)
{
    (void)snprintf(name, room, "storm %u", controller->number);
}

static void update(struct controller *controller, etwas_trace_handle session)
{
    struct block block;

    prepare_logger(controller, &block, some_flags(controller));
    block.properties.LogFileNameOffset = 0;
    MUST(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_UPDATE) ==
         ERROR_SUCCESS);
}

static void provide(etwas_trace_handle session)
{
    static const uint32_t codes[] = {EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                     EVENT_CONTROL_CODE_CAPTURE_STATE,
                                     EVENT_CONTROL_CODE_DISABLE_PROVIDER};

    for (uint32_t index = 0; index < 3; index++) {
        MUST(EnableTraceEx2(session, &SystemProcessProviderGuid, codes[index], 5,
                            SYSTEM_PROCESS_KW_GENERAL | SYSTEM_PROCESS_KW_THREAD |
                                SYSTEM_PROCESS_KW_LOADER,
                            0, 0, NULL) == ERROR_SUCCESS);
    }
}

static void choose_stacks(struct controller *controller, etwas_trace_handle session)
{
    CLASSIC_EVENT_ID ids[] = {{.EventGuid = thread_class, .Type = SWITCH},
                              {.EventGuid = perf_info_class, .Type = 51}};

    MUST(TraceSetInformation(session, TraceStackTracingInfo, ids,
                             chance(controller, 3) * (uint32_t)sizeof *ids) == ERROR_SUCCESS);
}

static void ask(struct controller *controller, etwas_trace_handle session)
{
    struct block block;

    switch (chance(controller, 5)) {
    case 0:
        update(controller, session);
        break;
    case 1:
        provide(session);
        break;
    case 2:
        choose_stacks(controller, session);
        break;
    default:
        prepare_logger(controller, &block, 0);
        MUST(ControlTraceA(session, NULL, &block.properties,
                           chance(controller, 2) == 0
                               ? EVENT_TRACE_CONTROL_QUERY
                               : EVENT_TRACE_CONTROL_FLUSH) == ERROR_SUCCESS);
    }
}

static void prove(const struct controller *controller)
{
    char command[1024];
    int code;

    (void)snprintf(command, sizeof command, "%s stat --prove %s > %s.proof 2>&1", ETWAS_TOOL,
                   controller->path, controller->path);
    code = system(command);
    if (code != 0) {
        (void)snprintf(command, sizeof command, "head -c 4000 %s.proof >&2", controller->path);
        (void)!system(command);
    }
    MUST(code == 0);
    (void)snprintf(command, sizeof command, "%s.proof", controller->path);
    (void)unlink(command);
    (void)unlink(controller->path);
}

static void run_session(struct controller *controller)
{
    etwas_trace_handle session;
    struct block block;
    char name[64];
    uint32_t code;

    name_of(controller, name, sizeof name);
    prepare_logger(controller, &block, some_flags(controller));
    code = StartTraceA(&session, name, &block.properties);
    MUST(code == ERROR_SUCCESS);
    if (code != ERROR_SUCCESS) {
        return;
    }
    for (uint32_t asked = chance(controller, MOST_ASKED); asked != 0; asked--) {
        (void)usleep(chance(controller, MOST_PAUSE_US));
        ask(controller, session);
    }
    MUST(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP) ==
         ERROR_SUCCESS);
    prove(controller);
    ck_pr_inc_32(&sessions_ended);
}

static void *control(void *argument)
{
    struct controller *controller = argument;
    uint32_t left = controller->sessions;

    while (left != 0 ? --left != 0 : ck_pr_load_32(&over) == 0) {
        run_session(controller);
    }
    return NULL;
}

/* ---- the storm ------------------------------------------------------------------------------- */

static void begin_controllers(struct controller *controllers, unsigned seed, uint32_t sessions)
{
    for (uint32_t index = 0; index < CONTROLLERS; index++) {
        controllers[index] =
            (struct controller){.number = index, .seed = seed + index, .sessions = sessions};
        (void)snprintf(controllers[index].path, sizeof controllers[index].path, "%s/%u.etl",
                       folder_path("."), index);
        assert_int_equal(
            pthread_create(&controllers[index].thread, NULL, control, &controllers[index]), 0);
    }
}

static void end_controllers(struct controller *controllers)
{
    for (uint32_t index = 0; index < CONTROLLERS; index++) {
        assert_int_equal(pthread_join(controllers[index].thread, NULL), 0);
    }
}

static uint64_t resident_kb(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %llu", &pages), 1);
    (void)fclose(file);
    return pages * 4;
}

static void whatever_is_asked_of_them_all_is_accounted_for(void **state)
{
    const char *text = getenv("ETWAS_STORM_SECONDS");
    unsigned seconds = text != NULL ? (unsigned)atoi(text) : SECONDS;
    struct controller controllers[CONTROLLERS];
    struct belongings before;
    pid_t workers[WORKERS];
    uint64_t resident;

    (void)state;
    for (uint32_t index = 0; index < WORKERS; index++) {
        workers[index] = begin_worker();
    }
    begin_controllers(controllers, 1, 1 + WARM_SESSIONS);
    end_controllers(controllers);
    before = count_belongings();
    resident = resident_kb();
    begin_controllers(controllers, 100, 0);
    (void)sleep(seconds);
    ck_pr_store_32(&over, 1);
    end_controllers(controllers);
    for (uint32_t index = 0; index < WORKERS; index++) {
        end_worker(workers[index]);
    }
    assert_int_equal(failures, 0);
    assert_nothing_gained(&before);
    (void)printf("%u sessions, resident %llu KB, then %llu KB\n", sessions_ended,
                 (unsigned long long)resident, (unsigned long long)resident_kb());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(whatever_is_asked_of_them_all_is_accounted_for),
    };

    return RUN_KERNEL_TESTS("storm", tests);
}
