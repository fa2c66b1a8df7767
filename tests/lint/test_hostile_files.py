"""Files that attack the linting process: each is refused in one line, and the others are judged."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_audit.bounds import regular_files
from kafka_audit.cli import main
from kafka_audit.lint import files, judging, reading

GOOD = (
    "broker.id=7\nlisteners=PLAINTEXT://:9092\nadvertised.listeners=PLAINTEXT://b7.example.com:9092\nzookeeper.connect=zk:2181\n"
)
ENDLESS_RULE = f"""broker.id=1
listeners=SASL_PLAINTEXT://:9092
zookeeper.connect=zk1:2181
sasl.enabled.mechanisms=GSSAPI
sasl.kerberos.principal.to.local.rules=RULE:[1:$1]s/(a|aa)*b/x/
security.inter.broker.protocol=SASL_PLAINTEXT
listener.name.sasl_plaintext.gssapi.sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required \\
  principal="{"a" * 60}@R";
sasl.mechanism.inter.broker.protocol=GSSAPI
super.users=User:kafka
authorizer.class.name=kafka.security.authorizer.AclAuthorizer
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "SECONDS", 600.0)  # for a file that is judged: a busy machine refuses none
    (tmp_path / "good.properties").write_text(GOOD)
    return tmp_path


def linted(capsys, *arguments):
    code = main(["lint", *arguments, "--format", "json"])
    captured = capsys.readouterr()
    return code, [file["path"] for file in json.loads(captured.out)["files"]], captured.err


def test_a_rule_that_is_endless_elsewhere_is_judged(folder, capsys):
    (folder / "rule.properties").write_text(ENDLESS_RULE)
    code, paths, _ = linted(capsys, "rule.properties", "good.properties")
    assert (code in {0, 3}, paths) == (True, ["rule.properties", "good.properties"])


def busy(monkeypatch, module, name, poison, forever):
    """Let a function never end, or take all memory without `forever`, where one of its arguments speaks of the file."""
    own = getattr(module, name)

    def poisoned(*arguments, **options):
        if poison in str(arguments[1 if name == "read_described" else 0]):
            if forever is not None:
                forever()
            held = []
            while True:
                held.append(bytearray(10_000_000))
        return own(*arguments, **options)

    monkeypatch.setattr(module, name, poisoned)


@pytest.mark.parametrize(("what", "words"), [("time", "took longer than 600."), ("memory", "needed more than")])
@pytest.mark.parametrize(("module", "name"), [(reading.forms, "read_described"), (judging.members, "snapshot_from_files")])
def test_a_file_that_keeps_the_judge_busy_is_refused_and_the_others_are_judged(  # noqa: PLR0913, PLR0917 -- fixtures
    folder, capsys, monkeypatch, hanging, module, name, what, words
):
    """Both are brokers of one cluster, so they are judged together, and it is found out which of them is to blame."""
    (folder / "bad.properties").write_text(GOOD.replace("b7", "poison").replace("=7", "=8"))
    busy(monkeypatch, module, name, "bad.properties", hanging.forever if what == "time" else None)
    code, paths, printed = linted(capsys, "bad.properties", "good.properties")
    assert (code, paths) == (2, ["good.properties"])
    assert printed.startswith(f"kafka-audit: bad.properties: the check {words}")
    assert len(printed.splitlines()) == 1


def test_files_that_keep_the_judge_busy_together_are_refused_together(folder, capsys, monkeypatch, hanging):
    (folder / "other.properties").write_text(GOOD.replace("=7", "=8"))
    (folder / "third.properties").write_text(GOOD.replace("zk:", "another:"))
    own = judging.members.snapshot_from_files
    monkeypatch.setattr(
        judging.members, "snapshot_from_files", lambda group, *rest: hanging.forever() if len(group) > 1 else own(group, *rest)
    )
    code, paths, printed = linted(capsys, ".")
    assert (code, paths) == (2, ["third.properties"])
    assert "good.properties: the check with 1 other files of its cluster took longer than 600." in printed


