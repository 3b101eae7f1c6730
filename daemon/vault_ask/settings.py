"""What the owner may configure: strict, frozen, built once and passed down.

Order of authority: arguments of the command line > environment (`VAULTASK_SECTION__KEY`) > config.yaml > the defaults
here. Nothing else reads the environment. Secrets live in the environment only and are refused in config.yaml.
"""

import os
import re
from collections.abc import Mapping
from datetime import tzinfo
from difflib import get_close_matches
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path
from socket import inet_aton, inet_ntoa
from typing import Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from vault_ask.errors import ConfigError

ENV_PREFIX = "VAULTASK_"
SECRETS = {
    "VAULTASK_API_TOKEN": ("api_token",),
    "VAULTASK_ADMIN_API_KEY": ("admin_api_key",),
    "VAULTASK_TAVILY_API_KEY": ("tavily_api_key",),
    "VAULTASK_BRAVE_API_KEY": ("brave_api_key",),
    "VAULTASK_VAULT__COUCHDB__PASSWORD": ("vault", "couchdb", "password"),
    "VAULTASK_VAULT__COUCHDB__PASSPHRASE": ("vault", "couchdb", "passphrase"),
}
"""Environment names of secrets, and where they would stand in config.yaml, which refuses them."""
CONFIG_NAME = "VAULTASK_CONFIG"
SAMPLE = "tests/vaults/sample"
"""The vault that config.yaml comes with."""


