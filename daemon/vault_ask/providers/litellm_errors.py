"""What went wrong with a model, from litellm's many errors to our three, in words that name no address and no key."""

from dataclasses import dataclass

from vault_ask.errors import ModelBusy, ModelError, ModelRefused, ModelUnreachable

_NOT_FOUND = 404
_TOO_LARGE = 413
_TIMED_OUT = frozenset({408, 504})
_KEY_REFUSED = frozenset({401, 403})
_BUSY = frozenset({429, 503, 529})
_SERVER_FAULT = 500


@dataclass(frozen=True, slots=True)
class Advice:
    """What the owner is told to look at: the settings of a model's name and time, and what helps with a long text."""

    model: str = "models.generation"
    timeout: str = "models.timeout_seconds"
    shorten: str = "Lower models.context_tokens or ask a shorter question."


ANSWERING = Advice()


def as_model_error(  # noqa: PLR0911 # one a kind of error
    error: Exception, model: str, *, begun: bool, advice: Advice = ANSWERING
) -> ModelError:
    """Translate an error of litellm, or of an HTTP client below it; the error's own text is never repeated.

    `begun` tells that part of an answer had come: whatever ends it then, asking again may help.
    """
    if ours := _ours(error):
        return ours
    provider, _, name = model.partition("/") if "/" in model else ("openai", "", model)
    kind, status = type(error).__name__, _status(error)
    if begun and "Timeout" not in kind:
        return ModelUnreachable(f"{model} broke off, so the answer is not complete. Try again.")
    if kind == "ContextWindowExceededError" or status == _TOO_LARGE:
        return ModelRefused(f"{model} cannot read so much at once. {advice.shorten}")
    if status in _KEY_REFUSED:
        variable = f"{provider.removesuffix('_chat').upper()}_API_KEY"
        return ModelRefused(f"{model} refused the key it was given. Set {variable} in the daemon's environment.")
    if status == _NOT_FOUND:
        how = f" Run `ollama pull {name}`." if provider.startswith("ollama") else f" Check {advice.model}."
        return ModelRefused(f"The server has no model called {name}.{how}")
    if status in _BUSY:
        return ModelBusy(f"{model} has too much to do just now. Try again in a while.")
    if "Timeout" in kind or status in _TIMED_OUT:
        return ModelUnreachable(f"{model} did not answer in time. Try again, or raise {advice.timeout}.")
    if status is not None and status < _SERVER_FAULT:
        return ModelRefused(f"{model} did not accept the request ({status}). Check {advice.model} and its server.")
    return ModelUnreachable(
        f"{model} could not be reached or failed before it answered. Try again, or look at its server."
    )


def _ours(error: BaseException | None) -> ModelError | None:
    """Find what we raised ourselves below litellm, such as a refusal to connect, under the errors made of it."""
    for _ in range(12):
        if error is None or isinstance(error, ModelError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _status(error: Exception) -> int | None:
    """Find the HTTP status of an error or of what it wraps."""
    inner: BaseException | None = error
    for _ in range(5):
        if inner is None:
            return None
        original = getattr(inner, "original_exception", None)
        status = getattr(inner, "status_code", None)
        if isinstance(status, int) and not isinstance(original, BaseException):
            return status
        inner = original if isinstance(original, BaseException) else inner.__cause__
    return None
