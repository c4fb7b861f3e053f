/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a process finds out of providers in other programs, and of sessions that enable them: what
 * it could of its own (control/enumerate_test.c, provider/group_test.c).
 */
#include <ck_pr.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <etwas/shared.h>
#include <string.h>
#include <unistd.h>

#include "sharing/programs.h"

static const etwas_guid shop_guid = {0x3c5a1f20, 0x8e44, 0x4b1d, {1, 2, 3, 4, 5, 6, 7, 8}};
static const etwas_guid group_guid = {0x77777777, 7, 7, {7, 7, 7, 7, 7, 7, 7, 7}};

enum {
    PROVIDERS = 2,
    LEVEL = 3,
    KEYWORD = 7,
    ROOM = 1024,
    TIMEOUT_MS = 60000,
};

static int providers[PROVIDERS]; /* processes */

/* ---- providers ------------------------------------------------------------------------------- */

/* Its size, its name, and the trait that names its group. */
static void set_traits(REGHANDLE provider)
{
    uint8_t traits[12 + 3 + sizeof group_guid] = "\0\0Shop.Till";

    traits[0] = sizeof traits;
    traits[12] = 3 + sizeof group_guid;
    traits[14] = ETW_PROVIDER_TRAIT_TYPE_GROUP;
    memcpy(traits + 15, &group_guid, sizeof group_guid);
    CHECK_IN_CHILD(EventSetInformation(provider, EventProviderSetTraits, traits, sizeof traits) ==
                   ERROR_SUCCESS);
}

/* ---- what there is: for a child, and for the host -------------------------------------------- */

static uint32_t ask(TRACE_QUERY_INFO_CLASS question, const etwas_guid *guid, uint8_t answer[ROOM],
                    uint32_t *bytes)
{
    etwas_guid asked = *guid;

    return EnumerateTraceGuidsEx(question, &asked, sizeof asked, answer, ROOM, bytes);
}

/* How often it is in the list. */
static uint32_t times_listed(TRACE_QUERY_INFO_CLASS question, const etwas_guid *guid)
{
    uint8_t answer[ROOM];
    uint32_t bytes;
    uint32_t times = 0;

    CHECK_IN_CHILD(ask(question, guid, answer, &bytes) == ERROR_SUCCESS);
    for (uint32_t at = 0; at < bytes; at += (uint32_t)sizeof *guid) {
        times += memcmp(answer + at, guid, sizeof *guid) == 0;
    }
    return times;
}

static void check_enable(const uint8_t *at, uint32_t property, uint32_t logger_id)
{
    TRACE_ENABLE_INFO enable;

    memcpy(&enable, at, sizeof enable);
    CHECK_IN_CHILD(enable.IsEnabled == 1 && enable.Level == LEVEL);
    CHECK_IN_CHILD(enable.MatchAnyKeyword == KEYWORD && enable.EnableProperty == property);
    CHECK_IN_CHILD(logger_id == 0 || enable.LoggerId == logger_id);
}

/*
 * One instance a process, each enabled by the session; the instance of no process where there are
 * none.
 */
static void check_instances(uint32_t count, uint32_t flags, uint32_t logger_id)
{
    uint8_t answer[ROOM];
    const uint8_t *at = answer + sizeof(TRACE_GUID_INFO);
    TRACE_PROVIDER_INSTANCE_INFO instance;
    TRACE_GUID_INFO info;
    uint32_t bytes;

    CHECK_IN_CHILD(ask(TraceGuidQueryInfo, &shop_guid, answer, &bytes) == ERROR_SUCCESS);
    memcpy(&info, answer, sizeof info);
    CHECK_IN_CHILD(info.InstanceCount == count);
    for (uint32_t index = 0; index < count; index++) {
        memcpy(&instance, at, sizeof instance);
        CHECK_IN_CHILD(instance.Flags == flags && instance.EnableCount == 1);
        CHECK_IN_CHILD(flags != 0 ? instance.Pid == 0
                                  : (int)instance.Pid == providers[0] ||
                                        (int)instance.Pid == providers[1]);
        check_enable(at + sizeof instance, 0, logger_id);
        CHECK_IN_CHILD(index + 1 == count
                           ? instance.NextOffset == 0
                           : instance.NextOffset == sizeof instance + sizeof(TRACE_ENABLE_INFO));
        at += instance.NextOffset;
    }
}

static void check_group(uint32_t members, uint32_t logger_id)
{
    uint8_t answer[ROOM];
    uint32_t enable_bytes;
    uint32_t count;
    uint32_t bytes;

    CHECK_IN_CHILD(ask(TraceGroupQueryInfo, &group_guid, answer, &bytes) == ERROR_SUCCESS);
    memcpy(&enable_bytes, answer, sizeof enable_bytes);
    CHECK_IN_CHILD(enable_bytes == sizeof(TRACE_ENABLE_INFO));
    check_enable(answer + sizeof enable_bytes, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP, logger_id);
    memcpy(&count, answer + sizeof enable_bytes + enable_bytes, sizeof count);
    CHECK_IN_CHILD(count == members);
    CHECK_IN_CHILD(bytes == 2 * sizeof count + enable_bytes + count * sizeof shop_guid);
    CHECK_IN_CHILD(count == 0 ||
                   memcmp(answer + bytes - sizeof shop_guid, &shop_guid, sizeof shop_guid) == 0);
}

