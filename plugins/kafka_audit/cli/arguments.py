"""The command line: what may be written, what it means, and help that teaches it.

Nothing heavy is imported here: `--help` and `explain` answer at once, the rest is imported by the command that needs it.
"""

import argparse
import functools
import os
from collections.abc import Callable, Sequence
from typing import NoReturn

from kafka_audit import __version__
from kafka_audit.cli import forms
from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Severity
from kafka_audit.suggest import did_you_mean

_COMMANDS = ("run", "snapshot", "diff", "report", "lint", "explain", "demo")
_LINT_FORMATS = ("text", "json", "sarif", "junit", "github")

_EXIT_CODES = """\
exit codes:
  0    clean
  1    internal error, or Spark did not run
  2    wrong usage or configuration; a damaged snapshot, or a store that cannot be written
  3    unmuted failures at or above --fail-on
  4    none of those, but fewer reads were answered than --min-coverage asks for
  130  interrupted
"""
_MAIN = (
    """\
Audit Kafka clusters by asking every party: ZooKeeper, each broker itself, the network.
It only reads: nothing is created or written in an audited cluster.

first steps:
  kafka-audit demo                               break a real cluster on this machine and audit it
  cp clusters.example.yaml clusters.yaml         describe your clusters
  kafka-audit run prod                           audit one of them
  kafka-audit lint server.properties             judge a configuration before a broker starts with it
  kafka-audit explain KA101                      what a finding means and what to do

"""
    + _EXIT_CODES
)
_RUN = (
    """\
Take a snapshot of a cluster, compare its views with each other and with the previous snapshot, report, judge.
The page goes to stdout, the report to DIR/findings.json, snapshots accumulate in DIR/snapshots/ (`keep` in the
cluster file says how many).

examples:
  kafka-audit run prod                           ./clusters.yaml, store in ./kafka-audit-store
  kafka-audit run prod --fail-on critical        exit 3 for what fails now, not for what will
  kafka-audit run prod --baseline none           judge it alone, compare with nothing
  kafka-audit run prod --format json | jq '.incidents[].headline'
  kafka-audit run prod --format html,md          DIR/findings.html and DIR/findings.md, too
  kafka-audit run prod --quiet > page.txt || mail -s "kafka prod" me@example.com < page.txt

"""
    + _EXIT_CODES
)
_SNAPSHOT = """\
Take a snapshot of a cluster and store it; nothing is judged. Its id goes to stdout.

example:
  before=$(kafka-audit snapshot prod); ./rolling-restart.sh; after=$(kafka-audit snapshot prod)
  kafka-audit diff "$before" "$after"
"""
_DIFF = """\
Judge the later of two snapshots against the earlier one: what changed, what is new, resolved, ongoing.
The store's current reports stay as they are.

example:
  kafka-audit diff 20260131T080000Z-prod-1a2b 20260131T090000Z-prod-3c4d
"""
_REPORT = """\
Render the report on a stored snapshot again. Nothing is asked of any cluster. HTML, Markdown and SARIF become files beside the
snapshot, and their paths go to stdout.

examples:
  kafka-audit report 20260131T080000Z-prod-1a2b
  kafka-audit report 20260131T080000Z-prod-1a2b --format html,md
"""
_LINT = """\
Judge configurations before brokers start with them: whether Kafka accepts each, in its own words, what fails later, and where the
brokers of one cluster differ. Files are server.properties, Kubernetes manifests, compose files or env files; folders and patterns
mean the files in them. Files that share an address of ZooKeeper or of the controllers' quorum are one cluster. Nothing is asked
of any cluster.

examples:
  kafka-audit lint server.properties
  kafka-audit lint conf/broker-*.properties --kafka-version 3.9.1
  kafka-audit lint k8s/ --format sarif > lint.sarif
  kafka-audit lint compose.yaml --fail-on medium --all
  kafka-audit lint new/ --against prod           what these files would break of the cluster in the newest snapshot

A finding is accepted by a comment in the file, `# kafka-audit: ignore KA308 reason`, or by the mute list of the cluster file.

exit codes:
  0    clean
  1    internal error
  2    wrong usage, or a file that cannot be read or is no broker's configuration
  3    unmuted failures at or above --fail-on
  130  interrupted
"""
_EXPLAIN = """\
Explain a check by code or name: what it means, why it matters, what to do. Without one, list them all.

examples:
  kafka-audit explain KA101
  kafka-audit explain stale_leader
"""


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser whose complaints are `UsageError`s: one line with the way out."""

    def error(self, message: str) -> NoReturn:
        msg = f"{message}; see `{self.prog} --help`"
        raise UsageError(msg)


def parse(argv: Sequence[str]) -> Callable[[], int]:
    """Return the command that `argv` asks for, ready to be called; raises `UsageError` for what it cannot mean."""
    parser = _parser()
    word = next((argument for argument in argv if not argument.startswith("-")), None)
    if word is not None and word not in _COMMANDS:
        parser.error(f"unknown command {word!r}{did_you_mean(word, _COMMANDS)}")
    if word == "demo":  # it reads its own arguments
        return functools.partial(_demo, argv[argv.index(word) + 1 :])
    arguments, rest = parser.parse_known_args(argv)
    if rest:
        parser.error(f"unknown argument {rest[0]!r}{did_you_mean(rest[0], _options(parser, arguments.command))}")
    return functools.partial(_call, arguments)


def _call(arguments: argparse.Namespace) -> int:
    if arguments.command == "explain":
        from kafka_audit.cli import pages  # noqa: PLC0415 -- each command imports what it needs, and no more

        return pages.explain(arguments)
    if arguments.command == "report":
        from kafka_audit.cli import reporting  # noqa: PLC0415 -- see above

        return reporting.report(arguments)
    if arguments.command == "lint":
        from kafka_audit.cli import linting  # noqa: PLC0415 -- see above

        return linting.lint(arguments)
    from kafka_audit.cli import commands  # noqa: PLC0415 -- see above

    code: int = getattr(commands, arguments.command)(arguments)
    return code


def _demo(argv: Sequence[str]) -> int:
    from kafka_audit import demo  # noqa: PLC0415 -- it brings a whole test bed along

    return demo.main(argv)


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser(prog="kafka-audit", description=_MAIN, formatter_class=raw, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"kafka-audit {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)

    def add(name: str, summary: str, description: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=summary, description=description, formatter_class=raw, allow_abbrev=False)

    run = add("run", "audit a cluster: snapshot, compare, report, judge", _RUN)
    _cluster(run)
    _store(run)
    run.add_argument("--baseline", default="latest", metavar="ID|latest|none", help="compare with this snapshot (latest)")
    _fail_on(run)
    run.add_argument("--min-coverage", default=1.0, type=_share, metavar="0..1", help="exit 4 below this share (1.0)")
    _format(run)
    run.add_argument("--all", action="store_true", help="list what passed, too")
    snapshot = add("snapshot", "store what a cluster says now, judge nothing", _SNAPSHOT)
    _cluster(snapshot)
    _store(snapshot)
    diff = add("diff", "judge one snapshot against another", _DIFF)
    diff.add_argument("before", metavar="SNAPSHOT", help="id of the earlier snapshot")
    diff.add_argument("after", metavar="SNAPSHOT", help="id of the later snapshot")
    _config(diff)
    _store(diff)
    only = forms.only_stdout
    diff.add_argument("--format", default=only("text"), type=only, metavar="text|json", help="what goes to stdout (text)")
    report = add("report", "render the report on a stored snapshot again", _REPORT)
    report.add_argument("snapshot", metavar="SNAPSHOT", help="id of a snapshot that was judged")
    _out(report)
    _format(report)
    _lint(add("lint", "judge configurations before brokers start with them", _LINT))
    explain = add("explain", "explain a check, or list all", _EXPLAIN)
    explain.add_argument("check", nargs="?", metavar="CODE", help="a code such as KA101, or a check's name")
    add("demo", "break a real cluster on this machine and audit it", "")
    return parser


def _lint(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="files, folders or patterns")
    parser.add_argument("--kafka-version", metavar="X.Y.Z", help="judge by this release (what the file tells, else the newest)")
    _fail_on(parser)
    formats = "|".join(_LINT_FORMATS)
    parser.add_argument("--format", default="text", type=_lint_format, metavar=formats, help="what goes to stdout (text)")
    parser.add_argument("--all", action="store_true", help="list what passed, too, and why something is not known")
    _config(parser)
    parser.add_argument("--cluster", metavar="NAME", help="a name in the cluster file, whose mute list counts")
    parser.add_argument("--against", metavar="CLUSTER", help="say what the files would break there, by its newest snapshot")
    _out(parser)


def _fail_on(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fail-on", default="high", type=_severity, metavar="SEVERITY", help="exit 3 from this severity on (high)"
    )


def _cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cluster", metavar="CLUSTER", help="a name in the cluster file")
    _config(parser)


def _config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", metavar="FILE", help="the cluster file ($KAFKA_AUDIT_CLUSTERS, else clusters.yaml)", default=None
    )


def _store(parser: argparse.ArgumentParser) -> None:
    _out(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")


def _out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out",
        metavar="DIR",
        default=os.environ.get("KAFKA_AUDIT_STORE") or "kafka-audit-store",
        help="the store, a folder or a URL ($KAFKA_AUDIT_STORE, else kafka-audit-store)",
    )


def _format(parser: argparse.ArgumentParser) -> None:
    told = "text or json goes to stdout (text); html, md and sarif to files in DIR"
    parser.add_argument("--format", default=forms.Forms(stdout=None, files=()), type=forms.parse, metavar="LIST", help=told)


def _severity(text: str) -> str:
    names = [severity.name.lower() for severity in reversed(Severity)]
    if text.lower() not in names:
        msg = f"{text!r} is no severity, choose {', '.join(names)}{did_you_mean(text, names)}"
        raise argparse.ArgumentTypeError(msg)
    return text.lower()


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        msg = f"{text!r} is no number from 0 to 1"
        raise argparse.ArgumentTypeError(msg)
    return share


def _lint_format(text: str) -> str:
    if text not in _LINT_FORMATS:
        msg = f"{text!r} is no format, choose {', '.join(_LINT_FORMATS)}{did_you_mean(text, _LINT_FORMATS)}"
        raise argparse.ArgumentTypeError(msg)
    return text


def _options(parser: argparse.ArgumentParser, command: str) -> list[str]:
    """Return the option strings of a command."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001 -- argparse has no public way to list them
    return [option for action in commands.choices[command]._actions for option in action.option_strings]  # noqa: SLF001 -- see above
