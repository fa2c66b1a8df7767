"""Steps that several causes share, with exact hosts, ports and files in them."""

from kafka_audit.engine.causes.rule import Case
from kafka_audit.engine.facts import Endpoint
from kafka_audit.model.finding import Step
from kafka_audit.model.text import listing, word


def connect(endpoints: tuple[Endpoint, ...], limit: int = 10) -> tuple[str, ...]:
    """Return one `nc` a endpoint: it opens a connection, sends nothing, and says which way it failed."""
    return tuple(f"nc -vz -w 3 {word(e.host)} {e.port}" for e in endpoints[:limit])


def prove(case: Case) -> Step:
    """Return the last step of every repair: ask again."""
    codes = sorted({root.code for root in case.roots})
    return Step(
        kind="prove",
        text=f"Audit again: exit 0, and {listing(codes)} resolved.",
        commands=(f"kafka-audit run {word(case.facts.snapshot.cluster)} --config clusters.yaml --out DIR --fail-on high",),
    )


def do_not(text: str) -> Step:
    """Return a warning."""
    return Step(kind="do_not", text=text)
