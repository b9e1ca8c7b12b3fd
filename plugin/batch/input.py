# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of a batch read: JSON, a table of rows, files of a folder or pattern, tiles."""

from __future__ import annotations

import csv
import glob
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...tools.boundary import file_of
from ..workflow.graph import Graph
from ..workflow.variable import VariableError, bound
from .job import BatchError, Job, layer_names, names
from .tile import tiled

SUFFIXES = frozenset(
    {
        ".gpkg", ".shp", ".geojson", ".json", ".fgb", ".kml", ".gml", ".gpx", ".tab", ".mif",
        ".sqlite", ".parquet", ".geoparquet", ".tif", ".tiff", ".vrt", ".img", ".asc", ".jp2",
        ".nc", ".hdf", ".grib", ".grb2",
    }
)  # fmt: skip
"""The files of a folder that are inputs."""

_TABLES = {".csv": ",", ".tsv": "\t", ".txt": ","}
_SHEETS = (".xlsx", ".ods", ".xls")
_BESIDE = (".aux.xml", ".ovr", ".qmd", ".qml", "-wal", "-shm", ".prj", ".dbf", ".shx", ".cpg",
           ".qix", ".tfw")  # fmt: skip
_IDS = ("id", "job")
Given = tuple[str, dict[str, Any], str]
"""The name, the variables and the place of an input."""


def read_inputs(text: str, graph: Graph) -> list[Job]:
    """Return the jobs that a text means: JSON, or the path of a JSON file, a table, a folder, or a
    pattern such as /data/*.gpkg. Raises BatchError, with the line where there is one."""
    text = text.strip()
    if not text:
        raise BatchError(
            "No inputs are named: give a JSON file, a table, a folder or a pattern such as *.gpkg."
        )
    found = list(_given(text, graph))
    if not found:
        raise BatchError(f"{_short(text)} holds no input.")
    called = names([one[0] for one in found])
    jobs = [Job(name, one[1], one[2]) for name, one in zip(called, found)]
    for job in jobs:
        _check(job, graph)
    return jobs


def _given(text: str, graph: Graph) -> Iterator[Given]:
    if text[0] in "[{":
        return _from_json(text, "The inputs", Path(), graph)
    path = Path(text).expanduser()
    if path.is_dir():
        return _files(_in_folder(path), graph, {}, "")
    if path.is_file():
        suffix = path.suffix.lower()
        if suffix in _TABLES:
            return _rows(_read(path), path, _TABLES[suffix], graph)
        if suffix in _SHEETS:
            return _sheet(path, graph)
        if suffix in (".json", ".jsonl"):
            return _from_json(_read(path), path.name, path.parent, graph)
        return _files([path], graph, {}, "")
    return _files(_matching(text), graph, {}, "")


def _from_json(text: str, name: str, folder: Path, graph: Graph) -> Iterator[Given]:
    """Yield what a JSON text holds: a list, an object for files or tiles, or an object a line."""
    for form, line in _parsed(text, name):
        place = f"{name}, line {line}"
        if not isinstance(form, Mapping):
            raise BatchError(f'{place}: an input is an object: {{"name": value}}.')
        if "tile_size" in form:
            if isinstance(form.get("source"), str):
                form = {**form, "source": _absolute(form["source"], folder)}
            yield from tiled(form, graph, place)
        elif "files" in form:
            yield from _of_files(form, folder, graph, place)
        else:
            yield _of_object(form, folder, graph, place)


def _parsed(text: str, name: str) -> Iterator[tuple[Any, int]]:
    """Yield the objects of a list, or those that follow one another, with their lines."""
    decoder, at = json.JSONDecoder(), 0
    is_list = text.lstrip()[:1] == "["
    at = text.index("[") + 1 if is_list else 0
    while True:
        at = _past(text, at, " \t\r\n\ufeff")
        if text[at : at + 1] == ("]" if is_list else ""):
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise BatchError(
                f"{name} is broken in line {error.lineno}, column {error.colno}: {error.msg}."
            ) from error
        yield found, text.count("\n", 0, at) + 1
        at = _past(text, end, " \t\r\n")
        if is_list and text[at : at + 1] == ",":
            at += 1
        elif is_list and text[at : at + 1] != "]":
            line = text.count("\n", 0, at) + 1
            raise BatchError(f'{name} is broken in line {line}: "," or "]" is missing.')


def _past(text: str, at: int, blanks: str) -> int:
    while at < len(text) and text[at] in blanks:
        at += 1
    return at


def _of_object(form: Mapping[str, Any], folder: Path, graph: Graph, place: str) -> Given:
    """Return one input: the variables themselves, or {"id", "variables"}."""
    wrapped = isinstance(form.get("variables"), Mapping) and set(form) <= {"variables", *_IDS}
    taken = {one.name for one in graph.variables}
    values = dict(form["variables"] if wrapped else form)
    name = ""
    for key in _IDS:
        if key in form and (wrapped or key not in taken):
            name = str(form[key])
            values.pop(key, None) if not wrapped else None
    return name or _name(values, graph), _placed(values, folder, graph), place


