"""One message when something begins to stand still, one when it moves again, and none between."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from checks.cases import base
from checks.world import snapshots
from cluster_views import cluster_views
from kafka_audit.alerting.conditions import AlertLimits, AuditResult
from kafka_audit.alerting.dedupe_state import DedupeState
from kafka_audit.alerting.policy import decide_alert
from kafka_audit.checks.run import judge
from kafka_audit.incidents import causes
from kafka_audit.incidents.findings import findings_with_lifecycle
from kafka_audit.report.document import build_report

HOUR_MS = 3_600_000
OFFSETS = {0: {"replicas": [0, 1, 2]}}
WORLD = {"topics": {"__consumer_offsets": {"topic_id": "o", "czxid": 500, "mzxid": 500, "partitions": OFFSETS}}}
STORY = [  # the epoch of a group of Kafka Streams that is not ready, None where it is; and what is sent
    (None, []),
    (3, []),
    (4, []),
    (4, ["NEW"]),
    (4, []),
    ("not read", []),
    (4, []),
    (5, ["RESOLVED"]),
    (6, []),
    (None, []),
]


def rebalancing(epoch):
    waits = {"at": 0, "kind": "streams", "state": "NotReady", "members": 2, "epochs": [epoch, epoch]}
    if epoch == "not read":
        return {"reads": [{"observer": "broker:0", "operation": "DescribeGroups rebalancing", "error": "timeout"}]}
    return {} if epoch is None else {"rebalancing": {"orders": waits}}


def reports():
    info = base()["info"]
    times = [{"info": {key: info[key] + n * HOUR_MS for key in ("started_ms", "finished_ms")}} for n in range(len(STORY))]
    names = [f"20260914T{number:02}0000Z-prod-0001" for number in range(len(STORY))]
    pairs, parts = {}, [rebalancing(epoch) for epoch, _ in STORY]
    for number, name in enumerate(names):
        case = {"world": WORLD | times[number], "now": parts[number]} | ({"previous": parts[number - 1]} if number else {})
        now, earlier = (one and replace(one, cluster_id="one") for one in snapshots(base(), name, case))
        pairs[name] = now, earlier and replace(earlier, snapshot_id=names[number - 1])
    views, before = cluster_views(pairs), None
    for name in names:
        view = views[name]
        view.reported_progress = () if before is None else before.progress
        found = findings_with_lifecycle(view, judge(view), mutes=(), previous_report=before, today=date(2026, 9, 14))
        before = build_report(view, before and before.snapshot_id, found, causes.incidents(view, found, ()), (), before)
        yield before


def test_one_message_when_it_begins_and_one_when_it_ends():
    state, sent, limits = DedupeState(), [], AlertLimits(min_coverage=0)
    now = datetime(2026, 9, 14, tzinfo=UTC)
    for report in reports():
        events, state = decide_alert(state, AuditResult(cluster="prod", document=report), now, limits)
        sent.append([event.change.value for event in events if ("KA622", "group/orders") in event.alert.condition.findings])
        now += timedelta(hours=1)
    assert sent == [expected for _, expected in STORY]
