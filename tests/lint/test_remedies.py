"""Remedies name the fields of the file that was linted, and no file that an image, a chart or an operator writes."""

import json
import re

import pytest

from kafka_audit.checks import catalogue
from kafka_audit.cli import main
from kafka_audit.configuration.files import setting_names
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.setting_names import Form
from kafka_audit.incidents.remedies import remedy
from kafka_audit.lint import addresses, remedies
from kafka_audit.lint.judging import configuration_checks
from kafka_audit.lint.versions import NEWEST
from kafka_audit.model import quoting
from kafka_audit.model.finding import Finding, Resource, Severity, Status

CHECKS = catalogue()
CODES = (*configuration_checks(CHECKS), *addresses.CHECKS, "KA310")
NAMES = {
    "environment": setting_names.of_environment("KAFKA_", "service kafka1"),
    "environment of Bitnami": setting_names.of_environment("KAFKA_CFG_", ""),
    "ConfigMap": setting_names.of_config_map("ConfigMap kafka, server.properties"),
    "ConfigMap of Helm": setting_names.of_config_map("ConfigMap kafka, server.properties", release="release prod"),
    "ConfigMap of Strimzi": setting_names.of_config_map("ConfigMap kafka-0, server.config", cluster="prod"),
    "Strimzi": setting_names.of_strimzi("the Kafka resource prod"),
    "Bitnami": setting_names.of_bitnami(),
    "Confluent": setting_names.of_confluent("cp-kafka."),
}
WRITES = re.compile(r"(?:The operator|The image) writes server\.properties|ConfigMap kafka, server\.properties")
COMMAND = re.compile(r"`(?:kafka-[a-z]+\.sh|zookeeper-shell\.sh) [^`]*`")


def _finding(code, status=Status.FAIL, **evidence):
    evidence = {"broker": 0, "who": "broker 0", "key": "auto.create.topics.enable", "version": NEWEST, **evidence}
    check = CHECKS[code]
    return Finding(
        code=code,
        name=check.name,
        status=status,
        severity=Severity.LOW,
        confidence="measured",
        resource=Resource.of("broker/0"),
        message="",
        headlines=(),
        evidence=evidence,
        remedy=remedy(check, status, evidence),
        fingerprint="",
    )


def _said(code, names, status=Status.FAIL, **evidence):
    broker = Described(properties={}, names=names)
    finding = _finding(code, status, **evidence)
    return quoting.plain_prose(remedies.remedy_in_file(CHECKS[code], finding, broker, path="conf/kafka.yaml", version=NEWEST))


@pytest.mark.parametrize("form", NAMES)
def test_no_remedy_speaks_of_a_file_that_something_else_writes(form):
    remedies_said = {code: _said(code, NAMES[form]) for code in CODES}
    assert {code for code, remedy in remedies_said.items() if "server.properties" in WRITES.sub("", remedy)} == set()
    if NAMES[form].form in {Form.STRIMZI, Form.BITNAMI}:
        keys = ("process.roles", "advertised.listeners", "inter.broker.listener.name", "listener.security.protocol.map")
        steps = {code: COMMAND.sub("", remedy) for code, remedy in remedies_said.items()}
        assert {(code, key) for code, remedy in steps.items() for key in keys if key in remedy} == set()
    if NAMES[form].form is Form.STRIMZI:
        end = "The operator writes server.properties: apply the resource, and it restarts the brokers that the change concerns."
        assert {code for code, remedy in remedies_said.items() if not remedy.endswith(end)} == set()


@pytest.mark.parametrize("form", NAMES)
@pytest.mark.parametrize("code", ["KA310", "KA311"])
def test_no_message_speaks_of_a_file_that_something_else_writes(code, form):
    for status in CHECKS[code].says:
        found = remedies.words_in_file(CHECKS[code], _finding(code, status), Described(properties={}, names=NAMES[form]))
        assert "server.properties" not in WRITES.sub("", f"{found.message} {found.headlines}")
        if "server.properties" in CHECKS[code].says[status]:
            assert NAMES[form].place in found.message, "the message of the check is empty here"


