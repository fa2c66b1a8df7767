"""The command line: every slip is one line on stderr and exit code 2, before anything is asked of a cluster."""

import os
import subprocess
import sys

import pytest

from kafka_audit import __version__
from kafka_audit.cli import engines, main
from kafka_audit.model.package_yaml import package_yaml

COMMANDS = package_yaml("kafka_audit.cli", "commands.yaml")["commands"]
FILE = """
clusters:
  prod: {bootstrap: ["127.0.0.1:1"]}
  cloud: {kafka_conn_id: kafka_cloud}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """Stand in a folder with a cluster file, with nothing of ours in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("KAFKA_AUDIT_CLUSTERS", "KAFKA_AUDIT_STORE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "clusters.yaml").write_text(FILE)
    (tmp_path / "bad.yaml").write_text("clusters: {prod: {boostrap: [h:1]}}")
    (tmp_path / "file").touch()


SLIPS = {
    "command misspelt": (["rnu", "prod"], "unknown command 'rnu'; did you mean run?"),
    "no cluster": (["run"], "name a cluster of the cluster file, or the address of a broker: --bootstrap HOST:PORT"),
    "option misspelt": (["run", "prod", "--fial-on", "low"], "unknown argument '--fial-on'; did you mean --fail-on?"),
    "option cut short": (["run", "prod", "--fail", "low"], "unknown argument '--fail'; did you mean --fail-on?"),
    "a word too much": (["report", "a", "b"], "unknown argument 'b'"),
    "no severity": (["run", "prod", "--fail-on", "hihg"], "argument --fail-on: 'hihg' is not a severity; choose critical, high,"),
    "nearest severity": (["run", "prod", "--fail-on", "hihg"], "; did you mean high?"),
    "coverage of ninety": (["run", "prod", "--min-coverage", "90"], "argument --min-coverage: '90' is not a number from 0 to 1"),
    "coverage in words": (["run", "prod", "--min-coverage", "all"], "'all' is not a number from 0 to 1"),
    "coverage nan": (["run", "prod", "--min-coverage", "nan"], "'nan' is not a number from 0 to 1"),
    "a file of diff": (["diff", "a", "b", "--format", "html"], "'html' is not a format of this command; choose text or json"),
    "no format": (
        ["run", "prod", "--format", "jsn"],
        "argument --format: 'jsn' is not a format; choose text, json, html, md, sarif",
    ),
    "two formats": (["run", "prod", "--format", "json,text"], "only one format can be printed to stdout; choose text or json"),
    "no such cluster": (["run", "prdo"], "clusters.yaml: cluster 'prdo' does not exist; did you mean prod?"),
    "nothing like it": (["run", "xyz"], "clusters.yaml: cluster 'xyz' does not exist; the clusters are prod, cloud"),
    "no such file": (["run", "prod", "--config", "nowhere.yaml"], "nowhere.yaml: file not found; set --con"),
    "a slip in the file": (["run", "prod", "--config", "bad.yaml"], "bad.yaml:1: clusters.prod.boostrap: unknown key; did you"),
    "no label": (["clusters", "--label", "prod"], "argument --label: 'prod' is not a label such as env=prod; see"),
    "a label of no cluster": (
        ["clusters", "--label", "env=prd"],
        "clusters.yaml: no cluster has the label env=prd; no cluster has l",
    ),
    "an Airflow connection": (["run", "cloud"], "cloud: kafka_conn_id requires Airflow; on the command line, set security"),
    "store below a file": (
        ["run", "prod", "--out", "file/store"],
        "file/store: Not a directory; set another store",
    ),
    "store by the name that bundle has for it": (
        ["run", "prod", "--store", "file/store"],
        "file/store: Not a directory; set another store",
    ),
    "store that is a pattern": (["run", "prod", "--out", "a*"], "Spark reads this path as a pattern"),
    "baseline that is none": (["run", "prod", "--baseline", "yesterday"], "this store has no snapshot 'yesterday'"),
    "snapshot of no cluster": (["snapshot", "prdo"], "did you mean prod?"),
    "diff of one": (["diff", "a"], "the following arguments are required: SNAPSHOT; see `kafka-audit diff --help`"),
    "diff of none": (["diff", "a", "b"], "this store has no snapshot 'a'"),
    "watch every day": (["watch", "prod", "--every", "1d"], "argument --every: '1d' is not a number of seconds from 2 to 86400"),
    "watch no cluster": (["watch", "prdo"], "clusters.yaml: cluster 'prdo' does not exist; did you mean prod?"),
    "watch with an Airflow connection": (["watch", "cloud"], "cloud: kafka_conn_id requires Airflow"),
    "no such check": (["explain", "KA999"], "'KA999' is not a check of this version"),
}


@pytest.mark.parametrize(("argv", "message"), SLIPS.values(), ids=SLIPS)
def test_a_slip_is_one_line_and_exit_code_2(capfd, argv, message):
    code = main(argv)
    out, err = capfd.readouterr()
    assert code == 2
    assert out == ""
    assert err.startswith("kafka-audit: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize("typed", [[], ["help"], ["help", "run"]])
def test_who_types_no_command_gets_the_help(typed, capsys):
    with pytest.raises(SystemExit) as ended:
        main(typed)
    assert ended.value.code == 0
    assert "kafka-audit run --bootstrap b1:9092" in capsys.readouterr().out


def test_explain_ends_with_4_where_nothing_fits(capfd):
    line = "[2026-03-04 10:11:12,345] ERROR Shutdown broker because all log dirs in /data have failed (kafka.log.LogManager)"
    assert main(["explain", line]) == 0
    assert "No usable log dir is left, so the broker exits." in " ".join(capfd.readouterr().out.split())
    assert main(["explain", line.replace("kafka.log.LogManager", "com.example.Shop")]) == 4
    words = " ".join(capfd.readouterr().out.split())
    assert words.startswith(
        "No page fits. This is no line of a Kafka broker or of ZooKeeper, but of a program with the logger com."
    )
    assert main(["explain", "how", "do", "I", "bake", "bread"]) == 4
    assert capfd.readouterr().out.startswith("No page fits. Type more of the message,")


def test_the_environment_names_cluster_file_and_store(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(tmp_path / "bad.yaml"))
    assert main(["run", "prod"]) == 2
    assert "bad.yaml:1: " in capfd.readouterr().err
    monkeypatch.delenv("KAFKA_AUDIT_CLUSTERS")
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "elsewhere"))
    assert main(["run", "prod", "--baseline", "x"]) == 2
    assert f"{tmp_path}/elsewhere: this store has no snapshot " in capfd.readouterr().err


