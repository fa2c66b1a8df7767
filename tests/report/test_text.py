"""No string that a cluster supplies can do more than be read."""

import unicodedata

import pytest

from kafka_audit.model.text import brokers, fitting, listing, ranges
from kafka_audit.report.text import Paint, clean, clean_prose, wrap

HOSTILE = [
    "\x1b[2J\x07",
    "a\r\nSubject: b",
    "gnp.\u202eexe",
    "zero\u200bwidth",
    "nb\u00a0sp",
    "blank\u2800\u3164cell",
    "line\u2028sep",
    "tag\U000e0041",
    "lone\ud800",
    "x\ufe0f",
    "c\u20dd",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_moves_hides_or_turns_is_shown_as_its_number(text):
    shown = clean(text)
    assert shown.isascii()
    assert not any(unicodedata.category(char) == "Cc" for char in shown)
    assert clean(shown) == shown


@pytest.mark.parametrize("text", ["orders.v1", "größe", "日本", "a b", "<img src=x onerror=alert(1)>"])
def test_what_can_be_read_stays_as_it_is(text):
    assert clean(text) == text


def test_what_is_cut_says_how_long_it_was():
    shown = clean("x" * 5000, 50)
    assert (len(shown), shown[-19:]) == (50, "… (5000 characters)"[-19:])
    assert clean(shown, 50) == shown


def test_escapes_do_not_make_a_string_longer_than_its_limit():
    assert len(clean("\u200b" * 100, 50)) == 50


def test_lists_read_as_sentences():
    assert [listing([]), listing([1]), listing([1, 2]), listing([1, 2, 3])] == ["", "1", "1 and 2", "1, 2 and 3"]
    assert listing(range(12)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    assert [brokers([2]), brokers([1, 0, 2]), brokers(range(9))] == ["broker 2", "brokers 0, 1 and 2", "9 brokers"]
    assert ranges([7, 0, 1, 2, 4, 5]) == "0-2, 4, 5, 7"


def test_the_first_text_that_fits_is_taken_and_the_last_is_cut():
    assert fitting(["a" * 100, "short"]) == "short"
    assert len(fitting(["a" * 200])) == 90


def test_lines_keep_their_width_and_an_address_stays_whole():
    address = "a-very-long-host-name.example.net:9092"
    lines = list(wrap(f"one two three {address} four\nnext", 30, "* "))
    assert f"  {address}" in lines
    assert lines[-1] == "  next"
    assert all(len(line) <= 30 for line in lines if address not in line)


def test_a_command_in_a_sentence_stays_on_one_line():
    command = "`kafka-acls.sh --bootstrap-server b:9092 --list`"
    assert list(wrap(f"one {command} two", 30)) == ["one", command, "two"]
    assert list(wrap("one two `nc -vz a 1`, then `a b`", 20)) == ["one two", "`nc -vz a 1`, then", "`a b`"]


def test_a_stray_backtick_does_not_hold_a_page_together():
    lines = list(wrap(f"topic ` {'word ' * 50} another `", 40))
    assert max(map(len, lines)) <= 40


def test_prose_keeps_line_breaks_and_cleans_the_rest():
    assert clean_prose("a\nb\x07") == "a\nb\\u0007"


def test_colour_is_there_only_when_asked_for():
    assert Paint(on=True)("HIGH", "x") == "\x1b[31mx\x1b[0m"
    assert Paint(on=False)("HIGH", "x") == "x"
