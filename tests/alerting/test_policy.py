"""What is sent after which audit, and what is not."""

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec import UNSET

import audit_history
from audit_history import History, cut_off
from kafka_audit.alerting import policy
from kafka_audit.alerting.conditions import AlertLimits, AuditResult
from kafka_audit.alerting.dedupe_state import DedupeState
from kafka_audit.model.report import Report
from kafka_audit.report.worsening import Worsening

OTHER = ("KA312", "broker/2", "CRITICAL", {})


class Channel:
    """A channel that keeps its state, as the store does, through JSON."""

    def __init__(self, limits=None):
        self.state = DedupeState()
        self.limits = limits or AlertLimits()

    def hears(self, audited, now):
        document = audited if isinstance(audited, Report) else None
        result = AuditResult(cluster="prod", document=document, why="" if document else audited)
        events, after = policy.decide_alert(self.state, result, now, self.limits)
        self.state = DedupeState.from_json(after.to_json())
        assert self.state == after
        return events


@pytest.fixture
def history():
    return History()


@pytest.fixture
def tell(history):
    """Audit, and return the changes and headlines that a channel hears."""
    channel = Channel()

    def run(*failures, not_audited=None, **more):
        document = not_audited or history.audit(*failures, **more)
        if not_audited:
            history.now += timedelta(hours=6)
        return [(event.change.value, event.alert.condition.headline) for event in channel.hears(document, history.now)]

    run.channel = channel
    return run


def changes(heard):
    return [change for change, _ in heard]


def test_the_story_of_seven_audits(tell):
    assert tell() == []
    ((change, headline),) = tell(*cut_off(1))
    assert change == "NEW"
    assert headline.startswith("Broker 1 is cut off")
    assert tell(*cut_off(1)) == []
    ((change, headline),) = tell(*cut_off(1, 3))
    assert change == "WORSE"
    assert headline.startswith("Brokers 1 and 3 are cut off")
    ((change, ended),) = tell()
    assert (change, ended) == ("RESOLVED", headline)
    ((change, headline),) = tell(dead=True)
    assert change == "NOT AUDITED"
    assert "zookeeper" in headline.lower()
    assert changes(tell()) == ["AUDITED AGAIN"]
    assert tell() == []
    assert tell.channel.state.open_alerts == ()


def test_what_got_worse_is_named_and_only_that(history):
    channel = Channel()
    channel.hears(history.audit(*cut_off(1)), history.now)
    (message,) = channel.hears(history.audit(*cut_off(1, 3)), history.now)
    assert message.worse == Worsening(joined=("broker/3",))
    assert message.lasted == timedelta(hours=6)
    assert message.alert.audits == 2


@pytest.mark.parametrize(("extra", "said"), [((), []), ((2,), [Worsening(joined=("broker/2",))])])
def test_two_incidents_that_become_one_are_not_worse_as_in_the_report_but_what_joins_them_is(history, extra, said):
    channel, apart = Channel(), ("KA105", "broker/3", "CRITICAL", {})
    assert len(channel.hears(history.audit(*cut_off(1), apart), history.now)) == 2
    document = history.audit(*cut_off(1, 3, *extra))
    assert [event.worse for event in channel.hears(document, history.now)] == said
    assert [incident.worse for incident in document.incidents] == [said[0].reported if said else UNSET]


def test_what_flaps_between_one_and_two_brokers_is_told_worse_once(tell):
    heard = [changes(tell(*cut_off(*brokers))) for brokers in ((1,), (1, 3), (1,), (1, 3), (3,))]
    assert heard == [["NEW"], ["WORSE"], [], [], []]


def test_a_higher_severity_is_worse(tell):
    high = ("KA105", "broker/1", "HIGH", {})
    assert changes(tell(high)) == ["NEW"]
    assert changes(tell(("KA105", "broker/1", "CRITICAL", {}))) == ["WORSE"]
    assert tell(high) == []


def test_an_incident_keeps_its_identity_when_its_cause_becomes_known(tell):
    """First only the symptom is seen, then what causes it: one incident, and the first message said that it was not decided."""
    assert changes(tell(("KA105", "broker/1", "CRITICAL", {}))) == ["NEW"]
    assert tell(*cut_off(1)) == []
    assert changes(tell()) == ["RESOLVED"]


def test_two_incidents_are_two_messages_and_end_each_on_its_own(tell):
    assert changes(tell(*cut_off(1), OTHER)) == ["NEW", "NEW"]
    ((change, headline),) = tell(OTHER)
    assert change == "RESOLVED"
    assert headline.startswith("Broker 1 is cut off")
    assert changes(tell()) == ["RESOLVED"]


