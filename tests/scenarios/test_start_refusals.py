"""Why a process does not start, from nothing but its log: the cause is named, its printed step is done, and the broker is up."""

import fcntl
import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from kafka_audit.cli import main
from scenarios import beds
from testbed.certificates import STORE_PASSWORD, Authority, Certificate
from testbed.jars import java, kafka_jars

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
def jvm(broker, *options):
    before = broker.server.jvm
    broker.server.jvm = (*before, *options)
    yield
    broker.server.jvm = before


def heap(broker, size):
    return jvm(broker, f"-Xmx{size}", f"-Xms{size}")


@contextmanager
def behind(broker, *command):
    """Java is started by a command that takes something from it."""
    home = data(broker).with_name("java")
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(f'#!/bin/sh\nexec {" ".join(command)} {java()} "$@"\n')
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(home))
        yield
    shutil.rmtree(home)


@contextmanager
def of_another_owner(broker):
    """The files are nobody's, and root has not its right to use them all the same."""
    folder, lost = data(broker), "-dac_override,-dac_read_search"
    for file in (folder, *folder.rglob("*")):
        os.chown(file, 65534, 65534)
        file.chmod(0o700)
    with behind(broker, "setpriv", f"--bounding-set={lost}", f"--inh-caps={lost}"):
        yield
    for file in (folder, *folder.rglob("*")):
        os.chown(file, os.getuid(), os.getgid())


@contextmanager
def mounted(broker, *options):
    """Something else lies over its log dir."""
    folder = str(data(broker))
    for option in options:
        broker.host.demand(["mount", *option, folder])
    yield
    broker.host.demand(["umount", "--lazy", folder])


@contextmanager
def full(broker):
    kept = (data(broker) / "meta.properties").read_text()
    with mounted(broker, ["-t", "tmpfs", "-o", "size=64k", "disk"]):
        fill = 'cat > "$0/meta.properties"; dd if=/dev/zero of="$0/all" bs=1k count=100 2> /dev/null || true'
        broker.host.demand(["sh", "-c", fill, str(data(broker))], input=kept)
        yield


@contextmanager
def class_of_later_java(broker, _):
    """A class whose first bytes, which are all that Java reads of it, say version 69, that of Java 25."""
    folder = data(broker).with_name("classes")
    file = folder / "com/example/Authorizer.class"
    file.parent.mkdir(parents=True)
    file.write_bytes(bytes.fromhex("cafebabe00000045"))
    with jvm(broker, f"-Xbootclasspath/a:{folder}"), properties(broker, authorizer__class__name="com.example.Authorizer"):
        yield
    shutil.rmtree(folder)


@contextmanager
def release(broker, version):
    before = broker.server.jars
    broker.server.jars = kafka_jars(version)
    yield
    broker.server.jars = before


@contextmanager
def jmx(broker, bed):
    """Its JMX port is taken by another process."""
    port = broker.port + 1000
    code = f"import socket,time; s=socket.create_server(('', {port})); print('ready', flush=True); time.sleep(600)"
    process = bed.stay(broker.host, ["python3", "-c", code], line="ready")
    options = ("authenticate=false", "ssl=false", f"port={port}")
    with jvm(broker, *(f"-Dcom.sun.management.jmxremote.{option}" for option in options)):
        yield
    process.kill()
    process.wait()


@contextmanager
def login_file(broker, text, *options):
    file = data(broker).with_name("jaas.conf")
    file.write_text(text)
    with jvm(broker, f"-Djava.security.auth.login.config={file}", *options):
        yield
    file.unlink()


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
def gssapi(broker):
    realm = ("-Djava.security.krb5.realm=A", "-Djava.security.krb5.kdc=127.0.0.1")
    wanted = {
        "sasl__enabled__mechanisms": "GSSAPI",
        "sasl__kerberos__service__name": "kafka",
        "listener__name__sasl_plaintext__gssapi__sasl__jaas__config": KERBEROS.replace("'", '"'),
    }
    with jvm(broker, *realm), beside("SASL_PLAINTEXT", **wanted)(broker, None):
        yield


def store(broker, name):
    file = data(broker).with_name(f"{name}.p12")
    file.unlink(missing_ok=True)
    names = ["-alias", name, "-dname", f"CN={name}", "-keyalg", "EC", "-keystore", str(file), "-storepass", "as-it-is"]
    subprocess.run(["keytool", "-genkeypair", *names], check=True, capture_output=True)
    return {"location": str(file), "password": "as-it-is", "type": "PKCS12"}