class Section(BaseModel):
    """A part of the configuration: unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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


class EmbeddingSettings(Section):
    """Who makes the vectors."""

    provider: Literal["embedded", "ollama"] = Field(
        default="embedded", description="embedded runs inside the daemon with no network; ollama asks a server."
    )
    model: str = Field(default="multilingual-e5-small", description="The model; for ollama its name, such as bge-m3.")
    threads: int = Field(
        default=1, ge=1, le=64, description="Texts the embedded model works on at once, each on one thread."
    )
    ollama_url: str = Field(default="http://127.0.0.1:11434", description="Where Ollama listens.")
    allow_hosts: tuple[str, ...] = Field(
        default=(), description="Names of embedding hosts of your own that are not private addresses."
    )
    query_prefix: str | None = Field(default=None, description="Overrides the model's known question prefix.")
    passage_prefix: str | None = Field(default=None, description="Overrides the model's known passage prefix.")
    batch: int = Field(default=16, ge=1, le=256, description="Texts a request.")
    concurrency: int = Field(default=2, ge=1, le=16, description="Requests to Ollama at once.")
    max_tokens: int | None = Field(default=None, ge=64, description="Overrides the model's longest input.")
    timeout_seconds: float = Field(default=120.0, gt=0, description="How long one request may take.")
    centring: Literal["auto", "on", "off"] = Field(
        default="auto", description="Subtract the vault's mean vector; auto does it where the model needs it."
    )

    @model_validator(mode="after")
    def _embedder_is_the_owners(self) -> "EmbeddingSettings":
        host = urlsplit(self.ollama_url).hostname or ""
        listed = {name.casefold() for name in self.allow_hosts}
        if self.provider == "ollama" and not (is_private_host(host) or host.casefold() in listed):
            raise ValueError(
                f"the embedding host {host!r} is not a private address, and every note would be sent to it. "
                "Use an address of your own network, or name the host in embedding.allow_hosts if it is yours"
            )
        return self


class RetrievalSettings(Section):
    """How passages are found."""

    vector_k: int = Field(default=40, ge=1, le=1000, description="Nearest chunks taken from the vector arm.")
    text_k: int = Field(default=40, ge=1, le=1000, description="Best chunks taken from the word arm.")
    top_k: int = Field(default=8, ge=1, le=50, description="Passages an answer is made from.")
    per_note: int = Field(default=2, ge=1, le=50, description="Passages one note may give.")
    fusion: Literal["blend", "rrf"] = Field(
        default="blend", description="blend of calibrated scores, or plain reciprocal rank fusion."
    )


class RerankSettings(Section):
    """A second look at the best passages, by a model that reads each of them beside the question; off by default."""

    model: str | None = Field(
        default=None,
        description="A litellm name of a reranking model, such as infinity/BAAI/bge-reranker-v2-m3; null is none.",
    )
    api_base: str | None = Field(
        default=None, description="Address of the reranker's server, such as http://127.0.0.1:7997; null is the usual."
    )
    candidates: int = Field(default=30, ge=2, le=200, description="Best passages that are looked at again.")
    timeout_seconds: float = Field(
        default=1.5, gt=0, le=60, description="Time after which the search goes on with the order it had."
    )

    @field_validator("model", "api_base")
    @classmethod
    def _given(cls, text: str | None) -> str | None:
        return (text or "").strip() or None

    @field_validator("model")
    @classmethod
    def _can_rerank(cls, model: str | None) -> str | None:
        if model is not None and model.startswith(("ollama/", "ollama_chat/")):
            raise ValueError(
                "Ollama serves no rerankers. Run one with Infinity (infinity/...), vLLM (hosted_vllm/...) or Text "
                "Embeddings Inference (huggingface/...), and name it here"
            )
        return model


class GraphSettings(Section):
    """Whether the links of what was found are followed."""

    enabled: bool = Field(
        default=True, description="Whether links, backlinks, rare tags and topics of the best notes are followed."
    )
    places: int = Field(
        default=2,
        ge=0,
        le=50,
        description="Of retrieval.top_k the most places for what only a link led to; more where little was found.",
    )


class TopicSettings(Section):
    """Which notes list other notes on one subject."""

    paths: tuple[str, ...] = Field(
        default=(), description="Folders or globs of topic notes, beside maps of content and marked lists of links."
    )


class ModelSettings(Section):
    """Who words the answers."""

    generation: str = Field(
        default="extractive",
        description="extractive quotes the notes; anything else is a litellm model name such as ollama_chat/qwen3:4b.",
    )
    personal_generation: str | None = Field(
        default=None, description="A local model for questions that include personal notes."
    )
    api_base: str | None = Field(default=None, description="Address of the model server, where it is not the usual.")
    local_hosts: tuple[str, ...] = Field(
        default=(), description="Hosts of your own that count as local: a gateway, or one whose address is not private."
    )
    timeout_seconds: float = Field(default=120.0, gt=0, description="Longest wait for the next piece of an answer.")
    context_tokens: int = Field(default=8192, ge=1024, description="The window asked of the model and filled at most.")
    reply_tokens: int = Field(default=1024, ge=64, description="Room kept for the answer.")
    answer_chars: int = Field(default=700, ge=80, description="Longest extractive answer, in characters of quotes.")


class WebSettings(Section):
    """The web as a fallback where the vault says little; never beside personal notes."""

    enabled: bool = Field(default=False, description="Whether the web may be asked at all.")
    provider: Literal["duckduckgo", "tavily", "brave", "searxng"] = Field(
        default="duckduckgo", description="Who is asked; searxng is your own and keeps the question at home."
    )
    searxng_url: str | None = Field(default=None, description="Address of your SearXNG, such as http://nas.local:8080.")
    results: int = Field(default=4, ge=1, le=10, description="Pages shown at most.")
    timeout_seconds: float = Field(default=6.0, gt=0, le=60, description="Time after which the answer goes without.")
    thin_below: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Relevance, 0 to 1, below which the web is asked; by default as measured for the embedder.",
    )

    @field_validator("searxng_url")
    @classmethod
    def _address(cls, url: str | None) -> str | None:
        if url is None or not url.strip():
            return None
        parts = urlsplit(url.strip())
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("the address must look like http://nas.local:8080")
        if parts.username or parts.password:
            raise ValueError("the address holds a user or password, which are never sent. Leave them out")
        return url.strip().rstrip("/")

    @model_validator(mode="after")
    def _server_is_named(self) -> "WebSettings":
        if self.enabled and self.provider == "searxng" and not self.searxng_url:
            raise ValueError("provider is searxng, and searxng_url names no server. Set web.searxng_url")
        return self


class AuditSettings(Section):
    """The record of what was read and where it went, for the owner alone."""

    enabled: bool = Field(default=True, description="Whether a record is kept, in the data folder.")
    questions: Literal["hash", "text", "none"] = Field(
        default="hash", description="How a question is kept: as a keyed hash, as its text, or not at all."
    )
    max_megabytes: float = Field(default=5.0, gt=0, description="Size at which the file is put aside for a new one.")
    keep: int = Field(default=5, ge=0, le=1000, description="Files put aside that are kept.")


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


class LogSettings(Section):
    """What is logged; never note text."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="The least that is logged.")
    format: Literal["auto", "console", "json"] = Field(
        default="auto", description="auto is console in a terminal, JSON lines otherwise."
    )


