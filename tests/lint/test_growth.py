"""What a file, or a folder of files, has any number of makes lint that many times the work, and no more."""

from datetime import date

import pytest

from kafka_audit.checks import catalogue
from kafka_audit.lint import judging, reading
from kafka_audit.lint.judging import Rules
from kafka_audit.lint.members import cluster_groups
from kafka_audit.report.plain_text.lint_terminal import lint_text
from samples import sampled

BROKER = "broker.id={0}\nlisteners=PLAINTEXT://:9092\nadvertised.listeners=PLAINTEXT://b{0}.example.com:9092\nzookeeper.connect=zk:2181\n"
JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required"


def files_of_one_cluster(folder, count):
    for number in range(count // 10):
        (folder / f"{number}.properties").write_text(BROKER.format(number))


def files_of_a_cluster_each(folder, count):
    for number in range(count // 10):
        (folder / f"{number}.properties").write_text(BROKER.format(number).replace("zk:", f"zk{number}:"))


def files_with_one_id(folder, count):
    for number in range(count // 10):
        (folder / f"{number}.properties").write_text(BROKER.format(7))


def keys(folder, count):
    one(folder, "".join(f"made.up.{number}={number}\n" for number in range(count)))


def wrong_values(folder, count):
    one(folder, "".join(f"listener.name.l{number}.ssl.client.auth=never\n" for number in range(count)))


def listeners(folder, count):
    listed = ",".join(f"L{number}://:{1000 + number}" for number in range(count))
    protocols = ",".join(f"L{number}:PLAINTEXT" for number in range(count))
    one(folder, f"listeners={listed}\nadvertised.listeners={listed}\nlistener.security.protocol.map={protocols}\n")


def voters(folder, count):
    listed = ",".join(f"{number}@c{number}:9093" for number in range(count))
    text = f"process.roles=controller\nnode.id=1\ncontroller.quorum.voters={listed}\ncontroller.listener.names=C\nlisteners=C://:9093\n"
    (folder / "one.properties").write_text(text)


def super_users(folder, count):
    one(folder, f"super.users={';'.join(f'User:{number}' for number in range(count))}\n")


def principal_rules(folder, count):
    rules = ",".join(f"RULE:^CN=a{number}.*$/$1/" for number in range(count))
    one(folder, f"ssl.principal.mapping.rules={rules}\n")


def logins(folder, count):
    users = " ".join(f'user_u{number}="secret{number}"' for number in range(count))
    one(folder, f"listener.name.plaintext.plain.sasl.jaas.config={JAAS} {users};\n")


def one(folder, more):
    (folder / "one.properties").write_text(BROKER.format(1) + more)


CHOSEN = {
    chosen.__name__: chosen
    for chosen in (
        files_of_one_cluster,
        files_of_a_cluster_each,
        files_with_one_id,
        keys,
        wrong_values,
        listeners,
        voters,
        super_users,
        principal_rules,
        logins,
    )
}


def linted(folder):
    """Lint a folder in this process: what runs in children is not counted."""
    rules = Rules(checks=catalogue(), mutes=(), today=date(2026, 9, 14))
    sources = [reading.read_lint_target(target, rules.checks) for target in reading.lint_targets([str(folder)])]
    found = [file for group in cluster_groups(sources) for _, file in judging.linted(group, rules)]
    assert found
    lint_text(found, show_all=False, width=100, color=False)


@pytest.mark.parametrize("chosen", sampled(CHOSEN, 10))
def test_lint_grows_with_what_files_have(chosen, tmp_path, exponent):
    def folder(count):
        made = tmp_path / f"{count}"
        made.mkdir(exist_ok=True)
        CHOSEN[chosen](made, count)
        return made

    assert exponent(linted, (250, 1_000), folder) <= 1.1
