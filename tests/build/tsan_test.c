/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Whether ThreadSanitizer understands the operations the runtime is built from. A thread writes a
 * word and publishes it; `tsan_test published` waits for the publication before it reads the word,
 * and must run without a report; `tsan_test race` reads at once, and must be reported.
 */

#include <ck_pr.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t word;
static uint64_t published;

static void *publish(void *unused)
{
    (void)unused;
    word = 42;
    ck_pr_fence_store();
    ck_pr_store_64(&published, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    uint64_t read;

    if (argc != 2 || pthread_create(&thread, NULL, publish, NULL) != 0) {
        return 2;
    }
    if (strcmp(argv[1], "published") == 0) {
        while (ck_pr_load_64(&published) == 0) {
            ck_pr_stall();
        }
        ck_pr_fence_load();
    }
    read = word;
    (void)pthread_join(thread, NULL);
    (void)printf("read %llu\n", (unsigned long long)read);
    return 0;
}
