#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
"""Manual pages (section 3) of the public functions, from the comments in the headers. Functions
that share a comment share a page: those of the others refer to it. A function without a comment
of its own shares the page of the one before it, which then has the title of that part of the
header.

usage: man3.py INCLUDE_FOLDER VERSION FOLDER     writes the pages into FOLDER
"""
import pathlib
import re
import sys

# A declaration without its bodies, attributes and labels.
BODY = re.compile(r"\n\{\n.*?\n\}(?=\n)", re.DOTALL)
LABEL = re.compile(r"\s*ETWAS_API(?:_AW)?\(\w+\)")
FUNCTION = re.compile(r"(?:\w+[ \n*]+)+(?P<name>\w+)\(.*\)", re.DOTALL)
INLINE = re.compile(r"(?:static inline|ETWAS_TRACELOGGING_INLINE) ")
ERROR = re.compile(r"(ERROR_\w+)([^:]*): ")
MODULES = {"clocks.h": "etwas-clocks", "decode.h": "etwas-tdh", "spans.h": "etwas-tdh"}
# A macro that is called as a function is.
MACRO = re.compile(r"(?m)^#define (TraceLogging[A-Z]\w*\([\w, .]*\))(?:.*\\\n)*.*\n")
PART = re.compile(r"(?m)^/\* ---- (.*?) -+ \*/$")


class Group:
    """Functions that a comment describes, in the order in which they are declared."""
    def __init__(self, header, comment):
        self.header, self.comment, self.title = header, comment, ""
        self.names, self.prototypes = [], []

    def add(self, other):
        self.names += other.names
        self.prototypes += other.prototypes


def comment_text(comment):
    """What is between the marks, each line without its star."""
    return re.sub(r"\n \* ?", "\n", comment[2:-2]).strip()


def pieces_of(text):
    """(title, comment, code behind it) of each part between two empty lines."""
    text = MACRO.sub(r"macro \1;\n", BODY.sub(";", text))
    text = re.sub(r"(?m)^#(?:.*\\\n)*.*\n", "", text)
    text = re.sub(r'(?m)^(?:extern "C" \{|\}|ETWAS_(?:BEGIN|END)_DECLS)$', "", text)
    title = ""
    for part in re.split(r"\n\n+", text):
        heading = PART.search(part)
        title = heading[1] if heading else title
        comment = ""
        for piece in re.split(r"(^/\*.*?\*/)", PART.sub("", part), flags=re.DOTALL | re.MULTILINE):
            if piece.startswith("/*"):
                comment = comment_text(piece)
            else:
                yield title, comment, piece


def functions_of(code):
    """(name, prototype) of each declaration. In C++ some have references, too."""
    for statement in code.split(";"):
        statement = LABEL.sub("", re.sub(r"/\*.*?\*/", "", statement, flags=re.DOTALL)).strip()
        inline = INLINE.match(statement)
        if inline:
            statement = re.sub(rf"(?m)^ {{{inline.end()}}}", "", statement[inline.end():])
        found = FUNCTION.fullmatch(statement)
        if found and not set("{&") & set(statement) and \
                not statement.startswith(("typedef", "extern")) and \
                not found["name"].startswith("etwas_tracelogging"):
            yield found["name"], statement.removeprefix("macro ")


def groups_of(header):
    text = header.read_text(encoding="utf-8")
    instead = re.search(r"Include (\w+\.h) instead", text)
    groups, begun = [], None
    for title, comment, code in pieces_of(text):
        group = Group(instead[1] if instead else header.name, comment)
        for name, prototype in functions_of(code):
            group.names.append(name)
            group.prototypes.append(prototype)
        if not group.names:
            continue
        if groups and comment.startswith("The Windows names of the two"):
            groups[-1].add(group)
        elif comment:
            groups.append(group)
            begun = title
        elif groups and begun == title:
            # A shorter name of the same is described by the comment.
            if not groups[-1].names[0].startswith(group.names[0]):
                groups[-1].title = title
            groups[-1].add(group)
        else:
            group.comment = f"{title}: the head of <etwas/{group.header}> describes it."
            group.title = begun = title
            groups.append(group)
    return groups


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"(?m)^([.'])", r"\\&\1", text)
    return re.sub(r"[^\0-\x7f]", lambda match: f"\\[u{ord(match[0]):04X}]", text)


