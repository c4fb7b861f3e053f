/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/register.h"

#include <etwas/winerror.h>

#include "autologger/autologger.h"
#include "session/sharing.h"

uint32_t etwas_register_shared(const struct etwas_registration_request *request, uint64_t *handle)
{
    struct etwas_registering registering;
    uint32_t code;

    etwas_autologgers_begin();
    registering = etwas_sharing.before_registering(request->control);
    code = etwas_provider_register(request, handle);
    etwas_sharing.after_registering(registering);
    if (*handle != 0) {
        etwas_sharing.publish_providers();
    }
    return code;
}

uint32_t etwas_unregister_shared(uint64_t handle, bool is_modern)
{
    uint32_t code = etwas_provider_unregister(handle, is_modern);

    if (code == ERROR_SUCCESS) {
        etwas_sharing.publish_providers();
    }
    return code;
}
