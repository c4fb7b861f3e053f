/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A probe in the kernel: BPF programs of ours at tracepoints or after functions, which report what
 * the kernel's events do not. They write into the rings of the streams, as samples of an event
 * PERF_COUNT_SW_BPF_OUTPUT that each stream has.
 *
 * Without CAP_BPF and CAP_PERFMON there is no probe.
 */
#ifndef ETWAS_SYSTEM_STREAM_PROBE_H
#define ETWAS_SYSTEM_STREAM_PROBE_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_PROBE_LINKS = 6
};

struct etwas_probe {
    int outputs; /* -1: the probe is closed */
    int links[ETWAS_PROBE_LINKS];
};

/* A closed probe. */
#define ETWAS_PROBE_CLOSED ((struct etwas_probe){-1, {-1, -1, -1, -1, -1, -1}})

/* Makes the outputs for this many processors. Returns false, with nothing open, on failure. */
bool etwas_probe_begin(struct etwas_probe *probe, uint32_t processors);

/*
 * Runs the program at the tracepoint from now on, and closes its descriptor. If `tracepoint` is
 * NULL, it runs where it was made for. A descriptor of -1 is refused.
 */
bool etwas_probe_attach(struct etwas_probe *probe, int program, const char *tracepoint);

/* Sends what happens on this processor to the ring of this event from now on. */
bool etwas_probe_send(const struct etwas_probe *probe, uint32_t processor, int event);

/*
 * Closes the probe, if it is open. Async-signal-safe. In a fork's child the parent's probe goes on.
 */
void etwas_probe_close(struct etwas_probe *probe);

/*
 * bpf(2), as far as our small programs need it: maps, a program, and where it runs. Functions
 * return a descriptor, closed on exec, or -1. They need CAP_BPF and CAP_PERFMON.
 *
 * A program is a table of instructions (linux/bpf.h), compiled from C (system/bpf/).
 */

/*
 * Elements of a table of instructions that load a map, or a number, with this index in `given`.
 * Each takes two instructions, and `off` of the first marks it for the loader.
 */
#define ETWAS_BPF_MAP(to, place)                                                                   \
    {BPF_LD | BPF_IMM | BPF_DW, to, BPF_PSEUDO_MAP_FD, ETWAS_BPF_IS_GIVEN, place},                 \
    {                                                                                              \
        0, 0, 0, 0, 0                                                                              \
    }
#define ETWAS_BPF_GIVEN(to, place)                                                                 \
    {BPF_LD | BPF_IMM | BPF_DW, to, 0, ETWAS_BPF_IS_GIVEN, place},                                 \
    {                                                                                              \
        0, 0, 0, 0, 0                                                                              \
    }

int etwas_bpf_map(enum bpf_map_type type, uint32_t value_bytes, uint32_t entries);

bool etwas_bpf_map_set(int map, uint32_t index, uint32_t value);

enum {
    ETWAS_BPF_MOST = 128, /* instructions */
    ETWAS_BPF_IS_GIVEN = 1,
};

/* `given`: descriptors of maps and numbers that instructions refer to by index. */
int etwas_bpf_program(enum bpf_prog_type type, const struct bpf_insn *code, size_t count,
                      const int *given);

/*
 * Loads a program that runs when this function of the kernel returns, and gets its arguments and
 * result. `function`: its number in BTF.
 */
int etwas_bpf_program_behind(uint32_t function, const struct bpf_insn *code, size_t count,
                             const int *given);

/* Runs the program until the returned descriptor is closed. `name` NULL: where it was made for. */
int etwas_bpf_attach_tracepoint(int program, const char *name);

/*
 * The kernel's own description of its types and functions (BTF): the numbers by which a BPF program
 * refers to functions.
 */

/*
 * Stores the number of the function names[i] in numbers[i]; 0: it does not exist, or the
 * description makes no sense.
 */
void etwas_btf_find(const uint8_t *btf, size_t bytes, const char *const *names, size_t count,
                    uint32_t *numbers);

/* Does the same with the description of the running kernel. */
void etwas_btf_find_here(const char *const *names, size_t count, uint32_t *numbers);

#endif
