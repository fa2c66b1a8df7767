"""The cluster file: what it may hold, and the one line that each slip earns."""

import logging
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from kafka_audit import settings
from kafka_audit.checks import catalogue
from kafka_audit.model.cluster import Cluster, Expect, Keep, Limits, Logs, Mute, Oidc, Security, Tls, Vantage, ZookeeperAccess
from kafka_audit.model.errors import UsageError

CODES = ("KA101", "KA301", "KA607")
SCRAM = Security(
    protocol="SASL_SSL",
    mechanism="SCRAM-SHA-512",
    username="auditor",
    password_env="KAFKA_AUDIT_PASSWORD",  # noqa: S106 -- a variable's name
    tls=Tls(ca_file="…", cert_file="…", key_file="…"),
)
OAUTHBEARER = "protocol: SASL_SSL, mechanism: OAUTHBEARER"
TOKENS = f"{OAUTHBEARER}, username: u, password_env: P"
EXAMPLE = Path(__file__).parents[2] / "clusters.example.yaml"

FULL = """
clusters:
  prod:
    labels: {team: payments, env: prod}
    zookeeper: zk1:2181,zk2:2181/kafka
    bootstrap: [b1:9092, "[::1]:9092", b1:9092]
    controllers: [c1:9093]
    security: {protocol: PLAINTEXT}
    listeners: {PLAINTEXT: {protocol: PLAINTEXT}, EXTERNAL: skip}
    trusted_hosts: ["*.kafka.corp"]
    reach: {"10.99.0.12:9092": "nginx:9092"}
    vantages:
      clients: {queue: dmz}
      brokers: {command: ["kubectl","exec","-i","kafka-{broker_id}","--"], role: broker}
    properties: ["s3://conf/prod/server-{broker_id}.properties"]
    logs: {command: ["kubectl","logs","--tail=20000","kafka-{broker_id}"]}
    expect: {brokers: 3, cluster_id: abc, single_broker: false}
    limits: {read_s: 10, audit_s: 300, connections_per_broker: 1, settle_s: 2.5, leader_moves: 0.3}
    keep: {snapshots: 50}
    mute: [{code: KA607, resource: "cluster", reason: "on purpose", owner: "platform", until: 2027-01-31}]
"""


def _load(tmp_path, text):
    path = tmp_path / "clusters.yaml"
    path.write_text(text)
    return settings.load(path, codes=CODES)


def _cluster(tmp_path, keys):
    indented = "\n".join("    " + line for line in keys.strip("\n").splitlines())
    return _load(tmp_path, f"clusters:\n  prod:\n{indented}\n")["prod"]


def test_every_key_arrives_typed(tmp_path):
    assert _load(tmp_path, FULL) == {
        "prod": Cluster(
            name="prod",
            labels={"team": "payments", "env": "prod"},
            zookeeper=ZookeeperAccess(connect="zk1:2181,zk2:2181/kafka"),
            bootstrap=("b1:9092", "[::1]:9092"),
            controllers=("c1:9093",),
            security=Security(protocol="PLAINTEXT"),
            listeners={"PLAINTEXT": Security(protocol="PLAINTEXT"), "EXTERNAL": None},
            trusted_hosts=("*.kafka.corp",),
            reach={"10.99.0.12:9092": "nginx:9092"},
            vantages=(
                Vantage(name="clients", queue="dmz"),
                Vantage(name="brokers", role="broker", command=("kubectl", "exec", "-i", "kafka-{broker_id}", "--")),
            ),
            properties=("s3://conf/prod/server-{broker_id}.properties",),
            logs=Logs(command=("kubectl", "logs", "--tail=20000", "kafka-{broker_id}")),
            expect=Expect(brokers=3, cluster_id="abc"),
            limits=Limits(settle_s=2.5, leader_moves=0.3),
            keep=Keep(snapshots=50),
            mute=(Mute(code="KA607", resource="cluster", reason="on purpose", owner="platform", until=date(2027, 1, 31)),),
        )
    }


