"""Honest inputs, in the form in which readers take them: what fuzzing begins with. `python -m fuzz.seeds` writes the corpus."""

import base64
import json
import struct
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from kafka.protocol.admin import DescribeQuorumResponse, DescribeUserScramCredentialsResponse

import bundled
from airflow_environment import ROOT
from collect.fakes import metadata
from fuzz import talk, watch
from fuzz.readers import _ASKED, READERS, _honest_znodes
from hostile_parties.zookeeper import kafka_tree
from kafka_audit.clients import sasl
from kafka_audit.model.report import report_text
from kafka_audit.report import digest

_BROKERS = {0: ("b0.example.com", 9092), 1: ("b1.example.com", 9092)}
_TOPICS = {"orders": {0: (0, [0, 1]), 1: (1, [1, 0])}}
_JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password=\'b\' user_a="b" /* c */ x=-1.5;'
_PROPERTIES = rf"""
broker.id=0
listeners=INTERNAL://0.0.0.0:9092,CLIENTS://:9093
advertised.listeners=INTERNAL://b0.example.com:9092,CLIENTS://[::1]:9093
listener.security.protocol.map=INTERNAL:PLAINTEXT,CLIENTS:SASL_SSL
inter.broker.listener.name=INTERNAL
zookeeper.connect=z1:2181,z2:2181/kafka
# kafka-audit: ignore KA308 known
log.dirs=/data/a,\
  /data/b
super.users=User:kafka;User:\u0041
authorizer.class.name: kafka.security.authorizer.AclAuthorizer
listener.name.clients.plain.sasl.jaas.config={_JAAS}
ssl.principal.mapping.rules=RULE:^CN=(.*?),.*$/$1/L,DEFAULT
""".encode()
_KRAFT = b"""process.roles=broker,controller
node.id=1
controller.quorum.voters=1@c1:9094,2@c2:9094
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://:9092,CONTROLLER://:9094
log.dirs=/data
"""
_CONFIG_MAP = b"""apiVersion: v1
kind: List
items:
  - kind: ConfigMap
    metadata: {name: kafka}
    data:
      server.properties: |
        broker.id=0
        zookeeper.connect=z:2181
        listeners=PLAINTEXT://:9092
  - kind: StatefulSet
    metadata: {name: kafka}
    spec: {template: {spec: {containers: [{name: k, image: 'confluentinc/cp-kafka:7.5.0', env: [
      {name: KAFKA_BROKER_ID, value: "0"}, {name: KAFKA_ZOOKEEPER_CONNECT, value: 'z:2181'}, {name: X, valueFrom: {}}]}]}}}
"""
_CHART = b"""kraftVersion: 0
controller: {replicaCount: 2, minId: 10, controllerOnly: true, overrideConfiguration: {num.partitions: 6}, secretConfig: "a=b"}
broker: {replicaCount: 1, config: {process.roles: broker}}
listeners: {client: {name: A, protocol: SSL, sslClientAuth: none}, extraListeners: [{name: x, protocol: SASL_SSL}]}
sasl: {enabledMechanisms: "PLAIN,OAUTHBEARER", client: {users: [a, b]}}
externalAccess: {enabled: true}
---
cp-kafka: {brokers: 2, imageTag: 7.6.1, nodeport: {firstListenerPort: 1}, configurationOverrides: {advertised.listeners: "A://h:1"}}
"""
_PODS = b"""kind: ConfigMap
metadata: {name: m, labels: {app.kubernetes.io/managed-by: Helm}}
data: {server.properties: "process.roles=broker\\nadvertised.listeners=A://advertised-address-placeholder:1\\n"}
---
kind: StatefulSet
metadata: {name: kafka-broker}
spec:
  replicas: 2
  template: {spec: {initContainers: [{env: [{name: KAFKA_MIN_ID, value: "9"}]}], volumes: [{configMap: {name: m}}]}}
"""
_COMPOSE = b"""services:
  kafka:
    image: &i bitnami/kafka:3.9
    environment: [KAFKA_CFG_NODE_ID=0, 'KAFKA_CFG_PROCESS_ROLES=broker', "KAFKA_CFG_LISTENERS=PLAINTEXT://:9092", $$X, A=${B:-c}]
  other: {image: *i, environment: {KAFKA_BROKER_ID: 1, KAFKA_ADVERTISED_LISTENERS: "PLAINTEXT://$HOST:9092"}}
"""
_ENV = b"""export KAFKA_BROKER_ID=0 # the first
KAFKA_ZOOKEEPER_CONNECT="z:2181"
KAFKA_ADVERTISED_LISTENERS='PLAINTEXT://b0:9092'
KAFKA_LOG_DIRS=/data\\\\a
"""
_SIZES = (
    (b'{"brokerid":0,"x":[', b"{},", b"0]}"),
    (b'{"id":"abc","x":[', b"[],", b"0]}"),
    (b'{"leader":0,"leader_epoch":1,"controller_epoch":1,"isr":[', b"1,", b"0]}"),
    (b'{"endpoints":[', b'"L://h:1",', b'"L://h:1"]}'),
    (b'{"brokerid":0,"kraftControllerEpoch":1,"x":[', b"{},", b"0]}"),
    (b'{"config":{"min.insync.replicas":"2","x":[', b"{},", b"0]}}"),
    (b'{"config":{"log.cleaner.threads":"', b"2", b'"}}'),
    (b'{"config":{"SCRAM-SHA-256":"', b"x", b'"}}'),
    (b'{"partitions":{"0":[', b"7,", b"7]}}"),
    (b'{"acls":[', b'{"principal":"User:a","host":"*","operation":"Read","permissionType":"Allow"},', b"{}]}"),
    (b'{"partitions":[', b'{"topic":"t","partition":0,"replicas":[0]},', b"{}]}"),
)
"""Before, middle and after of a znode of each kind, in the order of `readers._KINDS`."""

