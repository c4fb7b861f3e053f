/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Where the processes of a user store whether this machine's kernel aborts restartable sequences
 * (platform/rseq.h): the file `rseq` in the folder of their pool files, with the boot's id and the
 * answer. So one process tries it, once a boot.
 */
#ifndef ETWAS_SHARED_SEQUENCES_H
#define ETWAS_SHARED_SEQUENCES_H

#include "platform/rseq.h"

extern const struct etwas_rseq_trial_storage etwas_sequences_keeper;

#endif
