# SPDX-License-Identifier: GPL-2.0-or-later
"""The text by which HDF-EOS files of both generations tell their grids (StructMetadata.0)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .ground import RADIUS, Grid


@dataclass(frozen=True)
class Field:
    """A field of a grid: its name, its type as numpy calls it, its fill value (None for none), and
    how many layers it has (0 for a plain one)."""

    name: str
    kind: str
    fill: int | None = None
    layers: int = 0


@dataclass(frozen=True)
class EosGrid:
    """A grid of an HDF-EOS file with its fields."""

    name: str
    grid: Grid
    fields: Sequence[Field] = field(default=())

    def axes(self, one: Field) -> tuple[str, ...]:
        """Return the names of a field's dimensions."""
        return ("Orbits", "YDim", "XDim") if one.layers else ("YDim", "XDim")


def struct_metadata(grids: Sequence[EosGrid]) -> str:
    """Return the text for some grids in the sinusoidal projection."""
    parts = [_grid(number, one) for number, one in enumerate(grids, start=1)]
    return (
        "GROUP=SwathStructure\nEND_GROUP=SwathStructure\nGROUP=GridStructure\n"
        f"{''.join(parts)}END_GROUP=GridStructure\n"
        "GROUP=PointStructure\nEND_GROUP=PointStructure\nEND\n"
    )


def _grid(number: int, one: EosGrid) -> str:
    grid = one.grid
    right = grid.left + grid.columns * grid.cell
    bottom = grid.top - grid.rows * grid.cell
    layers = max((each.layers for each in one.fields), default=0)
    fields = "".join(_field(place, each, one) for place, each in enumerate(one.fields, start=1))
    return (
        f'\tGROUP=GRID_{number}\n\t\tGridName="{one.name}"\n\t\tXDim={grid.columns}\n'
        f"\t\tYDim={grid.rows}\n\t\tUpperLeftPointMtrs=({grid.left:.6f},{grid.top:.6f})\n"
        f"\t\tLowerRightMtrs=({right:.6f},{bottom:.6f})\n\t\tProjection=GCTP_SNSOID\n"
        f"\t\tProjParams=({RADIUS:.6f},0,0,0,0,0,0,0,0,0,0,0,0)\n\t\tSphereCode=-1\n"
        f"\t\tGROUP=Dimension\n{_dimension(layers)}\t\tEND_GROUP=Dimension\n"
        f"\t\tGROUP=DataField\n{fields}\t\tEND_GROUP=DataField\n"
        f"\t\tGROUP=MergedFields\n\t\tEND_GROUP=MergedFields\n\tEND_GROUP=GRID_{number}\n"
    )


def _dimension(layers: int) -> str:
    if not layers:
        return ""
    return (
        '\t\t\tOBJECT=Dimension_1\n\t\t\t\tDimensionName="Orbits"\n'
        f"\t\t\t\tSize={layers}\n\t\t\tEND_OBJECT=Dimension_1\n"
    )


def _field(number: int, one: Field, grid: EosGrid) -> str:
    axes = ",".join(f'"{name}"' for name in grid.axes(one))
    return (
        f'\t\t\tOBJECT=DataField_{number}\n\t\t\t\tDataFieldName="{one.name}"\n'
        f"\t\t\t\tDataType=DFNT_{one.kind.upper()}\n\t\t\t\tDimList=({axes})\n"
        f"\t\t\tEND_OBJECT=DataField_{number}\n"
    )