_LOG = b"""[2026-11-22 10:00:00] WARN [Controller id=0, targetBrokerId=1] Connection to node 1 (b1:9092) could not be established.
[2026-11-22 10:00:01,000] INFO Registered broker 0 at path /brokers/ids/0 with addresses: A://b:1, czxid (broker epoch): 42
[2026-11-22 10:00:02,000] ERROR Error while loading log dir /data (kafka.log.LogManager)
java.io.IOException: Input/output error
{"@timestamp":"2026-11-22T10:00:03.5+01:00","level":"WARN","message":"password=abc"}
"""
_SRVR = b"""Zookeeper version: 3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC
Latency min/avg/max: 0/0.5/37
Received: 1500
Connections: 6
Outstanding: 0
Zxid: 0x1000000c3
Mode: follower
Node count: 153
"""


def seeds():
    """Return honest inputs by reader."""
    plain = [metadata(version, _BROKERS, _TOPICS) for version in (1, 5, 8, 9, 12, 13)]
    answers = [bytes([response.API_VERSION - 1]) + bytes(response.encode()) for response in plain]
    stat = struct.pack("!qqqqiiiqiiq", *range(1, 12))
    found = {
        "wire_metadata": answers,
        "wire_views": answers,
        "wire_acls": [bytes([version]) + _answer(29, version) for version in range(4)],
        "wire_log_dirs": [bytes([version]) + _answer(35, version) for version in range(6)],
        "wire_offsets": [bytes([version - 1]) + _answer(2, version) for version in (1, 2, 4, 5)],
        "wire_broker": [
            bytes([number, version]) + _answer(key, version)
            for number, (key, newest) in enumerate(_ASKED)
            for version in {0, newest}
        ],
        "wire_groups": [bytes([version]) + _answer(16, version) for version in (0, 4)]
        + [bytes([0x80 + (version + 4) % 6]) + _answer(15, version) for version in (0, 5)],
        "wire_controller": [b"\0" + _answer(60, 1), b"\x81" + _answer(55, 0), b"\x83" + _answer(55, 2)],
        "wire_scram_users": [_answer(50, 0)],
        "wire_topic_configs": [bytes([version]) + _answer(-32, version) for version in (0, 4)],
        "wire_scram_login": [_scram_login(), b"r=abcdef,s=c2FsdA==,i=1", b"e=other-error"],
        "wire_probe": [
            b"\0\0\0\0\0\0\2\0\0\0\0\0\7\0\3\0\0\0\5",
            b"\1\0\0\0\0\0\2\0\5PLAIN\0\6SCRAM-",
            b"\2\0\0\0\0\0\0\0\1\0\x2a\0\x26Unexpected broker id, expected 0 or empty string",
        ],
        "wire_frames": [bytes([version]) + b"\xff" + talk.honest(_request(18, version)) for version in (0, 3)],
        "token_answer": [
            b'\0{"access_token":"eyJh.eyJz.c2ln","token_type":"Bearer","expires_in":300}',
            b'\2{"error":"invalid_client","error_description":"Invalid client or Invalid client credentials"}',
            b"\5<html>Bad Gateway</html>",
            b'\0{"access_token":"eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjE3fQ.c2ln"}',
            b'\3{"error":"invalid_client","error_description":"SECRET is wrong"}',
        ],
        "bundle_file": [_bundle()],
        "imported_report": _reports(),
        "znode": _znodes(),
        "znode_sizes": [
            bytes([kind, share]) + before + b"\n" + middle + b"\n" + after
            for kind, (before, middle, after) in enumerate(_SIZES)
            for share in (3, 4)
        ],
        "cluster_names": [
            struct.pack("!i", port) + text.encode()
            for port, text in (
                (9092, "b_0.Kafka.example.com\neu-west-1a\norders"),
                (1, "[fe80::1%eth0]\nZürich / 7\n__consumer_offsets"),
                (70_000, "x ;touch /tmp/P;#\na\u2028b\n.."),
            )
        ],
        "znode_security": [
            b'\0orders\n{"version":1,"acls":[{"principal":"User:a","permissionType":"Allow","operation":"Read","host":"*"}]}',
            b'\x010\n{"version":1,"config":{"ssl.key.password":"x","advertised.listeners":"PLAINTEXT://b0:9092"}}',
            b'\x01<default>\n{"version":1,"config":{"log.cleaner.threads":"2"}}',
            b'\2kafka\n{"version":1,"config":{"SCRAM-SHA-256":"salt=a,stored_key=b,server_key=c,iterations=4096"}}',
            b'\3orders\n{"version":1,"config":{"min.insync.replicas":"2","leader.replication.throttled.replicas":"0:1"}}',
            b'\4\n{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[0,1]}]}',
        ],
        "znode_multiread": [
            struct.pack("!iBii", 4, 0, 0, 2)
            + b"hi"
            + stat
            + struct.pack("!iBii", -1, 0, -101, -101)
            + struct.pack("!iBi", -1, 1, -1)
        ],
        "zookeeper_look": [
            path.encode() + b"\n" + content for path, content in _honest_znodes().items() if content or path == "/brokers/ids"
        ]
        + [b'/migration\n{"kraft_metadata_offset":1,"kraft_metadata_epoch":2}', b"/brokers/ids/99999999999999999999\n{}"],
        "zookeeper_srvr": [_SRVR, b"z1:2181,[::1]:2182,z3/kafka", b"srvr is not executed because it is not in the whitelist.\n"],
        "properties": [_PROPERTIES, _KRAFT],
        "kafka_config": [bytes([version]) + text for version in range(5) for text in (_PROPERTIES, _KRAFT)],
        "listeners": [b"INTERNAL://b0:9092,CLIENTS://[::1]:9093, X://:1", b"CONTROLLER,A", b"PLAINTEXT://b%0.example.com:9092"],
        "lint_yaml": [_CONFIG_MAP, _COMPOSE, _CHART, _PODS],
        "lint_file": [b"\0" + _PROPERTIES, b"\1" + _ENV, b"\2" + _COMPOSE, b"\0" + _KRAFT],
        "lint_judged": [_PROPERTIES, _KRAFT],
        "jaas_text": [_JAAS.encode(), b"com.sun.security.auth.module.Krb5LoginModule required principal='kafka/b0@X' // c\n;"],
        "ssl_rules": [
            b"RULE:^CN=(.*?),OU=.*$/$1/L,DEFAULT\nCN=kafka-0,OU=infra",
            b"RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U",
            b"RULE:(?:a|b){2,3}+[^x\\d]\\Q.\\E/\\$1$0/\nab",
        ],
        "kerberos_rules": [
            b"RULE:[1:$1@$0](.*@EXAMPLE\\.COM)s/@.*//,RULE:[2:$1](kafka)s/k/K/g/L,DEFAULT\nkafka/b0@EXAMPLE.COM",
            b"DEFAULT\nuser@EXAMPLE.COM",
        ],
        "cluster_file": [_cluster_file(), b"clusters: {prod: {bootstrap: ['b1:9092'], limits: {read_s: 2}}}\n"],
        "log_text": [_LOG],
        "logs_alone": [
            _LOG,
            b"kafka-1  | [2026-11-29 10:00:00,000] ERROR x\nCaused by: java.io.IOException: No space left on device",
        ],
        "pasted_lines": [
            _LOG,
            b'{"level": "ERROR", "message": "Encountered fatal fault: x", "logger_name": "a.B"}',
            b"kafka-1  | 2026-03-04 10:11:12,345 [myid:1] - WARN  [x:QuorumCnxManager@400] - Cannot open channel to 2 at x",
        ],
        "masking": [
            *_LOG.splitlines(),
            b'sasl.jaas.config="x LoginModule required password=\\"a\\";" https://a:b@host/?sig=abc token: eyJhbGciOi.eyJ.x',
        ],
        "secret_filter": [
            b"ldap.bind.password\nx",
            b"x\nhttps://a:b@h/?sig=abc",
            b"x\nAKIAABCDEFGHIJKLMNOP",
            b"super.users\nUser:a;User:b",
        ],
        "vantage_output": [
            b"motd\nkafka-audit\t0\tdns\tok\t\t10.0.0.1\t\t3\nkafka-audit\t0\ttcp\tfailed\ttimeout\t\t\t2000\nkafka-audit\t1\tcertificate\tok\t\tAA==\t\t1\n"
        ],
        "certificate": [_certificate()],
        "certificate_name": [_certificate_name()],
    }
    missing = READERS.keys() - found.keys()
    assert not missing, missing
    return found


