# SPDX-License-Identifier: GPL-2.0-or-later
"""HDF-EOS files, written field by field and block by block: HDF4 by pyhdf as MODIS products are,
HDF5 by h5py as those of VIIRS."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy

from ...tools.package import package
from .struct_metadata import EosGrid, Field, struct_metadata

_NEED, _ELSE = "A generated HDF file", "install it by pip"


class Eos2File:
    """An HDF4 file in the form of HDF-EOS 2. Raises LastingError when pyhdf is missing."""

    def __init__(self, path: Path, grids: Sequence[EosGrid]) -> None:
        self._path, self._grids = path, grids
        self._sd = package("pyhdf.SD", _NEED, _ELSE)
        constants = self._sd.SDC
        self._file = self._sd.SD(str(path), constants.WRITE | constants.CREATE | constants.TRUNC)
        self._file.attr("HDFEOSVersion").set(constants.CHAR, "HDFEOS_V2.19")
        self._file.attr("StructMetadata.0").set(constants.CHAR, struct_metadata(grids))
        self._sets = {
            (grid.name, one.name): self._made(grid, one) for grid in grids for one in grid.fields
        }

    def __enter__(self) -> Eos2File:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        references = {key: one.ref() for key, one in self._sets.items()}
        for one in self._sets.values():
            one.endaccess()
        self._file.end()
        if error is None:
            self._group(references)

    def write(self, grid: str, name: str, row: int, values: Any, layer: int = 0) -> None:
        """Write rows of a field from `row` on; `layer` counts from 0 where it has several."""
        target = self._sets[grid, name]
        values = numpy.ascontiguousarray(values, dtype=self._kind(grid, name))
        if len(target.info()[2]) > 2:
            target[layer : layer + 1, row : row + len(values), :] = values[None]
        else:
            target[row : row + len(values), :] = values

    def _kind(self, grid: str, name: str) -> str:
        found = next(one for one in self._grids if one.name == grid)
        return next(one.kind for one in found.fields if one.name == name)

    def _made(self, grid: EosGrid, one: Field) -> Any:
        constants = self._sd.SDC
        kind = getattr(constants, one.kind.upper())
        shape = (grid.grid.rows, grid.grid.columns)
        made = self._file.create(one.name, kind, (one.layers, *shape) if one.layers else shape)
        for place, name in enumerate(grid.axes(one)):
            made.dim(place).setname(f"{name}:{grid.name}")
        if one.fill is not None:
            made.attr("_FillValue").set(kind, one.fill)
        return made

    def _group(self, references: dict[tuple[str, str], int]) -> None:
        """Put the fields into the groups by which HDF-EOS finds them."""
        hdf = package("pyhdf.HDF", _NEED, _ELSE)
        package("pyhdf.V", _NEED, _ELSE)  # HDF.vgstart needs it
        file = hdf.HDF(str(self._path), hdf.HC.WRITE)
        groups = file.vgstart()
        for grid in self._grids:
            whole = groups.create(grid.name)
            whole._class = "GRID"
            parts = []
            for name in ("Data Fields", "Grid Attributes"):
                part = groups.create(name)
                part._class = "GRID Vgroup"
                whole.insert(part)
                parts.append(part)
            for one in grid.fields:
                parts[0].add(hdf.HC.DFTAG_NDG, references[grid.name, one.name])
            for part in (*parts, whole):
                part.detach()
        groups.end()
        file.close()


class Eos5File:
    """An HDF5 file in the form of HDF-EOS 5. Raises LastingError when h5py is missing."""

    def __init__(self, path: Path, grids: Sequence[EosGrid]) -> None:
        h5py = package("h5py", _NEED, _ELSE)
        self._file = h5py.File(str(path), "w")
        self._sets = {
            (grid.name, one.name): self._made(grid, one) for grid in grids for one in grid.fields
        }
        told = self._file.create_group("HDFEOS INFORMATION")
        told.attrs["HDFEOSVersion"] = numpy.bytes_("HDFEOS_5.1.15")
        told.create_dataset("StructMetadata.0", data=numpy.bytes_(struct_metadata(grids)))

    def __enter__(self) -> Eos5File:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._file.close()

    def write(self, grid: str, name: str, row: int, values: Any) -> None:
        """Write rows of a field from `row` on."""
        self._sets[grid, name][row : row + len(values), :] = values

    def _made(self, grid: EosGrid, one: Field) -> Any:
        group = self._file.require_group(f"HDFEOS/GRIDS/{grid.name}/Data Fields")
        shape = (grid.grid.rows, grid.grid.columns)
        made = group.create_dataset(
            one.name, shape, one.kind, compression="gzip", track_times=False
        )
        if one.fill is not None:
            made.attrs["_FillValue"] = numpy.array([one.fill], one.kind)
        return made
