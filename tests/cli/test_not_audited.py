"""The commonest first run: a wrong address."""

import os
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest
from msgspec import structs

from incidents.case_files import judged_case
from kafka_audit.cli import main
from kafka_audit.cli.printing.rendering import another_port, as_typed, write_not_audited
from kafka_audit.model.report import UnansweredRead
from kafka_audit.report.plain_text import terminal
from report.conftest import documented
from reported import report_of


@pytest.fixture
def closed():
    """Return an address of this host at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return f"127.0.0.1:{port}"


def test_where_nothing_answers_and_nothing_ever_has_the_command_says_so_after_one_look(closed, tmp_path, capsys):
    assert main(["run", "--bootstrap", closed, "--out", str(tmp_path)]) == 3
    out, err = capsys.readouterr()
    assert out.startswith(f"Not audited: nothing answers at {closed} (connection refused). Nothing was judged.\n")
    assert len(out.splitlines()) < 5
    assert "sample 2" not in err


def test_a_second_run_at_the_wrong_address_is_no_outage_either(closed, tmp_path, capsys):
    for _ in range(2):
        assert main(["run", "--bootstrap", closed, "--out", str(tmp_path), "--quiet"]) == 3
        assert capsys.readouterr().out.startswith("Not audited:")


@pytest.mark.parametrize(
    ("port", "says"), [(9092, "It is broker 1 of prod, by the audit s1. Ask another: --bootstrap b2:9092"), (9093, "")]
)
def test_an_address_that_an_audit_of_a_cluster_has_is_named(port, says, capsys):
    report = report_of(documented(judged_case("cut_off", "all_brokers"))[0])
    known = structs.replace(
        report, matrix=structs.replace(report.matrix, endpoints={"1": "A://x:1, B://b1:9092", "2": "B://b2:9092"})
    )
    read = UnansweredRead(observer="broker@x", broker=None, operation="Metadata", target=f"b1:{port}", error="refused")
    silent = structs.replace(report, coverage=structs.replace(report.coverage, answered=0, unknown=(read,)))
    write_not_audited(silent, SimpleNamespace(snapshots=lambda: {"prod": ["s1"]}, report=lambda _: known))
    out = capsys.readouterr().out
    assert out.startswith("Not audited: ")
    assert (out.splitlines()[-1] == says) if says else ("It is" not in out)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("b1:9192", "A typo? b1:9192 was in no audit. Ask b1:9092 or b1:9093, which the audit s1 has."),
        ("b1:9093", ""),  # it is down
        ("b9:9092", ""),
    ],
)
def test_another_port_of_a_host_that_was_audited_is_a_typo(asked, says):
    report = report_of(documented(judged_case("cut_off", "all_brokers"))[0])
    endpoints = {"1": "A://b1:9092, B://b1:9093", "2": "A://b2:9092"}
    known = structs.replace(report, matrix=structs.replace(report.matrix, endpoints=endpoints))
    read = UnansweredRead(observer="broker@x", broker=None, operation="Metadata", target=asked, error="refused")
    coverage = structs.replace(report.coverage, answered=0, unknown=(read,))
    silent = structs.replace(report, coverage=coverage, previous_snapshot_id="s1")
    assert another_port(silent, SimpleNamespace(report={"s1": known}.get)) == says


@pytest.mark.parametrize(
    ("reason", "kind", "says", "checks"),
    [
        ("REFUSED", "connection refused", "nothing answers at b1:9092 (connection refused)", True),
        ("CLOSED", "connection closed", "no broker answers at b1:9092 (connection closed)", True),
        ("NAME_UNKNOWN", "name or service not known", "this host cannot resolve b1:9092 (name or service not known)", False),
        ("LOGIN_REFUSED", "SASL_AUTHENTICATION_FAILED", "no login at b1:9092 (SASL_AUTHENTICATION_FAILED)", False),
        ("LOGIN_WANTED", "login required", "no login at b1:9092 (login required)", False),
        ("NO_CREDENTIALS", "no credentials", "no login at b1:9092 (no credentials: PASS is not set)", False),
    ],
)
def test_what_an_address_does_instead_is_said_and_only_a_wrong_address_is_to_be_checked(reason, kind, says, checks):
    report = report_of(documented(judged_case("cut_off", "all_brokers"))[0])
    error = "no credentials: PASS is not set" if reason == "NO_CREDENTIALS" else f"x to b1:9092: {kind}"
    head = {"observer": "broker@b1:9092", "broker": None, "target": "b1:9092"}
    read = UnansweredRead(**head, operation="Metadata", error=error, reason=reason, kind=kind, needs="it")
    silent = structs.replace(report, coverage=structs.replace(report.coverage, answered=0, unknown=(read,)))
    check = "Check the address and the port. " if checks else ""
    assert terminal.not_audited(silent, width=200) == f"Not audited: {says}. Nothing was judged.\n{check}Needed: it.\n"


def test_a_cluster_file_that_comes_through_a_pipe_is_read_once(closed, tmp_path, capsys):
    read, write = os.pipe()
    os.write(write, f"clusters:\n  prod:\n    bootstrap: [{closed!r}]\n".encode())
    os.close(write)
    assert main(["run", "prod", "--config", f"/dev/fd/{read}", "--out", str(tmp_path), "--quiet"]) == 3
    os.close(read)
    assert capsys.readouterr().out.startswith(f"Not audited: nothing answers at {closed}")


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["run", "b1.example:9092"], "did you mean --bootstrap b1.example:9092?"),
        (["run", "--bootstrap", "b1.example"], "'b1.example' is not a host:port"),
        (["snapshot", "nosuch", "--config", "none.yaml"], "none.yaml: file not found"),
        (["watch"], "name a cluster of the cluster file"),
    ],
)
def test_what_cannot_be_meant_is_refused_without_the_imports_of_an_audit(typed, says):
    code = "import sys; from kafka_audit.cli import main; code = main(sys.argv[1:]); print(code, 'numpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code, *typed], capture_output=True, text=True, check=False)
    assert says in ran.stderr
    assert ran.stdout == "2 False\n"


@pytest.mark.parametrize("command", [["snapshot"], ["watch", "--for", "1"], ["what-if", "--without", "broker:1", "--quiet"]])
def test_an_address_names_a_cluster_of_other_commands_too(command, closed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    word, *rest = command
    store = [] if word == "watch" else ["--out", str(tmp_path)]
    assert main([word, "--bootstrap", closed, *rest, *store]) in {0, 2, 3, 4}
    assert "name a cluster" not in capsys.readouterr().err


def test_a_report_is_found_by_its_path_in_a_store(closed, tmp_path, capsys):
    main(["run", "--bootstrap", closed, "--out", str(tmp_path), "--quiet"])
    (folder,) = (tmp_path / "snapshots").iterdir()
    capsys.readouterr()
    for path in (folder, folder / "findings.json"):
        assert main(["report", str(path)]) == 0
        assert "Not judged: 0 of 3 reads answered" in capsys.readouterr().out


def test_a_repair_is_proved_by_the_command_that_was_typed():
    report = report_of(documented(judged_case("cut_off", "all_brokers"))[0])
    steps = [step for one in as_typed(report, ["run", "--bootstrap", "b1:9092"]).incidents for step in one.remediation]
    assert {step.commands for step in steps if step.kind == "prove"} == {("kafka-audit run --bootstrap b1:9092",)}
