# SPDX-License-Identifier: GPL-2.0-or-later
"""Algorithms run one after another on layers that no project holds."""

from __future__ import annotations

from typing import Any

from qgis.core import QgsMapLayer

from . import execution
from .context import Context
from .crs import settle


class Chain:
    """The layers between the steps, let go of on the main thread when the chain ends.

    A step is named by the text that `step` gives, which the parameters of later ones may hold in
    place of a layer. Used on the thread that computes, as a context manager.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._layers: dict[str, QgsMapLayer] = {}

    def __enter__(self) -> Chain:
        return self

    def __exit__(self, *_: object) -> None:
        self._context.call(self._layers.clear)

    def add(self, layer: QgsMapLayer) -> str:
        """Take in a layer that was made otherwise."""
        name = f"?step {len(self._layers)}"
        self._layers[name] = layer
        self._context.call(lambda: settle(layer))
        return name

    def step(self, algorithm: str, parameters: dict[str, Any], output: str = "OUTPUT") -> str:
        """Run one step and return the name of its layer. Raises as execution.run does."""
        given = {key: self._meant(value) for key, value in parameters.items()}
        outcome = execution.run(algorithm, {**given, output: "TEMPORARY_OUTPUT"}, self._context)
        return self.add(outcome.layers[output])

    def values(self, algorithm: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Run a step that gives numbers and no layer. Raises as execution.run does."""
        given = {key: self._meant(value) for key, value in parameters.items()}
        return execution.run(algorithm, given, self._context).values

    def take(self, name: str) -> QgsMapLayer:
        """Return the layer of a step, which the chain no longer holds."""
        return self._layers.pop(name)

    def _meant(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._meant(one) for one in value]
        return self._layers.get(value, value) if isinstance(value, str) else value
