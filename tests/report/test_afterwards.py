"""What an old report says of each of its incidents: resolved by a later audit, still open, or under another name."""

from msgspec import structs

from audit_history import History
from kafka_audit.report.afterwards import as_it_ended
from kafka_audit.report.digest import condense

VIEW = ("KA105", "broker/2", "HIGH", {})
CUT = ("KA302", "broker/2/listener/PLAINTEXT", "CRITICAL", {"from": "0"})
OTHER = ("KA501", "broker/1/logdir//data", "HIGH", {})


def ended(*audits):
    """Return the headlines of the first audit, and the notice, as the later ones show it."""
    history = History()
    first, *later = [history.audit(*failures, unknown=unknown) for failures, unknown in audits]
    first, *later = [_dated(document, first.finished_at) for document in (first, *later)]
    digests = [*map(condense, later)]
    shown, notice = as_it_ended(first, digests, digests[-1])
    return [one.headline for one in shown.incidents], notice


def _dated(document, first):
    """Return a report whose incidents begin when it, or the first one, ended: the clock of these snapshots stands still."""
    times = [document.finished_at if one.audits == 1 else first for one in document.incidents]
    incidents = (structs.replace(one, first_seen=time) for one, time in zip(document.incidents, times, strict=True))
    return structs.replace(document, incidents=tuple(incidents))


def test_each_incident_says_when_it_was_over_or_that_it_is_open():
    heads, notice = ended(([CUT, OTHER], []), ([OTHER], []))
    assert sorted(head[:10] for head in heads) == ["RESOLVED b", "STILL OPEN"]
    assert any(head.startswith("RESOLVED by 14 Sep 2026 12:00 UTC: ") for head in heads)
    assert notice.startswith(
        "This is an old report: 1 of 2 incidents is resolved. The newest, 20260914T120000Z-prod-0001, has 1 incident: "
    )


def test_an_incident_that_goes_on_by_another_name_is_not_resolved():
    """The nearest to it: the other cause began after the first one had ended."""
    unknown = [CUT[:2]]
    (head,), notice = ended(([VIEW], unknown), ([VIEW, CUT], []))
    assert head.startswith("STILL OPEN: ")
    assert "0 of 1 incident are resolved. Incident 1 goes on as: " in notice
    assert "(KA302). The newest, " in notice
    (head,), notice = ended(([VIEW], []), ([], []), ([CUT], []))
    assert head.startswith("RESOLVED by 14 Sep 2026 12:00 UTC: ")
    (head,), notice = ended(([VIEW], []), ([CUT], []))
    assert head.startswith("RESOLVED by 14 Sep 2026 12:00 UTC: ")
    assert notice.startswith("This is an old report: 1 of 1 incident is resolved. The newest, ")


def test_what_follows_from_a_new_cause_goes_on():
    """The nearest to it: another fault that is older is at the same broker all the time."""
    (head,), notice = ended(([VIEW], []), ([VIEW, CUT], []))
    assert head.startswith("STILL OPEN: ")
    assert "Incident 1 goes on as: " in notice
    disk = ("KA501", "broker/2/logdir//data", "HIGH", {})
    heads, notice = ended(([VIEW, disk], []), ([disk], []))
    assert sorted(head[:10] for head in heads) == ["RESOLVED b", "STILL OPEN"]
    assert "goes on as" not in notice


def test_a_report_without_an_incident_is_only_old():
    heads, notice = ended(([], []), ([CUT], []))
    assert heads == []
    assert notice.startswith("This is an old report. The newest, 20260914T120000Z-prod-0001, has 1 incident: Broker 2 is cut off")
