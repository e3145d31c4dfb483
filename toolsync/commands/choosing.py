"""Which tools take part: those asked for or found on the machine, as the stores on it allow."""

from __future__ import annotations

from dataclasses import replace

from toolsync import registry
from toolsync.commands import stores
from toolsync.commands.fitting import Scope, Skipped, ToolPlan, fitted
from toolsync.commands.stores import Claim
from toolsync.commands.tracing import Notice
from toolsync.errors import PlanRefusedError, UsageError
from toolsync.tool import Tool


def chosen(scope: Scope) -> tuple[list[ToolPlan], list[Skipped]]:
    """The tools that take part, and those that are left out.

    Raises:
        UsageError: an unknown tool is asked for, or there is none at all.
        TemplateError: there would be one, were its template right.
        PlanRefusedError: a store's chosen row and the file that it stands for would disagree.
        SecretError: see `fitted`.
    """
    found, skipped = fitting(scope)
    plans = {plan.tool.name: plan for plan in found}
    for claim in stores.claims(scope.session, scope.known, scope.profile.name):
        if claim.live == "ours":
            _join(scope, claim, plans)
        elif claim.live == "taken over" and claim.tool in plans:
            skipped.append(_taken_over(scope, claim, plans.pop(claim.tool).tool))
    return [_warned(scope, tool, set(plans)) for tool in plans.values()], skipped


def fitting(scope: Scope) -> tuple[list[ToolPlan], list[Skipped]]:
    """The tools that the profile serves, and those that it does not, whatever the stores say.

    Raises:
        UsageError: an unknown tool is asked for, or there is none at all.
        SecretError: see `fitted`.
    """
    plans: list[ToolPlan] = []
    skipped: list[Skipped] = []
    for tool in _candidates(scope):
        outcome = fitted(scope, tool)
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
    if tool.store and stores.container(scope.session, tool.files[0]) is None:
        return False
    is_named = any(row.each for row in tool.files)
    return is_named or tool.name in scope.remembered or registry.is_installed(tool, scope.session.places)


def _is_off(scope: Scope, tool: Tool) -> bool:
    overrides = scope.overrides(tool.name)
    is_named = any(row.each for row in tool.files)
    return overrides.get("enabled") is False or (is_named and not overrides.get("paths"))


# What a store says of other tools' files.


def _join(scope: Scope, claim: Claim, plans: dict[str, ToolPlan]) -> None:
    """A store's chosen row and the file that it stands for are planned together, or not at all."""
    for one, other in ((claim.tool, claim.store_tool), (claim.store_tool, claim.tool)):
        if one not in plans or other in plans:
            continue
        outcome = fitted(scope, scope.known[other])
        if isinstance(outcome, Skipped):
            titles = f"{scope.known[one].title} and {scope.known[other].title}"
            raise PlanRefusedError(f"{titles} go together here, and one cannot: {outcome.reason}", hint=outcome.hint)
        plans[other] = outcome


def _taken_over(scope: Scope, claim: Claim, tool: Tool) -> Skipped:
    owner = scope.known[claim.store_tool].title
    reason = f"the local proxy of {owner} has taken its settings file over; only the row there is set"
    hint = f"Stop the proxy in {owner}, then apply again."
    return Skipped(tool, reason, hint, is_asked=bool(scope.wish.tools))


def _warned(scope: Scope, plan: ToolPlan, planned: set[str]) -> ToolPlan:
    """The plan with what its store has to say."""
    if not plan.tool.store:
        return plan
    texts = stores.warnings(scope.session, plan.tool, scope.profile.name, planned)
    notices = tuple(Notice(plan.tool.title, f"{plan.tool.title}: {text}") for text in texts)
    return replace(plan, notices=(*plan.notices, *notices))
