"""The cases of a property that `make test` tries; `make integration` tries the others."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def sampled(values: Collection[Any], every: int = 10, ids: Iterable[str] | None = None) -> list[Any]:
    """Return params of all values, tuples as several arguments: one of so many as usual, the others as parts of the large run."""
    names = [None] * len(values) if ids is None else list(ids)
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), id=name, marks=[pytest.mark.large] if at % every else [])
        for at, (value, name) in enumerate(zip(values, names, strict=True))
    ]
