/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "role.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void serve(int channel,
                            struct bench_answer (*play)(const struct bench_request *request))
{
    struct bench_request request;

    while (recv(channel, &request, sizeof request, 0) == (ssize_t)sizeof request) {
        struct bench_answer answer = play(&request);

        if (send(channel, &answer, sizeof answer, MSG_NOSIGNAL) != (ssize_t)sizeof answer) {
            break;
        }
    }
    _exit(0);
}

bool bench_role_start(struct bench_role *role,
                      struct bench_answer (*play)(const struct bench_request *request))
{
    int channels[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channels) != 0) {
        return false;
    }
    (void)fflush(stdout);
    role->channel = channels[0];
    role->process = fork();
    if (role->process == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)close(channels[0]);
        serve(channels[1], play);
    }
    (void)close(channels[1]);
    return role->process > 0;
}

bool bench_role_tell(const struct bench_role *role, const struct bench_request *request)
{
    return send(role->channel, request, sizeof *request, MSG_NOSIGNAL) == (ssize_t)sizeof *request;
}

struct bench_answer bench_role_hear(const struct bench_role *role)
{
    struct bench_answer answer;

    return recv(role->channel, &answer, sizeof answer, 0) == (ssize_t)sizeof answer
               ? answer
               : (struct bench_answer){0};
}

struct bench_answer bench_role_ask(const struct bench_role *role,
                                   const struct bench_request *request)
{
    return bench_role_tell(role, request) ? bench_role_hear(role) : (struct bench_answer){0};
}

/* Shuts the channel down, because a process that is forked later has it, too. */
void bench_role_end(struct bench_role *role)
{
    (void)shutdown(role->channel, SHUT_RDWR);
    (void)close(role->channel);
    (void)waitpid(role->process, NULL, 0);
}

uint64_t bench_monotonic_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
