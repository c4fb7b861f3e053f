#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Stamps of tests with the label `deterministic`: a folder's that have passed need not run again in
that preset before an input of theirs changes. Inputs are the sources that their programs are made
of, their own files, traces of Windows, how the build is configured, and the versions of the
packages that .ci/packages installs to build and to test, and of all that those need.

usage: stamped.py begin PRESET                       three lines: how many tests do not run; those
                                                     whose stamp stands, for ctest's
                                                     --exclude-regex; what is to be built for the
                                                     others
       stamped.py keep PRESET TESTS.XML ALONE.XML    stamps the folders of which all passed
       stamped.py machine GROUP...                   a digest of the packages in these groups of
                                                     .ci/packages, and of all that those need

run.sh calls `begin` between configuring and building, and `keep` after the tests, in the folder of
the sources; tests/stamps.sh says what a stamp is.
"""
import glob
import hashlib
import json
import os
import platform
import re
import subprocess
import sys

import summary

LABEL = "deterministic"
ALWAYS = ["CMakeLists.txt", "CMakePresets.json", "include", "runtime", "tests/CMakeLists.txt",
          "tests/data", "tests/shipped/CMakeLists.txt", "tests/support", "tests/walker",
          "../shared/etl-samples"]
# What else the tests of a folder read, or their programs are made of.
MORE = {
    "relog": ["tests/reader"],
    "rules": ["bench", "docs", "examples", "tests", "tools"],
    "tools": ["README.md", "CONTRIBUTING.md", "docs", "examples", "packaging", "tools",
              "tests/decode", "tests/reader", "tests/session", "../shared/tools"],
}
# The compilers' tests read the headers alone.
INSTEAD = {"include": ["include", "tests/CMakeLists.txt", "tests/include"],
           "tracelogging": ["include", "tests/CMakeLists.txt", "tests/tracelogging"],
           "walker": ["tests/data", "tests/tools", "tests/walker", "../shared/etl-samples"]}
STAMPS = "tests/stamps"


def build_of(preset):
    return os.path.join("build", "default" if preset == "norseq" else preset)


def tests_of(arguments):
    """Name and labels of each test that ctest would run."""
    shown = subprocess.run(["ctest", *arguments, "--show-only=json-v1"], check=True,
                           capture_output=True, text=True).stdout
    for test in json.loads(shown)["tests"]:
        labels = [property["value"] for property in test["properties"] if property["name"]
                  == "LABELS"]
        yield test["name"], labels[0] if labels else []


def folder_of(labels):
    """ctest gives labels in the order of the alphabet; what is none of these is the folder."""
    folder, = (label for label in labels if label not in (LABEL, "shipped")
               and not label.startswith("not-"))
    return folder


def folders_of(preset):
    """The deterministic tests that the preset runs, by folder."""
    folders = {}
    for name, labels in tests_of(["--preset", preset]):
        if LABEL in labels:
            folders.setdefault(folder_of(labels), []).append(name)
    return folders


def files_in(place):
    if os.path.isfile(place):
        yield place
    for folder, folders, files in os.walk(place):
        folders[:] = sorted(name for name in folders if name not in ("__pycache__", ".git"))
        yield from (os.path.join(folder, name) for name in sorted(files)
                    if os.path.join(folder, name) != STAMPS)


def packages_installed():
    """Each package's version and what it depends on, and the names of those that provide one."""
    shown = subprocess.run(
        ["dpkg-query", "-W", "-f",
         "${db:Status-Status}\t${Package}\t${Version}\t${Depends}, ${Pre-Depends}\t${Provides}\n"],
        capture_output=True, check=False, text=True).stdout
    packages, providers = {}, {}
    for line in sorted(shown.splitlines()):
        status, name, version, needed, provided = line.split("\t")
        if status == "installed":
            packages[name] = version, [
                [re.match("[^ :(]*", choice)[0] for choice in need.split(" | ")]
                for need in needed.split(", ")]
            for given in re.findall(r"(?:^|, )([^ ,(]+)", provided):
                providers.setdefault(given, []).append(name)
    return packages, providers


def versions_of_packages(wanted, packages, providers):
    """The versions of the packages, and of all that they depend on. Of alternatives, and of those
    that provide a package, the first that is installed counts: others may be installed, too."""
    versions, left = {}, [[name] for name in wanted]
    while left:
        given = [found for choice in left.pop()
                 for found in ([choice] if choice in packages else providers.get(choice, [])[:1])]
        for name in given[:1]:
            if name not in versions:
                versions[name], needed = packages[name]
                left += needed
    return sorted(f"{name} {version}" for name, version in versions.items())


def digest_of_machine(*groups):
    wanted = subprocess.run([".ci/packages", "list", *groups],
                            check=True, capture_output=True, text=True).stdout.split()
    return hashlib.sha256("\n".join([platform.machine(), *versions_of_packages(
        wanted, *packages_installed())]).encode()).hexdigest()


