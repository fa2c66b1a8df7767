"""What passes between the steps of one run: the request that Spark gets and the answer that it writes. Plain JSON files in the store."""

from dataclasses import dataclass

from kafka_audit.model.finding import Change, Judgement


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A snapshot to judge, and the one to compare it with (None: nothing to compare, diff checks are NOT_APPLICABLE)."""

    snapshot_id: str
    previous_snapshot_id: str | None


@dataclass(frozen=True, kw_only=True)
class Request:
    """One submission: every pair of the run, and what the Python checks already found (Spark joins them as a table)."""

    run_id: str
    store: str  # URL or path of the store's root
    pairs: tuple[Pair, ...]
    row_judgements: tuple[Judgement, ...]

    @property
    def answer_path(self) -> str:
        """Path, below the store's root, of the file that proves that Spark did its work."""
        return f"runs/{self.run_id}/answer.json"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one submission found: the SQL checks' judgements, and per judged snapshot what changed. `run_id` repeats the request's."""

    run_id: str
    judgements: tuple[Judgement, ...]
    changes: tuple[tuple[str, Change], ...]  # (snapshot_id, change)
