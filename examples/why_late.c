/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A service with five faults, which `etwas why` explains: transfers wait for a lock that another
 * thread holds too long, loads touch memory for the first time, renderings share their processor
 * with a noisy neighbour, fetches wait for the thread that answers them, and saves wait for the
 * disk. The program records itself and the kernel, which needs root. Without root it records only
 * the kernel events of its own process, which explain less:
 *
 *     ./why_late /tmp
 *     etwas why /tmp/why_late.etl /tmp/why_late.kernel.etl
 *     etwas why --class Transfer /tmp/why_late.etl /tmp/why_late.kernel.etl
 */

#define _GNU_SOURCE 1 /* sched_setaffinity */

#include <arpa/inet.h>
#include <etwas/TraceLoggingProvider.h>
#include <etwas/etwas.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    EACH = 8, /* requests of each kind */
    HELD_MS = 20,
    PAGES = 4000,
    PAGE_BYTES = 4096,
    RENDER_MS = 20,
    ANSWER_MS = 20,
    SAVED_BYTES = 4 << 20,
    NS_PER_MS = 1000000,
    CANNOT_RECORD = 77,
};

ETWAS_TRACELOGGING_PROVIDER(service, "Etwas.Examples.Service");

#define REQUEST(name, work)                                                                        \
    do {                                                                                           \
        GUID id;                                                                                   \
                                                                                                   \
        EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &id);                                \
        TraceLoggingWriteActivity(service, name, &id, NULL,                                        \
                                  TraceLoggingOpcode(WINEVENT_OPCODE_START));                      \
        work;                                                                                      \
        TraceLoggingWriteActivity(service, name, &id, NULL,                                        \
                                  TraceLoggingOpcode(WINEVENT_OPCODE_STOP));                       \
    } while (0)

static void spin(int ms)
{
    struct timespec now;
    long end;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    end = now.tv_sec * 1000 + now.tv_nsec / NS_PER_MS + ms;
    while (now.tv_sec * 1000 + now.tv_nsec / NS_PER_MS < end) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    }
}

/* ---- the lock convoy ------------------------------------------------------------------------- */

static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;
static pthread_barrier_t done;

/* Holds the lock while it does something slow. */
static void *audit(void *argument)
{
    const struct timespec slow = {.tv_nsec = HELD_MS * NS_PER_MS};

    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&accounts);
        pthread_barrier_wait(&held);
        nanosleep(&slow, NULL);
        pthread_mutex_unlock(&accounts);
        pthread_barrier_wait(&done);
    }
    return argument;
}

static void transfer(void)
{
    pthread_mutex_lock(&accounts);
    pthread_mutex_unlock(&accounts);
}

static void make_transfers(void)
{
    pthread_t auditor;

    pthread_barrier_init(&held, NULL, 2);
    pthread_barrier_init(&done, NULL, 2);
    pthread_create(&auditor, NULL, audit, NULL);
    for (int i = 0; i < EACH; i++) {
        pthread_barrier_wait(&held);
        REQUEST("Transfer", transfer());
        pthread_barrier_wait(&done);
    }
    pthread_join(auditor, NULL);
}

/* ---- the page faults ------------------------------------------------------------------------- */

static void load(void)
{
    volatile char *memory = mmap(NULL, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        abort();
    }
    (void)madvise((void *)memory, (size_t)PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
    for (size_t page = 0; page < PAGES; page++) {
        memory[page * PAGE_BYTES] = 1;
    }
    (void)munmap((void *)memory, (size_t)PAGES * PAGE_BYTES);
}

/* ---- the noisy neighbour --------------------------------------------------------------------- */

static void stay_on(int processor)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)processor, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
}

static pid_t start_neighbour(int processor)
{
    pid_t neighbour = fork();

    if (neighbour == 0) {
        (void)prctl(PR_SET_NAME, "noisy");
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        stay_on(processor);
        for (;;) {
        }
    }
    return neighbour;
}

static void render(void)
{
    cpu_set_t all;
    int processor = sched_getcpu();
    pid_t neighbour;

    sched_getaffinity(0, sizeof all, &all);
    stay_on(processor);
    neighbour = start_neighbour(processor);
    for (int i = 0; i < EACH; i++) {
        REQUEST("Render", spin(RENDER_MS));
    }
    printf("the noisy neighbour is process %d\n", (int)neighbour);
    (void)kill(neighbour, SIGKILL);
    (void)waitpid(neighbour, NULL, 0);
    (void)sched_setaffinity(0, sizeof all, &all);
}

/* ---- the slow answers ------------------------------------------------------------------------ */

static void *answer(void *argument)
{
    const struct timespec slow = {.tv_nsec = ANSWER_MS * NS_PER_MS};
    int connection = accept(*(const int *)argument, NULL, NULL);
    char question;

    while (recv(connection, &question, 1, 0) == 1) {
        nanosleep(&slow, NULL);
        (void)send(connection, &question, 1, 0);
    }
    (void)close(connection);
    return NULL;
}

static void fetch(int connection)
{
    char question = '?';

    (void)send(connection, &question, 1, 0);
    (void)recv(connection, &question, 1, 0);
}

