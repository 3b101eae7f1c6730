"""What an owner gets wrong with a CouchDB: each mistake made for real on a server, with what must be said of it.

The names, words and paths in the vault begin with CANARY, and so do all secrets: none of it may ever be said.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from couch_stand_in import CouchStandIn
from livesync_device import Device

PASSWORD, PASSPHRASE = "CANARY-password", "CANARY-passphrase"
NOTES = {"CANARY-folder/CANARY-note.md": "CANARY text of a note: quince\n"}
LOGIN = {"user": "member", "password": PASSWORD}


@dataclass
class Setting:
    """A server with users, the vault on it, and what the owner configured."""

    server: CouchStandIn
    configured: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.server.users = {"admin": "CANARY-admin", "member": PASSWORD}
        self.configured = {"url": self.server.url, "database": "vault", **LOGIN}

    def device(self, mode: str = "plain") -> Device:
        return Device(self.server.url, "vault", user="admin", password="CANARY-admin", mode=mode, passphrase=PASSPHRASE)

    def fill(self, mode: str = "plain") -> "Setting":
        """Let a device make the vault; the member may read it."""
        with self.device(mode) as device:
            device.create_database()
            device.put_many(NOTES)
        self.admit("member")
        return self

    def admit(self, *names: str) -> None:
        self.server.databases["vault"].security = {"members": {"names": list(names)}}

    def answer_always(self, body: bytes, *, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.server.reply_next(body, status=status, headers=headers, count=10_000)

    def environment(self) -> dict[str, str]:
        return {f"VAULTASK_VAULT__COUCHDB__{name.upper()}": value for name, value in self.configured.items()}


@dataclass(frozen=True)
class Mistake:
    """How it is made, a pattern of what is said, and how the owner mends it while the daemon runs, where that helps."""

    make: Callable[[Setting], object]
    said: str
    mend: Callable[[Setting], object] | None = None


def _wrong_password(setting: Setting) -> None:
    setting.fill().server.users["member"] = "another"


def _no_user(setting: Setting) -> None:
    setting.fill()
    del setting.configured["user"], setting.configured["password"]


def _right_password(setting: Setting) -> None:
    setting.server.users["member"] = PASSWORD


def _without_parameters(setting: Setting) -> None:
    setting.fill("v2").server.databases["vault"].locals.clear()
    setting.configured["passphrase"] = PASSPHRASE


def _no_vault(setting: Setting) -> None:
    setting.server.create("vault")
    setting.admit("member")


def _strangers(setting: Setting) -> None:
    _no_vault(setting)
    documents = [{"_id": f"CANARY-{number}", "type": "customer", "name": "CANARY"} for number in range(3)]
    setting.server.store("vault", documents)


def _vault_after_all(setting: Setting) -> None:
    with setting.device() as device:
        device.rebuild()
        device.put_many(NOTES)
    setting.admit("member")


def _stop_answering_so(setting: Setting) -> None:
    setting.server.replies.clear()


_REDIRECT = {"Location": "https://login.example/CANARY?next=CANARY", "Content-Type": "text/html"}
_JSON = {"Content-Type": "application/json"}

MISTAKES = {
    "wrong password": Mistake(_wrong_password, "does not accept the user or the password", _right_password),
    "no user": Mistake(_no_user, "user or the password, or none"),
    "not a member": Mistake(
        lambda s: s.fill().admit("admin"), "Add the user to its members", lambda s: s.admit("member")
    ),
    "no such database": Mistake(lambda s: None, "holds no database vault", lambda s: s.fill()),
    "login page": Mistake(
        lambda s: s.fill().answer_always(b"<!DOCTYPE html>CANARY", headers={"Content-Type": "text/html"}),
        "is not a CouchDB, perhaps a proxy's page",
        _stop_answering_so,
    ),
    "other JSON": Mistake(lambda s: s.fill().answer_always(b'["CANARY"]', headers=_JSON), "is not a CouchDB"),
    "other object": Mistake(lambda s: s.fill().answer_always(b'{"CANARY": 1}', headers=_JSON), "is not a CouchDB"),
    "redirect": Mistake(
        lambda s: s.fill().answer_always(b"CANARY", status=302, headers=_REDIRECT),
        r"sends us on to login\.example",
        _stop_answering_so,
    ),
    "refused connection": Mistake(lambda s: s.fill().server.down(), "cannot be reached", lambda s: s.server.up()),
    "unknown host": Mistake(lambda s: s.configured.update(url="http://no-such-host.invalid"), "name is not known"),
    "no passphrase": Mistake(lambda s: s.fill("v2obf"), "end-to-end encrypted, and no passphrase is set"),
    "wrong passphrase": Mistake(
        lambda s: s.fill("v2").configured.update(passphrase="CANARY-wrong"),
        "the passphrase that is set does not open it",
    ),
    "wrong passphrase of V1": Mistake(
        lambda s: s.fill("v1").configured.update(passphrase="CANARY-wrong"),
        "the passphrase that is set does not open it",
    ),
    "no sync parameters": Mistake(_without_parameters, "its sync parameters .* are missing"),
    "empty database": Mistake(_no_vault, r"is empty, so it is no LiveSync vault yet.*MinIO", _vault_after_all),
    "strangers' documents": Mistake(_strangers, r"none that LiveSync writes.*peer to peer", _vault_after_all),
}
