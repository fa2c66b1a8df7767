"""The nearest right word for a wrong one: keys of the cluster file, clusters, checks, commands, snapshots."""

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return `; did you mean X?` for the nearest choice, or nothing where none is near. Case does not count."""
    folded = {choice.lower(): choice for choice in choices}
    near = difflib.get_close_matches(word.lower(), folded, n=1)
    return f"; did you mean {folded[near[0]]}?" if near else ""
