"""Properties files against Java's own reading of them."""

import pytest

from configuration.files import oracle
from kafka_audit.configuration.files.java import PropertiesError, parse_properties
from seed import SEED, dice_of_seed

CASES = 2000
PIECES = [
    *(
        "broker.id",
        "listeners",
        "a",
        "b",
        "=",
        ":",
        " ",
        "\t",
        "\f",
        "  ",
        "#",
        "!",
        "\\",
        "\\\\",
        "\n",
        "\n",
        "\r",
        "\r\n",
        "\\\n",
    ),
    *(
        "\\\r\n",
        "\\\r",
        "\\n",
        "\\t",
        "\\=",
        "\\:",
        "\\ ",
        "\\#",
        "\\u0041",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\u12",
        "\\uzzzz",
        "\\q",
    ),
    *("ü", "\xff", "\0", "PLAINTEXT://h:9092", "\n# note\n", "\n  key = value \n", "\\", "${file:/x:y}", "\x0b", "\x85"),
]


def generated(dice):
    weights = [0.05 if "\\u12" in piece or "zzzz" in piece else 1 for piece in PIECES]
    return "".join(dice.choices(PIECES, weights, k=dice.randrange(1, 30))).encode("latin-1")


def ours(data):
    try:
        return {key: setting.value for key, setting in parse_properties(data).items()}
    except PropertiesError:
        return None


def test_files_are_read_as_java_reads_them():
    dice = dice_of_seed()
    cases = [generated(dice) for _ in range(CASES)]
    cases += [b"", b"\\", b"a", b"a\\", b"=", b"a=\\", "k=ü".encode(), b"\xef\xbb\xbfbroker.id=1", b"\\\n#a=b", b" \\\n\\\n x=1"]
    answers = oracle.properties(cases)
    wrong = [(data, ours(data), theirs) for data, theirs in zip(cases, answers, strict=True) if ours(data) != theirs]
    assert not wrong, f"seed {SEED}: {wrong[0]}"
    assert 0.02 < sum(answer is None for answer in answers) / len(answers) < 0.6  # both kinds were really tried


@pytest.mark.parametrize(
    ("text", "line"),
    [("a=1", 1), ("\n# x\n\na=1", 4), ("b=1\\\n  2\r\na=1", 3), ("a=0\na\\\n =1", 2), ("! x\\\na=1", 2), ("b\ra=1", 2)],
)
def test_the_line_is_that_of_the_last_definition(text, line):
    assert parse_properties(text.encode())["a"].line == line
    assert parse_properties(text.encode())["a"].value == "1"


@pytest.mark.parametrize(
    ("text", "earlier"), [("a=1", 0), ("a=0\nb=2\na=1", 1), ("a=1\na: 1", 0), ("a=0\na=1\na=1", 0), ("a=1\na=0\n a=1", 2)]
)
def test_a_definition_knows_the_one_before_that_it_replaces(text, earlier):
    assert parse_properties(text.encode())["a"].earlier == earlier


def test_a_refusal_names_the_line():
    with pytest.raises(PropertiesError, match=r"^line 3: a \\u without four hexadecimal digits$"):
        parse_properties(b"a=1\n\nb=C:\\users\n")
