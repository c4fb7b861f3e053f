/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_BUILT_H
#define ETWAS_TOOLS_CLI_BUILT_H

/* The message of a command that needs a library which the build did not have. */

/* Follows "it was built without NAME": what to install. C concatenates the two. */
#define ETWAS_BUILT_CURE(package) "On Debian install " package " and build it again"

#endif
