# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Damaged files: what is whole is shown, what is not is told.

usage: damage_test.py PATH_OF_ETWAS TEST_CLASS
"""

import os
import sys

import etl_build as etl
from tool_case import DAMAGED, RED, ToolTest, main


class Damage(ToolTest):
    def setUp(self):
        super().setUp()
        self.per_buffer = [(i % 2, [etl.classic(RED, 1_000_001 + 100 * i + j, payload=bytes(16))
                                    for j in range(50)]) for i in range(6)]
        self.good = etl.trace(self.per_buffer)

    def check(self, data, events):
        """Both commands agree, say where the damage is, and exit with 3."""
        path = self.write("damaged.etl", data)
        self.assertEqual(len(self.dump_json(path, expect=DAMAGED)), events)
        stat, = self.stat_json(path, expect=DAMAGED)
        self.assertEqual((stat["events"], stat["damaged"]), (events, True))
        self.assertGreaterEqual(stat["damage_count"], 1)
        self.assertEqual(len(stat["damages"]), min(stat["damage_count"], 20))
        out, _ = self.run_etwas("stat", path, expect=DAMAGED)
        self.assertRegex(out.splitlines()[1], r"^  DAMAGED +in \d+ place")
        _, error = self.run_etwas("dump", path, expect=DAMAGED)
        self.assertRegex(error, r"damaged\.etl: damaged at byte \d+: ")
        return stat

    def test_a_file_cut_between_buffers_or_in_one_shows_what_is_there(self):
        stat = self.check(self.good[:-1], 300)
        self.assertIn(stat["damages"][0]["position"] // etl.BUFFER_BYTES, (6, 7))
        self.check(self.good[:-etl.BUFFER_BYTES // 2 - etl.BUFFER_BYTES], 250)

    def test_a_preallocated_file_without_an_end_that_is_cut_anywhere_is_unfinished(self):
        size = etl.BUFFER_BYTES
        data = etl.header_buffer(1, mode=0x21, finished=False) + self.good[size:] + bytes(3 * size)
        for cut in (*range(size, len(data), 1021), *range(7 * size - 9, 7 * size + 9), len(data)):
            path = self.write("cut.etl", data[:cut])
            stat, = self.stat_json(path)
            self.assertEqual((stat["unfinished"], stat["damaged"], stat["damage_count"]),
                             (True, False, 0), cut)
            self.assertGreaterEqual(stat["events"], 50 * min(cut // size - 1, 6), cut)
        self.assertIn("cut.etl: it has no end: ", self.run_etwas("dump", path)[1])

    def test_a_damaged_buffer_costs_no_other_buffer(self):
        data = bytearray(self.good)
        data[3 * etl.BUFFER_BYTES:4 * etl.BUFFER_BYTES] = bytes([0x5A]) * etl.BUFFER_BYTES
        stat = self.check(bytes(data), 250)
        self.assertIn(3 * etl.BUFFER_BYTES, [d["position"] for d in stat["damages"]])

    def test_a_damaged_record_costs_only_the_rest_of_its_buffer(self):
        data = bytearray(self.good)
        at = 2 * etl.BUFFER_BYTES + 72 + 10 * 64  # the eleventh record of buffer 2
        data[at:at + 2] = b"\x01\x00"  # its size
        stat = self.check(bytes(data), 260)
        self.assertEqual(stat["damages"][0]["position"], at)
        self.assertEqual(stat["damages"][0]["bytes_skipped"], 40 * 64)

    def test_any_number_of_damages_is_counted_and_the_first_are_listed(self):
        data = bytearray(etl.trace([(0, [etl.classic(RED, 1_000_001 + i)]) for i in range(30)]))
        for i in range(1, 31):
            data[i * etl.BUFFER_BYTES + 72 + 3] = 0x00  # the marker of its record
        stat = self.check(bytes(data), 0)
        self.assertEqual((stat["damage_count"], len(stat["damages"])), (30, 20))
        _, error = self.run_etwas("dump", os.path.join(self.folder, "damaged.etl"), expect=DAMAGED)
        self.assertIn("10 more places", error)
        self.assertEqual(len(error.splitlines()), 22)
        self.assertIn("note: there are no events of providers in", error)

    def test_no_cut_and_no_flipped_bit_crashes_it_or_spoils_its_json(self):
        header = range(0, 1024, 7)
        record = range(etl.BUFFER_BYTES, etl.BUFFER_BYTES + 200, 3)
        for at in [*header, *record]:
            data = bytearray(self.good)
            data[at] ^= 1 << at % 8
            self.run_json("dump", "--json", self.write("flipped.etl", bytes(data)))
        for at in range(0, len(self.good), 1999):
            self.run_json("dump", "--json", self.write("cut.etl", self.good[:at]))


if __name__ == "__main__":
    sys.exit(main())
