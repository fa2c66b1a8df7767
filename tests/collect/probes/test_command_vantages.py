"""Command vantages: the two scripts say the same, hostile hosts do nothing, and what is no answer is unknown."""

import ast
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from collect import fakes, taken
from collect.fakes import FakeBroker, server
from collect.secured_fakes import SecuredBroker, tls_server
from kafka_audit.clients import probe_script, sockets
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.targets import CONTROLLER_LISTENER, UNREGISTERED
from kafka_audit.clients.tls import UNVERIFIED
from kafka_audit.collect.probes import command_vantages, endpoint_probes
from kafka_audit.collect.probes.command_vantages import (
    bash_text,
    command_environment,
    parse_probe_output,
    python_text,
    run_vantage_command,
    runs,
)
from kafka_audit.model.cluster import Cluster, Limits, Security, Tls, Vantage, ZookeeperAccess
from kafka_audit.model.secrets import Secrets
from kafka_audit.model.tables import Certificate, ControllerProbeFromBroker, Probe, SourceRead
from testbed.certificates import Authority
from testbed.certificates import Certificate as Wanted

READ_S = 5.0
"""Of probes of which some hang. Honest brokers have all of it, too."""

AMPLE_S = 60.0
"""Of probes of which none hangs."""

target = partial(taken.target, via="elsewhere:1")
NOBODY = ClusterLogins(Cluster(name="none"), {})
HERE = ("env",)  # a command vantage on this very machine


def cluster(command=HERE, read_s=AMPLE_S, **vantage):
    there = Vantage(name="there", command=command, **vantage)
    return Cluster(name="c", vantages=(there,), limits=Limits(read_s=read_s))