def _request(key, version):
    """Return a framed request, as far as the fakes read it."""
    from kafka.protocol import admin, consumer  # noqa: PLC0415
    from kafka.protocol import metadata as queries  # noqa: PLC0415

    kinds = {
        2: lambda: consumer.ListOffsetsRequest(version=version, replica_id=-1, isolation_level=0, topics=[]),
        3: lambda: queries.MetadataRequest(version=version, topics=None, allow_auto_topic_creation=False),
        15: lambda: admin.DescribeGroupsRequest(version=version, groups=["billing"], include_authorized_operations=False),
        16: lambda: admin.ListGroupsRequest(version=version, states_filter=[], types_filter=[]),
        18: lambda: queries.ApiVersionsRequest(version=version, client_software_name="a", client_software_version="1"),
        29: lambda: admin.DescribeAclsRequest(
            version=version,
            resource_type_filter=1,
            resource_name_filter=None,
            pattern_type_filter=1,
            principal_filter=None,
            host_filter=None,
            operation=1,
            permission_type=1,
        ),
        32: lambda: admin.DescribeConfigsRequest(
            version=version,
            resources=[
                admin.DescribeConfigsRequest.DescribeConfigsResource(resource_type=4, resource_name="0", configuration_keys=None)
            ],
        ),
        -32: lambda: admin.DescribeConfigsRequest(
            version=version,
            resources=[
                admin.DescribeConfigsRequest.DescribeConfigsResource(
                    resource_type=2, resource_name=topic, configuration_keys=["min.insync.replicas"]
                )
                for topic in ("orders", "payments")
            ],
        ),
        35: lambda: admin.DescribeLogDirsRequest(version=version, topics=None),
        46: lambda: admin.ListPartitionReassignmentsRequest(version=version, timeout_ms=1, topics=None),
        60: lambda: admin.DescribeClusterRequest(version=version, include_cluster_authorized_operations=True),
    }
    request = kinds[key]()
    request.with_header(correlation_id=7, client_id="kafka-audit")
    return bytes(request.encode(framed=True, header=True))


