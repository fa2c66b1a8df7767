"""`kafka-audit lint` from the command line: what it says, where, and with which exit code."""

import json
import os
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

import hostile
from kafka_audit.cli import main

GOOD = """broker.id={id}
listeners=PLAINTEXT://:9092
advertised.listeners=PLAINTEXT://b{id}.example.com:9092
zookeeper.connect=zk1:2181,zk2:2181/kafka
log.dirs=/data
auto.create.topics.enable=false
"""
REFUSED = """# a comment
broker.id=1
listeners=PLAINTEXT://:9092,SASL_PLAINTEXT://:9093
advertised.listeners=SASL_PLAINTEXT://b1.example.com:9093
zookeeper.connect=zk1:2181,zk2:2181/kafka
sasl.enabled.mechanisms=PLAIN
ssl.keystore.password=hunter2
"""
NOT_ADVERTISED = "inter.broker.listener.name must be a listener name defined in advertised.listeners."
NO_MECHANISM = "sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return a function that writes files here and returns nothing."""
    monkeypatch.chdir(tmp_path)
    for name in ("KAFKA_AUDIT_CLUSTERS", "KAFKA_AUDIT_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "120")

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.properties").write_text(text)

    return write


def linted(capsys, *arguments):
    code = main(["lint", *arguments, "--format", "json"])
    return code, {file["path"]: file for file in json.loads(capsys.readouterr().out)["files"]}


def failed(file):
    return {finding["code"]: finding for finding in file["findings"] if finding["status"] == "FAIL"}


def worst(file):
    return {
        (finding["code"], finding["resource"]["name"], finding["severity"])
        for finding in file["findings"]
        if finding["status"] == "FAIL"
    }


def test_a_sound_file_starts(files, capsys):
    files(a=GOOD.format(id=1))
    code, linted_files = linted(capsys, "a.properties")
    assert code == 0
    assert set(linted_files["a.properties"]) == {"path", "kafka_version", "starts", "kafka_says", "findings"}
    assert (linted_files["a.properties"]["kafka_version"], linted_files["a.properties"]["starts"]) == ("3.9.1", True)
    assert linted_files["a.properties"]["kafka_says"] is None


def test_the_caret_is_below_a_key_that_is_wrong_and_else_below_the_value(files, capsys):
    files(a=GOOD.format(id=1) + "log.retention.hour=24\nnum.io.threads=eight\n")
    main(["lint", "a.properties"])
    assert "for when it starts: " in capsys.readouterr().out
    main(["lint", "a.properties", "--all"])
    printed = capsys.readouterr().out
    for line, marked in (("log.retention.hour=24", "log.retention.hour"), ("num.io.threads=eight", "eight")):
        shown, carets = re.search(rf"\d+ \| ({re.escape(line)})\n +\| ( *\^+)\n", printed).groups()
        assert shown[carets.index("^") : len(carets)] == marked


COMPOSE = """services:
  kafka:
    image: apache/kafka:4.1.0
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
"""


def test_a_setting_that_a_file_does_not_have_is_no_line_of_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("compose.yaml").write_text(COMPOSE)
    main(["lint", "compose.yaml"])
    printed = capsys.readouterr().out
    assert "log.dirs is not" in printed
    assert "      5 | (not set; settings begin here)\n" in printed
    quoted = re.findall(r"^ *(\d+) \| ([A-Za-z].*)$", printed, re.MULTILINE)
    assert quoted
    assert all(text == COMPOSE.splitlines()[int(line) - 1].strip() for line, text in quoted)
    assert " ".join(printed.split()).count("start a new container with them") == 1


def test_the_command_of_a_step_names_the_file_as_it_was_given(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("conf").mkdir()
    Path("conf/server.properties").write_text("node.id=1\nprocess.roles=broker\n")
    main(["lint", "conf/server.properties"])
    assert "kafka-audit lint conf/server.properties --kafka-version" in " ".join(capsys.readouterr().out.split())


def test_a_refusal_is_told_once_in_kafkas_words_with_its_line(files, capsys):
    files(a=REFUSED)
    code, linted_files = linted(capsys, "a.properties", "--kafka-version", "3.9.1")
    file = linted_files["a.properties"]
    assert (code, file["starts"]) == (3, False)
    assert file["kafka_says"].startswith(f"requirement failed: {NOT_ADVERTISED}") or file["kafka_says"].startswith(NOT_ADVERTISED)
    assert "KA310" not in failed(file)
    assert failed(file)["KA311"]["evidence"]["kafka_says"] == file["kafka_says"]
    assert (failed(file)["KA311"]["evidence"]["key"], failed(file)["KA311"]["evidence"]["line"]) == ("advertised.listeners", 4)


def test_another_refusal_is_told_once_too(files, capsys):
    files(a=REFUSED + "inter.broker.listener.name=SASL_PLAINTEXT\n")
    _, linted_files = linted(capsys, "a.properties")
    assert NO_MECHANISM in linted_files["a.properties"]["kafka_says"]
    assert "KA406" in failed(linted_files["a.properties"])
    assert "KA310" not in failed(linted_files["a.properties"])


def test_a_refusal_without_a_page_of_its_own_is_ka310(files, capsys):
    files(a=GOOD.format(id=1) + "num.io.threads=many\n")
    code, linted_files = linted(capsys, "a.properties")
    found = failed(linted_files["a.properties"])["KA310"]
    assert code == 3
    assert linted_files["a.properties"]["kafka_says"] == found["evidence"]["kafka_says"]
    assert linted_files["a.properties"]["kafka_says"].startswith("Invalid value many for configuration num.io.threads")
    assert (found["evidence"]["key"], found["evidence"]["line"]) == ("num.io.threads", 7)


def test_anonymous_between_brokers_is_refused_by_an_authorizer(files, capsys):
    authorizer = "authorizer.class.name=kafka.security.authorizer.AclAuthorizer\nsuper.users=User:admin\n"
    files(a=GOOD.format(id=0) + authorizer)
    _, linted_files = linted(capsys, "a.properties")
    assert failed(linted_files["a.properties"])["KA401"]["evidence"]["principal"] == ["User:ANONYMOUS"]
    assert linted_files["a.properties"]["starts"] is True


def test_brokers_of_one_cluster_are_compared(files, capsys):
    other = GOOD.format(id=2).replace("PLAINTEXT://", "INNER://").replace("zk1:2181,", "")
    other += "listener.security.protocol.map=INNER:PLAINTEXT\ninter.broker.listener.name=INNER\n"
    files(a=GOOD.format(id=1), b=other)
    code, linted_files = linted(capsys, "a.properties", "b.properties")
    assert code == 3
    assert ("KA312", "broker/1/listener/INNER", "CRITICAL") in worst(linted_files["a.properties"])
    assert ("KA312", "broker/2/listener/PLAINTEXT", "CRITICAL") in worst(linted_files["b.properties"])


@pytest.mark.parametrize(
    ("change", "expected"),
    [(("/kafka", "/other"), (0, set())), (("broker.id=2", "broker.id=1"), (3, {"KA715"}))],
    ids=["chroot", "id"],
)
def test_brokers_of_several_clusters_are_not_compared(files, capsys, change, expected):
    other = GOOD.format(id=2).replace("PLAINTEXT://", "INNER://").replace(*change)
    other += "listener.security.protocol.map=INNER:PLAINTEXT\ninter.broker.listener.name=INNER\n"
    files(a=GOOD.format(id=1), b=other)
    code, linted_files = linted(capsys, "a.properties", "b.properties")
    found = failed(linted_files["a.properties"]) | failed(linted_files["b.properties"])
    assert (code, {code for code in found if found[code]["severity"] in {"HIGH", "CRITICAL"}}) == expected
    assert "KA312" not in found


VERSIONS = {
    "what the user says": ("", ["--kafka-version", "2.8.2"], "2.8.2", None),
    "a minor release": ("", ["--kafka-version", "3.9"], "3.9.1", None),
    "the nearest that is known": ("", ["--kafka-version", "3.8.0"], "3.8.1", "3.8.0"),
    "the newest with ZooKeeper": ("", [], "3.9.1", None),
    "the inter-broker protocol": ("inter.broker.protocol.version=2.8-IV1\n", [], "2.8.2", None),
    "an old inter-broker protocol": ("inter.broker.protocol.version=0.11.0\n", [], "1.0.2", "0.11"),
}


@pytest.mark.parametrize(("text", "arguments", "version", "meant"), VERSIONS.values(), ids=VERSIONS.keys())
def test_files_are_judged_by_the_release_that_is_meant(  # noqa: PLR0913, PLR0917 -- a table and fixtures
    files, capsys, text, arguments, version, meant
):
    files(a=GOOD.format(id=1) + text)
    _, linted_files = linted(capsys, "a.properties", *arguments)
    assert (linted_files["a.properties"]["kafka_version"], linted_files["a.properties"].get("neighbour_of")) == (version, meant)


@pytest.mark.parametrize(
    ("tag", "neighbour"), [("3.9.0", "; Kafka 3.9.0 is judged by the rules of its neighbour 3.9.1"), ("3.9.1", "")]
)
@pytest.mark.usefixtures("files")
def test_the_version_of_an_image_without_rules_is_named(tmp_path, capsys, tag, neighbour):
    variables = "KAFKA_BROKER_ID: 1, KAFKA_ZOOKEEPER_CONNECT: zk:2181"
    (tmp_path / "a.yaml").write_text(f"services: {{k: {{image: 'apache/kafka:{tag}', environment: {{{variables}}}}}}}\n")
    main(["lint", "a.yaml"])
    printed = " ".join(capsys.readouterr().out.split())
    assert f"as Kafka 3.9.1 (the image is apache/kafka:{tag}{neighbour})" in printed
    main(["lint", "a.yaml", "--format", "sarif"])
    (result, *_) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["properties"].get("neighbourOf") == (tag if neighbour else None)


def test_a_placeholder_decides_nothing(files, capsys):
    files(a=GOOD.format(id=1).replace("b1.example.com:9092", "${HOST}:${PORT}") + "super.users=${env:SUPER}\n")
    code, linted_files = linted(capsys, "a.properties")
    assert (code, linted_files["a.properties"]["starts"]) == (0, True)
    files(a=GOOD.format(id=1).replace("broker.id=1", "broker.id=${ID}"))
    assert linted(capsys, "a.properties")[1]["a.properties"]["starts"] is True
    files(a=GOOD.format(id=1) + "inter.broker.listener.name=${LISTENER}\n")
    code, linted_files = linted(capsys, "a.properties")
    assert (code, linted_files["a.properties"]["starts"]) == (0, None)
    assert not {"KA311", "KA310"} & set(failed(linted_files["a.properties"]))


def test_a_node_whose_id_is_filled_in_is_taken_for_one_that_fits_its_roles(files, capsys):
    text = "process.roles={}\nnode.id=${{ID}}\ncontroller.quorum.voters=0@c0:9093,1@c1:9093\ncontroller.listener.names=C\n"
    text += "listeners={}\nlistener.security.protocol.map=C:PLAINTEXT,P:PLAINTEXT\ninter.broker.listener.name=P\n"
    files(a=text.format("broker,controller", "C://:9093,P://:9092"), b=text.format("broker", "P://:9092"))
    _, linted_files = linted(capsys, "a.properties", "b.properties")
    assert [file["starts"] for file in linted_files.values()] == [True, True]


def test_a_comment_mutes_with_its_reason(files, capsys):
    text = REFUSED + "# kafka-audit: ignore KA311 it is a lab\n"
    files(a=text)
    code, linted_files = linted(capsys, "a.properties")
    found = failed(linted_files["a.properties"])["KA311"]
    assert (code, found["muted"], found["evidence"]["muted_because"]) == (0, True, "it is a lab")


BAD_COMMENTS = {
    "no reason": ("# kafka-audit: ignore KA311\n", "a.properties:7: KA311 is ignored without a reason"),
    "no check": ("# kafka-audit: ignore KA999 x\n", "a.properties:7: KA999 is not a check of this version"),
    "no verb": ("# kafka-audit: off\n", "a.properties:7: an unknown kafka-audit comment"),
    "behind a value": ("num.partitions=1 # kafka-audit: ignore KA311 x\n", "a.properties:7: Java reads a comment after"),
}


@pytest.mark.parametrize(("text", "message"), BAD_COMMENTS.values(), ids=BAD_COMMENTS.keys())
def test_a_comment_that_means_nothing_is_an_error(files, capsys, text, message):
    files(a=GOOD.format(id=1) + text, b=GOOD.format(id=2))
    code = main(["lint", "a.properties", "b.properties"])
    captured = capsys.readouterr()
    assert code == 2
    assert captured.err.startswith(f"kafka-audit: {message}")
    assert len(captured.err.splitlines()) == 1
    assert "b.properties: starts" in captured.out


def test_the_mute_list_counts(files, capsys, tmp_path):
    files(a=REFUSED)
    mute = "{code: KA311, resource: broker/1, reason: lab, owner: me}"
    (tmp_path / "clusters.yaml").write_text(f"clusters: {{prod: {{bootstrap: ['b:1'], mute: [{mute}]}}}}")
    code, linted_files = linted(capsys, "a.properties", "--cluster", "prod")
    assert (code, failed(linted_files["a.properties"])["KA311"]["muted"]) == (0, True)


def test_the_page_shows_the_line_and_no_secret(files, capsys):
    files(a=REFUSED)
    assert main(["lint", "a.properties"]) == 3
    printed = capsys.readouterr().out
    assert "a.properties: does not start\n  as Kafka 3.9.1 (the newest with ZooKeeper; zookeeper.connect is set)\n" in printed
    assert "      4 | advertised.listeners=SASL_PLAINTEXT://b1.example.com:9093\n" in printed
    assert f"        | {' ' * len('advertised.listeners=')}{'^' * len('SASL_PLAINTEXT://b1.example.com:9093')}\n" in printed
    assert "hunter2" not in printed


SECRET = "sup3rs3cret"  # noqa: S105 -- a test's


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "github"])
def test_no_form_shows_a_secret_or_a_raw_control_character(files, capsys, form):
    text = (
        REFUSED.replace("hunter2", SECRET) + f"password.encoder.iterations={SECRET}\nlistener.name.x.ssl.key.password={SECRET}\n"
    )
    files(a=text + "security.inter.broker.protocol=A\\u001b]0;x\\u202e%0A::error::\n")
    main(["lint", "a.properties", "--format", form, "--all"])
    printed = capsys.readouterr().out
    assert SECRET not in printed
    assert not {char for char in printed if ord(char) < 32 and char != "\n"}
    assert "\u202e" not in printed


