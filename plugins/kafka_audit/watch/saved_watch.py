"""What a watch remembers, as JSON: a restart continues where it was, and suspects nothing a second time."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from kafka_audit.model.tables import RegisteredEndpoint
from kafka_audit.watch.judgement import WatchState, WatchSymptom
from kafka_audit.watch.pacing import Pacing
from kafka_audit.watch.suspicions import Observation, WatchFault

_VERSION = 1
_ENDPOINT = ("listener", "protocol", "host", "port")


@dataclass(frozen=True, kw_only=True)
class SavedWatch:
    """The state of a watch and its pacing."""

    state: WatchState = field(default_factory=WatchState)
    pacing: Pacing = field(default_factory=Pacing)


def encode_watch(saved: SavedWatch) -> bytes:
    """Return it as JSON; the order of brokers counts."""
    state = saved.state
    document = {
        "version": _VERSION,
        "at_ms": state.at_ms,
        "endpoints": {
            str(number): [[getattr(place, name) for name in _ENDPOINT] for place in places]
            for number, places in state.endpoints.items()
        },
        "known_ms": {str(number): since for number, since in state.known_ms.items()},
        "away_ms": {str(number): since for number, since in sorted(state.away_ms.items())},
        "epochs": state.epochs,
        "symptoms": {key: asdict(symptom) for key, symptom in sorted(state.symptoms.items())},
        "pacing": vars(saved.pacing) | {"audited": dict(sorted(saved.pacing.audited.items()))},
    }
    return (json.dumps(document) + "\n").encode()


def decode_watch(content: bytes) -> SavedWatch:
    """Return what `encode_watch` wrote; raises ValueError for anything else."""
    try:
        document = json.loads(content)
        if document["version"] != _VERSION:
            msg = f"version {document['version']}"
            raise ValueError(msg)
        state = WatchState(
            at_ms=int(document["at_ms"]),
            endpoints={int(number): _endpoints(int(number), places) for number, places in document["endpoints"].items()},
            known_ms={int(number): int(since) for number, since in document["known_ms"].items()},
            away_ms={int(number): int(since) for number, since in document["away_ms"].items()},
            epochs=tuple((int(at), int(epoch)) for at, epoch in document["epochs"]),
            symptoms={key: _symptom(symptom) for key, symptom in document["symptoms"].items()},
        )
        return SavedWatch(state=state, pacing=_pacing(document["pacing"]))
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        msg = f"not the state of a watch: {error}"
        raise ValueError(msg) from error


def _pacing(document: Mapping[str, Any]) -> Pacing:
    audited = {party: int(at) for party, at in document["audited"].items()}
    return Pacing(**{**document, "waiting": tuple(document["waiting"]), "audited": audited})


def _endpoints(number: int, places: list[list[Any]]) -> tuple[RegisteredEndpoint, ...]:
    return tuple(RegisteredEndpoint(sample=1, broker_id=number, **dict(zip(_ENDPOINT, place, strict=True))) for place in places)


def _symptom(document: Mapping[str, Any]) -> WatchSymptom:
    observation = dict(document["observation"])
    for name in ("missing", "elsewhere"):
        observation[name] = tuple(observation[name])
    if observation["ids"] is not None:
        observation["ids"] = tuple(observation["ids"])
    observation["fault"] = WatchFault(observation["fault"])
    return WatchSymptom(**{**document, "observation": Observation(**observation)})
