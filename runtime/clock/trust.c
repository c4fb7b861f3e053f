/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/trust.h"

#include <ck_pr.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "platform/sized_struct.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/"

/*
 * Readings slower than this are emulated. The instruction takes 6 to 60 ns with its fences; leaving
 * a guest for its hypervisor and coming back takes 500 ns and more, a trap into the kernel 300.
 */
#define EMULATED_NS 250.0

/* Calibration by another clock is exact within some ppm, crystals within 100. */
#define WRONG_PPM 100.0

/* The base frequency is the nominal one: 2,600 MHz if the counter runs at 2,592. */
#define WRONG_BASE_FREQUENCY_PPM 10000.0

enum {
    CPUID_FEATURES = 1,
    CPUID_MORE_FEATURES = 7,
    CPUID_COUNTER = 0x15,
    CPUID_FREQUENCY = 0x16,
    CPUINFO_BYTES = 8192, /* the first processor's block */
};

#define CPUID_HYPERVISOR 0x40000000u
#define CPUID_HYPERVISOR_TIMING 0x40000010u
#define CPUID_POWER 0x80000007u

/*
 * The timing leaf is a convention of these hypervisors. Others have a different leaf in its place,
 * or none.
 */
#define HYPERVISORS_WITH_TIMING "KVMKVMKVM VMwareVMware ACRNACRNACRN"

/* The clocksources for which CLOCK_MONOTONIC_RAW is derived from the counter, in nanoseconds. */
#define CLOCKSOURCES_OF_COUNTER "tsc tsc-early kvm-clock xen"

/* ---- what the kernel states ------------------------------------------------------------------ */

/* Whether `word` is among the words of the first line of `list`. */
static bool trust_has_word(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; *at != '\0' && *at != '\n';) {
        size_t here = strcspn(at, " \t\n");

        if (here == length && memcmp(at, word, length) == 0) {
            return true;
        }
        at += here;
        at += strspn(at, " \t");
    }
    return false;
}

/* Copies the words of the first line of `list` that fit completely. */
static void trust_copy_words(char *to, size_t size, const char *list)
{
    size_t length = strcspn(list, "\n");

    if (length >= size) {
        length = size - 1;
        while (length > 0 && list[length] != ' ') {
            length--;
        }
    }
    while (length > 0 && list[length - 1] == ' ') {
        length--;
    }
    memcpy(to, list, length);
    to[length] = '\0';
}

/*
 * The kernel removes the counter from its list when it finds that two processors' counters differ,
 * or that the rate is unsteady. A missing list is no evidence.
 */
static void trust_ask_clocksources(const struct etwas_machine *machine, etwas_clock_trust *trust)
{
    const char *counter =
        machine->architecture == ETWAS_ARCHITECTURE_X86_64 ? "tsc" : "arch_sys_counter";
    char line[256];

    if (machine->text(CLOCKSOURCE "current_clocksource", line, sizeof line)) {
        trust_copy_words(trust->clocksource, sizeof trust->clocksource, line);
        if (strcmp(trust->clocksource, counter) == 0) {
            trust->reasons |= ETWAS_CLOCK_REASON_KERNEL_USES_IT;
        }
    }
    if (machine->text(CLOCKSOURCE "available_clocksource", line, sizeof line) && line[0] != '\n') {
        trust_copy_words(trust->available_clocksources, sizeof trust->available_clocksources, line);
        trust->reasons |= trust_has_word(line, counter) ? ETWAS_CLOCK_REASON_KERNEL_OFFERS_IT
                                                        : ETWAS_CLOCK_REASON_KERNEL_DROPPED_IT;
    }
}

static void trust_ask_cpuinfo(const struct etwas_machine *machine, etwas_clock_trust *trust)
{
    char text[CPUINFO_BYTES];
    const char *flags;

    if (!machine->text("/proc/cpuinfo", text, sizeof text)) {
        return;
    }
    flags = strstr(text, "\nflags");
    if (flags == NULL) {
        return;
    }
    flags++;
    if (trust_has_word(flags, "nonstop_tsc")) {
        trust->reasons |= ETWAS_CLOCK_REASON_NONSTOP;
    }
    if (trust_has_word(flags, "tsc_known_freq")) {
        trust->reasons |= ETWAS_CLOCK_REASON_KERNEL_WAS_TOLD;
    }
}

