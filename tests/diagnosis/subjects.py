"""The clusters whose diagnoses are judged: every case of a check, the clusters of the incidents' cases, recorded real ones."""

from functools import cache
from pathlib import Path

from checks.cases import base, cases
from checks.world import snapshots
from diagnosis.documents import Pair
from incidents.case_files import case_files
from small_cluster import snapshot
from testbed.corpus.recorded import SUFFIX, unpacked

FOLDER = Path(__file__).parent / "clusters"


OF_EDGES = [
    "KA001",
    "KA101",
    "KA105",
    "KA106",
    "KA107",
    "KA111",
    "KA113",
    "KA202",
    "KA209",
    "KA210",
    "KA216",
    "KA301",
    "KA302",
    "KA303",
    "KA304",
    "KA305",
    "KA401",
    "KA403",
    "KA404",
    "KA408",
    "KA412",
    "KA501",
]
"""Checks that are about edges between parties, or about what a broken one leaves in views."""


@cache
def of_checks() -> dict[str, Pair]:
    """Return the snapshots of each case of these checks."""
    wanted = ((code, case, f"{code}-{case}") for code in OF_EDGES for case in cases(code))
    return {name: snapshots(base(), name, cases(code)[case]) for code, case, name in wanted}


@cache
def of_incidents() -> dict[str, Pair]:
    """Return the snapshot of each case of incidents; what its findings would be, checks say."""
    named = {"-".join(key): case["cluster"] for key, case in case_files().items()}
    return {name: (snapshot(cluster, name), None) for name, cluster in named.items()}


def every() -> dict[str, Pair]:
    """Return all of them by name."""
    return {**of_checks(), **of_incidents(), **recorded()}


@cache
def recorded() -> dict[str, Pair]:
    """Return the snapshots of real clusters, as `python -m testbed.corpus.recorder` wrote them."""
    return {path.name.removesuffix(SUFFIX): unpacked(path.read_bytes()) for path in sorted(FOLDER.glob(f"*{SUFFIX}"))}
