#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Makes a C header and a C file with the type tables of ocispec_runtime.h from a schema.
# Runs at build time, needs no privileges.  README.md has the schema language.
"""usage: gen.py [-I DIR]... IN.schema OUT.h OUT.c"""

import argparse
import os
import re
import sys

INTEGERS = {
    "u16": ("uint16_t", 0, 2**16 - 1),
    "u32": ("uint32_t", 0, 2**32 - 1),
    "u64": ("uint64_t", 0, 2**64 - 1),
    "i32": ("int32_t", -(2**31), 2**31 - 1),
    "i64": ("int64_t", -(2**63), 2**63 - 1),
}
TEXTS = ("string", "path", "name", "any")
BUILT_IN = {"bool", *INTEGERS, *TEXTS}

RESERVED = set(
    """auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while bool true false asm typeof alignas alignof nullptr
    constexpr static_assert thread_local""".split()
)
# Macros of gcc's gnu dialects on some platforms; the header undefines the ones it uses as members.
PREDEFINED = {"linux", "unix", "i386"}

MEMBER = re.compile(
    r"(?P<name>\S+)\s+(?P<type>[\[{]?[a-z]\w*[\]}]?)"
    r"(?:\s+(?P<lo>-?\w+)\.\.(?P<hi>-?\w+))?"
    r"(?:\s+as\s+(?P<c_name>[a-zA-Z_]\w*))?$"
)


class SchemaError(Exception):
    """A message that already has file and line."""


class Type:
    def __init__(self, name, comment):
        self.name = name
        self.comment = comment
        self.members = []


class Member:
    def __init__(self, name, shape, base, comment):
        self.name = name
        self.shape = shape  # ONE, ARRAY or MAP
        self.base = base  # the type's name without brackets
        self.comment = comment
        self.c_name = c_name(name)
        self.lo = self.hi = 0

    def is_object(self):
        return self.base not in BUILT_IN

    def has_flag(self):
        return self.shape == "ARRAY" or (
            self.shape == "ONE" and (self.base == "bool" or self.base in INTEGERS)
        )

    def element(self):
        """The C declaration of one value, up to the name."""
        if self.base == "bool":
            return "bool "
        if self.base in INTEGERS:
            return INTEGERS[self.base][0] + " "
        if self.base in TEXTS:
            return "char *"
        return f"struct {self.base} "

    def declarations(self):
        if self.shape == "MAP":
            return [f"struct {self.base if self.is_object() else 'oci'}_map {self.c_name};"]
        if self.shape == "ARRAY":
            return [
                f"bool has_{self.c_name};",
                f"{self.element()}*{self.c_name};",
                f"size_t {self.c_name}_len;",
            ]
        flag = [f"bool has_{self.c_name};"] if self.has_flag() else []
        star = "*" if self.is_object() else ""
        return flag + [f"{self.element()}{star}{self.c_name};"]


def c_name(name):
    """execCPUAffinity -> exec_cpu_affinity"""
    name = re.sub(r"[^A-Za-z0-9]", "_", name)
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
    if name[0].isdigit():
        name = "_" + name
    return name + "_" if name in RESERVED else name


