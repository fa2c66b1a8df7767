"""The command line: what may be written, what it means, and help that teaches it.

Nothing heavy is imported here: `--help` and `explain` answer at once, the rest is imported by the command that needs it.
"""

import argparse
import functools
import importlib
import os
from collections.abc import Callable, Sequence
from typing import NoReturn

from kafka_audit import __version__
from kafka_audit.cli import demo, forms, help_texts
from kafka_audit.model import labels
from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Severity
from kafka_audit.model.text import did_you_mean

_COMMANDS = (
    "run",
    "snapshot",
    "diff",
    "watch",
    "report",
    "bundle",
    "import",
    "lint",
    "clusters",
    "explain",
    "mcp",
    "what-if",
    "before-migration",
    "after-migration",
    "alert-test",
    "class-archive",
    "dags",
    "demo",
)
_MODULES = {
    "before-migration": "migration",
    "after-migration": "migration",
    "alert-test": "alerting",
    "bundle": "bundling",
    "class-archive": "archiving",
    "clusters": "clusters",
    "dags": "dags",
    "explain": "pages",
    "import": "importing",
    "lint": "linting",
    "mcp": "conversation",
    "report": "reporting",
    "watch": "watching",
    "what-if": "asking",
}
"""Where a command is that is not in `commands`; the function of `lint` is `lint_command`."""

_AUDITS = "commands"
_WITH_TABLES = {_AUDITS, "asking", "migration"}

LEAST_WATCH_S, MOST_WATCH_S = 2.0, 86_400.0

_PARTIES = ("broker", "rack", "controller", "disk", "zookeeper")
_MOST_COPIES = 100

_LINT_FORMATS = ("text", "json", "sarif", "junit", "github")


