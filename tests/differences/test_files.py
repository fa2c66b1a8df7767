"""What every `.sql` file keeps to, whatever it computes."""

import re

import pytest

from kafka_audit.differences import files
from kafka_audit.differences.tables import DIFFERENCES, GIVEN, OF_LOSSES, OF_TOPICS, ListAge
from kafka_audit.model.finding import Confidence, Severity, Status
from kafka_audit.model.tables import LARGE
from testbed import relation_columns

TABLES = (ListAge, *OF_LOSSES, *OF_TOPICS, *DIFFERENCES)
FOLDER = files.files("kafka_audit.differences")
PATHS = sorted(
    [entry for entry in FOLDER.iterdir() if entry.name.endswith(".sql")] + [*FOLDER.joinpath("reference").iterdir()],
    key=lambda entry: entry.name,
)
JUDGING = {word.lower() for words in (Status, Severity, Confidence) for word in words.__members__} | {
    "severity",
    "status",
    "finding",
}
"""No file may know one of these."""


def bare(text: str) -> str:
    """Return a file without its comments."""
    return re.sub(r"--[^\n]*", "", text)


def test_the_columns_of_shared_relations_are_known_without_a_query():
    """Where this fails, `make docs` writes them anew."""
    assert {name: files.relation_ddl(name) for name in files.SHARED} == relation_columns.columns_of_relations()


def test_a_file_for_every_table_and_none_more():
    assert {entry.name.removesuffix(".sql") for entry in FOLDER.iterdir() if entry.name.endswith(".sql")} == {
        table.table() for table in TABLES
    }


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_it_begins_with_what_it_is(path):
    first = path.read_text().splitlines()[0]
    assert re.match(r"-- [A-Z].{20,}", first)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_it_neither_judges_nor_talks(path):
    text = bare(path.read_text())
    words = set(re.findall(r"[a-z_]+", text.lower()))
    assert not words & JUDGING
    sentences = [quoted for quoted in re.findall(r"'([^']*)'", text) if " " in quoted.strip()]
    assert not sentences


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_it_reads_partition_sized_given_and_shared_tables_alone(path):
    text = bare(path.read_text())
    own = set(re.findall(r"(?:WITH|\),)\s+(\w+) AS \(", text))
    known = {table.table() for table in (*LARGE, *GIVEN)} | set(files.SHARED)
    assert set(re.findall(r"(?<!DISTINCT )\b(?:FROM|JOIN)\s+(\w+)", text)) <= known | own
