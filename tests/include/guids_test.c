/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The well-known GUIDs of the library, and the GUIDs a program defines itself.
 */

#define INITGUID

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <etwas/evntrace.h>

DEFINE_GUID(OwnGuid, 0x01234567, 0x89ab, 0xcdef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef);
/* Ported programs define some of ETW's own GUIDs again. */
DEFINE_GUID(ThreadGuid, 0x3d6fa8d1, 0xfe05, 0x11d0, 0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c);

struct known_guid {
    const GUID *guid;
    const char *text;
};

static const struct known_guid known[] = {
    {&SystemTraceControlGuid, "9e814aad-3204-11d2-9a82-006008a86939"},
    {&EventTraceGuid, "68fdd900-4a3e-11d1-84f4-0000f80464e3"},
    {&EventTraceConfigGuid, "01853a65-418f-4f36-aefc-dc0f1d2fd235"},
    {&DefaultTraceSecurityGuid, "0811c1af-7a07-4a06-82ed-869455cdf713"},
    {&PrivateLoggerNotificationGuid, "3595ab5c-042a-4c8e-b942-2d059bfeb1b1"},
    {&GlobalLoggerGuid, "e8908abc-aa84-11d2-9a93-00805f85d7c6"},
    {&KernelRundownGuid, "3b9c9951-3480-4220-9377-9c8e5184f5cd"},
    {&ProcessGuid, "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"},
    {&ThreadGuid, "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c"},
    {&PageFaultGuid, "3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c"},
    {&DiskIoGuid, "3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c"},
    {&FileIoGuid, "90cbdc39-4a3e-11d1-84f4-0000f80464e3"},
    {&ImageLoadGuid, "2cb15d1d-5fc1-11d2-abe1-00a0c911f518"},
    {&PerfInfoGuid, "ce1dbfb4-137e-4da6-87b0-3f59aa102cbc"},
    {&RegistryGuid, "ae53722e-c863-11d2-8659-00c04fa321a1"},
    {&SplitIoGuid, "d837ca92-12b9-44a5-ad6a-3a65b3578aa8"},
    {&TcpIpGuid, "9a280ac0-c8e0-11d1-84e2-00c04fb998a2"},
    {&UdpIpGuid, "bf3a50c5-a9c9-4988-a005-2df0b7c80f80"},
    {&ALPCGuid, "45d8cccd-539f-4b72-a8b7-5c683142609a"},
    {&StackWalkGuid, "def2fe46-7bd6-4b80-bd94-f57fe20d0ce3"},
    {&HeapGuid, "222962ab-6180-4b88-a825-346b75f2a24a"},
    {&CritSecGuid, "3ac66736-cc59-4cff-8115-8df50e39816b"},
    {&PoolGuid, "0268a8b6-74fd-4302-9dd0-6e8f1795c0cf"},
    {&SystemAlpcProviderGuid, "fcb9baaf-e529-4980-92e9-ced1a6aadfdf"},
    {&SystemConfigProviderGuid, "fef3a8b6-318d-4b67-a96a-3b0f6b8f18fe"},
    {&SystemCpuProviderGuid, "c6c5265f-eae8-4650-aae4-9d48603d8510"},
    {&SystemHypervisorProviderGuid, "bafa072a-918a-4bed-b622-bc152097098f"},
    {&SystemInterruptProviderGuid, "d4bbee17-b545-4888-858b-744169015b25"},
    {&SystemIoProviderGuid, "3d5c43e3-0f1c-4202-b817-174c0070dc79"},
    {&SystemIoFilterProviderGuid, "fbd09363-9e22-4661-b8bf-e7a34b535b8c"},
    {&SystemLockProviderGuid, "721ddfd3-dacc-4e1e-b26a-a2cb31d4705a"},
    {&SystemMemoryProviderGuid, "82958ca9-b6cd-47f8-a3a8-03ae85a4bc24"},
    {&SystemObjectProviderGuid, "febd7460-3d1d-47eb-af49-c9eeb1e146f2"},
    {&SystemPowerProviderGuid, "c134884a-32d5-4488-80e5-14ed7abb8269"},
    {&SystemProcessProviderGuid, "151f55dc-467d-471f-83b5-5f889d46ff66"},
    {&SystemProfileProviderGuid, "bfeb0324-1cee-496f-a409-2ac2b48a6322"},
    {&SystemRegistryProviderGuid, "16156bd9-fab4-4cfa-a232-89d1099058e3"},
    {&SystemSchedulerProviderGuid, "599a2a76-4d91-4910-9ac7-7d33f2e97a6c"},
    {&SystemSyscallProviderGuid, "434286f7-6f1b-45bb-b37e-95f623046c7c"},
    {&SystemTimerProviderGuid, "4f061568-e215-499f-ab2e-eda0ae890a5b"},
};

static void format(const GUID *guid, char text[static 37])
{
    int length =
        snprintf(text, 37, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", guid->Data1,
                 guid->Data2, guid->Data3, guid->Data4[0], guid->Data4[1], guid->Data4[2],
                 guid->Data4[3], guid->Data4[4], guid->Data4[5], guid->Data4[6], guid->Data4[7]);
    assert_int_equal(length, 36);
}

static void every_well_known_guid_has_its_documented_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        char text[37];
        format(known[i].guid, text);
        assert_string_equal(text, known[i].text);
    }
}

static void a_guid_of_the_program_is_defined_under_initguid(void **state)
{
    char text[37];

    (void)state;
    format(&OwnGuid, text);
    assert_string_equal(text, "01234567-89ab-cdef-0123-456789abcdef");
}

static void guids_compare_by_value(void **state)
{
    GUID copy = ProcessGuid;

    (void)state;
    assert_true(IsEqualGUID(&copy, &ProcessGuid));
    copy.Data4[7] ^= 1;
    assert_false(IsEqualGUID(&copy, &ProcessGuid));
    assert_false(IsEqualGUID(&ProcessGuid, &ThreadGuid));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_well_known_guid_has_its_documented_value),
        cmocka_unit_test(a_guid_of_the_program_is_defined_under_initguid),
        cmocka_unit_test(guids_compare_by_value),
    };
    return cmocka_run_group_tests_name("guids", tests, NULL, NULL);
}