class Settings(BaseSettings):
    """The whole configuration."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True)

    data: Path = Field(default=Path("data"), description="Folder of the index; never inside the vault.")
    vault: VaultSettings = VaultSettings()
    sensitivity: SensitivitySettings = SensitivitySettings()
    chunks: ChunkSettings = ChunkSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    graph: GraphSettings = GraphSettings()
    topics: TopicSettings = TopicSettings()
    rerank: RerankSettings = RerankSettings()
    models: ModelSettings = ModelSettings()
    web: WebSettings = WebSettings()
    time: TimeSettings = TimeSettings()
    audit: AuditSettings = AuditSettings()
    server: ServerSettings = ServerSettings()
    adapters: AdaptersSettings = AdaptersSettings()
    log: LogSettings = LogSettings()
    api_token: SecretStr | None = Field(
        default=None, description="The token callers must show; from VAULTASK_API_TOKEN only."
    )
    admin_api_key: SecretStr | None = Field(
        default=None, description="The owner's key, which sees names in the status; from VAULTASK_ADMIN_API_KEY only."
    )
    tavily_api_key: SecretStr | None = Field(
        default=None, description="The key of Tavily; from VAULTASK_TAVILY_API_KEY only."
    )
    brave_api_key: SecretStr | None = Field(
        default=None, description="The key of Brave Search; from VAULTASK_BRAVE_API_KEY only."
    )

    @field_validator("data")
    @classmethod
    def _data_of_the_home(cls, data: Path) -> Path:
        return data.expanduser()


def load_settings(*, config: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Build the configuration from its four sources.

    `config` names a YAML file that must exist; without it VAULTASK_CONFIG is used, then ./config.yaml if there is
    one. `overrides` are nested values of the command line. Raises ConfigError with one line a mistake.
    """
    file = _config_file(config, os.environ)
    values = _anchored(_without_sample(_read_yaml(file), os.environ), file) if file else {}
    _refuse_unknown_names(os.environ)

    class Loaded(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the library passes it by name
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the library passes it by name
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return (init_settings, env_settings, InitSettingsSource(settings_cls, init_kwargs=values))

    try:
        return Loaded(**dict(overrides or {}))
    except ValidationError as error:
        raise ConfigError(_sentences(error, file)) from None
    except SettingsError as error:
        raise ConfigError(
            f"{error}. Write lists and pairs in the environment as JSON, such as "
            'VAULTASK_SENSITIVITY__PERSONAL_PATHS=["Private/**"] and '
            'VAULTASK_VAULT__COUCHDB__HEADERS={"Name": "value"}.'
        ) from None


_OWN_NETWORKS = tuple(
    map(
        ip_network,
        (
            *("127.0.0.0/8", "::1/128"),  # this machine
            *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),  # RFC 1918 and RFC 4193
            *("169.254.0.0/16", "fe80::/10"),  # the same cable
            *("0.0.0.0/32", "::/128"),  # "every address of this machine"; one connects to oneself there
        ),
    )
)
_OWN_ENDINGS = (".localhost", ".local", ".lan", ".internal", ".home.arpa")
_HOST_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")


def is_own_address(address: str) -> bool:
    """Say whether a numeric address is loopback, private or link-local; what is no address is none of these.

    Python's own `is_private` says yes to many more, such as every IPv4 address in IPv6 form. Addresses that a provider
    shares among its customers (100.64.0.0/10) are not the owner's, although Tailscale uses them too: list those hosts.
    """
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    return any((mapped or ip) in network for network in _OWN_NETWORKS)


def is_private_host(host: str) -> bool:
    """Say whether a host as written sounds like loopback or the owner's network, without asking a name server.

    Where a name really leads is for the socket to tell (`providers.own_network`).
    """
    name = _plain_host(host)
    if name == "localhost" or name.endswith(_OWN_ENDINGS):
        return True
    if numeric := _numeric(name):
        return is_own_address(numeric)
    # A bare name can only be resolved inside the owner's network; a dotted one may be anybody's.
    return bool(name) and "." not in name


def _plain_host(host: str) -> str:
    """Write a host as a resolver reads it: lower case, ASCII, without brackets or final dot; "" when it is none."""
    try:
        ascii_host = host.strip().removeprefix("[").removesuffix("]").encode("idna").decode()
    except UnicodeError:
        return ""
    name = ascii_host.lower().removesuffix(".")
    return name if ":" in name or _HOST_NAME.fullmatch(name) else ""


