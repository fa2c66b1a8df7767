"""The catalogue of what Kafka and ZooKeeper log: each line of each release has a meaning, and the file is what was extracted."""

from collections import Counter

import pytest
import yaml

from kafka_audit.checks import catalogue
from kafka_audit.says.catalogue import KINDS, NEW, ROOMS, Template, meanings, read_lines, templates
from testbed.jars import COMPARED
from testbed.says import __main__ as extraction
from testbed.says.count import compared

RELEASES = sorted({version.rpartition(".")[0] for version in COMPARED}, key=lambda one: [int(part) for part in one.split(".")])
SERVERS = ["3.4", "3.5", "3.6", "3.7", "3.8", "3.9"]
WARNED = ("F", "E", "W")


def number(release):
    return [int(part) for part in release.split(".")]


def of(release, program=""):
    """Return the lines at WARN and above that a release has."""
    return [
        found
        for found in templates()
        if found.level in WARNED
        and found.since.startswith("z") is (program == "z")
        and number(found.since.strip("z")) <= number(release) <= number(found.until)
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_every_line_of_each_release_has_a_meaning(release):
    found = of(release)
    assert {template.meaning for template in found} <= set(meanings())
    assert len(found) > 250, "a release without its lines was read from the wrong jars"


@pytest.mark.parametrize("release", SERVERS)
def test_every_line_of_each_zookeeper_has_a_meaning(release):
    found = of(release, "z")
    assert {template.meaning for template in found} <= set(meanings())
    assert len(found) > 300


SITES = yaml.safe_load((extraction._HERE / "sites.yaml").read_text())


def sites(kind, release, program=""):
    """Return the numbers of calls of a release, by level and logger."""
    found = Counter()
    for logger, spans in SITES[program == "z"].get(kind, {}).items():
        for span, times in spans.items():
            since, until = span.replace("z", "").split("-")
            found[tuple(logger.split(" ", 1))] += times if number(since) <= number(release) <= number(until) else 0
    return +found


def test_the_calls_that_javap_counts_are_those_whose_texts_are_read():
    assert [group["differences"] for group in SITES] == [{}, {}], "mend the reader, or name the reason beside each"
    counted = sites("counted", "4.3")
    assert sum(counted.values()) > 1_000


@pytest.mark.parametrize(("release", "program"), [*((one, "") for one in RELEASES), *((one, "z") for one in SERVERS)])
def test_each_logger_that_javap_counts_has_lines_unless_its_texts_are_variables(release, program):
    without = sum((sites(kind, release, program) for kind in ("variable", "given", "passed_on")), Counter())
    known = {(template.level, logger) for template in of(release, program) for logger in template.loggers}
    called = sites("counted", release, program) - without
    assert sum(called.values()) > 300
    assert set(called) - known == set()


def test_a_call_that_only_one_count_has_is_a_difference():
    one = {
        ("W", "Broker", "counted"): 3,
        ("W", "Broker", "known"): 1,
        ("W", "Broker", "variable"): 1,
        ("E", "Tool", "left_out"): 2,
    }
    assert compared({"4.3": Counter(one), "4.4": Counter(one), "4.5": Counter()}) == {
        "differences": {"W Broker": {"4.3-4.4": 1}},
        "counted": {"W Broker": {"4.3-4.4": 3}},
        "left_out": {"E Tool": {"4.3-4.4": 2}},
        "variable": {"W Broker": {"4.3-4.4": 1}},
    }


def test_nothing_is_new_and_no_meaning_is_without_lines():
    used = {template.meaning for template in templates()}
    assert NEW not in used, "classify what is in [new] of lines.txt"
    assert used == set(meanings())


def test_no_error_says_nothing_and_few_warnings_do():
    nothing = Counter(found.level for found in templates() if meanings()[found.meaning].kind == "nothing")
    warnings = sum(found.level == "W" for found in templates())
    assert set(nothing) <= {"W"}
    assert nothing["W"] <= 0.15 * warnings


def test_a_meaning_is_complete():
    codes = catalogue()
    for name, meaning in meanings().items():
        assert meaning.kind in KINDS, name
        assert meaning.says.endswith((".", "?")), name
        assert len(meaning.says) < 260, name
        assert set(meaning.checks) <= set(codes), name
        assert meaning.normal or meaning.kind in ("sign", "consequence"), f"{name} does not say when it is ordinary"
        assert meaning.next or meaning.kind != "sign" or meaning.confused or meaning.normal, f"{name} leads nowhere"
    assert len({meaning.room for meaning in meanings().values()}) == len(ROOMS)


def test_a_template_is_plain_and_there_once():
    for found in templates():
        assert found.level in "FEWIT"
        assert found.text == found.text.strip()
        assert "\0" not in found.text
        assert any(letter.isalpha() for letter in found.text) or found.level == "T", found
    lines = [found for found in templates() if found.level != "T"]  # two classes may have an exception for two reasons
    known = Counter((found.level, found.since[0] == "z", found.text, name) for found in lines for name in found.loggers)
    assert not [line for line, times in known.items() if times > 1]


def test_the_file_is_what_its_writer_writes():
    text = extraction._written(templates())
    assert tuple(read_lines(text)) == templates()
    assert text == extraction._FILE.read_text()


def test_a_line_keeps_its_meaning_and_another_one_is_new():
    known = {("Disk … failed", "LogManager"): "log_dir_stopped"}
    kept = extraction.Line("ERROR", "LogManager", "Disk … failed")
    later = extraction.Line("WARN", "LogManager", "Disk … is slow")
    found = extraction._templates({"4.4.0": (kept,), "4.5.0": (kept, later)}, "", known)
    assert sorted(found) == [
        Template("log_dir_stopped", "E", "4.4", "4.5", ("LogManager",), "Disk … failed"),
        Template(NEW, "W", "4.5", "4.5", ("LogManager",), "Disk … is slow"),
    ]


def test_what_is_broken_in_the_file_is_an_error():
    with pytest.raises(ValueError, match="unpack"):
        list(read_lines("[x]\nE Kafka|text\n"))
