/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Opens probes (probe.h). Their events are opened like those of other process records, and each
 * probe is connected to the events that it writes to.
 */
#include "platform/processor.h"
#include "system/groups/length_probe.h"
#include "system/kernel_sources_events.h"
#include "system/names/bpf_probes.h"

static struct etwas_probe *probe_of(struct etwas_kernel_sources *kernel, uint32_t kind)
{
    switch (kind) {
    case ETWAS_PROCESS_RECORD_ARGUMENTS:
        return &kernel->probes[0];
    case ETWAS_PROCESS_RECORD_PATHS:
        return &kernel->probes[1];
    default:
        return &kernel->probes[2];
    }
}

void etwas_kernel_sources_init_probes(struct etwas_kernel_sources *kernel)
{
    for (uint32_t index = 0; index < ETWAS_KERNEL_SOURCES_PROBES; index++) {
        kernel->probes[index] = ETWAS_PROBE_CLOSED;
    }
}

static bool open_probe(struct etwas_kernel_sources *kernel, uint32_t kind)
{
    struct etwas_unavailability ignored;

    if (kind == ETWAS_PROCESS_RECORD_ARGUMENTS) {
        return etwas_exec_probe_open(probe_of(kernel, kind), etwas_slot_count);
    }
    if (kind == ETWAS_PROCESS_RECORD_LENGTHS) {
        return etwas_length_probe_open(probe_of(kernel, kind), etwas_slot_count);
    }
    return (kernel->own_number != 0 ||
            etwas_thread_own_number(&kernel->host.numbers, &kernel->own_number, &ignored)) &&
           etwas_path_probe_open(probe_of(kernel, kind), etwas_slot_count, kernel->own_number);
}

bool etwas_kernel_sources_connect_probe(struct etwas_kernel_sources *kernel, uint32_t kind)
{
    const struct etwas_cpu_stream_request request = {.tag = kind, .process_records = kind};
    struct etwas_unavailability ignored;
    bool good = etwas_kernel_sources_add_event(kernel, &request, &ignored);

    for (uint32_t index = kernel->first_stream; good && index < kernel->merge.count; index++) {
        const struct etwas_cpu_stream *stream = kernel->merge.streams[index].stream;

        good = etwas_probe_send(probe_of(kernel, kind), stream->processor,
                                etwas_cpu_stream_event_descriptor(stream, kind));
    }
    return good;
}

void etwas_kernel_sources_open_probe(struct etwas_kernel_sources *kernel, uint32_t kind)
{
    if (kernel->merge.count != 0 && open_probe(kernel, kind) &&
        etwas_kernel_sources_connect_probe(kernel, kind)) {
        kernel->host.process_records |= kind;
    } else {
        etwas_kernel_sources_close_probe(kernel, kind);
        etwas_kernel_sources_remove_event(kernel, kind);
    }
}

void etwas_kernel_sources_close_probe(struct etwas_kernel_sources *kernel, uint32_t kind)
{
    etwas_probe_close(probe_of(kernel, kind));
}

void etwas_kernel_sources_close_probes(struct etwas_kernel_sources *kernel)
{
    for (uint32_t index = 0; index < ETWAS_KERNEL_SOURCES_PROBES; index++) {
        etwas_probe_close(&kernel->probes[index]);
    }
}
