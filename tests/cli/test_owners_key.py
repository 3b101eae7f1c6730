"""The owner's key on its way from the environment to the doors of `vault-ask serve`."""

from typing import Any

import httpx

from cli.commands import Commands
from cli.conftest import CONFIG, Making
from waiting import wait_until

KEY, TOKEN = "the-owner-alone-knows-this", "a-long-and-random-word"
OPEN_CEILING = CONFIG + "adapters:\n  rest:\n    ceiling: open\n"
NOTES = {"Rent.md": "The rent is 9200.\n", "Private/Loan.md": "A secret loan.\n"}


def test_a_served_daemon_tells_the_owner_of_all_notes_and_others_of_open_ones(commands: Making) -> None:
    vault_ask = commands(NOTES, config=OPEN_CEILING)
    with vault_ask.serving(VAULTASK_ADMIN_API_KEY=f" {KEY} ", VAULTASK_API_TOKEN=TOKEN) as served:

        def status(secret: str) -> dict[str, Any]:
            headers = {"Authorization": f"Bearer {secret}"}
            told: dict[str, Any] = httpx.get(f"{served.address}/api/status", headers=headers, timeout=30).json()
            return told

        wait_until(lambda: status(KEY)["notes"] == len(NOTES))
        assert status(KEY)["rules"] == {"Private/**": 1}
        assert (status(TOKEN)["notes"], status(TOKEN)["rules"]) == (1, {})
        assert status("wrong")["code"] == "token_needed"
        assert KEY not in served.said


def test_one_word_for_token_and_key_is_one_sentence_and_starts_nothing(library: Commands) -> None:
    secrets = {"VAULTASK_ADMIN_API_KEY": f"{TOKEN} ", "VAULTASK_API_TOKEN": TOKEN}
    sentence = library("serve", "--port", "0", **secrets).sentence(code=2)
    assert "VAULTASK_API_TOKEN and VAULTASK_ADMIN_API_KEY are the same" in sentence
    assert TOKEN not in sentence
