# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes generated worlds: SEED, SIZE (several by commas) and OUT come from the environment, and
TABLE, a table of cities to make questions of.

It runs without QGIS, on Python with GDAL, numpy, pyhdf and h5py.
"""

import os
import sys
from pathlib import Path

from failure import FAILED, OK, WRONG_USE, FailureError, run, say

sys.path.insert(0, os.environ.get("QGIS_PLUGINPATH", ""))


def main() -> int:
    """Make the worlds and print where the tasks are."""
    from geo_olm.plugin.world.city_table import TableError
    from geo_olm.plugin.world.size import SIZES
    from geo_olm.plugin.world.world import make_table, make_worlds
    from geo_olm.tools.base import ToolError

    seed = os.environ.get("SEED") or "1"
    if not seed.isdecimal():
        raise FailureError("SEED is a whole number.", WRONG_USE)
    names = [one.strip() for one in (os.environ.get("SIZE") or "small").split(",") if one.strip()]
    unknown = [one for one in names if one not in SIZES]
    if unknown or not names:
        wrong = ", ".join(unknown) or "empty"
        raise FailureError(f"SIZE {wrong} is unknown: say {', '.join(SIZES)}.", WRONG_USE)
    if not os.environ.get("OUT", "").strip():
        raise FailureError("OUT is missing: make world SEED=1 SIZE=small OUT=folder", WRONG_USE)
    out = (Path.cwd() / os.environ["OUT"]).resolve()
    table = os.environ.get("TABLE", "").strip()
    if table and not (Path.cwd() / table).is_file():
        raise FailureError(f"There is no table {table}; look at TABLE.", WRONG_USE)
    try:
        out.mkdir(parents=True, exist_ok=True)
        tasks = make_worlds(int(seed), [SIZES[one] for one in dict.fromkeys(names)], out, say)
        if table:
            print(make_table(Path.cwd() / table, out))
    except TableError as error:
        raise FailureError(str(error), WRONG_USE) from error
    except ToolError as error:
        raise FailureError(error.message, FAILED) from error
    except (OSError, RuntimeError) as error:
        raise FailureError(f"The world could not be written: {error}", FAILED) from error
    print(tasks)
    return OK


if __name__ == "__main__":
    sys.exit(run(main))
