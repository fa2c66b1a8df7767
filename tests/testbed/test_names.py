"""Names and a proxy on hosts of the bed, without any Kafka; and what both probe scripts make of real resolvers."""

import sys

import pytest

from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.targets import Target
from kafka_audit.collect.probes import command_vantages
from kafka_audit.model.cluster import Cluster
from testbed import Bed
from testbed.errors import BedError
from testbed.names import Nameserver, own_names, require
from testbed.proxy import Proxy

pytestmark = pytest.mark.bed

NAME = "kafka-0.kafka.ns.svc.cluster.local"
NOBODY = ClusterLogins(Cluster(name="none"), {})
GREETER = """
import socket, sys
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("ready", flush=True)
while True:
    server.accept()[0].sendall(sys.argv[3].encode())
"""


@pytest.fixture(scope="module")
def bed(tmp_path_factory):
    with Bed(tmp_path_factory.mktemp("bed")) as bed:
        yield bed


@pytest.fixture(scope="module")
def nameserver(bed):
    nameserver = Nameserver(bed.hosts.add("dns", "10.99.0.101"), {NAME: "10.99.0.10"})
    yield nameserver
    nameserver.stop()


def walked(host, name):
    """Return the dns step that each script gives on a host."""
    target = Target(broker_id=0, listener="L", protocol="PLAINTEXT", host=name, port=1, via=None)
    found = []
    for command, script in (
        (["python3", "-"], command_vantages.python_text([target], 3.0, NOBODY)),
        (["bash", "-s"], command_vantages.bash_text([target], 3.0)),
    ):
        output = host.run(command, input=script, cwd="/").stdout
        step = command_vantages.parse_probe_output(output, [target])[0][0]
        found.append((step.layer, step.outcome, step.error, step.detail))
    return found


@pytest.mark.scenario
def test_who_was_asked_and_what_it_said(bed, nameserver, tmp_path):
    host = bed.hosts.add("client", "10.99.0.110")
    asked = f"by nameserver {nameserver.host.address}"
    own_names(host, tmp_path, hosts={"listed.example": "10.99.0.77"}, nameservers=[nameserver.host.address])
    assert walked(host, NAME) == [("dns", "ok", None, f"10.99.0.10 {asked}")] * 2
    assert walked(host, NAME.upper()) == [("dns", "ok", None, f"10.99.0.10 {asked}")] * 2
    assert walked(host, "listed.example") == [("dns", "ok", None, "10.99.0.77 by hosts file")] * 2
    assert walked(host, "kafka-9.example") == [("dns", "failed", "name or service not known", asked)] * 2


def test_a_nameserver_that_is_away_gives_no_answer_and_no_definite_no(bed, tmp_path):
    host = bed.hosts.add("cut-off", "10.99.0.111")
    own_names(host, tmp_path, nameservers=["10.99.0.99"])
    for layer, outcome, error, detail in walked(host, NAME):
        assert (layer, outcome, detail) == ("dns", "failed", "by nameserver 10.99.0.99")
        assert error in {"temporary failure in name resolution", "timeout"}


@pytest.mark.scenario
def test_names_hold_on_their_host_alone_and_can_be_given_anew(bed, nameserver, tmp_path):
    one, other = bed.hosts.add("one", "10.99.0.112"), bed.hosts.add("other", "10.99.0.113")
    own_names(other, tmp_path, hosts={"here.example": "10.99.0.2"})
    own_names(one, tmp_path, hosts={"here.example": "10.99.0.1"})
    assert walked(one, "here.example")[0][3] == "10.99.0.1 by hosts file"
    assert walked(other, "here.example")[0][3] == "10.99.0.2 by hosts file"
    own_names(one, tmp_path, nameservers=[nameserver.host.address])
    assert walked(one, "here.example")[0][1:3] == ("failed", "name or service not known")
    assert walked(one, NAME)[0][1] == "ok"


@pytest.mark.scenario
def test_a_proxy_forwards_each_port_until_it_is_killed(bed, tmp_path):
    server, gateway = bed.hosts.add("server", "10.99.0.114"), bed.hosts.add("gateway", "10.99.0.115")
    for port in (1001, 1002):
        bed.stay(server, [sys.executable, "-c", GREETER, server.address, str(port), f"port {port}"])
    proxy = Proxy(gateway, tmp_path / "nginx", {2001: f"{server.address}:1001", 2002: f"{server.address}:1002"})
    read = "import socket, sys; print(socket.create_connection((sys.argv[1], int(sys.argv[2])), 3).recv(99).decode())"

    def got(port):
        return bed.worker.run([sys.executable, "-c", read, gateway.address, str(port)], cwd="/")

    assert [got(port).stdout for port in (2001, 2002)] == ["port 1001\n", "port 1002\n"]
    proxy.stop()
    assert "ConnectionRefusedError" in got(2001).stderr
    proxy.start({2001: f"{server.address}:1002"})
    assert got(2001).stdout == "port 1002\n"
    proxy.stop()


def test_what_is_missing_is_named_with_its_package(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BedError, match="needs no-such-program: install some-package"):
        require("no-such-program", "some-package")
