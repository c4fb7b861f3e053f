/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The on-disk layouts against the public structures that share bytes with them, and the helpers.
 * Sizes and offsets of each field are asserted in etl/layout.h itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

#include "etl/calibration.h"
#include "etl/layout.h"

#define SAME_PLACE(disk, disk_member, api, api_member)                                             \
    _Static_assert(offsetof(disk, disk_member) == offsetof(api, api_member),                       \
                   #disk "." #disk_member " lies as " #api "." #api_member)

SAME_PLACE(struct etwas_etl_instance_header, full.size, EVENT_INSTANCE_GUID_HEADER, Size);
SAME_PLACE(struct etwas_etl_instance_header, full.header_type, EVENT_INSTANCE_GUID_HEADER,
           HeaderType);
SAME_PLACE(struct etwas_etl_instance_header, full.type, EVENT_INSTANCE_GUID_HEADER, Class.Type);
SAME_PLACE(struct etwas_etl_instance_header, full.version, EVENT_INSTANCE_GUID_HEADER,
           Class.Version);
SAME_PLACE(struct etwas_etl_instance_header, full.time_stamp, EVENT_INSTANCE_GUID_HEADER,
           TimeStamp);
SAME_PLACE(struct etwas_etl_instance_header, full.guid, EVENT_INSTANCE_GUID_HEADER, Guid);
SAME_PLACE(struct etwas_etl_instance_header, full.user_time, EVENT_INSTANCE_GUID_HEADER, UserTime);
SAME_PLACE(struct etwas_etl_instance_header, instance_id, EVENT_INSTANCE_GUID_HEADER, InstanceId);
SAME_PLACE(struct etwas_etl_instance_header, parent_guid, EVENT_INSTANCE_GUID_HEADER, ParentGuid);
SAME_PLACE(struct etwas_etl_full_header, guid, EVENT_TRACE_HEADER, Guid);
SAME_PLACE(struct etwas_etl_full_header, kernel_time, EVENT_TRACE_HEADER, KernelTime);
SAME_PLACE(struct etwas_etl_event_header, provider_id, EVENT_HEADER, ProviderId);
SAME_PLACE(struct etwas_etl_event_header, id, EVENT_HEADER, EventDescriptor.Id);
SAME_PLACE(struct etwas_etl_event_header, keyword, EVENT_HEADER, EventDescriptor.Keyword);
SAME_PLACE(struct etwas_etl_event_header, activity_id, EVENT_HEADER, ActivityId);
SAME_PLACE(struct etwas_etl_log_header64, start.events_lost, TRACE_LOGFILE_HEADER64, EventsLost);
SAME_PLACE(struct etwas_etl_log_header64, time_zone, TRACE_LOGFILE_HEADER64, TimeZone);
SAME_PLACE(struct etwas_etl_log_header64, start_filetime, TRACE_LOGFILE_HEADER64, StartTime);
SAME_PLACE(struct etwas_etl_log_header64, buffers_lost, TRACE_LOGFILE_HEADER64, BuffersLost);
SAME_PLACE(struct etwas_etl_log_header32, time_zone, TRACE_LOGFILE_HEADER32, TimeZone);
SAME_PLACE(struct etwas_etl_log_header32, start_filetime, TRACE_LOGFILE_HEADER32, StartTime);
SAME_PLACE(struct etwas_etl_log_header32, buffers_lost, TRACE_LOGFILE_HEADER32, BuffersLost);

static void a_marker_is_the_first_word_of_its_record(void **state)
{
    struct etwas_etl_system_header record = {
        .version = 2, .header_type = ETWAS_ETL_SYSTEM64, .marker_flags = ETWAS_ETL_MARKER_FLAGS};
    uint32_t first;

    (void)state;
    memcpy(&first, &record, sizeof first);
    assert_int_equal(first, 0xC0020002u);
    assert_int_equal(etwas_etl_marker(ETWAS_ETL_SYSTEM64, 2), 0xC0020002u);
    assert_int_equal(etwas_etl_marker(ETWAS_ETL_INSTANCE64, 0xFFFF), 0xC015FFFFu);
}

static void records_begin_on_multiples_of_8(void **state)
{
    static const struct {
        size_t size;
        size_t rounded;
    } table[] = {{0, 0}, {1, 8}, {7, 8}, {8, 8}, {9, 16}, {72, 72}, {73, 80}, {65535, 65536}};

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_int_equal(etwas_etl_round_up_8(table[i].size), table[i].rounded);
    }
}

static void only_our_class_is_our_own(void **state)
{
    struct etwas_etl_full_header record = {.guid = etwas_etl_own_class};

    (void)state;
    assert_true(etwas_etl_is_own_record(&record));
    for (size_t i = 0; i < sizeof record.guid; i++) {
        ((uint8_t *)&record.guid)[i] ^= 1;
        assert_false(etwas_etl_is_own_record(&record));
        ((uint8_t *)&record.guid)[i] ^= 1;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marker_is_the_first_word_of_its_record),
        cmocka_unit_test(records_begin_on_multiples_of_8),
        cmocka_unit_test(only_our_class_is_our_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