def _answer(key, version):
    """Return an honest answer behind its correlation id."""
    if key == 55:
        kind = DescribeQuorumResponse.TopicData
        replica = kind.PartitionData.ReplicaState
        state = {
            "version": version,
            "replica_id": 1,
            "log_end_offset": 9,
            "last_fetch_timestamp": 1,
            "last_caught_up_timestamp": 1,
        }
        part = kind.PartitionData(
            version=version, partition_index=0, error_code=0, error_message=None, leader_id=1, leader_epoch=2, high_watermark=9,
            current_voters=[replica(**state)], observers=[],
        )  # fmt: skip
        topics = [kind(version=version, topic_name="__cluster_metadata", partitions=[part])]
        answer = DescribeQuorumResponse(version=version, error_code=0, error_message=None, topics=topics, nodes=[])
    elif key == 50:
        kind = DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult
        result = kind(
            user="kafka", error_code=0, error_message=None, credential_infos=[kind.CredentialInfo(mechanism=1, iterations=4096)]
        )
        answer = DescribeUserScramCredentialsResponse(
            version=0, throttle_time_ms=0, error_code=0, error_message=None, results=[result]
        )
    else:
        return talk.honest(_request(key, version))[8:]
    answer.with_header(correlation_id=7)
    return bytes(answer.encode(framed=True, header=True))[8:]


