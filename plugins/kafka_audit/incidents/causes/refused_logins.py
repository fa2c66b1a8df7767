"""KA001: brokers that refuse the auditor's login, or whose SCRAM is not to be trusted; and who accepted the same login."""

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.cluster.answers.reads import (
    addresses_of,
)
from kafka_audit.incidents.causes.repair import do_not, prove
from kafka_audit.incidents.causes.rule import Case, Cause, Explains, Story, at_the_broker, evidence_of
from kafka_audit.incidents.causes.unread_sources import (
    brokers_of,
    evidence_of_failed_reads,
    failed_reads,
    headline_with_names,
    roots_of_brokers,
)
from kafka_audit.model.commands import Command, command
from kafka_audit.model.finding import Evidence, Finding, Step
from kafka_audit.model.read_failure import LOGIN_REFUSALS, ReadFailure
from kafka_audit.model.text import brokers, fitting, listing, start_upper

_WRITE_AGAIN = command(
    "kafka-configs.sh --bootstrap-server BROKER:9092 --command-config admin.properties --alter "
    "--add-config 'SCRAM-SHA-512=[iterations=8192,password=PASSWORD]' --entity-type users --entity-name AUDITOR"
)
_SHOWN = 3


def doubtful(case: Case) -> Iterable[Case]:
    """Take the brokers where the auditor ended its login as one fault for each reason."""
    for failure in (ReadFailure.SCRAM_WEAK, ReadFailure.SCRAM_NOT_VERIFIED):
        roots = tuple(
            root for root in roots_of_brokers(case) if any(read.failure is failure for read in failed_reads(case, root))
        )
        if roots:
            yield replace(case, roots=roots)


def logins(case: Case) -> Iterable[Case]:
    """Take the brokers that refuse the auditor's login, and those where it was not tried therefore, as one fault: one account."""
    roots = tuple(root for root in roots_of_brokers(case) if _refuses(case, root) or _is_paused(case, root))
    return (replace(case, roots=roots),) if roots else ()


def _refuses(case: Case, root: Finding) -> bool:
    return any(read.failure in LOGIN_REFUSALS for read in failed_reads(case, root))


def _is_paused(case: Case, root: Finding) -> bool:
    return any(read.failure is ReadFailure.LOGIN_PAUSED for read in failed_reads(case, root))


def accepting(case: Case) -> tuple[int, ...]:
    """Return the brokers that let the auditor in with the same user and password."""
    return tuple(sorted({broker for root in case.roots for broker in root.numbers("accepted_by")} - {*case.brokers}))


def _acceptance(case: Case) -> tuple[Evidence, ...]:
    """Return as evidence who accepted the same login, and where."""
    others = accepting(case)
    if not others:
        return ()
    where = listing(sorted({listener for root in case.roots for listener in root.texts("accepted_at")}), _SHOWN)
    return (Evidence(observer=brokers(others), text=f"accepted the same user and password at listener {where}"),)


def login_story(case: Case) -> Story:
    """Return the story that the auditor is not let in, by all brokers or by some."""
    refusing = replace(case, roots=tuple(root for root in case.roots if _refuses(case, root)) or case.roots)
    paused = tuple(root for root in case.roots if root not in refusing.roots)
    return _story_of_some(refusing) if accepting(case) and not paused else _story_of_all(case, refusing, paused)


def _story_of_all(case: Case, refusing: Case, paused: tuple[Finding, ...]) -> Story:
    verb = "refuses" if len(refusing.roots) == 1 else "refuse"
    untried = f" The login was not tried at {brokers_of(replace(case, roots=paused))}." if paused else ""
    reason = " No broker accepted the login, and more refusals could lock the account." if paused else ""
    subject = brokers_of(case)
    return Story(
        headline=start_upper(headline_with_names(refusing, f"{{}} {verb} the auditor: it cannot log in")),
        impact=f"Checks that need the view of {subject} are inconclusive. It is unknown whether clients can log in.{untried}",
        confidence=case.confidence(),
        why=f"The brokers themselves answered so.{reason}",
        speaks_for=evidence_of_failed_reads(case) or evidence_of(case.roots),
        not_known=("Not known: whether the account is wrong here or was removed there. To know: the command below.",),
        steps=(
            Step(kind="see", text="See it yourself (reads only), with the auditor's account.", commands=tuple(_log_in(refusing))),
            Step(
                kind="quick",
                text="Correct `security` in the cluster file, or the environment variable or Airflow connection that it names.",
            ),
            prove(case),
        ),
    )


