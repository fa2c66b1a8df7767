"""Passwords by the names that a cluster file gives them: looked up at the moment of connecting, never shown."""

from collections.abc import Iterator, Mapping


class Secrets(Mapping[str, str]):
    """A mapping whose values no `repr`, log line or traceback with local variables shows.

    Attributes:
        own: values outside the environment, such as those of an Airflow connection, by a generated name.
    """

    def __init__(self, own: Mapping[str, str], environment: Mapping[str, str]) -> None:
        """Take what is found nowhere else, and the environment that `password_env` names variables of."""
        self.own = _KeysOnly(own)
        self._environment = environment

    def __getitem__(self, name: str) -> str:
        """Return a password; raises KeyError."""
        return self.own[name] if name in self.own else self._environment[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        yield from {**self.own, **self._environment}

    def __len__(self) -> int:
        """Return how many names there are."""
        return len({**self.own, **self._environment})

    def __repr__(self) -> str:
        """Return names without values, and none of the environment's."""
        return f"Secrets({', '.join(self.own)})"


class _KeysOnly(dict[str, str]):
    """A dict that shows its keys only."""

    def __repr__(self) -> str:
        return f"{{{', '.join(self)}}}"
