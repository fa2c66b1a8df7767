"""The verdicts of the reports before and after a change, how the commands end with each, and in which color it is shown."""

from kafka_audit.report import gate

GO, NO_GO = "go", "no-go"
AS_EXPECTED, NOT_AS_EXPECTED = "as expected", "not as expected"
NOT_DECIDED = "not decided"
EXIT_CODES = {
    GO: gate.CLEAN,
    AS_EXPECTED: gate.CLEAN,
    NO_GO: gate.FAILED,
    NOT_AS_EXPECTED: gate.FAILED,
    NOT_DECIDED: gate.UNCOVERED,
}
TONES = {GO: "ok", AS_EXPECTED: "ok", NO_GO: "critical", NOT_AS_EXPECTED: "critical"}
"""Classes of the style sheet; any other verdict is `unknown`."""
