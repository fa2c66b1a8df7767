"""Commands of findings run as they are printed; those of the bed's own log in."""

from types import SimpleNamespace

import pytest

from testbed.corpus import tools
from testbed.corpus.tools import Tools

LIST = "kafka-topics.sh --bootstrap-server b0:9093 --list"


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Return the tools of a secured cluster, and the arguments of each command that they start."""
    started = []

    def run(line, **_):
        started.append(line[line.index("Main") + 1 :])
        return SimpleNamespace(stdout="", stderr="", returncode=0)

    monkeypatch.setattr(tools, "tool_jars", lambda _version: tmp_path)
    monkeypatch.setattr(tools, "_main_class", lambda _jars, _name: "Main")
    monkeypatch.setattr(tools, "java", lambda: "java")
    secured = SimpleNamespace(java_client=lambda: {"security.protocol": "SASL_SSL"})
    cluster = SimpleNamespace(secured=secured, folder=tmp_path, plan=SimpleNamespace(version="3.9.1"))
    return Tools(SimpleNamespace(worker=SimpleNamespace(run=run)), cluster), started


def test_a_printed_command_logs_in_only_where_it_says_so(ran):
    made, started = ran
    made.demand(LIST)
    assert started == [["--bootstrap-server", "b0:9093", "--list"]]
    assert not (made.folder / "admin.properties").exists()
    made.demand("kafka-leader-election.sh --bootstrap-server b0:9093 --admin.config admin.properties")
    assert (made.folder / "admin.properties").read_text() == "security.protocol=SASL_SSL\n"


def test_a_command_of_the_bed_logs_in_before_its_subcommand(ran):
    made, started = ran
    made.demand_as_admin("kafka-metadata-quorum.sh --bootstrap-server b0:9093 describe --status")
    assert started == [["--bootstrap-server", "b0:9093", "--command-config", "admin.properties", "describe", "--status"]]
    made._cluster.secured = None
    assert made.with_login(LIST) == LIST
