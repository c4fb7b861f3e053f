/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The on-disk layouts against the format and against the public structures that share bytes with
 * them, and the helpers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

#include "etl/layout.h"
#include "etl/own_record.h"

/* A field of a layout is at this offset. */
#define AT(layout, field, offset)                                                                  \
    _Static_assert(offsetof(struct etwas_etl_##layout, field) == (offset), #layout "." #field)

AT(buffer_header, saved_offset, 0x04);
AT(buffer_header, current_offset, 0x08);
AT(buffer_header, reference_count, 0x0C);
AT(buffer_header, time_stamp, 0x10);
AT(buffer_header, sequence_number, 0x18);
AT(buffer_header, clock, 0x20);
AT(buffer_header, processor, 0x28);
AT(buffer_header, logger_id, 0x2A);
AT(buffer_header, state, 0x2C);
AT(buffer_header, offset, 0x30);
AT(buffer_header, flags, 0x34);
AT(buffer_header, type, 0x36);
AT(buffer_header, reserved, 0x38);
AT(system_header, size, 4);
AT(system_header, type, 6);
AT(system_header, group, 7);
AT(system_header, thread_id, 8);
AT(system_header, process_id, 12);
AT(system_header, time_stamp, 16);
AT(system_header, kernel_time, 24);
AT(system_header, user_time, 28);
AT(compact_header, time_stamp, 16);
AT(perfinfo_header, size, 4);
AT(perfinfo_header, time_stamp, 8);
AT(full_header, type, 4);
AT(full_header, level, 5);
AT(full_header, version, 6);
AT(full_header, thread_id, 8);
AT(full_header, process_id, 12);
AT(full_header, time_stamp, 16);
AT(full_header, guid, 24);
AT(full_header, kernel_time, 40);
AT(full_header, user_time, 44);
AT(instance_header, instance_id, 48);
AT(instance_header, parent_instance_id, 52);
AT(instance_header, parent_guid, 56);
AT(event_header, flags, 4);
AT(event_header, event_property, 6);
AT(event_header, time_stamp, 16);
AT(event_header, provider_id, 24);
AT(event_header, id, 40);
AT(event_header, opcode, 45);
AT(event_header, task, 46);
AT(event_header, keyword, 48);
AT(event_header, kernel_time, 56);
AT(event_header, activity_id, 64);
AT(extended_item, data_bytes, 6);
AT(time_zone, standard_date, 68);
AT(time_zone, daylight_name, 88);
AT(time_zone, daylight_bias_minutes, 168);
AT(log_header_start, end_filetime, 16);
AT(log_header_start, buffers_written, 36);
AT(log_header_start, start_buffers, 40);
AT(log_header_start, events_lost, 48);
AT(log_header_start, cpu_speed_mhz, 52);
AT(log_header64, time_zone, 72);
AT(log_header64, boot_filetime, 248);
AT(log_header64, performance_frequency_hz, 256);
AT(log_header64, start_filetime, 264);
AT(log_header64, clock_type, 272);
AT(log_header64, buffers_lost, 276);
AT(calibration, ticks, 8);
AT(calibration, nanoseconds, 16);
AT(calibration, raw_stamp, 24);
AT(calibration, qpc_ns, 32);
AT(calibration, filetime, 40);
AT(clock_snapshot, reason, 4);
AT(clock_snapshot, raw_stamp, 8);
AT(clock_snapshot, qpc_ns, 16);
AT(clock_snapshot, filetime, 24);
AT(clock_snapshot, suspended_ns, 32);
AT(clock_snapshot, qpc_error_ns, 40);
AT(clock_snapshot, filetime_error_ns, 44);
AT(totals, part, 4);
AT(totals, overwritten_events, 8);
AT(totals, attempted_events, 40);
AT(totals, overwritten_buffers, 16);
AT(totals, lost_events, 24);
AT(totals, lost_buffers, 32);
AT(clock_trust, requested_clock, 4);
AT(clock_trust, clock_type, 8);
AT(clock_trust, verdict, 12);
AT(clock_trust, reasons, 16);
AT(clock_trust, stated_by, 20);
AT(clock_trust, frequency_hz, 24);
AT(clock_trust, stated_hz, 32);
AT(clock_trust, frequency_error_ppb, 40);
AT(clock_trust, processors, 44);
AT(clock_trust, clocksource, 48);
AT(clock_trust, hypervisor, 80);

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

/* The 32-bit form is the 64-bit one, less 4 bytes for each of the two names. */
#define NARROW_PLACE(disk_member, api_member)                                                      \
    _Static_assert(offsetof(struct etwas_etl_log_header64, disk_member) - 8 ==                     \
                       offsetof(TRACE_LOGFILE_HEADER32, api_member),                               \
                   #api_member " of the 32-bit form")

NARROW_PLACE(time_zone, TimeZone);
NARROW_PLACE(boot_filetime, BootTime);
NARROW_PLACE(performance_frequency_hz, PerfFreq);
NARROW_PLACE(start_filetime, StartTime);
NARROW_PLACE(clock_type, ReservedFlags);
NARROW_PLACE(buffers_lost, BuffersLost);
_Static_assert(ETWAS_ETL_LOG_HEADER32_TIME_ZONE == offsetof(TRACE_LOGFILE_HEADER32, TimeZone),
               "where the 32-bit form goes on behind the names");
_Static_assert(ETWAS_ETL_LOG_HEADER32_BYTES == 272, "32-bit form");

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
    for (int type = ETWAS_ETL_MESSAGE_FORMAT_TYPE; type <= ETWAS_ETL_LAST_DELIVERED_TYPE; type++) {
        record.type = (uint8_t)type;
        assert_false(etwas_etl_is_own_record(&record));
    }
    record.type = ETWAS_ETL_MANIFEST_CHUNK_TYPE;
    assert_false(etwas_etl_is_own_record(&record));
    record.type = ETWAS_ETL_LOSS_TYPE;
    assert_true(etwas_etl_is_own_record(&record));
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
