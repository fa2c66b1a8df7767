"""The prepared views, in the order in which one builds on another."""

from kafka_audit.engine.prepared import changes, disagreement, looks, observers, past, paths, replication, suspicion
from kafka_audit.engine.view import View

VIEWS: tuple[View, ...] = (
    *looks.VIEWS,
    *observers.VIEWS,
    *disagreement.VIEWS,
    *past.VIEWS,
    *paths.VIEWS,
    *suspicion.VIEWS,
    *replication.VIEWS,
    *changes.VIEWS,
)