def number(text):
    """A decimal, 0x or leading-0 octal number, as in C."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if re.fullmatch(r"0[0-7]+", digits):
        return sign * int(digits, 8)
    return sign * int(digits, 0)


class Schema:
    def __init__(self, path, search):
        self.path = path
        self.search = [os.path.dirname(path) or "."] + search
        self.imports = []  # Schemas
        self.types = {}  # own, in order
        self.line = 0
        self.read()

    def fail(self, message):
        raise SchemaError(f"{self.path}:{self.line}: {message}")

    def read(self):
        above = []  # the comment block so far
        current = None
        with open(self.path, encoding="utf-8") as file:
            for self.line, raw in enumerate(file, 1):
                text, _, comment = (part.strip() for part in raw.partition("#"))
                if "*/" in comment or "/*" in comment:
                    self.fail("a comment of C inside a comment")
                if not text:
                    above = above + [comment] if comment else []
                    continue
                words = text.split()
                if words[0] == "import" and len(words) == 2 and not raw[0].isspace():
                    self.read_import(words[1])
                elif words[0] == "type" and len(words) == 2 and not raw[0].isspace():
                    current = self.read_type(words[1], above)
                elif current is None or not raw[0].isspace():
                    self.fail("expected `import FILE`, `type NAME` or an indented member")
                else:
                    current.members.append(self.read_member(current, text, comment))
                above = []
        self.check_types()

    def read_import(self, name):
        for directory in self.search:
            path = os.path.join(directory, name)
            if os.path.exists(path):
                self.imports.append(Schema(path, self.search[1:]))
                return
        self.fail(f"{name} is in none of {', '.join(self.search)}")

    def known(self):
        known = set(self.types)
        for schema in self.imports:
            known |= schema.known()
        return known

    def read_type(self, name, above):
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in RESERVED | BUILT_IN:
            self.fail(f"{name} can't be the name of a type")
        if name in self.known():
            self.fail(f"the type {name} is there already")
        self.types[name] = Type(name, above)
        return self.types[name]

    def read_member(self, owner, text, comment):
        match = MEMBER.match(text)
        if match is None:
            self.fail("expected NAME TYPE [LO..HI] [as C_NAME]")
        name, type_name = match["name"], match["type"]
        if re.search(r'[\x00-\x20"\\\x7f-\U0010ffff]', name):
            self.fail(f"{name} can't be the name of a member")
        shape, base = self.read_shape(type_name)
        member = Member(name, shape, base, comment)
        member.c_name = match["c_name"] or member.c_name
        self.read_range(member, match["lo"], match["hi"])
        taken = {word for other in owner.members for word in c_words(other)}
        if taken & c_words(member):
            self.fail(f"the C name of {name} is taken; use `as`")
        if any(other.name.lower() == name.lower() for other in owner.members):
            self.fail(f"{name} equals another member but for case")
        member.line = self.line
        return member

    def read_shape(self, text):
        for opening, closing, shape in (("[", "]", "ARRAY"), ("{", "}", "MAP")):
            if text.startswith(opening) != text.endswith(closing):
                self.fail(f"brackets of {text} don't match")
            if text.startswith(opening):
                base = text[1:-1]
                if shape == "MAP" and base in BUILT_IN - {"string", "any"}:
                    self.fail("a map has values of type string, any or an object type")
                return shape, base
        return "ONE", text

    def read_range(self, member, low, high):
        if member.base not in INTEGERS:
            if low is not None:
                self.fail("only integers have a range")
            return
        _, least, most = INTEGERS[member.base]
        member.lo, member.hi = least, most
        if low is not None:
            try:
                member.lo, member.hi = number(low), number(high)
            except ValueError:
                self.fail(f"{low}..{high} is no range")
            if not (least <= member.lo <= member.hi <= most and member.hi >= 0):
                self.fail(f"{low}..{high} doesn't fit {member.base} (or is negative throughout)")
            if member.lo >= 2**63:
                self.fail(f"{low} is too large for the lower end of a range")

    def check_types(self):
        known = self.known()
        for owner in self.types.values():
            if not owner.members:
                self.fail(f"the type {owner.name} has no members")
            for member in owner.members:
                if member.is_object() and member.base not in known:
                    self.line = member.line
                    self.fail(f"there is no type {member.base}")


def c_words(member):
    """The identifiers that a member takes in its struct."""
    return set(re.findall(r"(\w+);", " ".join(member.declarations())))


def comment_lines(text, indent):
    return [f"{indent}/* {text} */"] if text else []


def block_comment(lines):
    if not lines:
        return []
    return ["/* " + "\n   ".join(lines) + "  */"]


def struct_lines(schema_type):
    out = block_comment(schema_type.comment) + [f"struct {schema_type.name}", "{"]
    for member in schema_type.members:
        out += comment_lines(member.comment, "  ")
        out += ["  " + line for line in member.declarations()]
    return out + ["};", ""]


def map_lines(name):
    return [
        f"/* Layout of struct oci_map, with structs of type {name} as values.  */",
        f"struct {name}_map",
        "{",
        "  bool has;",
        "  size_t len;",
        "  char **keys;",
        f"  struct {name} *values;",
        "};",
        "",
    ]


def parse_lines(name):
    return [
        f"extern const struct oci_type {name}_type;",
        "",
        "/* oci_parse for this type.  */",
        "static inline int",
        f"{name}_parse (struct arena *arena, const char *bytes, size_t len, unsigned flags,",
        f"{' ' * len(name)}        struct oci_report *report, struct {name} **ret)",
        "{",
        "  void *object = NULL;",
        f"  int r = oci_parse (&{name}_type, arena, bytes, len, flags, report, &object);",
        "",
        "  if (r == 0)",
        f"    *ret = (struct {name} *) object;",
        "  return r;",
        "}",
        "",
    ]


def header(schema, header_name):
    guard = re.sub(r"\W", "_", header_name).upper()
    names = {member.c_name for t in schema.types.values() for member in t.members}
    out = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        f"/* Made by gen.py from {os.path.basename(schema.path)}: change that, not this.  */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        '#include "ocispec_runtime.h"',
    ]
    for imported in schema.imports:
        stem = os.path.splitext(os.path.basename(imported.path))[0]
        out.append(f'#include "{stem}.h"')
    out.append("")
    for macro in sorted(PREDEFINED & names):
        out += [f"#undef {macro} /* gcc's gnu dialects predefine it */", ""]
    # A type is used by pointer only, so a declaration of all frees their order.
    out += [f"struct {name};" for name in schema.types] + [""]
    for name in schema.types:
        out += map_lines(name)
    for schema_type in schema.types.values():
        out += struct_lines(schema_type)
    for name in schema.types:
        out += parse_lines(name)
    return out + ["#endif"]


def member_lines(owner, member):
    kind = "OBJECT" if member.is_object() else member.base.upper()
    struct = f"struct {owner.name}"
    fields = [
        f'.name = "{member.name}"',
        f".name_len = {len(member.name)}",
        f".kind = OCI_{kind}",
        f".shape = OCI_{member.shape}",
        f".offset = offsetof ({struct}, {member.c_name})",
    ]
    if member.shape == "MAP":
        fields.append(f".has_offset = offsetof ({struct}, {member.c_name}.has)")
    elif member.has_flag():
        fields.append(f".has_offset = offsetof ({struct}, has_{member.c_name})")
    if member.shape == "ARRAY":
        fields.append(f".len_offset = offsetof ({struct}, {member.c_name}_len)")
    if member.base in INTEGERS:
        low = "INT64_MIN" if member.lo == -(2**63) else f"INT64_C ({member.lo})"
        fields += [f".lo = {low}", f".hi = UINT64_C ({member.hi})"]
    if member.is_object():
        fields.append(f".type = &{member.base}_type")
    return ["  {"] + [f"    {field}," for field in fields] + ["  },"]


def source(schema, header_name):
    out = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        f"/* Made by gen.py from {os.path.basename(schema.path)}: change that, not this.  */",
        f'#include "{header_name}"',
        "",
    ]
    for owner in schema.types.values():
        same = f"offsetof (struct {owner.name}_map, values) == offsetof (struct oci_map, values)"
        out += [
            f"_Static_assert ({same},",
            f'                "struct {owner.name}_map must be laid out like struct oci_map");',
            "",
            f"static const struct oci_member {owner.name}_members[] = {{",
        ]
        for member in owner.members:
            out += member_lines(owner, member)
        out += [
            "};",
            "",
            f"const struct oci_type {owner.name}_type = {{",
            f'  .name = "{owner.name}",',
            f"  .size = sizeof (struct {owner.name}),",
            f"  .members = {owner.name}_members,",
            f"  .members_len = {len(owner.members)},",
            "};",
            "",
        ]
    return out[:-1]


def write(path, lines):
    """In one step: a build that is broken off leaves no half file that looks new."""
    temporary = f"{path}.new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    os.replace(temporary, path)


def main():
    arguments = argparse.ArgumentParser(description="C types and tables from a schema")
    arguments.add_argument("-I", dest="search", action="append", default=[], metavar="DIR")
    arguments.add_argument("schema")
    arguments.add_argument("header")
    arguments.add_argument("source")
    options = arguments.parse_args()
    try:
        schema = Schema(options.schema, options.search)
    except (OSError, SchemaError) as error:
        sys.exit(f"gen.py: {error}")
    name = os.path.basename(options.header)
    write(options.source, source(schema, name))
    write(options.header, header(schema, name))


if __name__ == "__main__":
    main()