def _scram_login():
    client = sasl.BoundedScramClient("auditor", "secret", "SCRAM-SHA-256")
    client.nonce = b"abc"
    client.first_message()
    first = b"r=abcdef,s=c2FsdHNhbHQ=,i=4096"
    client.process_server_first_message(first)
    return first + b"\0v=" + base64.b64encode(client.server_signature)


def _znodes():
    tree = kafka_tree(_BROKERS, _TOPICS)
    chosen = (
        "/cluster/id",
        "/controller",
        "/brokers/topics/orders",
        "/brokers/topics/orders/partitions/0/state",
        "/brokers/ids/0",
    )
    found = [bytes([number]) + tree[path] for number, path in enumerate(chosen)]
    moving = {"version": 3, "partitions": {"0": [0, 1]}, "adding_replicas": {"0": [2]}, "removing_replicas": {}, "topic_id": "A"}
    claim = {"version": 2, "brokerid": 3000, "timestamp": "1", "kraftControllerEpoch": 2}
    state = {"version": 0, "kraft_metadata_offset": 42, "kraft_controller_id": 3000, "kraft_metadata_epoch": 1}
    return [
        *found, b"\2" + json.dumps(moving).encode(), b"\5" + b"42", b"\7" + b"-1",
        b"\6" + json.dumps(claim).encode() + b"\n" + json.dumps(state).encode(),
        b'\4{"version":1,"host":"b0","port":9092,"jmx_port":-1,"rack":"r\\ud83d\\ude00"}',
    ]  # fmt: skip


def _cluster_file():
    text = (ROOT / "clusters.example.yaml").read_text(encoding="utf-8")
    return "".join(
        line.partition(" #")[0].rstrip() + "\n" for line in text.splitlines() if not line.lstrip().startswith("#")
    ).encode()


def _name():
    oid = x509.NameOID
    return x509.Name([x509.NameAttribute(oid.COUNTRY_NAME, "CH"), x509.NameAttribute(oid.COMMON_NAME, "b0, é")])


def _certificate():
    key, now = ec.derive_private_key(7, ec.SECP256R1()), datetime(2026, 1, 1, tzinfo=UTC)
    names = [x509.DNSName("b0.example.com"), x509.DNSName("*.example.com")]
    built = x509.CertificateBuilder().subject_name(_name()).issuer_name(_name()).public_key(key.public_key()).serial_number(7)
    built = (
        built.not_valid_before(now)
        .not_valid_after(now + timedelta(days=9))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
    )
    return built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


def _certificate_name():
    return _name().public_bytes()


def _reports():
    with tempfile.TemporaryDirectory() as folder:
        document = bundled.judged_store(folder).read_report(bundled.ID)
    return [report_text(document).encode(), b"d" + digest.digest_text(document).encode()]


def _bundle():
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "bundle.zip"
        bundled.write(bundled.judged_store(folder), target)
        return target.read_bytes()


def main():
    """Write the seeds; what else is in the corpus stays."""
    for reader, inputs in seeds().items():
        folder = watch.CORPUS / reader
        folder.mkdir(parents=True, exist_ok=True)
        for number, content in enumerate(inputs):
            (folder / f"seed-{number:02}").write_bytes(content)


if __name__ == "__main__":
    main()
