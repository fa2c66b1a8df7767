"""Commands that people copy: bash takes each name letter by letter, and no name runs anything."""

import subprocess

import pytest

from kafka_audit.configuration.acl_command import acl_command
from kafka_audit.configuration.authorization import CLUSTER
from kafka_audit.model.commands import command
from kafka_audit.model.quoting import shell

HOSTILE = [
    "User:$(touch /tmp/x)",
    "User:`id`; rm -rf ~ #",
    "User:it's",
    'User:"quoted" $HOME \\n',
    "User:two\nlines",
    "User:turned\u202eround",
    "User:bell\x07' \\ \x1b[31m",
    "User:CN=kafka,OU=a b,O=c",
    "User:\U0001f600\U000e0101ü",
    "-User:x",
    "User:" + "long" * 200,
    "",
    "User:!history",
]


def taken(command):
    """Return the words that bash makes of a command."""
    script = f'kafka-acls.sh() {{ printf "%s\\0" "$@"; }}; {command}'
    completed = subprocess.run(
        ["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8", "HOME": "/h", "PATH": "/usr/bin"}
    )
    return completed.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_comes_out_as_it_is(name):
    line = shell(acl_command(name, "Read", ("Topic", name), tool=command("kafka-acls.sh")))
    words = [
        part for word in taken(line) for part in (word.split("=", 1) if word.startswith(("--allow-p", "--topic=")) else [word])
    ]
    assert words == ["--add", "--allow-principal", name, "--operation", "Read", "--topic", name]
    assert line.isprintable()
    assert "\u202e" not in line


def test_the_command_of_incident_004():
    output = shell(
        acl_command("User:ANONYMOUS", "ClusterAction", CLUSTER, tool=command("kafka-acls.sh --bootstrap-server b0:9093"))
    )
    assert (
        output
        == "kafka-acls.sh --bootstrap-server b0:9093 --add --allow-principal User:ANONYMOUS --operation ClusterAction --cluster"
    )


def test_a_denial_is_taken_away_as_it_is_listed():
    output = shell(acl_command("User:*", "All", CLUSTER, tool=command("kafka-acls.sh"), permission="DENY", remove=True))
    assert output == "kafka-acls.sh --remove --deny-principal 'User:*' --deny-host '*' --operation All --cluster"


@pytest.mark.parametrize(
    ("resource", "pattern", "end"),
    [
        (("Topic", "a"), "LITERAL", "--topic a"),
        (("Group", "*"), "LITERAL", "--group '*'"),
        (("TransactionalId", "t-"), "PREFIXED", "--transactional-id t- --resource-pattern-type prefixed"),
        (("DelegationToken", "x"), "LITERAL", "--delegation-token x"),
        (("User", "User:bob"), "LITERAL", "--user-principal User:bob"),
    ],
)
def test_each_kind_of_resource_has_its_option(resource, pattern, end):
    assert shell(acl_command("User:a", "Read", resource, pattern=pattern, host="10.0.0.1")).endswith(
        f"--add --allow-principal User:a --allow-host 10.0.0.1 --operation Read {end}"
    )