def test_missing_java_is_told_before_anything_is_asked(monkeypatch, tmp_path, capfd):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main(["run", "prod", "--engine", "spark"]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("kafka-audit: Spark requires Java: ")
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("kafka-audit-store/snapshots/*"))


def test_a_missing_spark_is_one_line_that_names_the_extra(monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(engines.importlib.util, "find_spec", lambda _: None)
    assert main(["run", "prod", "--engine", "spark"]) == 2
    assert capfd.readouterr().err.endswith("-m pip install 'kafka-audit[spark]'\n")
    assert not list(tmp_path.glob("kafka-audit-store/snapshots/*"))


@pytest.mark.parametrize("command", [[], ["run"], ["snapshot"], ["diff"], ["clusters"], ["watch"], ["explain"]])
def test_help_teaches_by_example(capsys, command):
    with pytest.raises(SystemExit) as end:
        main([*command, "--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert f"kafka-audit {' '.join(command)}".strip() in text.split("\n\n", 1)[1]


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "demo"])
def test_the_help_of_each_command_names_its_exit_codes(capsys, command):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    codes = [line.split()[0] for line in capsys.readouterr().out.split("exit codes:\n")[1].split("\n\n")[0].splitlines()]
    assert {"0", "2"} <= set(codes)


@pytest.mark.parametrize("command", [[], ["run"]])
def test_help_tells_every_exit_code(capsys, command):
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    text = capsys.readouterr().out
    assert [line.split()[0] for line in text.split("exit codes:\n")[1].split("\n\n")[0].splitlines()] == [
        "0", "1", "2", "3", "4", "130",
    ]  # fmt: skip


def test_the_demo_refuses_a_version_that_the_test_bed_lacks_before_it_starts(capsys, tmp_path):
    with pytest.raises(SystemExit) as end:
        main(["demo", "--kafka-version", "9.9"])
    assert end.value.code == 2
    assert "the test bed has no Kafka 9.9" in capsys.readouterr().err
    assert not (tmp_path / ".work").exists()


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"kafka-audit {__version__}\n"


@pytest.mark.parametrize("argv", [["--help"], ["explain"]])
def test_help_and_explain_answer_without_loading_what_an_audit_needs(argv):
    script = (
        "import sys\nfrom kafka_audit.cli import main\n"
        f"try:\n    main({argv})\nexcept SystemExit:\n    pass\n"
        "heavy = {'pyspark', 'kafka', 'kazoo', 'pyarrow', 'upath', 'airflow', 'numpy'} & sys.modules.keys()\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout


def test_a_reader_that_stops_reading_is_no_failure():
    reader, writer = os.pipe()
    os.close(reader)
    completed = subprocess.run(
        [sys.executable, "-m", "kafka_audit.cli", "explain"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (completed.returncode, completed.stderr) == (0, "")


LOGIN = "s3://AKIA123:s3/cret@bucket/audit"


@pytest.mark.parametrize(
    "argv",
    [
        ["report", "20260131T080000Z-prod-00aa", "--out", LOGIN],
        ["diff", "a", "b", "--out", LOGIN],
        ["after-migration", "prod", "--out", LOGIN],
        ["lint", "x", "--against", "prod", "--out", LOGIN],
        ["report", "a", f"--ot={LOGIN}"],
        ["report", "a", "--out"],
    ],
)
def test_no_complaint_shows_the_login_in_a_url(argv, monkeypatch, capsys):
    monkeypatch.setenv("KAFKA_AUDIT_STORE", LOGIN)
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert not [part for part in ("AKIA123", "s3/cret", "cret@") if part in captured.out + captured.err]


def test_the_login_of_the_environment_is_not_shown_either(monkeypatch, capsys):
    monkeypatch.setenv("KAFKA_AUDIT_STORE", LOGIN)
    assert main(["report", "20260131T080000Z-prod-00aa"]) == 2
    assert capsys.readouterr().err.startswith("kafka-audit: s3://***@…: the URL of a store must not contain a password; ")
