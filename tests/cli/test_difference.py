"""What `diff` prints."""

from kafka_audit.cli.printing import difference
from reported import report_of


def _finding(code, status, lifecycle, *, resource="cluster", **more):
    return {
        "code": code,
        "status": status,
        "lifecycle": lifecycle,
        "resource": {"name": resource},
    } | {"severity": "HIGH", "muted": False, "message": "m", **more}


def _document(findings=(), changes=()):
    return {
        "cluster": "prod",
        "previous_snapshot_id": "A",
        "snapshot_id": "B",
        "findings": list(findings),
        "changes": list(changes),
    }


def test_changes_and_what_became_of_each_failure():
    document = _document(
        [
            _finding("KA301", "FAIL", "new", resource="broker/2/listener/X"),
            _finding("KA101", "FAIL", "new", severity="CRITICAL", resource="broker/2", message="stale"),
            _finding("KA607", "FAIL", "ongoing", severity="LOW", muted=True),
            _finding("KA105", "PASS", "resolved"),
            _finding("KA107", "UNKNOWN", "incomparable"),
            _finding("KA303", "PASS", "ongoing"),
            _finding("KA202", "UNKNOWN", "new"),
        ],
        [
            {"kind": "leader_moved", "resource": "topic/t/partition/0", "before": "1", "after": "2"},
            {"kind": "topic_created", "resource": "topic/u", "before": None, "after": "3 partitions"},
            {"kind": "broker_went", "resource": "broker/2", "before": None, "after": None},
        ],
    )
    assert (
        difference.difference_text(report_of(document), color=False, width=200)
        == """\
prod: A -> B

3 changes
  leader moved: topic/t/partition/0  1 -> 2
  topic created: topic/u  - -> 3 partitions
  broker went: broker/2

New (2)
  CRITICAL  KA101  broker/2: stale
  HIGH      KA301  broker/2/listener/X: m

Ongoing (1)
  LOW       KA607  cluster (muted): m

Resolved (1)
  was HIGH  KA105  cluster: m

Failed before, unknown now (1)
  HIGH      KA107  cluster: m"""
    )


def test_two_healthy_snapshots():
    assert (
        difference.difference_text(report_of(_document([_finding("KA101", "PASS", "ongoing")])), color=False, width=200)
        == """\
prod: A -> B

0 changes

No failures in either snapshot."""
    )


def test_what_a_cluster_said_cannot_act_on_the_terminal():
    document = _document(
        [_finding("KA107", "FAIL", "new", resource="topic/\x1b[2J", message="\u202e")],
        [{"kind": "topic_created", "resource": "topic/\r\x1b]0;x\x07", "before": "\x1b", "after": "\n"}],
    )
    text = difference.difference_text(report_of(document), color=False, width=200)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert len(text.splitlines()) == 7


def test_colour_marks_headings_only():
    document = _document([_finding("KA101", "FAIL", "new")])
    painted = difference.difference_text(report_of(document), color=True, width=200)
    assert "\x1b[1mNew (1)\x1b[0m" in painted
    assert painted.replace("\x1b[1m", "").replace("\x1b[0m", "") == difference.difference_text(
        report_of(document), color=False, width=200
    )
