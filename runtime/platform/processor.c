/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/processor.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/rseq.h>
#include <unistd.h>

/* Weak, so that the library also loads with a glibc without rseq. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

ptrdiff_t etwas_processor_offset;

static _Thread_local int32_t no_rseq = -1;

bool etwas_processor_is_registered(void)
{
    return &__rseq_size != NULL && __rseq_size != 0;
}

void etwas_processor_prepare(void)
{
    const char *address = (const char *)&no_rseq;

    if (etwas_processor_is_registered()) {
        address = etwas_thread_pointer() + __rseq_offset + offsetof(struct rseq, cpu_id);
    }
    /*
     * The offset is the same in every thread. It is stored once, so that a later call changes
     * nothing that readers use.
     */
    if (etwas_processor_offset == 0) {
        etwas_processor_offset = address - etwas_thread_pointer();
    }
}

/* Numbers and ranges are in rising order, as in "0,2-5": the last number ends the text. */
uint32_t etwas_processor_count_of(const struct etwas_machine *machine, const char *path)
{
    long configured = sysconf(_SC_NPROCESSORS_CONF);
    unsigned long count = configured > 0 ? (unsigned long)configured : 1;
    char list[4096];

    if (machine->text(path, list, sizeof list)) {
        const char *last = list;
        char *end;
        unsigned long number;

        for (const char *at = list; *at != '\0'; at++) {
            last = *at == ',' || *at == '-' ? at + 1 : last;
        }
        number = strtoul(last, &end, 10);
        count = end != last && *end == '\n' && number < UINT32_MAX ? number + 1 : count;
    }
    return count < ETWAS_MOST_PROCESSORS ? (uint32_t)count : ETWAS_MOST_PROCESSORS;
}

uint32_t etwas_processor_count(void)
{
    static uint32_t count;
    uint32_t known = ck_pr_load_32(&count);

    if (known == 0) {
        known = etwas_processor_count_of(&etwas_this_machine, ETWAS_PROCESSORS_POSSIBLE);
        /* Relaxed: every thread computes the same number. */
        ck_pr_store_32(&count, known);
    }
    return known;
}

uint32_t etwas_processor_present(void)
{
    return etwas_processor_count_of(&etwas_this_machine, ETWAS_PROCESSORS_PRESENT);
}

/* A list that does not end is not trusted, because the missing rest is unknown. */
bool etwas_processor_is_offline(const struct etwas_machine *machine, uint32_t processor)
{
    char list[4096];
    const char *at = list;
    bool listed = false;

    if (!machine->text(ETWAS_PROCESSORS_ONLINE, list, sizeof list)) {
        return false;
    }
    for (;;) {
        char *end;
        unsigned long first = strtoul(at, &end, 10);
        unsigned long last = first;

        if (end != at && *end == '-') {
            at = end + 1;
            last = strtoul(at, &end, 10);
        }
        if (end == at) {
            return false;
        }
        listed = listed || (first <= processor && processor <= last);
        if (*end != ',') {
            return *end == '\n' && !listed;
        }
        at = end + 1;
    }
}

uint32_t etwas_processor_query(void)
{
    int processor = sched_getcpu();

    return processor >= 0 ? (uint32_t)processor : 0;
}
