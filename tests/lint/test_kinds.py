"""Small configurations with one mistake each: what lint says of it, beside what it says of the healthy twin."""

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from kafka_audit.cli import main

TABLE = yaml.load((Path(__file__).parent / "kinds.yaml").read_text(), yaml.CSafeLoader)
GRAVE = {"HIGH", "CRITICAL"}


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Return a function that lints a text, and returns the kind of each failure and remark, with its words."""
    monkeypatch.chdir(tmp_path)

    def run(file, text):
        (tmp_path / file).write_text(text)
        main(["lint", file, "--format", "json"])
        found = []
        for one in json.loads(capsys.readouterr().out)["files"]:
            for finding in one["findings"]:
                kind = f"{finding['code']} {finding['severity']}"
                if finding["status"] == "FAIL":
                    found.append((kind, f"{kind} {finding['evidence'].get('line', '')}".strip()))
            found += [(remark["text"], f"remark {remark['line']}: {remark['text']}") for remark in one.get("remarks", ())]
        return found

    return run


@pytest.fixture(scope="module")
def twins():
    return {}


@pytest.mark.parametrize("case", TABLE["kinds"].values(), ids=TABLE["kinds"].keys())
def test_a_mistake_is_named(said, twins, case):
    healthy = TABLE["healthy"][case["of"]]
    if case["of"] not in twins:
        twins[case["of"]] = said(**healthy)
        assert not [words for _, words in twins[case["of"]] if words.split()[1] in GRAVE]
    text = healthy["text"]
    for old, new in case["change"]:
        assert old in text
        text = text.replace(old, new)
    found = said(healthy["file"], text)
    more = Counter(kind for kind, _ in found) - Counter(kind for kind, _ in twins[case["of"]])
    assert sorted({words for kind, words in found if kind in more}) == case["says"]
