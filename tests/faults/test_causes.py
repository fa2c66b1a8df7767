"""Each case of each cause: what was observed for it and against it, and what then leads."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from checks.cases import base
from checks.world import snapshots
from cluster_views import cluster_views
from kafka_audit import faults
from kafka_audit.faults.fault import known_faults
from kafka_audit.faults.solver import Diagnosis, WeighedFault, coordinating, diagnoses_into, following

FOLDER = Path(faults.__file__).parent


def _cases() -> dict[str, dict[str, Any]]:
    found = {}
    for path in sorted(FOLDER.glob("*/*.yaml")):
        raw = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        assert raw["fault"] == path.stem
        found |= {f"{path.stem}-{name}": {"world": raw.get("world", {})} | case for name, case in raw["cases"].items()}
    return found


CASES = _cases()


@pytest.fixture(scope="module")
def diagnosed() -> dict[str, Diagnosis]:
    views = cluster_views({name: snapshots(base(), name, case) for name, case in CASES.items()})
    found = {}
    for name, case in CASES.items():
        kind, target = case["edge"].split()
        view, broker = views[name], int(target)
        held = [*diagnoses_into(view, broker), following(view, broker), coordinating(view, broker)]
        (found[name],) = [one for one in held if one.edge.kind == kind]
    return found


def candidate(found: Diagnosis, name: str) -> WeighedFault:
    return next(one for one in found.candidates if one.fault.name == name)


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_observed_as_written(diagnosed, name):
    case, found = CASES[name], candidate(diagnosed[name], name.partition("-")[0])
    observed = {"shown": found.shown_by, "against": found.against, "left_open": found.left_open_by}
    for key, rows in observed.items():
        texts = [row.text for row in rows]
        assert [words for words in case.get(key, []) if not any(words in text for text in texts)] == [], (key, texts)
    assert bool(found.shown_by) is ("shown" in case), [row.text for row in found.shown_by]
    assert bool(found.against) is ("against" in case), [row.text for row in found.against]
    leading = diagnosed[name].leading
    assert (f"{leading.fault.group} {leading.confidence.value}" if leading else "none") == case["leading"]


def test_what_a_cluster_cannot_have_is_no_candidate(diagnosed):
    found = {name: {one.fault.name for one in diagnosed[name].candidates} for name in CASES}
    assert "migration_lost_update" not in found["unreachable_address-a_probe_from_the_controller_fails"]
    assert "migration_lost_update" in found["migration_lost_update-every_view_is_new"]


def test_each_cause_has_a_case_that_shows_it_or_leaves_it_open_and_a_near_one():
    for fault in known_faults():
        own = [case for name, case in CASES.items() if name.startswith(f"{fault.name}-")]
        assert any("shown" in case or "against" not in case for case in own), fault.name
        assert any("near" in case for case in own), fault.name
        assert fault.observe.__doc__, fault.name


@pytest.mark.parametrize("name", CASES)
def test_what_is_ruled_out_has_an_observation_against_it_and_what_is_not_says_what_would_decide(diagnosed, name):
    for one in diagnosed[name].candidates:
        assert one.possible or one.against
        assert one.decided_by
        assert "{" not in one.decided_by