def test_a_thousand_partitions_of_one_broker_do_not_make_it_worse(tell):
    more = [("KA106", f"broker/1/listener/L{number}", "HIGH", {}) for number in range(50)]
    assert changes(tell(*cut_off(1))) == ["NEW"]
    assert "WORSE" not in changes(tell(*cut_off(1, extra=more)))


def test_a_reminder_comes_once_a_day(tell):
    heard = [changes(tell(*cut_off(1))) for _ in range(10)]
    assert heard == [["NEW"], [], [], [], ["STILL"], [], [], [], ["STILL"], []]


def test_reminders_can_be_set_and_switched_off(history):
    often, never = Channel(AlertLimits(remind=timedelta(hours=6))), Channel(AlertLimits(remind=None))
    reports = [(history.audit(*cut_off(1)), history.now) for _ in range(6)]
    assert [len(often.hears(*report)) for report in reports] == [1] * 6
    assert [len(never.hears(*report)) for report in reports] == [1, 0, 0, 0, 0, 0]


def test_what_could_not_be_judged_is_neither_over_nor_repeated(tell):
    unknown = [("KA302", "broker/1/listener/PLAINTEXT"), ("KA105", "broker/1")]
    assert changes(tell(*cut_off(1))) == ["NEW"]
    assert [changes(tell(unknown=unknown)) for _ in range(6)] == [[]] * 6
    assert changes(tell()) == ["RESOLVED"]


def test_an_incident_outlives_audits_that_see_nothing(tell):
    assert changes(tell(*cut_off(1))) == ["NEW"]
    assert changes(tell(dead=True)) == ["NOT AUDITED"]
    assert [tell(dead=True) for _ in range(2)] == [[], []]
    assert changes(tell(dead=True, after=timedelta(hours=24))) == ["STILL"]
    assert changes(tell(*cut_off(1), after=timedelta(minutes=1))) == ["AUDITED AGAIN", "STILL"]
    assert changes(tell()) == ["RESOLVED"]


def test_what_broke_while_nobody_could_look_is_new_besides(history):
    channel = Channel()
    channel.hears("no snapshot was taken", history.now)
    history.audit(dead=True)
    again, new = channel.hears(history.audit(*cut_off(1)), history.now)
    assert (again.change, again.before) == ("AUDITED AGAIN", "1 incident, after 1 failed audit")
    assert new.change == "NEW"


def test_a_failed_audit_says_what_was_known_before(history):
    channel = Channel()
    (first,) = channel.hears("Spark failed", history.audit() and history.now)
    assert first.before == "no earlier audit"
    (again,) = channel.hears(history.audit(), history.now)
    assert again.before == "no incident, after 1 failed audit"
    (later,) = channel.hears("Spark failed", history.now)
    assert later.before == "last audited 14 Sep 12:00 UTC: no incident"


def test_an_audit_without_a_report_is_told_whatever_the_reason_says_next_time(tell):
    assert tell(not_audited="no snapshot was taken") == [("NOT AUDITED", "no snapshot was taken")]
    assert tell(not_audited="Spark failed") == []
    assert changes(tell()) == ["AUDITED AGAIN"]


def test_lower_findings_and_muted_ones_tell_nothing(tell):
    assert tell(("KA411", "cluster", "LOW", {}), ("KA612", "cluster", "MEDIUM", {})) == []
    mute = {"code": "KA*", "resource": "*", "reason": "r", "owner": "o"}
    assert tell(*cut_off(1), mutes=[mute | {"code": code} for code in ("KA302", "KA105")]) == []


def test_an_incident_that_its_owner_accepts_ends_without_a_word(tell):
    mutes = [{"code": code, "resource": "*", "reason": "r", "owner": "o"} for code in ("KA302", "KA105")]
    assert changes(tell(*cut_off(1))) == ["NEW"]
    assert tell(*cut_off(1), mutes=mutes) == []
    assert tell() == []


def test_findings_below_high_are_one_thing_where_the_gate_asks_for_them(history):
    channel = Channel(AlertLimits(fail_on="medium"))
    weak = [("KA612", "cluster", "MEDIUM", {}), ("KA703", "cluster", "MEDIUM", {})]
    (message,) = channel.hears(history.audit(*weak), history.now)
    assert message.change == "NEW"
    assert message.alert.condition.headline.endswith("; 1 more finding")
    assert channel.hears(history.audit(*weak), history.now) == ()
    (message,) = channel.hears(history.audit(), history.now)
    assert message.change == "RESOLVED"