def _numeric(name: str) -> str | None:
    """Give the address that a numeric host stands for, also in the short, octal and hexadecimal forms of IPv4."""
    if ":" in name:
        return name
    try:
        return inet_ntoa(inet_aton(name))
    except OSError:
        return None


def _config_file(config: Path | None, environment: Mapping[str, str]) -> Path | None:
    named = config or (Path(environment[CONFIG_NAME]) if environment.get(CONFIG_NAME) else None)
    if named is None:
        return Path("config.yaml") if Path("config.yaml").is_file() else None
    if not named.is_file():
        raise ConfigError(f"The configuration file {named} does not exist. Name an existing file or leave it out.")
    return named


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError) as error:
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 1}" if where else ""
        raise ConfigError(
            f"{file} is not valid YAML{line}, so nothing in it was used. Mend it and start again."
        ) from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{file} holds no settings: it should be a list of sections such as `vault:`.")
    _refuse_secrets(values, file)
    return values


def _refuse_secrets(values: Mapping[str, Any], file: Path) -> None:
    for name, place in SECRETS.items():
        section: Any = values
        for part in place[:-1]:
            section = section.get(part) if isinstance(section, Mapping) else None
        # A flat name may stand where its owner thought it belonged, such as web.tavily_api_key.
        others = values.values() if len(place) == 1 else ()
        if any(isinstance(part, Mapping) and place[-1] in part for part in (section, *others)):
            raise ConfigError(f"{file} holds a secret. Move it to the environment as {name} and remove it here.")


def _without_sample(values: dict[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Leave the sample vault out where a CouchDB is named: nobody wants it indexed in place of their own notes."""
    vault = values.get("vault")
    if not isinstance(vault, dict) or vault.get("path") != SAMPLE:
        return values
    couch = vault.get("couchdb")
    given = {name.upper(): value for name, value in environment.items()}
    named = given.get("VAULTASK_VAULT__COUCHDB__URL") or (couch.get("url") if isinstance(couch, dict) else None)
    if not named or given.get("VAULTASK_VAULT__SOURCE", vault.get("source")) == "folder":
        return values
    return {**values, "vault": {key: value for key, value in vault.items() if key != "path"}}


def _anchored(values: dict[str, Any], file: Path) -> dict[str, Any]:
    """Let relative folders of a configuration file mean the same from wherever vault-ask is started."""
    folder = file.resolve().parent
    if isinstance(values.get("data"), str):
        values["data"] = folder / Path(values["data"]).expanduser()
    vault = values.get("vault")
    if isinstance(vault, dict) and isinstance(vault.get("path"), str):
        vault["path"] = folder / Path(vault["path"]).expanduser()
    couch = vault.get("couchdb") if isinstance(vault, dict) else None
    if isinstance(couch, dict) and isinstance(couch.get("ca_file"), str):
        couch["ca_file"] = folder / Path(couch["ca_file"]).expanduser()
    return values


def _refuse_unknown_names(environment: Mapping[str, str]) -> None:
    """Refuse a mistyped section, which pydantic-settings would pass over in silence."""
    known = {*Settings.model_fields, CONFIG_NAME.removeprefix(ENV_PREFIX).lower()}
    for name in environment:
        upper = name.upper()
        if upper.startswith(ENV_PREFIX) and upper.removeprefix(ENV_PREFIX).split("__")[0].lower() not in known:
            near = get_close_matches(upper.removeprefix(ENV_PREFIX).split("__")[0].lower(), known, n=1)
            hint = f" Did you mean {ENV_PREFIX}{near[0].upper()}?" if near else ""
            raise ConfigError(f"The environment sets {name}, which is no setting of vault-ask.{hint}")


_IN_OUR_WORDS = {
    "extra_forbidden": "is no setting of vault-ask",
    "tuple_type": 'a list is wanted, in brackets even where it holds one text, such as ["first", "second"]',
}
"""What is said of pydantic's kinds of errors that speak of Python."""


def _sentences(error: ValidationError, file: Path | None) -> str:
    lines = []
    for item in error.errors(include_url=False, include_input=False):
        where = ".".join(str(part) for part in item["loc"]) or "settings"
        what = _IN_OUR_WORDS.get(item["type"], item["msg"].removeprefix("Value error, "))
        lines.append(f"{where}: {what}.")
    origin = f"{file} or the environment" if file else "the environment or the command line"
    return f"A setting in {origin} does not fit: " + " ".join(lines)
