"""Templates become words before values fill them; the words come out of bash, `shlex` and Kafka's loader as they are."""

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kafka_audit.configuration.files.java import parse_properties
from kafka_audit.model import quoting
from kafka_audit.model.commands import LONGEST_VALUE, Code, Command, CommentLine, SettingLine, command, prose, remark, setting
from printed_commands import bash_words, files_made, words_of

HOSTILE = [
    "x ;touch /tmp/P;#", "$(touch P)", "`touch P`", "a|b", "a&b", "a>P", "<a", "it's", '"q"', "a\\b", "a\nb", "a\tb", "-e", "--x",
    "#c",
    "!1", "*", "?", "~", "[x]", "{a,b}", "größe", "日本", "\u202eexe", "a\u200bb", "\U0001f600", "\x1b[31m", "\x7f", "a=b", "a,b",
    "a:b",
    "'; touch P #", "$'x'", "\\'; touch P; '", "'`\n", "User:a;touch P", "=ls", "a'!b", "\x00", "\ud800", "",
]  # fmt: skip
ODD = " ;|&$()<>`'\"\n\t\r#!-\\=:,*?~[]{}^%\x00\x1b\u202e\u2028\xa0é日😀"
WORDS = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.one_of(st.sampled_from(ODD), st.characters()), max_size=40),
)  # fmt: skip


def fits(value):
    return "\0" not in value and not any("\ud800" <= char <= "\udfff" for char in value)


@given(st.lists(WORDS.filter(fits), min_size=20, max_size=60))
def test_bash_and_shlex_read_the_words_that_were_meant(values):
    shown = [quoting.shell(Command(stages=(("echo", value, f"--topic={value}"),))) for value in values]
    assert all(line.isprintable() and "`" not in line for line in shown)
    assert [words_of(line) for line in shown] == [["echo", value, f"--topic={value}"] for value in values]
    assert bash_words(shown) == [["echo", value, f"--topic={value}"] for value in values]


@given(st.lists(WORDS, min_size=20, max_size=40))
def test_nothing_that_is_printed_makes_a_file(values):
    lines = [
        line
        for value in values
        for line in quoting.lines(
            (
                command("nc -vz -w 3 {host} {port}", host=value, port=9092),
                command("kafka-acls.sh --add --allow-principal {name} --cluster | grep {name}", name=value),
                remark("server.properties of {host}, which has {value}", host=value, value=value),
                setting("super.users", value),
                setting(value, value),
                SettingLine(key="trusted_hosts", value=(value,), file="yaml"),
            )
        )
    ]
    assert files_made(lines) == []


@given(WORDS, WORDS)
def test_a_settings_line_reads_back_as_its_key_and_value(key, value):
    line = setting(key, value)
    shown = quoting.setting_line(line)
    assert shown.isascii()
    assert shown.isprintable()
    assert {name: read.value for name, read in parse_properties(shown.encode("latin-1")).items()} == {line.key: line.value}
    assert (line.key == key, line.value == value) == (fits(key), fits(value))


@given(WORDS.filter(fits))
def test_yaml_reads_back_a_list(value):
    shown = quoting.setting_line(SettingLine(key="hosts", value=(value, "b"), file="yaml"))
    assert shown.isprintable()
    assert yaml.safe_load(shown) == {"hosts": [value, "b"]}


@given(WORDS)
def test_a_value_is_never_a_second_word_an_option_or_a_pipe(value):
    made = command(
        "kafka-topics.sh --describe --topic {topic} {host} /x/{path} | grep {topic}", topic=value, host=value, path=value
    )
    (tool, *words), grep = made.stages
    assert tool == "kafka-topics.sh"
    assert len(words) == (4 if value.startswith("-") and fits(value) else 5)
    assert len(grep) == 2
    assert not any(
        word.startswith("-") and word.partition("=")[0] not in {"--describe", "--topic"} for word in (*words, *grep[1:])
    )
    assert next(word for word in words if word.startswith("/x/")) in {f"/x/{value}", "/x/PATH"}
    if fits(value):
        assert value in words or f"--topic={value}" in words