def test_too_few_answers_are_told_and_their_end(history, monkeypatch):
    channel = Channel()
    monkeypatch.setattr(
        audit_history,
        "CLUSTER",
        audit_history.CLUSTER | {"reads": [{"observer": "broker:1", "operation": "DescribeConfigs BROKER", "error": "29"}]},
    )
    (message,) = channel.hears(history.audit(), history.now)
    assert message.change == "NEW"
    assert message.alert.condition.headline.startswith("only 31 of 32 reads were answered")
    assert channel.hears(history.audit(), history.now) == ()
    monkeypatch.undo()
    assert [m.change for m in channel.hears(history.audit(), history.now)] == ["RESOLVED"]


def test_an_older_report_and_the_same_one_tell_nothing(history):
    channel = Channel()
    older = history.audit(*cut_off(1))
    newer = history.audit()
    channel.hears(newer, history.now)
    assert channel.hears(older, history.now) == ()
    assert channel.hears(newer, history.now) == ()


def test_a_run_that_reached_its_gates_ends_what_was_told_of_all_clusters(history):
    everybody = Channel()
    assert [m.change for m in everybody.hears("no such file", history.now)] == ["NOT AUDITED"]
    messages, after = policy.decide_alert(everybody.state, AuditResult(cluster="kafka_audit"), history.now, AlertLimits())
    assert [(m.change, m.before) for m in messages] == [("AUDITED AGAIN", "audits run, after 1 failed audit")]
    assert after.open_alerts == ()


def test_each_open_thing_has_a_key_that_stays(history):
    channel = Channel()
    keys = [message.alert.key for b in ((1,), (1, 3), ()) for message in channel.hears(history.audit(*cut_off(*b)), history.now)]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    (again,) = channel.hears(history.audit(*cut_off(1)), history.now)
    assert again.alert.key != keys[0]


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"version": 2, "open_alerts": []}', '{"version": 1}', '{"version": 1, "open_alerts": [{}]}']
)
def test_a_state_that_is_none_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011 -- its text depends on the damage of the file
        DedupeState.from_json(text)


def test_the_oldest_of_two_incidents_that_turn_out_to_be_one_goes_on(history):
    channel = Channel()
    channel.hears(history.audit(*cut_off(1)), history.now)
    alerts = channel.state.open_alerts
    channel.state = replace(channel.state, open_alerts=(*alerts, replace(alerts[0], key="other")))
    assert channel.hears(history.audit(*cut_off(1)), history.now) == ()


@pytest.mark.parametrize("sent", [1, 2, 3])
@pytest.mark.parametrize("again", ["the same audit", "the next audit"])
def test_a_process_that_is_killed_while_it_sends_sends_nothing_twice_and_loses_nothing(history, sent, again):
    channel, extra = Channel(), [OTHER]
    first = history.audit(*cut_off(1), ("KA305", "broker/3", "HIGH", {}))
    channel.hears(first, history.now)
    before = channel.state
    failures = [*cut_off(1, 3), *extra, ("KA501", "broker/0/logdir//data", "HIGH", {})]
    audited = history.audit(*failures)
    messages = channel.hears(audited, history.now)
    assert sorted(message.change.value for message in messages) == ["NEW", "NEW", "RESOLVED", "WORSE"]
    heard = [(message.change, message.alert.condition.cause) for message in messages]
    channel.state = DedupeState.from_json(policy.partly_sent(before, channel.state, messages[sent:]).to_json())
    rest = channel.hears(audited if again == "the same audit" else history.audit(*failures), history.now)
    assert sorted(heard[sent:]) == sorted((message.change, message.alert.condition.cause) for message in rest)
    assert channel.hears(history.audit(*failures), history.now) == ()


def test_what_stands_still_is_heard_when_it_begins_and_when_it_moves_again(tell):
    """While it stands, its headline counts minutes; while it moves, there is nothing to say until it stands again."""
    tell.channel.limits = AlertLimits(fail_on="medium", remind=None)
    stands = ("KA608", "topic/large/partition/0", "MEDIUM", {})
    moves = ("KA608", "cluster", "INFO", {})
    heard = [changes(tell(*one)) for one in ((moves,), (stands,), (stands,), (stands,), (moves,), (moves,), ())]
    assert heard == [[], ["NEW"], [], [], ["RESOLVED"], [], []]
