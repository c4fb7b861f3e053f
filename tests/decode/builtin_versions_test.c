/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Versions of classes that are built in: each has its layouts, and one that is not known has what
 * the known ones have in common.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "builtin_classes.h"
#include "decode/builtin.h"

static void each_version_has_its_own_layout(void **state)
{
    assert_string_equal(
        SHOWN(system_config, 22, 3, "\1\0\0\0\2\0\0\0\3\0\0\0a\0\0\0b\0\0\0c\0\0\0d\0\0\0"),
        "MSNT_SystemTrace/SystemConfig/PnP IDLength=1 DescriptionLength=2 "
        "FriendlyNameLength=3 DeviceID=\"a\" DeviceDescription=\"b\" "
        "FriendlyName=\"c\" PdoName=\"d\"");
    assert_string_equal(
        SHOWN(system_config, 22, 5,
              "\1\0\0\0\2\0\3\0\4\5\6\7\x8\x9\xa\xb"
              "\2\0\0\0\0\0\0\0\x20\0\0\0\5\0\0\0"
              "a\0\0\0b\0\0\0c\0\0\0d\0\0\0e\0\0\0f\0\0\0g\0\0\0"),
        "MSNT_SystemTrace/SystemConfig/PnP "
        "ClassGuid={00000001-0002-0003-0405-060708090a0b} UpperFiltersCount=2 "
        "LowerFiltersCount=0 DevStatus=0x20 DevProblem=5 DeviceID=\"a\" "
        "DeviceDescription=\"b\" FriendlyName=\"c\" PdoName=\"d\" ServiceName=\"e\" "
        "UpperFilters=[\"f\",\"g\"] LowerFilters=[]");
    assert_string_equal(
        SHOWN(system_config, 21, 3, "\3\0\0\0\0\0\0\0\1\0\0\0\x10\0\0\0\2\0\0\0a\0\0\0"),
        "MSNT_SystemTrace/SystemConfig/IRQ IRQAffinity=0x3 IRQGroup=1 Reserved=0 "
        "IRQNum=16 DeviceDescriptionLen=2 DeviceDescription=\"a\"");
    assert_string_equal(SHOWN(system_config, 21, 2, "\3\0\0\0\0\0\0\0\x10\0\0\0\2\0\0\0a\0\0\0"),
                        "MSNT_SystemTrace/SystemConfig/IRQ IRQAffinity=0x3 IRQNum=16 "
                        "DeviceDescriptionLen=2 DeviceDescription=\"a\"");
}

static void a_version_that_is_not_known_has_what_all_known_ones_have_in_common(void **state)
{
    /* 2 and 3 are known. */
    assert_string_equal(SHOWN(disk_io, 12, 9,
                              "\1\0\0\0\0\0\0\0"
                              "\2\0\0\0"
                              "\3"),
                        "MSNT_SystemTrace/DiskIo/ReadInit~ Irp=0x1 +5");
    assert_string_equal(SHOWN(disk_io, 12, 0, "\1\0\0\0\0\0\0\0"),
                        "MSNT_SystemTrace/DiskIo/ReadInit~ Irp=0x1");
    /* They begin with different things. */
    assert_string_equal(SHOWN(system_config, 22, 6, "\1\2\3\4\5\6\7\x8\x9\xa"),
                        "MSNT_SystemTrace/SystemConfig/PnP~ +10");
    assert_string_equal(SHOWN(perf_info, 51, 3, "\1\0\0\0\0\x80\xFF\xFF"),
                        "MSNT_SystemTrace/PerfInfo/SysClEnter~ SysCallAddress=0xFFFF800000000001");
}

/* Whichever came first. */
static void a_known_version_does_not_depend_on_others(void **state)
{
    assert_string_equal(SHOWN(disk_io, 12, 9,
                              "\1\0\0\0\0\0\0\0"
                              "\2\0\0\0"),
                        "MSNT_SystemTrace/DiskIo/ReadInit~ Irp=0x1 +4");
    assert_string_equal(SHOWN(disk_io, 12, 2, "\1\0\0\0\0\0\0\0"),
                        "MSNT_SystemTrace/DiskIo/ReadInit Irp=0x1");
    assert_string_equal(SHOWN(disk_io, 12, 3,
                              "\1\0\0\0\0\0\0\0"
                              "\2\0\0\0"),
                        "MSNT_SystemTrace/DiskIo/ReadInit Irp=0x1 IssuingThreadId=2");
    assert_string_equal(SHOWN(disk_io, 12, 4,
                              "\1\0\0\0\0\0\0\0"
                              "\2\0\0\0"),
                        "MSNT_SystemTrace/DiskIo/ReadInit~ Irp=0x1 +4");
    assert_string_equal(SHOWN(perf_info, 51, 2, "\1\0\0\0\0\x80\xFF\xFF"),
                        "MSNT_SystemTrace/PerfInfo/SysClEnter SysCallAddress=0xFFFF800000000001");
}

