"""Why a process does not start, from nothing but its log: the cause is named, its printed step is done, and the broker is up."""

import fcntl
import json
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_audit.cli import main
from scenarios import beds

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test

NAMED = "from_the_log_alone"
BOTH = ("2.8.2", "3.9.1", "4.3.0")
ZOOKEEPER = ("2.8.2", "3.9.1")
KRAFT = ("4.3.0",)


@contextmanager
def properties(broker, **changed):
    """Settings of the file, `__` for a dot, None for a line that is gone."""
    named = {key.replace("__", "."): value for key, value in changed.items()}
    before = dict(broker.server.properties)
    broker.server.properties = {key: value for key, value in {**before, **named}.items() if value is not None}
    broker.server.write_config()
    yield
    broker.server.properties = before
    broker.server.write_config()


@contextmanager
def folder(broker, name):
    made = data(broker) / name
    made.mkdir()
    yield
    shutil.rmtree(made, ignore_errors=True)


@contextmanager
def meta(broker, key, value):
    file = data(broker) / "meta.properties"
    before = file.read_text()
    file.write_text(
        "".join(f"{key}={value}\n" if line.startswith(f"{key}=") else line for line in before.splitlines(keepends=True))
    )
    assert file.read_text() != before
    yield
    file.write_text(before)


@contextmanager
def gone(broker, name):
    file = data(broker) / name
    before = file.read_bytes()
    file.unlink()
    yield
    file.write_bytes(before)


