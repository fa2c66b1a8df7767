"""The app as the API server mounts it: every process of Airflow loads plugins, and only that one needs FastAPI and templates."""

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


@functools.cache
def _app() -> "ASGIApp":
    from kafka_audit.airflow.page.routes import app  # noqa: PLC0415 -- the import is deferred on purpose

    return app


class DeferredApp:
    """An ASGI app that is made when it is first called."""

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass a call on."""
        await _app()(scope, receive, send)
