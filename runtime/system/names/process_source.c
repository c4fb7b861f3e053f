/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "system/names/image_list.h"
#include "system/names/proc_list.h"
#include "system/names/processes.h"

enum {
    NS_PER_S = 1000000000,
};

static uint64_t tick_of(int64_t time_ns)
{
    struct timespec now;
    int64_t ns_per_tick = NS_PER_S / sysconf(_SC_CLK_TCK);
    int64_t ago_ns = etwas_clock_qpc() - time_ns;

    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)(((int64_t)now.tv_sec * NS_PER_S + now.tv_nsec - ago_ns) / ns_per_tick);
}

static const struct etwas_process_source here = {
    .list = etwas_proc_list_processes,
    .threads = etwas_proc_list_threads,
    .facts = etwas_process_facts_read,
    .command_line = etwas_process_command_line_read,
    .mappings = etwas_process_mappings,
    .counters = etwas_process_counters_read,
    .kernel = etwas_kernel_images,
    .now_ns = etwas_clock_qpc,
    .tick_of = tick_of,
};

/* ---- where /proc is of another namespace ----------------------------------------------------- */

static bool list_none(void (*each)(void *context, uint32_t process_id), void *context)
{
    (void)each;
    (void)context;
    return false;
}

static void list_no_threads(uint32_t process_id, etwas_thread_callback *each, void *context)
{
    (void)process_id;
    (void)each;
    (void)context;
}

static bool know_nothing(uint32_t process_id, struct etwas_process_facts *facts)
{
    (void)process_id;
    (void)facts;
    return false;
}

static void list_no_mappings(uint32_t process_id,
                             void (*each)(void *context, const struct etwas_mapping *mapping),
                             void *context)
{
    (void)process_id;
    (void)each;
    (void)context;
}

static bool count_nothing(uint32_t process_id, struct etwas_process_counters *counters)
{
    (void)process_id;
    (void)counters;
    return false;
}

static const struct etwas_process_source elsewhere = {
    .list = list_none,
    .threads = list_no_threads,
    .facts = know_nothing,
    .command_line = know_nothing,
    .mappings = list_no_mappings,
    .counters = count_nothing,
    .kernel = etwas_kernel_images,
    .now_ns = etwas_clock_qpc,
    .tick_of = tick_of,
};

/* ---- the own process alone ------------------------------------------------------------------- */

static bool list_own(void (*each)(void *context, uint32_t process_id), void *context)
{
    each(context, (uint32_t)getpid());
    return true;
}

static void list_no_images(void (*each)(void *context, const struct etwas_mapping *mapping),
                           void *context)
{
    (void)each;
    (void)context;
}

static const struct etwas_process_source own = {
    .list = list_own,
    .threads = etwas_proc_list_threads,
    .facts = etwas_process_facts_read,
    .command_line = etwas_process_command_line_read,
    .mappings = etwas_process_mappings,
    .counters = etwas_process_counters_read,
    .kernel = list_no_images,
    .now_ns = etwas_clock_qpc,
    .tick_of = tick_of,
};

const struct etwas_process_source *etwas_process_source_own(void)
{
    return etwas_proc_is_ours() ? &own : &elsewhere;
}

const struct etwas_process_source *etwas_process_source_here(void)
{
    return etwas_proc_is_ours() ? &here : &elsewhere;
}
