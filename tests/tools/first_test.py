# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The test that CONTRIBUTING.md shows as an example of a first one.

usage: first_test.py PATH_OF_ETWAS TEST_CLASS
"""
import etl_build as etl
from tool_case import RED, ToolTest, main


class Count(ToolTest):
    def test_stat_counts_the_events_of_a_trace(self):
        events = [etl.classic(RED, etl.FIRST_STAMP + number) for number in (1, 2, 3)]
        path = self.write("a.etl", etl.trace([(0, events)]))
        counts, = self.stat_json(path)
        self.assertEqual(counts["events"], 3)


if __name__ == "__main__":
    main()
