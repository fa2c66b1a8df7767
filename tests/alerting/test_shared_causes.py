"""Causes that clusters share: found, and not found where clusters fail for different reasons at one time."""

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec import structs

import audit_history
import small_cluster
from audit_history import History, cut_off, no_zookeeper
from kafka_audit.alerting import messages, policy
from kafka_audit.alerting.conditions import AlertLimits, AuditResult
from kafka_audit.alerting.dedupe_state import DedupeState
from kafka_audit.alerting.messages import Links
from kafka_audit.alerting.shared_causes import RunTroubles, run_troubles, shared_causes, shared_lines
from kafka_audit.model.cluster import Cluster, Security, ZookeeperAccess

LIMITS = AlertLimits()
SCRAM = Security(protocol="SASL_SSL", mechanism="SCRAM-SHA-512", username="auditor", password_env="KAFKA_PW")  # noqa: S106 -- a name


class Audited:
    """Makes reports of clusters by the real engine."""

    def __init__(self, monkeypatch):
        self._set = lambda **changed: [monkeypatch.setattr(audit_history, key, value) for key, value in changed.items()]

    def zookeeper(self, name, target="zk1:2181,zk2:2181/kafka", error="timeout"):
        """ZooKeeper does not answer."""
        self._set(DEAD=no_zookeeper(target, error))
        return structs.replace(History().audit(dead=True), cluster=name)

    def silent(self, name, *targets, error="timeout"):
        """Nothing answers in a cluster without ZooKeeper."""
        views = {target: {"answers": False, "error": error} for target in targets}
        self._set(CLUSTER={**small_cluster.KRAFT, "views": views})
        failed = [("KA001", f"broker/{target}", "HIGH", {}) for target in targets]
        return structs.replace(History().audit(*failed), cluster=name, cluster_id=f"unknown:{name}")

    def brokers(self, name, *failed, error="SASL_AUTHENTICATION_FAILED", places=None, more=()):
        """Brokers 0 to 3 have each a host of their own, or one of `places`; some of them fail, and `more` is found besides."""
        at = {number: f"b{number}.{name}.corp:9092" for number in range(4)} | (places or {})
        self._set(CLUSTER={"brokers": at, "views": {number: {"answers": False, "error": error} for number in failed}})
        found = History().audit(*[("KA001", f"broker/{number}", "HIGH", {}) for number in failed], *more)
        return structs.replace(found, cluster=name)


@pytest.fixture
def audited(monkeypatch):
    return Audited(monkeypatch)


def run(*documents, **described):
    """Return what a run found, as it comes out of the store."""
    clusters = {document.cluster: Cluster(name=document.cluster, **described) for document in documents}
    found = run_troubles(documents, clusters, LIMITS)
    assert RunTroubles.from_json(found.to_json()) == found
    return found


def shared(*documents, **described):
    """Return text and clusters of each shared cause."""
    return [(cause.text, set(cause.clusters)) for cause in shared_causes(run(*documents, **described).troubles)]


def test_one_ensemble_that_does_not_answer_is_one_cause_in_any_order_and_with_any_chroot(audited):
    documents = [
        audited.zookeeper("a"),
        audited.zookeeper("b", "zk2:2181,zk1:2181/other"),
        audited.zookeeper("c", "zk2:2181"),
        audited.zookeeper("d", "zk9:2181"),
    ]
    assert shared(*documents) == [("ZooKeeper zk1:2181 and zk2:2181 does not answer (timeout)", {"a", "b", "c"})]


def test_clusters_that_fail_for_different_reasons_at_one_time_share_nothing(audited):
    documents = [
        audited.zookeeper("a", "zk1.a.corp:2181"),
        audited.zookeeper("b", "zk1.b.corp:2181"),
        audited.silent("c", "b1.c.corp:9092"),
        audited.brokers("d", 1),
        audited.brokers("e", 1, error="no route to host"),
        audited.brokers("f", more=cut_off(1)),
    ]
    assert shared(*documents, security=Security()) == []


