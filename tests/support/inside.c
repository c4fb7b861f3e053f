/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the tests ask of the library's inside, and set there. Programs that run with the shipped
 * library have shipped.c instead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flush/drain.h"
#include "platform/rseq.h"
#include "session/handle.h"
#include "support/inside.h"
#include "support/start.h"

__attribute__((constructor)) static void be_patient(void)
{
    etwas_drain_timeout_ns = TEST_DRAIN_TIMEOUT_NS;
}

bool can_have_sequences(void)
{
    return etwas_rseq_prepare();
}

struct etwas_session *inside_of(etwas_trace_handle session)
{
    struct etwas_session_key key;

    assert_true(etwas_session_key_of(session, &key));
    assert_int_equal(etwas_sessions[key.index].entry.generation, key.generation);
    return &etwas_sessions[key.index];
}