def test_clusters_keep_the_order_of_the_file(tmp_path):
    assert list(_load(tmp_path, "clusters: {b: {bootstrap: [h:1]}, a: {bootstrap: [h:1]}}")) == ["b", "a"]


def test_what_is_not_given_takes_the_model_s_defaults(tmp_path):
    assert _cluster(tmp_path, "bootstrap: [b1:9092]") == Cluster(name="prod", bootstrap=("b1:9092",))


def test_zookeeper_may_be_a_mapping(tmp_path):
    assert _cluster(tmp_path, "zookeeper: {connect: 'zk1:2181, zk2:2181/a/b'}").zookeeper == ZookeeperAccess(
        connect="zk1:2181,zk2:2181/a/b"
    )


def test_a_connection_of_airflow_is_enough_to_ask_somebody(tmp_path):
    assert _cluster(tmp_path, "kafka_conn_id: kafka_prod").kafka_conn_id == "kafka_prod"


def test_yaml_merge_keys_share_settings_between_clusters(tmp_path):
    text = """
clusters:
  a: &a {bootstrap: [h:1], expect: {brokers: 3}}
  b: {<<: *a, bootstrap: [h:2]}
"""
    assert _load(tmp_path, text)["b"] == Cluster(name="b", bootstrap=("h:2",), expect=Expect(brokers=3))


def test_logs_may_be_paths(tmp_path):
    assert _cluster(tmp_path, "bootstrap: [h:1]\nlogs: {paths: ['/x/{broker_id}/*']}").logs == Logs(paths=("/x/{broker_id}/*",))


def test_one_host_for_all_brokers_is_fine_where_there_is_one_broker(tmp_path):
    found = _cluster(tmp_path, "bootstrap: [h:1]\nexpect: {brokers: 1}\nvantages: {b: {command: [ssh, h], role: broker}}")
    assert found.vantages == (Vantage(name="b", role="broker", command=("ssh", "h")),)


CONTRACT = """
clusters:
  prod:
    zookeeper: zk1:2181,zk2:2181/kafka     # leave out on KRaft; or {connect: …, sasl: {username, password_env}, tls: {ca_file, cert_file, key_file}}
    bootstrap: [b1:9092, b2:9092]          # more addresses to ask, besides those registered
    controllers: [c1:9093]                 # KRaft, optional: addresses that controllers listen on
    security: {protocol: SASL_SSL, mechanism: SCRAM-SHA-512, username: auditor, password_env: KAFKA_AUDIT_PASSWORD, ca_file: …, cert_file: …, key_file: …}
    listeners: {PLAINTEXT: {protocol: PLAINTEXT}}        # by listener name, where it differs from security; listener: skip leaves one out
    reach: {"10.99.0.12:9092": "nginx:9092"}   # this vantage reaches an advertised address through a forward or proxy
    vantages:
      clients: {queue: dmz}                              # an Airflow queue
      brokers: {command: ["kubectl","exec","-i","kafka-{broker_id}","--"], role: broker}
    properties: ["s3://conf/prod/server-{broker_id}.properties"]     # paths with {broker_id}, or a list in any order: broker.id / node.id inside decides
    logs: {command: ["kubectl","logs","--tail=20000","kafka-{broker_id}"]}   # or paths: [".../{broker_id}/controller.log*"]
    expect: {brokers: 3, cluster_id: …, single_broker: false}
    limits: {read_s: 10, audit_s: 300, connections_per_broker: 1, settle_s: 5, leader_moves: 0.2}
    mute: [{code: KA607, resource: "cluster", reason: "…", owner: "…", until: 2027-01-31}]
"""  # noqa: E501 -- the contract's own lines


def test_the_sample_of_the_contract_is_accepted_with_the_catalogue_of_this_version(tmp_path, caplog):
    """As it stands there, without `kafka_conn_id`, which it shows as standing instead of `security`."""
    path = tmp_path / "clusters.yaml"
    path.write_text(CONTRACT)
    with caplog.at_level(logging.WARNING):
        prod = settings.load(path, codes=catalogue())["prod"]
    assert [mute.code for mute in prod.mute] == ["KA607"]
    assert prod.expect.cluster_id == "…"
    assert prod.security == SCRAM
    assert prod.listeners == {"PLAINTEXT": Security()}
    unknown = [] if "KA607" in catalogue() else [f"{path}:17: clusters.prod.mute.0.code: KA607 is not a check of this version"]
    assert [record.getMessage().partition(", so")[0] for record in caplog.records] == unknown


