"""Where the daemon listens, whom it answers, and what it keeps of that."""

from typing import Literal

from pydantic import Field

from vault_ask.settings.section import Section


class ServerSettings(Section):
    """Where the daemon listens and whom it answers."""

    host: str = Field(default="127.0.0.1", description="The address to listen on; any but loopback needs a token.")
    port: int = Field(default=8765, ge=0, le=65535, description="The port; 0 takes a free one.")
    allowed_hosts: tuple[str, ...] = Field(
        default=(), description="Further Host names the daemon answers to, such as nas.local."
    )
    allowed_origins: tuple[str, ...] = Field(
        default=("app://obsidian.md", "capacitor://localhost", "http://localhost"),
        description="Origins that may ask from another page, with a token.",
    )
    max_concurrent_answers: int = Field(default=4, ge=1, le=100, description="Answers worded at the same time.")


class AdapterSettings(Section):
    """What one door may open at most."""

    ceiling: Literal["open", "personal"] = Field(description="The most a request at this door can see.")


class AdaptersSettings(Section):
    """The doors."""

    rest: AdapterSettings = Field(
        default=AdapterSettings(ceiling="personal"), description="The REST API, used by the plugin and /chat."
    )


class AuditSettings(Section):
    """The record of what was read and where it went, for the owner alone."""

    enabled: bool = Field(default=True, description="Whether a record is kept, in the data folder.")
    questions: Literal["hash", "text", "none"] = Field(
        default="hash", description="How a question is kept: as a keyed hash, as its text, or not at all."
    )
    max_megabytes: float = Field(default=5.0, gt=0, description="Size at which the file is put aside for a new one.")
    keep: int = Field(default=5, ge=0, le=1000, description="Files put aside that are kept.")


class LogSettings(Section):
    """What is logged; never note text."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="The least that is logged.")
    format: Literal["auto", "console", "json"] = Field(
        default="auto", description="auto is console in a terminal, JSON lines otherwise."
    )
