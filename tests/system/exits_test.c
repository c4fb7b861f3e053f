/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel's reports of threads that exit, made up: whole, cut and hostile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>

#include "system/names/processes.h"

enum {
    FAMILY = 30
};

static struct etwas_exits exits = {.socket = -1, .family = FAMILY};

/* A number, then what is known. */
struct datagram {
    struct nlmsghdr head;
    struct genlmsghdr generic;
    struct nlattr aggregate;
    struct nlattr number_head;
    uint32_t number;
    struct nlattr statistics_head;
    struct taskstats statistics;
} __attribute__((packed));

static struct datagram datagram_of(uint32_t thread_id, uint32_t process_id, uint32_t status)
{
    struct datagram datagram;

    memset(&datagram, 0, sizeof datagram);
    datagram.head.nlmsg_len = offsetof(struct datagram, statistics) + sizeof(struct taskstats);
    datagram.head.nlmsg_type = FAMILY;
    datagram.generic.cmd = TASKSTATS_CMD_NEW;
    datagram.aggregate.nla_type = TASKSTATS_TYPE_AGGR_PID;
    datagram.aggregate.nla_len = (uint16_t)(datagram.head.nlmsg_len - 20);
    datagram.number_head = (struct nlattr){8, TASKSTATS_TYPE_PID};
    datagram.number = thread_id;
    datagram.statistics_head =
        (struct nlattr){sizeof(struct nlattr) + sizeof(struct taskstats), TASKSTATS_TYPE_STATS};
    datagram.statistics.version = 13;
    datagram.statistics.ac_pid = thread_id;
    datagram.statistics.ac_tgid = process_id;
    datagram.statistics.ac_exitcode = status;
    return datagram;
}

static void read_datagram(const struct datagram *datagram)
{
    etwas_exits_read(&exits, datagram, datagram->head.nlmsg_len);
}

static void each_report_is_removed_once(void **state)
{
    struct datagram datagram = datagram_of(10, 10, 3 << 8);
    struct etwas_exit exit;

    (void)state;
    datagram.statistics.ac_minflt = 100;
    datagram.statistics.ac_majflt = 7;
    datagram.statistics.hiwater_vm = 5;
    datagram.statistics.hiwater_rss = 4;
    datagram.statistics.read_char = 10;
    datagram.statistics.write_char = 11;
    datagram.statistics.read_bytes = 12;
    datagram.statistics.write_bytes = 13;
    read_datagram(&datagram);
    datagram = datagram_of(11, 10, 11 | 0x80); /* and a core */
    read_datagram(&datagram);
    assert_true(etwas_exits_remove(&exits, 10, &exit));
    assert_int_equal(etwas_exit_status(exit.status), 3);
    assert_int_equal(exit.counters.page_faults, 107);
    assert_int_equal(exit.counters.peak_virtual_bytes, 5120);
    assert_int_equal(exit.counters.peak_resident_bytes, 4096);
    assert_int_equal(exit.counters.characters_read, 10);
    assert_int_equal(exit.counters.characters_written, 11);
    assert_int_equal(exit.counters.bytes_read, 12);
    assert_int_equal(exit.counters.bytes_written, 13);
    assert_false(etwas_exits_remove(&exits, 10, &exit));
    assert_true(etwas_exits_remove(&exits, 11, &exit));
    assert_int_equal(etwas_exit_status(exit.status), -11);
    assert_false(etwas_exits_remove(NULL, 11, &exit));
}

static void what_is_cut_or_another_is_passed_over(void **state)
{
    struct datagram whole = datagram_of(10, 10, 3 << 8);
    struct etwas_exit exit;

    (void)state;
    for (size_t bytes = 0; bytes < whole.head.nlmsg_len; bytes++) {
        uint8_t *cut = malloc(bytes + 1);
        struct nlmsghdr head = whole.head;

        memcpy(cut, &whole, bytes);
        etwas_exits_read(&exits, cut, bytes);
        head.nlmsg_len = (uint32_t)bytes; /* and one that says so */
        memcpy(cut, &head, bytes < sizeof head ? bytes : sizeof head);
        etwas_exits_read(&exits, cut, bytes);
        free(cut);
        assert_false(etwas_exits_remove(&exits, 10, &exit));
    }
    whole.head.nlmsg_type = FAMILY + 1;
    read_datagram(&whole);
    assert_false(etwas_exits_remove(&exits, 10, &exit));
    whole = datagram_of(0, 0, 1);
    read_datagram(&whole);
    assert_false(etwas_exits_remove(&exits, 0, &exit));
}

static void lengths_that_lie_are_not_followed(void **state)
{
    static const uint16_t lengths[] = {0, 1, 3, 4, 5, 8, 0x7FFF, 0xFFFF};
    struct etwas_exit exit;

    (void)state;
    for (size_t index = 0; index < sizeof lengths / sizeof lengths[0]; index++) {
        struct datagram datagram = datagram_of(10, 10, 3 << 8);

        datagram.aggregate.nla_len = lengths[index];
        read_datagram(&datagram);
        assert_false(etwas_exits_remove(&exits, 10, &exit));
        datagram = datagram_of(10, 10, 3 << 8);
        datagram.number_head.nla_len = lengths[index] == 8 ? 9 : lengths[index];
        read_datagram(&datagram);
        (void)etwas_exits_remove(&exits, 10, &exit);
        datagram = datagram_of(10, 10, 3 << 8);
        datagram.statistics_head.nla_len = lengths[index];
        read_datagram(&datagram);
        assert_false(etwas_exits_remove(&exits, 10, &exit));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_report_is_removed_once),
        cmocka_unit_test(what_is_cut_or_another_is_passed_over),
        cmocka_unit_test(lengths_that_lie_are_not_followed),
    };

    return cmocka_run_group_tests_name("exits", tests, NULL, NULL);
}
