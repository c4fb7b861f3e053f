/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system's log, for warnings that no call can return: a line in the journal. It does without
 * syslog(), whose connection and settings are the program's.
 */
#ifndef ETWAS_PLATFORM_SYSTEM_LOG_H
#define ETWAS_PLATFORM_SYSTEM_LOG_H

/* Logs the text, as a warning of this program. Never waits; where there is no log, does nothing. */
void etwas_system_log(const char *text);

#endif