@pytest.fixture(scope="module")
def bash_alone(tmp_path_factory):
    """A command vantage without Python."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("bash", "getent", "sort"):
        (folder / name).symlink_to(shutil.which(name))
    return ("env", f"PATH={folder}")


@pytest.fixture
def addresses():
    """Endpoints of every kind, by what is there."""
    brokers = [FakeBroker(0), FakeBroker(1), FakeBroker(2), FakeBroker(3)]
    brokers[1].may_describe_configs = False
    brokers[2].apis = {18: (0, 0), 3: (0, 5)}
    brokers[3].apis = {18: (0, 3), 32: (0, 0)}
    with (
        server(brokers[0]) as healthy,
        server(brokers[1]) as forbidding,
        server(brokers[2]) as without_configs,
        server(brokers[3]) as old,
        server(fakes.silent) as silent,
        server(fakes.garbage) as garbage,
        server(fakes.tls_alert) as tls,
        server(fakes.closing_at_once) as closing,
        server(fakes.hanging_up) as limiting,
        server(fakes.one_byte_a_second) as trickling,
    ):
        yield {
            "healthy": target(healthy),
            "healthy, by name": target(("localhost", healthy[1])),
            "another broker's": target(healthy, 7),
            "forbidding": target(forbidding),
            "without DescribeConfigs": target(without_configs),
            "old DescribeConfigs": target(old, 3),
            "silent": target(silent),
            "garbage": target(garbage),
            "tls": target(tls),
            "closing": target(closing),
            "limiting": target(limiting),
            "trickling": target(trickling),
            "refused": target(fakes.refused()),
        }


EXPECTED = {
    "healthy": ("identity", "ok", None, "0"),
    "healthy, by name": ("identity", "ok", None, "0"),
    "another broker's": ("identity", "ok", None, "0"),
    "forbidding": ("identity", "unknown", "CLUSTER_AUTHORIZATION_FAILED", None),
    "without DescribeConfigs": ("api", "ok", None, "2 APIs"),
    "old DescribeConfigs": ("identity", "ok", None, "3"),
    "silent": ("api", "failed", "timeout", None),
    "garbage": ("api", "failed", "not a Kafka broker", None),
    "tls": ("api", "failed", "not a Kafka broker", None),
    "closing": ("api", "failed", "connection closed", None),
    "limiting": ("api", "failed", "connection closed at once", None),
    "trickling": ("api", "failed", "timeout", None),
    "refused": ("tcp", "failed", "connection refused", None),
}


def walked(command, targets, read_s=AMPLE_S):
    (run,) = runs(cluster(command, read_s), 1, targets, [])
    return run.rows()


def paths(rows, targets):
    """Return the rows of each target without times, by the name of the target."""
    found = {}
    for name, target in targets.items():
        same = [
            row
            for row in rows
            if isinstance(row, Probe)
            and (row.port, row.broker_id, row.host, row.protocol) == (target.port, target.broker_id, target.host, target.protocol)
        ]
        found[name] = [(row.layer, row.outcome, row.error, row.detail, row.needs) for row in same]
    return found


def without_packets(found):
    """Return the layers that bash probes as well."""
    return {name: [row for row in rows if row[0] != "packets"] for name, rows in found.items()}


def test_python_and_bash_give_the_same_rows(addresses, bash_alone):
    with_python = without_packets(paths(walked(HERE, list(addresses.values()), READ_S), addresses))
    with_bash = paths(walked(bash_alone, list(addresses.values()), READ_S), addresses)
    assert {name: rows[-1][:4] for name, rows in with_python.items()} == EXPECTED
    assert with_bash == with_python


def test_a_vantage_takes_the_time_of_one_broker_that_hangs():
    """Twenty brokers hang until all are asked, each of them for longer than any test lasts."""
    asked, all_asked = [], threading.Event()

    def hang(connection):
        asked.append(connection.recv(4096))
        if len(asked) >= 20:
            all_asked.set()
        all_asked.wait()

    with server(hang) as address:
        rows = walked(HERE, [target(address)] * 20, taken.NEVER)
    assert [row.layer for row in rows if isinstance(row, Probe)] == ["dns", "tcp", "api"] * 20


def test_rows_say_where_they_come_from(addresses):
    rows = walked(HERE, [addresses["healthy"]])
    (read,) = [row for row in rows if isinstance(row, SourceRead)]
    assert (read.observer, read.operation, read.target, read.outcome) == ("vantage:there", "probe there", "env", "answered")
    assert {(row.vantage, row.role, row.from_broker, row.via) for row in rows if isinstance(row, Probe)} == {
        ("there", "client", None, None)
    }


def test_role_broker_runs_once_per_broker_with_its_id(addresses):
    echo = ("sh", "-c", 'echo "on $0"; exit 3', "{broker_id}")
    found = runs(cluster(echo, role="broker"), 1, [addresses["healthy"]], [2, 0])
    assert [run.name for run in found] == ["there on broker 2", "there on broker 0"], "in the order given"
    rows = [row for run in found for row in run.rows()]
    assert [row.from_broker for row in rows if isinstance(row, Probe)] == [2, 0]
    assert [row.message for row in rows if isinstance(row, SourceRead)] == [
        f"python3: on {broker} (exit status 3); bash: on {broker} (exit status 3)" for broker in (2, 0)
    ]


def test_role_broker_probes_controllers_too_and_clients_do_not(addresses, bash_alone):
    def controller(address):
        return replace(target(address, UNREGISTERED), listener=CONTROLLER_LISTENER)

    answers, refuses = (controller((endpoint.host, endpoint.port)) for endpoint in (addresses["healthy"], addresses["refused"]))
    outcomes = {"api": "ok", "tcp": "failed"}
    for command in (HERE, bash_alone):
        (run,) = runs(cluster(command), 1, [addresses["healthy"]], [2], controllers=[answers, refuses])
        assert not [row for row in run.rows() if isinstance(row, ControllerProbeFromBroker)]
        of_host = cluster(("env", "BROKER={broker_id}", *command), role="broker")
        (run,) = runs(of_host, 1, [addresses["healthy"]], [2], controllers=[answers, refuses])
        rows = run.rows()
        probes = [row for row in rows if isinstance(row, ControllerProbeFromBroker)]
        assert {(row.from_broker, row.address, row.layer, row.outcome) for row in probes} == {
            (2, endpoint.advertised, layer, outcomes[layer]) for endpoint, layer in ((answers, "api"), (refuses, "tcp"))
        }
        assert {row.broker_id for row in rows if isinstance(row, Probe)} == {0}
    (run,) = runs(cluster(("false",), role="broker"), 1, [], [2], controllers=[answers])
    (unknown,) = [row for row in run.rows() if isinstance(row, ControllerProbeFromBroker)]
    assert (unknown.outcome, unknown.error) == ("unknown", "exit status 1")


@pytest.mark.parametrize(
    ("command", "error", "says"),
    [
        (("sh", "-c", "echo Welcome to pod-7; echo more; exit 3"), "exit status 3", "Welcome to pod-7 (exit status 3)"),
        (("sh", "-c", "echo fine"), "unreadable output", "fine (exit status 0)"),
        (("sh", "-c", "exit 255"), "exit status 255", "exit status 255"),
        (("sh", "-c", r"printf '\033[31mred\007\n'; exit 1"), "exit status 1", "[31mred (exit status 1)"),
        (("no-such-command-anywhere",), "cannot run", "no-such-command-anywhere: No such file"),
    ],
)
def test_output_that_is_none_of_ours_is_unknown(addresses, command, error, says):
    rows = walked(command, [addresses["healthy"], addresses["refused"]])
    (read,) = [row for row in rows if isinstance(row, SourceRead)]
    assert (read.outcome, read.error) == ("failed", error)
    assert says in read.message
    assert read.message.isprintable()
    assert [(row.layer, row.outcome, row.error) for row in rows if isinstance(row, Probe)] == [("dns", "unknown", error)] * 2
    assert all(row.needs for row in rows)


def test_a_vantage_that_answers_for_some_targets_only_is_unknown_as_a_whole(addresses):
    half = ("sh", "-c", r"cat >/dev/null; printf 'kafka-audit\t0\tdns\tok\t\t1.2.3.4\t\t1\n'")
    rows = walked(half, [addresses["healthy"], addresses["refused"]])
    assert {row.outcome for row in rows if isinstance(row, Probe)} == {"unknown"}


@pytest.mark.parametrize(
    "command", [("sh", "-c", "yes; true"), ("sh", "-c", "sleep 3600; true"), ("sh", "-c", "sleep 3600 & echo x; wait")]
)
def test_a_vantage_that_never_ends_is_ended(monkeypatch, addresses, command):
    monkeypatch.setattr(command_vantages, "START_S", 0.3)
    rows = walked(command, [addresses["refused"]], 1.0)
    assert {row.outcome for row in rows} == {"failed", "unknown"}


def test_nothing_of_an_ended_command_stays(tmp_path):
    mark = tmp_path / "pid"
    output = run_vantage_command(["sh", "-c", f"sleep 3600 & echo $! >{mark}; wait"], "", 3.0, os.environ)
    assert output.status is None
    state = ["ps", "-o", "stat=", "-p", mark.read_text().strip()]
    while subprocess.run(state, capture_output=True, text=True, check=False).stdout.strip()[:1] not in {"", "Z"}:
        time.sleep(0.05)  # it is killed, and about to end


def for_python(targets, seconds):
    return python_text(targets, seconds, NOBODY)


HOSTILE = [
    "$(touch {mark})",
    "`touch {mark}`",
    "'; touch {mark}; '",
    '"; touch {mark}; "',
    "x\ntouch {mark}\n",
    "x'\ntouch {mark}\necho '",
    "\\'; touch {mark} #",
    "../../..{mark}",
    "')\nimport os; os.system('touch {mark}')\n('",
    "\\u0027); open('{mark}', 'w') #",
]


@pytest.mark.parametrize("host", HOSTILE)
@pytest.mark.parametrize(("program", "render"), [("python3 -", for_python), ("bash -s", bash_text)])
def test_hosts_cannot_break_out_of_the_script(tmp_path, host, program, render):
    """The second lock: such hosts are turned away before, but were they not, they would still be quoted."""
    mark = tmp_path / "touched"
    bad = target((host.replace("{mark}", str(mark)), 9092))
    output = run_vantage_command(program.split(), render([bad], AMPLE_S), 600.0, os.environ)
    assert not mark.exists()
    assert list(tmp_path.iterdir()) == []
    assert parse_probe_output(output.text, [bad])[0][-1].outcome == "failed"


@pytest.mark.parametrize("host", HOSTILE)
def test_such_hosts_never_leave_this_worker(host):
    rows = walked(("sh", "-c", "exit 9"), [target((host, 9092))])
    assert [(row.layer, row.error) for row in rows if isinstance(row, Probe)] == [("dns", "no host name")]


def test_lines_that_make_no_sense_are_left_out():
    lines = [
        "kafka-audit\t0\tdns\tok\t\t1.2.3.4\t\t1",
        "kafka-audit\t0\tdns\tfailed\tagain\t\t\t1",
        "kafka-audit\t0\ttcp\tsplendid\t\t\t\t1",
        "kafka-audit\t0\tkernel\tok\t\t\t\t1",
        "kafka-audit\t1\tdns\tok\t\t\t\t1",
        "kafka-audit\t-1\tdns\tok\t\t\t\t1",
        "kafka-audit\t0\ttcp\tok\t\t\t\tsoon",
        "kafka-audit\t0\ttcp\tok",
        "other\t0\ttcp\tok\t\t\t\t1",
    ]
    (steps,) = parse_probe_output("\n".join(lines), [target(("h", 1))]).values()
    assert [(step.layer, step.outcome, step.detail) for step in steps] == [("dns", "ok", "1.2.3.4")]


def test_passwords_stay_here():
    def named(variable):
        return {"password_env": variable}

    secret = Cluster(
        name="c",
        zookeeper=ZookeeperAccess(connect="z", **named("ZK")),
        security=Security(**named("KAFKA")),
        listeners={"L": Security(**named("LISTENER")), "skipped": None},
    )
    environment = {
        "ZK": "1",
        "KAFKA": "2",
        "LISTENER": "3",
        "PATH": "/bin",
        "OTHER_CLUSTER": "4",
        "KUBECONFIG": "k",
        "LC_ALL": "C",
    }
    kept = {"PATH": "/bin", "KUBECONFIG": "k", "LC_ALL": "C"}
    assert command_environment(secret, environ=environment) == kept
    more = ("VAULT_ADDR", "KAFKA", "LISTENER")
    assert command_environment(secret, (), more, environment | {"VAULT_ADDR": "v"}) == kept | {"VAULT_ADDR": "v"}


def test_the_script_for_python_needs_nothing_newer_than_3_6():
    text = python_text([target(("h", 1))], 1.0, NOBODY)
    ast.parse(text, feature_version=(3, 6))
    assert not re.search(r"^\s*(from|import) kafka", text, re.MULTILINE)


def test_bash_reads_every_byte_as_it_is(bash_alone):
    """Bash's read has special characters: an id and a message made of all bytes must come through."""

    class Odd(FakeBroker):
        def _configs(self, version, request):
            answer = super()._configs(version, request)
            answer.results[0].error_message = "".join(map(chr, range(1, 128))) + "ü€" + answer.results[0].error_message
            return answer

    with server(Odd(42)) as address:
        rows = walked(bash_alone, [target(address)])
    assert [row.detail for row in rows if isinstance(row, Probe)][-1] == "42"


