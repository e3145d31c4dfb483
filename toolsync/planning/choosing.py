"""Which tools take part: those asked for or found on the machine, as the stores on it allow."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from toolsync import registry
from toolsync.errors import PlanRefusedError, UsageError
from toolsync.paths import candidates
from toolsync.plan import FilePlan
from toolsync.planning.claims import Claim, claims
from toolsync.planning.copies import addresses
from toolsync.planning.fitting import Scope, Skipped, ToolPlan, fitted, narrowed
from toolsync.planning.stores import Address, Shelf, has_its_store
from toolsync.planning.tracing import Notice
from toolsync.tool import Tool


def chosen(scope: Scope) -> tuple[list[ToolPlan], list[Skipped]]:
    """The tools that take part, and those that are left out.

    Raises:
        UsageError: an unknown tool is asked for, or there is none at all.
        TemplateError: there would be one, were its template right.
        PlanRefusedError: a store's chosen row and the file that it stands for would disagree.
        SecretError: see `fitted`.
        StoreError, FileError: a store that holds rows of ours cannot be read.
    """
    found, skipped = fitting(scope)
    plans = {plan.tool.name: plan for plan in found}
    needed = scope.remembered | plans.keys()
    for claim in claims(scope.shelves, scope.known, scope.profile.name, needed):
        left_out = _heeded(scope, claim, plans)
        if left_out is not None:
            skipped.append(replace(left_out, is_asked=left_out.tool.name in scope.wish.tools))
    return [narrowed(plan) for plan in plans.values()], skipped


def fitting(scope: Scope) -> tuple[list[ToolPlan], list[Skipped]]:
    """The tools that the profile serves, and those that it does not, whatever the stores say.

    Raises:
        UsageError: an unknown tool is asked for, or there is none at all.
        SecretError: see `fitted`.
    """
    plans: list[ToolPlan] = []
    skipped: list[Skipped] = []
    for tool in _candidates(scope):
        outcome = _storeless(scope, tool) or fitted(scope, tool)
        if isinstance(outcome, Skipped):
            skipped.append(replace(outcome, is_asked=bool(scope.wish.tools) and not outcome.holds_copy))
        else:
            plans.append(outcome)
    if not plans and not skipped and not switched_off(scope):
        for error in scope.known.broken.values():
            raise error
        raise UsageError(
            "none of the tools that toolsync knows is found on this machine",
            hint="`toolsync tools` lists them; `--tool NAME` applies one all the same.",
        )
    return plans, skipped


def _storeless(scope: Scope, tool: Tool) -> Skipped | None:
    """Why a tool without a file of its own cannot be set: the program that keeps its settings has none here."""
    if tool.name in scope.remembered or has_its_store(scope.session, tool):
        return None
    place = scope.session.shown(candidates(tool.files[0].path, scope.session.places)[0])
    return Skipped(tool, f"it is a row of a database, and {place} is not there", "Its program makes it when it starts.")


def switched_off(scope: Scope) -> set[str]:
    """Applied tools that the profile wants no more (`enabled = false`, no `paths`): they are given back."""
    if scope.wish.tools:
        return set()
    return {name for name in scope.remembered & scope.known.keys() if _is_off(scope, scope.known[name])}


def _candidates(scope: Scope) -> list[Tool]:
    if scope.wish.tools:
        return [registry.named(scope.known, name) for name in dict.fromkeys(scope.wish.tools)]
    return [tool for tool in scope.known.values() if _is_wanted(scope, tool)]


def _is_wanted(scope: Scope, tool: Tool) -> bool:
    if _is_off(scope, tool):
        return False
    if not has_its_store(scope.session, tool):
        return False
    is_named = any(row.each for row in tool.files)
    return is_named or tool.name in scope.remembered or registry.is_installed(tool, scope.session.places)


def _is_off(scope: Scope, tool: Tool) -> bool:
    overrides = scope.overrides(tool.name)
    is_named = any(row.each for row in tool.files)
    return overrides.get("enabled") is False or (is_named and not overrides.get("paths"))


# What a store says of other tools' files.


def _heeded(scope: Scope, claim: Claim, plans: dict[str, ToolPlan]) -> Skipped | None:
    """The plans as the claim allows them; the tool that it leaves out."""
    if claim.live == "added" or (claim.live == "ours" and not claim.tool):
        return _stale(claim, plans)
    if claim.live == "ours":
        _join(scope, claim, plans)
    if claim.live == "taken over" and claim.tool in plans:
        return _taken_over(claim, plans)
    return None


def _join(scope: Scope, claim: Claim, plans: dict[str, ToolPlan]) -> None:
    """A store's chosen row and the file that it stands for are planned together, or not at all.

    Where the store itself was not asked for, its other rows are not in question.
    """
    owner, tool = claim.owner.name, claim.tool
    if tool in plans and owner not in plans:
        plans[owner] = replace(_served(scope, claim, owner), apps=frozenset())
    if owner not in plans:
        return
    apps = plans[owner].apps
    if tool in plans and apps is not None:
        plans[owner] = replace(plans[owner], apps=apps | {claim.app})
    if tool not in plans and apps is None:
        plans[tool] = _served(scope, claim, tool)


def _served(scope: Scope, claim: Claim, name: str) -> ToolPlan:
    outcome = fitted(scope, scope.known[name])
    if isinstance(outcome, ToolPlan):
        return outcome
    titles = f"{scope.known[claim.tool].title} and {claim.owner.title}"
    raise PlanRefusedError(
        f"{titles} go together while our row for {claim.app} is chosen, and one cannot: {outcome.reason}",
        hint=outcome.hint or f"Choose another provider for {claim.app} in {claim.owner.title}, or allow both.",
    )


def _stale(claim: Claim, plans: dict[str, ToolPlan]) -> Skipped | None:
    """A chosen row whose file toolsync does not write: what stands there would go over the row at the next click."""
    if claim.owner.name not in plans:
        return None
    reason = "its row is the one that is chosen, and what is written there would be lost at the next click"
    hint = f"To set it anew, choose another provider for {claim.app} there first."
    if claim.live == "added":
        reason = f"its row is switched on, and CC Switch sets it by what stands in {claim.app}'s own file"
        hint = "To set it anew, switch it off there, apply, and switch it on."
    return Skipped(plans.pop(claim.owner.name).tool, reason, hint)


def _taken_over(claim: Claim, plans: dict[str, ToolPlan]) -> Skipped:
    owner = claim.owner.title
    reason = f"the local proxy of {owner} has taken its settings file over"
    is_row_set = claim.owner.name in plans
    row = f"Only the row in {owner} is set." if is_row_set else f"`--tool {claim.owner.name}` sets the row in {owner}."
    return Skipped(plans.pop(claim.tool).tool, reason, f"{row} For the file, stop the proxy, and apply again.")


def store_warnings(
    scope: Scope, plan: ToolPlan, planned: Collection[str], files: Iterable[FilePlan]
) -> tuple[Notice, ...]:
    """What the tool's store has to say before its rows are written, and the files that they stand for.

    Args:
        scope: whose stores.
        plan: the store's tool.
        planned: the tools whose own files are planned.
        files: what is planned.
    """
    shelf = scope.shelves.of(plan.tool, scope.profile.name)
    if shelf is None or not plan.tool.holds:
        return ()
    live = {row.app for row in plan.tool.files if row.of in planned}
    rows = {Address.parse(file.path).app for file in files if file.container == str(shelf.path) and file.is_change}
    taken = shelf.warnings(live, ())
    others = [text for text in shelf.warnings(live, rows) if text not in taken]
    hint = _way_around(plan.tool, live)
    return (
        *(Notice(plan.tool.title, text, hint) for text in taken),
        *(Notice(plan.tool.title, text) for text in others),
    )


def _way_around(store: Tool, live: Collection[str]) -> str:
    """How our values stay out of a row that is not ours."""
    files = " ".join(dict.fromkeys(row.of for row in store.files if row.of and row.app in live))
    return (
        f"The way around it: `toolsync undo {files}` where that is applied, `toolsync apply --tool {store.name}`, "
        "a click on our row there, `toolsync apply`."
    )


def parting_notices(tool: Tool, shelves: Iterable[Shelf], files: Collection[FilePlan]) -> tuple[Notice, ...]:
    """What the tool's store has to say before rows of it are taken away."""
    apps, said = {row.app for row in tool.files if row.part}, dict[str, None]()
    for shelf in shelves:
        places = [Address.parse(file.path) for file in files if file.container and file.is_change and not file.after]
        gone = {place.app for place in places if (place.path, place.profile) == (shelf.path, shelf.profile)}
        if gone & apps:
            said |= dict.fromkeys(shelf.parting(gone & apps, addresses(files)))
    return tuple(Notice(tool.title, text) for text in said)