/* ---- what the processor and the hypervisor state --------------------------------------------- */

static void trust_set_stated_frequency(etwas_clock_trust *trust, uint32_t by, uint64_t hz)
{
    if (hz != 0 && trust->stated_hz == 0) {
        trust->stated_by = by;
        trust->stated_hz = hz;
        trust->reasons |= ETWAS_CLOCK_REASON_STATED_FREQUENCY;
    }
}

static void trust_ask_hypervisor(const struct etwas_machine *machine, etwas_clock_trust *trust)
{
    struct etwas_cpuid leaf;
    uint32_t last;

    trust->reasons |= ETWAS_CLOCK_REASON_HYPERVISOR;
    if (!machine->cpuid(CPUID_HYPERVISOR, &leaf)) {
        return;
    }
    last = leaf.eax;
    memcpy(trust->hypervisor, &leaf.ebx, sizeof leaf.ebx);
    memcpy(trust->hypervisor + 4, &leaf.ecx, sizeof leaf.ecx);
    memcpy(trust->hypervisor + 8, &leaf.edx, sizeof leaf.edx);
    if (strcmp(trust->hypervisor, "TCGTCGTCGTCG") == 0) {
        /* It emulates every instruction, but the reading too fast to be noticed. */
        trust->reasons |= ETWAS_CLOCK_REASON_EMULATED;
    }
    if (last >= CPUID_HYPERVISOR_TIMING &&
        trust_has_word(HYPERVISORS_WITH_TIMING, trust->hypervisor) &&
        machine->cpuid(CPUID_HYPERVISOR_TIMING, &leaf)) {
        trust_set_stated_frequency(trust, ETWAS_CLOCK_STATED_HYPERVISOR, (uint64_t)leaf.eax * 1000);
    }
}

/*
 * In a guest the hypervisor's statement comes first, because it may scale the processor's counter.
 */
static void trust_ask_cpuid(const struct etwas_machine *machine, etwas_clock_trust *trust)
{
    const uint32_t invariant = 1u << 8;
    const uint32_t hypervisor = 1u << 31;
    const uint32_t adjustable = 1u << 1;
    struct etwas_cpuid leaf;

    trust->reasons |= machine->cpuid(CPUID_POWER, &leaf) && (leaf.edx & invariant) != 0
                          ? ETWAS_CLOCK_REASON_INVARIANT
                          : ETWAS_CLOCK_REASON_NOT_INVARIANT;
    if (machine->cpuid(CPUID_MORE_FEATURES, &leaf) && (leaf.ebx & adjustable) != 0) {
        trust->reasons |= ETWAS_CLOCK_REASON_ADJUSTABLE;
    }
    if (machine->cpuid(CPUID_FEATURES, &leaf) && (leaf.ecx & hypervisor) != 0) {
        trust_ask_hypervisor(machine, trust);
    }
    if (machine->cpuid(CPUID_COUNTER, &leaf) && leaf.eax != 0) {
        /* Crystal × numerator / denominator; a processor may leave out the crystal. */
        trust_set_stated_frequency(trust, ETWAS_CLOCK_STATED_CPUID_15H,
                                   (uint64_t)leaf.ecx * leaf.ebx / leaf.eax);
    }
    if (machine->cpuid(CPUID_FREQUENCY, &leaf)) {
        trust_set_stated_frequency(trust, ETWAS_CLOCK_STATED_CPUID_16H,
                                   (uint64_t)(leaf.eax & 0xffff) * 1000000);
    }
}

