# SPDX-License-Identifier: GPL-2.0-or-later
"""A place by its name, found in the texts of the project's layers."""

from __future__ import annotations

from qgis.core import QgsCoordinateReferenceSystem, QgsGeometry

from .base import Family, MendableError
from .context import Context
from .place_name import alike
from .source import VectorSource, plain
from .spelling import listed

_MOST_FEATURES = 200_000
_PREFERRED = (Family.POLYGON, Family.VECTOR, Family.LINE, Family.POINT)


def place_named(name: str, context: Context) -> tuple[QgsGeometry, QgsCoordinateReferenceSystem]:
    """Return the geometry of the features called `name` and its CRS, of polygons before others.

    Catalogues of scenes are passed over. Raises MendableError for none, and where several layers
    of one kind know the name.
    """
    sources = [
        one
        for one in context.sources()
        if isinstance(one, VectorSource) and one.crs.isValid() and not _is_catalogue(one)
        and not one.is_selection() and 0 <= one.features <= _MOST_FEATURES
    ]  # fmt: skip
    for family in _PREFERRED:
        found = []
        for source in sources:
            if source.family is family:
                shapes = _called(source, name, context)
                if shapes:
                    found.append((source, shapes))
        if len(found) > 1:
            keys = listed([source.key for source, _ in found])
            raise MendableError(
                f"{name} is in several layers: {keys}. Filter one of them and give it as area."
            )
        if found:
            source, shapes = found[0]
            context.note(f"{name} was found in {source.key}.")
            return QgsGeometry.unaryUnion(shapes), source.crs
    raise MendableError(f'No layer of this project has a feature called "{name}".')


def _is_catalogue(source: VectorSource) -> bool:
    return {"scene", "measures", "subdataset"} <= set(source.names())


def _called(source: VectorSource, name: str, context: Context) -> list[QgsGeometry]:
    texts = [one for one in source.names() if source.type_of(one) == "text"]
    if not texts:
        return []
    return [
        QgsGeometry(feature.geometry())
        for feature in source.rows(context.cancelled, geometry=True, only=texts)
        if feature.hasGeometry() and alike(name, [str(plain(feature[one]) or "") for one in texts])
    ]
