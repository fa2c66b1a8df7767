"""Names full of syntax in every case of every cause: each command keeps its words, each setting its value, in every release."""

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import small_cluster
from cluster_views import cluster_views
from configuration.files import oracle
from incidents.case_files import judged, pair
from incidents.test_causes import CASES, KEYS
from kafka_audit.configuration.files.java import parse_properties
from kafka_audit.incidents.causes import incidents
from kafka_audit.incidents.tools import Tools
from kafka_audit.model import quoting
from kafka_audit.model.commands import Code, Command, CommentLine, SettingLine
from kafka_audit.report.document import build_report
from kafka_audit.report.plain_text.markdown import markdown_report
from kafka_audit.report.plain_text.terminal import terminal_report
from printed_commands import HOSTILE, ODD, RELEASES, files_made, meant, words_of
from samples import sampled

NAMED = {"host", "rack", "principal", "path", "listener", "resource_name", "untrusted_host", "client_id", "group", "topic"}
"""Columns in which a cluster may write what it likes."""

SET = {"super.users", "ssl.principal.mapping.rules", "advertised.listeners", "listeners", "broker.rack", "log.dirs"}
MADE_BY_BASH = st.text(st.sampled_from(ODD), min_size=1, max_size=12)


def odd_snapshot(seen, odd):
    """Return a snapshot whose names begin and end with a string."""

    def of(row):
        named = {key: value for key, value in vars(row).items() if key in NAMED and isinstance(value, str)}
        if getattr(row, "key", None) in SET and isinstance(getattr(row, "value", None), str):
            named["value"] = row.value
        if isinstance(getattr(row, "target", None), str):
            named["target"] = row.target
        return replace(row, **{key: f"{odd}{value}{odd}" for key, value in named.items()}) if named else row

    return replace(seen, cluster_id=f"{odd}{seen.cluster_id}", rows=tuple(map(of, seen.rows)))


def of_cases(names, odd):
    """Yield view, findings and incidents of each of these cases."""
    pairs = {name: pair(KEYS[name], name) for name in names}
    odd_pairs = {name: tuple(one and odd_snapshot(one, odd) for one in both) for name, both in pairs.items()}
    for name, view in cluster_views(odd_pairs).items():
        found = judged(KEYS[name], view)
        yield view, found.findings, found.incidents()


def lines_of(found):
    """Return the commands, settings and comments of incidents in every release."""
    for incident in found:
        for step in incident.remediation:
            parts = () if isinstance(step.text, str) else (part for part in step.text if not isinstance(part, str | Code))
            yield from step.commands
            yield from parts


@cache
def all_lines(odd):
    written = {line for _, _, found in of_cases([*CASES], odd) for line in lines_of(found)}
    tools = [Tools(release=release, zookeeper=f"zk{odd}:2181") for release in RELEASES]
    return {each.line(line) if isinstance(line, Command) else line for line in written for each in tools}


def demand(lines, odd):
    printed = [shown for line in lines for shown in quoting.lines((line,)) if not isinstance(line, str)]
    assert all(shown.isprintable() and "`" not in shown for shown in printed)
    assert not [shown for shown in printed if "Command(" in shown or "SettingLine(" in shown]
    for line in lines:
        if isinstance(line, Command):
            assert words_of(quoting.shell(line)) == meant(line)
            assert not [word for word in meant(line) if odd.startswith("-") and word.startswith(odd)]
        elif isinstance(line, SettingLine) and line.file == "properties":
            read = parse_properties(quoting.setting_line(line).encode("latin-1"))
            assert {key: found.value for key, found in read.items()} == {line.key: line.value}
    assert files_made(printed) == []
    return printed


def test_the_cases_print_commands_settings_and_comments():
    lines = all_lines("")
    kinds = [Command, SettingLine, CommentLine]
    assert all(sum(isinstance(line, kind) for line in lines) >= 5 for kind in kinds)
    assert sum(isinstance(line, Command) for line in lines) >= 60
    printed = [*quoting.lines(lines)]
    assert not [line for line in printed if "<" in line or ">" in line], "a placeholder in brackets is a redirection"


@pytest.mark.parametrize("odd", sampled(HOSTILE, every=len(HOSTILE)))
def test_a_hostile_name_is_a_value_in_every_case_and_every_release(odd):
    assert demand(all_lines(odd), odd)


@pytest.mark.large
@given(MADE_BY_BASH)
@settings(max_examples=settings.default.max_examples // 10)
def test_any_name_is_a_value_in_every_case_and_every_release(odd):
    odd = f"{odd}odd{odd}"  # the options of our own begin with - as well
    demand(all_lines(odd), odd)


@pytest.mark.large
def test_java_reads_each_setting_back():
    held = [line for odd in HOSTILE for line in all_lines(odd) if isinstance(line, SettingLine) and line.file == "properties"]
    assert len(held) > len(HOSTILE)
    read = oracle.properties([quoting.setting_line(line).encode("latin-1") for line in held])
    assert read == [{line.key: line.value} for line in held]


@pytest.mark.parametrize("odd", ["x ;touch /tmp/P;#", "it's `id`\n", "-e"])
@pytest.mark.parametrize(
    "name", ["cut_off-one_broker_measured", "refused-refuses_itself_most_likely", "addresses-shared_address"]
)
def test_each_format_prints_what_was_quoted(name, odd):
    ((view, findings, found),) = of_cases([name], odd)
    report = build_report(view, None, findings, found, [], None)
    terminal, markdown = terminal_report(report, width=100, color=False), markdown_report(report)
    for incident, written in zip(report.incidents, found, strict=True):
        for step, meant_step in zip(incident.remediation, written.remediation, strict=True):
            assert step.commands == (*quoting.lines(meant_step.commands),)
            assert all(f"         {line}\n" in terminal and f"   {line}\n" in markdown for line in step.commands)


PLANTED = "x ;touch P;#"
OLD = {1: 7, 3: 5, 18: 1}
"""APIs that Kafka 1.1 offers."""


def test_a_listed_host_is_no_command_where_commands_for_an_old_release_are_printed():
    """Row by row what a hostile broker did: it lists broker 0 at this host, ids are unreadable, and it offers few APIs."""
    spec = {
        "zookeeper": "none",
        "brokers": {0: f"{PLANTED}:9092", 1: "b1:9092"},
        "configs": {0: {"authorizer.class.name": "kafka.security.auth.SimpleAclAuthorizer"}},
        "apis": {key: [0, version] for key, version in OLD.items()},
    }
    view = small_cluster.view(spec)
    refused = small_cluster.finding("KA401", "broker/1", severity="CRITICAL", evidence={"principal": ["User:kafka"]})
    printed = [line for step in incidents(view, [refused], [])[0].remediation for line in quoting.lines(step.commands)]
    assert [line for line in printed if line.startswith("kafka-acls.sh --authorizer-properties zookeeper.connect=zk:2181")]
    assert not [line for line in printed if "--bootstrap-server" in line]
    assert files_made(printed) == []
    shared = small_cluster.finding("KA304", "broker/0/listener/PLAINTEXT", severity="CRITICAL")
    (incident,) = incidents(view, [shared], [])
    told = [line for step in incident.remediation for line in quoting.lines(step.commands)]
    assert files_made(told) == []
