/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The verdict on a cycle counter by the facts that are known of it.
 *
 *     reason                                 verdict
 *     it could not be calibrated             unusable
 *     the rate follows the power state       unusable
 *     the kernel gave it up                  unusable
 *     readings are emulated                  doubtful
 *     another frequency is stated            doubtful
 *     it ran backwards, in an examination    doubtful; while calibrated, unusable
 *     processors are apart                   doubtful
 *     a guest, whose kernel does not use it  doubtful
 *     nothing of that                        trusted
 *
 * A guest whose kernel keeps time by the counter is trusted: a hypervisor that moved it without
 * keeping the counter steady would break that kernel's clock too.
 */
#ifndef ETWAS_CLOCK_TRUST_VERDICT_H
#define ETWAS_CLOCK_TRUST_VERDICT_H

#include <etwas/etwas.h>

/* Returns the verdict that follows from ETWAS_CLOCK_REASON_* bits. */
uint32_t etwas_clock_trust_verdict(uint32_t reasons);

/* Returns how much more is stated than measured, in ppm; 0 where nothing is stated or measured. */
double etwas_clock_stated_difference_ppm(const etwas_clock_trust *trust);

/* Returns whether a frequency is stated that agrees with the measured one within its bound. */
bool etwas_clock_stated_agrees(const etwas_clock_trust *trust);

#endif
