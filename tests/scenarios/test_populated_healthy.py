"""Healthy clusters as they are in use, audited twice: every read is answered, and nothing is called a fault."""

import pytest

from testbed.corpus.auditing import Auditor
from testbed.corpus.catalogue import controls
from testbed.corpus.runner import Stage, run_control

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
POPULATED = [(control, version) for control in controls().values() for version in control.versions if "populated" in control.id]


@pytest.fixture
def stage():
    lines = []
    stage = Stage(Auditor(), lines.append)
    yield stage
    stage.clear()


@pytest.mark.parametrize(("control", "version"), POPULATED, ids=[f"{control.id}-{version}" for control, version in POPULATED])
def test_a_populated_cluster_is_clean_and_every_read_is_answered(stage, control, version):
    result = run_control(stage, control, version, rounds=1)
    assert result["unread"] == {}
    assert result["alarms"] == {}
    assert result["exits"] == [0, 0]
    assert result["answered"] == result["asked"] > 0
