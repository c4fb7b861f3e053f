#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""
The two programs of ETW's page, as two programs: the controller's session has each event of the
provider that it enables, by name and with the provider's process; and a program that does not take
part changes nothing.

usage: two_programs_test.py CONTROLLER PROVIDER ETWAS
"""

import json
import os
import subprocess
import sys
import tempfile

EVENTS = 100


def run_provider(provider, environment):
    process = subprocess.Popen([provider], env=environment, stdout=subprocess.PIPE, text=True)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0, process.returncode
    return process.pid, said.strip()


def read_events(etwas, file):
    lines = subprocess.run([etwas, "dump", "--json", file], check=True, capture_output=True,
                           text=True).stdout
    events = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    return [event for event in events if "Temperature" in json.dumps(event)]


def main():
    controller, provider, etwas = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        shared = dict(os.environ, ETWAS_RUNTIME_DIR=os.path.join(folder, "run"))
        shared.pop("ETWAS_SHARED", None)
        alone = dict(shared, ETWAS_SHARED="0")
        file = os.path.join(folder, "two.etl")
        session = subprocess.Popen([controller, file], env=shared, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        assert "press Enter" in session.stdout.readline()
        pid, said = run_provider(provider, shared)
        assert said == "a session has had these events", said
        assert run_provider(provider, alone)[1] == "no session wanted them"
        end, _ = session.communicate("\n", timeout=60)
        assert session.returncode == 0, end
        assert end.strip().endswith("0 events lost"), end
        events = read_events(etwas, file)
        assert len(events) == EVENTS, len(events)
        for number, event in enumerate(events):
            text = json.dumps(event)
            assert f'"reading": {number}' in text or f'"reading":{number}' in text, text
            assert str(pid) in text, text
        left = [name for name in os.listdir(shared["ETWAS_RUNTIME_DIR"])]
        assert left == [], left


main()
