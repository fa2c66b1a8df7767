"""The page of a check and the list of all: its Markdown, for a person at a terminal."""

import inspect

import pytest

from kafka_audit.checks import Check
from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredPartition
from kafka_audit.report.plain_text import explain

DOC = """A broker's own view names a leader that ZooKeeper does not hold.

    ## Why it matters
    Clients that bootstrap at this broker follow a leader which is none, and they go on failing for as long as nobody tells
    this broker better.

    ## What to do
    - Read `{log}` on the controller:
      which broker could it not reach?
    - Restart the broker.

        kafka-metadata-shell --help

    | seen | means |
    |---|---|
    | a | b |
    """


def _check(code, name, family="metadata", severity=Severity.CRITICAL, doc=DOC):
    return Check(
        code=code,
        name=name,
        family=family,
        severity=severity,
        needs=(BrokerView, RegisteredPartition),
        says={Status.FAIL: "x"},
        function=_check,
        kind="audit",
        doc=inspect.cleandoc(doc),
    )


CHECKS = {
    "KA101": _check("KA101", "stale_leader"),
    "KA201": _check("KA201", "no_controller", "controller", Severity.HIGH, "No broker is the controller.\n\n## Why\nx"),
}


@pytest.mark.parametrize("word", ["KA101", "ka101", "stale_leader", "stale-leader", "Stale_Leader"])
def test_a_check_is_found_by_code_and_name(word):
    assert explain.find_check(CHECKS, word).code == "KA101"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("KA102", "'KA102' is not a check of this version; did you mean KA101?"),
        ("stale_leaders", "; did you mean stale_leader?"),
        ("KA999999", "'KA999999' is not a check of this version"),
        ("zzz", "'zzz' is not a check, and no page of an error message has these words; type more of the message, or"),
    ],
)
def test_a_wrong_word_gets_the_nearest_check(word, said):
    with pytest.raises(UsageError) as error:
        explain.find_check(CHECKS, word)
    assert said in str(error.value)


def test_a_page_reads_well_at_60_columns(tmp_path):
    assert (
        explain.check_text(CHECKS["KA101"], width=60, color=False, cases=tmp_path)
        == """\
KA101 stale_leader  (CRITICAL, metadata, since 0.1.0)

A broker's own view names a leader that ZooKeeper does not
hold.

Why it matters
  Clients that bootstrap at this broker follow a leader
  which is none, and they go on failing for as long as
  nobody tells this broker better.

What to do
  - Read `LOG` on the controller: which broker could it not
    reach?
  - Restart the broker.

      kafka-metadata-shell --help

  | seen | means |
  |---|---|
  | a | b |

Judged from
  broker_view, registered_partition

Words
  view: the data that one observer, such as a broker,
    reports about the cluster"""
    )


def test_only_words_that_a_page_uses_are_explained():
    told = explain.explained_words("In two samples, from a vantage. It resampled reviews.")
    assert [term.split(":")[0] for term in told] == ["sample", "vantage"]
    assert explain.explained_words("Nothing of its own") == ()


def test_colour_marks_headings_and_changes_no_word(tmp_path):
    plain = explain.check_text(CHECKS["KA101"], width=80, color=False, cases=tmp_path)
    painted = explain.check_text(CHECKS["KA101"], width=80, color=True, cases=tmp_path)
    assert "\x1b[1mWhy it matters\x1b[0m" in painted
    assert painted.replace("\x1b[1m", "").replace("\x1b[0m", "") == plain


def test_the_first_failing_case_is_the_example(tmp_path):
    folder = tmp_path / "metadata"
    folder.mkdir()
    (folder / "stale_leader.yaml").write_text("""\
check: KA101
cases:
  all_agree:
    pass: [broker/1]
  passes:
    now: {views: {1: {}}}
    expect: [{status: PASS, resource: broker/1}]
  one_is_stale:
    now:
      views: {2: {leader: 0}}

    expect: [{resource: broker/2}]
  two_are_stale:
    expect: [{resource: broker/2}]
""")
    page = explain.check_text(CHECKS["KA101"], width=80, color=False, cases=tmp_path)
    assert (
        page.partition("Example that fails\n")[2]
        == """\
  one_is_stale:
    now:
      views: {2: {leader: 0}}

    expect: [{resource: broker/2}]"""
    )


def test_the_list_is_by_family_one_line_each_and_fits():
    text = explain.catalogue_text(CHECKS, width=50, color=False)
    assert (
        text
        == """\
metadata
  KA101  CRITICAL  A broker's own view names a …

controller
  KA201  HIGH      No broker is the controller.

Run `kafka-audit explain CODE` for details, or with an error message for its page."""
    )
