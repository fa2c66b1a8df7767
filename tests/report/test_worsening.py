"""What became worse of an incident since the previous report: brokers or topics that it did not affect, a higher severity."""

import pytest
from msgspec import structs

import hostile
from audit_history import History, cut_off
from kafka_audit.model.finding import Change, Resource
from kafka_audit.model.report import report_json
from kafka_audit.report.html.cluster import standalone
from kafka_audit.report.plain_text.markdown import markdown_report
from kafka_audit.report.plain_text.terminal import terminal_report
from kafka_audit.report.worsening import Worsening, affected, since_text, worse_text, worsening
from reported import report_of


@pytest.fixture
def history():
    return History()


def worse(document):
    return [report_json(incident).get("worse") for incident in document.incidents]


def joined(*names):
    return {"joined": [*names], "more": 0, "severity_before": None}


def test_a_broker_that_joins_an_incident_makes_it_worse_once(history):
    heard = [worse(history.audit(*cut_off(*brokers))) for brokers in ((1,), (1, 3), (1, 3), (1,))]
    assert heard == [[None], [joined("broker/3")], [None], [None]]


def test_every_form_of_the_report_says_so_in_the_same_words(history):
    history.audit(*cut_off(1))
    document = history.audit(*cut_off(1, 3))
    page = standalone(report_of(document))
    assert '<span class="chip">worse: now broker 3 too</span>' in page
    assert '<span class="chip">= ongoing</span>' not in page
    assert "KA302, measured; = ongoing, worse: now broker 3 too." in terminal_report(report_of(document), width=100, color=False)
    assert "KA302, = ongoing, worse: now broker 3 too, since " in markdown_report(report_of(document))


def test_an_incident_says_since_when_it_lasts_and_how_many_audits_found_it(history):
    first = history.audit(*cut_off(1)).incidents[0].first_seen
    assert first is not None
    assert [(i.first_seen, i.audits) for i in history.audit(*cut_off(1, 3)).incidents] == [(first, 2)]
    (third,) = history.audit(*cut_off(3)).incidents
    assert (third.first_seen, third.audits) == (first, 3)
    assert since_text(third).endswith("UTC (3 audits)")


def test_a_broker_that_an_incident_loses_has_its_own_end(history):
    """The nearest to it: whether that broker is well is not known."""
    history.audit(*cut_off(1, 3))
    after = history.audit(*cut_off(3))
    assert [(one.cause, one.audits) for one in after.incidents] == [("KA302", 2)]
    assert [(one.cause, one.audits, len(one.findings)) for one in after.resolved_incidents] == [("KA302", 1, 1)]
    history = History()
    history.audit(*cut_off(1, 3))
    after = history.audit(*cut_off(3), unknown=[one[:2] for one in cut_off(1)])
    assert (after.resolved_incidents, after.incomparable_incidents) == ((), ())


def test_what_follows_from_a_new_cause_says_since_when_it_was_on_its_own(history):
    """KA302 passes in the audit between, so it is new, and its symptom is older than it."""
    for brokers in ((1,), ()):
        history.audit(*cut_off(*brokers))
    symptom = history.audit(("KA105", "broker/1", "CRITICAL", {})).incidents[0]
    (new,) = history.audit(*cut_off(1)).incidents
    assert (new.cause, new.audits, new.lifecycle) == ("KA302", 1, "new")
    (told,) = [one.text for one in new.evidence_for if one.observer == "changes"]
    assert told.startswith("On its own until 14 Sep 2026 18:00 UTC: ")
    assert told.endswith("(KA105), since 14 Sep 2026 18:00 UTC (1 audit)")
    assert symptom.headline in told
    (goes_on,) = history.audit(*cut_off(1)).incidents
    assert [one.text for one in goes_on.evidence_for if one.observer == "changes"] == [told]


def test_a_symptom_that_outlives_its_cause_is_as_old_as_its_incident(history):
    history.audit(*cut_off(1))
    first = history.audit(*cut_off(1)).incidents[0].first_seen
    after = history.audit(("KA105", "broker/1", "CRITICAL", {}))
    assert [one.cause for one in after.resolved_incidents] == ["KA302"]
    assert [(one.cause, one.first_seen, one.audits) for one in after.incidents] == [("KA105", first, 3)]


def test_what_changed_before_an_incident_stays_with_it_and_its_repair_is_no_cause(history):
    def setting(before, after):
        return Change(kind="config", resource="broker/1/config/listeners", before=before, after=after)

    for changes in ([setting("a", "b")], [setting("b", "a")], []):
        (incident,) = history.audit(*cut_off(1), changes=changes).incidents
        said = [one.text for one in incident.evidence_for if one.observer == "changes"]
        assert said == ["setting of broker 1, config listeners: a -> b"]
    history.audit()
    (again,) = history.audit(*cut_off(1)).incidents
    assert not [one for one in again.evidence_for if one.observer == "changes"]


