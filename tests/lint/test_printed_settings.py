"""Lines of server.properties that remedies print, applied to the file of their broker: lint finds no new fault.

The remedies are those of all cases of checks and incidents.
Where a case holds no file of a broker, one is made of its settings and listeners.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache

import pytest

from checks.cases import base, cases, every_case
from checks.world import snapshots
from cluster_views import cluster_views
from incidents.case_files import judged_case
from incidents.test_causes import KEYS, told
from kafka_audit import settings
from kafka_audit.checks import catalogue
from kafka_audit.checks.run import judge
from kafka_audit.cli.clusters import what_a_file_adds
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.definitions import definitions
from kafka_audit.configuration.files import forms
from kafka_audit.incidents.causes import incidents
from kafka_audit.incidents.findings import findings_with_lifecycle
from kafka_audit.lint import judging, members
from kafka_audit.lint.judging import Rules
from kafka_audit.lint.reading import Source
from kafka_audit.model import quoting
from kafka_audit.model.addresses.advertised_listeners import protocols_by_listener
from kafka_audit.model.commands import Code, CommentLine, SettingLine
from kafka_audit.model.finding import Severity, Status

CHECKS = catalogue()
TODAY = date(2026, 1, 1)
RELEASE = "3.9.1"
LISTENERS, ADVERTISED, MAP = "listeners", "advertised.listeners", "listener.security.protocol.map"
INTER_BROKER, INSTEAD = "inter.broker.listener.name", "security.inter.broker.protocol"
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required username=u password=p user_u=p;"

DEFAULT_MAP = "PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL"
OF_OTHER_NODES = {"authorizer.class.name"}  # KA904: of the KRaft nodes to which a cluster migrates

File = dict[str, str]


@dataclass(frozen=True)
class Printed:
    """Settings that a remedy prints for one file, in the blocks between its comments."""

    where: str
    kraft: bool
    file: tuple[tuple[str, str], ...]
    blocks: tuple[tuple[tuple[str, str], ...], ...]


@cache
def failures(text: str) -> frozenset[tuple[str, str]]:
    """Return code and place of what lint fails at HIGH and above, a refusal to start among them."""
    data = text.encode("latin-1")
    source = Source(path="server.properties", data=data, brokers=forms.read_described(data, "server.properties"), ignores=())
    rules = Rules(checks=CHECKS, mutes=(), today=TODAY, version=RELEASE, show_all=False)
    found = [linted for group in members.cluster_groups([source]) for _, linted in judging.linted(group, rules)]
    assert found, text
    return frozenset(
        (linted_finding.finding.code, linted_finding.finding.resource.name)
        for linted in found
        for linted_finding in linted.linted_findings
        if linted_finding.finding.status is Status.FAIL and linted_finding.finding.severity >= Severity.HIGH
    )


def written(file: Mapping[str, str]) -> str:
    return "".join(f"{quoting.properties_line(key, value)}\n" for key, value in sorted(file.items()))


def new_failures(printed: Printed) -> set[tuple[str, str, str]]:
    """Return what fails with the printed settings, block after block, and did not before."""
    file, found = dict(printed.file), set()
    before = failures(written(file))
    for block in printed.blocks:
        settings = {key: filled(value, key, file) for key, value in block}
        if INTER_BROKER in settings:  # the step says to remove it: a broker with both does not start
            file.pop(INSTEAD, None)
        file |= settings
        found |= {(printed.where, *failure) for failure in failures(written(file)) - before}
    return found


def filled(value: str, key: str, file: Mapping[str, str]) -> str:
    """Return a value as a reader completes it: placeholders are words in capitals."""
    value = value.replace("AS_IT_IS_NOW", file.get(key, "User:admin"))
    value = value.replace("SECURITY_PROTOCOL", next(iter(protocols_by_listener(file.get(MAP, "P:PLAINTEXT")).values())))
    value = re.sub(r"\bAS_FOR_\w+", lambda _: secret(key), value)
    return value.replace("ONE_OF_SASL_ENABLED_MECHANISMS", file.get("sasl.enabled.mechanisms", "PLAIN").partition(",")[0])


def secret(key: str) -> str:
    return LOGIN if key.endswith("sasl.jaas.config") else "hidden"


def file_of(view: ClusterView, broker: int) -> File:
    """Return the file of a broker, with what a case leaves out: addresses of ZooKeeper or controllers, JAAS, the map."""
    rows: Mapping[str, object] = view.settings.files.get(broker) or view.settings.answers.get(broker, {})
    known = definitions(RELEASE)
    hidden = {key: secret(key) for key in rows if key.startswith("listener.name.")}
    file = hidden | {key: row.value for key, row in rows.items() if row.value and (key in known or key in hidden)}
    if file.get(MAP) == DEFAULT_MAP:  # brokers report it; a file that had it would name the controllers, too
        del file[MAP]
    own = view.endpoints.of(broker)
    listed = {endpoint.listener: endpoint for endpoint in own} or {"PLAINTEXT": None}
    file.setdefault(LISTENERS, ",".join(f"{name}://:{endpoint.port if endpoint else 9092}" for name, endpoint in listed.items()))
    file.setdefault(
        ADVERTISED, ",".join(f"{name}://{endpoint.address if endpoint else 'b:9092'}" for name, endpoint in listed.items())
    )
    protocols = {name: (endpoint and endpoint.protocol) or "PLAINTEXT" for name, endpoint in listed.items()}
    controllers = file.setdefault("controller.listener.names", "CONTROLLER") if view.kraft else ""
    protocols |= {controllers: "PLAINTEXT"} if controllers else {}
    file.setdefault(MAP, ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()))
    if INTER_BROKER not in file and INSTEAD not in file and "PLAINTEXT" not in listed:
        file[INTER_BROKER] = next(iter(listed))
    if any(protocol.startswith("SASL") for protocol in protocols.values()) and "sasl.enabled.mechanisms" not in file:
        file |= {"sasl.enabled.mechanisms": "PLAIN", "sasl.mechanism.inter.broker.protocol": "PLAIN"}
        file |= {f"listener.name.{name.lower()}.plain.sasl.jaas.config": LOGIN for name in listed}
    if any(protocol.endswith("SSL") for protocol in protocols.values()):
        file.setdefault("ssl.keystore.location", "/k.p12")
    file |= {"process.roles": file.get("process.roles", "broker"), "node.id": str(broker)} if view.kraft else {}
    if view.kraft:
        voter = broker if "controller" in file["process.roles"] else 100
        file.setdefault("controller.quorum.voters", f"{voter}@c:9093")
    else:
        file |= {"broker.id": str(broker), "zookeeper.connect": file.get("zookeeper.connect", "zk:2181")}
    return file


def printed_in(where: str, view: ClusterView, broker: int, lines) -> Iterator[Printed]:
    """Yield the settings among lines by the broker that the comment before them names; a key that comes again is another file."""
    blocks: list[dict[str, str]] = [{}]

    def done() -> Iterator[Printed]:
        kept = tuple(tuple(block.items()) for block in blocks if block)
        if kept:
            yield Printed(where=where, kraft=view.kraft, file=tuple(sorted(file_of(view, broker).items())), blocks=kept)

    for line in lines:
        if isinstance(line, CommentLine):
            named = re.search(r"\bbroker (\d+)", " ".join(line.words))
            if named is not None:
                yield from done()
                broker, blocks = int(named[1]), [{}]
            else:
                blocks.append({})
        elif isinstance(line, SettingLine) and line.file == "properties":
            if line.key in blocks[-1]:
                yield from done()
                blocks = [{}]
            blocks[-1][line.key] = line.value
    yield from done()


def of_findings(where: str, view: ClusterView, findings) -> Iterator[Printed]:
    for finding in findings:
        lines = [part for part in finding.remedy if isinstance(part, SettingLine)]
        lines += [line for part in finding.remedy if isinstance(part, Code) for line in of_page(part)]
        broker = finding.resource.broker if finding.resource.broker is not None else first_broker(view)
        for line in lines:  # alternatives, or one after the other
            yield from printed_in(f"{where} {finding.code}", view, broker, [line])


def of_page(part: Code) -> Iterator[SettingLine]:
    key, equals, value = part.text.partition("=")
    if equals and key not in OF_OTHER_NODES and key in definitions(RELEASE) and value and not re.search(r"[A-Z]{3}|…", value):
        yield SettingLine(key=key, value=value)


def first_broker(view: ClusterView) -> int:
    return min(view.settings.brokers | set(view.named_brokers), default=0)


def of_incidents(where: str, view: ClusterView, found) -> Iterator[Printed]:
    for incident in found:
        for step in incident.remediation:
            parts_of_text = () if isinstance(step.text, str) else step.text
            yield from printed_in(f"{where}: {incident.headline}", view, first_broker(view), (*step.commands, *parts_of_text))


@cache
def everything_printed() -> tuple[Printed, ...]:
    found = []
    for name in KEYS:
        found += of_incidents(name, judged_case(*KEYS[name]).view, told(name)[1])
    pairs = {f"{code}-{name}": snapshots(base(), f"{code}-{name}", cases(code)[name]) for code, name in every_case()}
    for name, view in cluster_views(pairs).items():
        own = {code: CHECKS[code] for code in [name.partition("-")[0]]}
        judgements = [judgement for kind in ("audit", "gate") for judgement in judge(view, own, kind=kind)]
        findings = findings_with_lifecycle(view, judgements, mutes=(), previous_report=None, today=TODAY)
        found += of_findings(name, view, findings)
        found += of_incidents(name, view, incidents(view, findings, ()))
    return tuple({(settings.kraft, settings.file, settings.blocks): settings for settings in found}.values())


@pytest.mark.large
def test_what_remedies_print_gives_lint_nothing_new_to_say():
    printed = everything_printed()
    keys = {key for settings in printed for block in settings.blocks for key, _ in block}
    assert {LISTENERS, ADVERTISED, MAP, INTER_BROKER, "super.users"} <= keys
    assert sum(settings.kraft for settings in printed) >= 5
    assert {settings: found for settings in printed if (found := new_failures(settings))} == {}


def changed(printed: Printed, change) -> Printed:
    """Return what a worse remedy would print: `change` returns the settings of each block."""
    return replace(printed, blocks=tuple(tuple(change(dict(block)).items()) for block in printed.blocks))


def without_controllers(block: File) -> File:
    entries = block.get(MAP, "").split(",")
    return {**block, MAP: ",".join(entry for entry in entries if not entry.startswith("CONTROLLER:"))} if MAP in block else block


def without_login(block: File) -> File:
    return {key: value for key, value in block.items() if not key.endswith(".sasl.jaas.config")}


def of_no_listener(block: File) -> File:
    return {**block, INTER_BROKER: "LISTENER_WITH_LOGIN"} if INTER_BROKER in block else block


@pytest.mark.parametrize(
    ("case", "change", "code"),
    [
        ("cut_off-kraft_cut_off_with_a_login", without_controllers, "KA310"),
        ("cut_off-kraft_cut_off_with_combined_roles", without_controllers, "KA310"),
        ("cut_off-kraft_cut_off_with_a_login", without_login, "KA414"),
        ("cut_off-cut_off_with_a_login", without_login, "KA414"),
        ("refused-refuses_itself", of_no_listener, "KA311"),
    ],
)
def test_a_worse_remedy_would_be_seen(case, change, code):
    """Each was printed once: a map without the controllers, a listener without its login, a listener that is not there."""
    view = judged_case(*KEYS[case]).view
    found = [new_failures(changed(incident, change)) for incident in of_incidents(case, view, told(case)[1])]
    assert code in {new for failures in found for _, new, _ in failures}


def test_the_cluster_file_that_an_audit_by_address_prints_is_read(tmp_path):
    for at in ({"bootstrap": ["b1:9092"]}, {"zookeeper": "z1:2181/kafka"}):
        text = what_a_file_adds(settings.cluster_at("orders", **at))
        with_login = text.replace("# where brokers require a login: ", "").replace("…", "x", 1).replace("…", "PASSWORD")
        for written in (text, with_login):
            (tmp_path / "clusters.yaml").write_text(written)
            assert settings.load(tmp_path / "clusters.yaml")["orders"].properties
