# SPDX-License-Identifier: GPL-2.0-or-later
"""The package's own modules as syntax trees, and what each of them imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ROOMS = ("plugin", "tools", "ui")


@dataclass(frozen=True)
class Module:
    """One module: its dotted name within the package, its file and its tree."""

    name: str
    path: Path
    source: str
    tree: ast.Module


@dataclass(frozen=True)
class Import:
    """One imported module: `own` tells that it is of the package, `lazy` that it stands in a
    function, `typing` that only a type checker sees it."""

    name: str
    line: int
    own: bool
    lazy: bool
    typing: bool

    @property
    def top(self) -> str:
        """The first part of the name."""
        return self.name.partition(".")[0]


def modules() -> list[Module]:
    """Return every module of the package, read anew."""
    paths = [ROOT / "__init__.py"]
    for room in ROOMS:
        paths += sorted((ROOT / room).rglob("*.py"))
    return [_module(path) for path in paths]


def _module(path: Path) -> Module:
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(part for part in parts if part != "__init__")
    source = path.read_text(encoding="utf-8")
    return Module(name, path, source, ast.parse(source))


def imports(module: Module) -> Iterator[Import]:
    """Yield what a module imports, relative names resolved within the package."""
    yield from _below(module, module.tree, lazy=False, typing=False)


def _below(module: Module, node: ast.AST, lazy: bool, typing: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        inside = lazy or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        checked = typing or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test))
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, False, lazy, typing)
        elif isinstance(child, ast.ImportFrom):
            for name, own in _names(module, child):
                yield Import(name, child.lineno, own, lazy, typing)
        yield from _below(module, child, inside, checked)


def _names(module: Module, node: ast.ImportFrom) -> Iterator[tuple[str, bool]]:
    if not node.level:
        yield node.module or "", False
        return
    is_package = module.path.name == "__init__.py"
    package = module.name.split(".") if module.name else []
    up = node.level - (1 if is_package else 0)
    base = package[: len(package) - up] if up else package
    where = [*base, *((node.module or "").split(".") if node.module else [])]
    for alias in node.names:
        inner = ROOT.joinpath(*where, alias.name)
        is_module = inner.with_suffix(".py").is_file() or inner.is_dir()
        yield ".".join([*where, alias.name] if is_module else where), True
