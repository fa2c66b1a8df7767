"""Files in the shape of what people run, each linted and started for real: lint says before what the broker then does."""

import json

import pytest

from kafka_audit.cli import main
from scenarios.real_world import CASES, Site
from testbed import Bed

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

REFUSALS = ({"KA310", "KA311", "KA406"}, {"KA720"}, {"KA413", "KA414"})
"""What KafkaConfig refuses, what log directories do, and what a listener's own start does; a broker ends at the first of them."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("real-world")
    with Bed(folder / "bed") as bed:
        site = Site(bed, folder)
        yield site
        site.close()


@pytest.mark.parametrize("name", CASES)
def test_the_broker_does_what_lint_says(name, site, monkeypatch, capsys):
    case = CASES[name]
    for variable, value in case.get("environment", {}).items():
        monkeypatch.setenv(variable, value)
    file = site.filled(name)
    main(["lint", str(file), "--on-host", "--kafka-version", case["version"], "--format", "json"])
    (printed,) = json.loads(capsys.readouterr().out)["files"]
    seen = site.started(file)

    up = case["broker"] == "up"
    assert seen.up is up, seen.log
    assert (case.get("log", "") if up else case["broker"]) in seen.log
    grave = {"KA720": {"CRITICAL"}}  # it reports what is weak as well
    failed = {
        finding["code"]: finding
        for finding in printed["findings"]
        if finding["status"] == "FAIL" and finding["severity"] in grave.get(finding["code"], {finding["severity"]})
    }
    for code in case.get("started", case).get("fails", []):
        assert code in failed
    refused = next(([failed[code] for code in kind & failed.keys()] for kind in REFUSALS if kind & failed.keys()), [])
    assert not (up and refused)
    for finding in refused:  # in Kafka's own words, where lint has them
        assert finding["evidence"].get("kafka_says", finding["evidence"].get("says", "")) in seen.log
    unknown = [
        finding["message"] for finding in printed["findings"] if (finding["code"], finding["status"]) == ("KA414", "UNKNOWN")
    ]
    if not up and not refused:
        expected = case.get("started", case).get("unknown")
        assert case.get("untold") if expected is None else expected in unknown[0]