def test_the_contract_with_a_connection_instead_of_security(tmp_path):
    lines = [line for line in CONTRACT.splitlines() if not line.strip().startswith("security:")]
    prod = _load(tmp_path, "\n".join([*lines, "    kafka_conn_id: kafka_prod"]))["prod"]
    assert (prod.kafka_conn_id, prod.security) == ("kafka_prod", Security())


def test_the_contract_with_logins_of_zookeeper(tmp_path):
    text = "zookeeper: {connect: 'z:1/k', sasl: {username: u, password_env: ZK}, tls: {ca_file: ca, cert_file: c, key_file: k}}"
    tls = Tls(ca_file="ca", cert_file="c", key_file="k")
    assert _cluster(tmp_path, text).zookeeper == ZookeeperAccess(
        connect="z:1/k",
        username="u",
        password_env="ZK",  # noqa: S106 -- a variable's name
        tls=tls,
    )
    assert _cluster(tmp_path, "zookeeper: {connect: 'z:1', tls: {}}").zookeeper == ZookeeperAccess(connect="z:1", tls=Tls())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{protocol: SSL}", Security(protocol="SSL")),
        ("{protocol: SSL, ca_file: ca}", Security(protocol="SSL", tls=Tls(ca_file="ca"))),
        ("{protocol: SASL_SSL, mechanism: GSSAPI}", Security(protocol="SASL_SSL", mechanism="GSSAPI")),
    ],
)
def test_security_that_needs_little(tmp_path, text, expected):
    assert _cluster(tmp_path, f"bootstrap: [h:1]\nsecurity: {text}").security == expected


