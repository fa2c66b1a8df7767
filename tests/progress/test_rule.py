"""One rule for all kinds: what moves, what stands still, and what is not known yet; audits continue each other's count."""

from pathlib import Path

import pytest
import yaml
from msgspec import structs

from checks.cases import base
from checks.world import snapshots
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES
from kafka_audit.model.progress import progress_kinds
from kafka_audit.progress.rule import Observed, ProgressTimes, judged
from kafka_audit.progress.words import summary

MINUTE_MS = 60_000
ROOT = Path(__file__).parents[2]


def times(reported=(), **case):
    view = ClusterView(*snapshots(base(), "case", case), Differences.from_rows(DIFFERENCES, ()))
    view.reported_progress = tuple(reported)
    return ProgressTimes(view)


def observed(**what):
    return Observed(
        **{"kind": "reassignment", "parties": ("topic/a/partition/0",), "what": "reassignment of a-0", "now": 5} | what
    )


def ago(minutes):
    return {"info": {"started_ms": base()["info"]["started_ms"] + 6000 - round(minutes * MINUTE_MS)}}


@pytest.mark.parametrize(
    ("previous", "what", "state", "minutes"),
    [
        (None, {"sample": 4}, "moving", None),
        (None, {"sample": 5}, "unknown", None),
        (None, {}, "unknown", None),
        (ago(60), {"was_there": True, "snapshot": 5}, "standing", 60),
        (ago(60), {"was_there": True, "snapshot": 5, "sample": 4}, "moving", None),
        (ago(60), {"was_there": True, "snapshot": 3, "sample": 5}, "moving", None),
        (ago(60), {"was_there": True, "snapshot": 5, "moved": True}, "moving", None),
        (ago(0.5), {"was_there": True, "snapshot": 5}, "unknown", 0),
        (ago(60), {"was_there": True, "snapshot": 5, "minutes": 90}, "unknown", 60),
        (ago(60), {"was_there": True, "now": None, "snapshot": 5}, "unknown", None),
        (None, {"now": "PrepareCommit", "began_ms": base()["info"]["started_ms"] - 20 * MINUTE_MS}, "standing", 20),
    ],
)
def test_state(previous, what, state, minutes):
    row = judged(times(**({} if previous is None else {"previous": previous})), observed(**what))
    assert (row.state, row.unchanged_minutes) == (state, minutes)
    assert (row.not_known != "") == (state == "unknown")


def test_audits_every_half_minute_find_what_stands_for_longer():
    first = judged(times(previous=ago(0.5)), observed(was_there=True, snapshot=5))
    assert (first.state, first.unchanged_minutes) == ("unknown", 0)
    counted = structs.replace(first, since="2023-11-14T21:00:00Z", unchanged_since="2023-11-14T22:00:00Z")  # 75, 15 minutes ago
    later = judged(times([counted], previous=ago(0.5)), observed(was_there=True, snapshot=5))
    assert (later.state, later.unchanged_minutes, later.minutes) == ("standing", 15, 75)
    moved = judged(times([counted], previous=ago(0.5)), observed(now=6, was_there=True, snapshot=5))
    assert (moved.state, moved.unchanged_since, moved.minutes) == ("moving", None, 75)


def test_what_has_a_start_of_its_own_is_not_as_old_as_another_one_at_the_same_place():
    began_ms = base()["info"]["started_ms"] - 3 * MINUTE_MS
    reported = judged(times(previous=ago(30)), observed(was_there=True, snapshot=5))
    row = judged(times([reported], previous=ago(10)), observed(now="begun 2", was_there=True, snapshot=5, began_ms=began_ms))
    assert (row.minutes, reported.minutes) == (3, 30)


@pytest.mark.parametrize("time", ["yesterday", "", "0001-01-01T00:00:00"])
def test_a_report_of_another_party_may_have_any_text_for_a_time(time):
    row = judged(times(previous=ago(60)), observed(was_there=True, snapshot=5))
    reported = structs.replace(row, since=time, unchanged_since=time)
    assert judged(times([reported], previous=ago(60)), observed(was_there=True, snapshot=5)).state == "standing"


def test_the_cluster_file_sets_what_is_ordinary():
    row = judged(times(now={"ordinary": {"reassignment": 90}}, previous=ago(60)), observed(was_there=True, snapshot=5))
    assert (row.state, row.not_known) == (
        "unknown",
        "not moved for 60 minutes, which is ordinary up to 90 minutes; audit again in 30 minutes",
    )


def test_an_estimate_is_what_is_left_at_the_speed_of_what_was_left():
    moving = observed(was_there=True, now=41, snapshot=21, left=60, left_before=80, whole=101)
    row = judged(times(previous=ago(10)), moving)
    assert (row.share, row.minutes_left) == (0.4059, 30)
    assert summary(row) == "Reassignment of a-0: 41 % after 10 minutes, about 30 more"
    slower = observed(was_there=True, now=41, snapshot=21, left=90, left_before=80, whole=131)
    assert summary(judged(times(previous=ago(10)), slower)).endswith(
        "31 % after 10 minutes, about 90 more, once less is produced"
    )
    loaded = observed(was_there=True, now=41, snapshot=21, left=60, left_before=62, whole=101)
    assert judged(times(previous=ago(10)), loaded).minutes_left == 60


def test_each_kind_has_a_source_and_is_documented():
    documented = (ROOT / "docs" / "progress.md").read_text()
    for name, kind in progress_kinds().items():
        assert kind.source
        assert kind.why
        assert f"| `{name}` |" in documented
    example = yaml.safe_load((ROOT / "clusters.example.yaml").read_text())["clusters"]["prod"]["progress"]
    assert example == {name: kind.minutes for name, kind in progress_kinds().items()}
