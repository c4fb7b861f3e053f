/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A session of several files, whose next file cannot be had for a while. */
#ifndef ETWAS_FAILURES_SEAM_H
#define ETWAS_FAILURES_SEAM_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

struct breakage {
    void (*make)(void); /* from here on no file can be created */
    void (*mend)(void);
    uint32_t code; /* what INCREMENT_FILE says then */
    bool of_all;   /* the file that is there cannot be written either */
};

/*
 * Starts a session whose files are `folder`/part-%d.etl, and breaks and mends that. The file that
 * is there is filled, what finds no file is lost and counted, and then it goes on: with the next
 * number, each file complete in itself. Fails the test.
 */
void expect_seam_survives(const char *folder, const struct breakage *breakage);

/* ControlTrace's codes for a session with a file. */
uint32_t increment_file(etwas_trace_handle session);

#endif
