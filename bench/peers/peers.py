#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Measures etwas beside LTTng-UST and spdlog, and prints rows as bench/README.md describes.

The rows of a round run in random order, each in a process of its own. For LTTng, a session daemon
without kernel tracing runs meanwhile, with a recording session for each row. No daemon and no file
stays behind.
"""

import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

PAYLOAD_BYTES = {"u64_u32": 12, "blob64": 64}
ALL = [(payload, producers) for payload in PAYLOAD_BYTES for producers in (1, 2)]
ONE = [("u64_u32", 1)]

# Each row: (program, its words, pace, payloads and producers). Events go to a flight recorder
# without a pause, because it has nothing to wait for. The words of LTTng are those of
# Sessions.session.
ROWS = {
    "etwas": ("etwas", "buffering tsc", "flood", ALL),
    "etwas_tracelogging": ("etwas_tracelogging", "buffering tsc", "flood", ONE),
    "etwas_qpc": ("etwas", "buffering qpc", "flood", ALL),
    "lttng_overwrite": ("lttng", "overwrite", "flood", ALL),
    "etwas_file": ("etwas", "file tsc", "burst", ALL),
    "etwas_tracelogging_file": ("etwas_tracelogging", "file tsc", "burst", ONE),
    "etwas_file_qpc": ("etwas", "file qpc", "burst", ALL),
    "lttng_discard": ("lttng", "discard", "burst", ALL),
    "spdlog": ("spdlog", "block null", "burst", ALL),
    "spdlog_file": ("spdlog", "block file", "burst", ALL),
    "etwas_shared": ("etwas", "buffering tsc shared", "flood", ONE),
    "etwas_file_shared": ("etwas", "file tsc shared", "burst", ONE),
    "etwas_1mb": ("etwas", "buffering tsc 1mb", "flood", ONE),
    "lttng_overwrite_1mb": ("lttng", "overwrite 1mb", "flood", ONE),
    "etwas_file_1mb": ("etwas", "file tsc 1mb", "burst", ONE),
    "lttng_discard_1mb": ("lttng", "discard 1mb", "burst", ONE),
    "etwas_file_flood": ("etwas", "file tsc", "flood", ONE),
    "lttng_discard_flood": ("lttng", "discard", "flood", ONE),
    "spdlog_flood": ("spdlog", "block null", "flood", ONE),
    "spdlog_overrun_flood": ("spdlog", "overrun null", "flood", ONE),
}
QUICK = {"etwas", "lttng_discard", "spdlog"}

PACKAGES = {"etwas": "etwas", "etwas_tracelogging": "etwas", "lttng": "liblttng-ust-dev",
            "spdlog": "libspdlog-dev"}
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measuring import Failed, Skipped, emit, read_options, temporary_folder



def run(*command, environment=None):
    """Runs a command, which has to succeed, and returns its output."""
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        said = (result.stderr or result.stdout).strip().splitlines()
        raise Failed(f"{os.path.basename(command[0])}: {said[-1] if said else result.returncode}")
    return result.stdout


def bytes_below(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class Sessions:
    """A private session daemon, and a recording session for each row."""

    SUBBUFFERS = {"64kb": ("64K", 64, 64 << 10), "1mb": ("1M", 16, 1 << 20)}

    def __init__(self, folder):
        for tool in ("lttng-sessiond", "lttng"):
            if shutil.which(tool) is None:
                raise Skipped("lttng-tools is not installed: bench/peers/install.sh installs it")
        self.folder = folder
        self.environment = dict(os.environ, LTTNG_HOME=str(folder), HOME=str(folder))
        root = os.geteuid() == 0
        # LTTng leaves these behind. Root's daemon has one fixed folder, and traced processes wait
        # for a daemon on two pages, one for root's daemon and one for their user's.
        self.run_folder = pathlib.Path("/var/run/lttng") if root else folder / ".lttng"
        pages = [pathlib.Path(f"/dev/shm/lttng-ust-wait-8{end}") for end in ("", f"-{os.getuid()}")]
        self.leftovers = [path for path in (self.run_folder, *pages) if not path.exists()]
        self.daemon = None

    def start(self):
        self.refuse_a_daemon_in_use()
        # Starts it in a session of its own, so that ^C on a terminal ends it only through close.
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel", "--quiet"],
                                       env=self.environment, start_new_session=True,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.wait_until_ready()

    def refuse_a_daemon_in_use(self):
        try:
            process = int((self.run_folder / "lttng-sessiond.pid").read_text(encoding="ascii"))
            os.kill(process, 0)
        except (OSError, ValueError):
            return
        raise Skipped(f"an LTTng session daemon is running (process {process}), which is not ours")

    def wait_until_ready(self):
        for _ in range(100):
            if self.daemon.poll() is not None:
                raise Failed("lttng-sessiond ended at once")
            if (self.run_folder / "client-lttng-sessiond").exists():
                with contextlib.suppress(Failed):
                    self.lttng("list")
                    return
            time.sleep(0.05)
        raise Failed("lttng-sessiond does not answer")

    def close(self):
        if self.daemon is None:
            return
        self.daemon.terminate()
        try:
            self.daemon.wait(10)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
        for path in self.leftovers:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def lttng(self, *arguments):
        return run("lttng", "--no-sessiond", *arguments, environment=self.environment)

    @contextlib.contextmanager
    def session(self, words):
        """Runs a session. Words: discard (into a trace folder) or overwrite (in memory, for
        snapshots), and 1mb."""
        overwrite = "overwrite" in words
        size, count, _ = self.SUBBUFFERS["1mb" if "1mb" in words else "64kb"]
        trace = self.folder / "trace"
        snapshot = ["--snapshot"] if overwrite else []
        self.lttng("create", "etwas_peers", *snapshot, f"--output={trace}")
        try:
            self.lttng("enable-channel", "--userspace", "--buffers-uid",
                       f"--subbuf-size={size}", f"--num-subbuf={count}",
                       "--overwrite" if overwrite else "--discard", "channel")
            self.lttng("enable-event", "--userspace", "--channel=channel", "etwas_peers:*")
            self.lttng("start")
            yield
        finally:
            self.lttng("destroy", "etwas_peers")
            shutil.rmtree(trace, ignore_errors=True)

    def lost(self, words, payload, attempted):
        """Stops the session. Returns the number of events that LTTng reports as discarded, checked
        against the size of the trace, and that size."""
        self.lttng("stop")
        if "overwrite" in words:
            self.lttng("snapshot", "record")
        answer = ElementTree.fromstring(self.lttng("--mi", "xml", "list", "etwas_peers"))
        discarded = [int(element.text) for element in answer.iter()
                     if element.tag.endswith("}discarded_events")]
        if not discarded:
            raise Failed("lttng does not say how many events were discarded")
        expected = (attempted - sum(discarded)) * PAYLOAD_BYTES[payload]
        if "overwrite" in words:
            _, count, subbuffer_bytes = self.SUBBUFFERS["1mb" if "1mb" in words else "64kb"]
            expected = min(expected, (count - 2) * subbuffer_bytes)
        recorded = bytes_below(self.folder / "trace")
        if recorded < expected:
            raise Failed(f"the trace holds {recorded} bytes where at least {expected} were logged")
        return sum(discarded), recorded


def measure(who, payload, producers, options, folder, sessions):
    """Emits the rows of one peer with one payload."""
    program, words, pace, _ = ROWS[who]
    name = f"{who}/{payload}/{producers}"
    command = [str(HERE / f"peer_{program}"), "--row", name, "--what", words, "--pace", pace,
               "--payload", payload, "--producers", str(producers), "--folder", str(folder)]
    if options.quick:
        command.append("--quick")
    with sessions.session(words) if program == "lttng" else contextlib.nullcontext():
        environment = sessions.environment if program == "lttng" else None
        rows = [json.loads(line) for line in run(*command, environment=environment).splitlines()]
        counts = {row["row"].rpartition("/")[2]: int(row["values"][0]) for row in rows
                  if row["unit"] == "events"}
        if program == "lttng":
            counts["lost"], recorded = sessions.lost(words, payload, counts["attempted"])
            if "discard" in words:
                emit(f"peers/{name}/trace", unit="bytes",
                     values=[recorded / (counts["attempted"] - counts["lost"])])
    lost = counts["lost"] / counts["attempted"]
    for row in rows:
        if row["row"] == f"peers/{name}" and lost > 0:
            row["note"] = f"{100 * lost:.3g} % lost"
        if row["unit"] != "events":
            emit(**row)
    emit(f"peers/{name}/lost", unit="share", values=[lost])


def selected(options):
    for who, (_, _, _, cases) in ROWS.items():
        if options.quick:
            cases = ONE if who in QUICK else []
        for payload, producers in cases:
            if options.only in f"peers/{who}/{payload}/{producers}":
                yield who, payload, producers


def available(program, folder, stack):
    """Returns what the rows of a program need: its sessions, or None."""
    if not (HERE / f"peer_{program}").exists():
        raise Skipped(f"peer_{program} is not built: {PACKAGES[program]} was missing; "
                      "bench/peers/install.sh installs it")
    if program != "lttng":
        return None
    sessions = Sessions(folder)
    stack.callback(sessions.close)
    sessions.start()
    return sessions


def measure_all(rows, options, folder, stack):
    failed = False
    ready = {}
    for program in sorted({ROWS[who][0] for who, _, _ in rows}):
        try:
            ready[program] = available(program, folder, stack)
        except Skipped as reason:
            emit(f"peers/{program}", skipped=str(reason))
        except Failed as reason:
            failed = True
            emit(f"peers/{program}", failed=str(reason))
    for _ in range(options.rounds):
        random.shuffle(rows)
        for who, payload, producers in rows:
            if ROWS[who][0] not in ready:
                continue
            try:
                measure(who, payload, producers, options, folder, ready[ROWS[who][0]])
            except (Failed, subprocess.TimeoutExpired) as reason:
                failed = True
                emit(f"peers/{who}/{payload}/{producers}", failed=str(reason))
            for path in (folder / "etwas.etl", folder / "spdlog.log"):
                path.unlink(missing_ok=True)
    return failed


def end(number, _):
    """Ends as if by an error, so that the daemon is ended, too; a second signal changes nothing."""
    for ignored in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    sys.exit(128 + number)


def main():
    options = read_options(__doc__, "one short row for each peer")

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    with temporary_folder("peers") as folder, contextlib.ExitStack() as stack:
        return 1 if measure_all(list(selected(options)), options, folder, stack) else 0


if __name__ == "__main__":
    sys.exit(main())
