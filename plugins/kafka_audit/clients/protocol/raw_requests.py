"""Requests whose answers are left as bytes: equal answers of many brokers are then decoded once."""

from dataclasses import dataclass
from typing import Any


class RawRequest:
    """Wraps a request of kafka-python; has what its connection and parser use of one."""

    def __init__(self, request: Any, response: Any, api_key: int, version: int) -> None:  # noqa: ANN401 -- kafka-python's messages are untyped
        """Take a request of that key and version, and the class of its response, which reads the header."""
        self.name = type(request).__name__
        self.API_VERSION = version
        self._request = request
        self._response = response
        self._api_key = api_key

    def with_header(self, correlation_id: int, client_id: str) -> None:
        """Pass on."""
        self._request.with_header(correlation_id=correlation_id, client_id=client_id)

    def encode(self, *, framed: bool, header: bool) -> Any:  # noqa: ANN401 -- see above
        """Pass on."""
        return self._request.encode(framed=framed, header=header)

    @staticmethod
    def expect_response() -> bool:
        """Say yes."""
        return True

    @property
    def header(self) -> "_Header":
        """The part of a pending request that the parser keeps."""
        correlation = self._request.header.correlation_id
        return _Header(correlation_id=correlation, api_key=self._api_key, api_version=self.API_VERSION, response=self._response)


@dataclass(frozen=True, kw_only=True)
class _Header:
    correlation_id: int
    api_key: int
    api_version: int
    response: Any

    def get_response_class(self) -> "_Body":
        return _Body(self.response[self.api_version])


@dataclass(frozen=True)
class _Body:
    """Replaces a response class; reads the header and keeps the rest."""

    response: Any

    def parse_header(self, buffer: Any) -> Any:  # noqa: ANN401 -- see RawRequest
        return self.response.parse_header(buffer)

    @staticmethod
    def decode(buffer: Any) -> memoryview:  # noqa: ANN401 -- see RawRequest
        body: memoryview = buffer.rest()
        return body
