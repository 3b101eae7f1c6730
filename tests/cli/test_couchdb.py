"""The commands over a CouchDB, as processes: what a person and a script see of a vault that LiveSync keeps there."""

import hashlib
import json
import re
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
import structlog
from click.testing import CliRunner

from cli.commands import Commands, Said, write
from cli.conftest import Making
from couch_stand_in import CouchStandIn
from journeys.mistakes import MISTAKES, NOTES, PASSPHRASE, PASSWORD, Setting
from vault_ask.cli import main
from waiting import wait_until

FILES = {
    "Kök/Svamp.md": "# Svamp\n\nKantareller växer i mossan.\n",
    "Trips/Oslo.md": "# Oslo\n\nThe night train to Oslo leaves at 23:06.\n",
    "Trips/map.png": bytes(range(256)) * 20,
    "Private/Health.md": "# Health\n\nThe blood pressure was 128 over 82.\n",
}
DATABASE, URL = "VAULTASK_VAULT__COUCHDB__DATABASE", "VAULTASK_VAULT__COUCHDB__URL"


Over = Callable[..., Commands]


@pytest.fixture
def setting(stand_in: CouchStandIn) -> Setting:
    return Setting(stand_in)


@pytest.fixture
def over(setting: Setting, commands: Making) -> Over:
    """Make vault-ask with this CouchDB, a configuration and the model's files in its environment, and no folder."""

    def make(config: str = "") -> Commands:
        made = commands({}, config=config)
        environment = setting.environment() | {"VAULTASK_CONFIG": str(made.config), "VAULTASK_DATA": str(made.data)}
        return Commands(made.folder, environment=environment)

    return make


def silent_about_secrets(text: str) -> bool:
    return "CANARY" not in text


def in_process(vault_ask: Commands, *arguments: str) -> Said:
    """Run a command without the second that a process takes to begin."""
    line = vault_ask.line(*arguments)[3:]
    done = CliRunner().invoke(main, line, env=dict(vault_ask.environment))
    structlog.reset_defaults()
    return Said(done.exit_code, done.stdout, done.stderr)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_sentence_and_exit_code_3(setting: Setting, over: Over, name: str) -> None:
    MISTAKES[name].make(setting)
    sentence = in_process(over(), "index", "--no-embed").sentence(code=3)
    assert re.search(MISTAKES[name].said, sentence), sentence
    assert silent_about_secrets(sentence)


@pytest.mark.parametrize(
    ("config", "changed", "said"),
    [
        ("", {DATABASE: ""}, "database is not"),
        ("", {URL: ""}, "url is not"),
        ("", {URL: "http://me:CANARY@127.0.0.1:9"}, "VAULTASK_VAULT__COUCHDB__PASSWORD"),
        ("vault: {couchdb: {password: CANARY}}\n", {}, "VAULTASK_VAULT__COUCHDB__PASSWORD"),
        ("vault: {couchdb: {passphrase: CANARY}}\n", {}, "VAULTASK_VAULT__COUCHDB__PASSPHRASE"),
        ("vault: {couchdb: {ca_file: nowhere.pem}}\n", {}, "ca_file"),
        ("vault: {source: couchdb}\n", {URL: "", DATABASE: ""}, "couchdb.url names no server"),
    ],
)
def test_a_mistake_in_the_configuration_is_one_sentence_and_exit_code_2(
    setting: Setting, over: Over, config: str, changed: dict[str, str], said: str
) -> None:
    setting.configured |= {name.rpartition("__")[2].lower(): value for name, value in changed.items()}
    sentence = in_process(over(config), "index", "--no-embed").sentence(code=2)
    assert said in sentence
    assert silent_about_secrets(sentence)


def test_index_status_search_and_source_over_an_encrypted_vault(setting: Setting, over: Over) -> None:
    with setting.fill("v2obf").device("v2obf") as device:
        device.put_many(FILES)
        device.delete(next(iter(NOTES)))
    setting.configured["passphrase"] = PASSPHRASE
    vault_ask = over('sensitivity: {personal_paths: ["Private/**"]}\n')
    said = vault_ask("index", "--no-embed")
    assert (said.code, said.out.split(";")[0]) == (0, "3 new, 0 changed, 0 deleted, 0 reclassified"), said
    assert vault_ask("index", "--no-embed").out.startswith("0 new, 0 changed, 0 deleted")
    assert "0 new and 0 changed notes, and forget 0" in in_process(vault_ask, "index", "--dry-run").out
    status = json.loads(in_process(vault_ask, "status", "--json").out)
    assert (status["vault"]["kind"], status["notes"]) == ("couchdb", 3)
    found = in_process(vault_ask, "search", "--arm", "text", "kantareller")
    assert "Kök/Svamp.md" in found.out
    linked = json.loads(in_process(vault_ask, "search", "--arm", "text", "kantareller", "--json").out)
    assert linked["hits"][0]["url"].startswith("obsidian://open?vault=test&file=")
    assert "Private" not in in_process(vault_ask, "search", "--arm", "text", "blood pressure").out
    listed = [json.loads(line) for line in vault_ask("source", "ls", "--json", "--hash").out.splitlines()]
    expected = {path: content.encode() if isinstance(content, str) else content for path, content in FILES.items()}
    assert {file["path"]: file["sha256"] for file in listed} == {
        path: hashlib.sha256(content).hexdigest() for path, content in expected.items()
    }
    assert {file["state"] for file in listed} == {"ok"}
    assert in_process(vault_ask, "source", "cat", "Kök/Svamp.md").out == FILES["Kök/Svamp.md"]
    assert "no file at this path" in in_process(vault_ask, "source", "cat", "Nowhere.md").sentence(code=1)


