# SPDX-License-Identifier: GPL-2.0-or-later
"""What every module of the package keeps to: head, size, and what never stands in it."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator

from source_tree import Module, modules

FOUND = modules()
LONGEST_MODULE, LONGEST_FUNCTION, MEDIAN = 450, 60, 130
"""In lines; 400 is a sign to split a module, the aim for the median is 110."""

VALUES_OF_QT = {"QRectF", "QPointF", "QSizeF"}
FORBIDDEN_NAMES = {"utils", "helpers", "helper", "common", "misc", "util"}
RUNS_TEXT = {"eval", "exec", "compile", "__import__"}


def functions(module: Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef))


def test_every_module_begins_with_its_licence_and_one_docstring() -> None:
    wrong = [
        module.name
        for module in FOUND
        if module.source.splitlines()[0] != "# SPDX-License-Identifier: GPL-2.0-or-later"
        or not ast.get_docstring(module.tree)
    ]
    assert wrong == []


def test_no_module_is_much_longer_than_a_sign_to_split() -> None:
    long = {m.name: len(m.source.splitlines()) for m in FOUND}
    assert {name: lines for name, lines in long.items() if lines > LONGEST_MODULE} == {}


def test_the_median_module_is_short() -> None:
    lines = [len(m.source.splitlines()) for m in FOUND if m.path.name != "__init__.py"]
    assert statistics.median(lines) <= MEDIAN


def test_no_function_is_longer_than_a_screen() -> None:
    long = [
        f"{module.name}.{node.name}"
        for module in FOUND
        for node in functions(module)
        if (node.end_lineno or node.lineno) - node.lineno + 1 > LONGEST_FUNCTION
    ]
    assert long == []


def test_no_module_is_called_after_nothing() -> None:
    assert [m.name for m in FOUND if m.name.rpartition(".")[2] in FORBIDDEN_NAMES] == []


def test_no_product_code_asserts_or_runs_text() -> None:
    wrong = [
        f"{module.name}:{node.lineno}"
        for module in FOUND
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Assert)
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in RUNS_TEXT
        )
    ]
    assert wrong == []


def test_no_error_is_swallowed_in_silence() -> None:
    wrong = [
        f"{module.name}:{node.lineno}"
        for module in FOUND
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler)
        and (
            node.type is None
            or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException"))
        )
        and all(isinstance(inner, (ast.Pass, ast.Continue)) for inner in node.body)
    ]
    assert wrong == []


def test_nothing_of_qt_is_made_and_nothing_is_called_at_import_time() -> None:
    wrong = [
        f"{module.name}:{node.lineno}"
        for module in FOUND
        for statement in module.tree.body
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef))
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
        and (
            (
                isinstance(node.func, ast.Name)
                and node.func.id.startswith("Q")
                and node.func.id not in VALUES_OF_QT
            )
            or (isinstance(statement, ast.Expr) and statement.value is node)
        )
    ]
    assert wrong == []


def test_packages_hold_no_state() -> None:
    wrong = [
        module.name or "geo_olm"
        for module in FOUND
        if module.path.name == "__init__.py"
        for statement in module.tree.body
        if not isinstance(statement, (ast.Expr, ast.ImportFrom, ast.FunctionDef))
    ]
    assert wrong == []


def test_algorithms_are_never_named_by_the_provider_qgis() -> None:
    wrong = [
        f"{module.name}:{node.lineno}"
        for module in FOUND
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.match("qgis:[a-z]", node.value)
    ]
    assert wrong == []
