# SPDX-License-Identifier: GPL-2.0-or-later
"""Workflows as text: `*.geoflow.json` written and read, other versions and encodings too."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import paper_form
from .form import FORMAT, VERSION, FormError, read, read_value, value_form, written
from .graph import Graph
from .topology import TopologyFault, faults

SUFFIX = ".geoflow.json"
_VERSION = re.compile(r"(\d+)\.(\d+)")
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class WorkflowFileError(Exception):
    """A text that is no workflow; the message is a sentence with the place."""


@dataclass(frozen=True)
class Loaded:
    """A workflow that was read: what was left out or repaired as remarks, the faults of its
    shape, and whether it is of a newer version, so that saving it could lose something."""

    graph: Graph
    remarks: tuple[str, ...] = ()
    faults: tuple[TopologyFault, ...] = ()
    read_only: bool = False


def dumps(graph: Graph) -> str:
    """Return a graph as the text of a file. Raises ValueError for a value that JSON has not."""
    form = written(graph)
    return json.dumps(form, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def loads(data: str | bytes, name: str = "The file") -> Loaded:
    """Return the workflow in a text: ours, or a dictionary of the Flow and GeoFlow papers.

    Raises WorkflowFileError, whose message begins with `name`.
    """
    text = data if isinstance(data, str) else _decoded(data, name)
    remarks: list[str] = []
    form = _parsed(text, name)
    if not isinstance(form, dict):
        raise WorkflowFileError(f"{name} is no workflow: it holds no object.")
    try:
        if form.get("format") == FORMAT:
            newer = _is_newer(form.get("version"), name, remarks)
            graph = read(form, remarks.append)
        elif paper_form.is_form(form):
            newer, graph = False, paper_form.read(form, remarks.append)
        else:
            raise WorkflowFileError(f'{name} is no workflow: it has no "format": "{FORMAT}".')
    except FormError as error:
        raise WorkflowFileError(f"{name} cannot be read. {error}") from error
    return Loaded(graph, tuple(dict.fromkeys(remarks)), faults(graph), newer)


def parameters_text(values: dict[str, Any]) -> str:
    """Return parameters as JSON text, to copy and to edit."""
    form = {key: value_form(one) for key, one in values.items()}
    return json.dumps(form, ensure_ascii=False, indent=2)


def parameters_read(text: str) -> dict[str, Any]:
    """Return the parameters in a JSON text. Raises WorkflowFileError."""
    form = _parsed(text, "The text")
    if not isinstance(form, dict):
        raise WorkflowFileError("The parameters are an object: a name and a value each.")
    try:
        return {key: read_value(one, key) for key, one in form.items()}
    except FormError as error:
        raise WorkflowFileError(str(error)) from error


def _decoded(data: bytes, name: str) -> str:
    coding = next((one for mark, one in _MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        return data.decode(coding)
    except UnicodeDecodeError as error:
        raise WorkflowFileError(
            f"{name} is not in UTF-8 (byte {error.start + 1:,}). Save it as UTF-8, then open it."
        ) from error


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once(name), parse_constant=_no_constant(name))
    except json.JSONDecodeError as error:
        raise WorkflowFileError(
            f"{name} is broken in line {error.lineno}, column {error.colno}: {error.msg}."
        ) from error
    except RecursionError as error:
        raise WorkflowFileError(f"{name} is broken: it is nested too deep.") from error


def _once(name: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        form = dict(found)
        if len(form) < len(found):
            keys = [key for key, _ in found]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise WorkflowFileError(f'{name} is broken: an object has "{twice}" twice.')
        return form

    return pairs


def _no_constant(name: str) -> Callable[[str], Any]:
    def refuse(text: str) -> Any:
        raise WorkflowFileError(f"{name} is broken: {text} is no number.")

    return refuse


def _is_newer(version: Any, name: str, remarks: list[str]) -> bool:
    """Tell whether a file's version is a newer major one; a newer minor one is remarked on."""
    found = _VERSION.fullmatch(str(version))
    if not found:
        raise WorkflowFileError(f'{name} has no version such as "{VERSION}".')
    major, minor = int(found.group(1)), int(found.group(2))
    ours = tuple(int(one) for one in VERSION.split("."))
    if major > ours[0]:
        remarks.append(f"{name} is from a newer version ({version}). It opens read only.")
        return True
    if (major, minor) > ours:
        remarks.append(
            f"{name} is from version {version}; what {VERSION} does not know is left out."
        )
    return False
