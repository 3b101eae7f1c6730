"""Scopes that must not exist. Every line marked `error` has to be one, and no other line may be."""

from vault_ask.scope import OpenScope, PrivateScope, Scope, Sensitivity, decide, may_leave

PrivateScope(web_allowed=True)  # error: call-arg
PrivateScope().web_allowed = True  # error: attr-defined
OpenScope()  # error: call-arg
OpenScope(web_allowed=False).web_allowed = True  # error: misc
OpenScope(web_allowed=True, ceiling=Sensitivity.PERSONAL)  # error: call-arg


class Third(PrivateScope):  # error: misc
    """A scope that sees everything and may search the web."""

    web_allowed = True


def search_the_web(scope: OpenScope) -> bool:
    return scope.web_allowed


search_the_web(PrivateScope())  # error: arg-type
search_the_web(decide(include_personal=False, allow_web=True, ceiling=Sensitivity.OPEN))  # error: arg-type


def web_beside(scope: Scope) -> bool:
    return scope.web_allowed  # error: union-attr


decide(allow_web=True, ceiling=Sensitivity.PERSONAL)  # error: call-arg
decide(True, True, Sensitivity.PERSONAL)  # noqa: FBT003 - the very thing to refuse  # error: call-arg
may_leave(Sensitivity.PERSONAL)  # error: call-arg