@contextmanager
def locked(broker):
    with (data(broker) / ".lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def port_taken(broker, bed):
    listen = f"s=socket.create_server(('{broker.host.address}', {broker.port}))"
    code = f"import socket,time; {listen}; print('ready', flush=True); time.sleep(600)"
    process = bed.stay(broker.host, ["python3", "-c", code], line="ready")
    yield
    process.kill()
    process.wait()


@contextmanager
def heap(broker, size):
    before = broker.server.jvm
    broker.server.jvm = (*before, f"-Xmx{size}", f"-Xms{size}")
    yield
    broker.server.jvm = before


@contextmanager
def copied_dir(broker):
    copy = data(broker).with_name("copy")
    shutil.copytree(data(broker), copy)
    with properties(broker, log__dirs=f"{data(broker)},{copy}"):
        yield
    shutil.rmtree(copy)


def data(broker):
    return Path(broker.server.properties["log.dirs"].split(",")[0])


def own(broker, value):
    """A listener of its own protocol for this broker, and no login or store for it."""
    return properties(broker, listeners=value, advertised__listeners=None, listener__security__protocol__map=None)


def changed(**settings):
    return lambda broker, _: properties(broker, **settings)


def beside(protocol, **settings):
    """A second listener, for which something is missing."""
    return lambda broker, _: properties(
        broker,
        listeners=f"PLAINTEXT://{broker.address},{protocol}://{broker.host.address}:9999",
        advertised__listeners=None,
        **settings,
    )


@contextmanager
def keystore(broker, _):
    store = data(broker).with_name("broker.p12")
    names = ["-alias", "a", "-dname", "CN=a", "-keyalg", "EC", "-keystore", str(store), "-storepass", "as-it-is"]
    subprocess.run(["keytool", "-genkeypair", *names], check=True, capture_output=True)
    wrong = {"ssl__keystore__location": str(store), "ssl__keystore__password": "another", "ssl__keystore__type": "PKCS12"}
    with beside("SSL", **wrong)(broker, _):
        yield


PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
REFUSALS = {
    "lost_and_found": (BOTH, lambda broker, _: folder(broker, "lost+found")),
    "strange_folder": (BOTH, lambda broker, _: folder(broker, "backup")),
    "another_node_id": (ZOOKEEPER, lambda broker, _: meta(broker, "broker.id", "7")),
    "another_cluster_id": (BOTH, lambda broker, _: meta(broker, "cluster.id", "b3RoZXItY2x1c3Rlci0xMA")),
    "log_dir_locked": (BOTH, lambda broker, _: locked(broker)),
    "port_taken": (BOTH, port_taken),
    "address_of_another_host": (BOTH, lambda broker, _: own(broker, f"PLAINTEXT://203.0.113.7:{broker.port}")),
    "keystore_missing": (ZOOKEEPER, beside("SSL", ssl__keystore__location="/none.p12", ssl__keystore__password="x")),  # noqa: S106
    "jaas_missing": (ZOOKEEPER, beside("SASL_PLAINTEXT", sasl__enabled__mechanisms="PLAIN")),
    "class_missing": (BOTH, changed(authorizer__class__name="com.example.Authorizer")),
    "configuration_invalid": (BOTH, changed(num__io__threads="many")),
    "zookeeper_unreachable_at_start": (
        ZOOKEEPER, changed(zookeeper__connect="127.0.0.1:1", zookeeper__connection__timeout__ms="3000")),
    "another_cluster_id: chroot": (ZOOKEEPER, lambda broker, _: properties(
        broker, zookeeper__connect=f"{broker.server.properties['zookeeper.connect'].partition('/')[0]}/nowhere")),
    "broker_id_registered": (ZOOKEEPER, lambda broker, _: properties(
        broker, broker__id="1", log__dirs=str(data(broker).with_name("other")))),
    "inter_broker_listener": (
        ZOOKEEPER, changed(inter__broker__listener__name="NOWHERE", security__inter__broker__protocol=None)),
    "keystore_password": (ZOOKEEPER, keystore),
    "login_module_refused": (ZOOKEEPER, beside(
        "SASL_PLAINTEXT",
        sasl__enabled__mechanisms="PLAIN",
        listener__name__sasl_plaintext__plain__sasl__jaas__config=f"{PLAIN} required",
    )),
    "out_of_memory": (ZOOKEEPER, lambda broker, _: heap(broker, "12m")),
    "not_formatted": (KRAFT, lambda broker, _: gone(broker, "meta.properties")),
    "same_directory_id": (KRAFT, lambda broker, _: copied_dir(broker)),
    "voters_invalid": (KRAFT, changed(controller__quorum__voters=None, controller__quorum__bootstrap__servers=None)),
}  # fmt: skip

STEPS_RUN = ("lost_and_found", "strange_folder")
"""Faults whose quick fix is a command, which is run as it is printed; the others' says what the end of the fault does here."""


def diagnosed(broker, capsys):
    code = main(["logs", *map(str, sorted(broker.log_dir.glob("*.log"))), "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def refused_start(broker, seconds=90):
    """Start it with empty logs, and wait until the process has ended."""
    for file in broker.log_dir.glob("*.log"):
        file.unlink()
    broker.server.launch()
    end = time.monotonic() + seconds
    while broker.server.is_running and time.monotonic() < end:
        time.sleep(0.2)
    assert not broker.server.is_running, broker.server.tail()


@pytest.mark.parametrize("version", BOTH)
def test_a_refused_start_is_named_and_its_step_repairs_it(bed, version, capsys, tmp_path):
    cluster = bed.kraft(version) if version > "4" else bed.cluster(version)
    cluster.create_topic("orders", {0: [0, 1, 2]})
    broker = cluster.brokers[2]
    wrong = {}
    for name, (versions, broken) in REFUSALS.items():
        if version not in versions:
            continue
        broker.stop()
        with broken(broker, bed):
            refused_start(broker)
            shutil.copytree(broker.log_dir, tmp_path / NAMED / name)
            code, found = diagnosed(broker, capsys)
            named = [one["fault"] for one in found["incidents"]]
            if (code, named) != (3, [name.partition(":")[0]]):
                wrong[name] = (code, named, [one["text"] for one in found["unknown"]], found["signs"][:2])
            elif name in STEPS_RUN:
                (step,) = [one for one in found["incidents"][0]["remediation"] if one["kind"] == "quick"]
                subprocess.run(step["commands"][0].removeprefix("sudo "), shell=True, check=True)  # noqa: S602 -- what it prints
        broker.start()
        cluster.await_settled()
        _, found = diagnosed(broker, capsys)
        if [one["fault"] for one in found["incidents"]]:
            wrong[f"{name}, repaired"] = [one["headline"] for one in found["incidents"]]
    shutil.rmtree("/var/tmp/backup", ignore_errors=True)  # noqa: S108 -- where the step moves it
    assert wrong == {}
