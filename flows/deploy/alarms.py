"""The alarms: what Prefect's server watches, as automations, and what it does. No server in sight.

How triggers count: prefect/server/events/triggers.py of Prefect 3.8. A proactive trigger whose `after` and
`expect` are one event begins its time anew with each; without `for_each` it begins when it is made.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from flows.deploy.deployments import TAG, DeployAction
from flows.run.events import (
    BLOCKED,
    FOLDER,
    FRESH,
    HELD,
    INCOMPLETE,
    LOGIN_EXPIRES,
    PUBLISHED,
    REFUSED,
    SOURCE,
    STALE,
    source_id,
)
from runtime.schedules import CENTURY, duration, longest_wait, moved
from schemas.source import Source

Automation = Mapping[str, Any]
"""An automation as Prefect's API has it: `name`, `description`, `trigger`, `actions`."""

PREFIX = "sitegraph: "
NO_PUBLISH = f"{PREFIX}no publish of "
LATE, CRASHED, FAILED, ZOMBIE = (f"{PREFIX}run {what}" for what in ("late", "crashed", "failed", "lost"))
PUBLISH_HELD, SOURCE_BLOCKED, SOURCE_STALE, SOURCE_INCOMPLETE, LOGIN_ENDS = (
    f"{PREFIX}{what}"
    for what in ("publish held", "source blocked", "source stale", "source incomplete", "login expires")
)

SHORTEST = 10.0
"""Seconds; Prefect takes no proactive trigger of less."""

A_DAY = 86_400.0
_RUNS = {"prefect.resource.id": "prefect.flow-run.*"}
_EVENTS = {"prefect.resource.id": ["sitegraph.index.*", "sitegraph.source.*"]}
_OURS = {"prefect.resource.role": "tag", "prefect.resource.id": f"prefect.tag.{TAG}"}
_ENDED = ("Completed", "Failed", "Refused", "Stopped", "Crashed", "Cancelling", "Cancelled")
_WAITING = ("AwaitingConcurrencySlot", "AwaitingRetry", "Suspended", "Paused", "Scheduled")
_WENT_ON = ("Pending", "Running", *_ENDED, *_WAITING)
_RUN = "{{ deployment.name }} (flow run {{ flow_run.name }})"
_SAID = f"{{{{ event.resource['{SOURCE}'] }}}}: {{{{ event.payload.reason }}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notify:
    """The block that carries a message; a Webhook is called, any other is asked to notify."""

    block_id: str
    webhook: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmOptions:
    """Seconds until a run is late, lost without heartbeat, or a publish held too long; whom to tell."""

    late_after: float = 900.0
    lost_after: float = 600.0
    held_after: float = 6 * 3600.0
    notify: Notify | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmAction:
    """What to do about one automation."""

    action: DeployAction
    name: str
    automation: Automation | None = None
    id: str | None = None


def alarms(
    sources: Iterable[Source], options: AlarmOptions, *, index: str | None = None
) -> tuple[Automation, ...]:
    """All automations: those for every source together, and the dead-man's alarm of each.

    *index* is the folder of the sources' index, absolute; None: as the worker's settings say.
    """
    each = (no_publish(source, options, index=index) for source in sources)
    return (*_shared(options), *(one for one in each if one is not None))


def _shared(options: AlarmOptions) -> tuple[Automation, ...]:
    late, lost, held = map(duration, (options.late_after, options.lost_after, options.held_after))
    crash = {
        "type": "change-flow-run-state",
        "state": "CRASHED",
        "name": "Crashed",
        "message": f"No heartbeat for {lost}.",
    }
    # Our own events, of each source in each index by itself.
    ours = partial(_trigger, match=_EVENTS, for_each=[SOURCE, FOLDER])
    alarm = partial(_alarm, notify=options.notify)
    return (
        alarm(LATE, f"waits for a worker for {late}: {_RUN}", _absent("Late", _WENT_ON, options.late_after)),
        alarm(CRASHED, f"its process ended: {_RUN}", _state("Crashed")),
        alarm(FAILED, f"it failed: {_RUN}: {{{{ flow_run.state.message }}}}", _state("Failed")),
        {
            "name": ZOMBIE,
            "description": f"No heartbeat for {lost}: the run is marked crashed.",
            "trigger": _absent("heartbeat", ("heartbeat", *_ENDED, *_WAITING), options.lost_after),
            "actions": [crash],
        },
        alarm(
            PUBLISH_HELD,
            f"nothing could be published for {held}: {_SAID}",
            ours([PUBLISHED, FRESH], after=[HELD, REFUSED], within=options.held_after, proactive=True),
        ),
        alarm(SOURCE_BLOCKED, f"the site refuses us: {_SAID}", ours([BLOCKED], within=A_DAY)),
        alarm(SOURCE_STALE, f"older than promised: {_SAID}", ours([STALE], within=A_DAY)),
        alarm(LOGIN_ENDS, f"log in again: {_SAID}", ours([LOGIN_EXPIRES], within=A_DAY)),
        alarm(SOURCE_INCOMPLETE, f"less of it is indexed: {_SAID}", ours([INCOMPLETE], within=A_DAY)),
    )


def no_publish(source: Source, options: AlarmOptions, *, index: str | None = None) -> Automation | None:
    """The dead-man's alarm: nobody has said for too long that the source is fresh in that index.

    None: it has neither a schedule that fires again and again nor an SLO.
    """
    within = window(source)
    if within is None:
        return None
    one = {"prefect.resource.id": source_id(source.name), **({FOLDER: index} if index else {})}
    trigger = _trigger([FRESH], after=[FRESH], match=one, within=within, proactive=True)
    text = f"no run of {source.name} has ended well for {duration(within)}"
    return _alarm(f"{NO_PUBLISH}{source.name}", text, trigger, notify=options.notify)


