import base64
import hashlib
import hmac
import json
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given, settings
from hypothesis import strategies as st

from livesync_device import PASSPHRASE, Cipher
from vault_ask.sources.ciphers import Keyring, Undecodable, UndecodableCode, looks_encrypted

VECTORS = Path(__file__).parents[3] / "shared" / "livesync" / "crypto-vectors.json"
SALT = bytes(range(32))
OTHER_SALT = bytes(32)
CIPHER = Cipher(PASSPHRASE, SALT, dynamic=False)
DYNAMIC = Cipher(PASSPHRASE, SALT, dynamic=True)
KEYS = Keyring(PASSPHRASE, [SALT])
V1 = CIPHER.v1("one")
V2 = CIPHER.v2("two")

with_vectors = pytest.mark.skipif(not VECTORS.is_file(), reason="the shared vectors are not beside this checkout")
any_text = st.text(st.characters(exclude_categories=["Cs"]))


def vectors() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(VECTORS.read_text(encoding="utf-8"))
    return loaded


def refusal(keys: Keyring, text: str) -> UndecodableCode:
    with pytest.raises(Undecodable) as caught:
        keys.decrypt(text)
    return caught.value.code


def tampered(text: str) -> str:
    return text[:-6] + ("A" if text[-6] != "A" else "B") + text[-5:]


@with_vectors
@pytest.mark.parametrize("dynamic", [True, False])
@pytest.mark.parametrize("name", ["v0", "v0dyn", "v1", "v1dyn", "v3", "v2", "eph"])
def test_every_form_that_the_plugin_wrote_is_decrypted(name: str, *, dynamic: bool) -> None:
    recorded = vectors()
    keys = Keyring(recorded["pass"], [base64.b64decode(recorded["salt"])], configured_dynamic=dynamic)

    assert looks_encrypted(recorded[name])
    assert keys.decrypt(recorded[name]) == recorded["text"]


@with_vectors
@pytest.mark.parametrize(("name", "dynamic"), [("obf1", False), ("obf1dyn", True)])
def test_hidden_paths_of_v1_are_decrypted_and_the_test_device_hides_them_alike(name: str, *, dynamic: bool) -> None:
    recorded = vectors()
    path = Keyring(recorded["pass"]).decrypt(recorded[name])

    assert path == "Folder/İ 😀.md"
    assert Cipher(recorded["pass"], b"", dynamic=dynamic).v1_path(path) == recorded[name]


@with_vectors
def test_one_way_paths_are_a_hash_that_is_no_ciphertext() -> None:
    recorded = vectors()
    salt = base64.b64decode(recorded["salt"])
    key = HKDF(algorithm=SHA256(), length=32, salt=salt, info=b"").derive(recorded["pass"].encode())
    digest = hmac.digest(key, "Folder/İ 😀.md".encode(), hashlib.sha256)

    assert "%/\\" + base64.b64encode(digest).decode() == recorded["obfV2"]
    assert not looks_encrypted(recorded["obfV2"])


@given(any_text)
@settings(max_examples=50, deadline=None)
def test_what_a_device_encrypts_is_decrypted(text: str) -> None:
    for sealed in (CIPHER.v1(text), DYNAMIC.v1(text), CIPHER.v2(text)):
        assert looks_encrypted(sealed)
        assert KEYS.decrypt(sealed) == text


@given(st.text() | st.from_regex(r"[%\[][=~$]?[0-9a-f]{0,80}[A-Za-z0-9+/]{0,140}={0,2}", fullmatch=True))
@settings(max_examples=100, deadline=None)
def test_text_that_no_device_encrypted_is_refused_and_never_crashes(text: str) -> None:
    keys = Keyring("short enough")  # a salt would cost a key; V1 of random salts costs one an example
    assert refusal(keys, text) in {"damaged", "wrong-passphrase", "no-salt"}


@pytest.mark.parametrize(
    "text",
    [
        "%=AAAA not encrypted\n%~x\n",
        "[1, 2, 3]",
        '["a","b","c"]',
        "100% sure",
        "%",
        "",
        "%" + "a" * 64,
        # Named, since they are encrypted anew each time and a test's name must stay.
        pytest.param(f"{V1}\n", id="V1 and a line end"),
        pytest.param(f" {V2}", id="a space and V2"),
    ],
)
def test_ordinary_text_does_not_look_encrypted(text: str) -> None:
    assert not looks_encrypted(text)


def test_each_reason_has_its_code() -> None:
    assert refusal(Keyring(None, [SALT]), V2) == "no-passphrase"
    assert refusal(Keyring("", [SALT]), V1) == "no-passphrase"
    assert refusal(Keyring(PASSPHRASE), V2) == "no-salt"
    assert refusal(Keyring("wrong", [SALT]), V1) == "wrong-passphrase"
    assert refusal(Keyring("wrong", [SALT]), V2) == "wrong-passphrase"
    assert refusal(Keyring(PASSPHRASE, [SALT]), "%?unknown") == "damaged"


def test_a_passphrase_that_worked_is_not_blamed_for_damage() -> None:
    keys = Keyring(PASSPHRASE, [SALT])
    before = bool(keys._proven)
    assert keys.decrypt(V1) == "one"

    assert (before, bool(keys._proven)) == (False, True)
    assert refusal(keys, tampered(V1)) == "damaged"
    assert refusal(keys, tampered(V2)) == "no-salt"  # nothing showed yet that the salt is the right one
    assert keys.decrypt(V2) == "two"
    assert refusal(keys, tampered(V2)) == "damaged"


def test_the_salt_that_was_replaced_still_opens_what_it_closed() -> None:
    keys = Keyring(PASSPHRASE, [SALT])

    assert keys.add_salt(OTHER_SALT)
    assert not keys.add_salt(OTHER_SALT)
    assert keys.salts == (OTHER_SALT, SALT)
    assert keys.decrypt(V2) == "two"
    assert keys.decrypt(Cipher(PASSPHRASE, OTHER_SALT, dynamic=False).v2("new")) == "new"


def test_salts_are_given_newest_first() -> None:
    keys = Keyring(PASSPHRASE, [OTHER_SALT, SALT])

    assert keys.salts == (OTHER_SALT, SALT)
    assert not keys.add_salt(SALT)
    assert keys.salts == (SALT, OTHER_SALT)


def test_what_was_encrypted_and_is_no_utf_8_is_damaged() -> None:
    sealed = CIPHER.v2("é")
    packed = base64.b64decode(sealed[2:])
    key = HKDF(algorithm=SHA256(), length=32, salt=packed[12:44], info=b"").derive(KEYS._master(SALT))
    from_elsewhere = packed[:44] + AESGCM(key).encrypt(packed[:12], b"\xff\xfe", None)

    assert refusal(KEYS, "%=" + base64.b64encode(from_elsewhere).decode()) == "damaged"


def test_no_secret_shows_when_a_keyring_is_printed() -> None:
    keys = Keyring("correct horse", [b"0123456789abcdef0123456789abcdef"])

    assert repr(keys) == str(keys) == "Keyring(passphrase=set, salts=1)"


def test_the_keys_of_a_salt_are_made_once() -> None:
    KEYS.decrypt(V2)
    KEYS.decrypt(V1)
    start = time.perf_counter()
    for _ in range(1_000):
        KEYS.decrypt(V2)
        KEYS.decrypt(V1)

    assert time.perf_counter() - start < 2  # 0.03 s measured; one key takes 0.05 to 0.2 s
