"""Structured logs on the standard error stream: names, numbers and error types, never note text or questions."""

import logging
import sys

import structlog

from vault_ask.settings.serving import LogSettings


def set_up_logs(settings: LogSettings) -> None:
    """Log as the settings say: readable in a terminal, one JSON object a line elsewhere."""
    console = settings.format == "console" or (settings.format == "auto" and sys.stderr.isatty())
    renderer = structlog.dev.ConsoleRenderer() if console else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, settings.level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