@pytest.mark.parametrize("value", ["x" * (LONGEST_VALUE + 1), "a\0b", "\ud800"])
def test_what_cannot_be_printed_is_its_placeholder_and_said(value):
    made = command("nc -vz {host} 9092", host=value)
    assert made.stages == (("nc", "-vz", "HOST", "9092"),)
    assert [*quoting.lines((made,))] == ["# HOST stands for a value which cannot be printed here", "nc -vz HOST 9092"]
    assert quoting.plain_prose(("Run ", made)) == "Run `nc -vz HOST 9092` (HOST: a value which cannot be printed here)"


def test_a_long_name_is_never_cut():
    name = "x" * LONGEST_VALUE
    assert quoting.shell(command("nc {host}", host=name)) == f"nc {name}"


def test_a_page_is_sentences_and_code():
    page = "On {host} run `nc {host} 9092`, see `server.log` and set `{key}=false`:\n"
    page += "    kafka-acls.sh --list \\\n      --topic {topic}\nend"
    parts = prose(page, {"host": "A B"}, {"host": "a b", "key": "x y", "topic": "t;u"})
    assert parts == (
        "On A B run ",
        Command(stages=(("nc", "a b", "9092"),)),
        ", see ",
        Code(text="server.log"),
        " and set ",
        SettingLine(key="x y", value="false"),
        ":\n    ",
        Command(stages=(("kafka-acls.sh", "--list", "--topic", "t;u"),), own_line=True),
        "\nend",
    )
    assert quoting.plain_prose(parts) == (
        "On A B run `nc 'a b' 9092`, see `server.log` and set `x\\ y=false`:\n    kafka-acls.sh --list --topic 't;u'\nend"
    )


def test_a_placeholder_without_a_value_stays_in_sentences_and_is_in_capitals_in_commands():
    assert prose("{a} `nc {a} 1`", {}, {}) == ("{a} ", Command(stages=(("nc", "A", "1"),)))


def test_a_quoted_pipe_is_no_pipe():
    assert command("grep -E 'a|b' x | tail -5").stages == (("grep", "-E", "a|b", "x"), ("tail", "-5"))


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("b0:9092", "b0:9092"),
        ("[::1]:9092", "'[::1]:9092'"),
        ("User:*", "'User:*'"),
        ("a b", "'a b'"),
        ("Controller 0's connection", '"Controller 0\'s connection"'),
        ("a\u202eb", "$'a\\u202eb'"),
        ("a'\n`", "$'a\\x27\\x0a\\x60'"),
    ],
)
def test_words_stay_readable(word, shown):
    assert quoting.shell_word(word) == shown


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("super.users", "User:kafka;User:admin", "super.users=User:kafka;User:admin"),
        ("super.users", "User:kafka;reboot", "super.users=User:kafka\\;reboot"),
        ("advertised.listeners", "A://b0:9092,B://[::1]:9093", "advertised.listeners=A://b0:9092,B://[::1]:9093"),
        ("ssl.principal.mapping.rules", r"RULE:^CN=(\w+),.*$/$1/", r"ssl.principal.mapping.rules=RULE:^CN=\(\\w+\),.*\$/\$1/"),
        ("a:b=c", "é", "a\\:b\\=c=\\u00e9"),
    ],
)
def test_settings_stay_readable(key, value, shown):
    assert quoting.setting_line(setting(key, value)) == shown


@given(st.text(st.sampled_from("`ab \n")))
def test_markdown_holds_every_backtick(text):
    line = "x" + text.replace("\n", "")
    first, *held, last = quoting.markdown_block([line])
    assert held == [line]
    assert first == f"{last}sh"
    assert last not in line
    fence, blank, shown = re.fullmatch(r"(`+)( ?)(.*)\2\1", quoting.markdown_span(line)).groups()
    assert shown == line
    assert fence not in re.findall("`+", line)
    assert blank or "`" not in line


def test_html_is_text():
    assert quoting.html_code("<b>&") == "<code>&lt;b&gt;&amp;</code>"


def test_a_remark_is_a_comment_and_its_values_are_quoted():
    assert quoting.remark_line(remark("on the host of {host}", host="a;b").words) == "# on the host of 'a;b'"
    assert isinstance(remark("x"), CommentLine)
