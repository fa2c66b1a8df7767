"""KRaft: the view of a broker no longer changes, or the broker is fenced, so it no longer follows its controllers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kafka_audit.incidents.causes import log_quotes
from kafka_audit.incidents.causes.controller.quorum import about_the_quorum
from kafka_audit.incidents.causes.repair import connect_commands_to, prove
from kafka_audit.incidents.causes.rule import (
    LOST_REPLICAS,
    VIEW,
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    changed_before,
    evidence_of,
    evidence_of_paths,
    evidence_of_reads,
    probes_behind,
)
from kafka_audit.model import quoting
from kafka_audit.model.commands import Command, command
from kafka_audit.model.finding import Confidence, Evidence, Finding, Severity, Status, Step
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import brokers, clean, fitting, listing, start_upper

CODES = ("KA101", "KA102", "KA105", "KA107", "KA210")
"""What an old view shows, the one that names the incident first; in KRaft brokers fetch their view, so all have one cause."""

_LOGIN, _RIGHT = "a refused login or handshake", "a missing right"
_NAMES = {_LOGIN: "login", _RIGHT: "unauthorised"}


def cases(case: Case) -> Iterable[Case]:
    """Take all old views as one fault; in ZooKeeper mode none."""
    roots = tuple(sorted((root for root in case.roots if not root.muted), key=lambda root: CODES.index(root.code)))
    return (replace(case, roots=roots),) if case.view.kraft and roots else ()


def followed_no_more(case: Case) -> Case:
    """Return the case whose roots are all unmuted old views of HIGH and above; no roots with ZooKeeper."""
    old = (
        f for f in case.findings if f.code in CODES and f.status is Status.FAIL and f.severity >= Severity.HIGH and not f.muted
    )
    return replace(case, roots=tuple(old) if case.view.kraft else ())


def at_either_end(case: Case, symptom: Finding) -> bool:
    """Explain cuts at the case's brokers, and those that were seen from their hosts alone: one cut, seen from its other end."""
    sources = set(symptom.numbers("from"))
    return at_the_broker(case, symptom) or (bool(sources) and sources <= set(case.brokers))


def story(case: Case) -> Story:
    """Return the story: who is behind, and what may keep it from its controllers."""
    broker_ids, single = case.brokers, len(case.brokers) == 1
    cut, rivals = _cuts(case), _rivals(case)
    left = [fault for fault, why in rivals.items() if why is None]
    sure = bool(cut) or not left
    leading = min((root.code for root in case.roots), key=CODES.index)
    to_know = (
        f"To know: {quoting.plain_prose(_connections(case)[:1])} on the host of {brokers(broker_ids)}, and the end of server.log "
        "there."
    )
    return Story(
        cause=leading,
        headline=_headline(case, leading, sure=sure, left=left),
        impact=f"Clients that ask {brokers(broker_ids)} receive stale metadata; "
        f"records that they write to {'it' if single else 'them'} "
        "as a former leader are refused or lost.",
        confidence=Confidence.INFERRED if sure else Confidence.SUSPECTED,
        why="The views were read. The connection from there to the controllers was not measured."
        + ("" if left else " Other causes with the same symptoms were ruled out."),
        speaks_for=(
            *evidence_of(case.roots),
            *evidence_of_reads(_not_passed_on(case), limit=3),
            *evidence_of_paths(probe for probe in probes_behind(case, cut) if probe.from_broker in case.brokers),
            *log_quotes.to_controllers(case),
            *changed_before(case, {"endpoint": "address", "config": "setting", "version": "version", "acl": "ACL"}),
        ),
        against=tuple(Evidence(observer="rival", text=f"{fault}: ruled out, {why}") for fault, why in rivals.items() if why),
        not_known=(
            f"Not known: whether {brokers(broker_ids)} {'reaches' if single else 'reach'} the controllers. {to_know}",
            *(f"Not known: whether {fault} is the cause. To know: server.log of {brokers(broker_ids)}." for fault in left),
        ),
        steps=_steps(case),
    )


def symptom_of(roots: Sequence[Finding], *, single: bool) -> str:
    """Return what the brokers of these findings show, by the first of `CODES` among them: `lags behind the metadata log`."""
    leading = min((root.code for root in roots), key=CODES.index)
    if leading == "KA105" and any(root.numbers("missing") for root in roots):
        return "misses brokers" if single else "miss brokers"
    return {
        "KA210": "lags behind the metadata log" if single else "lag behind the metadata log",
        "KA101": "names stale leaders" if single else "name stale leaders",
        "KA102": "misses leaders that are alive" if single else "miss leaders that are alive",
        "KA105": "is not listed by the others" if single else "are not listed by the others",
        "KA107": "does not list every topic" if single else "do not list every topic",
    }[leading]