def test_an_incident_that_was_over_begins_anew(history):
    history.audit(*cut_off(1))
    history.audit(*cut_off())
    again = history.audit(*cut_off(1))
    assert [(i.audits, since_text(i)) for i in again.incidents] == [
        (1, "first seen in this audit, 14 Sep 2026 18:00 UTC (not yet at 12:00)")
    ]


def test_a_new_incident_says_when_an_audit_did_not_find_it(history):
    """The nearest: no audit before, one that did not judge its cause, one that found a symptom; and one of another day."""
    assert [i.not_yet_at for i in history.audit(*cut_off(1)).incidents] == [None]
    well = history.audit(*cut_off())
    (known,) = history.audit(*cut_off(1)).incidents
    assert known.not_yet_at == well.finished_at
    assert since_text(known).endswith("18:00 UTC (not yet at 12:00)")
    assert [i.not_yet_at for i in history.audit(*cut_off(1)).incidents] == [None]
    history.audit(*cut_off(), unknown=[CAUSE[:2]])
    assert [i.not_yet_at for i in history.audit(*cut_off(1)).incidents] == [None]
    history.audit(*cut_off())
    history.audit(SYMPTOM)
    assert [i.not_yet_at for i in history.audit(SYMPTOM, CAUSE).incidents] == [None]
    yesterday = structs.replace(known, not_yet_at="2026-09-13T23:45:00Z")
    assert since_text(yesterday).endswith("18:00 UTC (not yet at 13 Sep 2026 23:45)")


def test_a_new_incident_and_one_that_gets_smaller_are_not_worse(history):
    assert worse(history.audit(*cut_off(1, 3))) == [None]
    assert worse(history.audit(*cut_off(3))) == [None]
    assert '<span class="chip">= ongoing</span>' in standalone(report_of(history.audit(*cut_off(3))))


def test_what_was_not_known_before_is_no_change(history):
    """The nearest to it: the same failure is new at broker 3, and the audit before could not judge it."""
    history.audit(*cut_off(1), unknown=[(code, f"broker/3{rest}") for code, rest in (("KA105", ""), ("KA302", "/listener/X"))])
    assert worse(history.audit(*cut_off(1, 3))) == [joined("broker/3")], "another listener says nothing of this one"
    history = History()
    history.audit(*cut_off(1), unknown=[("KA105", "broker/3"), ("KA302", "broker/3")])
    assert worse(history.audit(*cut_off(1, 3))) == [None]


def test_a_higher_severity_of_what_was_not_known_before_is_no_change(history):
    """The nearest to it: the same failure is new, and the check had a result before."""
    high, critical = ("KA105", "broker/1", "HIGH", {}), ("KA302", "broker/1/listener/PLAINTEXT", "CRITICAL", {"from": "0"})
    history.audit(high, unknown=[critical[:2]])
    assert worse(history.audit(high, critical)) == [None]
    history = History()
    history.audit(high)
    severe = ("KA105", "broker/1", "CRITICAL", {})
    assert worse(history.audit(severe)) == [{"joined": [], "more": 0, "severity_before": "HIGH"}]


SYMPTOM = ("KA105", "broker/1", "HIGH", {})
CAUSE = ("KA302", "broker/1/listener/PLAINTEXT", "CRITICAL", {"from": "0"})


def test_a_cause_that_was_not_there_before_is_a_new_incident_though_its_symptom_is_older(history):
    """The nearest to it: the audit before could not judge the cause."""
    history.audit(CAUSE)
    history.audit(SYMPTOM)
    (incident,) = history.audit(SYMPTOM, CAUSE).incidents
    assert (incident.cause, incident.audits, incident.lifecycle) == ("KA302", 1, "new")
    history = History()
    first = history.audit(SYMPTOM, unknown=[CAUSE[:2]]).incidents[0].first_seen
    (incident,) = history.audit(SYMPTOM, CAUSE).incidents
    assert (incident.cause, incident.audits, incident.lifecycle, incident.first_seen) == ("KA302", 2, "ongoing", first)


def test_an_incident_is_resolved_with_its_cause_though_a_symptom_outlives_it(history):
    """The nearest to it: whether its cause is over is not known."""
    history.audit(SYMPTOM, CAUSE)
    after = history.audit(SYMPTOM)
    assert [one.cause for one in after.resolved_incidents] == ["KA302"]
    assert [(one.cause, one.audits) for one in after.incidents] == [("KA105", 2)]
    history = History()
    history.audit(SYMPTOM, CAUSE)
    after = history.audit(SYMPTOM, unknown=[CAUSE[:2]])
    assert (after.resolved_incidents, [one.audits for one in after.incidents]) == ((), [2])


def test_the_same_fault_of_another_broker_is_another_incident(history):
    elsewhere = ("KA302", "broker/2/listener/PLAINTEXT", "CRITICAL", {"from": "0"})
    shared = ("KA105", "broker/1", "HIGH", {})
    history.audit(shared, CAUSE)
    after = history.audit(elsewhere)
    assert [(one.cause, one.audits) for one in after.incidents] == [("KA302", 1)]
    assert [one.cause for one in after.resolved_incidents] == ["KA302"]