@pytest.mark.parametrize("where", ["reading", "judging one cluster", "judging ten clusters"])
def test_many_files_that_do_not_end_are_each_read_once_and_share_a_bound(folder, capsys, monkeypatch, hanging, where):
    bad = [f"bad-{number}.properties" for number in range(10)]
    for number, path in enumerate(bad):
        text = GOOD.replace("broker.id=7", f"broker.id={10 + number}").replace("//b7", f"//b{10 + number}")
        (folder / path).write_text(text.replace("zk:", f"bad{number if where.endswith('ten clusters') else 0}:"))
    own_read, own = reading.forms.read_described, judging.members.snapshot_from_files

    def read(data, path, beside, **options):
        with (folder / "reads").open("a") as log:
            log.write(f"{path}\n")
        return hanging.forever() if where == "reading" and path in bad else own_read(data, path, beside, **options)

    def judged(group, *rest):
        return hanging.forever() if "bad-" in str(group) else own(group, *rest)

    monkeypatch.setattr(reading.forms, "read_described", read)
    monkeypatch.setattr(judging.members, "snapshot_from_files", judged)
    code, paths, printed = linted(capsys, *bad, "good.properties")
    assert (code, paths) == (2, ["good.properties"])
    assert (folder / "reads").read_text().splitlines() == ["good.properties", *bad]  # the smallest first
    assert [line.split(": ")[1] for line in printed.splitlines()] == bad
    limits = {float(seconds) for seconds in re.findall(r"took longer than ([\d.]+) s", printed)}
    assert sum(limits) <= 3 * (files.SECONDS + files.SECONDS_A_FILE * len([*bad, "good.properties"]))


def test_what_is_larger_than_any_configuration_is_refused(folder, capsys):
    (folder / "bad.properties").write_text("broker.id=1\nlog.dirs=" + "a\\\n" * 3_300_000)
    (folder / "bad.yaml").write_text("kind: ConfigMap\ndata:\n" + "".join(f"  k{i}: v\n" for i in range(700_000)))
    code, paths, printed = linted(capsys, "bad.properties", "bad.yaml", "good.properties")
    assert (code, paths) == (2, ["good.properties"])
    assert printed.count("larger than 4 MB, the limit for a configuration") == 2


def irregular(folder):
    os.mkfifo(folder / "pipe.properties")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket.properties"))
    (folder / "zero.properties").symlink_to("/dev/zero")
    (folder / "kernel.properties").symlink_to("/proc/version")
    (folder / "messages.properties").symlink_to("/proc/kmsg")
    (folder / "loop.properties").symlink_to("loop.properties")


def test_only_regular_files_are_opened(folder, capsys):
    irregular(folder)
    names = [f"{name}.properties" for name in ("pipe", "socket", "zero", "kernel", "messages", "loop", "good")]
    code, paths, printed = linted(capsys, *names)
    assert (code, paths) == (2, ["good.properties"])
    errors = dict(line.removeprefix("kafka-audit: ").split(".properties: ") for line in printed.splitlines())
    assert (errors["pipe"], errors["socket"]) == ("is not a regular file",) * 2
    assert {errors[name] for name in ("zero", "kernel", "messages")} == {
        "a link leads out of the folder that is linted; name the file itself"
    }
    assert errors["loop"].startswith("cannot be read: Too many levels of symbolic links")


def test_a_folder_with_all_of_them_is_searched(folder, capsys):
    irregular(folder)
    code, paths, printed = linted(capsys, ".")
    assert (code, paths) == (2, ["good.properties"])
    assert printed.count("a link leads out") == 3


@pytest.mark.parametrize("pattern", ["**/*.properties", "conf/**/*.properties", "{folder}/**/*.properties"])
def test_links_to_folders_that_hold_them_are_not_followed(folder, capsys, pattern):
    (folder / "conf" / ".hidden").mkdir(parents=True)
    (folder / "conf" / "a.properties").write_text(GOOD)
    (folder / "conf" / ".hidden" / "b.properties").write_text(GOOD)
    for name in ("x", "y", "z"):
        (folder / "conf" / name).symlink_to(".")
    _, paths, printed = linted(capsys, pattern.replace("{folder}", str(folder)))
    names = {"a.properties"} if pattern.startswith("conf") else {"a.properties", "good.properties"}
    assert {Path(path).name for path in paths} == names
    assert (len(paths), printed) == (len(names), "")