/* The architecture guarantees one rate in all power states (Arm ARM, generic timer). */
static void trust_ask_generic_timer(const struct etwas_machine *machine, etwas_clock_trust *trust)
{
    trust->reasons |= ETWAS_CLOCK_REASON_INVARIANT | ETWAS_CLOCK_REASON_NONSTOP;
    trust_set_stated_frequency(trust, ETWAS_CLOCK_STATED_CNTFRQ, machine->stated_hz());
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Returns the step of CLOCK_MONOTONIC_RAW if that is derived from the counter, else 0. */
static double trust_raw_step_ns(const etwas_clock_trust *trust)
{
    if (trust_has_word(CLOCKSOURCES_OF_COUNTER, trust->clocksource)) {
        return 1;
    }
    if (strcmp(trust->clocksource, "arch_sys_counter") == 0 && trust->stated_hz != 0) {
        return 1 + 1e9 / (double)trust->stated_hz;
    }
    return 0;
}

static bool trust_states_another(const etwas_clock_trust *trust)
{
    double limit_ppm =
        trust->stated_by == ETWAS_CLOCK_STATED_CPUID_16H ? WRONG_BASE_FREQUENCY_PPM : WRONG_PPM;

    return fabs(etwas_clock_stated_difference_ppm(trust)) >
           limit_ppm + trust->frequency_error_ppb / 1e3;
}

static void trust_measure(const struct etwas_machine *machine, etwas_clock_trust *trust)
{
    struct etwas_clock_rate rate;
    bool known = etwas_clock_measure_rate(machine, trust_raw_step_ns(trust), &rate);

    if (rate.backwards) {
        trust->reasons |= ETWAS_CLOCK_REASON_BACKWARDS;
    }
    if (!known || rate.backwards || rate.hz < 1) {
        trust->reasons |= ETWAS_CLOCK_REASON_NO_COUNTER;
        return;
    }
    trust->frequency_hz = (uint64_t)(rate.hz + 0.5);
    /* Half a Hz is added, because the frequency is rounded; the sum is rounded up. */
    trust->frequency_error_ppb = (uint32_t)((rate.error_hz + 0.5) / rate.hz * 1e9) + 1;
    if (rate.reading_ns > EMULATED_NS) {
        trust->reasons |= ETWAS_CLOCK_REASON_EMULATED;
    }
    if (trust_states_another(trust)) {
        trust->reasons |= ETWAS_CLOCK_REASON_WRONG_FREQUENCY;
    }
}

static void trust_ask_machine(const struct etwas_machine *machine, etwas_clock_trust *trust)
{
    memset(trust, 0, sizeof *trust);
    trust_ask_clocksources(machine, trust);
    if (machine->architecture == ETWAS_ARCHITECTURE_X86_64) {
        trust_ask_cpuinfo(machine, trust);
        trust_ask_cpuid(machine, trust);
    } else {
        trust_ask_generic_timer(machine, trust);
    }
}

void etwas_clock_trust_of(const struct etwas_machine *machine, etwas_clock_trust *trust)
{
    trust_ask_machine(machine, trust);
    trust_measure(machine, trust);
    trust->verdict = etwas_clock_trust_verdict(trust->reasons);
}

/* ---- this process's machine ------------------------------------------------------------------ */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static etwas_clock_trust here; /* written once, by `once` */
static uint32_t is_found_out;  /* 1 after it was written */
static pthread_once_t once_asked = PTHREAD_ONCE_INIT;
static etwas_clock_trust asked; /* written once, by `once_asked` */

static void trust_measure_once(void)
{
    etwas_clock_trust_of(&etwas_this_machine, &here);
    ck_pr_fence_release(); /* pairs with the acquire in etwas_clock_trust_known */
    ck_pr_store_32(&is_found_out, 1);
}

static void trust_ask_once(void)
{
    trust_ask_machine(&etwas_this_machine, &asked);
    asked.verdict = etwas_clock_trust_verdict(asked.reasons);
}

#ifdef ETWAS_TESTPOINTS

static const etwas_clock_trust forbidden = {.reasons = ETWAS_CLOCK_REASON_NO_COUNTER};
static const etwas_clock_trust *instead; /* set by a test; NULL: the machine's own */

static void trust_replace(const etwas_clock_trust *trust)
{
    ck_pr_fence_release();
    ck_pr_store_ptr(&instead, trust);
}

void etwas_clock_allow_tsc(bool allowed)
{
    trust_replace(allowed ? NULL : &forbidden);
}

void etwas_clock_replace_machine(const struct etwas_machine *machine)
{
    static etwas_clock_trust made_up;

    if (machine != NULL) {
        etwas_clock_trust_of(machine, &made_up);
    }
    trust_replace(machine != NULL ? &made_up : NULL);
}

static const etwas_clock_trust *trust_of_test(void)
{
    const etwas_clock_trust *trust = ck_pr_load_ptr(&instead);

    ck_pr_fence_acquire();
    return trust;
}

#else

static const etwas_clock_trust *trust_of_test(void)
{
    return NULL;
}

#endif

const etwas_clock_trust *etwas_clock_trust_here(void)
{
    const etwas_clock_trust *trust = trust_of_test();

    if (trust == NULL) {
        (void)pthread_once(&once, trust_measure_once);
        trust = &here;
    }
    return trust;
}

const etwas_clock_trust *etwas_clock_trust_known(void)
{
    if (trust_of_test() != NULL || ck_pr_load_32(&is_found_out) != 0) {
        ck_pr_fence_acquire();
        return etwas_clock_trust_here();
    }
    (void)pthread_once(&once_asked, trust_ask_once);
    return &asked;
}

uint32_t etwas_clock_query_trust_sized(etwas_clock_trust *trust, size_t trust_bytes)
{
    if (trust == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_sized_write(trust, trust_bytes, etwas_clock_trust_here(), sizeof *trust);
    return ERROR_SUCCESS;
}

/* ---- the reasons in words -------------------------------------------------------------------- */

/* Each text is a complete statement; "it" is the cycle counter. */
const char *etwas_clock_reason_text(uint32_t reason)
{
    static const struct {
        uint32_t reason;
        const char *text;
    } texts[] = {
        {ETWAS_CLOCK_REASON_INVARIANT, "It runs at one rate in all power states"},
        {ETWAS_CLOCK_REASON_NONSTOP, "It does not stop in deep sleep"},
        {ETWAS_CLOCK_REASON_STATED_FREQUENCY,
         "The processor or the hypervisor states its frequency"},
        {ETWAS_CLOCK_REASON_KERNEL_USES_IT, "The kernel itself keeps time by it"},
        {ETWAS_CLOCK_REASON_KERNEL_OFFERS_IT, "The kernel has it among its clock sources"},
        {ETWAS_CLOCK_REASON_ADJUSTABLE, "The kernel can set a processor's counter right"},
        {ETWAS_CLOCK_REASON_KERNEL_WAS_TOLD,
         "The kernel was told its frequency and did not have to measure it"},
        {ETWAS_CLOCK_REASON_HYPERVISOR, "This is a guest, which may be moved to another machine"},
        {ETWAS_CLOCK_REASON_NOT_INVARIANT,
         "Its rate is not said to be the same in all power states"},
        {ETWAS_CLOCK_REASON_KERNEL_DROPPED_IT,
         "The kernel does not have it among its clock sources, or no longer"},
        {ETWAS_CLOCK_REASON_EMULATED,
         "Reading it takes too long for an instruction: it seems to be emulated"},
        {ETWAS_CLOCK_REASON_WRONG_FREQUENCY, "Its stated frequency differs from the measured one"},
        {ETWAS_CLOCK_REASON_BACKWARDS, "It was seen running backwards"},
        {ETWAS_CLOCK_REASON_APART, "It is not the same on all processors"},
        {ETWAS_CLOCK_REASON_NO_COUNTER, "It could not be calibrated"},
    };

    for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++) {
        if (texts[index].reason == reason) {
            return texts[index].text;
        }
    }
    return "";
}
