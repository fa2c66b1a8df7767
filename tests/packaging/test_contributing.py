"""docs/new-check.md names what case files and entries of the corpus may hold, and nothing else."""

import dataclasses
import re

import pytest

from airflow_environment import ROOT
from checks.cases import CASE_KEYS, EXCEPTIONS, EXPECTED_KEYS, FILE_KEYS, INCIDENT_KEYS
from testbed.corpus.catalogue import Control, Fault
from testbed.corpus.words import Demands

TEXT = (ROOT / "docs/new-check.md").read_text(encoding="utf-8")


def keys_of(entry: type) -> set[str]:
    return {field.name for field in dataclasses.fields(entry)} - {"id"}  # the name of the entry


def quoted(text: str) -> set[str]:
    return set(re.findall(r"`([a-z_]+)(?::[^`]*)?`", text))


def rows(heading: str) -> dict[str, str]:
    """Return the meanings of a table by what is explained."""
    table = TEXT[TEXT.index(f"| {heading} | meaning |") :].split("\n\n")[0]
    lines = [line.strip().strip("|").split(" | ", 1) for line in table.splitlines()[2:]]
    return {explained.strip(): meaning for explained, meaning in lines}


def section(first: str, last: str) -> str:
    return TEXT[TEXT.index(first) : TEXT.index(last, TEXT.index(first))]


@pytest.mark.parametrize(("heading", "keys"), [("keys of a case", CASE_KEYS), ("keys of a fault", keys_of(Fault))])
def test_a_table_explains_all_keys_and_only_those(heading, keys):
    explained = [name for names in rows(heading) if "…" not in names for name in re.findall(r"`([a-z_]+)`", names)]
    assert sorted(explained) == sorted(keys)


@pytest.mark.parametrize(
    ("heading", "row", "keys"),
    [
        ("keys of a case", "… of `expect`", EXPECTED_KEYS),
        ("keys of a case", "`incidents`", INCIDENT_KEYS),
        ("keys of a fault", "`demands`", keys_of(Demands)),
    ],
)
def test_a_row_names_all_keys_within_a_key_and_only_those(heading, row, keys):
    assert quoted(rows(heading)[row]) == keys


def test_the_keys_of_a_case_file_are_named():
    text = section("- **The cases**", "If operators notice")
    of_examples = set(re.findall(r"^ {2}([a-z_]+):", text, re.MULTILINE))
    assert FILE_KEYS - of_examples <= quoted(text)
    assert of_examples <= FILE_KEYS


def test_the_kinds_of_exceptions_are_named():
    assert quoted(section("- **Exceptions**", "If operators notice")) - {"exceptions", "lint"} == EXCEPTIONS - {"lint"}


def test_the_keys_of_a_healthy_cluster_are_named():
    assert quoted(section("A healthy cluster in `controls.yaml`", "\n\n")) == keys_of(Control)


def test_the_table_of_packages_has_each_package():
    table = (ROOT / "docs/rooms.md").read_text(encoding="utf-8").partition("## Packages")[2].replace("plugins/kafka_audit/", "")
    packages = sorted(path.parent.name for path in (ROOT / "plugins" / "kafka_audit").glob("*/__init__.py"))
    assert [package for package in packages if f"`{package}`" not in table] == []
