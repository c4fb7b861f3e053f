#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""style_test.py: which tables and diagrams in comments it takes for torn."""
import unittest

import style_test

CASES = {
    "a row whose rest has a line of its own": (["is the rest of a row"], """
/*
 *     WAITING   counts a trigger
 *     OPEN      pins each buffer of the window as soon as it is full, until only what is reserved
 *               is
 *               left to the writers
 */
"""),
    "a row that is wrapped": ([], """
/*
 *     WAITING   counts a trigger
 *     OPEN      pins each buffer of the window as soon as it is full, until only what is reserved
 *               is left to the writers
 */
"""),
    "a row that ends with one word": ([], """
/*
 *     OPEN      pins each buffer of the window as soon as it is full, and leaves what is reserved
 *               there
 *     CLOSED    pins nothing
 */
"""),
    "rows of one word": ([], """
/*
 *     startup/StartTrace   a later one
 *     startup/StopTrace
 *     startup/event        the first event of a thread, and what it takes beyond those behind it
 *     size
 *     lost
 */
"""),
    "a paragraph that ends with one word": ([], """
/*
 * A thread that was switched out inside a sequence continues at its abort point, as a fence says it
 * does
 */
"""),
    "a diagram": ([], """
/*
 *     drain ──▶ consumer 1
 *           ├──▶ consumer 2
 *           └──▶ backlog, while there is none
 */
"""),
    "a diagram of which two rows are one": (["joins two rows of a diagram"], """
/*
 *     drain ──▶ consumer 1 ├──▶ consumer 2
 *           └──▶ backlog, while there is none
 */
"""),
}


class Torn(unittest.TestCase):
    def test_what_is_torn_is_found_and_nothing_else(self):
        for name, (expected, text) in CASES.items():
            with self.subTest(name):
                self.assertEqual([what for _, what, _ in style_test.wrong_in(text)], expected)


if __name__ == "__main__":
    unittest.main()
