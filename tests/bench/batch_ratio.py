# SPDX-License-Identifier: GPL-2.0-or-later
"""A batch over the same inputs on two workers beside one, cluster and QGIS processes started anew
each time."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geo_olm.plugin.batch.job import Job
from geo_olm.plugin.batch.work import Batch, plan_of
from geo_olm.plugin.place import world_map
from geo_olm.plugin.settings import Settings
from geo_olm.plugin.workflow.graph import Graph, Type, Variable, Vertex
from geo_olm.plugin.workflow.value import Asked, Output

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]
_INPUTS = 16


class _Quiet:
    """Hears a batch and says nothing."""

    def isCanceled(self) -> bool:
        return False

    def setProgress(self, percent: float) -> None:
        pass

    def pushInfo(self, text: str) -> None:
        pass

    def pushWarning(self, text: str) -> None:
        raise RuntimeError(text)


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """Give the comparison over lines of the world map, divided, and the centres of the parts."""
    parts = {"INPUT": Asked("places"), "MAX_NODES": Asked("nodes")}
    divide = {"algorithm": "native:subdivide", "parameters": parts}
    places = Vertex("places", "vector", tool="run_algorithm", parameters=divide)
    centres = {"algorithm": "native:centroids", "parameters": {"INPUT": Output("places")}}
    whole = Vertex("whole", "vector", tool="run_algorithm", parameters=centres)
    graph = Graph("", (places, whole), (Variable("places", Type.LAYER),
                                        Variable("nodes", Type.NUMBER)))  # fmt: skip
    source = f"{world_map()}|layername=disputed_borders"
    jobs = [Job(f"j{n}", {"places": source, "nodes": 100 + n}) for n in range(_INPUTS)]
    with tempfile.TemporaryDirectory() as folder:

        def run(workers: int) -> None:
            out = Path(folder, "out")
            record = Batch(graph, Settings(), plan_of(workers, ""), out, _Quiet()).run(jobs)
            if record["status"] != "ok":
                raise RuntimeError(str(record["failures"]))
            shutil.rmtree(out)

        yield [(f"a batch over {_INPUTS} inputs on two workers beside one",
                lambda: run(2), lambda: run(1))]  # fmt: skip
