"""Each address of an advertised name, as a vantage found it, over both samples."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from kafka_audit.model.addresses.name_addresses import taken_in_vain
from kafka_audit.model.tables import AddressProbe


@dataclass(frozen=True, kw_only=True)
class NameAddress:
    """An address in the newest sample. `vain`: it leads nowhere or to another broker; `lasting`: as in the sample before."""

    row: AddressProbe
    count: int  # of addresses that the vantage probed
    vain: bool
    lasting: bool

    @property
    def place(self) -> str:
        """Where the probe started."""
        return self.row.vantage if self.row.from_broker is None else f"broker {self.row.from_broker}'s host"

    @property
    def text(self) -> str:
        """What is there."""
        if self.row.outcome == "ok":
            return f"broker {self.row.answered_by} answers at {self.row.address}"
        return f"{self.row.layer} failed with {self.row.error or 'an unknown error'} at {self.row.address}"


def name_addresses(now: Iterable[AddressProbe], before: Iterable[AddressProbe], moved: frozenset[int]) -> tuple[NameAddress, ...]:
    """Return the addresses of the newest sample; `moved`: brokers registered differently before."""
    rows = list(now)
    counts = Counter((row.vantage, row.from_broker, row.broker_id, row.listener) for row in rows)
    vain, earlier = {*map(_found, taken_in_vain(rows))}, {*map(_found, taken_in_vain(before))}
    return tuple(
        NameAddress(
            row=row,
            count=counts[row.vantage, row.from_broker, row.broker_id, row.listener],
            vain=_found(row) in vain,
            lasting=_found(row) in vain & earlier and row.broker_id not in moved,
        )
        for row in rows
    )


def _found(row: AddressProbe) -> tuple[object, ...]:
    return (row.vantage, row.from_broker, row.broker_id, row.listener, row.address, row.layer, row.failure, row.answered_by)
