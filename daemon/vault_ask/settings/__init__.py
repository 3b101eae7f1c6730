"""What the owner may configure: strict, frozen, built once and passed down.

Order of authority: arguments of the command line > environment (`VAULTASK_SECTION__KEY`) > config.yaml > the defaults
here. Nothing else reads the environment. Secrets live in the environment only and are refused in config.yaml.
"""

from pathlib import Path

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from vault_ask.settings.models import EmbeddingSettings, ModelSettings, WebSettings
from vault_ask.settings.retrieval import GraphSettings, RerankSettings, RetrievalSettings
from vault_ask.settings.serving import AdaptersSettings, AuditSettings, LogSettings, ServerSettings
from vault_ask.settings.vault import (
    ChunkSettings,
    SensitivitySettings,
    TimeSettings,
    TopicSettings,
    VaultSettings,
)

ENV_PREFIX = "VAULTASK_"


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
