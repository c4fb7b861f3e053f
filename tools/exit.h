/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EXIT_H
#define ETWAS_TOOLS_EXIT_H

/*
 * The exit status of `etwas`, explained in docs/reference/exit-status.md. The worst one takes
 * precedence: OUTPUT, FAILED, DAMAGED, NO.
 */
enum etwas_exit {
    ETWAS_EXIT_DONE = 0,
    ETWAS_EXIT_NO = 1,      /* done, and the answer is no */
    ETWAS_EXIT_FAILED = 2,  /* not done: a usage error, no such file or session, no permission */
    ETWAS_EXIT_DAMAGED = 3, /* the input is damaged; what could be read was used */
    ETWAS_EXIT_OUTPUT = 4,  /* the output could not be written */
};

#endif