def _of_files(form: Mapping[str, Any], folder: Path, graph: Graph, place: str) -> Iterator[Given]:
    """Yield the inputs of {"files": folder or pattern, or a list, "layer", "variables"}."""
    strange = sorted(set(form) - {"files", "layer", "variables"})
    if strange:
        raise BatchError(f'{place}: files take "layer" and "variables", not "{strange[0]}".')
    listed = form["files"] if isinstance(form["files"], list) else [form["files"]]
    found: list[Path] = []
    for one in listed:
        text = _absolute(str(one), folder)
        found += _in_folder(Path(text)) if Path(text).is_dir() else _matching(text)
    common = _placed(dict(form.get("variables") or {}), folder, graph)
    return _files(found, graph, common, str(form.get("layer") or ""))


def _files(
    paths: Iterable[Path], graph: Graph, common: Mapping[str, Any], layer: str
) -> Iterator[Given]:
    takes = layer_names(graph)
    given = [name for name in takes if name not in common]
    variables = [name for name in given if takes[name]]
    open_ones = [one for one in variables if not getattr(graph.variable(one), "default", None)]
    for some in (open_ones, variables, given):
        if not layer and len(some) == 1:
            layer = some[0]
    if layer not in takes:
        listed = ", ".join(takes) or "no layer"
        raise BatchError(
            f"The workflow takes {listed}: say which one the files are, as "
            '{"files": "/data/*.gpkg", "layer": "…"}.'
        )
    for path in paths:
        yield path.stem, {**common, layer: str(path.resolve())}, path.name


def _in_folder(folder: Path) -> list[Path]:
    found = [one for one in folder.iterdir() if one.suffix.lower() in SUFFIXES and one.is_file()]
    if not found:
        raise BatchError(f"{folder} holds no layers. Name the folder that holds the files.")
    return sorted(found)


def _matching(pattern: str) -> list[Path]:
    found = [Path(one) for one in glob.glob(str(Path(pattern).expanduser()), recursive=True)]
    found = [one for one in found if one.is_file() and not one.name.endswith(_BESIDE)]
    if not found:
        raise BatchError(f"There is no file {_short(pattern)}. Name a file, a folder or a pattern.")
    return sorted(found)


def _rows(text: str, path: Path, delimiter: str, graph: Graph) -> Iterator[Given]:
    """Yield the rows of a table; its first line names the variables. A blank cell gives none."""
    head = text.splitlines()[0] if text.strip() else ""
    if delimiter == "," and head.count(";") > head.count(","):
        delimiter = ";"
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    columns: list[str] = []
    for row in rows:
        place = f"{path.name}, line {rows.line_num}"
        if not any(cell.strip() for cell in row):
            continue
        if not columns:
            columns = [cell.strip() for cell in row]
            twice = [name for name in columns if columns.count(name) > 1]
            if twice:
                raise BatchError(f'{place}: there are two columns "{twice[0]}".')
            continue
        if len(row) > len(columns):
            many = f"{len(row)} values, and the first line names {len(columns)}"
            raise BatchError(f"{place} has {many}. Put quotes around values with {delimiter}.")
        cells = {name: cell.strip() for name, cell in zip(columns, row) if cell.strip()}
        yield _of_object(cells, path.parent, graph, place)


def _sheet(path: Path, graph: Graph) -> Iterator[Given]:
    """Yield the rows of the first sheet of a spreadsheet, whose first row names the variables."""
    from osgeo import gdal

    dataset = gdal.OpenEx(str(path), gdal.OF_VECTOR, open_options=["HEADERS=FORCE"])
    sheet = None if dataset is None else dataset.GetLayer(0)
    if sheet is None:
        raise BatchError(f"{path.name} cannot be read: save the table as CSV, then try again.")
    for number, row in enumerate(sheet, 2):
        values = {key: one for key, one in row.items().items() if one not in (None, "")}
        if values:
            yield _of_object(values, path.parent, graph, f"{path.name}, row {number}")


def _placed(values: dict[str, Any], folder: Path, graph: Graph) -> dict[str, Any]:
    """Return the variables with the files of layers as whole paths."""
    layers = layer_names(graph)
    return {
        key: _absolute(one, folder) if key in layers and isinstance(one, str) else one
        for key, one in values.items()
    }


def _absolute(source: str, folder: Path) -> str:
    path = file_of(source)
    if path is None or path.is_absolute():
        return source
    whole = (folder / path).resolve()
    is_there = whole.exists() or "*" in source
    return source.replace(str(path), str(whole), 1) if is_there else source


def _name(values: Mapping[str, Any], graph: Graph) -> str:
    """Return the name of an input without an id: that of its file, else nothing."""
    for name in layer_names(graph):
        path = file_of(values[name]) if isinstance(values.get(name), str) else None
        if path is not None:
            return path.stem
    return ""


def _check(job: Job, graph: Graph) -> None:
    """Refuse variables that the workflow has not, that are missing, or of another kind."""
    asked = {one.id for one in graph.vertices if one.kind.value == "question"}
    try:
        bound(graph, {key: one for key, one in job.flat.items() if key not in asked})
    except VariableError as error:
        raise BatchError(f"{job.place or job.id}: {error}") from error


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BatchError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise BatchError(
            f"{path} is not in UTF-8 (byte {error.start + 1:,}). Save it in that encoding."
        ) from error


def _short(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:100]}…"