HOSTILE_NAMES = (
    "::stop-commands::t",
    "a\n::add-mask::b",
    " ::set-env name=A::b",
    "##[add-mask]c",
    "##vso[task.setvariable variable=d]e",
    "[l](https:evil.example)",
    "\x1b[2J\u202eexe",
    "\udcff",
    "[[ATTACHMENT|x]]",
)


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "github"])
@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_neither_a_name_nor_a_content_gives_an_order(files, capsys, form, name):
    content = REFUSED.replace("SASL_PLAINTEXT://b1", "SASL_PLAINTEXT://##vso[x]b1")
    files(
        **{
            name: f"{content}ssl.principal.mapping.rules=::add-mask::a ##[group]b %0A::error::c [l](https://evil.example)\\u000a::x::\n"
        }
    )
    assert main(["lint", ".", "--format", form, "--all"]) == 3
    shown = capsys.readouterr().out
    assert shown.isprintable() or hostile.unshown(shown) == set()
    ours = [line for line in hostile.orders(shown) if form == "github" and re.match("::(error|warning|notice) file=", line)]
    assert hostile.orders(shown) == ours
    if form == "github":
        assert len(ours) == len(shown.splitlines())
    if form == "junit":
        ET.fromstring(shown)  # noqa: S314 -- our own
    if form == "sarif":
        (run,) = json.loads(shown)["runs"]
        uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
        assert all(re.fullmatch(r"[\w%./~-]+", uri) for uri in uris)
        assert not [result for result in run["results"] if re.search(r"(?<!\\)\[[^\]]*[^\]\\]\]\(", result["message"]["text"])]


