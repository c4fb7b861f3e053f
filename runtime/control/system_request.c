/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/system_request.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <string.h>

#include "clock/clock.h"
#include "platform/name_case.h"
#include "provider/source.h"

static bool has_guid(const struct etwas_configuration *configuration, const etwas_guid *guid)
{
    return memcmp(&configuration->guid, guid, sizeof *guid) == 0;
}

/* R42, R43, R188 */
static uint32_t check_identity(struct etwas_configuration *configuration)
{
    bool has_name = etwas_names_equal(configuration->name, KERNEL_LOGGER_NAMEW);

    if (has_guid(configuration, &SystemTraceControlGuid) && !has_name) {
        return ERROR_INVALID_PARAMETER;
    }
    if (has_name) {
        configuration->guid = SystemTraceControlGuid;
    }
    if (has_guid(configuration, &KernelRundownGuid)) {
        configuration->system_logger = ETWAS_SYSTEM_LOGGER_RUNDOWN;
    } else if (has_name || has_guid(configuration, &GlobalLoggerGuid) ||
               (configuration->log_file_mode & EVENT_TRACE_SYSTEM_LOGGER_MODE) != 0) {
        configuration->system_logger = ETWAS_SYSTEM_LOGGER_EVENTS;
    }
    configuration->own_process = configuration->system_logger &&
                                 etwas_kernel_scope_of_thread() == ETWAS_KERNEL_SCOPE_PROCESS;
    return ERROR_SUCCESS;
}

uint32_t etwas_system_request_check_flags(uint32_t flags)
{
    if (!etwas_system_flags_are_known(flags)) {
        return ERROR_INVALID_PARAMETER;
    }
    return (flags & ~(etwas_kernel_source.flags() | EVENT_TRACE_FLAG_NO_SYSCONFIG)) == 0
               ? ERROR_SUCCESS
               : ERROR_NOT_SUPPORTED;
}

uint32_t etwas_system_request_check(struct etwas_configuration *configuration)
{
    uint32_t code = check_identity(configuration);

    if (code != ERROR_SUCCESS || !configuration->system_logger) {
        return code;
    }
    code = etwas_modes_check(configuration->log_file_mode);
    if (code == ERROR_SUCCESS) {
        code = etwas_system_request_check_flags(configuration->enable_flags);
    }
    if ((configuration->log_file_mode &
         (EVENT_TRACE_USE_PAGED_MEMORY | EVENT_TRACE_PRIVATE_LOGGER_MODE)) != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    return etwas_configuration_has_one_slot(configuration) ? ERROR_NOT_SUPPORTED : ERROR_SUCCESS;
}
