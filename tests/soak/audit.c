/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The Python program that walks the files, asked one question at a time. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soak.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t child;
static FILE *questions;
static FILE *answers;

static _Noreturn void be_the_walker(const int in[2], const int out[2])
{
    (void)dup2(in[0], STDIN_FILENO);
    (void)dup2(out[1], STDOUT_FILENO);
    (void)execl(SOAK_PYTHON, SOAK_PYTHON, SOAK_AUDIT, (char *)NULL);
    _exit(127);
}

bool soak_audit_begin(void)
{
    int in[2];
    int out[2];

    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        return false;
    }
    child = fork();
    if (child == 0) {
        be_the_walker(in, out);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    questions = fdopen(in[1], "w");
    answers = fdopen(out[0], "r");
    return child > 0 && questions != NULL && answers != NULL;
}

void soak_audit_end(void)
{
    (void)fclose(questions);
    (void)fclose(answers);
    (void)waitpid(child, NULL, 0);
}

bool soak_audit(const char *where, const char *question)
{
    static char answer[4096];
    bool is_good;

    (void)pthread_mutex_lock(&lock);
    (void)fprintf(questions, "%s\n", question);
    (void)fflush(questions);
    if (fgets(answer, sizeof answer, answers) == NULL) {
        (void)snprintf(answer, sizeof answer, "the walker is gone\n");
    }
    is_good = strcmp(answer, "ok\n") == 0;
    if (!is_good) {
        answer[strcspn(answer, "\n")] = 0;
        soak_fault(where, "%s; asked %s", answer, question);
    }
    (void)pthread_mutex_unlock(&lock);
    return is_good;
}