def stores(**named):
    return {f"ssl__{name}__{key}": value for name, values in named.items() for key, value in values.items()}


@contextmanager
def keystore(broker, _):
    with beside("SSL", **stores(keystore={**store(broker, "a"), "password": "another"}))(broker, _):
        yield


def only_tls(broker, keystore, truststore, **settings):
    own_protocol = {
        "security__inter__broker__protocol": "SSL",
        "listeners": f"SSL://{broker.address}",
        "advertised__listeners": None,
    }
    return properties(broker, **own_protocol, **stores(keystore=keystore, truststore=truststore), **settings)


def untrusted(broker, _):
    return only_tls(broker, store(broker, "a"), store(broker, "b"))


def certificate(wanted, **settings):
    """Its certificate is of a CA that it trusts, and is not a right one."""

    def broken(broker, _):
        authority = Authority(data(broker).with_name("ca"))
        pair = authority.issue("broker-2", (broker.host.address,), wanted)
        keystore = {"location": str(pair.pkcs12), "password": STORE_PASSWORD, "type": "PKCS12"}
        return only_tls(broker, keystore, {"location": str(authority.ca_file), "type": "PEM"}, **settings)

    return broken


def oauth(options="", handler=None):
    """A second listener with OAUTHBEARER; `handler`: of its tokens, whose keys are read at a port where nothing listens."""
    of_tokens = {
        "listener__name__sasl_plaintext__oauthbearer__sasl__server__callback__handler__class": f"{OAUTH}.{handler}",
        "sasl__oauthbearer__jwks__endpoint__url": "https://127.0.0.1:1/jwks",
    }
    return beside(
        "SASL_PLAINTEXT",
        listener__security__protocol__map=",".join(f"{name}:{name}" for name in ("PLAINTEXT", "SASL_PLAINTEXT"))
        + ",CONTROLLER:PLAINTEXT",
        sasl__enabled__mechanisms="OAUTHBEARER",
        listener__name__sasl_plaintext__oauthbearer__sasl__jaas__config=f"{OAUTH}.OAuthBearerLoginModule required{options};",
        **of_tokens if handler else {},
    )


KERBEROS = (
    "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true keyTab='/none' principal='kafka/a@A';"
)
DIGEST = 'Client { org.apache.zookeeper.server.auth.DigestLoginModule required username="a" password="b"; };'
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer"
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
    "advertised_address_taken": (ZOOKEEPER, lambda broker, bed: properties(
        broker, advertised__listeners=f"PLAINTEXT://{bed.clusters[0].brokers[0].address}")),
    "all_log_dirs_failed": (ZOOKEEPER, changed(log__dirs="/proc/none")),
    "disk_full": (BOTH, lambda broker, _: full(broker)),
    "disk_read_only": (BOTH, lambda broker, _: mounted(broker, ["--bind", str(data(broker))], ["-o", "remount,ro,bind"])),
    "files_of_another_owner": (BOTH, lambda broker, _: of_another_owner(broker)),
    "java_too_old": (BOTH, class_of_later_java),
    "jmx_port_taken": (BOTH, jmx),
    "jvm_without_memory": (BOTH, lambda broker, _: heap(broker, "900g")),
    "kerberos_login": (ZOOKEEPER, lambda broker, _: gssapi(broker)),
    "oauth_without_handler": (BOTH, oauth(' clientId="a" clientSecret="b"')),
    "oauth_keys_unread": (("3.9.1",), oauth(handler="secured.OAuthBearerValidatorCallbackHandler")),
    "oauth_url_not_allowed": (KRAFT, oauth(handler="OAuthBearerValidatorCallbackHandler")),
    "class_missing: of a package that 4.0 renamed": (KRAFT, oauth(handler="secured.OAuthBearerValidatorCallbackHandler")),
    "peers_of_own_certificate": (ZOOKEEPER, untrusted),
    "peers_of_own_certificate: expired": (ZOOKEEPER, certificate(Certificate(valid_for=timedelta(days=-1)))),
    "peers_of_own_certificate: for servers alone": (
        ZOOKEEPER, certificate(Certificate(for_servers=True), ssl__client__auth="required")),
    "zookeeper_login_at_start": (ZOOKEEPER, lambda broker, _: login_file(broker, DIGEST)),
    "not_a_voter": (KRAFT, changed(node__id="200")),
    "not_registered_in_time": (KRAFT, changed(
        controller__quorum__voters="200@127.0.0.1:1", initial__broker__registration__timeout__ms="4000")),
    "release_too_old": (KRAFT, lambda broker, _: release(broker, "4.0.2")),
}  # fmt: skip

