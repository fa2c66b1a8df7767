"""The project's own gate, `.ci/run`."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_scenario_that_the_gate_begins_with_is_there():
    lines = (line.partition("#")[0].strip() for line in (ROOT / ".ci" / "scenarios").read_text().splitlines())
    listed = [line for line in lines if line]
    assert len(listed) > 10
    assert [line for line in listed if not (ROOT / line.partition("::")[0]).is_file()] == []


def test_every_test_has_a_time_limit(request):
    """One of pyproject.toml, a longer one of scenarios, and none of kills and soaks."""
    assert int(request.config.getini("timeout")) == 300
    assert "--timeout" not in (ROOT / ".ci" / "run").read_text()