def test_mounted_config_maps_are_read_through_their_links(folder, capsys):
    (folder / "mount" / "..2026_11_22").mkdir(parents=True)
    (folder / "mount" / "..2026_11_22" / "server.properties").write_text(GOOD)
    (folder / "mount" / "..data").symlink_to("..2026_11_22")
    (folder / "mount" / "server.properties").symlink_to("..data/server.properties")
    code, paths, printed = linted(capsys, "mount/server.properties")
    assert (paths, printed) == (["mount/server.properties"], "")
    assert code in {0, 3}
    assert linted(capsys, "mount")[1] == ["mount/server.properties"]


def test_a_file_that_grows_is_read_up_to_the_limit(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 1000)
    assert regular_files.read_regular_file(tmp_path / "a", 1000) == b"x" * 1000
    with pytest.raises(regular_files.FileRefusedError, match="larger than"):
        regular_files.read_regular_file(tmp_path / "a", 999)


def test_a_broker_file_of_five_thousand_lines_and_a_chart_of_two_megabytes_are_judged(folder, capsys):
    (folder / "long.properties").write_text(GOOD + "".join(f"# line {i}\nsome.key.{i}=value {i}\n" for i in range(2500)))
    maps = "".join(f"---\nkind: ConfigMap\nmetadata: {{name: m{i}}}\ndata: {{text: '{'words ' * 300}'}}\n" for i in range(1100))
    text = "    broker.id=9\n    zookeeper.connect=z:2181\n"
    broker = f"---\nkind: ConfigMap\nmetadata: {{name: k}}\ndata:\n  server.properties: |\n{text}"
    (folder / "chart.yaml").write_text(maps + broker)
    assert (folder / "chart.yaml").stat().st_size > 2_000_000
    _, paths, printed = linted(capsys, ".")
    assert (set(paths), printed) == ({"long.properties", "chart.yaml", "good.properties"}, "")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A checkout beside files of the build host; it is the working directory."""
    host, checkout = tmp_path / "host", tmp_path / "checkout"
    for folder in (host, checkout / "conf"):
        folder.mkdir(parents=True)
    (host / "there.properties").write_text(GOOD)
    (checkout / "conf" / "good.properties").write_text(GOOD)
    monkeypatch.chdir(checkout)
    return checkout


def answer(capsys, *arguments):
    code = main(["lint", *arguments, "--format", "json"])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("argument", ["conf/x.properties", "conf", "conf/*.properties", "."])
@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
def test_a_link_out_of_the_tree_is_refused_whether_it_leads_to_a_file_or_not(tree, capsys, argument, relative):
    link, answers = tree / "conf" / "x.properties", []
    for name in ("there.properties", "gone.properties"):
        link.symlink_to(f"../../host/{name}" if relative else tree.parent / "host" / name)
        answers.append(answer(capsys, argument))
        link.unlink()
    assert answers[0] == answers[1]
    code, out, err = answers[0]
    assert code == 2
    assert "x.properties: a link leads out of the folder that is linted" in err
    assert [file["path"] for file in json.loads(out)["files"]] == (
        [] if argument == "conf/x.properties" else ["conf/good.properties"]
    )


@pytest.mark.parametrize("argument", ["sub/there.properties", "sub", "s*/there.properties", "sub/*.properties", "."])
def test_a_folder_that_is_a_link_out_of_the_tree_is_not_entered_whether_it_is_there_or_not(tree, capsys, argument):
    link, answers = tree / "sub", []
    for name in ("host", "gone"):
        link.symlink_to(tree.parent / name)
        answers.append(answer(capsys, argument, "conf"))
        link.unlink()
    assert answers[0] == answers[1]
    assert GOOD not in str(answers)


def test_links_within_the_tree_are_followed_as_kubernetes_makes_them(tree, capsys):
    data = tree / "mounted" / "..2026_11_26"
    data.mkdir(parents=True)
    (data / "server.properties").write_text(GOOD)
    (tree / "mounted" / "..data").symlink_to("..2026_11_26")
    (tree / "mounted" / "server.properties").symlink_to("..data/server.properties")
    for argument in ("mounted", "mounted/server.properties", "mounted/*.properties", str(tree / "mounted")):
        code, paths, err = linted(capsys, argument)
        assert (code in {0, 3}, [Path(path).name for path in paths], err) == (True, ["server.properties"], "")


def test_a_file_elsewhere_is_read_where_the_user_names_it(tree, capsys):
    for argument in ("../host/there.properties", str(tree.parent / "host")):
        assert [Path(path).name for path in linted(capsys, argument)[1]] == ["there.properties"]


@pytest.mark.parametrize(
    "argument", ["~/there.properties", "./~/there.properties", "~", "~/*.properties", "~/**/*.properties", "."]
)
def test_a_folder_with_the_name_of_a_home_is_a_folder(tree, capsys, monkeypatch, argument):
    host = tree.parent / "host"
    monkeypatch.setenv("HOME", str(host))
    (tree / "~").mkdir()
    (tree / "~" / "there.properties").write_text(GOOD.replace("=7", "=77"))
    (host / "only-there.properties").write_text(GOOD)
    _, out, err = answer(capsys, argument)
    paths = [Path(file["path"]).name for file in json.loads(out)["files"]]
    assert (sorted(paths), err) == (["good.properties"] * (argument == ".") + ["there.properties"], "")
    assert "broker/77" in out
    assert str(host) not in out + err


@pytest.mark.parametrize("argument", ["~/only-there.properties", "~root/x.properties", "~/only-*.properties"])
def test_a_home_is_not_looked_at(tree, capsys, monkeypatch, argument):
    host = tree.parent / "host"
    monkeypatch.setenv("HOME", str(host))
    answers = []
    for there in (True, False):
        (host / "only-there.properties").write_text(GOOD) if there else (host / "only-there.properties").unlink()
        answers.append((main(["lint", argument]), *capsys.readouterr()))
    assert answers[0] == answers[1]
    assert answers[0][0] == 2


def test_the_name_of_a_link_to_nothing_is_no_pattern(tree, capsys):
    (tree / "conf" / "*.properties").symlink_to("nothing")
    code, out, err = answer(capsys, "conf/*.properties")
    assert (code, json.loads(out)["files"]) == (2, [])
    assert err.startswith("kafka-audit: conf/*.properties: cannot be read: No such file")


def test_nothing_that_a_file_names_is_opened(tree):
    """In a process of its own: what Python opens cannot be watched for a while."""
    host = tree.parent / "host"
    (host / "secrets.properties").write_text("password=hunter2\n")
    (host / "meta.properties").write_text("broker.id=1\n")
    lines = [
        "broker.id=1", "zookeeper.connect=zk:2181", f"log.dirs={host}", "listeners=SSL://:9093",
        f"ssl.keystore.location={host}/there.properties", f"ssl.truststore.location={host}/there.properties",
        "config.providers=file,directory",
        "config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider",
        f"ssl.keystore.password=${{file:{host}/secrets.properties:password}}",
        f"password.encoder.secret=${{directory:{host}:secrets.properties}}",
    ]  # fmt: skip
    (tree / "conf" / "good.properties").write_text("\n".join(lines))
    watch = f"""
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event in {{"open", "os.listdir", "os.scandir"}} else None)
from kafka_audit.bounds import child_process
from kafka_audit.cli import main
child_process.is_possible = lambda: False  # a child's list would be lost
main(["lint", "conf", "--format", "json"])
print("OPENED", len(opened) > 100, [path for path in opened if path.startswith({str(host)!r})])
"""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    completed = subprocess.run([sys.executable, "-c", watch], capture_output=True, text=True, check=True, env=environ)
    assert "OPENED True []" in completed.stdout
    assert "hunter2" not in completed.stdout
