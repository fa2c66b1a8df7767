"""JAAS texts against Java's own tokenizer, and what logins are in them."""

import pytest

from configuration.files import oracle
from kafka_audit.configuration.files import jaas
from kafka_audit.configuration.files.jaas import JaasError, JaasLogin, parse_jaas
from seed import SEED, dice_of_seed

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
PIECES = [
    *(
        PLAIN,
        "required",
        " ",
        "\t",
        "\n",
        "\r\n",
        "=",
        ";",
        "password",
        "user_a",
        '"',
        "'",
        "\\",
        "\\n",
        "\\101",
        "\\377",
        "\\477",
    ),
    *(
        "\\8",
        "12",
        "-",
        "-3",
        ".",
        "1.2.3",
        "-.",
        "x-1.y",
        "$",
        "{",
        "}",
        "//",
        "/*",
        "*/",
        "/",
        "#",
        "ü",
        "\x85",
        '\\"',
        "@",
        "😀",
    ),
]
_WORD, _NUMBER = -3, -2


def ours(text):
    numbers = {"word": _WORD, "number": _NUMBER}
    return [(numbers.get(kind) or ord(kind), token or "") for kind, token in jaas._tokens(text)]


def test_texts_are_cut_as_java_cuts_them():
    dice = dice_of_seed()
    # The blank: for a backslash at the very end Java invents a character, in a text that it then refuses.
    cases = ["".join(dice.choices(PIECES, k=dice.randrange(1, 20))) + " " for _ in range(2000)]
    wrong = [
        (text, ours(text), expected) for text, expected in zip(cases, oracle.tokens(cases), strict=True) if ours(text) != expected
    ]
    assert not wrong, f"seed {SEED}: {wrong[0]}"


def test_both_sides_of_a_plain_login():
    module = parse_jaas(f'{PLAIN} required username="kafka" password="a\\"b" user_kafka="a\\"b" user_x=\'y\';')
    assert list(module.logins()) == [
        JaasLogin("client", "kafka", 'a"b'),
        JaasLogin("server", "kafka", 'a"b'),
        JaasLogin("server", "x", "y"),
    ]


def test_scram_has_a_client_side_only():
    module = parse_jaas(f"{SCRAM} Required\n username=kafka password=secret user_x=y;")
    assert list(module.logins()) == [JaasLogin("client", "kafka", "secret")]


def test_kerberos_has_a_principal_and_no_password():
    kerberos = 'com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true principal="kafka/h@R" username=a password=b;'
    assert list(parse_jaas(kerberos).logins()) == [JaasLogin("client", "kafka/h@R", "")]


def test_other_modules_tell_no_login():
    oauth = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required username=a password=b principal=c;"
    assert list(parse_jaas(oauth).logins()) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Login module not specified"),
        (f"{PLAIN} required; {PLAIN} required;", "2 login modules"),
        (f"{PLAIN} needed username=a;", "control flag is not one of required"),
        (PLAIN, "control flag is not one of required"),
        (f'{PLAIN} required password="hunter2"', "JAAS config entry not terminated by semi-colon"),
        (f"{PLAIN} required password=1hunter2;", "Value not specified for key number 1"),
        (f"{PLAIN} required password hunter2;", "Value not specified for key number 1"),
    ],
)
def test_what_kafka_refuses_is_told_without_the_text(text, words):
    with pytest.raises(JaasError, match=words) as caught:
        parse_jaas(text)
    assert "hunter2" not in str(caught.value)


def test_nothing_prints_a_password():
    assert "hunter2" not in repr(parse_jaas(f"{PLAIN} required username=a password=hunter2;"))
    assert "hunter2" not in repr(list(parse_jaas(f"{PLAIN} required username=a password=hunter2;").logins()))
