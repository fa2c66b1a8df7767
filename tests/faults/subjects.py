"""The clusters whose diagnoses are judged: every case of a check, the clusters of the incidents' cases, recorded real ones."""

from collections.abc import Iterable
from functools import cache

import pytest

from checks.cases import base, cases
from checks.cases import case_files as case_files_of_checks
from checks.world import snapshots
from incidents.case_files import pair
from incidents.test_causes import KEYS
from testbed.corpus import confusion
from testbed.corpus.documents import Pair
from testbed.corpus.recorded import CLUSTERS, SUFFIX, recordings, unpacked


@cache
def names() -> tuple[str, ...]:
    """Return the names of all, and make no cluster: each worker collects the tests, and one of them runs them."""
    return tuple(dict.fromkeys([*_cases_of_checks(), *KEYS, *recorded_names()]))


@cache
def every() -> dict[str, Pair]:
    """Return all of them by name."""
    return {**_of_checks(), **_of_incidents(), **{name: recording(name) for name in recorded_names()}}


@cache
def recorded_names() -> tuple[str, ...]:
    """Return the real clusters: healthy ones, and the last recording of each cause; `test_confusion` judges all."""
    found = [name for name in recordings() if (CLUSTERS / f"{name}{SUFFIX}").is_file()]
    return tuple({(recordings()[name].broken_by or (name,))[0]: name for name in found}.values())


def _cases_of_checks() -> dict[str, tuple[str, str]]:
    """Return each case of the checks of edges, or of what a broken one leaves: `edges: true` in their files."""
    of_edges = [code for code, (_, raw) in sorted(case_files_of_checks().items()) if raw.get("edges")]
    return {f"{code}-{case}": (code, case) for code in of_edges for case in cases(code)}


def _of_checks() -> dict[str, Pair]:
    return {name: snapshots(base(), name, cases(code)[case]) for name, (code, case) in _cases_of_checks().items()}


def _of_incidents() -> dict[str, Pair]:
    return {name: pair(key, name) for name, key in KEYS.items()}


_JUDGED: confusion.Verdicts = {}


def verdicts(names: Iterable[str]) -> confusion.Verdicts:
    """Return what is said of recorded clusters; each is judged once in a process."""
    wanted = [*names]
    _JUDGED.update(confusion.judged(name for name in wanted if name not in _JUDGED))
    return {name: _JUDGED[name] for name in wanted}


def selected(request: pytest.FixtureRequest) -> set[str]:
    """Return the parameters `name` of the tests of a file that run."""
    specs = (getattr(item, "callspec", None) for item in request.session.items if item.path == request.path)
    return {spec.params["name"] for spec in specs if spec and "name" in spec.params}


def recording(name: str) -> Pair:
    """Return the snapshots of any recorded cluster."""
    return unpacked((CLUSTERS / f"{name}{SUFFIX}").read_bytes())
