/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Running a restartable sequence, in builds without any, too. */
#ifndef ETWAS_TESTS_PLATFORM_SEQUENCE_H
#define ETWAS_TESTS_PLATFORM_SEQUENCE_H

#include "platform/rseq.h"

static inline enum etwas_rseq_result run(const struct etwas_rseq_sequence *sequence)
{
#if ETWAS_RSEQ
    return etwas_rseq_run(sequence);
#else
    (void)sequence;
    return ETWAS_RSEQ_ABORTED;
#endif
}

#endif
