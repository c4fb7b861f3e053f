/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/memory.h"

#include <errno.h>
#include <etwas/memory.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum {
    BYTES_A_KB = 1024,
    SETTING_BYTES = 128,
};

void etwas_memory_grant(struct etwas_memory_grant *grant, void *start, size_t bytes)
{
    if ((grant->asked & ETWAS_MEMORY_PREFAULT) != 0 && !etwas_memory_populate(start, bytes)) {
        grant->refused |= ETWAS_MEMORY_PREFAULT;
    }
    if ((grant->asked & ETWAS_MEMORY_LOCK) != 0) {
        grant->lock_bytes += bytes;
        if (mlock2(start, bytes, MLOCK_ONFAULT) != 0) {
            grant->lock_error = errno;
            grant->refused |= ETWAS_MEMORY_LOCK;
        }
    }
}

void etwas_memory_grant_end(const struct etwas_memory_grant *grant, void *start, size_t bytes)
{
    if ((grant->asked & ETWAS_MEMORY_LOCK) != 0) {
        (void)munlock(start, bytes);
    }
}

uint32_t etwas_memory_granted(const struct etwas_memory_grant *grant, uint64_t huge_bytes)
{
    return grant->asked & ~(grant->refused | (huge_bytes == 0 ? ETWAS_MEMORY_HUGE : 0));
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void grant_explain_lock(const struct etwas_memory_grant *grant, char *text)
{
    unsigned long long needed = grant->lock_bytes / BYTES_A_KB;
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

    (void)getrlimit(RLIMIT_MEMLOCK, &limit);
    if (grant->lock_error == ENOSYS) {
        (void)snprintf(text, ETWAS_MEMORY_TEXT_BYTES, "the kernel has no mlock2: it is before 4.4");
    } else if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur / BYTES_A_KB < needed) {
        (void)snprintf(text, ETWAS_MEMORY_TEXT_BYTES,
                       "%llu KB are to be locked, and RLIMIT_MEMLOCK (ulimit -l) is %llu KB for a "
                       "process without CAP_IPC_LOCK",
                       needed, (unsigned long long)limit.rlim_cur / BYTES_A_KB);
    } else {
        (void)snprintf(text, ETWAS_MEMORY_TEXT_BYTES,
                       "the system does not lock these %llu KB beside what the process has locked "
                       "already: %s",
                       needed, strerrordesc_np(grant->lock_error));
    }
}

/* "always [madvise] never" → "madvise"; empty: there is no such setting. */
static void grant_read_choice(const char *path, char choice[SETTING_BYTES])
{
    char line[SETTING_BYTES] = "";
    FILE *file = fopen(path, "re");

    choice[0] = 0;
    if (file == NULL) {
        return;
    }
    if (fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "%*[^[][%127[^]]", choice);
    }
    (void)fclose(file);
}

static void grant_explain_huge(bool is_file, char *text)
{
    const char *setting = is_file ? "/sys/kernel/mm/transparent_hugepage/shmem_enabled"
                                  : "/sys/kernel/mm/transparent_hugepage/enabled";
    char choice[SETTING_BYTES];

    grant_read_choice(setting, choice);
    (void)snprintf(text, ETWAS_MEMORY_TEXT_BYTES,
                   "%s, and of transparent ones the kernel made none by now: %s is %s",
                   is_file ? "buffers in a file can have no explicit huge pages"
                           : "vm.nr_hugepages has not enough free pages for MinimumBuffers",
                   setting, choice[0] != 0 ? choice : "not there");
}

static void grant_explain_nodes(int error, char *text)
{
    switch (error) {
    case ENODATA:
        (void)strcpy(text, "the system does not say which memory nodes the machine has: "
                           "/sys/devices/system/node cannot be read");
        break;
    case EOPNOTSUPP:
        (void)strcpy(text, "pages of a file on a disk's file system lie where the kernel has them");
        break;
    default:
        (void)snprintf(text, ETWAS_MEMORY_TEXT_BYTES,
                       "the system refuses to place buffers on their memory nodes (mbind): %s%s",
                       strerrordesc_np(error),
                       error == EINVAL ? "; the process may be confined to others (cpuset.mems)"
                                       : "");
        break;
    }
}

void etwas_memory_grant_explain(const struct etwas_memory_grant *grant, uint32_t request,
                                bool is_file, char text[ETWAS_MEMORY_TEXT_BYTES])
{
    text[0] = 0;
    switch (request) {
    case ETWAS_MEMORY_PREFAULT:
        (void)snprintf(text, ETWAS_MEMORY_TEXT_BYTES,
                       "the system has not enough memory for MaximumBuffers now");
        break;
    case ETWAS_MEMORY_HUGE:
        grant_explain_huge(is_file, text);
        break;
    case ETWAS_MEMORY_LOCK:
        grant_explain_lock(grant, text);
        break;
    case ETWAS_MEMORY_NODES:
        grant_explain_nodes(grant->nodes_error, text);
        break;
    default:
        break;
    }
}
