/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a crash-safe session left, after anybody has written to it. The session's log file lies
 * behind where the mapping says that it ends; the mapping then names it. The mutator is
 * pool_mutate.c.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recover_source.h"
#include "shared/layout.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void recover_with_log_file(const uint8_t *data, size_t size, size_t mapping_bytes)
{
    struct etwas_shared_head *head = malloc(mapping_bytes);
    const char *path = recover_path("log");
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    MUST(head != NULL && file >= 0);
    MUST(write(file, data + mapping_bytes, size - mapping_bytes) ==
         (ssize_t)(size - mapping_bytes));
    (void)close(file);
    memcpy(head, data, mapping_bytes);
    (void)snprintf(head->file_paths[head->newest_path & 1], sizeof head->file_paths[0], "%s", path);
    recover_source((const uint8_t *)head, mapping_bytes, 0);
    (void)unlink(recover_path("log"));
    free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct etwas_shared_head head;

    if (size >= sizeof head) {
        memcpy(&head, data, sizeof head);
        if (head.total_bytes >= sizeof head && head.total_bytes < size) {
            recover_with_log_file(data, size, head.total_bytes);
            return 0;
        }
    }
    recover_source(data, size, 0);
    return 0;
}
