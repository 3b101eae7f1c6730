"""The web is off until the owner says otherwise, and a set-up that cannot work is refused in a sentence."""

from pathlib import Path

import pytest

from vault_ask.errors import ConfigError
from vault_ask.settings import Settings
from vault_ask.settings.loading import load_settings


def test_the_web_is_off_in_code() -> None:
    assert not Settings().web.enabled
    assert Settings().audit.enabled
    assert Settings().audit.questions == "hash"


@pytest.mark.parametrize(
    ("web", "words"),
    [
        ({"enabled": True, "provider": "searxng"}, "provider is searxng, and searxng_url names no server"),
        ({"searxng_url": "nas.local:8080"}, "must look like http"),
        ({"searxng_url": "http://me:word@nas.local"}, "never sent. Leave them out"),
        ({"provider": "google"}, "web.provider"),
        ({"results": 0}, "web.results"),
    ],
)
def test_what_cannot_work_is_refused(web: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        load_settings(overrides={"web": web})
    assert "word@" not in str(caught.value)


@pytest.mark.parametrize("written", ["{}: SECRET\n", "web:\n  results: 3\n  {}: SECRET\n"])
@pytest.mark.parametrize("name", ["admin_api_key", "tavily_api_key", "brave_api_key"])
def test_keys_are_refused_in_the_file(tmp_path: Path, name: str, written: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(written.format(name))
    with pytest.raises(ConfigError, match=f"VAULTASK_{name.upper()}") as caught:
        load_settings(config=file)
    assert "SECRET" not in str(caught.value)


def test_keys_are_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULTASK_TAVILY_API_KEY", "tvly-1")
    key = load_settings().tavily_api_key
    assert key is not None
    assert key.get_secret_value() == "tvly-1"
    assert "tvly-1" not in repr(load_settings())