def test_what_cannot_be_read_gives_no_order_on_stderr(files, capsys):
    files(**{"a\n::add-mask::b": "broker.id=\\u1 ##[add-mask]c"})
    assert main(["lint", "."]) == 2
    printed = capsys.readouterr().err
    assert hostile.orders(printed) == []
    assert len(printed.splitlines()) == 1


def test_an_honest_name_stays_as_it_is(files, capsys):
    files(**{"größe #1 (b)": REFUSED})
    main(["lint", "größe #1 (b).properties", "--format", "github"])
    assert "::error file=größe #1 (b).properties,line=4," in capsys.readouterr().out


def test_sarif_has_a_rule_and_a_place_for_each_result(files, capsys):
    files(a=REFUSED + "# kafka-audit: ignore KA311 lab\n")
    main(["lint", "a.properties", "--format", "sarif"])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [result["ruleId"] for result in run["results"]]
    refused = next(result for result in run["results"] if result["ruleId"] == "KA311")
    assert (refused["level"], refused["kind"]) == ("error", "fail")
    assert refused["suppressions"] == [{"kind": "inSource", "status": "accepted", "justification": "lab"}]
    place = refused["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "a.properties"}, "region": {"startLine": 4}}
    assert all((result["kind"] == "fail") == (result["level"] != "none") for result in run["results"])


def test_junit_fails_where_the_exit_code_does(files, capsys):
    files(a=REFUSED, b=GOOD.format(id=2))
    main(["lint", "a.properties", "b.properties", "--format", "junit", "--fail-on", "critical"])
    root = ET.fromstring(capsys.readouterr().out)  # noqa: S314 -- our own
    failures = [case.get("name") for case in root.iter("testcase") if case.find("failure") is not None]
    assert "KA311 inter_broker_listener_undefined broker/1" in failures
    assert int(root.get("failures")) == len(failures)
    assert {suite.get("name") for suite in root} == {"a.properties", "b.properties"}


def test_annotations_follow_githubs_rules_of_escaping(files, capsys):
    files(**{"a,b:c": REFUSED})
    main(["lint", "a,b:c.properties", "--format", "github"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("::error file=a%2Cb%3Ac.properties,line=4,title=KA311 inter broker listener undefined::Broker 1 ")
    assert all(line.startswith(("::error file=", "::warning file=", "::notice file=")) for line in lines)


UNREADABLE = {
    "absent": (lambda _: None, ["x.properties"], "x.properties: cannot be read: No such file"),
    "binary": (lambda p: (p / "x.properties").write_bytes(b"a=b\n\0"), ["x.properties"], "x.properties:2: is binary"),
    "huge": (
        lambda p: os.truncate((p / "x.properties").touch() or p / "x.properties", 50_000_000),
        ["x.properties"],
        "x.properties: larger than 4 MB, the limit for a configuration",
    ),
    "another's": (
        lambda p: (p / "x.properties").write_text("a=b\n"),
        ["x.properties"],
        "x.properties: contains no broker settings",
    ),
    "a device": (lambda _: None, ["/dev/zero"], "/dev/zero: is not a regular file"),
    "an empty folder": (lambda p: (p / "x").mkdir(), ["x"], "x: contains no .properties"),
    "no match": (lambda _: None, ["*.nothing"], "*.nothing: no file matches"),
    "no such cluster": (lambda _: None, ["x", "--against", "prod"], "kafka-audit-store: no snapshot of cluster 'prod'"),
    "config alone": (lambda _: None, ["x", "--config", "c.yaml"], "--config requires --cluster, the cluster whose mute"),
    "a version before the oldest": (
        lambda _: None,
        ["x", "--kafka-version", "0.11.0.3"],
        "argument --kafka-version: kafka-audit has no rules for Kafka 0.11.0.3; use 1.0 to 4.4",
    ),
    "a version after the newest": (
        lambda _: None,
        ["x", "--kafka-version", "5"],
        "argument --kafka-version: kafka-audit has no rules for Kafka 5; use 1.0 to 4.4",
    ),
    "bad version": (lambda _: None, ["x", "--kafka-version", "new"], "argument --kafka-version: 'new' is not a Kafka version"),
    "bad format": (
        lambda _: None,
        ["x", "--format", "sraif"],
        "argument --format: 'sraif' is not a format; choose text, json, sarif",
    ),
    "bad escape": (
        lambda p: (p / "x.properties").write_text("broker.id=\\u1"),
        ["x.properties"],
        "x.properties:1: a \\u without",
    ),
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("make", "arguments", "message"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_one_line_and_exit_code_2(capsys, tmp_path, make, arguments, message):
    make(tmp_path)
    code = main(["lint", *arguments])
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert captured.err.startswith(f"kafka-audit: {message}")
    assert len(captured.err.splitlines()) == 1


OPTION_FILES = (
    "--out=b/server.properties",
    "--format=json/server.properties",
    "-h/server.properties",
    "--help=/server.properties",
)


def of_the_hook(*files, args=None):
    """Return a call as pre-commit makes it: `args` of a configuration replace those of the hook, and files come last."""
    (hook,) = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
    return main([*shlex.split(hook["entry"])[1:], *(hook.get("args", []) if args is None else args), *files])


@pytest.mark.parametrize("name", OPTION_FILES)
@pytest.mark.parametrize("args", [None, ["--kafka-version", "3.9.1", "--"]])
@pytest.mark.usefixtures("files")
def test_a_file_with_the_name_of_an_option_is_a_file_to_the_hook(tmp_path, capsys, name, args):
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(REFUSED)
    (tmp_path / "server.properties").write_text(GOOD.format(id=2))
    assert of_the_hook(name, "server.properties", args=args) == 3
    assert f"{name}: does not start" in capsys.readouterr().out


@pytest.mark.parametrize("name", OPTION_FILES)
@pytest.mark.usefixtures("files")
def test_without_the_end_of_options_an_option_that_is_also_a_file_is_an_error(tmp_path, capsys, name):
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(REFUSED)
    (tmp_path / "server.properties").write_text(GOOD.format(id=2))
    for command in (["lint", "--fail-on", "low"], ["before-migration", "prod", "--kind", "new-network", "--proposed"]):
        assert main([*command, "server.properties", name]) == 2
        assert capsys.readouterr().err.startswith(f"kafka-audit: '{name}' is also the name of a file: write ./{name}")
    assert main(["lint", f"./{name}"]) == 3


def test_a_folder_is_searched_and_other_files_are_passed_over(files, capsys, tmp_path):
    files(a=GOOD.format(id=1))
    (tmp_path / "log4j.properties").write_text("log4j.rootLogger=INFO\n")
    (tmp_path / "deep").mkdir()
    service = "{image: ours, environment: {KAFKA_BROKER_ID: 7, KAFKA_LOG_DIRS: /d}}"
    (tmp_path / "deep" / "compose.yaml").write_text(f"services: {{k: {service}}}\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.properties").write_text(REFUSED)
    _, linted_files = linted(capsys, str(tmp_path))
    assert [path.removeprefix(f"{tmp_path}/") for path in linted_files] == ["a.properties", "deep/compose.yaml"]