def test_an_unanswered_name_lookup_is_bounded(monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args: over.wait() and [])
    way = probe_script.EndpointProbe("slow.example", 1, ("slow.example", UNVERIFIED), "PLAIN")
    way.go(["dns", "tcp"], 0.3)
    over.set()
    assert [(layer, outcome, error) for layer, outcome, error, *_ in way.steps] == [("dns", "failed", "TIMEOUT")]


def test_ports_beyond_the_last_are_not_sent(addresses):
    rows = walked(HERE, [replace(addresses["healthy"], port=70000)])
    assert [(row.layer, row.error) for row in rows if isinstance(row, Probe)] == [("dns", "no port number")]


@pytest.fixture
def secured(tmp_path):
    """Listeners that want TLS or a login, one more with a certificate that has expired, and who trusts their issuer."""
    authority = Authority(tmp_path)
    local = ("127.0.0.1",)
    expired = authority.issue("expired", local, Wanted(valid_for=-timedelta(hours=1)))
    plain, login, both = FakeBroker(0), SecuredBroker(1, ("SCRAM-SHA-512", "PLAIN")), SecuredBroker(2, ("SCRAM-SHA-256",))
    trusting = Cluster(
        name="c",
        vantages=(Vantage(name="there", command=HERE),),
        limits=Limits(read_s=AMPLE_S),
        security=Security(protocol="SSL", tls=Tls(ca_file=str(authority.ca_file))),
    )
    with (
        tls_server(plain, authority.issue("ssl", local)) as ssl,
        tls_server(plain, expired) as late,
        tls_server(plain, authority.issue("wants", local), client_auth=True) as wanting,
        server(login) as sasl,
        tls_server(both, authority.issue("both", local)) as sasl_ssl,
    ):
        targets = {
            "SSL": target(ssl, protocol="SSL"),
            "expired": target(late, protocol="SSL"),
            "client certificate": target(wanting, protocol="SSL"),
            "SASL_PLAINTEXT": target(sasl, 1, protocol="SASL_PLAINTEXT"),
            "SASL_SSL": target(sasl_ssl, 2, protocol="SASL_SSL"),
        }
        yield trusting, targets, (login, both)