def test_one_cluster_with_two_findings_shares_nothing_with_itself(audited):
    both = audited.brokers("a", 1, 2, places={1: "h1:9092", 2: "h1:9093"}, error="no route to host")
    assert run(both).troubles != ()
    assert shared(both, audited.brokers("b")) == []


def test_a_refused_login_is_shared_by_the_clusters_that_use_it(audited):
    documents = [audited.brokers("a", 1, 2), audited.brokers("b", 0)]
    assert shared(*documents, security=SCRAM) == [("brokers refuse the login auditor (KAFKA_PW)", {"a", "b"})]
    assert shared(*documents, kafka_conn_id="k") == [("brokers refuse the login of the Airflow connection k", {"a", "b"})]


def test_refused_logins_of_different_accounts_are_not_shared(audited):
    documents = [audited.brokers("a", 1), audited.brokers("b", 1)]
    other = Security(protocol="SASL_SSL", mechanism="PLAIN", username="auditor", password_env="OTHER_PW")  # noqa: S106 -- a name
    clusters = {"a": Cluster(name="a", security=SCRAM), "b": Cluster(name="b", security=other)}
    assert shared_causes(run_troubles(documents, clusters, LIMITS).troubles) == []


def test_a_refused_login_of_zookeeper_is_shared_with_that_of_zookeeper_only(audited):
    login = {"zookeeper": ZookeeperAccess(connect="z:1", username="auditor", password_env="ZK_PW")}  # noqa: S106 -- a name
    documents = [
        audited.zookeeper("a", "zk1:2181", error="AuthFailedError"),
        audited.zookeeper("b", "zk2:2181", error="AuthFailedError"),
        audited.brokers("c", 1),
    ]
    assert shared(*documents, **login, security=SCRAM) == [("ZooKeeper refuses the login auditor (ZK_PW)", {"a", "b"})]


def test_a_network_where_nothing_answers_is_shared(audited):
    documents = [
        audited.silent("a", "10.1.2.10:9092", "10.1.2.11:9092"),
        audited.silent("b", "10.1.2.20:9092"),
        audited.silent("c", "10.1.3.20:9092"),
    ]
    assert shared(*documents) == [("nothing in 10.1.2.0/24 answers (timeout)", {"a", "b"})]


def test_a_domain_where_no_name_resolves_is_shared_and_a_short_one_is_none(audited):
    error = "name or service not known"
    documents = [audited.silent(name, f"b1.{domain}:9092", error=error) for name, domain in (("a", "eu.corp"), ("b", "eu.corp"))]
    assert shared(*documents) == [("nothing in eu.corp answers (name or service not known)", {"a", "b"})]
    documents = [audited.silent(name, f"{name}.corp:9092", error=error) for name in ("a", "b")]
    assert shared(*documents) == []


@pytest.mark.parametrize(
    ("error", "place"),
    [("connection refused", "10.1.2.20:9092"), ("no route to host", "10.1.2.20:9092"), ("timeout", "10.1.9.20:9092")],
)
def test_another_error_or_another_network_is_not_shared(audited, error, place):
    assert shared(audited.silent("a", "10.1.2.10:9092"), audited.silent("b", place, error=error)) == []


def test_a_network_with_a_broker_that_answers_is_not_unreachable(audited):
    silent = [audited.silent("a", "10.1.2.10:9092"), audited.silent("b", "10.1.2.20:9092")]
    answers = audited.brokers("c", places={0: "10.1.2.30:9092"})
    assert shared(*silent, answers) == []


def test_a_host_without_a_route_is_shared_and_one_with_a_broker_that_answers_is_not(audited):
    error = "no route to host"
    documents = [
        audited.brokers("a", 1, error=error, places={1: "h1:9092"}),
        audited.brokers("b", 3, error=error, places={3: "h1:9093"}),
    ]
    assert shared(*documents) == [("host h1 is unreachable (no route to host)", {"a", "b"})]
    assert shared(*documents, audited.brokers("c", places={0: "h1:9094"})) == []