/* C13 */
static void check_properties(void)
{
    TRACE_GUID_PROPERTIES items[8];
    TRACE_GUID_PROPERTIES *array[8];
    uint32_t times = 0;
    uint32_t count;

    for (uint32_t index = 0; index < 8; index++) {
        array[index] = &items[index];
    }
    CHECK_IN_CHILD(EnumerateTraceGuids(array, 8, &count) == ERROR_SUCCESS);
    for (uint32_t index = 0; index < count; index++) {
        if (memcmp(&items[index].Guid, &shop_guid, sizeof shop_guid) == 0) {
            times++;
            CHECK_IN_CHILD(items[index].IsEnable == 1 && items[index].EnableLevel == LEVEL);
            CHECK_IN_CHILD(items[index].EnableFlags == KEYWORD);
        }
    }
    CHECK_IN_CHILD(times == 1);
}

/* `logger_id` 0: the session is another process's, and has none here. */
static void check_all(uint32_t logger_id)
{
    char name[32];

    CHECK_IN_CHILD(times_listed(TraceGuidQueryList, &shop_guid) == 1);
    CHECK_IN_CHILD(times_listed(TraceGuidQueryProcess, &shop_guid) == 0);
    CHECK_IN_CHILD(times_listed(TraceGroupQueryList, &group_guid) == 1);
    check_properties();
    check_instances(PROVIDERS, 0, logger_id);
    check_group(1, logger_id);
    CHECK_IN_CHILD(etwas_provider_name(&shop_guid, name, sizeof name) == ERROR_SUCCESS);
    CHECK_IN_CHILD(strcmp(name, "Shop.Till") == 0);
}

/*
 * Lists the provider in a process that has it too: its own registration is one of the instances,
 * once.
 */
static void check_with_own(void)
{
    uint8_t answer[ROOM];
    TRACE_GUID_INFO info;
    uint32_t bytes;

    CHECK_IN_CHILD(times_listed(TraceGuidQueryList, &shop_guid) == 1);
    CHECK_IN_CHILD(times_listed(TraceGuidQueryProcess, &shop_guid) == 1);
    check_properties();
    CHECK_IN_CHILD(ask(TraceGuidQueryInfo, &shop_guid, answer, &bytes) == ERROR_SUCCESS);
    memcpy(&info, answer, sizeof info);
    CHECK_IN_CHILD(info.InstanceCount == PROVIDERS);
    check_group(1, 0);
}

/* ---- the programs ---------------------------------------------------------------------------- */

static int shop_program(void)
{
    REGHANDLE provider;

    CHECK_IN_CHILD(EventRegister(&shop_guid, NULL, NULL, &provider) == ERROR_SUCCESS);
    set_traits(provider);
    ck_pr_inc_32(&board->registered);
    CHECK_IN_CHILD(comes_to(&board->steps, 1));
    check_with_own();
    ck_pr_inc_32(&board->captured);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    CHECK_IN_CHILD(EventUnregister(provider) == ERROR_SUCCESS);
    return 0;
}

static int look_at_all(void)
{
    check_all(0);
    return 0;
}

/* Nobody has it any more, and the session enables it still. */
static int look_at_none(void)
{
    check_instances(1, TRACE_PROVIDER_FLAG_PRE_ENABLE, 0);
    check_group(0, 0);
    CHECK_IN_CHILD(times_listed(TraceGuidQueryList, &shop_guid) == 1);
    CHECK_IN_CHILD(times_listed(TraceGuidQueryProcess, &shop_guid) == 0);
    CHECK_IN_CHILD(times_listed(TraceGroupQueryList, &group_guid) == 1);
    return 0;
}

static int look_at_nothing(void)
{
    uint8_t answer[ROOM];
    uint32_t bytes;

    CHECK_IN_CHILD(ask(TraceGuidQueryInfo, &shop_guid, answer, &bytes) == ERROR_WMI_GUID_NOT_FOUND);
    CHECK_IN_CHILD(ask(TraceGroupQueryInfo, &group_guid, answer, &bytes) ==
                   ERROR_WMI_GUID_NOT_FOUND);
    CHECK_IN_CHILD(times_listed(TraceGuidQueryList, &shop_guid) == 0);
    CHECK_IN_CHILD(times_listed(TraceGroupQueryList, &group_guid) == 0);
    return 0;
}

static int host(void)
{
    ENABLE_TRACE_PARAMETERS of_group = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                        .EnableProperty = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP};
    etwas_trace_handle session = start_in_file("who", "log.etl");
    struct block block;

    CHECK_IN_CHILD(EnableTraceEx2(session, &shop_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, LEVEL,
                                  KEYWORD, 0, TIMEOUT_MS, NULL) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EnableTraceEx2(session, &group_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, LEVEL,
                                  KEYWORD, 0, TIMEOUT_MS, &of_group) == ERROR_SUCCESS);
    check_all(session & 0xFF);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 2));
    check_instances(1, TRACE_PROVIDER_FLAG_PRE_ENABLE, session & 0xFF);
    check_group(0, session & 0xFF);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    prepare_block(&block, NULL);
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
    return 0;
}

static void what_other_programs_register_and_enable_is_found_by_all(void **state)
{
    int session;

    (void)state;
    for (uint32_t index = 0; index < PROVIDERS; index++) {
        providers[index] = start_program(shop_program);
    }
    assert_true(comes_to(&board->registered, PROVIDERS));
    session = start_program(host);
    assert_true(comes_to(&board->steps, 1));
    expect_in_child(look_at_all);
    assert_true(comes_to(&board->captured, PROVIDERS));
    ck_pr_store_32(&board->go, 1);
    for (uint32_t index = 0; index < PROVIDERS; index++) {
        assert_int_equal(exit_code_of(providers[index]), 0);
    }
    ck_pr_store_32(&board->go, 2);
    assert_true(comes_to(&board->steps, 2));
    expect_in_child(look_at_none);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(session), 0);
    expect_in_child(look_at_nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(what_other_programs_register_and_enable_is_found_by_all),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
