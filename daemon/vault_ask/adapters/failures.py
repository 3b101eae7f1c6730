"""How a failure is told to a caller: one table from our errors to HTTP status, code and whether to try again.

Knows the tree of errors and the two shapes a failure travels in (a JSON body, the last event of a stream). Says
nothing about what was asked: logs carry the kind of an unexpected failure, never its words.
"""

from dataclasses import dataclass
from http import HTTPStatus

import structlog
from fastapi.responses import JSONResponse

from vault_ask import errors
from vault_ask.answering.collect import INCOMPLETE
from vault_ask.wire import ErrorEvent, ErrorResponse

RETRY_AFTER_SECONDS = 5
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Failure:
    """What a caller is told besides the sentence. `retry`: the same request may succeed later."""

    status: HTTPStatus
    code: str
    retry: bool = False


UNEXPECTED = Failure(HTTPStatus.INTERNAL_SERVER_ERROR, "unexpected")
UNEXPECTED_SENTENCE = "Something went wrong inside vault-ask; nothing was changed, and the daemon's log names the kind."

FAILURES: dict[type[errors.VaultAskError], Failure] = {
    errors.BadRequest: Failure(HTTPStatus.BAD_REQUEST, "bad_request"),
    errors.NoSuchNote: Failure(HTTPStatus.NOT_FOUND, "no_such_note"),
    errors.DocumentVanished: Failure(HTTPStatus.NOT_FOUND, "no_such_note"),
    errors.ModelUnreachable: Failure(HTTPStatus.SERVICE_UNAVAILABLE, "model_unreachable", retry=True),
    errors.ModelBusy: Failure(HTTPStatus.SERVICE_UNAVAILABLE, "model_busy", retry=True),
    errors.ModelRefused: Failure(HTTPStatus.BAD_GATEWAY, "model_refused"),
    errors.ModelError: Failure(HTTPStatus.BAD_GATEWAY, "model_failed", retry=True),
    errors.SourceUnreachable: Failure(HTTPStatus.SERVICE_UNAVAILABLE, "source_unreachable", retry=True),
    errors.SourceError: Failure(HTTPStatus.SERVICE_UNAVAILABLE, "source_refused"),
    errors.IndexBusy: Failure(HTTPStatus.SERVICE_UNAVAILABLE, "index_busy", retry=True),
    errors.ConfigError: Failure(HTTPStatus.INTERNAL_SERVER_ERROR, "not_configured"),
    errors.VaultAskError: Failure(HTTPStatus.INTERNAL_SERVER_ERROR, "failed"),
}
_STATUS_OF_CODE = {failure.code: failure.status for failure in FAILURES.values()} | {
    INCOMPLETE.code: HTTPStatus.BAD_GATEWAY,
    "question_too_long": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
}


def failure_of(error: Exception) -> Failure:
    """Look an error up by its nearest listed ancestor; what is not ours is unexpected."""
    return next((FAILURES[kind] for kind in type(error).__mro__ if kind in FAILURES), UNEXPECTED)


def sentence_of(error: Exception) -> str:
    """Give the sentence a caller may read; an unexpected error's own words may hold note text and stay here."""
    return str(error) if isinstance(error, errors.VaultAskError) else UNEXPECTED_SENTENCE


def log_unexpected(error: Exception, *, where: str) -> None:
    """Note the kind and place of an error that is not ours, without its message."""
    if not isinstance(error, errors.VaultAskError):
        log.error("unexpected_error", where=where, kind=type(error).__name__)


def error_event(error: Exception) -> ErrorEvent:
    """Make the last event of a stream that could not be finished."""
    failure = failure_of(error)
    return ErrorEvent(code=failure.code, message=sentence_of(error), retry=failure.retry)


def error_response(error: Exception) -> JSONResponse:
    """Make the answer to a request that failed before anything was sent."""
    return event_response(error_event(error))


def event_response(event: ErrorEvent) -> JSONResponse:
    """Make a plain answer of the error event that ended an answer."""
    status = _STATUS_OF_CODE.get(event.code, UNEXPECTED.status)
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if event.retry else None
    return refusal(status, event.code, event.message, headers)


def refusal(status: HTTPStatus, code: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Make an error answer: a code for programs, a sentence for people, nothing of the request."""
    return JSONResponse(ErrorResponse(code=code, message=message).model_dump(), status, headers)