def test_python_walks_through_tls_and_sees_mechanisms_without_a_login(secured):
    described, targets, brokers = secured
    (run,) = runs(described, 1, list(targets.values()), [], ClusterLogins(described, {}))
    rows = run.rows()
    found = {name: [(layer, outcome, error or detail) for layer, outcome, error, detail, _ in seen] for name, seen in
             without_packets(paths(rows, targets)).items()}  # fmt: skip
    assert found["SSL"][2:] == [("tls", "ok", "TLSv1.3"), ("api", "ok", "4 APIs"), ("identity", "ok", "0")]
    assert found["expired"][2:] == [("tls", "failed", "certificate expired")]
    assert found["client certificate"][3:] == [("api", "unknown", "client certificate required")]
    assert found["SASL_PLAINTEXT"][2:] == [("sasl", "ok", "SCRAM-SHA-512,PLAIN"), ("api", "ok", "6 APIs")]
    assert found["SASL_SSL"][2:] == [("tls", "unknown", "TLSv1.3"), ("sasl", "ok", "SCRAM-SHA-256"), ("api", "ok", "6 APIs")]
    shown = {row.subject: (row.vantage, row.trusted, row.name_matches) for row in rows if isinstance(row, Certificate)}
    assert shown == {
        "CN=ssl,O=bed": ("there", True, True),
        "CN=expired,O=bed": ("there", False, True),
        "CN=wants,O=bed": ("there", True, True),
        "CN=both,O=bed": ("there", None, True),  # the file says nothing of SASL_SSL, so whom to trust is not known
    }
    assert [broker.logins for broker in brokers] == [[], []]


