/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clock of one file: a record of our own in buffer 0, right after the totals. Which clock the
 * session asked for and got, and what the cycle counter of the machine was worth.
 */
#ifndef ETWAS_ETL_CLOCK_RECORD_H
#define ETWAS_ETL_CLOCK_RECORD_H

#include "etl/layout.h"
#include "etl/own_record.h"

enum {
    ETWAS_ETL_CLOCK_RECORD_TYPE = 3, /* Class.Type, of class etwas_etl_own_class */
    ETWAS_ETL_CLOCK_RECORD_VERSION = 1,
};

/*
 * The payload; values as in <etwas/etwas.h>. The counter is measured only for a session that asked
 * for it, or if the process had it measured before. Else verdict and reasons are by what the
 * machine says of it, frequency_hz is 0, and there is no reason that takes measuring.
 */
struct etwas_etl_clock_trust {
    uint32_t version;         /* ETWAS_ETL_CLOCK_RECORD_VERSION; also in Class.Version */
    uint32_t requested_clock; /* ClientContext as asked for, 1 for 0 */
    uint32_t clock_type;      /* what the session got, ETWAS_ETL_CLOCK_* */
    uint32_t verdict;         /* ETWAS_CLOCK_VERDICT_*, of the cycle counter */
    uint32_t reasons;         /* ETWAS_CLOCK_REASON_*, likewise */
    uint32_t stated_by;       /* ETWAS_CLOCK_STATED_* */
    uint64_t frequency_hz;    /* of the cycle counter as calibrated; 0: it was not */
    uint64_t stated_hz;       /* 0: nothing states one */
    uint32_t frequency_error_ppb;
    uint32_t processors;  /* of the machine; 0: not noted. The header may count one more: the stream
                             of threads without restartable sequences */
    char clocksource[32]; /* the kernel's, in any session's file; "" where it is not known */
    char hypervisor[16];  /* its signature; "" on bare metal. Both end with 0 */
};
_Static_assert(sizeof(struct etwas_etl_clock_trust) == 96, "clock");
_Static_assert(offsetof(struct etwas_etl_clock_trust, requested_clock) == 4, "requested");
_Static_assert(offsetof(struct etwas_etl_clock_trust, clock_type) == 8, "clock type");
_Static_assert(offsetof(struct etwas_etl_clock_trust, verdict) == 12, "verdict");
_Static_assert(offsetof(struct etwas_etl_clock_trust, reasons) == 16, "reasons");
_Static_assert(offsetof(struct etwas_etl_clock_trust, stated_by) == 20, "stated by");
_Static_assert(offsetof(struct etwas_etl_clock_trust, frequency_hz) == 24, "frequency");
_Static_assert(offsetof(struct etwas_etl_clock_trust, stated_hz) == 32, "stated frequency");
_Static_assert(offsetof(struct etwas_etl_clock_trust, frequency_error_ppb) == 40, "its error");
_Static_assert(offsetof(struct etwas_etl_clock_trust, processors) == 44, "processors");
_Static_assert(offsetof(struct etwas_etl_clock_trust, clocksource) == 48, "clock source");
_Static_assert(offsetof(struct etwas_etl_clock_trust, hypervisor) == 80, "hypervisor");

/* The whole record, 144 bytes. header.time_stamp is that of the log file header record. */
struct etwas_etl_clock_trust_record {
    struct etwas_etl_full_header header;
    struct etwas_etl_clock_trust clock;
};
_Static_assert(sizeof(struct etwas_etl_clock_trust_record) == 144, "clock record");

#endif