class Page:
    def __init__(self, group, known, version):
        self.group, self.known, self.version = group, known, version
        self.mentioned = []

    def marked(self, text):
        """Code and other functions stand out; the latter are gathered for SEE ALSO."""
        def word(match):
            name = match[0]
            if name not in self.known:
                return name
            if name in self.group.names:
                return f"\\fB{name}\\fR"
            if name not in self.mentioned:
                self.mentioned.append(name)
            return f"\\fB{name}\\fR(3)"

        return "".join(f"\\fB{part[1:-1]}\\fR" if part.startswith("`")
                       else re.sub(r"\b(?<![.<])\w+\b(?!\.h)", word, part)
                       for part in re.split(r"(`[^`]*`)", escaped(text)))

    def summary(self):
        sentence = self.group.title or re.split(r"(?<=[^.])\.(?=\s|$)", self.group.comment,
                                                maxsplit=1)[0]
        sentence = " ".join(re.sub(r"^\w+\([^)]*\): ", "", sentence.replace("`", "")).split())
        if re.match(r"[A-Z][a-z]*[ ,]", sentence):
            sentence = sentence[0].lower() + sentence[1:]
        return escaped(sentence)

    def paragraphs(self):
        """(kind, lines) of the comment's paragraphs: code, list or text."""
        for block in re.split(r"\n\n+", self.group.comment):
            lines = block.split("\n")
            if all(line.startswith("    ") for line in lines):
                yield "code", [line[4:] for line in lines]
                continue
            at = next((index for index, line in enumerate(lines) if line.startswith("- ")),
                      len(lines))
            if at == 0 or at < len(lines):
                if at:
                    yield "text", [" ".join(lines[:at])]
                yield "list", self.items(lines[at:], "- ")
            elif ERROR.match(lines[0]) or any(line.startswith("  ") for line in lines[1:]):
                yield "list", self.items(lines, "")
            else:
                yield "text", [" ".join(lines)]

    @staticmethod
    def items(lines, mark):
        """A line that is not indented begins the next item."""
        items = []
        for line in lines:
            if items and (line.startswith(" ") or not line.startswith(mark)):
                items[-1] += " " + line.strip()
            else:
                items.append(line.removeprefix(mark))
        return items

    def body(self):
        """The sections DESCRIPTION and ERRORS, and what ETW's own documentation is called."""
        description, errors, origin = [], [], ""
        for kind, lines in self.paragraphs():
            if kind == "text" and re.match(r"ETW pages?: ", lines[0]):
                origin = lines[0].split(": ", 1)[1].rstrip(".")
            elif kind == "code":
                description += [".PP", ".nf", ".RS 4", *map(escaped, lines), ".RE", ".fi"]
            elif kind == "text":
                description += [".PP", self.marked(lines[0])]
            else:
                # What stands before them is of the errors, too.
                if not ERROR.match(lines[0]) and any(map(ERROR.match, lines)):
                    errors.append(self.marked(lines.pop(0)))
                for item in lines:
                    error = ERROR.match(item)
                    if error:
                        errors += [".TP", f".B {error[1]}{escaped(error[2])}",
                                   self.marked(item[error.end():])]
                    else:
                        description += [".IP \\(bu 2", self.marked(item)]
        return description[1:] if description[:1] == [".PP"] else description, errors, origin

    def text(self):
        group = self.group
        module = MODULES.get(group.header, "etwas")
        description, errors, origin = self.body()
        lines = [f'.TH {group.names[0]} 3 "" "etwas {self.version}" "etwas"',
                 ".nh", ".ad l", ".SH NAME",
                 f"{', '.join(group.names)} \\- {self.summary()} (etwas)",
                 ".SH LIBRARY", f"lib{escaped(module)}: \\fBpkg\\-config \\-\\-cflags "
                 f"\\-\\-libs {escaped(module)}\\fR",
                 ".SH SYNOPSIS", ".nf", f".B #include <etwas/{group.header}>", ".PP"]
        for prototype in group.prototypes:
            lines += [f"\\fB{line}\\fR" for line in (escaped(prototype) + ";").split("\n")]
        lines += [".fi", ".SH DESCRIPTION", *description]
        if errors:
            lines += [".SH ERRORS", *errors]
        lines += [".SH SEE ALSO"]
        also = [f".BR {name} (3)," for name in self.mentioned]
        lines += [*also, ".BR etwas (1)"]
        if origin:
            lines += [".PP", f"In the documentation of ETW: {escaped(origin)}."]
        return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    include, version, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    groups = [group for header in sorted((include / "etwas").glob("*.h"))
              for group in groups_of(header)]
    known = {name for group in groups for name in group.names}
    folder.mkdir(parents=True, exist_ok=True)
    for page in folder.glob("*.3"):
        page.unlink()
    for group in groups:
        (folder / f"{group.names[0]}.3").write_text(Page(group, known, version).text(),
                                                    encoding="utf-8")
        for name in group.names[1:]:
            (folder / f"{name}.3").write_text(f".so man3/{group.names[0]}.3\n", encoding="utf-8")


if __name__ == "__main__":
    main()
