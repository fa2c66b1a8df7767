"""All cases of all checks at once: what differs is computed by one pass over all of them, then each check is a plain call."""

import pytest

from checks.cases import BLIND, Judged, base, cases, every_case, preset
from checks.world import row_judgements, snapshots
from cluster_views import cluster_views
from kafka_audit.checks import catalogue
from kafka_audit.checks.run import judge


def _codes(items: list[pytest.Item]) -> set[str]:
    found = set()
    for item in items:
        told = getattr(getattr(item, "callspec", None), "params", {})
        found |= {told.get("code"), getattr(told.get("check"), "code", None)}
    return found - {None}


@pytest.fixture(scope="session")
def judged(request) -> Judged:
    """Every check that selected tests are about (`-k KA101`), on its cases and every blind world; those of the gate too."""
    wanted = _codes(request.session.items)
    checks = {code: check for code, check in catalogue().items() if code in wanted}
    worlds = {f"{code}-{name}": cases(code)[name] for code, name in every_case() if code in checks} | BLIND
    views = cluster_views({name: snapshots(base(), name, case) for name, case in worlds.items()})
    judged = Judged(views=views)
    for name, case in worlds.items():
        own = checks if name in BLIND else {code: check for code, check in checks.items() if name.startswith(f"{code}-")}
        if name.startswith("KA302-"):
            preset(views[name], row_judgements(base(), name, case))
        for kind in ("audit", "gate"):
            for one in judge(views[name], own, kind=kind):
                judged.told[one.snapshot_id, one.code].append(one)
    return judged
