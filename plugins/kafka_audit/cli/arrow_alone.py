"""Arrow without pandas, which it imports for its first texts wherever pandas is installed, as it is beside Spark and Airflow."""

import sys
from importlib.abc import MetaPathFinder

import pyarrow as pa

PANDAS = "pandas"


class _NoPandas(MetaPathFinder):
    """Finds that pandas is not installed."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == PANDAS:
            raise ModuleNotFoundError(name=name)


def hide_pandas() -> None:
    """Let Arrow find no pandas in this process, where no table becomes a frame: it looks once, and the import takes 0.3 s."""
    if PANDAS in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([""])
    finally:
        sys.meta_path.remove(finder)