@pytest.mark.parametrize("code", CODES)
def test_messages_about_a_file_that_the_user_writes_stay(code):
    finding = _finding(code)
    assert remedies.words_in_file(CHECKS[code], finding, Described(properties={})) == finding


def test_names_in_a_place_are_no_placeholders_of_a_message():
    names = setting_names.of_config_map("ConfigMap {kafka_says}\x1b, entry `server.properties`")
    found = remedies.words_in_file(CHECKS["KA310"], _finding("KA310"), Described(properties={}, names=names))
    assert "ConfigMap 'kafka_says'" in found.message
    assert "\x1b" not in found.message


@pytest.mark.parametrize("code", CODES)
def test_a_file_that_the_user_writes_keeps_the_page(code):
    finding = _finding(code)
    of_file = finding.remediation.replace("kafka-audit lint server.properties", "kafka-audit lint conf/kafka.yaml")
    assert _said(code, setting_names.PROPERTIES) == of_file


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ("environment", "`KAFKA_AUTO_CREATE_TOPICS_ENABLE=false`"),
        ("environment of Bitnami", "`KAFKA_CFG_AUTO_CREATE_TOPICS_ENABLE=false`"),
        ("ConfigMap", "`auto.create.topics.enable=false`"),
        ("Strimzi", "`spec.kafka.config.auto.create.topics.enable: false`"),
        ("ConfigMap of Strimzi", "`spec.kafka.config.auto.create.topics.enable: false`"),
        ("Bitnami", "`overrideConfiguration.auto.create.topics.enable: false`"),
        ("Confluent", "`cp-kafka.configurationOverrides.auto.create.topics.enable: false`"),
    ],
)
def test_a_setting_has_the_name_of_its_file(form, field):
    assert field in _said("KA705", NAMES[form])


def test_a_setting_that_the_page_does_not_name_is_named():
    remedy = _said("KA408", NAMES["Strimzi"], key="allow.everyone.if.no.acl.found")
    assert "In this file the setting is `spec.kafka.config.allow.everyone.if.no.acl.found`." in remedy
    assert "spec.kafka.authorization.superUsers" in remedy
    assert "In this file" not in _said("KA408", NAMES["ConfigMap"], key="allow.everyone.if.no.acl.found")


def test_messages_of_kafka_are_not_changed():
    remedy = _said("KA413", NAMES["environment"], key="super.users", says="super.users: expected `super.users`")
    assert "Correct `KAFKA_SUPER_USERS` in the environment of service kafka1 before the next start." in remedy
    assert "Kafka says: super.users: expected 'super.users'" in remedy


def test_a_setting_of_a_listener_has_its_variable():
    remedy = _said("KA414", NAMES["environment"], what="a", says="b")
    assert "is `KAFKA_LISTENER_NAME_LISTENER_MECHANISM_SASL_JAAS_CONFIG`" in remedy


def test_a_setting_without_a_field_is_the_operators():
    remedy = _said("KA411", NAMES["Strimzi"])
    assert remedy.startswith("The operator writes this setting for all brokers")
    assert _said("KA411", NAMES["Bitnami"]).startswith("Set `listeners.interbroker.protocol`")


def test_what_is_not_known_is_asked_of_the_party_that_writes_the_file():
    needs = "DescribeConfigs on Cluster, or server.properties of broker 0 (`properties` in the cluster file)"
    remedies = {form: _said("KA705", names, Status.UNKNOWN, needs=needs) for form, names in NAMES.items()}
    assert remedies["Strimzi"] == "Needed: DescribeConfigs on Cluster, or the ConfigMap that the operator writes for broker 0"
    assert remedies["environment"] == "Needed: DescribeConfigs on Cluster, or the file as broker 0 gets it"
    assert remedies["Bitnami"] == "Needed: DescribeConfigs on Cluster, or the output of `helm template` for broker 0"


def test_a_path_with_blanks_is_one_word_of_a_command():
    broker = Described(properties={}, names=NAMES["environment"])
    printed = {
        path: quoting.plain_prose(remedies.remedy_in_file(CHECKS["KA310"], _finding("KA310"), broker, path=path, version=NEWEST))
        for path in ("compose.yaml", "my file; rm -rf x.yaml")
    }
    assert f"`kafka-audit lint compose.yaml --kafka-version {NEWEST}`" in printed["compose.yaml"]
    assert f"`kafka-audit lint 'my file; rm -rf x.yaml' --kafka-version {NEWEST}`" in printed["my file; rm -rf x.yaml"]


