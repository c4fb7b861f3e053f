/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/register.h"

#include "control/look.h"

uint32_t etwas_register_shared(const struct etwas_registration_request *request, uint64_t *handle)
{
    uint32_t looks = etwas_look_before_registering(request->control);
    uint32_t code = etwas_provider_register(request, handle);

    etwas_look_after_registering(looks);
    return code;
}
