# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether points are clustered, random or spread evenly, by the nearest neighbour index."""

from __future__ import annotations

from typing import Any

from . import argument, wording
from .base import Family, MendableError, ToolDefinition, ToolResult
from .chain import Chain
from .context import Context
from .distance import metric_for, needs_crs
from .registry import Unchecked

_SURE = 1.96
_FEWEST = 3


class Clustering(Unchecked):
    """Computes the nearest neighbour index (Clark and Evans 1954)."""

    definition = ToolDefinition(
        "clustering",
        "Tell whether points are clustered, random or evenly spread: nearest neighbour index, z "
        "score, mean distance in metres. Makes no layer.",
        argument.arguments({"layer": argument.layer(Family.POINT.value)}, ["layer"]),
        label="Clustering of points",
    )

    def run(self, arguments: dict[str, Any], context: Context) -> ToolResult:
        """Run the analysis in a metric CRS."""
        source = context.vector(arguments["layer"], Family.POINT)
        needs_crs(source, "distances between its points cannot be measured")
        if source.features < _FEWEST:
            raise MendableError(f"{source.key} has fewer than {_FEWEST} points: too few to tell.")
        system = metric_for(source, context.call)
        if system is None:
            raise MendableError(f"{source.key} is too wide for this: take a part of it by filter.")
        with Chain(context) as chain:
            layer = source.id
            if system != source.crs:
                layer = chain.step("native:reprojectlayer", {"INPUT": layer, "TARGET_CRS": system})
            values = chain.values("native:nearestneighbouranalysis", {"INPUT": layer})
        index, score = float(values["NN_INDEX"]), float(values["Z_SCORE"])
        pattern = "random"
        if abs(score) >= _SURE:
            pattern = "clustered" if index < 1 else "evenly spread"
        numbers = {
            "index": index,
            "z_score": score,
            "mean_distance": float(values["OBSERVED_MD"]),
            "expected_distance": float(values["EXPECTED_MD"]),
            "count": float(values["POINT_COUNT"]),
        }
        shown = ", ".join(f"{key} = {wording.number(one)}" for key, one in numbers.items())
        return ToolResult(
            f"The points of {source.key} are {pattern}: {shown}.",
            numbers=numbers,
            texts={"pattern": pattern},
            units={"mean_distance": "m", "expected_distance": "m"},
            algorithm="native:nearestneighbouranalysis",
            parameters={"INPUT": source.id},
        )
