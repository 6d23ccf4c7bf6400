"""From what somebody names to a proposal: look, then decide."""

from collections.abc import Sequence
from dataclasses import replace

from schemas.errors import ConfigError
from schemas.settings import Settings
from sitegraph.cli.starting.guess import guess, guessed_source
from sitegraph.cli.starting.look import Say, look_at_files, look_at_site
from sitegraph.cli.starting.proposal import Proposal, propose_files, propose_site
from sitegraph.cli.starting.target import Target, TargetKind, make_name


def propose(target: Target, settings: Settings, *, allow_private: Sequence[str], say: Say) -> Proposal:
    """Look at a target and return what to write for it.

    Raises: GuardRefused: it is unavailable, or there is nothing in it; ConfigError: it is no repository.
    """
    if target.is_url and target.kind is not TargetKind.REPOSITORY:
        return propose_site(target, look_at_site(target, settings, allow_private=allow_private, say=say))
    plain = guess(target, index=settings.index, allow_private=allow_private)
    look = look_at_files(target, guessed_source(plain), settings, say=say)
    proposal = propose_files(target, look)
    excludes = (*plain.excludes, *proposal.excludes)
    return replace(proposal, allow_private=plain.allow_private, excludes=excludes)


def check_name(target: Target, name: str | None) -> Target:
    """Return the target under the name that was asked for. Raises: ConfigError: no source may have it."""
    if name is None:
        return target
    if make_name(name) != name:
        raise ConfigError(
            "must be up to 64 letters, digits, '.', '_' and '-', and begin with a letter or digit",
            subject="--name",
        )
    return replace(target, name=name)