def test_bash_says_that_tls_and_mechanisms_need_python(secured, bash_alone):
    described, targets, _ = secured
    described = replace(described, vantages=(Vantage(name="there", command=bash_alone),))
    (run,) = runs(described, 1, list(targets.values()), [], ClusterLogins(described, {}))
    rows = run.rows()
    found = {name: [(layer, outcome, needs) for layer, outcome, _, _, needs in seen] for name, seen in
             paths(rows, targets).items()}  # fmt: skip
    reached = [("dns", "ok", None), ("tcp", "ok", None)]
    for name in ("SSL", "expired", "client certificate", "SASL_SSL"):
        assert found[name] == [*reached, ("tls", "unknown", "python3")]
    assert found["SASL_PLAINTEXT"] == [*reached, ("sasl", "unknown", "python3"), ("api", "ok", None)]


def test_what_bash_cannot_reach_stays_unreached(bash_alone):
    described = cluster(bash_alone)
    (run,) = runs(described, 1, [target(fakes.refused(), protocol="SSL")], [], ClusterLogins(described, {}))
    assert [(row.layer, row.outcome) for row in run.rows() if isinstance(row, Probe)] == [("dns", "ok"), ("tcp", "failed")]


def test_a_vantage_gets_no_variable_that_holds_a_password_whatever_its_name():
    connection = Cluster(name="c", security=Security(password_env="connection x"))  # noqa: S106 -- a name
    environment = {
        "COPY": "user:hush@h",
        "AIRFLOW_CONN_X": "{}",
        "AIRFLOW__CORE__FERNET_KEY": "f",
        "KAFKA_AUDIT_PASSWORD": "p",
        "HOME": "/",
        "KEY": "v",
        "SSH_AUTH_SOCK": "hush",
    }
    assert command_environment(connection, {"hush"}, environ=environment) == {"HOME": "/"}
    assert command_environment(connection, {"hush"}, ("COPY", "KEY"), environment) == {"HOME": "/", "KEY": "v"}
    assert ClusterLogins(connection, Secrets({"connection x": "hush"}, environment)).passwords() == {"hush"}


