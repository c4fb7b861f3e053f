/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The reasons of a verdict in words. Each stands for itself, "it" being the cycle counter. */
#include <stddef.h>

#include <etwas/etwas.h>

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