def _headline(case: Case, leading: str, *, sure: bool, left: Sequence[str]) -> str:
    single = len(case.brokers) == 1
    subject, shows = start_upper(brokers(case.brokers)), symptom_of(case.roots, single=single)
    behind = f"{subject} no longer {'follows its' if single else 'follow their'} controllers"
    behind = behind if leading == "KA210" else f"{behind} and {shows}"
    if sure:
        they = "it cannot reach its" if single else "they cannot reach their"
        return fitting(
            [
                f"{behind}: most likely {'it' if single else 'they'} cannot reach them",
                f"{subject} {shows}: most likely {they} controllers",
                f"{subject} most likely cannot reach {'its' if single else 'their'} controllers",
            ]
        )
    names = listing(["unreachable", *(_NAMES[fault] for fault in left)]).replace(" and ", " or ")
    endings = (f"cause not decided: {names}", f"not decided: {names}", "cause not decided")
    return fitting([f"{text}; {ending}" for ending in endings for text in (behind, f"{subject} {shows}")])


def passes_no_question_on(case: Case, symptom: Finding) -> bool:
    """Explain a source that answered all but what it has to ask its controllers for."""
    return at_the_broker(case, symptom) and about_the_quorum(case, symptom)


def _not_passed_on(case: Case) -> list[SourceRead]:
    """Return the questions for the quorum that these brokers did not get answered by their controllers."""
    observers = {f"broker:{broker}" for broker in case.brokers}
    failed = (read for read in case.view.last_reads if read.outcome == "failed" and read.observer in observers)
    return [read for read in failed if read.operation == "DescribeQuorum"]


def _cuts(case: Case) -> list[Finding]:
    """Return what these brokers do not reach, as measured: who does not reach brokers may not reach controllers either."""
    cuts = (f for f in case.findings if f.code == "KA302" and f.status is Status.FAIL and f.confidence is Confidence.MEASURED)
    return [cut for cut in cuts if not set(cut.numbers("from")).isdisjoint(case.brokers)]


def _rivals(case: Case) -> Mapping[str, str | None]:
    """Return the causes with the symptoms of a cut, each with why it is ruled out, None if it is not."""
    authorizers = [case.view.inter_broker.authorizer(broker) for broker in case.brokers]
    protocols = {case.view.inter_broker.controller_protocol(broker) for broker in case.brokers}
    return {
        _LOGIN: "the controllers' listener is PLAINTEXT" if protocols == {"PLAINTEXT"} else None,
        _RIGHT: "there is no authorizer" if all(setting.state == "unset" for setting in authorizers) else None,
    }


def _controllers(case: Case) -> list[str]:
    return [*dict.fromkeys(address for broker in case.brokers for address in case.view.inter_broker.controllers(broker))]


def _connections(case: Case) -> tuple[Command, ...]:
    return connect_commands_to(_controllers(case)[:5]) or (command("nc -vz -w 3 CONTROLLER 9093"),)


def _steps(case: Case) -> tuple[Step, ...]:
    subject = brokers(case.brokers)
    named = f" ({listing((clean(controller) for controller in _controllers(case)), 3)})" if _controllers(case) else ""
    return (
        Step(
            kind="see",
            text=f"See it yourself on the host of {subject} (reads only).",
            commands=(
                *_connections(case),
                command("grep -iE 'controller|fenced|Authentication failed|handshake' server.log | tail -5"),
            ),
        ),
        Step(
            kind="quick",
            text=f"Allow connections from {subject} to the controllers{named}, or repair the error in server.log there; the view "
            "then catches up.",
        ),
        Step(kind="quick", text=f"Remove {subject} from the clients' bootstrap addresses until then."),
        prove(case),
    )


OF_BROKERS_BEHIND = (
    Explains(codes=(*VIEW, "KA210", "KA212", "KA303"), where=at_the_broker),
    Explains(codes=("KA302",), where=at_either_end),
    Explains(codes=("KA001",), where=passes_no_question_on),
    LOST_REPLICAS,
)
"""What shows at a broker that does not reach its controllers, whether the probe measured it or the views suggest it."""

BEHIND_CONTROLLERS = Cause(
    codes=CODES,
    meaning="a KRaft broker no longer follows its controllers",
    cases=cases,
    story=story,
    explains=OF_BROKERS_BEHIND,
)