static void make_fetches(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    pthread_t server;

    if (bind(listening, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listening, 1) != 0 ||
        getsockname(listening, (struct sockaddr *)&address, &bytes) != 0 ||
        connect(connection, (struct sockaddr *)&address, sizeof address) != 0) {
        abort();
    }
    pthread_create(&server, NULL, answer, &listening);
    printf("fetches are answered by port %d\n", ntohs(address.sin_port));
    for (int i = 0; i < EACH; i++) {
        REQUEST("Fetch", fetch(connection));
    }
    (void)close(connection);
    pthread_join(server, NULL);
    (void)close(listening);
}

/* ---- the slow disk --------------------------------------------------------------------------- */

static char saved[SAVED_BYTES];

static void save(int file)
{
    (void)pwrite(file, saved, sizeof saved, 0);
    (void)fsync(file);
}

/*
 * Leaves the file open: the kernel session records the names of the files that are open when it
 * ends.
 */
static int make_saves(const char *name)
{
    int file = open(name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);

    if (file < 0) {
        abort();
    }
    memset(saved, 's', sizeof saved);
    for (int i = 0; i < EACH; i++) {
        REQUEST("Save", save(file));
    }
    return file;
}

/* ---- recording ------------------------------------------------------------------------------- */

struct block {
    EVENT_TRACE_PROPERTIES properties;
    char session_name[64];
    char file_name[1024];
};

static ULONG start_kernel(TRACEHANDLE *session, const char *file, ULONG flags)
{
    struct block block = {.properties = {
                              .Wnode = {.BufferSize = sizeof block,
                                        .Guid = SystemTraceControlGuid,
                                        .ClientContext = 1,
                                        .Flags = WNODE_FLAG_TRACED_GUID},
                              .BufferSize = 64,
                              .MinimumBuffers = 64,
                              .MaximumBuffers = 1024,
                              .LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                              .EnableFlags = flags | EVENT_TRACE_FLAG_NO_SYSCONFIG,
                              .LoggerNameOffset = offsetof(struct block, session_name),
                              .LogFileNameOffset = offsetof(struct block, file_name),
                          }};

    (void)snprintf(block.file_name, sizeof block.file_name, "%s", file);
    return StartTraceA(session, KERNEL_LOGGER_NAMEA, &block.properties);
}

/* Starts the kernel session with every flag that can be enabled here. */
static ULONG start_kernel_with_most(TRACEHANDLE *session, const char *file)
{
    static const ULONG more[] = {
        EVENT_TRACE_FLAG_PROCESS,       EVENT_TRACE_FLAG_DISPATCHER,
        EVENT_TRACE_FLAG_SYSTEMCALL,    EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS,
        EVENT_TRACE_FLAG_NETWORK_TCPIP, EVENT_TRACE_FLAG_FILE_IO | EVENT_TRACE_FLAG_FILE_IO_INIT,
    };
    ULONG flags = EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_CSWITCH;
    ULONG error = start_kernel(session, file, flags);

    for (size_t i = 0; i < sizeof more / sizeof more[0] && error == ERROR_SUCCESS; i++) {
        (void)etwas_stop(*session, NULL);
        if (start_kernel(session, file, flags | more[i]) == ERROR_SUCCESS) {
            flags |= more[i];
        } else {
            error = start_kernel(session, file, flags);
        }
    }
    return error;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    const GUID provider = TraceLoggingProviderId(service);
    char files[3][1024];
    char refusal[512];
    etwas_session_counts counts;
    TRACEHANDLE session;
    TRACEHANDLE kernel;
    ULONG error;
    int file;

    (void)snprintf(files[0], sizeof files[0], "%s/why_late.etl", folder);
    (void)snprintf(files[1], sizeof files[1], "%s/why_late.kernel.etl", folder);
    (void)snprintf(files[2], sizeof files[2], "%s/why_late.saved", folder);
    TraceLoggingRegister(service);
    error = start_kernel_with_most(&kernel, files[1]);
    if (error == ERROR_ACCESS_DENIED) {
        (void)etwas_kernel_refusal(refusal, sizeof refusal);
        printf("of the kernel its own alone: %s\n", refusal);
        (void)etwas_kernel_scope(ETWAS_KERNEL_SCOPE_PROCESS);
        error = start_kernel_with_most(&kernel, files[1]);
    }
    if (error != ERROR_SUCCESS) {
        fprintf(stderr, "cannot record the kernel: %s\n", etwas_error_text(error));
        return CANNOT_RECORD;
    }
    error = etwas_start("why_late", files[0], NULL, &session);
    if (error == ERROR_SUCCESS) {
        error = EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                               WINEVENT_LEVEL_VERBOSE, 0, 0, INFINITE, NULL);
    }
    if (error != ERROR_SUCCESS) {
        fprintf(stderr, "cannot record to %s: %s\n", files[0], etwas_error_text(error));
        return 1;
    }
    make_transfers();
    for (int i = 0; i < EACH; i++) {
        REQUEST("Load", load());
    }
    render();
    make_fetches();
    file = make_saves(files[2]);
    (void)etwas_stop(session, NULL);
    (void)etwas_stop(kernel, &counts);
    (void)close(file);
    (void)unlink(files[2]);
    TraceLoggingUnregister(service);
    printf("%lu events of the kernel, %lu lost\netwas why %s %s\n", counts.recorded, counts.lost,
           files[0], files[1]);
    return 0;
}