STEPS_RUN = ("lost_and_found", "strange_folder")
"""Faults whose quick fix is a command, which is run as it is printed; the others' says what the end of the fault does here."""


def diagnosed(server, capsys):
    code = main(["logs", *map(str, sorted(server.log_dir.glob("*.log"))), "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def refused_start(server, seconds=90):
    """Start it with empty logs, and wait until the process has ended."""
    for file in server.log_dir.glob("*.log"):
        file.unlink()
    server.launch()
    end = time.monotonic() + seconds
    while server.is_running and time.monotonic() < end:
        time.sleep(0.2)
    assert not server.is_running, server.tail()


@pytest.mark.parametrize("version", BOTH)
def test_a_refused_start_is_named_and_its_step_repairs_it(bed, version, capsys, tmp_path):
    cluster = bed.cluster(version) if version in ZOOKEEPER else bed.kraft(version)
    cluster.create_topic("orders", {0: [0, 1, 2]})
    broker = cluster.brokers[2]
    wrong = {}
    for name, (versions, broken) in REFUSALS.items():
        if version not in versions:
            continue
        broker.stop()
        with broken(broker, bed):
            refused_start(broker.server)
            shutil.copytree(broker.log_dir, tmp_path / NAMED / name)
            code, found = diagnosed(broker.server, capsys)
            named = [one["fault"] for one in found["incidents"]]
            if (code, named) != (3, [name.partition(":")[0]]):
                wrong[name] = (code, named, [one["text"] for one in found["unknown"]], found["signs"][:2])
            elif name in STEPS_RUN:
                (step,) = [one for one in found["incidents"][0]["remediation"] if one["kind"] == "quick"]
                subprocess.run(step["commands"][0].removeprefix("sudo "), shell=True, check=True)  # noqa: S602 -- what it prints
        (broker.log_dir / "console.log").unlink()  # what Java prints has no times, so it does not say which start it is of
        broker.start()
        cluster.await_settled()
        _, found = diagnosed(broker.server, capsys)
        if [one["fault"] for one in found["incidents"]]:
            wrong[f"{name}, repaired"] = [one["headline"] for one in found["incidents"]]
    shutil.rmtree("/var/tmp/backup", ignore_errors=True)  # noqa: S108 -- where the step moves it
    assert wrong == {}


@contextmanager
def configured(server, **changed):
    before = dict(server.properties)
    server.properties |= changed
    yield
    server.properties = before


@contextmanager
def without_snapshots(server):
    folder = Path(server.properties["dataDir"], "version-2")
    kept = {file: file.read_bytes() for file in folder.glob("snapshot.*")}
    assert kept
    assert list(folder.glob("log.*"))
    for file in kept:
        file.unlink()
    yield
    for file, content in kept.items():
        file.write_bytes(content)


@contextmanager
def broken_epoch(server):
    file = Path(server.properties["dataDir"], "version-2", "currentEpoch")
    before = file.read_text()
    file.write_text("no number")
    yield
    file.write_text(before)


OF_ZOOKEEPER = {
    "zookeeper_configuration": lambda server: configured(server, clientPort="many"),
    "zookeeper_no_snapshot": without_snapshots,
    "zookeeper_data_unreadable": broken_epoch,
}


@pytest.mark.parametrize("version", ZOOKEEPER)
def test_a_zookeeper_server_that_does_not_start_is_named(bed, version, capsys):
    cluster = bed.cluster(version, brokers=1)
    servers = cluster.grow_ensemble()
    cluster.use_ensemble(servers.values())
    cluster.await_settled()
    server = servers[3]
    wrong = {}
    for name, broken in OF_ZOOKEEPER.items():
        server.signal_stop()
        server.await_end()
        with broken(server):
            refused_start(server)
            code, found = diagnosed(server, capsys)
            named = [one["fault"] for one in found["incidents"]]
            if (code, named) != (3, [name]):
                wrong[name] = (code, named, [one["text"] for one in found["unknown"]], found["signs"][:2], server.tail())
        server.launch()
        time.sleep(2)
        assert server.is_running, server.tail()
    assert wrong == {}
