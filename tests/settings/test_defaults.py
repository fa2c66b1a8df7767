"""What clusters inherit from `defaults`, and what an error about an inherited value says."""

import pytest

from kafka_audit import settings
from kafka_audit.model.cluster import Limits, Logs, Security, Tls, Vantage
from kafka_audit.model.errors import UsageError

SASL = "security: {protocol: SASL_SSL, mechanism: PLAIN, username: u, password_env: P, ca_file: ca.pem}"


def _cluster(tmp_path, defaults, own="bootstrap: [h:1]"):
    (tmp_path / "clusters.yaml").write_text(f"defaults:\n  {defaults}\nclusters:\n  prod:\n    {own}\n")
    return settings.load(tmp_path / "clusters.yaml")["prod"]


def test_a_cluster_inherits_what_it_does_not_set(tmp_path):
    assert _cluster(tmp_path, "limits: {read_s: 5}").limits == Limits(read_s=5)


def test_mappings_are_merged_at_every_level(tmp_path):
    own = "bootstrap: [h:1]\n    labels: {team: payments}\n    vantages: {a: {role: client}, b: {queue: q}}"
    found = _cluster(tmp_path, "labels: {env: prod, team: none}\n  vantages: {a: {command: [ssh, h]}}", own)
    assert found.labels == {"env": "prod", "team": "payments"}
    assert set(found.vantages) == {Vantage(name="a", command=("ssh", "h")), Vantage(name="b", queue="q")}


def test_lists_and_other_values_are_replaced(tmp_path):
    own = "bootstrap: [h:1]\n    trusted_hosts: [own.corp]\n    expect: {brokers: 5}"
    found = _cluster(tmp_path, 'trusted_hosts: ["*.corp.example"]\n  expect: {brokers: 3, single_broker: false}', own)
    assert found.trusted_hosts == ("own.corp",)
    assert found.expect.brokers == 5


def test_text_replaces_a_mapping_and_a_mapping_replaces_text(tmp_path):
    own = "zookeeper: z:1/own"
    assert _cluster(tmp_path, "zookeeper: {connect: 'd:1', tls: {}}", own).zookeeper.connect == "z:1/own"
    found = _cluster(tmp_path, "zookeeper: d:1", "zookeeper: {connect: 'z:1', tls: {}}").zookeeper
    assert (found.connect, found.tls) == ("z:1", Tls())


def test_a_login_of_zookeeper_is_inherited_without_an_address(tmp_path):
    found = _cluster(tmp_path, "zookeeper: {sasl: {username: u, password_env: P}}", "zookeeper: {connect: 'z:1'}").zookeeper
    assert (found.connect, found.username) == ("z:1", "u")


def test_null_takes_a_default_away(tmp_path):
    assert _cluster(tmp_path, SASL, "bootstrap: [h:1]\n    security: null").security == Security()
    found = _cluster(tmp_path, SASL, "bootstrap: [h:1]\n    security: {ca_file: null}").security
    assert (found.protocol, found.tls) == ("SASL_SSL", None)
    own = "bootstrap: [h:1]\n    logs: {paths: null, command: [cat, log]}"
    assert _cluster(tmp_path, "logs: {paths: [x.log]}", own).logs == Logs(command=("cat", "log"))


def test_null_without_a_default_is_the_slip_that_it_was(tmp_path):
    with pytest.raises(UsageError, match=r"clusters\.yaml:6: clusters\.prod\.logs: is empty; set it to"):
        _cluster(tmp_path, "limits: {read_s: 5}", "bootstrap: [h:1]\n    logs:")


def test_an_empty_default_is_a_slip_in_the_defaults(tmp_path):
    with pytest.raises(UsageError, match=r"clusters\.yaml:2: defaults\.limits: is empty"):
        _cluster(tmp_path, "limits:")


