/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Which processors a thread may use, and pinning it to them; any number of processors. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "clock/lab/lab.h"

enum {
    MOST_PROCESSORS = 1 << 20, /* the limit if a kernel refuses every size */
};

/*
 * Returns the mask of the calling thread; NULL: *code says whether there is no memory, or the
 * system does not say.
 */
static cpu_set_t *processors_read_mask(uint32_t *bits, uint32_t *code)
{
    *code = ERROR_NO_SYSTEM_RESOURCES;
    for (*bits = CPU_SETSIZE; *bits <= MOST_PROCESSORS; *bits *= 2) {
        size_t bytes = CPU_ALLOC_SIZE(*bits);
        cpu_set_t *mask = CPU_ALLOC(*bits);
        int error;

        if (mask == NULL) {
            *code = ERROR_NOT_ENOUGH_MEMORY;
            return NULL;
        }
        CPU_ZERO_S(bytes, mask);
        error = sched_getaffinity(0, bytes, mask) == 0 ? 0 : errno;
        if (error == 0) {
            return mask;
        }
        CPU_FREE(mask);
        if (error != EINVAL) {
            return NULL;
        }
    }
    return NULL;
}

uint32_t etwas_lab_cpus_read(struct etwas_lab_cpus *cpus)
{
    uint32_t bits;
    uint32_t code;
    cpu_set_t *mask = processors_read_mask(&bits, &code);
    size_t bytes = CPU_ALLOC_SIZE(bits);
    int count;

    *cpus = (struct etwas_lab_cpus){0};
    if (mask == NULL) {
        return code;
    }
    count = CPU_COUNT_S(bytes, mask);
    cpus->numbers = count > 0 ? calloc((size_t)count, sizeof *cpus->numbers) : NULL;
    if (cpus->numbers != NULL) {
        for (uint32_t number = 0; number < bits; number++) {
            if (CPU_ISSET_S(number, bytes, mask)) {
                cpus->numbers[cpus->count++] = number;
            }
        }
    }
    CPU_FREE(mask);
    return cpus->numbers != NULL ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

void etwas_lab_cpus_free(struct etwas_lab_cpus *cpus)
{
    free(cpus->numbers);
    *cpus = (struct etwas_lab_cpus){0};
}

bool etwas_lab_unpin(const struct etwas_lab_cpus *cpus)
{
    uint32_t bits = cpus->numbers[cpus->count - 1] + 1;
    size_t bytes = CPU_ALLOC_SIZE(bits);
    cpu_set_t *mask = CPU_ALLOC(bits);
    bool done;

    if (mask == NULL) {
        return false;
    }
    CPU_ZERO_S(bytes, mask);
    for (uint32_t index = 0; index < cpus->count; index++) {
        CPU_SET_S(cpus->numbers[index], bytes, mask);
    }
    done = sched_setaffinity(0, bytes, mask) == 0;
    CPU_FREE(mask);
    return done;
}

bool etwas_lab_pin(uint32_t processor)
{
    const struct etwas_lab_cpus one = {.count = 1, .numbers = &processor};

    return etwas_lab_unpin(&one);
}
