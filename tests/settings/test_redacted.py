"""The entry of a cluster as a bundle shows it: nothing that is, or could by mistake be, a secret."""

import dataclasses
import json

from kafka_audit import settings
from kafka_audit.model.cluster import Cluster
from kafka_audit.settings.redacted import redacted_cluster

FILE = """
clusters:
  prod:
    labels: {team: payments, url: "https://me:hunter2@h/x"}
    zookeeper: {connect: "zk1:2181/kafka", sasl: {username: auditor, password_env: hunter2}, tls: {ca_file: ca.pem, cert_file: c.pem, key_file: hunter2}}
    bootstrap: ["b1:9092"]
    security: {protocol: SASL_SSL, mechanism: PLAIN, username: auditor, password_env: hunter2, ca_file: ca.pem}
    listeners: {A: {protocol: SASL_PLAINTEXT, mechanism: PLAIN, username: u, password_env: hunter2}, B: skip}
    trusted_hosts: ["*.kafka.corp"]
    reach: {"10.99.0.12:9092": "nginx:9092"}
    vantages: {here: {command: [sshpass, -p, hunter2, ssh, h]}, dmz: {queue: dmz}}
    properties: ["s3://AKIA:hun/ter2hunter2@conf/s-{broker_id}.properties", "/etc/kafka/server-{broker_id}.properties"]
    logs: {command: [sh, -c, "PASSWORD=hunter2 kubectl logs kafka-{broker_id}"]}
    expect: {brokers: 3}
    progress: {reassignment: 30}
    mute: [{code: KA607, resource: "cluster", reason: "the password is hunter2", owner: "hunter2", until: 2027-01-31}]
"""  # noqa: E501 -- a file


def shown(tmp_path, text=FILE):
    path = tmp_path / "clusters.yaml"
    path.write_text(text)
    return redacted_cluster(settings.load(path)["prod"])


def test_no_secret_is_left_wherever_somebody_wrote_one(tmp_path):
    text = json.dumps(shown(tmp_path))
    assert "hunter2" not in text
    assert "ter2" not in text


def test_what_is_no_secret_says_how_the_cluster_is_audited(tmp_path):
    found = shown(tmp_path)
    assert found["zookeeper"] == {
        "connect": "zk1:2181/kafka",
        "username": "auditor",
        "password_env": "***",
        "tls": {"ca_file": "ca.pem", "cert_file": "c.pem", "key_file": "***"},
    }
    assert found["listeners"]["B"] == "skip"
    assert found["vantages"][0] == {"name": "here", "role": "client", "command": ["sshpass", "***"]}
    assert found["properties"] == ["s3://***", "/etc/kafka/server-{broker_id}.properties"]
    assert found["mute"] == [{"code": "KA607", "resource": "cluster", "reason": "***", "owner": "***", "until": "2027-01-31"}]
    assert found["progress"] == {"reassignment": 30.0}
    assert (found["expect"], found["limits"]["read_s"]) == ({"brokers": 3, "single_broker": False}, 10.0)


def test_every_key_of_an_entry_is_decided(tmp_path):
    more = FILE + '    controllers: ["c1:9093"]\n'
    with_connection = "clusters: {prod: {kafka_conn_id: kafka_prod}}"
    assert set(shown(tmp_path, more)) | set(shown(tmp_path, with_connection)) == {
        field.name
        for field in dataclasses.fields(Cluster)
        if field.name != "asked_topics"  # no key of an entry
    }


def test_the_smallest_entry_shows_no_empty_keys():
    found = redacted_cluster(Cluster(name="c", bootstrap=("b:9092",)))
    assert set(found) == {"name", "bootstrap", "security", "expect", "limits", "keep"}
    assert found["security"] == {"protocol": "PLAINTEXT"}


def test_a_token_endpoint_is_shown_without_what_may_be_a_key(tmp_path):
    oidc = "{token_endpoint: 'https://login.example/hunter2/token?k=hunter2', scope: kafka, extensions: {pool: hunter2}}"
    text = f"""
clusters:
  prod:
    bootstrap: ["b1:9092"]
    security: {{protocol: SASL_SSL, mechanism: OAUTHBEARER, username: auditor, password_env: hunter2, oidc: {oidc}}}
    listeners:
      A: {{protocol: SASL_SSL, mechanism: OAUTHBEARER, msk_region: eu-west-1}}
      B: {{protocol: SASL_SSL, mechanism: OAUTHBEARER, google_cloud: true}}
      C: {{protocol: SASL_SSL, mechanism: OAUTHBEARER, azure_scope: "https://space.servicebus.windows.net/.default"}}
"""
    found = shown(tmp_path, text)
    assert "hunter2" not in json.dumps(found)
    assert found["security"]["oidc"] == {
        "token_endpoint": "https://login.example/***",
        "scope": "kafka",
        "extensions": {"pool": "***"},
    }
    assert found["listeners"]["A"]["msk_region"] == "eu-west-1"
    assert "google_cloud" not in found["listeners"]["A"]
    assert found["listeners"]["B"]["google_cloud"] is True
    assert found["listeners"]["C"]["azure_scope"] == "https://space.servicebus.windows.net/.default"