static const etwas_schema *schema_of(etwas_decoder *decoder, const EVENT_RECORD *record)
{
    const etwas_schema *schema = NULL;

    assert_int_equal(etwas_decoder_schema(decoder, record, &schema), ERROR_SUCCESS);
    return schema;
}

/*
 * In every type of every class an unknown version's fields are the first ones of each version that
 * is known.
 */
static void no_unknown_version_has_a_field_that_a_known_one_denies(void **state)
{
    enum {
        UNKNOWN = 200
    };
    const struct etwas_builtin_class *class;

    for (size_t i = 0; (class = etwas_builtin_class_at(i)) != NULL; i++) {
        for (unsigned type = 0; type < 256; type++) {
            EVENT_RECORD unknown = classic_event(&class->guid, (uint8_t)type, UNKNOWN, 8, "", 0);
            const etwas_schema *common = NULL;

            if (etwas_decoder_schema(*state, &unknown, &common) != ERROR_SUCCESS) {
                continue;
            }
            assert_true(common->other_version);
            assert_int_equal(common->info->EventDescriptor.Version, UNKNOWN);
            for (unsigned version = 0; version < 10; version++) {
                EVENT_RECORD record =
                    classic_event(&class->guid, (uint8_t)type, (uint8_t)version, 8, "", 0);
                const etwas_schema *known = schema_of(*state, &record);

                assert_true(known->field_count >= common->field_count);
                for (uint32_t k = 0; k < common->field_count; k++) {
                    assert_string_equal(known->fields[k].name, common->fields[k].name);
                    assert_int_equal(known->fields[k].info->nonStructType.InType,
                                     common->fields[k].info->nonStructType.InType);
                }
            }
        }
    }
}

/* It has every version of every type with several layouts, in whatever order its events come. */
static void each_event_has_the_layout_that_its_own_payload_has_room_for(void **state)
{
    static const uint8_t zeroes[8192];
    const struct etwas_builtin_class *class;
    unsigned several = 0;

    for (size_t i = 0; (class = etwas_builtin_class_at(i)) != NULL; i++) {
        for (unsigned number = 0; number < 256 * 10; number++) {
            uint8_t type = (uint8_t)(number / 10);
            uint8_t version = (uint8_t)(number % 10);
            EVENT_RECORD empty = classic_event(&class->guid, type, version, 8, zeroes, 0);
            EVENT_RECORD full =
                classic_event(&class->guid, type, version, 8, zeroes, sizeof zeroes);
            const etwas_schema *shortest = NULL;
            const etwas_schema *longest;

            if (etwas_decoder_schema(*state, &empty, &shortest) != ERROR_SUCCESS) {
                continue;
            }
            longest = schema_of(*state, &full);
            several += shortest != longest;
            assert_true(longest->field_count >= shortest->field_count);
            assert_ptr_equal(schema_of(*state, &empty), shortest);
        }
    }
    assert_true(several >= 8);
}

static void a_short_event_does_not_shorten_the_next_one(void **state)
{
    char payload[] = "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\5\0\0\0"
                     "\6\0\0\0\7\0\0\0\x8\0\0\0";
    size_t whole = sizeof payload - 1;

    for (unsigned i = 0; i < 3; i++) {
        EVENT_RECORD without = classic_event(&file_io, 67, 3, 8, payload, (uint16_t)(whole - 4));
        EVENT_RECORD with = classic_event(&file_io, 67, 3, 8, payload, (uint16_t)whole);

        assert_string_equal(shown(*state, &without),
                            "MSNT_SystemTrace/FileIo/Read Offset=1 IrpPtr=0x2 FileObject=0x3 "
                            "FileKey=0x4 TTID=5 IoSize=6 IoFlags=0x7");
        assert_string_equal(shown(*state, &with),
                            "MSNT_SystemTrace/FileIo/Read Offset=1 IrpPtr=0x2 FileObject=0x3 "
                            "FileKey=0x4 TTID=5 IoSize=6 IoFlags=0x7 ExtraFlags=0x8");
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_decoder, close_decoder)
    const struct CMUnitTest tests[] = {
        TEST(each_version_has_its_own_layout),
        TEST(a_version_that_is_not_known_has_what_all_known_ones_have_in_common),
        TEST(a_known_version_does_not_depend_on_others),
        TEST(no_unknown_version_has_a_field_that_a_known_one_denies),
        TEST(each_event_has_the_layout_that_its_own_payload_has_room_for),
        TEST(a_short_event_does_not_shorten_the_next_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
