"""Our rules against KafkaConfig itself; the whole run is ``python -m testbed.differential``."""

import itertools
from functools import cache

import pytest

from kafka_audit.configuration.definitions import VERSIONS
from seed import SEED
from testbed.differential.compare import ROLES, compare, configurations, definitions_file
from testbed.jars import COMPARED, RELEASES

ALIKE = ["".join(letters) for letters in itertools.product(*zip("EXTERNAL", "external", strict=True))]
"""All names that Kafka takes for EXTERNAL."""

BROKER = {
    "zookeeper.connect": "zk:2181",
    "broker.id": "2",
    "listeners": "EXTERNAL://localhost:9099",
    "inter.broker.listener.name": "EXTERNAL",
    "sasl.enabled.mechanisms": "",
}
STANDARD = "SSL:SSL,SASL_SSL:SASL_SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT"
MAPS = (
    *(f"{first}:SSL,{second}:SASL_SSL" for first, second in itertools.permutations(("External", "external", "EXTERNAL"), 2)),
    *(
        ",".join(f"{name}:{kind}SSL" for name, kind in zip(ALIKE[at : at + 40], itertools.cycle(("", "SASL_"))))
        for at in range(0, 200, 10)
    ),
    "A:TLS,B:SASL,C:x",
    "C:x,D:y,A:TLS,F:,B:SASL",
    "external:SSL,EXTERNAL:SASL_SSL," + ",".join(f"{number}:SSL" for number in range(200)),
)
MAPPED_TWICE = tuple(BROKER | {"listener.security.protocol.map": f"{STANDARD},{names}"} for names in MAPS)
KRAFT = {"process.roles": "broker", "node.id": "1", "controller.listener.names": "C", "controller.quorum.voters": "2@c:9093"}
NO_CLASSES = ("1.5", "org.9.b")
KNOWN = {
    "1.1.1": MAPPED_TWICE,
    "2.8.2": (*MAPPED_TWICE, *(KRAFT | {"authorizer.class.name": name} for name in NO_CLASSES)),
    "3.9.1": (*MAPPED_TWICE, *(KRAFT | {"group.consumer.assignors": name} for name in NO_CLASSES)),
}
"""Configurations that Kafka and this project once read differently."""

CASES = 300


@cache
def compared(version):
    """Return how far we agree on generated and known configurations: of its two seconds, Java compiles and starts for most."""
    cases = [
        configuration
        for mode in ROLES[version]
        for configuration in configurations(version, mode, CASES // len(ROLES[version]), SEED)
    ]
    return compare(version, [*cases, *KNOWN.get(version, ())])


def differences(version, *, known):
    found = compared(version)
    return [
        difference
        for difference in (*found.verdicts, *found.messages)
        if (difference.properties in KNOWN.get(version, ())) == known
    ]


def agree(version):
    found = compared(version)
    known = len(KNOWN.get(version, ()))
    assert found.accepted - known > CASES / 3
    assert found.refused - known > CASES / 5
    # One in some ten thousand configurations holds what only Java's own hash tables decide.
    assert len(differences(version, known=False)) <= 1, f"{version}, seed {SEED}: {differences(version, known=False)}"
    kept = definitions_file(version).read_text("utf-8")
    assert found.definitions == kept, f"python -m testbed.differential --define --version {version}"


ONE, *OTHERS = reversed(RELEASES)
"""The newest release for a commit, and those that `make integration` adds: Java compiles and starts for most of the time."""


@pytest.mark.parametrize("version", [ONE, *(pytest.param(other, marks=pytest.mark.large) for other in OTHERS)])
def test_we_say_what_kafka_says(version):
    agree(version)


@pytest.mark.large
def test_we_say_what_another_release_says():
    """Another one in each run, because the jars of all of them are 1.2 GB; `make differential` compares all."""
    others = sorted(COMPARED.keys() - RELEASES.keys())
    agree(others[SEED % len(others)])


def test_every_judged_release_is_compared():
    assert set(VERSIONS) == set(COMPARED)


@pytest.mark.large
@pytest.mark.parametrize("version", KNOWN)
def test_known_cases(version):
    assert compared(version).cases == CASES + len(KNOWN[version])
    assert differences(version, known=True) == []
