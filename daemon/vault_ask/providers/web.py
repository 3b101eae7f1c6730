"""Which web search the settings name."""

from typing import assert_never

from pydantic import SecretStr

from vault_ask.answering.ports import WebSearch
from vault_ask.errors import KeyNotSet
from vault_ask.settings import Settings


def make_web(settings: Settings) -> WebSearch | None:
    """Pick the web search that the settings name; None where the web is off.

    Raises KeyNotSet when a service is chosen whose key is not in the environment.
    """
    web = settings.web
    if not web.enabled:
        return None
    # Late: each costs its own client, which only its users should pay.
    match web.provider:
        case "duckduckgo":
            from vault_ask.providers.duckduckgo import DuckDuckGoSearch  # noqa: PLC0415

            return DuckDuckGoSearch(web)
        case "tavily":
            from vault_ask.providers.tavily import TavilySearch  # noqa: PLC0415

            return TavilySearch(_key(settings.tavily_api_key, "tavily"), web)
        case "brave":
            from vault_ask.providers.brave import BraveSearch  # noqa: PLC0415

            return BraveSearch(_key(settings.brave_api_key, "brave"), web)
        case "searxng":
            from vault_ask.providers.searxng import SearxngSearch  # noqa: PLC0415

            return SearxngSearch(web)
        case other:
            assert_never(other)


def _key(key: SecretStr | None, provider: str) -> SecretStr:
    """Give the key without the space that came with it. Raises KeyNotSet when it is none that could be sent."""
    written = key.get_secret_value().strip() if key else ""
    name = f"VAULTASK_{provider.upper()}_API_KEY"
    if not written:
        raise KeyNotSet(f"`{provider}` has no API key, so it would return nothing. Set {name} and restart.")
    if not (written.isascii() and written.isprintable()):
        raise KeyNotSet(f"{name} holds characters that no API key has. Copy the key again and restart.")
    return SecretStr(written)
