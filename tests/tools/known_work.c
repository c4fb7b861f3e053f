/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Work whose events are known by number: system calls, mappings with a page touched, programs run,
 * two threads on one processor that hand over, connections on loopback.
 *
 * usage: known_work COUNT
 *
 * Does each COUNT times. Prints "since until process call port": CLOCK_MONOTONIC_RAW in ns around
 * all of it with a rest at both ends, its process, the number of the system call, and the port that
 * the connections went to.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    REST_US = 2000,
};

static void check(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void call(long count)
{
    for (long index = 0; index < count; index++) {
        (void)syscall(SYS_getppid);
    }
}

static void map(long count)
{
    for (long index = 0; index < count; index++) {
        char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        check(page != MAP_FAILED, "mmap");
        *(volatile char *)page = 1;
        check(munmap(page, PAGE) == 0, "munmap");
    }
}

static void run(long count)
{
    for (long index = 0; index < count; index++) {
        pid_t child = fork();

        check(child >= 0, "fork");
        if (child == 0) {
            (void)execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        check(waitpid(child, NULL, 0) == child, "waitpid");
    }
}

struct pipes {
    int there[2];
    int back[2];
    long count;
};

static void *answer(void *argument)
{
    const struct pipes *pipes = argument;
    char byte;

    for (long index = 0; index < pipes->count; index++) {
        check(read(pipes->there[0], &byte, 1) == 1 && write(pipes->back[1], &byte, 1) == 1,
              "answer");
    }
    return NULL;
}

static void hand_over(long count)
{
    struct pipes pipes = {.count = count};
    cpu_set_t before;
    cpu_set_t one;
    pthread_t thread;
    char byte = 0;

    check(sched_getaffinity(0, sizeof before, &before) == 0, "sched_getaffinity");
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    check(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
    check(pipe(pipes.there) == 0 && pipe(pipes.back) == 0, "pipe");
    check(pthread_create(&thread, NULL, answer, &pipes) == 0, "pthread_create");
    for (long index = 0; index < count; index++) {
        check(write(pipes.there[1], &byte, 1) == 1 && read(pipes.back[0], &byte, 1) == 1, "ask");
    }
    (void)pthread_join(thread, NULL);
    check(sched_setaffinity(0, sizeof before, &before) == 0, "sched_setaffinity");
}

/* Makes the connections. Returns the port that they went to. */
static unsigned connect_all(long count)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    check(bind(listener, (struct sockaddr *)&address, bytes) == 0 && listen(listener, 1) == 0 &&
              getsockname(listener, (struct sockaddr *)&address, &bytes) == 0,
          "listen");
    for (long index = 0; index < count; index++) {
        int near = socket(AF_INET, SOCK_STREAM, 0);
        int far;
        char byte = 0;

        check(connect(near, (struct sockaddr *)&address, bytes) == 0, "connect");
        far = accept(listener, NULL, NULL);
        check(send(near, &byte, 1, 0) == 1 && recv(far, &byte, 1, 0) == 1, "send");
        (void)close(near);
        (void)close(far);
    }
    return ntohs(address.sin_port);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    int64_t since = now_ns();
    unsigned port;

    (void)usleep(REST_US);
    call(count);
    map(count);
    run(count);
    hand_over(count);
    port = connect_all(count);
    (void)usleep(REST_US);
    printf("%lld %lld %d %d %u\n", (long long)since, (long long)now_ns(), (int)getpid(),
           SYS_getppid, port);
    return 0;
}