# defaults, the cluster's own keys from line 5 on, what the line must say
WRONG = {
    "a bad default": (
        "limits: {read_s: soon}",
        "bootstrap: [h:1]",
        "2: defaults.limits.read_s: must be a number, not text; cluster prod inherits this",
    ),
    "a bad value of the cluster": (
        "limits: {audit_s: 60}",
        "bootstrap: [h:1]\n    limits: {read_s: soon}",
        "6: clusters.prod.limits.read_s: must be a number, not text",
    ),
    "values that do not fit each other": (
        "limits: {audit_s: 60}",
        "bootstrap: [h:1]\n    limits: {read_s: 90}",
        "6: clusters.prod.limits: audit_s (60) must be at least read_s (90); inherited: audit_s (",
    ),
    "a default that another value forbids": (
        "logs: {paths: [x.log]}",
        "bootstrap: [h:1]\n    logs: {command: [cat, log]}",
        "6: clusters.prod.logs: requires exactly one of command: [PROGRAM, ARGUMENT, …] and paths: [PATH, …]; inherited: paths (",
    ),
    "a login without use": (
        SASL,
        "bootstrap: [h:1]\n    security: {protocol: PLAINTEXT}",
        "2: defaults.security.mechanism: has no effect with protocol PLAINTEXT; remove it; cluster prod inherits this, and",
    ),
    "a connection beside inherited security": (
        SASL,
        "kafka_conn_id: k",
        "5: clusters.prod.kafka_conn_id: conflicts with security, which the cluster inherits (",
    ),
    "security beside an inherited connection": (
        "kafka_conn_id: k",
        "security: {protocol: SSL}",
        "5: clusters.prod.security: conflicts with kafka_conn_id, which the cluster inherits (",
    ),
    "an unknown default": ("listner: {A: skip}", "bootstrap: [h:1]", "2: defaults.listner: unknown key; did you mean listeners?"),
    "a misplaced default": ("read_s: 1", "bootstrap: [h:1]", "2: defaults.read_s: unknown key; it belongs at limits.read_s"),
    "defaults inside a cluster": ("keep: {snapshots: 9}", "defaults: {}", "defaults: unknown key; it belongs at the top"),
    "a password": ("security: {protocol: SASL_SSL, password: hunter2}", "bootstrap: [h:1]", "2: defaults.security.password: p"),
    "no mapping": ("[]", "bootstrap: [h:1]", "defaults: must be a mapping with some of the keys labels, zookeeper,"),
}  # fmt: skip


@pytest.mark.parametrize(("defaults", "own", "message"), WRONG.values(), ids=WRONG)
def test_a_slip_names_the_line_that_is_to_be_changed(tmp_path, defaults, own, message):
    with pytest.raises(UsageError) as error:
        _cluster(tmp_path, defaults, own)
    assert str(error.value).startswith(f"{tmp_path}/clusters.yaml:")
    assert message in str(error.value)
    assert "hunter2" not in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_default_is_named_although_no_cluster_inherits_it(tmp_path):
    with pytest.raises(UsageError, match=r"2: defaults\.lmits: unknown key"):
        _cluster(tmp_path, "lmits: {}", "bootstrap: [h:1]\n    lmits: null")


def test_defaults_that_many_clusters_multiply_are_refused(tmp_path):
    hosts = ", ".join(f"h{number}" for number in range(1_000))
    clusters = "".join(f"  c{number}: {{bootstrap: ['h:1']}}\n" for number in range(600))
    (tmp_path / "clusters.yaml").write_text(f"defaults: {{trusted_hosts: [{hosts}]}}\nclusters:\n{clusters}")
    with pytest.raises(UsageError, match=r"clusters\.yaml:1: defaults: expands to more than 500000 values in 600 clusters"):
        settings.load(tmp_path / "clusters.yaml")


LABELS = {
    "a number": ("tier: 1", "labels.tier: must be a label's value, such as prod, not a number; quote it"),
    "a flag": ("live: yes", "labels.live: must be a label's value, such as prod, not true or false; quote it"),
    "empty": ("env: ''", "labels.env: is empty"),
    "no name": ("'a b': c", "labels.a b: a label's name takes letters, digits"),
    "with an equals sign": ("'a=b': c", "labels.a=b: a label's name takes letters, digits"),
    "two lines": ('env: "a\\nb"', "labels.env: a label's value takes at most 100 printable characters"),
    "a right-to-left mark": ('env: "a\\u202eb"', "labels.env: a label's value takes at most 100 printable characters"),
}  # fmt: skip


@pytest.mark.parametrize(("labels", "message"), LABELS.values(), ids=LABELS)
def test_a_wrong_label_is_a_slip(tmp_path, labels, message):
    with pytest.raises(UsageError) as error:
        _cluster(tmp_path, "keep: {snapshots: 9}", f"bootstrap: [h:1]\n    labels: {{{labels}}}")
    assert f"clusters.yaml:6: clusters.prod.{message}" in str(error.value)


def test_a_label_may_be_any_readable_text(tmp_path):
    found = _cluster(
        tmp_path, "keep: {snapshots: 9}", "bootstrap: [h:1]\n    labels: {team: 'Zahlungen & Karten', k8s.io/zone: a}"
    )
    assert found.labels == {"team": "Zahlungen & Karten", "k8s.io/zone": "a"}