def test_a_mute_of_a_check_that_this_version_lacks_is_told_and_kept(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        found = _cluster(tmp_path, "bootstrap: [h:1]\nmute: [{code: KA110, resource: cluster, reason: r, owner: o}]")
    assert [mute.code for mute in found.mute] == ["KA110"]
    (record,) = caplog.records
    assert record.getMessage() == (
        f"{tmp_path}/clusters.yaml:4: clusters.prod.mute.0.code: KA110 is not a check of this version, and the mute has no"
        " effect; did you mean KA101?"
    )
    caplog.clear()
    _cluster(tmp_path, "bootstrap: [h:1]\nmute: [{code: KA101, resource: cluster, reason: r, owner: o}]")
    assert caplog.records == []


def test_a_mute_whose_day_is_over_is_said_and_kept(tmp_path, caplog):
    entry = "bootstrap: [h:1]\nmute: [{{code: KA101, resource: cluster, reason: r, owner: o, until: {}}}]"
    with caplog.at_level(logging.WARNING):
        found = _cluster(tmp_path, entry.format("2020-01-31"))
        assert len(found.mute) == 1
        assert "the mute of KA101 ended on 31 Jan 2020; remove the entry" in caplog.records[0].getMessage()
        caplog.clear()
        _cluster(tmp_path, entry.format("2999-01-31"))
    assert caplog.records == []


def test_the_example_is_right_and_shows_every_key_of_this_version(tmp_path):
    loaded = settings.load(EXAMPLE, codes=CODES)
    assert list(loaded) == ["prod", "dev"]
    text = EXAMPLE.read_text()
    commented_out = text.replace("    # mute:", "    mute:").replace("    #   - {", "      - {")
    commented_out = commented_out.replace("    listeners: {EXTERNAL: skip}\n", "")
    commented_out = commented_out.replace("# defaults:", "defaults:").replace("#   limits: {audit_s", "  limits: {audit_s")
    for key in ("properties", "logs", "security", "listeners", "controllers", "trusted_hosts"):
        commented_out = commented_out.replace(f"    # {key}: ", f"    {key}: ")
    prod = _load(tmp_path, commented_out)["prod"]
    assert prod.security == replace(SCRAM, tls=Tls(ca_file="ca.pem"))
    assert prod.listeners == {
        "INTERNAL": Security(protocol="SSL", tls=Tls(ca_file="ca.pem", cert_file="auditor.pem", key_file="auditor.key")),
        "EXTERNAL": None,
    }
    assert prod.mute
    assert prod.properties
    assert prod.logs
    assert prod.controllers == ("c1:9093", "c2:9093", "c3:9093")
    assert prod.trusted_hosts == ("*.kafka.example.com", "10.20.0.0/16", "b9.example.com:9093")
    assert prod.limits == Limits()  # the example says that these are the defaults
    assert prod.labels == {"env": "prod", "team": "payments"}
    assert _load(tmp_path, commented_out)["dev"].limits == Limits(audit_s=120)


def test_the_other_logins_of_the_example_are_right(tmp_path):
    found = re.findall(r"^    #   or: (\{protocol: .*\})$", EXAMPLE.read_text(), re.MULTILINE)
    assert len(found) == 4
    for security in found:
        assert (
            _load(tmp_path, f"clusters: {{c: {{bootstrap: [b:1], security: {security}}}}}")["c"].security.mechanism
            == "OAUTHBEARER"
        )


def test_tokens_that_are_fetched(tmp_path):
    path = tmp_path / "clusters.yaml"
    oidc = "{token_endpoint: 'https://login.example/t', scope: kafka, extensions: {logicalCluster: lkc-1}, ca_file: idp.pem}"
    msk = f"{{{OAUTHBEARER}, msk_region: eu-west-1}}"
    path.write_text(
        f"clusters: {{a: {{bootstrap: [b:1], security: {{{TOKENS}, oidc: {oidc}}}}}, b: {{bootstrap: [b:1], security: {msk}}}}}"
    )
    found = settings.load(path)
    assert found["a"].security == Security(
        protocol="SASL_SSL",
        mechanism="OAUTHBEARER",
        username="u",
        password_env="P",  # noqa: S106 -- a variable's name
        oidc=Oidc(
            token_endpoint="https://login.example/t",  # noqa: S106 -- a URL
            scope="kafka",
            extensions=(("logicalCluster", "lkc-1"),),
            ca_file="idp.pem",
        ),
    )
    assert found["b"].security == Security(protocol="SASL_SSL", mechanism="OAUTHBEARER", msk_region="eu-west-1")


def test_tokens_of_the_identities_of_clouds(tmp_path):
    scope = "https://space.servicebus.windows.net/.default"
    listeners = f"{{A: {{{OAUTHBEARER}, google_cloud: true}}, B: {{{OAUTHBEARER}, azure_scope: '{scope}'}}}}"
    found = _load(tmp_path, f"clusters: {{c: {{bootstrap: [b:1], listeners: {listeners}}}}}")["c"].listeners
    expected = {"protocol": "SASL_SSL", "mechanism": "OAUTHBEARER"}
    assert found == {"A": Security(**expected, google_cloud=True), "B": Security(**expected, azure_scope=scope)}
    assert all(security.fetches_tokens for security in found.values())


# what is wrong (the keys of one cluster, the same beside `bootstrap`, of `security`, of a mute), what the line must say
ALONE = {
    "key written twice": ("bootstrap: [h:1]\nbootstrap: [h:2]", "4: clusters.prod.bootstrap: is a duplicate key; remove one"),
    "nobody to ask": ("expect: {brokers: 3}", "2: clusters.prod: has no address; set zookeeper: host:2181 or"),
    "not a mapping": ("- bootstrap", "clusters.prod: must be a mapping with some of the keys labels, zookeeper, bootstrap,"),
    "empty value": ("bootstrap:", "3: clusters.prod.bootstrap: is empty; set it to a list such as [b1:9092, b2:9092], or remove"),
    "empty list": ("bootstrap: []", "bootstrap: is empty; set it to a list"),
    "empty text": ("zookeeper: ''", "zookeeper: is empty; set it to host:2181/chroot, or remove the key"),
    "text for a list": ("bootstrap: b1:9092", "bootstrap: must be a list such as [b1:9092, b2:9092], not text"),
    "no port": ("bootstrap: [b1]", "3: clusters.prod.bootstrap.0: 'b1' is not a host:port such as b1.example.com:9092"),
    "port too high": ("bootstrap: [b1:99999]", "'b1:99999' is not a host:port"),
    "port zero": ("bootstrap: [b1:0]", "'b1:0' is not a host:port"),
    "a URL": ("bootstrap: ['http://b1:9092']", "is not a host:port"),
    "bare IPv6": ("bootstrap: ['::1:9092']", "is not a host:port"),
    "zookeeper without port": ("zookeeper: zk1,zk2:2181", "3: clusters.prod.zookeeper: 'zk1' is not a host:port"),
    "chroot on every host": ("zookeeper: zk1:2181/kafka,zk2:2181/kafka", "is not a chroot"),
    "chroot with a slash at its end": ("zookeeper: zk1:2181/kafka/", "'/kafka/' is not a chroot such as /kafka"),
    "zookeeper mapping without connect": ("zookeeper: {}", "zookeeper: requires connect: host:2181/chroot"),
    "zookeeper sasl without a user": (
        "zookeeper: {connect: 'z:1', sasl: {password_env: P}}",
        "3: clusters.prod.zookeeper.sasl: requires username: the user name",
    ),
    "zookeeper sasl without a password": (
        "zookeeper: {connect: 'z:1', sasl: {username: u}}",
        "zookeeper.sasl: requires password_env: the name of the environment variable that holds the password",
    ),
    "zookeeper key without certificate": (
        "zookeeper: {connect: 'z:1', tls: {key_file: k}}",
        "zookeeper.tls: has key_file without cert_file; a client certificate requires both",
    ),
    "zookeeper tls misspelt": ("zookeeper: {connect: 'z:1', tls: {cafile: k}}", "tls.cafile: unknown key; did you mean ca_file?"),
    "security twice": (
        "kafka_conn_id: k\nsecurity: {protocol: PLAINTEXT}",
        "kafka_conn_id: conflicts with security; remove one of them",
    ),
}
BESIDE = {
    "unknown key": ("listner: {A: skip}", "4: clusters.prod.listner: unknown key; did you mean listeners?"),
    "key that belongs elsewhere": ("settle_s: 3", "4: clusters.prod.settle_s: unknown key; it belongs at limits.settle_s"),
    "nothing near": ("expect: {zzz: 1}", "4: clusters.prod.expect.zzz: unknown key; valid keys: brokers,"),
    "ca_file without TLS": (
        "listeners: {X: {protocol: SASL_PLAINTEXT, ca_file: f}}",
        "listeners.X.ca_file: has no effect with protocol SASL_PLAINTEXT; remove it",
    ),
    "mechanism at the wrong place": ("mechanism: PLAIN", "unknown key; it belongs at security.mechanism"),
    "protocol missing": ("security: {}", "security: requires protocol: one of PLAINTEXT, SSL,"),
    "listener neither skip nor mapping": ("listeners: {A: skp}", "listeners.A: 'skp' is not one of skip; did"),
    "reach without a port": ("reach: {'h:1': nginx}", "reach.h:1: 'nginx' is not a host:port"),
    "reach from no address": ("reach: {h: 'nginx:1'}", "reach.h: 'h' is not a host:port"),
    "vantage with both": (
        "vantages: {v: {queue: q, command: [ssh]}}",
        "4: clusters.prod.vantages.v: requires exactly one of queue: NAME and command:",
    ),
    "vantage with neither": ("vantages: {v: {role: client}}", "vantages.v: requires exactly one of"),
    "vantage named like ours": ("vantages: {worker: {queue: q}}", "worker is the reserved name of the host"),
    "command as text": ("vantages: {v: {command: ssh h}}", "command: must be a list such as [ssh, dmz1], not t"),
    "number in a command": (
        "vantages: {v: {command: [ssh, -p, 22]}}",
        "vantages.v.command.2: must be text, not a number; quote it",
    ),
    "one command for all brokers": (
        "vantages: {v: {command: [ssh, h], role: broker}}",
        "command: must contain {broker_id}: with role: broker, the command runs on the host",
    ),
    "controller vantage on one host": (
        "expect: {brokers: 1}\nvantages: {v: {command: [ssh, 'kafka-{broker_id}'], role: controller}}",
        "must contain {controller_id}: with role: controller, the command runs on the host of each controller",
    ),
    "queue as a controller": ("vantages: {v: {queue: q, role: controller}}", "use command: [ssh, 'kafka-{controller_id}']"),
    "queue as a broker": ("vantages: {v: {queue: q, role: broker}}", "role: a queue is one host, not one per"),
    "role misspelt": ("vantages: {v: {queue: q, role: brokers}}", "; did you mean broker?"),
    "logs with both": ("logs: {paths: [p], command: [c]}", "logs: requires exactly one of command:"),
    "brokers as text": ("expect: {brokers: three}", "expect.brokers: must be a whole number, not text"),
    "brokers as a flag": ("expect: {brokers: true}", "expect.brokers: must be a whole number, not true or fal"),
    "no brokers": ("expect: {brokers: 0}", "expect.brokers: must be at least 1, not 0"),
    "flag as text": ("expect: {single_broker: 'yes'}", "single_broker: must be true or false, not text"),
    "cluster id as a number": ("expect: {cluster_id: 17}", "cluster_id: must be Kafka's cluster id, not a num"),
    "negative limit": ("limits: {settle_s: -1}", "limits.settle_s: must be at least 0, not -1"),
    "share above one": ("limits: {leader_moves: 20}", "limits.leader_moves: must be from 0 to 1, not 20"),
    "limit without end": ("limits: {audit_s: .inf}", "limits.audit_s: must be at least 1, not inf"),
    "limit that is no number": ("limits: {audit_s: .nan}", "limits.audit_s: must be at least 1, not nan"),
    "audit shorter than a read": ("limits: {audit_s: 5}", "limits: audit_s (5) must be at least rea"),
    "keep less than a comparison needs": ("keep: {snapshots: 1}", "keep.snapshots: must be at least 2, not 1"),
    "keep at the wrong place": ("snapshots: 9", "snapshots: unknown key; it belongs at keep.snapshots"),
    "boolean key": ("listeners: {on: skip}", "4: clusters.prod.listeners: keys must be text; quote the key"),
}
SECURITY = {
    "no mechanism": (
        "protocol: SASL_SSL",
        ": requires mechanism: one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, GSSAPI, OAUTHBEARER",
    ),
    "mechanism unknown": ("protocol: SASL_SSL, mechanism: SCRAM-SHA-1", ".mechanism: 'SCRAM-SHA-1' is not one of PLAIN,"),
    "no user": ("protocol: SASL_SSL, mechanism: PLAIN, password_env: P", ": requires username: the user name"),
    "no password": (
        "protocol: SASL_SSL, mechanism: PLAIN, username: u",
        ": requires password_env: the name of the environment variable that holds the password",
    ),
    "mechanism without a login": ("protocol: SSL, mechanism: PLAIN", ".mechanism: has no effect with protocol SSL; remove it"),
    "user of a ticket": (
        "protocol: SASL_SSL, mechanism: GSSAPI, username: u",
        ".username: has no effect with mechanism GSSAPI; remove it",
    ),
    "tokens without an endpoint": (
        f"{TOKENS}, oidc: {{scope: a}}",
        ".oidc: requires token_endpoint: the URL where tokens are fetched",
    ),
    "tokens without a client": (f"{OAUTHBEARER}, oidc: {{token_endpoint: 'https://h/t'}}", ": requires username: the user name"),
    "a token endpoint without a scheme": (
        f"{TOKENS}, oidc: {{token_endpoint: 'h/token'}}",
        ".oidc.token_endpoint: is not a URL such as https://login.example.com/token",
    ),
    "a token endpoint with a login": (
        f"{TOKENS}, oidc: {{token_endpoint: 'https://u:hush@h/token'}}",
        ".oidc.token_endpoint: contains a login; set the client ID and the client secret by their own keys",
    ),
    "an extension that is none": (
        f"{TOKENS}, oidc: {{token_endpoint: 'https://h/t', extensions: {{auth: x}}}}",
        ".oidc.extensions.auth: is not the name of a SASL extension: letters only, and not auth",
    ),
    "tokens of two sources": (
        f"{TOKENS}, oidc: {{token_endpoint: 'https://h/t'}}, msk_region: eu-west-1",
        ".msk_region: has no effect with oidc; remove it",
    ),
    "tokens for a password": (
        "protocol: SASL_SSL, mechanism: PLAIN, username: u, password_env: P, msk_region: eu-west-1",
        ".msk_region: has no effect with mechanism PLAIN; remove it",
    ),
    "a region that is none": (
        f"{OAUTHBEARER}, msk_region: Ireland",
        ".msk_region: 'Ireland' is not an AWS region such as eu-west-1",
    ),
    "Google's tokens switched off": (
        f"{OAUTHBEARER}, google_cloud: false",
        ".google_cloud: is false, which is no source of tokens; remove it",
    ),
    "a namespace for a scope": (
        f"{OAUTHBEARER}, azure_scope: space.servicebus.windows.net",
        ".azure_scope: 'space.servicebus.windows.net' is not a scope such as https://NAMESPACE.servicebus.windows.net/.default",
    ),
    "tokens of two clouds": (
        f"{OAUTHBEARER}, google_cloud: true, msk_region: eu-west-1",
        ".google_cloud: has no effect with msk_region; remove it",
    ),
    "a secret that nobody uses": (
        f"{OAUTHBEARER}, msk_region: eu-west-1, password_env: P",
        ".password_env: has no effect with msk_region; remove it",
    ),
    "key without certificate": (
        "protocol: SSL, key_file: k",
        ": has key_file without cert_file; a client certificate requires both",
    ),
    "protocol misspelt": (
        "protocol: SASL_TLS",
        ".protocol: 'SASL_TLS' is not one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL; did you mean SASL_SSL?",
    ),
    "credentials that nobody uses": (
        "protocol: PLAINTEXT, username: u",
        ".username: has no effect with protocol PLAINTEXT; remove it",
    ),
}
MUTES = {
    "mute without reason": ("code: KA101, resource: cluster, owner: me", ": requires reason: why the finding is accepted"),
    "mute without owner": ("code: KA101, resource: c, reason: r", ": requires owner: the person or team"),
    "mute without resource": ("code: KA101, reason: r, owner: o", ": requires resource: the resource"),
    "mute of nothing": (
        "code: KA01, resource: c, reason: r, owner: o",
        ".code: 'KA01' is not a check code such as KA101; did you mean KA301?",
    ),
    "mute of a code in small letters": (
        "code: ka101, resource: c, reason: r, owner: o",
        ".code: 'ka101' is not a check code such as KA101; did you mean KA101?",
    ),
    "mute of code zero": ("code: KA000, resource: c, reason: r, owner: o", ".code: 'KA000' is not a check code"),
    "mute of a name": ("code: stale_leader, resource: c, reason: r, owner: o", ".code: 'stale_leader' is no"),
    "mute until no day": (
        "code: KA101, resource: c, reason: r, owner: o, until: soon",
        ".until: must be a date such as 2027-01-31",
    ),
    "mute until a day that is not": (
        "code: KA101, resource: c, reason: r, owner: o, until: 2027-13-45",
        ".until: is not a valid date",
    ),
    "mute until a time": (
        "code: KA101, resource: c, reason: r, owner: o, until: 2027-01-31 10:00:00",
        ".until: must be a date such as 2027-01-31",
    ),
}
WRONG = {
    **ALONE,
    **{slip: (f"bootstrap: [h:1]\n{keys}", message) for slip, (keys, message) in BESIDE.items()},
    **{
        slip: (f"bootstrap: [h:1]\nsecurity: {{{keys}}}", f"4: clusters.prod.security{message}")
        for slip, (keys, message) in SECURITY.items()
    },
    **{
        slip: (f"bootstrap: [h:1]\nmute: [{{{keys}}}]", f"4: clusters.prod.mute.0{message}")
        for slip, (keys, message) in MUTES.items()
    },
}


@pytest.mark.parametrize(("keys", "message"), WRONG.values(), ids=WRONG)
def test_a_slip_in_a_cluster_is_one_line_with_file_line_key_and_way_out(tmp_path, keys, message):
    with pytest.raises(UsageError) as error:
        _cluster(tmp_path, keys)
    assert str(error.value).startswith(f"{tmp_path}/clusters.yaml:")
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2


# the whole file, what the line must say
FILES = {
    "empty": ("", "clusters.yaml: is empty; it must contain `clusters:`, see clusters.example.yaml"),
    "only comments": ("# nothing\n", "is empty; it must contain `clusters:`"),
    "no clusters": ("{}", "1: must start with `clusters:`"),
    "clusters empty": ("clusters:\n", "1: clusters: is empty; set it to a mapping of cluster names"),
    "a list": ("- a", "1: must be a mapping with some of the keys clusters"),
    "cluster at the top": ("zookeeper: z:1", "1: zookeeper: unknown key; it belongs at clusters.<name>.zookeeper"),
    "not YAML": ("clusters:\n  prod: {bootstrap: [", "clusters.yaml:2: not YAML: "),
    "a tab": ("clusters:\n\tprod: 1", "clusters.yaml:2: not YAML: a tab is used for indentation; use spaces"),
    "a control character": ("clusters: \x07", "clusters.yaml: not YAML: it contains a control character"),
    "a tag": ("clusters: !secret prod", "clusters.yaml:1: not YAML: could not determine a constructor"),
    "two documents": ("clusters: {}\n---\nclusters: {}", "not YAML: but found another document"),
    "contains itself": ("clusters: &a {b: *a}", "is nested too deeply"),
    "a name that is a path": ("clusters: {../x: {bootstrap: [h:1]}}", "clusters.../x: a cluster's name takes letters, digits"),
    "a name that is a number": ("clusters: {1: {bootstrap: [h:1]}}", "clusters: keys must be text; quote the key"),
}


@pytest.mark.parametrize(("text", "message"), FILES.values(), ids=FILES)
def test_a_slip_in_the_file_is_one_line(tmp_path, text, message):
    with pytest.raises(UsageError) as error:
        _load(tmp_path, text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_bytes_are_no_cluster_file(tmp_path):
    (tmp_path / "clusters.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        settings.load(tmp_path / "clusters.yaml", codes=CODES)


SECRETS = {
    "in security": "bootstrap: [h:1]\nsecurity: {protocol: SASL_SSL, username: u, password: hunter2}",
    "in a listener": "bootstrap: [h:1]\nlisteners: {A: {protocol: SASL_SSL, password: hunter2}}",
    "in zookeeper": "zookeeper: {connect: 'z:1', password: hunter2}",
    "beside other slips": "bootstrap: [h:1]\nsecurity: {protocl: X, password: hunter2}",
    "in an address": "bootstrap: ['me:hunter2@h:1']",
    "in a broken file": "security: {password: hunter2",
    "where a variable's name belongs": (
        "bootstrap: [h:1]\nsecurity: {protocol: SASL_SSL, mechanism: PLAIN, username: u, password_env: hunter2!}"
    ),
    "in zookeeper's login": "zookeeper: {connect: 'z:1', sasl: {username: u, password: hunter2}}",
}


@pytest.mark.parametrize("keys", SECRETS.values(), ids=SECRETS)
def test_a_password_in_the_file_is_refused_and_never_repeated(tmp_path, keys):
    with pytest.raises(UsageError) as error:
        _cluster(tmp_path, keys)
    assert "hunter2" not in str(error.value)
