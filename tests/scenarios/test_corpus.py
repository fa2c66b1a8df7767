"""The runner of the fault corpus, end to end: one fault is broken, named, repaired by what its finding prints, and recorded."""

import pytest

from testbed.corpus import record
from testbed.corpus.auditing import Auditor
from testbed.corpus.catalogue import faults
from testbed.corpus.runner import run_faults

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]


def test_a_fault_is_run_and_recorded(tmp_path):
    path, auditor, lines = tmp_path / "corpus.json", Auditor("spark"), []
    try:
        ran = run_faults([(faults()["unclean_topic"], "3.9.1 ZooKeeper")], auditor, lines.append, path=path)
    finally:
        auditor.close()
    assert ran == 1, lines
    (result,) = record.read(path)
    assert (result["verdict"], result["missing"], result["false"]) == ("cause", [], [])
    assert result["failing"] == ["KA711 cluster"]
    assert result["healed"], result["left"]
    assert result["passing"] == ["KA711"]
    (command,) = result["commands"]
    assert command.endswith("--entity-name orders --delete-config unclean.leader.election.enable")
    assert result["peers"]["kafka-topics"]["verdict"] == "silent"
