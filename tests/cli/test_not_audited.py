"""The commonest first run: a wrong address."""

import socket

import pytest

from incidents.case_files import judged_case
from kafka_audit.cli import main
from kafka_audit.cli.printing.rendering import as_typed
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
