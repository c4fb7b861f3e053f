#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""All C of the repository in one style, as .clang-format and .clang-tidy say; and lines and
comments of scripts.

usage: style_test.py format|tidy|sentences SOURCE-FOLDER BUILD-FOLDER [bench]

bench: at the benchmarks and their tests alone, which the preset `default` does not build.
tidy looks at each source as the build compiles it (once, if it does so several times) and at the
heads that it includes. It leaves out folders whose stamp stands (tests/stamps.sh). Exits with 77
where the tool is missing, or is another version than the one that decides.
"""
import ast
import collections
import concurrent.futures
import functools
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

VERSION = "14"
AT_A_TIME = 8  # files for one start of the tool


def require(tool):
    if shutil.which(tool) is None:
        print(f"skipped: {tool} is not installed (on Debian: apt-get install {tool})")
        sys.exit(77)
    said = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    if not re.search(rf"version {VERSION}\.", said):
        print(f"skipped: {tool} is not version {VERSION}: {said.strip()}")
        sys.exit(77)


def run(command, files):
    """What the tool says of the files, and whether it is content."""
    result = subprocess.run([*command, *map(str, files)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, check=False)
    said = result.stdout if "--quiet" in command else result.stderr
    return said, result.returncode == 0


def run_all(command, files):
    parts = [files[at:at + AT_A_TIME] for at in range(0, len(files), AT_A_TIME)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda part: run(command, part), parts))
    for said, content in results:
        if not content:
            print(said)
    print(f"{command[0]}: {len(files)} files")
    return all(content for _, content in results)


def check_format(source, *_):
    files = [path for path in sorted(source.rglob("*.[ch]")) + sorted(source.rglob("*.cc"))
             if path.relative_to(source).parts[0] != "build"]
    return run_all(["clang-format", "--dry-run", "--Werror"], files)


INCLUDE = re.compile(r'^ *#include "([^"]+)"', re.MULTILINE)


# Strings and characters come first: what looks like a comment in one is none.
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|/\*.*?\*/', re.DOTALL)
COLUMNS = 100
# A sentence that begins so lacks its subject, or has it far behind.
FRAGMENT = re.compile(r"(?:Of|Under|By|Those|Not|With|Beside|Behind)\b")
PERSON = re.compile(r"\b(?:who|whom|whoever|whomever)\b", re.IGNORECASE)
# Words of our own for which the field has a word: task, untrusted, quarantined, abandoned, clock
# snapshot, event group, process records, deferred work, option, instance, pass or scan.
PRIVATE = re.compile(
    r"\b(?:errands?|strangers?|condemned|orphan(?:s|ed)?|knots?|topics?|sidebands?|aftermath|"
    r"wish(?:es|ed)?|followers?|the look)\b(?!-)", re.IGNORECASE)


def cells(line):
    """The columns at which a line of comment begins, and begins again behind two blanks."""
    return [found.start() for found in re.finditer(r"(?:(?<=  )|(?<=\* ))[^ */]", line)]


def torn(lines):
    """(number, what is wrong, line) of tables and diagrams in a comment that were wrapped like
    text: the rest of a row has a line of its own, or two rows of a diagram have one."""
    for number, (above, line, below) in enumerate(zip(lines, lines[1:], lines[2:]), 1):
        words = line.strip(" *").split()
        if (0 < len(words) <= 2 and words[0][0].isalpha() and line[-1] not in ".:;"
                and cells(line) == cells(above)[-1:] == cells(below)[:1]
                and len(above) + 1 + len(words[0]) > COLUMNS):
            yield number, "is the rest of a row", line.strip()
        if any(not above[found.end() - 1:found.end()].strip()
               for found in re.finditer("\\w [├└]", line)):
            yield number, "joins two rows of a diagram", line.strip()


def wrong_in(text):
    """(line, what is wrong, the sentence or line) of the comments of a C source."""
    for token in TOKEN.finditer(text):
        comment = token.group()
        if not comment.startswith("/*"):
            continue
        line = text.count("\n", 0, token.start()) + 1
        words = " ".join(re.sub(r"\n\s*\*", " ", comment[2:-2]).split())
        for sentence in re.split(r"(?<=[.!?;:]) ", words):
            if FRAGMENT.match(sentence):
                yield line, "begins without its subject", sentence
            if PERSON.search(sentence):
                yield line, "calls a process or thread \"who\"", sentence
            if PRIVATE.search(sentence):
                yield line, "has a word of our own", sentence
        start = text.rfind("\n", 0, token.start()) + 1
        lines = text[start:token.end()].split("\n")
        yield from ((line + offset, what, row) for offset, what, row in torn(lines))
        for offset, whole in enumerate(lines):
            if len(whole) > COLUMNS:
                yield line + offset, f"is longer than {COLUMNS} columns", whole.strip()


# Of scripts, whole lines of comment, and in JavaScript those behind a statement.
COMMENT = {".sh": re.compile(r"^\s*#(?!!)(.*)$"), ".js": re.compile(r"(?:^|\s)//(.*)$")}
# What they find is stamped by their text.
STAMPED = ("tests/faults/run.sh", "tests/model/run.sh")


def comments_of_python(text):
    """(line, words) of each comment and docstring."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
                node):
            yield node.body[0].lineno, ast.get_docstring(node)


