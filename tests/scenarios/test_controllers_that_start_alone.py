"""Controllers whose files KafkaConfig accepts, started together for real: lint says before whether they elect a leader."""

import json
import re
import time
from pathlib import Path

import pytest

from kafka_audit.cli import main
from testbed import Bed
from testbed.jars import kafka_jars
from testbed.kraft import AUTHORIZER
from testbed.security import jaas, scram_argument
from testbed.servers import Server

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

SECONDS = 30.0  # in which controllers that can elect a leader do, on a busy machine too
ELECTED = re.compile(r"[Bb]ecoming the active controller")
SCRAM = "SCRAM-SHA-512"
PLAIN_TEXT = {"listener.security.protocol.map": "CTRL:PLAINTEXT"}
WITH_PLAIN = {
    "listener.security.protocol.map": "CTRL:SASL_PLAINTEXT",
    "sasl.mechanism.controller.protocol": "PLAIN",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.ctrl.plain.sasl.jaas.config": jaas("PLAIN", {"username": "c", "password": "p", "user_c": "p"}),
}
WITH_SCRAM = {
    "listener.security.protocol.map": "CTRL:SASL_PLAINTEXT",
    "sasl.mechanism.controller.protocol": SCRAM,
    "sasl.enabled.mechanisms": SCRAM,
    "listener.name.ctrl.scram-sha-512.sasl.jaas.config": jaas(SCRAM, {"username": "c", "password": "p"}),
}
CASES = {
    "they log in with PLAIN": (WITH_PLAIN, 3, True, set()),
    "no mechanism is set": (
        {key: text for key, text in WITH_PLAIN.items() if "mechanism.controller" not in key},
        3,
        False,
        {"KA713"},
    ),
    "three log in with SCRAM": (WITH_SCRAM, 3, False, {"KA713"}),
    "one has SCRAM for brokers": (WITH_SCRAM, 1, True, set()),
    "each is a super user": (
        {**PLAIN_TEXT, "authorizer.class.name": AUTHORIZER, "super.users": "User:ANONYMOUS"},
        3,
        True,
        set(),
    ),
    "everyone is allowed, and no other is a super user": (
        {**PLAIN_TEXT, "authorizer.class.name": AUTHORIZER, "allow.everyone.if.no.acl.found": "true", "super.users": "User:a"},
        3,
        False,
        {"KA408", "KA714"},
    ),
}


@pytest.fixture(scope="module")
def bed(tmp_path_factory):
    with Bed(tmp_path_factory.mktemp("bed")) as bed:
        yield bed


@pytest.fixture(scope="module")
def site(bed, tmp_path_factory):
    """Return a function that starts controllers and returns their files and whether they elect a leader."""
    made = []

    def run(version, properties, count):
        first = 10 + 3 * len(made)
        folder = tmp_path_factory.mktemp("controllers")
        hosts = [bed.hosts.add(f"alone-{first + number}", f"10.99.7.{first + number}") for number in range(count)]
        made.append(hosts)
        voters = ",".join(f"{number}@{host.address}:9093" for number, host in enumerate(hosts, 1))
        servers = []
        for number, host in enumerate(hosts, 1):
            own = {"process.roles": "controller", "node.id": str(number), "controller.quorum.voters": voters}
            own |= {"controller.listener.names": "CTRL", "listeners": f"CTRL://{host.address}:9093"}
            own |= {"log.dirs": str(folder / str(number) / "data"), "default.replication.factor": "3"} | properties
            server = Server(
                name=f"c{number}",
                host=host,
                folder=folder / str(number),
                jars=kafka_jars(version),
                main_class="kafka.Kafka",
                properties=own,
            )
            server.write_config()
            scram = ("--add-scram", scram_argument(SCRAM, "c", "p")) if properties is WITH_SCRAM else ()
            command = [*server.java(), "kafka.tools.StorageTool", "format", "--cluster-id", "MkU3OEVBNTcwNTJENDM2Qk"]
            host.demand([*command, "--config", str(server.config_file), *scram], cwd=server.folder)
            servers.append(server)
        try:
            for server in servers:
                server.launch()
            return [server.config_file for server in servers], _elects(servers)
        finally:
            for server in servers:
                server.signal_stop(hard=True)
            for server in servers:
                server.await_end()

    return run


def _elects(servers):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and any(server.is_running for server in servers):
        logs = (Path(server.log_dir, name) for server in servers for name in ("server.log", "controller.log", "console.log"))
        if any(ELECTED.search(log.read_text(errors="replace")) for log in logs if log.is_file()):
            return True
        time.sleep(0.5)
    return False


@pytest.mark.parametrize("version", ["3.9.1", "4.3.0"])
@pytest.mark.parametrize("name", CASES)
def test_controllers_elect_a_leader_where_lint_finds_nothing(name, version, site, capsys):
    properties, count, elects, codes = CASES[name]
    files, elected = site(version, properties, count)
    main(["lint", *map(str, files), "--kafka-version", version, "--format", "json"])
    found = [finding for file in json.loads(capsys.readouterr().out)["files"] for finding in file["findings"]]
    grave = {finding["code"] for finding in found if finding["status"] == "FAIL" and finding["severity"] in {"HIGH", "CRITICAL"}}
    assert (elected, grave) == (elects, codes)