def _story_of_some(case: Case) -> Story:
    """Return the story that brokers refuse a login that others accept: the fault is theirs."""
    subject, others, single = brokers_of(case), accepting(case), len(case.roots) == 1
    verb = "refuses" if single else "refuse"
    known = f"{brokers(others)} accept{'s' if len(others) == 1 else ''}"
    yours = "it is your broker" if single else "they are your brokers"
    return Story(
        headline=fitting(
            [
                start_upper(f"{subject} {verb} the login that {known}"),
                start_upper(headline_with_names(case, f"{{}} {verb} the login that other brokers accept")),
            ]
        ),
        impact=f"Checks that need the view of {subject} are inconclusive. Clients with this login are refused there as well.",
        confidence=case.confidence(),
        why=f"The same user and password let the auditor in at {brokers(others)}, so they are right.",
        speaks_for=(*_acceptance(case), *(evidence_of_failed_reads(case) or evidence_of(case.roots))),
        not_known=(f"Not known: whether {yours}. To know: which process listens there, on its own host.",),
        steps=(
            _see_process(case),
            Step(
                kind="see",
                text="See the refusal yourself (reads only), with the auditor's account.",
                commands=tuple(_log_in(case)),
            ),
            Step(
                kind="quick",
                text=f"If {yours}: with SCRAM, restart the broker, so that it reads all credentials again; with PLAIN, add the "
                "user to the JAAS configuration of that listener there, and restart the broker.",
            ),
            do_not("change the auditor's password: it is right, and the others would refuse the new one."),
            prove(case),
        ),
    )


def doubtful_story(case: Case) -> Story:
    """Return the story that what answers as a broker is not to be trusted with the password."""
    reads = [read for root in case.roots for read in failed_reads(case, root)]
    read = next(read for read in reads if read.failure in {ReadFailure.SCRAM_WEAK, ReadFailure.SCRAM_NOT_VERIFIED})
    weak, single = read.failure is ReadFailure.SCRAM_WEAK, len(case.roots) == 1
    reason = "its SCRAM is too weak" if weak else "its SCRAM is not verified"
    sent = "No proof of the password was sent." if weak else "A proof of the password may have been sent."
    others = accepting(case)
    return Story(
        headline=headline_with_names(
            case, f"The auditor ended its login at {{}}: {reason if single else reason.replace('its', 'their')}"
        ),
        impact=f"The {'view' if single else 'views'} of {brokers_of(case)} {'is' if single else 'are'} unknown. {sent}",
        confidence=case.confidence(),
        why="The auditor checked what the other end sent"
        + (f"; {brokers(others)} accepted the same user and password." if others else "."),
        speaks_for=(*_acceptance(case), *(evidence_of_failed_reads(case) or evidence_of(case.roots))),
        not_known=("Not known: whether these are your brokers. To know: which process listens there, on its own host.",),
        steps=(
            _see_process(case),
            Step(
                kind="quick",
                text="If it is your broker, write the auditor's SCRAM credential again, with 4096 to 16384 iterations.",
                commands=(_WRITE_AGAIN,),
            ),
            Step(
                kind="quick",
                text="If it is not, find out why the cluster lists it"
                + (", and change the auditor's password: it can be guessed from the proof." if not weak else "."),
            ),
            prove(case),
        ),
    )


def _see_process(case: Case) -> Step:
    ports = dict.fromkeys(
        port for root in case.roots for read in failed_reads(case, root) for _, port in addresses_of(read.target)
    )
    return Step(
        kind="see",
        text="See on that host which process listens there (reads only).",
        commands=tuple(command("ss -ltnp 'sport = :{port}'", port=port) for port in [*ports][:_SHOWN]),
    )


def _log_in(case: Case) -> Iterable[Command]:
    addresses = dict.fromkeys(read.target for root in case.roots for read in failed_reads(case, root))
    for address in list(addresses)[:_SHOWN]:
        template = "kafka-broker-api-versions.sh --bootstrap-server {address} --command-config client.properties"
        yield command(template, address=address)


DOUBTFUL_LOGIN = Cause(
    codes=("KA001",),
    meaning="the party at the address of a broker requests a weak SCRAM proof, or does not prove that it has the credential",
    cases=doubtful,
    story=doubtful_story,
    explains=(Explains(codes=("KA301", "KA002"), where=at_the_broker),),
)

LOGIN_REFUSED = Cause(
    codes=("KA001",),
    meaning="brokers do not accept the auditor's login",
    cases=logins,
    story=login_story,
    explains=(Explains(codes=("KA301", "KA002"), where=at_the_broker),),
)