def wrong_in_script(path, text):
    """The same as wrong_in, of a script: long lines, and comments about processes as if they were
    persons."""
    lines = list(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if len(line) > COLUMNS:
            yield number, f"is longer than {COLUMNS} columns", line.strip()
    comments = comments_of_python(text) if path.suffix == ".py" else (
        (number, found[1]) for number, line in lines
        if (found := COMMENT[path.suffix].search(line)))
    for number, words in comments:
        if PERSON.search(words):
            yield number, "calls a process or thread \"who\"", " ".join(words.split())


def found_in(source):
    """(path, line, what is wrong, the sentence or line) of all sources and scripts."""
    for part in ("bench", "examples", "include", "packaging", "runtime", "tests", "tools"):
        for path in sorted(path for path in (source / part).rglob("*") if path.is_file()):
            name, text_of = path.relative_to(source), functools.partial(path.read_text,
                                                                        encoding="utf-8")
            if path.suffix in (".c", ".h", ".S", ".cc"):
                yield from ((name, *wrong) for wrong in wrong_in(text_of()))
            elif path.suffix in (".py", ".sh", ".js") and str(name) not in STAMPED:
                yield from ((name, *wrong) for wrong in wrong_in_script(path, text_of()))


def check_sentences(source, *_):
    """Comments are plain sentences, but for those that tests/build/sentences has."""
    allowed = {line for line in (source / "tests/build/sentences").read_text(encoding="utf-8")
               .splitlines()
               if line and not line.startswith("#")}
    found, used = 0, set()
    for name, line, what, sentence in found_in(source):
        if sentence in allowed:
            used.add(sentence)
            continue
        print(f"{name}:{line}: {what}: {sentence}")
        found += 1
    for sentence in sorted(allowed - used):
        print(f"no comment has this any more: remove it from tests/build/sentences: {sentence}")
    return found == 0 and allowed == used


def includes(path, folders):
    """The heads of ours that a file includes, and those that these include."""
    found = {head.resolve() for name in INCLUDE.findall(path.read_text(encoding="utf-8"))
             for head in [folder / name for folder in (path.parent, *folders)] if head.is_file()}
    return frozenset(found)


def closure(path, folders):
    seen, left = {path}, [path]
    while left:
        new = includes(left.pop(), folders) - seen
        seen |= new
        left += new
    return seen


@functools.cache
def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest_of(source, command):
    """Of a source, what it includes and how it is compiled, wherever the checkout lies."""
    words = command["command"].split()
    folders = tuple(Path(command["directory"], word[2:]).resolve() for word in words
                    if word.startswith("-I"))
    options = sorted({re.sub(r'/[^\s"\\]*', "/", word) for word in words if word.startswith("-")})
    files = sorted((os.path.relpath(path, source), hash_of(path))
                   for path in closure(Path(command["file"]), folders))
    return repr((options, files))


def stamps_of(source, commands, name):
    """{folder: the stamp of its sources}"""
    texts = collections.defaultdict(list)
    for path in sorted(commands):
        texts[path.parent].append(digest_of(source, commands[path]))
    tool = (source / ".clang-tidy").read_text(encoding="utf-8") + VERSION
    return {folder: f"{name}/{folder.relative_to(source)} "
            f"{hashlib.sha256(repr((tool, parts)).encode()).hexdigest()[:32]}"
            for folder, parts in texts.items()}


def check_tidy(source, build, only=None):
    name = "tidy" if only is None else f"tidy-{only}"
    commands = {}
    for command in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = Path(command["file"])
        if (path.suffix == ".c" and path.is_relative_to(source) and not path.is_relative_to(build)
                and (only is None or only in path.relative_to(source).parts)):
            commands.setdefault(path, command)
    stamps = stamps_of(source, commands, name)
    known = [] if os.environ.get("ETWAS_SEARCH_ALL") else (source / "tests/stamps").read_text(
        encoding="utf-8").splitlines()
    left = [path for path in sorted(commands) if stamps[path.parent] not in known]
    print(f"note: tidy: {len(left)} files looked at, {len(commands) - len(left)} stamped")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "compile_commands.json").write_text(json.dumps(list(commands.values())),
                                                            encoding="utf-8")
        if not run_all(["clang-tidy", "--quiet", "-p", folder], left):
            return False
    subprocess.run(["bash", "-c", '. "$1"; stamps_keep "$2"', "-", source / "tests/stamps.sh",
                    f"{name}/"],
                   input="\n".join(sorted(stamps.values())), text=True, check=True)
    return True


def main(what, source, build, *only):
    if what != "sentences":
        require(f"clang-{what}")
    check = {"format": check_format, "tidy": check_tidy, "sentences": check_sentences}[what]
    return 0 if check(Path(source).resolve(), Path(build).resolve(), *only) else 1


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5) or sys.argv[1] not in ("format", "tidy", "sentences"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