def test_the_end_of_a_mute_makes_nothing_worse(history):
    """The nearest to it: the severity of the failure itself is higher than it was when it was muted."""
    high, critical = (("KA105", "broker/1", level, {}) for level in ("HIGH", "CRITICAL"))
    other = ("KA302", "broker/1/listener/PLAINTEXT", "MEDIUM", {"from": "0"})
    mutes = [{"code": "KA105", "resource": "broker/1", "reason": "known", "owner": "me"}]
    history.audit(critical, other, mutes=mutes)
    assert worse(history.audit(critical, other)) == [None]
    history = History()
    history.audit(high, other, mutes=mutes)
    assert worse(history.audit(critical, other)) == [{"joined": [], "more": 0, "severity_before": "HIGH"}]


def test_a_check_of_a_newer_version_makes_nothing_worse(history):
    """The version that wrote the previous report had no KA302, and does not list it among the checks that pass."""
    high, critical = ("KA105", "broker/1", "HIGH", {}), ("KA302", "broker/1/listener/PLAINTEXT", "CRITICAL", {"from": "0"})
    assert "KA302" not in history.audit(high).passed_checks
    assert worse(history.audit(high, critical, ("KA302", "broker/3/listener/PLAINTEXT", "CRITICAL", {"from": "0"}))) == [None]


def test_one_check_that_was_judged_before_is_enough(history):
    history.audit(*cut_off(1), unknown=[("KA302", "broker/3")])
    assert worse(history.audit(*cut_off(1, 3))) == [joined("broker/3")]


def test_an_incident_of_two_that_were_apart_is_not_worse(history):
    high = ("KA105", "broker/3", "CRITICAL", {})
    first = history.audit(*cut_off(1), high)
    assert len(first.incidents) == 2
    merged = history.audit(*cut_off(1, 3))
    assert worse(merged) == [None]


def test_another_failure_at_a_broker_that_is_affected_is_not_worse(history):
    history.audit(("KA105", "broker/1", "CRITICAL", {}))
    assert worse(history.audit(*cut_off(1))) == [None]


def test_a_broker_that_fails_in_another_way_than_before_did_not_join(history):
    old, new = (("KA302", f"broker/3/listener/{name}", "CRITICAL", {"from": "0"}) for name in ("OLD", "NEW"))
    assert len(history.audit(*cut_off(1), old).incidents) == 1
    assert worse(history.audit(*cut_off(1), new)) == [None]


def test_a_higher_severity_is_worse_and_a_lower_one_is_not(history):
    levels = ("HIGH", "CRITICAL", "HIGH")
    heard = [worse(history.audit(("KA105", "broker/1", level, {}))) for level in levels]
    assert heard == [[None], [{"joined": [], "more": 0, "severity_before": "HIGH"}], [None]]


def test_a_resolved_incident_that_comes_back_is_new(history):
    history.audit(*cut_off(1))
    history.audit()
    assert worse(history.audit(*cut_off(1, 3))) == [None]


def test_brokers_count_before_topics_and_partitions_never():
    names = ("topic/a/partition/0", "topic/a/partition/1", "topic/b/partition/0")
    assert affected(map(Resource.of, names)) == ("topic/a", "topic/b")
    assert affected(map(Resource.of, (*names, "broker/2/listener/X", "broker/2"))) == ("broker/2",)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Worsening(joined=("broker/3",)), "now broker 3 too"),
        (Worsening(joined=("broker/3", "broker/5")), "now brokers 3 and 5 too"),
        (Worsening(joined=("topic/a", "topic/b")), "now topic a and topic b too"),
        (Worsening(joined=tuple(f"broker/{n}" for n in range(7))), "now 7 more brokers too"),
        (Worsening(joined=tuple(f"topic/{n}" for n in range(300))), "now 300 more topics too"),
        (Worsening(joined=("broker/3",), severity_before="HIGH"), "now broker 3 too, HIGH before"),
        (Worsening(severity_before="HIGH"), "HIGH before"),
    ],
)
def test_the_words(found, text):
    assert worse_text(found.reported) == text
    assert len(found.reported.joined) <= 100


def test_nothing_that_is_the_same_is_worse():
    assert worsening(["broker/1"], "HIGH", before={"broker/1", "broker/2"}, worst="CRITICAL") is None


def test_no_name_of_a_topic_acts(history):
    history.audit(("KA601", "topic/a/partition/0", "CRITICAL", {}))
    topic = f"topic/{hostile.PLANTED}/partition/0"
    document = history.audit(("KA601", "topic/a/partition/0", "CRITICAL", {}), ("KA601", topic, "CRITICAL", {}))
    (only,) = worse(document)
    assert len(only["joined"]) == 1
    page = standalone(report_of(document))
    assert "worse: now topic &lt;script&gt;" in page
    hostile.harmless(page)
    assert (
        hostile.unshown(markdown_report(report_of(document)))
        == hostile.unshown(terminal_report(report_of(document), width=100, color=False))
        == set()
    )