def test_a_dry_run_leaves_alone_what_has_not_arrived(setting: Setting, over: Over) -> None:
    with setting.fill().device() as device:
        device.put("Torn.md", "first\n")
        vault_ask = over("")
        assert vault_ask("index", "--no-embed").code == 0
        device.put_without_chunks("Torn.md", "second\n")
    planned = in_process(vault_ask, "index", "--dry-run")
    assert (planned.code, "0 new and 0 changed notes, and forget 0" in planned.out) == (0, True), planned


def test_source_ls_shows_each_state_and_ends_with_code_0(setting: Setting, over: Over) -> None:
    with setting.fill().device() as device:
        device.put("Whole.md", "whole\n")
        device.put("Torn.md", "first\n")
        device.put_without_chunks("Torn.md", "second\n")
        device.put("Torn apart.md", "winner\n")
        device.conflict("Torn apart.md", "loser\n")
        device.put("Gone.md", "gone\n")
        device.delete("Gone.md")
    said = over()("source", "ls", "--json", "--deleted", "--hash")
    states = {file["path"]: file["state"] for file in map(json.loads, said.out.splitlines())}
    del states[next(iter(NOTES))]
    assert states == {
        "Gone.md": "deleted",
        "Torn apart.md": "conflicted",
        "Torn.md": "incomplete",
        "Whole.md": "ok",
    }
    assert said.code == 0


def test_auto_indexes_the_folder_where_the_couchdb_refuses_and_says_so(
    setting: Setting, over: Over, tmp_path: Path
) -> None:
    MISTAKES["wrong password"].make(setting)
    write(tmp_path / "vault", {"Here.md": "in the folder\n"})
    vault_ask = over(f"vault: {{path: {tmp_path / 'vault'}}}\n")
    said = vault_ask("index", "--no-embed")
    assert (said.code, said.out[:6]) == (0, "1 new,")
    told = [json.loads(line) for line in said.err.splitlines() if line.startswith("{")]
    assert [line["level"] for line in told] == ["warning"]
    assert "The folder is used in place of the CouchDB. The CouchDB at" in told[0]["sentence"]
    assert "user or the password" in told[0]["sentence"]
    assert silent_about_secrets(said.err)


def test_serve_tells_a_mistake_in_log_and_status_and_recovers_by_itself(setting: Setting, over: Over) -> None:
    mistake = MISTAKES["wrong password"]
    mistake.make(setting)
    with over().serving() as served:

        def status() -> dict[str, dict[str, str]]:
            return dict(httpx.get(f"{served.address}/api/status", timeout=30).json())

        wait_until(lambda: "does not accept the user or the password" in status()["vault"]["message"])
        assert (status()["vault"]["mode"], status()["vault"]["kind"]) == ("waiting", "couchdb")
        wait_until(lambda: "does not accept the user or the password" in served.said)
        assert mistake.mend is not None
        mistake.mend(setting)
        wait_until(lambda: status()["vault"]["mode"] == "watching")
        wait_until(lambda: status()["notes"] == 1)
        found = httpx.get(f"{served.address}/api/search", params={"q": "quince"}, timeout=30)
        assert found.status_code in {200, 404, 405}
        assert silent_about_secrets(served.said)
        assert PASSWORD not in json.dumps(status())


@pytest.fixture
def behind_tls(setting: Setting, tmp_path: Path) -> Iterator[Path]:
    """Put a self-signed server before the CouchDB, which passes requests on; gives the certificate."""
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    couch = setting.server.url

    class Passing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
            answer = httpx.request(self.command, couch + self.path, content=body, headers=headers, trust_env=False)
            self.send_response(answer.status_code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with ThreadingHTTPServer(("127.0.0.1", 0), Passing) as server:
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        setting.configured["url"] = f"https://localhost:{server.server_address[1]}"
        yield certificate
        server.shutdown()
        thread.join()


def test_a_certificate_of_ones_own_is_refused_until_its_file_is_named(
    setting: Setting, behind_tls: Path, over: Over
) -> None:
    setting.fill()
    vault_ask = over()
    sentence = in_process(vault_ask, "index", "--no-embed").sentence(code=3)
    assert "is not trusted" in sentence
    assert "vault.couchdb.ca_file" in sentence
    said = vault_ask("index", "--no-embed", VAULTASK_VAULT__COUCHDB__CA_FILE=str(behind_tls))
    assert said.out.startswith("1 new,"), said


def test_what_is_not_encrypted_is_indexed_without_a_passphrase(setting: Setting, over: Over) -> None:
    setting.fill()
    with setting.device("v2") as device:
        device.put("Sealed.md", "CANARY sealed\n")
    vault_ask = over()
    said = in_process(vault_ask, "index", "--no-embed")
    assert said.out.startswith("1 new,"), said
    status = in_process(vault_ask, "status").out
    assert "end-to-end encrypted" in status or "passphrase" in status
    assert "%=" not in said.out + said.err
