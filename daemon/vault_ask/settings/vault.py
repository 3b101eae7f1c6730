"""Which vault there is, what of it is personal, and how its notes are read and cut."""

from datetime import tzinfo
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, SecretStr, field_validator, model_validator

from vault_ask.settings.section import Section


class CouchSettings(Section):
    """The CouchDB that Self-hosted LiveSync syncs through; everything else is read from the database itself."""

    url: str | None = Field(default=None, description="Address of the server, such as https://couch.example:6984.")
    database: str | None = Field(default=None, description="Name of the vault's database on it.")
    user: str | None = Field(default=None, description="A member of the database; reading is all it is used for.")
    password: SecretStr | None = Field(
        default=None, description="From VAULTASK_VAULT__COUCHDB__PASSWORD only, never from config.yaml."
    )
    passphrase: SecretStr | None = Field(
        default=None,
        description="LiveSync's end-to-end passphrase; from VAULTASK_VAULT__COUCHDB__PASSPHRASE only.",
    )
    ca_file: Path | None = Field(default=None, description="Certificate authority of a server with its own, as PEM.")
    headers: dict[str, SecretStr] = Field(
        default={}, description="Further headers of every request, such as those of a proxy in front."
    )

    @field_validator("url")
    @classmethod
    def _address(cls, url: str | None) -> str | None:
        if url is None or not url.strip():
            return None
        parts = urlsplit(url.strip())
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("the address must look like https://couch.example:6984")
        try:
            parts.port  # noqa: B018 - raises where it is no port
        except ValueError:
            raise ValueError("the address names a port that is none; ports are numbers up to 65535") from None
        if parts.username or parts.password:
            raise ValueError(
                "the address holds a user or password. Set vault.couchdb.user, and the password in the environment as "
                "VAULTASK_VAULT__COUCHDB__PASSWORD"
            )
        if parts.query or parts.fragment:
            raise ValueError("the address must end before any ? or #")
        return url.strip().rstrip("/")

    @field_validator("database", "user")
    @classmethod
    def _word(cls, word: str | None) -> str | None:
        return (word or "").strip() or None

    @field_validator("password", "passphrase")
    @classmethod
    def _given(cls, secret: SecretStr | None) -> SecretStr | None:
        return secret if secret and secret.get_secret_value() else None

    @field_validator("ca_file")
    @classmethod
    def _file_of_the_home(cls, file: Path | None) -> Path | None:
        return file.expanduser() if file else None

    @model_validator(mode="after")
    def _whole(self) -> "CouchSettings":
        if self.url and not self.database:
            raise ValueError("url is set and database is not. Name the database that LiveSync syncs to")
        if self.url and self.database and urlsplit(self.url).path.strip("/").split("/")[-1] == self.database:
            raise ValueError("url ends in the database's name, which belongs into database alone. Leave it out of url")
        if self.database and not self.url:
            raise ValueError("database is set and url is not. Name the server's address")
        return self


class VaultSettings(Section):
    """Which vault, and how it is followed."""

    source: Literal["auto", "folder", "couchdb"] = Field(
        default="auto",
        description="Where the notes are: auto is the CouchDB when one is configured and answers, else the folder.",
    )
    path: Path | None = Field(default=None, description="The vault's folder.")
    couchdb: CouchSettings = Field(
        default=CouchSettings(), description="The CouchDB that Self-hosted LiveSync syncs through."
    )
    name: str | None = Field(
        default=None, description="The vault's name in obsidian:// links; by default the folder's name."
    )
    include: tuple[str, ...] = Field(default=(), description="Globs of notes to index; empty means all.")
    exclude: tuple[str, ...] = Field(default=(), description="Globs of notes to leave out.")
    watch: Literal["auto", "native", "polling"] = Field(
        default="auto", description="How changes are noticed; auto polls on network mounts and when watches run out."
    )
    poll_seconds: float = Field(default=30.0, gt=0, description="Seconds between two looks while polling.")
    settle_seconds: float = Field(default=0.4, ge=0, description="Quiet time after which a change is read.")
    rescan_minutes: float = Field(
        default=60.0, gt=0, description="Minutes between two full comparisons, whatever the watcher said."
    )

    @field_validator("path")
    @classmethod
    def _path_of_the_home(cls, path: Path | None) -> Path | None:
        return path.expanduser() if path else None

    @model_validator(mode="after")
    def _couchdb_is_named(self) -> "VaultSettings":
        if self.source == "couchdb" and not self.couchdb.url:
            raise ValueError("source is couchdb, and couchdb.url names no server. Set couchdb.url and couchdb.database")
        return self


class SensitivitySettings(Section):
    """Which notes are personal."""

    personal_paths: tuple[str, ...] = Field(
        default=(), description="Folders or globs whose notes are personal, compared without case."
    )
    personal_tags: tuple[str, ...] = Field(
        default=(), description="Tags whose notes are personal, nested tags included, compared without case."
    )
    default: Literal["open", "personal"] = Field(
        default="open", description="What a note is that no rule and no key of its own speaks of."
    )
    frontmatter_key: str = Field(
        default="sensitivity", min_length=1, description="The key that makes a note open or personal by itself."
    )
    personal_to_remote_model: bool = Field(
        default=False, description="Whether personal notes may be sent to a model that is not on your machines."
    )


class ChunkSettings(Section):
    """How notes are cut, in tokens of the embedder in use."""

    target_tokens: int = Field(default=256, ge=32, description="The size a chunk aims for.")
    max_tokens: int = Field(default=384, ge=48, description="The size no chunk exceeds without need.")
    min_tokens: int = Field(default=32, ge=0, description="A chunk below this joins the one before it.")
    overlap_tokens: int = Field(default=32, ge=0, description="Repeated text where one block had to be cut.")

    @model_validator(mode="after")
    def _ordered(self) -> "ChunkSettings":
        if not self.min_tokens <= self.target_tokens <= self.max_tokens:
            raise ValueError("min_tokens <= target_tokens <= max_tokens must hold")
        if self.overlap_tokens * 2 > self.max_tokens:
            raise ValueError("overlap_tokens must be at most half of max_tokens")
        return self


class TopicSettings(Section):
    """Which notes list other notes on one subject."""

    paths: tuple[str, ...] = Field(
        default=(), description="Folders or globs of topic notes, beside maps of content and marked lists of links."
    )


class TimeSettings(Section):
    """How days are counted, in notes and in questions that name a time."""

    zone: str | None = Field(
        default=None, description="Your time zone, such as Europe/Stockholm; by default the machine's."
    )
    week_start: Literal["monday", "sunday", "saturday"] = Field(
        default="monday", description="The day a week begins with, in a question about last week."
    )
    properties: tuple[str, ...] | None = Field(
        default=None,
        description="The properties that hold a note's date, the first first; by default date, created and their like.",
    )

    @field_validator("zone")
    @classmethod
    def _known_zone(cls, zone: str | None) -> str | None:
        name = (zone or "").strip() or None
        try:
            _ = ZoneInfo(name) if name else None
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(
                f"{zone!r} is no time zone that this machine knows. Name one as the IANA does, such as Europe/Stockholm"
            ) from None
        return name

    @property
    def tzinfo(self) -> tzinfo | None:
        """The owner's time zone; None is the machine's, as `datetime.astimezone` takes it."""
        return ZoneInfo(self.zone) if self.zone else None
