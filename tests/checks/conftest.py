"""All cases of all checks at once: what differs is computed by one pass over all of them, then each check is a plain call."""

import pytest

from checks.cases import WORLDS, Judged, among_others, base, cases, every_case, near_cases
from checks.populated import populated
from checks.world import merged, snapshots
from cluster_views import cluster_views
from kafka_audit.checks import catalogue
from kafka_audit.checks.run import judge
from testbed.population.contents import FEW


def _codes(items: list[pytest.Item]) -> set[str]:
    found = set()
    for item in items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        found |= {params.get("code"), getattr(params.get("check"), "code", None)}
    return found - {None}


@pytest.fixture(scope="session")
def judged(request) -> Judged:
    """Every check that selected tests are about (`-k KA101`), on its cases and every other world; those of the gate too."""
    wanted = _codes(request.session.items)
    checks = {code: check for code, check in catalogue().items() if code in wanted}
    worlds = {f"{code}-{name}": cases(code)[name] for code, name in every_case() if code in checks} | WORLDS
    others = merged(base(), populated(FEW))
    near = {among_others(code, name): cases(code)[name] for code, name in near_cases() if code in checks}
    pairs = {name: snapshots(base(), name, case) for name, case in worlds.items()}
    views = cluster_views(pairs | {name: snapshots(others, name, case) for name, case in near.items()})
    judged = Judged(views=views)
    for name in worlds | near:
        own = checks if name in WORLDS else {code: check for code, check in checks.items() if name.startswith(f"{code}-")}
        for kind in ("audit", "gate"):
            for judgement in judge(views[name], own, kind=kind):
                judged.judgements[judgement.snapshot_id, judgement.code].append(judgement)
    return judged
