# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""The walker as a program, `python3 tests/walker FILE`: Python keeps etl_walk.py compiled."""
import etl_walk

etl_walk.run()