def settings_of(preset):
    """How the build is configured: compilers, flags and options. A compiler's cache changes no
    object."""
    with open(os.path.join(build_of(preset), "CMakeCache.txt"), encoding="utf-8") as file:
        return sorted(line for line in file
                      if re.match(r"(CMAKE_(BUILD_TYPE|CX*_COMPILER|CX*_FLAGS\w*)"
                                   r"|ETWAS_(?!CCACHE:)\w+)"
                                   r":(?!INTERNAL)", line))


class Digests:
    def __init__(self, preset):
        self.machine = "".join([digest_of_machine("build", "tests"), *settings_of(preset)])
        self.files = {}

    def of_file(self, path):
        if path not in self.files:
            with open(path, "rb") as file:
                self.files[path] = hashlib.sha256(file.read()).hexdigest()
        return self.files[path]

    def of_folder(self, folder, names):
        """Which tests there are counts too, and so does a rename of a file."""
        places = INSTEAD.get(folder) or [*ALWAYS, os.path.join("tests", folder),
                                         *MORE.get(folder, [])]
        whole = hashlib.sha256("\n".join([self.machine, *sorted(names)]).encode())
        for path in sorted({path for place in places for path in files_in(place)}):
            whole.update(f"{path} {self.of_file(path)}\n".encode())
        return whole.hexdigest()[:32]


def stamp_name(preset, folder):
    return f"tests.{preset}.{folder}"


def stamps_now(preset):
    """A line for each folder, as it is in the file of stamps, with the names of its tests."""
    digests = Digests(preset)
    return {f"{stamp_name(preset, folder)} {digests.of_folder(folder, names)}": names
            for folder, names in folders_of(preset).items()}


def begun_file(preset):
    return os.path.join(build_of(preset), f"{preset}.stamps")


def standing(preset):
    """The names of tests whose stamp stands. What the stamps would be is noted for `keep`."""
    now = stamps_now(preset)
    with open(begun_file(preset), "w", encoding="utf-8") as file:
        file.write("\n".join(now))
    if os.environ.get("ETWAS_SEARCH_ALL"):
        return []
    with open(STAMPS, encoding="utf-8") as file:
        kept = set(file.read().splitlines())
    return [name for line, names in now.items() if line in kept for name in names]


def programs_of_tests(build):
    """The programs below tests/ that each test's command names, as targets."""
    programs = {}
    place = re.compile(re.escape(os.path.abspath(build)) + r"/(tests/[^\"=;:]+)")
    for path in glob.glob(os.path.join(build, "tests", "**", "CTestTestfile.cmake"),
                          recursive=True):
        with open(path, encoding="utf-8") as file:
            for name, command in re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)", file.read(), re.M):
                programs[name] = set(place.findall(command))
    return programs


def targets_of_all(build):
    """What ninja builds if nothing is named."""
    targets, left = [], ["all"]
    while left:
        shown = subprocess.run(["ninja", "-C", build, "-t", "query", *left], check=True,
                               capture_output=True, text=True).stdout
        shown = re.sub(r"  outputs:\n(    .*\n)*", "", shown)
        inputs = re.findall(r"^    (?:\| )?(\S+)$", shown, re.M)
        left = [name for name in inputs if name.endswith("/all")]
        targets += [name for name in inputs if not name.endswith("/all")]
    return targets


def targets_to_build(build, running):
    """All but the programs of which only tests that do not run have need."""
    programs = programs_of_tests(build)
    needed = set().union(*(places for name, places in programs.items() if name in running))
    spared = set().union(*programs.values()) - needed
    return [target for target in targets_of_all(build) if target not in spared]


def keep(preset, path, path_alone):
    """A folder gets a stamp if all of its tests ran and passed, and its inputs are what they were
    before the build began."""
    passed = {case.get("name") for case in summary.settled(path, path_alone)[0]
              if case.get("status") == "run"}
    with open(begun_file(preset), encoding="utf-8") as file:
        begun = set(file.read().splitlines())
    lines = [f"{line}\n" for line, names in stamps_now(preset).items() if line in begun
             and passed >= set(names)]
    if lines:
        subprocess.run(["bash", "-c", "source tests/stamps.sh && stamps_keep ''"],
                       input="".join(lines), text=True, check=True)


def begin(preset):
    names = standing(preset)
    every = sum(1 for _ in tests_of(["--test-dir", build_of(preset)]))
    chosen = [name for name, _ in tests_of(["--preset", preset])]
    print(f"{len(names)} whose stamp stands, {every - len(chosen)} that this preset leaves out")
    print(f"^({'|'.join(names)})$".replace("+", r"\+") if names else "^$")
    print(*targets_to_build(build_of(preset), set(chosen) - set(names)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["begin"] and len(sys.argv) == 3:
        begin(sys.argv[2])
    elif sys.argv[1:2] == ["keep"] and len(sys.argv) == 5:
        keep(*sys.argv[2:])
    elif sys.argv[1:2] == ["machine"]:
        print(digest_of_machine(*sys.argv[2:]))
    else:
        sys.exit("usage: stamped.py begin PRESET, stamped.py keep PRESET TESTS.XML ALONE.XML, "
                 "or stamped.py machine GROUP...")