def test_an_incident_of_other_brokers_too_is_not_explained_by_a_host(audited):
    error = "no route to host"
    documents = [
        audited.brokers("a", 1, error=error, places={1: "h1:9092"}),
        audited.brokers("b", 3, error=error, places={3: "h1:9093"}, more=cut_off(0)),
    ]
    run_of = run(*documents)
    cause = shared_causes(run_of.troubles)[0]
    assert set(cause.clusters) == {"a", "b"}
    assert "cut off" not in " ".join(trouble.headline for trouble in cause.troubles)


def test_a_cluster_that_shares_two_causes_is_in_the_larger_one(audited):
    documents = [audited.zookeeper(name, f"10.1.2.{number}:2181") for number, name in enumerate("abc")]
    documents.append(audited.zookeeper("d", "10.1.2.0:2181,10.1.2.99:2181"))
    assert shared(*documents) == [("nothing in 10.1.2.0/24 answers (timeout)", {"a", "b", "c", "d"})]


def test_a_long_list_of_servers_is_short_text(audited):
    target = ",".join(f"zk{number}.very-long-name.example.com:2181" for number in range(40))
    found = run(audited.zookeeper("a", target), audited.zookeeper("b", target))
    assert len(found.to_json()) < 4_000
    assert len(shared_causes(found.troubles)) == 1


class Alerts:
    """One channel, with its states, over runs of several clusters."""

    def __init__(self):
        self.states = {}
        self.now = audit_history.START

    def hears(self, found, *documents):
        """Return the subjects of what goes out, the shared ones first."""
        self.now += timedelta(hours=1)
        found = replace(found, ended=self.now.isoformat())
        state = self.states.get("_shared", DedupeState())
        causes = shared_causes(found.troubles, policy.open_marks(state))
        events, self.states["_shared"] = policy.decide_shared(state, found, self.now, LIMITS)
        sent = messages.shared_messages(events, causes, Links())
        for document in documents:
            result = AuditResult(cluster=document.cluster, document=structs.replace(document, finished_at=self.now.isoformat()))
            lines = shared_lines(causes, result.cluster)
            before = self.states.get(result.cluster, DedupeState())
            events, after = policy.decide_alert(before, result, self.now, LIMITS, lines)
            self.states[result.cluster] = DedupeState.from_json(after.to_json())
            sent += messages.messages(events, result, Links(), lines)
        self.states["_shared"] = DedupeState.from_json(self.states["_shared"].to_json())
        self.sent = sent
        return [message.subject for message in sent]


def test_fifty_clusters_of_one_ensemble_are_one_message_each_way(audited):
    alerts, names = Alerts(), [f"c{number:02}" for number in range(50)]
    dead = [audited.zookeeper(name) for name in reversed(names)]
    assert alerts.hears(run(*dead), *dead) == ["[NEW] 50 clusters: ZooKeeper zk1:2181 and zk2:2181 does not answer (timeout)"]
    (message,) = alerts.sent
    assert [fact.partition(":")[0] for fact in message.facts[1:-1]] == names
    assert message.facts[-1] == "These clusters send no separate alerts about it."
    assert alerts.hears(run(*dead), *dead) == []
    well = [audited.brokers(name) for name in names]
    assert alerts.hears(run(*well), *well) == [
        "[RESOLVED] 50 clusters: resolved after 2 h: ZooKeeper zk1:2181 and zk2:2181 does not answer (timeout)"
    ]


def test_a_cause_goes_on_while_one_cluster_has_it_and_another_that_joins_is_worse(audited):
    alerts = Alerts()
    dead = {name: audited.zookeeper(name) for name in "abc"}
    well = {name: audited.brokers(name) for name in "abc"}
    alerts.hears(run(dead["a"], dead["b"], well["c"]), dead["a"], dead["b"], well["c"])
    assert [message.key for message in alerts.sent] == [alerts.states["_shared"].open_alerts[0].key]
    (subject,) = alerts.hears(run(dead["a"], dead["b"], dead["c"]), dead["a"], dead["b"], dead["c"])
    assert subject.startswith("[WORSE] 3 clusters: ZooKeeper zk1:2181 and zk2:2181 does not answer")
    assert "Worse than in the alert of 14 Sep 07:00 UTC: now c too." in alerts.sent[0].facts
    assert alerts.hears(run(well["a"], well["b"], dead["c"]), well["a"], well["b"], dead["c"]) == []
    (subject,) = alerts.hears(run(*well.values()), *well.values())
    assert subject.startswith("[RESOLVED] 1 cluster: ")