def window(source: Source) -> float | None:
    """How long a source may be without a run that ended well: its SLO, else so many runs of its schedule."""
    slo = source.freshness.slo
    wait = slo if slo is not None else _longest_wait(source, runs=source.freshness.missed_runs)
    return None if wait is None else min(max(wait, SHORTEST), CENTURY)


def _longest_wait(source: Source, *, runs: int) -> float | None:
    return longest_wait([moved(one, source.name) for one in source.schedule], runs=runs)


def unwatched(source: Source) -> str | None:
    """Say why a source has no dead-man's alarm, if it has none."""
    if window(source) is not None:
        return None
    why = "no schedule of it fires a second time" if source.schedule else "it has no schedule"
    if source.schedule and not any(one.active for one in source.schedule):
        why = "its schedule is switched off"
    return f"{source.name}: no dead-man's alarm: {why}, and it has no freshness.slo"


def paused_unwatched(names: Iterable[str], found: Collection[str], named: Collection[str]) -> Iterator[str]:
    """Say of deployments that a person paused, named or with an alarm that was found, that nobody watches."""
    for name in sorted(names):
        if name in named or f"{NO_PUBLISH}{name}" in found:
            yield (
                f"{name}: no dead-man's alarm: it was paused by hand, and resuming it in Prefect makes none; "
                "then run sitegraph deploy again"
            )


def too_short(source: Source) -> str | None:
    """Say that an SLO is missed between any two runs of the schedule, however well they go."""
    between = _longest_wait(source, runs=1)
    if source.freshness.slo is None or between is None or source.freshness.slo > between:
        return None
    slo, gap = duration(source.freshness.slo), duration(between)
    return (
        f"{source.name}: freshness.slo is {slo}, and its runs begin up to {gap} apart, so it will be missed; "
        "let it run more often, or make slo longer"
    )


def decide_alarms(
    desired: Mapping[str, Automation],
    found: Mapping[str, tuple[str, Automation]],
    *,
    gone: Collection[str] = (),
) -> tuple[AlarmAction, ...]:
    """Say what makes the automations that were found (id and content by name) those that are desired.

    *gone* are names of sources that run no longer; other automations are left alone.
    """
    actions = []
    for name, automation in desired.items():
        id_, before = found.get(name, (None, None))
        changed = DeployAction.UNCHANGED if before == automation else DeployAction.UPDATE
        action = DeployAction.CREATE if before is None else changed
        actions.append(AlarmAction(action=action, name=name, automation=automation, id=id_))
    for name in sorted({f"{NO_PUBLISH}{source}" for source in gone} & found.keys() - desired.keys()):
        actions.append(AlarmAction(action=DeployAction.DELETE, name=name, id=found[name][0]))
    return tuple(actions)


def options_found(found: Mapping[str, tuple[str, Automation]]) -> AlarmOptions:
    """The options that the automations on the server were made with, as far as they can be told."""
    times: dict[str, Any] = {}
    for key, name in (("late_after", LATE), ("lost_after", ZOMBIE), ("held_after", PUBLISH_HELD)):
        _, automation = found.get(name, ("", {}))
        if isinstance(within := automation.get("trigger", {}).get("within"), int | float):
            times[key] = float(within)
    told = found[CRASHED][1].get("actions", ()) if CRASHED in found else ()
    blocks = [
        Notify(block_id=action["block_document_id"], webhook=action["type"] == "call-webhook")
        for action in told
        if action.get("block_document_id")
    ]
    return AlarmOptions(**times, notify=blocks[0] if blocks else None)


def _alarm(name: str, text: str, trigger: Mapping[str, Any], *, notify: Notify | None) -> Automation:
    return {"name": name, "description": "", "trigger": trigger, "actions": [_tell(name, text, notify)]}


def _tell(name: str, text: str, notify: Notify | None) -> Mapping[str, Any]:
    """Without a block the alarm shows in the events of Prefect, and nowhere else."""
    if notify is None:
        return {"type": "do-nothing"}
    if notify.webhook:
        quoted = f'{{"alarm": "{name}", "text": {{{{ message|tojson }}}}}}'
        payload = f"{{% set message %}}{text}{{% endset %}}{quoted}"
        return {"type": "call-webhook", "block_document_id": notify.block_id, "payload": payload}
    return {
        "type": "send-notification",
        "block_document_id": notify.block_id,
        "subject": name,
        "body": f"{name}\n{text}",
    }


def _state(name: str) -> Mapping[str, Any]:
    """A run of ours that comes into a state."""
    return _trigger([f"prefect.flow-run.{name}"], match=_RUNS, related=_OURS)


def _absent(after: str, expect: Sequence[str], within: float) -> Mapping[str, Any]:
    """A run of ours, of which after one event none of others comes in time."""
    return _trigger(
        [f"prefect.flow-run.{name}" for name in expect],
        after=[f"prefect.flow-run.{after}"],
        match=_RUNS,
        related=_OURS,
        for_each=["prefect.resource.id"],
        within=within,
        proactive=True,
    )


def _trigger(
    expect: Sequence[str],
    *,
    match: Mapping[str, Any],
    after: Sequence[str] = (),
    related: Mapping[str, Any] | None = None,
    for_each: Sequence[str] = (),
    within: float = 0.0,
    proactive: bool = False,
) -> Mapping[str, Any]:
    return {
        "type": "event",
        "match": match,
        "match_related": related or {},
        "after": list(after),
        "expect": list(expect),
        "for_each": list(for_each),
        "posture": "Proactive" if proactive else "Reactive",
        "threshold": 1,
        "within": max(within, SHORTEST) if proactive else within,
    }
