"""The keys of a Self-hosted LiveSync vault, and how each string form that the plugin ever wrote is decrypted.

Knows nothing of documents. The forms are those of octagonal-wheels 0.1.52 (vrtmrz/fancy-kit, `src/encryption`): all
AES-256-GCM with the tag appended and UTF-8 inside, told apart by how the string begins and never by a setting.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC

from vault_ask.errors import VaultAskError

UndecodableCode = Literal["no-passphrase", "wrong-passphrase", "no-salt", "damaged", "unsupported"]

_V2_ITERATIONS = 310_000
_V1_ITERATIONS = 100_000
# An obfuscated V1 vault has a salt for each path; 16,384 keys are a few megabytes and spare 0.07 s each.
_V1_KEYS = 16_384
_MASTER_KEYS = 64
_IV, _SALT = 12, 32

# The shortest ciphertext is its 16-byte tag: 24 characters of base64, and more where an IV and salts stand before it.
_V2 = re.compile(r"%=([A-Za-z0-9+/]{78,}={0,2})")
_EPHEMERAL = re.compile(r"%\$([A-Za-z0-9+/]{122,}={0,2})")
_V3 = re.compile(r"%~([0-9a-f]{24})([A-Za-z0-9+/]{22,}={0,2})")
_V1 = re.compile(r"%([0-9a-f]{32})([0-9a-f]{32})([A-Za-z0-9+/]{22,}={0,2})")
_OLDEST = re.compile(r'\["([A-Za-z0-9+/]{22,}={0,2})","([0-9a-f]{32})","([0-9a-f]{32})"\]')

_WRONG = "it cannot be decrypted with the passphrase that is set; set the one that your devices use"
_DAMAGED = "it is damaged, or another passphrase than the rest of the vault encrypted it"
_UNSET = "it is encrypted and no passphrase is set"
_NO_SALT = "the database does not tell the salt that it was encrypted with (its sync parameters are missing)"
_OTHER_SALT = "it is damaged, or was encrypted with a salt that the database no longer tells"
_MALFORMED = "it is marked as encrypted but has none of the forms that LiveSync writes"


class Undecodable(VaultAskError):
    """What LiveSync wrote cannot be turned into text; `reason` is a clause for the owner, without text of the vault."""

    def __init__(self, code: UndecodableCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def looks_encrypted(text: str) -> bool:
    """Tell whether a string has, to the last character, one of the encrypted forms; ordinary text practically never."""
    return any(form.fullmatch(text) for form in (_V2, _V1, _V3, _EPHEMERAL, _OLDEST))


def looks_v1(text: str) -> bool:
    """Tell whether a string has the form of V1, which a V2 ciphertext may hold inside."""
    return _V1.fullmatch(text) is not None


class Keyring:
    """A passphrase and every salt the vault had, with the keys made of them; safe to use from several threads.

    `configured_dynamic` says which number of V1 iterations is tried first; what worked last goes before it.
    """

    def __init__(
        self, passphrase: str | None, salts: Iterable[bytes] = (), *, configured_dynamic: bool = False
    ) -> None:
        self._secret = (passphrase or "").encode("utf-8", "surrogatepass")
        self._dynamic_iterations = _dynamic_iterations(passphrase or "")
        self._salts: tuple[bytes, ...] = ()
        self._proven: frozenset[str] = frozenset()
        self._worked_dynamic: bool | None = None
        self.configured_dynamic = configured_dynamic
        self._v1_key = lru_cache(_V1_KEYS)(self._derive_v1)
        self._v3_key = lru_cache(1)(self._derive_v3)
        self._master = lru_cache(_MASTER_KEYS)(self._derive_master)
        for salt in reversed(tuple(salts)):
            self.add_salt(salt)

    def __repr__(self) -> str:
        """Tell how much it holds, and nothing of what it holds."""
        return f"Keyring(passphrase={'set' if self._secret else 'not set'}, salts={len(self._salts)})"

    @property
    def salts(self) -> tuple[bytes, ...]:
        """Every salt of V2 that the vault was seen with, the newest first."""
        return self._salts

    def add_salt(self, salt: bytes) -> bool:
        """Take a salt as the newest; tell whether it was unknown. None is ever dropped: old strings still need it."""
        known = salt in self._salts
        self._salts = (salt, *(other for other in self._salts if other != salt))
        return not known

    def decrypt(self, text: str) -> str:
        """Decrypt a string in any of the forms. Raises Undecodable."""
        if not self._secret:
            raise Undecodable("no-passphrase", _UNSET)
        if match := _V2.fullmatch(text):
            return self._decrypt_v2(_unbase64(match[1]))
        if match := _V1.fullmatch(text):
            return self._decrypt_v1(*match.groups())
        return self._decrypt_rare(text)

    def _decrypt_rare(self, text: str) -> str:
        if match := _V3.fullmatch(text):
            return self._decrypt_v3(bytes.fromhex(match[1]), _unbase64(match[2]))
        if match := _EPHEMERAL.fullmatch(text):
            packed = _unbase64(match[1])
            return self._decrypt_hkdf((packed[:_SALT],), packed[_SALT:])
        if match := _OLDEST.fullmatch(text):
            return _json_string(self._decrypt_v1(match[2], match[3], match[1]))
        raise Undecodable("damaged", _MALFORMED)

    def _decrypt_v2(self, packed: bytes) -> str:
        if not self._salts:
            raise Undecodable("no-salt", _NO_SALT)
        return self._decrypt_hkdf(self._salts, packed)

    def _decrypt_hkdf(self, salts: Iterable[bytes], packed: bytes) -> str:
        iv, own_salt, sealed = packed[:_IV], packed[_IV : _IV + _SALT], packed[_IV + _SALT :]
        for salt in salts:
            key = HKDF(algorithm=SHA256(), length=32, salt=own_salt, info=b"").derive(self._master(salt))
            if (plain := _open(AESGCM(key), iv, sealed)) is not None:
                return self._success("v2", plain)
        raise self._failure("v2")

    def _decrypt_v1(self, iv: str, salt: str, sealed: str) -> str:
        nonce, own_salt, packed = bytes.fromhex(iv), bytes.fromhex(salt), _unbase64(sealed)
        first = self.configured_dynamic if self._worked_dynamic is None else self._worked_dynamic
        for dynamic in (first, not first):
            key = self._v1_key(own_salt, self._dynamic_iterations if dynamic else _V1_ITERATIONS)
            if (plain := _open(key, nonce, packed)) is not None:
                self._worked_dynamic = dynamic
                return self._success("v1", plain)
        raise self._failure("v1")

    def _decrypt_v3(self, iv: bytes, sealed: bytes) -> str:
        if (plain := _open(self._v3_key(), iv, sealed)) is not None:
            return self._success("v3", plain)
        raise self._failure("v3")

    def _success(self, family: str, plain: bytes) -> str:
        if family not in self._proven:
            self._proven |= {family}
        try:
            return plain.decode("utf-8")
        except UnicodeDecodeError:
            raise Undecodable("damaged", "what was encrypted is not text") from None

    def _failure(self, family: str) -> Undecodable:
        """Blame the passphrase only while nothing has shown that it is right: AES-GCM itself cannot tell."""
        if not self._proven:
            return Undecodable("wrong-passphrase", _WRONG)
        if family != "v2":
            return Undecodable("damaged", _DAMAGED)
        return Undecodable("damaged" if "v2" in self._proven else "no-salt", _OTHER_SALT)

    def _derive_master(self, salt: bytes) -> bytes:
        return _pbkdf2(self._secret, salt, _V2_ITERATIONS)

    def _derive_v1(self, salt: bytes, iterations: int) -> AESGCM:
        return AESGCM(_pbkdf2(hashlib.sha256(self._secret).digest(), salt, iterations))

    def _derive_v3(self) -> AESGCM:
        salt = hashlib.sha256(self._secret + b"fancySyncForYou!").digest()[:16]
        return AESGCM(_pbkdf2(self._secret, salt, _V1_ITERATIONS))


def _dynamic_iterations(passphrase: str) -> int:
    """Count V1's iterations as `useDynamicIterationCount` does: the shorter the passphrase (UTF-16 units), the more."""
    missing = 15 - len(passphrase.encode("utf-16-le", "surrogatepass")) // 2
    return max(missing, 0) * 1000 + 121 - missing


def _pbkdf2(secret: bytes, salt: bytes, iterations: int) -> bytes:
    return PBKDF2HMAC(algorithm=SHA256(), length=32, salt=salt, iterations=iterations).derive(secret)


def _open(key: AESGCM, iv: bytes, sealed: bytes) -> bytes | None:
    try:
        return key.decrypt(iv, sealed, None)
    except InvalidTag:
        return None


def _unbase64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise Undecodable("damaged", _MALFORMED) from None


def _json_string(text: str) -> str:
    value = json_or_damaged(text)
    if not isinstance(value, str):
        raise Undecodable("damaged", "what was encrypted is not text")
    return value


def json_or_damaged(text: str) -> object:
    """Parse JSON that came out of a decryption. Raises Undecodable."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Undecodable("damaged", "what was encrypted is not what LiveSync writes there") from None
