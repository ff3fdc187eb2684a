"""Prints the reference of the Python package as Markdown, from its docstrings: python_reference.py.

It reads the source, so that neither the version of Python nor what is installed matters.
"""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent / "tlmssd"
HEAD = """# Python reference

What `import tlmssd` offers, from the docstrings of `scripts/tlmssd`. The introduction is
[From one run to a decision](exploring.md). Made by `scripts/check_python_reference --write`.
"""
FILES = {
    "study.study": "Study files",
    "study.axes": "Axes of a study",
    "study.designs": "Designs of a study",
    "study.table": "Tables of results",
    "engine.pool": "Clusters",
    "metrics": "Names of metrics",
    "calibrate.study": "Calibration studies",
    "calibrate.parameters": "Parameters of a calibration",
    "probe.plan": "Jobs of a probe",
}
"""Modules whose own words describe a file or a notation: module to heading."""

DEEPER = {
    "compare": "compare.__init__",
    "Comparison": "compare.__init__",
    "whatif": "whatif.__init__",
    "WhatIf": "whatif.__init__",
    "meet": "meet.__init__",
    "Meet": "meet.__init__",
    "calibrate": "calibrate.__init__",
    "Calibration": "calibrate.__init__",
    "Profile": "calibrate.profile",
    "analyse": "probe.analyse",
    "Finding": "probe.findings",
    "Histogram": "latency",
    "Ledgers": "latency",
}
"""What is imported from a module of the package: name to module."""

Definition = ast.ClassDef | ast.FunctionDef


def main() -> None:
    """Prints it."""
    print(HEAD)
    for name, module in homes().items():
        print(*entry(definition(module, name), "##"), sep="\n")
    for name, module in DEEPER.items():
        print(*entry(definition(module, name), "##", f"from tlmssd.{module}"), sep="\n")
    for module, heading in FILES.items():
        text = ast.get_docstring(source(module))
        print(f"## {heading}\n", *body(text), sep="\n")
        for node in source(module).body:
            if isinstance(node, ast.FunctionDef) and node.name in ("cluster_pool", "read_design"):
                print(*body(ast.get_docstring(node)), sep="\n")


def homes() -> dict[str, str]:
    """Every name of the package and the module that defines it."""
    for node in source("__init__").body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "_HOMES":
            return ast.literal_eval(node.value)
    raise SystemExit("tlmssd/__init__.py has no _HOMES")


def source(module: str) -> ast.Module:
    """A module of the package, parsed."""
    path = PACKAGE / (module.replace(".", "/") + ".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def definition(module: str, name: str) -> Definition:
    """A class or function of a module."""
    for node in source(module).body:
        if isinstance(node, Definition) and node.name == name:
            return node
    raise SystemExit(f"tlmssd.{module} has no {name}")


def entry(node: Definition, level: str, origin: str = "") -> Iterator[str]:
    """A class with its public parts, or a function."""
    text = ast.get_docstring(node)
    if not text:
        raise SystemExit(f"{node.name} has no docstring")
    yield f"{level} {node.name}\n"
    imported = f"{origin.removesuffix('.__init__')} import {node.name}\n\n" if origin else ""
    yield f"```python\n{imported}{signature(node)}\n```\n"
    yield "\n".join(body(text))
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            public = isinstance(part, ast.FunctionDef) and not part.name.startswith("_")
            if public and ast.get_docstring(part):
                yield from entry(part, level + "#")


def signature(node: Definition) -> str:
    """How it is called, on one line, or with an argument on each."""
    if isinstance(node, ast.FunctionDef):
        decorators = " ".join(map(ast.unparse, node.decorator_list))
        mark = "@property\n" if "property" in decorators else ""
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        own = [part for part in arguments(node) if part != "self"]
        return mark + wrapped(f"def {node.name}", own, returns)
    if "dataclass" in " ".join(map(ast.unparse, node.decorator_list)):
        fields = [ast.unparse(part) for part in node.body if isinstance(part, ast.AnnAssign)]
        return wrapped(f"class {node.name}", [field for field in fields if field[0] != "_"], "")
    made = [part for part in node.body if getattr(part, "name", "") == "__init__"]
    if not made:
        return f"class {node.name}({', '.join(map(ast.unparse, node.bases))})"
    return wrapped(f"class {node.name}", arguments(made[0])[1:], "")


def arguments(node: ast.FunctionDef) -> list[str]:
    """The arguments of a function, each as it is written."""
    args = node.args
    defaults = [None] * (len(args.args) - len(args.defaults)) + args.defaults
    found = [argument(a, d) for a, d in zip(args.args, defaults, strict=True)]
    if args.vararg:
        found.append("*" + argument(args.vararg, None))
    elif args.kwonlyargs:
        found.append("*")
    found += [argument(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return found + (["**" + argument(args.kwarg, None)] if args.kwarg else [])


def argument(node: ast.arg, default: ast.expr | None) -> str:
    """One argument: name, type, default."""
    kind = f": {ast.unparse(node.annotation)}" if node.annotation else ""
    return f"{node.arg}{kind}" + (f" = {ast.unparse(default)}" if default else "")


def wrapped(head: str, parts: list[str], tail: str) -> str:
    """On one line where it fits."""
    line = f"{head}({', '.join(parts)}){tail}"
    if len(line) <= 100:
        return line
    return "\n".join([f"{head}(", *(f"    {part}," for part in parts), f"){tail}"])


def body(text: str) -> Iterator[str]:
    """A docstring as Markdown: what follows its first paragraph and looks like code is fenced."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        lines = paragraph.splitlines()
        if is_code(lines):
            yield from ("```", *lines, "```", "")
        else:
            yield from (*lines, "")


def is_code(lines: list[str]) -> bool:
    """Lines of YAML, Python or a listing, not a sentence."""
    return not lines[-1].rstrip().endswith((".", ":", ";", "?")) and (
        lines[0].endswith(":") or ": " in lines[0] or " = " in lines[0] or lines[-1][0] == " "
    )


if __name__ == "__main__":
    main()
