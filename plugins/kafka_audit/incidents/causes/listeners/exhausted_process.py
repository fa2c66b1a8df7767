"""KA321: a broker ran out of memory or file handles: its port is open, and it does not answer, or not all of its threads work."""

from kafka_audit.incidents.causes import grouped
from kafka_audit.incidents.causes.rule import LOST_REPLICAS, Case, Cause, Explains, apart, at_the_broker, connection_opens
from kafka_audit.model.finding import Finding


def not_answered(case: Case, symptom: Finding) -> bool:
    """Explain an endpoint whose connection opens: what keeps it closed is no lack of the process."""
    return at_the_broker(case, symptom) and connection_opens(symptom)


EXHAUSTED = Cause(
    codes=("KA321",),
    meaning="a broker ran out of memory, file handles or memory maps, and its process stays up",
    cases=apart,
    story=grouped.story,
    explains=(
        Explains(codes=("KA301",), where=not_answered),
        Explains(codes=("KA001", "KA617"), where=at_the_broker),
        LOST_REPLICAS,
    ),
)