def test_a_cluster_that_left_a_cause_is_new_when_it_has_it_again_however_long_another_one_kept_it_open(audited):
    alerts = Alerts()
    dead = {name: audited.zookeeper(name) for name in "abc"}
    well = audited.brokers("b")
    down, left = (run(*dead.values()), *dead.values()), (run(dead["a"], well, dead["c"]), dead["a"], well, dead["c"])
    alerts.hears(*down)
    key = alerts.sent[0].key
    for _ in range(2):
        assert alerts.hears(*left) == []
        assert alerts.hears(*down) == ["[NEW] 3 clusters: ZooKeeper zk1:2181 and zk2:2181 does not answer (timeout)"]
        assert "now b too." in alerts.sent[0].facts[1]
        assert (alerts.sent[0].key, alerts.sent[0].first) == (key, False)  # one thread, and no mail with the id of another
        assert alerts.hears(*down) == []
    assert alerts.hears(replace(left[0], audited=("a", "c")), dead["a"], dead["c"]) == []  # nearest: b was not audited
    assert alerts.hears(*down) == []


def test_a_run_of_one_cluster_neither_ends_a_shared_cause_nor_alerts_it_again(audited):
    alerts = Alerts()
    dead = [audited.zookeeper(name) for name in "ab"]
    both = run(*dead)
    alerts.hears(both, *dead)
    assert alerts.hears(RunTroubles(troubles=both.troubles[:1], audited=("a",), known=("a", "b")), dead[0]) == []
    well = audited.brokers("a")
    assert alerts.hears(RunTroubles(troubles=(), audited=("a",), known=("a", "b")), well) == []
    (subject,) = alerts.hears(RunTroubles(troubles=(), audited=("a",), known=("a",)), well)  # b is no longer in the cluster file
    assert subject.startswith("[RESOLVED]")


def test_an_alert_that_a_cluster_has_already_goes_on_and_names_the_shared_cause(audited):
    alerts = Alerts()
    dead = [audited.zookeeper(name) for name in "ab"]
    well = audited.brokers("b")
    (subject,) = alerts.hears(run(dead[0], well), dead[0], well)
    assert subject.startswith("[NOT AUDITED] a: ")
    (subject,) = alerts.hears(run(*dead), *dead)
    assert subject.startswith("[NEW] 2 clusters: ")
    alerts.now += timedelta(hours=24)
    alerts.hears(run(*dead), *dead)
    own = next(message for message in alerts.sent if message.subject.startswith("[STILL, 26 h] a: "))
    assert own.facts[-1] == "Shared by a and b: ZooKeeper zk1:2181 and zk2:2181 does not answer (timeout)."


def test_what_a_cluster_has_besides_the_shared_cause_is_alerted_on_its_own(audited):
    alerts = Alerts()
    dead = audited.zookeeper("a")
    documents = [audited.brokers("b", 1), audited.brokers("c", 2, more=cut_off(0))]
    subjects = alerts.hears(run(dead, *documents, security=SCRAM), dead, *documents)
    assert [subject.partition(":")[0] for subject in subjects] == ["[NEW] 2 clusters", "[NOT AUDITED] a", "[NEW] c"]


def test_an_older_run_that_is_judged_again_sends_nothing(audited):
    dead = [audited.zookeeper(name) for name in "ab"]
    found = run(*dead)
    events, state = policy.decide_shared(DedupeState(), found, audit_history.START, LIMITS)
    assert len(events) == 1
    assert policy.decide_shared(state, found, audit_history.START, LIMITS) == ((), state)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"version": 7}', '{"troubles": [{}], "audited": [], "known": [], "ended": ""}']
)
def test_a_file_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="is unreadable"):
        RunTroubles.from_json(text)