class _CommandParser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are `UsageError`s: one line with the remedy."""

    def error(self, message: str) -> NoReturn:
        msg = f"{message}; see `{self.prog} --help`"
        raise UsageError(msg)


def parse_arguments(argv: Sequence[str]) -> Callable[[], int]:
    """Return the command that `argv` asks for, ready to be called; raises `UsageError` for what it cannot mean."""
    parser = _parser()
    word = next((argument for argument in argv if not argument.startswith("-")), None)
    if word is not None and word not in _COMMANDS:
        parser.error(f"unknown command {word!r}{did_you_mean(word, _COMMANDS)}")
    if word == "demo":  # it reads its own arguments
        return functools.partial(demo.demo_command, argv[argv.index(word) + 1 :])
    arguments, rest = parser.parse_known_args(argv)
    if rest:
        parser.error(f"unknown argument {rest[0]!r}{did_you_mean(rest[0], _options(parser, arguments.command))}")
    return functools.partial(_call, arguments)


def _call(arguments: argparse.Namespace) -> int:
    # Each command imports only what it needs.
    name = _MODULES.get(arguments.command, _AUDITS)
    if name in _WITH_TABLES:
        importlib.import_module("kafka_audit.cli.arrow_alone").hide_pandas()
    module = importlib.import_module(f"kafka_audit.cli.{name}")
    code: int = getattr(module, f"{arguments.command.replace('-', '_')}_command")(arguments)
    return code


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = _CommandParser(prog="kafka-audit", description=help_texts.MAIN, formatter_class=raw, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"kafka-audit {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_CommandParser)

    def add(name: str, summary: str, description: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=summary, description=description, formatter_class=raw, allow_abbrev=False)

    _run(add("run", "take a snapshot, compare, check and report", help_texts.RUN))
    snapshot = add("snapshot", "store a snapshot without running checks", help_texts.SNAPSHOT)
    _cluster(snapshot)
    _store(snapshot)
    _diff(add("diff", "compare two snapshots", help_texts.DIFF))
    _watch(add("watch", "show who answers, and what is suspected, every few seconds", help_texts.WATCH))
    _report(add("report", "render the report of a stored snapshot or a bundle", help_texts.REPORT))
    _bundle(add("bundle", "write a snapshot and its report to one file, without secrets", help_texts.BUNDLE))
    _import(add("import", "put the snapshot and report of a bundle into a store", help_texts.IMPORT))
    _lint(add("lint", "check configurations before brokers start", help_texts.LINT))
    listed = add("clusters", "list the clusters of the cluster file", help_texts.CLUSTERS)
    listed.add_argument(
        "--label",
        action="append",
        default=[],
        type=_label,
        metavar="NAME=VALUE",
        help="only clusters with this label; may be repeated",
    )
    _config(listed)
    listed.add_argument("--format", default="text", choices=("text", "json"), help="the output on stdout (text)")
    explain = add("explain", "describe a check or an error message, or list all checks", help_texts.EXPLAIN)
    explain.add_argument("words", nargs="*", metavar="WORDS", help="a code such as KA101, a name, or an error message")
    _other_store(add("mcp", "answer programs from stored reports (Model Context Protocol)", help_texts.MCP))
    _what_if(add("what-if", "show what stops if brokers, racks, controllers or disks go", help_texts.WHAT_IF))
    _change(add("before-migration", "decide whether a change can begin", help_texts.BEFORE))
    after = add("after-migration", "compare a cluster with its baseline after a change", help_texts.AFTER)
    _cluster(after)
    _store(after)
    after.add_argument("--baseline", metavar="SNAPSHOT", help="the snapshot to compare with (the newest baseline of the cluster)")
    after.add_argument("--format", default="text", choices=("text", "json"), help="the output on stdout (text)")
    _engine(after)
    add("alert-test", "send a test alert through every channel", help_texts.ALERT_TEST)
    archive = add("class-archive", "create the class archive with which Spark starts faster", help_texts.CLASS_ARCHIVE)
    archive.add_argument("--again", action="store_true", help="create it even if it exists")
    dags = add("dags", "write the DAG files of the installed package", help_texts.DAGS)
    dags.add_argument("action", choices=("install",), help="write the DAG files")
    dags.add_argument("--to", metavar="DIR", help="the folder of DAGs (Airflow's dags_folder)")
    add("demo", "break a real cluster on this host and audit it", "")
    return parser


def _run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cluster", nargs="?", metavar="CLUSTER", help="a name in the cluster file")
    _config(parser)
    parser.add_argument(
        "--bootstrap", action="append", default=[], metavar="HOST:PORT,…", help="brokers of a cluster without a cluster file"
    )
    parser.add_argument("--zookeeper", metavar="HOST:PORT/CHROOT", help="ZooKeeper of a cluster without a cluster file")
    parser.add_argument("--name", metavar="NAME", help="with an address: the name of the cluster in the store (the first host)")
    _store(parser)
    parser.add_argument("--baseline", default="latest", metavar="ID|latest|none", help="compare with this snapshot (latest)")
    _fail_on(parser)
    parser.add_argument(
        "--min-coverage", default=1.0, type=_share, metavar="0..1", help="exit with 4 below this share of answered reads (1.0)"
    )
    _format(parser)
    parser.add_argument("--all", action="store_true", help="also list checks that pass")
    _engine(parser)


def _diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="SNAPSHOT", help="id of the earlier snapshot")
    parser.add_argument("after", metavar="SNAPSHOT", help="id of the later snapshot")
    _config(parser)
    _store(parser)
    only = forms.only_stdout
    parser.add_argument("--format", default=only("text"), type=only, metavar="text|json", help="the output on stdout (text)")
    parser.add_argument("--reports", action="store_true", help="compare the stored reports; nothing is checked again")
    _engine(parser)


def _watch(parser: argparse.ArgumentParser) -> None:
    _cluster(parser)
    parser.add_argument("--every", default=20.0, type=_watch_seconds, metavar="SECONDS", help="seconds between readings (20)")
    parser.add_argument(
        "--for", dest="seconds", default=None, type=_watch_seconds, metavar="SECONDS", help="end after these seconds (never)"
    )
    parser.add_argument(
        "--grace",
        default=30.0,
        type=_watch_seconds,
        metavar="SECONDS",
        help="how long a broker that left may be away, as in a restart (30)",
    )
    parser.add_argument("--format", default="text", choices=("text", "json"), help="the output on stdout (text)")


def _lint(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="files, folders or patterns")
    parser.add_argument("--kafka-version", metavar="X.Y.Z", help="the Kafka version (the version of the file, else the newest)")
    _fail_on(parser)
    formats = "|".join(_LINT_FORMATS)
    parser.add_argument("--format", default="text", type=_lint_format, metavar=formats, help="the output on stdout (text)")
    parser.add_argument("--all", action="store_true", help="also list checks that pass, and reasons for unknown results")
    parser.add_argument(
        "--on-host", action="store_true", help="this host runs the broker: check that the key stores which its file names exist"
    )
    _config(parser)
    parser.add_argument("--cluster", metavar="NAME", help="the cluster whose mute list is used")
    parser.add_argument(
        "--against", metavar="CLUSTER", help="report what the files would break in this cluster, from its newest snapshot"
    )
    _out(parser)


def _report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("snapshot", metavar="SNAPSHOT|FILE.zip", help="id of a snapshot with a report, or a bundle")
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="the store ($KAFKA_AUDIT_STORE, else kafka-audit-store); with a bundle, the folder of files (its own folder)",
    )
    parser.set_defaults(store=_usual_store())
    _format(parser)


def _bundle(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("subject", metavar="CLUSTER|SNAPSHOT", help="a cluster, for its newest report, or the id of a snapshot")
    _config(parser)
    _other_store(parser)
    parser.add_argument("--out", required=True, metavar="FILE.zip", help="the file to write; it must not exist")
    parser.add_argument("--quiet", action="store_true", help="print no progress to stderr")


def _other_store(parser: argparse.ArgumentParser) -> None:
    """Add the store where `--out` is something else."""
    parser.add_argument(
        "--store",
        metavar="DIR",
        default=_usual_store(),
        help="the store, a folder or a URL ($KAFKA_AUDIT_STORE, else kafka-audit-store)",
    )


def _import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", metavar="FILE.zip", help="a bundle")
    _other_store(parser)
    parser.add_argument("--quiet", action="store_true", help="print no progress to stderr")


def _change(parser: argparse.ArgumentParser) -> None:
    _cluster(parser)
    _store(parser)
    parser.add_argument("--kind", required=True, metavar="KIND", help="the kind of change; see above")
    parser.add_argument("--node-ids", default="", metavar="ID,ID", help="node ids of the new KRaft controllers, or of all voters")
    parser.add_argument("--proposed", nargs="+", default=[], metavar="FILE", help="proposed server.properties")
    parser.add_argument(
        "--advertised",
        action="append",
        default=[],
        metavar="LINE",
        help="a proposed advertised address: `0: CLIENT://kafka-0.example.com:9092`; may be repeated",
    )
    parser.add_argument("--kafka-version", metavar="X.Y.Z", help="the Kafka version after the change, required for upgrades")
    parser.add_argument("--oldest-client", metavar="X.Y", help="the oldest Kafka version whose clients connect, for Kafka 4")
    parser.add_argument(
        "--vantage", action="append", default=[], metavar="NAME", help="a vantage that must reach every broker; may be repeated"
    )
    parser.add_argument(
        "--strict", default="high", type=_severity, metavar="SEVERITY", help="the lowest severity of a blocker (high)"
    )
    parser.add_argument("--keep", action="store_true", help="keep the snapshot as baseline for any result")
    _engine(parser)
    parser.add_argument("--format", default="text", choices=("text", "json"), help="the output on stdout (text)")


def _what_if(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("subject", metavar="CLUSTER|SNAPSHOT", help="a cluster, which is read now, or the id of a snapshot")
    _config(parser)
    _store(parser)
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="KIND:NAME",
        help="what goes: broker:2, rack:a, controller:3000, disk:2:/data-1, zookeeper:1; together if repeated",
    )
    parser.add_argument("--each", type=_party, metavar="KIND", help=f"each of a kind, one at a time: {', '.join(_PARTIES)}")
    parser.add_argument(
        "--margin", default=1, type=_copies, metavar="N", help="2 keeps a copy in sync more than is needed, 3 two more (1)"
    )
    parser.add_argument("--format", default="text", choices=("text", "json"), help="the output on stdout (text)")


def _fail_on(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fail-on", default="high", type=_severity, metavar="SEVERITY", help="the lowest severity for exit code 3 (high)"
    )


def _cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cluster", metavar="CLUSTER", help="a name in the cluster file")
    _config(parser)


def _config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", metavar="FILE", help="the cluster file or folder ($KAFKA_AUDIT_CLUSTERS, else clusters.yaml)", default=None
    )


def _store(parser: argparse.ArgumentParser) -> None:
    _out(parser)
    parser.add_argument("--quiet", action="store_true", help="print no progress to stderr")


def _engine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine", default="duckdb", choices=("duckdb", "spark"), help="what compares: duckdb in this process, or spark (duckdb)"
    )


def _out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out",
        metavar="DIR",
        default=_usual_store(),
        help="the store, a folder or a URL ($KAFKA_AUDIT_STORE, else kafka-audit-store)",
    )


def _usual_store() -> str:
    return os.environ.get("KAFKA_AUDIT_STORE") or "kafka-audit-store"


def _format(parser: argparse.ArgumentParser) -> None:
    formats = "text or json for stdout (text); html, md, sarif and openmetrics for files in DIR"
    parser.add_argument(
        "--format", default=forms.Forms(stdout=None, files=()), type=forms.parse_formats, metavar="LIST", help=formats
    )


def _party(text: str) -> str:
    if text not in _PARTIES:
        msg = f"{text!r} is none of {', '.join(_PARTIES)}{did_you_mean(text, _PARTIES)}"
        raise argparse.ArgumentTypeError(msg)
    return text


def _copies(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_COPIES:
        msg = f"{text!r} is not a number of copies from 1 to {_MOST_COPIES}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _severity(text: str) -> str:
    names = [severity.name.lower() for severity in reversed(Severity)]
    if text.lower() not in names:
        msg = f"{text!r} is not a severity; choose {', '.join(names)}{did_you_mean(text, names)}"
        raise argparse.ArgumentTypeError(msg)
    return text.lower()


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        msg = f"{text!r} is not a number from 0 to 1"
        raise argparse.ArgumentTypeError(msg)
    return share


def _label(text: str) -> tuple[str, str]:
    try:
        return labels.parse_label(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _watch_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not LEAST_WATCH_S <= seconds <= MOST_WATCH_S:
        msg = f"{text!r} is not a number of seconds from {LEAST_WATCH_S:g} to {MOST_WATCH_S:g}"
        raise argparse.ArgumentTypeError(msg)
    return seconds


def _lint_format(text: str) -> str:
    if text not in _LINT_FORMATS:
        msg = f"{text!r} is not a format; choose {', '.join(_LINT_FORMATS)}{did_you_mean(text, _LINT_FORMATS)}"
        raise argparse.ArgumentTypeError(msg)
    return text


def _options(parser: argparse.ArgumentParser, command: str) -> list[str]:
    """Return the option strings of a command."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001 -- argparse has no public method to list them
    return [option for action in commands.choices[command]._actions for option in action.option_strings]  # noqa: SLF001 -- see above