def test_what_claims_to_be_a_certificate_and_is_none_gives_no_row():
    lines = ["certificate\tok\t\tnot base64!\t\t0", "tls\tok\t\t\t\t1"]
    endpoint = target(("h", 1), protocol="SSL")
    (steps,) = parse_probe_output("\n".join(f"kafka-audit\t0\t{line}" for line in lines), [endpoint]).values()
    rows = endpoint_probes.probe_rows(1, endpoint_probes.FROM_WORKER, endpoint, steps)
    assert [type(row) for row in rows] == [Probe]


def test_python_and_bash_name_who_resolves(monkeypatch, tmp_path):
    hosts, servers = tmp_path / "hosts", tmp_path / "resolv.conf"
    hosts.write_text("# 10.0.0.9 secret\n10.0.0.7\tKafka-0 kafka-0.example # kafka-1\n10.0.0.8 other")
    servers.write_text("search example\nnameserver 10.0.0.2\nNAMESERVER fd00::53\nnameserver $(id)\nnameserver 1\nnameserver 2\n")
    monkeypatch.setattr(sockets, "HOSTS", str(hosts))
    monkeypatch.setattr(sockets, "RESOLV_CONF", str(servers))
    kinds = {
        "kafka-0.EXAMPLE.": "by hosts file",
        "kafka-0": "by hosts file",
        "kafka-1": "by nameserver 10.0.0.2,fd00::53,1",
        "secret": "by nameserver 10.0.0.2,fd00::53,1",
        "other": "by hosts file",
        "10.0.0.7": None,
        "fd00::1": None,
    }
    assert {host: sockets.resolver(host) for host in kinds} == kinds
    script = bash_text([], 1.0).replace("/etc/hosts", str(hosts)).replace("/etc/resolv.conf", str(servers))
    functions = script.partition("\nmain() {")[0]
    asked = "\n".join(f"resolver {host}; echo ${{RESOLVER:-nobody}}" for host in kinds)
    output = subprocess.run(["bash"], input=f"{functions}\n{asked}\n", capture_output=True, text=True, check=True)
    assert output.stdout.splitlines() == [kind or "nobody" for kind in kinds.values()]
    servers.unlink()
    assert sockets.resolver("kafka-1") == "by no nameserver"


def test_a_name_that_does_not_resolve_says_who_was_asked(bash_alone):
    for command in (HERE, bash_alone):
        rows = walked(command, [target(("no-such-host.invalid", 9092))])
        (row,) = [row for row in rows if isinstance(row, Probe)]
        assert (row.layer, row.outcome) == ("dns", "failed")
        assert row.detail == sockets.resolver("no-such-host.invalid")
