"""The diagnosis of logs as text, Markdown and HTML: one order of titles, sentences, commands and tables, written three times."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kafka_audit.model import quoting
from kafka_audit.model.text import counted, start_upper
from kafka_audit.report.html.cluster import inline_assets
from kafka_audit.report.html.templating import jinja_environment
from kafka_audit.report.plain_text.markdown import escaped, markdown_prose
from kafka_audit.report.remedies import STEPS
from kafka_audit.report.text import wrap

_MOST_ROWS, _MOST_SIGNS = 40, 8

Document = Mapping[str, Any]


class LogBlock(NamedTuple):
    """A part of the report: `title`, `head`, `text`, `items`, `code` or `table`, and its lines, or rows of cells."""

    kind: str
    lines: Sequence[Any]


def verdict(document: Document) -> str:
    """Return the diagnosis in one sentence."""
    incidents = document["incidents"]
    if incidents:
        more = f" ({counted(len(incidents) - 1, 'more cause')} below)" if len(incidents) > 1 else ""
        return f"{incidents[0]['headline']}{more}"
    if document["signs"] or any(one["error"] for one in document["unknown"]):
        first = f": {document['signs'][0]['says'].removesuffix('.')}" if document["signs"] else "; these logs have errors"
        return f"No known fault fits{first}"
    if document["not_read"]:
        return "No fault was found in what was read"
    if document["earlier"]:
        return f"No fault is left at the end of these logs ({counted(len(document['earlier']), 'earlier one')} below)"
    return "No fault was found in these logs" if document["nodes"] else "No line of Kafka or ZooKeeper was found"


def log_blocks(document: Document) -> Iterator[LogBlock]:
    """Yield the parts of the report, in the order in which a reader needs them."""
    yield LogBlock("title", [verdict(document)])
    yield LogBlock("text", ["From nothing but logs: only these logs were read."])
    for incident in document["incidents"]:
        yield from _incident(incident)
    yield from _items("Earlier, and over by the end of these logs", document["earlier"])
    yield from _items("Not read", document["not_read"])
    yield from _items("Errors that no known fault explains", [*map(_sign, document["signs"][:_MOST_SIGNS])])
    yield from _items("Not recognised", [*map(_quote, document["unknown"])])
    yield from _items("Risks, by settings and changes of them that these logs have", [*_risks(document["risks"])])
    yield from _items("Ordinary", document["ordinary"])
    programs = document["other_programs"].items()
    yield from _items("Lines of other programs", [f"{name}: {counted(count, 'line')}" for name, count in programs])
    yield LogBlock("head", ["Nodes"])
    rows = [[str(one[key] or "") for key in _COLUMNS] + [_ends(one)] for one in document["nodes"]]
    yield LogBlock("table", [[*_COLUMNS, "last start"], *rows])
    if document["order"]:
        yield LogBlock("text", [document["order"]])
    counts = sorted(document["by_node"], key=lambda one: (one["kind"] not in {"sign", "consequence"}, -one["count"]))
    if counts:
        yield LogBlock("head", ["Lines by meaning"])
        rows = [[str(one[key] or "") for key in _COUNTED] for one in counts[:_MOST_ROWS]]
        yield LogBlock("table", [[*_COUNTED], *rows])
    if len(counts) > _MOST_ROWS:
        yield LogBlock("text", [f"{len(counts) - _MOST_ROWS} more are in --format json."])
    if not document["incidents"]:
        yield from _items("What to look at next", [*_next(document)])


_COLUMNS = ("node", "role", "release", "from", "until", "lines")
_COUNTED = ("node", "count", "kind", "last", "says")


def _items(title: str, texts: Sequence[str]) -> Iterator[LogBlock]:
    if texts:
        yield LogBlock("head", [title])
        yield LogBlock("items", texts)


def _incident(incident: Document) -> Iterator[LogBlock]:
    yield LogBlock("head", [incident["headline"]])
    before = f" (and before, from {incident['first']})" if incident["first"] != incident["since"] else ""
    since = f", since {incident['since']}{before}" if incident["since"] else ""
    check = f" More: `kafka-audit explain {incident['cause']}`, or an audit of the cluster." if incident["cause"] else ""
    sure = f"{incident['severity']}, {incident['confidence']}{since}. {incident['confidence_why']}"
    yield LogBlock("text", [f"{sure}{check}", incident["why"]])
    yield LogBlock("items", [f"{one['observer']}: {one['text']}" for one in incident["evidence_for"]])
    if incident["also"]:
        yield LogBlock("text", ["Explained by it, or seen beside it:"])
        yield LogBlock("items", incident["also"])
    for step in incident["remediation"]:
        yield LogBlock("text", [f"{STEPS[step['kind']]}: {step['text']}"])
        if step["commands"]:
            yield LogBlock("code", step["commands"])


def _sign(sign: Document) -> str:
    further = [f"Ordinary: {sign['normal']}"] if sign["normal"] else []
    further += [f"Next: {sign['next']}"] if sign["next"] else []
    further += [f"Checks: {', '.join(sign['checks'])}."] if sign["checks"] else []
    return " ".join((f"{_who(sign)}{sign['where']}, {counted(sign['count'], 'line')}: {sign['says']}", sign["text"], *further))


def _risks(risks: Sequence[Document]) -> Iterator[str]:
    for risk in risks[:_MOST_ROWS]:
        page = f" (`kafka-audit explain {risk['check']}`)" if risk["check"] else ""
        yield f"{risk['severity']}: {risk['headline']}{page}"
    if len(risks) > _MOST_ROWS:
        yield f"{len(risks) - _MOST_ROWS} more are in --format json."


def _quote(unknown: Document) -> str:
    return f"{_who(unknown)}{unknown['file']}:{unknown['line']}, {counted(unknown['count'], 'line')}: {unknown['text']}"


def _who(one: Document) -> str:
    return "" if one["node"] == "not known" else f"{start_upper(one['node'])}, "


def _ends(node: Document) -> str:
    if not node["starts"]:
        return "not in these logs"
    last = node["starts"][-1]
    ended = f"ended: {last['ended']}" if last["ended"] else "goes on"
    times = f" ({len(node['starts'])} starts)" if len(node["starts"]) > 1 else ""
    return f"{last['at'] or ''} {ended}{times}".strip()


def _next(document: Document) -> Iterator[str]:
    if document["signs"] or document["unknown"]:
        yield '`kafka-audit explain "LINE"` says what one line means, and what to look at.'
    yield "The same with the logs of all nodes, and of the time when it began, may say more."
    yield "`kafka-audit run --bootstrap HOST:9092` asks the brokers themselves."


def log_text(document: Document, *, width: int) -> str:
    """Return the report for a terminal."""
    lines: list[str] = []
    for kind, content in log_blocks(document):
        if kind == "table":
            widths = [max(len(row[cell]) for row in content) for cell in range(len(content[0]))]
            for *cells, last in content:
                before = "".join(f"  {cell.ljust(size)}" for cell, size in zip(cells, widths[:-1], strict=True))
                room = max(width, len(before) + 20)
                lines += wrap(last, room, f"{before}  ", " " * (len(before) + 2)) if last else [before.rstrip()]
        elif kind == "code":
            lines += [f"      {line}" for line in content]
        elif kind == "items":
            lines += [part for line in content for part in wrap(line, width, "  - ", "    ")]
        elif kind == "text":
            lines += [part for line in content for part in wrap(line, width, "  ", "  ")]
        else:
            lines += ["", *content] if lines else [*content]
    return "\n".join(lines)


def log_markdown(document: Document) -> str:
    """Return the report as Markdown, ending in a newline."""
    lines: list[str] = []
    for kind, content in log_blocks(document):
        if kind == "table":
            head, *rows = [f"| {' | '.join(map(escaped, row))} |" for row in content]
            lines += [head, "|---" * len(content[0]) + "|", *rows, ""]
        elif kind == "code":
            lines += [*quoting.markdown_block(content), ""]
        elif kind == "items":
            lines += [*(f"- {markdown_prose(line)}" for line in content), ""]
        elif kind == "text":
            lines += [part for line in content for part in (markdown_prose(line), "")]
        else:
            lines += [f"{'#' if kind == 'title' else '##'} {escaped(content[0])}", ""]
    return "\n".join(lines)


def log_html(document: Document) -> str:
    """Return the report as one HTML file that needs nothing else."""
    blocks = [(block.kind, block.lines) for block in log_blocks(document)]
    return (
        jinja_environment()
        .get_template("logs.j2")
        .render(inline=inline_assets(), title=verdict(document), blocks=blocks, up=None, section="", version="")
    )
