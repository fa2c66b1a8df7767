"""What lint says of files in the shape of what people run, as they stand; the scenarios start brokers with them."""

import json
from pathlib import Path

import pytest
import yaml

from kafka_audit.cli import main

FOLDER = Path(__file__).parent / "real_world"
CASES = yaml.load((FOLDER / "cases.yaml").read_text(), yaml.CSafeLoader)
REFUSALS = {"KA310", "KA311", "KA406"}
GRAVE = {"HIGH", "CRITICAL"}


def test_every_file_is_a_case():
    assert {path.name for path in FOLDER.iterdir()} == {*CASES, "cases.yaml"}


@pytest.mark.parametrize("name", CASES)
def test_a_file_as_it_stands(name, capsys):
    case = CASES[name]
    main(["lint", str(FOLDER / name), "--kafka-version", case["version"], "--format", "json"])
    (printed,) = json.loads(capsys.readouterr().out)["files"]
    fails = sorted(
        finding["code"] for finding in printed["findings"] if finding["status"] == "FAIL" and finding["severity"] in GRAVE
    )
    assert fails == case.get("fails", [])
    assert printed["starts"] is REFUSALS.isdisjoint(fails)
    unknown = [
        finding["message"] for finding in printed["findings"] if (finding["code"], finding["status"]) == ("KA414", "UNKNOWN")
    ]
    assert len(unknown) == ("unknown" in case)
    assert all(case["unknown"] in message for message in unknown)
    assert "secret" not in json.dumps(printed).replace("secrets/", "")


def test_people_are_not_told_that_it_starts_where_something_refuses_later(capsys):
    main(["lint", str(FOLDER / "jaas-broken.properties"), str(FOLDER / "own-controller-refused.properties")])
    printed = capsys.readouterr().out
    assert "jaas-broken.properties: does not start, although KafkaConfig accepts it" in printed
    assert "own-controller-refused.properties: starts" in printed