COMPOSE = """services:
  kafka1:
    image: apache/kafka:4.3.0
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka1:9092
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka1:9093
      KAFKA_NUM_PARTITIONS: many
"""
RENDERED = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: prod-cp-kafka, labels: {app: cp-kafka, release: prod, heritage: Helm}}
spec:
  template:
    spec:
      containers:
        - name: cp-kafka-broker
          image: confluentinc/cp-server:6.1.0
          env:
            - {name: KAFKA_BROKER_ID, value: "1"}
            - {name: KAFKA_ZOOKEEPER_CONNECT, value: "prod-cp-zookeeper-headless:2181"}
            - {name: KAFKA_ADVERTISED_LISTENERS, value: "PLAINTEXT://kafka.example.com:9092"}
"""


def test_the_command_prints_the_names_of_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    (tmp_path / "rendered.yaml").write_text(RENDERED)
    main(["lint", "compose.yaml", "rendered.yaml", "--format", "json"])
    compose, rendered = json.loads(capsys.readouterr().out)["files"]
    remedies = {finding["code"]: finding["remediation"] for finding in compose["findings"]}
    assert remedies["KA310"].startswith("In the environment of service kafka1, correct the setting that the message names.")
    assert "start a new container" in remedies["KA310"]
    remedies = {finding["code"]: finding["remediation"] for finding in rendered["findings"]}
    assert "`KAFKA_AUTO_CREATE_TOPICS_ENABLE=false`" in remedies["KA705"]
    assert "Helm overwrites StatefulSet prod-cp-kafka, container cp-kafka-broker: change the values" in remedies["KA705"]


PROPERTIES = """broker.id=1
zookeeper.connect=z:2181
listeners={protocol}://:9092
sasl.enabled.mechanisms=PLAIN
security.inter.broker.protocol={protocol}
authorizer.class.name=kafka.security.authorizer.AclAuthorizer
allow.everyone.if.no.acl.found=true
"""


@pytest.mark.parametrize(("protocol", "login"), [("SASL_PLAINTEXT", " --command-config admin.properties"), ("PLAINTEXT", "")])
@pytest.mark.parametrize("form", ["server.properties", "broker.env"])
def test_commands_log_in_at_the_listeners_of_the_file(protocol, login, form, tmp_path, capsys):
    text = PROPERTIES.format(protocol=protocol)
    if form.endswith(".env"):
        lines = (line.partition("=")[::2] for line in text.splitlines())
        text = "".join(f"KAFKA_{key.upper().replace('_', '__').replace('.', '_')}={value}\n" for key, value in lines)
    (tmp_path / form).write_text(text)
    main(["lint", str(tmp_path / form), "--kafka-version", "3.9.1", "--format", "json"])
    (file,) = json.loads(capsys.readouterr().out)["files"]
    (found,) = [
        finding["remediation"] for finding in file["findings"] if finding["code"] == "KA408" and finding["status"] == "FAIL"
    ]
    assert f"kafka-configs.sh --bootstrap-server BROKER:9092{login} --alter" in found


def test_names_of_the_file_are_no_code_and_no_placeholders():
    remedy = _said("KA310", setting_names.of_strimzi("the Kafka resource `rm -rf x`\x1b[31m {version}"))
    assert remedy.startswith("In the Kafka resource 'rm -rf x'")
    assert "'version'" in remedy.partition(", correct")[0]
    assert "\x1b" not in remedy
    odd = _said("KA413", NAMES["environment"], key="listener.name.`x`.ssl.key", says="")
    assert "`X`" not in odd


def test_a_setting_of_a_listener_that_users_named_is_a_variable():
    remedy = _said("KA413", NAMES["environment"], key="listener.name.clients.ssl.principal.mapping.rules", says="")
    assert "Correct `KAFKA_LISTENER_NAME_CLIENTS_SSL_PRINCIPAL_MAPPING_RULES` in the environment" in remedy
