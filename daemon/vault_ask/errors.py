"""Every error that vault-ask raises on purpose.

    VaultAskError
    ├── ConfigError               stop at start and tell the owner
    │   ├── EmbeddingSpaceChanged the stored vectors belong to another model, prefix or dimension
    │   ├── IndexBusy             another daemon owns this data folder
    │   ├── NoIndex               nothing has been indexed in this data folder yet
    │   └── KeyNotSet             a secret that the chosen set-up needs is missing
    ├── SourceError
    │   ├── SourceUnreachable     the vault is away for now: wait, keep what is indexed, try again
    │   └── SourceRefused         the vault cannot be read until the owner changes something
    ├── IndexFailed               SQLite could not do what was asked of the index
    │   └── IndexDamaged          the index file is damaged; it is set aside and built anew from the vault
    ├── Undecodable               what LiveSync wrote cannot be turned into text (defined in sources.ciphers)
    ├── DocumentVanished          a listed document was gone when it was read; a later change tells more
    ├── DocumentIncomplete        its newest version is not whole or cannot be decrypted; the last good one stays
    ├── WebFailed                 the web search gave no answer; the vault's stands without it
    ├── ModelError
    │   ├── ModelUnreachable      nobody answered: try again later
    │   ├── ModelBusy             it answered that it has too much to do
    │   └── ModelRefused          it answered, and trying the same again will not help
    ├── NoSuchNote                absent, or not visible in this scope; the same thing
    └── BadRequest                the caller's words do not fit

A message is one sentence a person can act on: what happened, what it means, what to do. It holds no note text
and no secret.
"""


class VaultAskError(Exception):
    """The root: catching it catches everything we raise on purpose."""


class ConfigError(VaultAskError):
    """The daemon cannot start as it is configured."""


class EmbeddingSpaceChanged(ConfigError):
    """The stored vectors were made by another model, prefix or dimension."""


class IndexBusy(ConfigError):
    """Another process owns this data folder."""


class NoIndex(ConfigError):
    """Nothing has been indexed in this data folder yet."""


class KeyNotSet(ConfigError):
    """A secret that the chosen configuration needs is not in the environment."""


class SourceError(VaultAskError):
    """The vault could not be read."""


class SourceUnreachable(SourceError):
    """The vault is away for now; what is indexed stays."""


class SourceRefused(SourceError):
    """The vault cannot be read until the owner changes something."""


class IndexFailed(VaultAskError):
    """SQLite could not do what was asked of the index."""


class IndexDamaged(IndexFailed):
    """The index file is damaged; the vault is untouched."""


class DocumentVanished(VaultAskError):
    """A document was listed or announced, and was gone when it was read."""


class DocumentIncomplete(VaultAskError):
    """The newest version of a document is not whole yet, or cannot be decrypted; the message is a clause."""

    def __init__(self, reason: str, beginning: bytes = b"") -> None:
        super().__init__(reason)
        self.beginning = beginning


class WebFailed(VaultAskError):
    """The web search gave no answer; the vault's stands without it.

    `sent` is False where the question surely never left this machine.
    """

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


class ModelError(VaultAskError):
    """A model did not do what was asked."""


class ModelUnreachable(ModelError):
    """Nobody answered at the model's address."""


class ModelBusy(ModelError):
    """The model answered that it has too much to do."""


class ModelRefused(ModelError):
    """The model answered no, and the same request will be refused again."""


class NoSuchNote(VaultAskError):
    """The note is absent or not visible in this scope; a caller cannot tell which."""


class BadRequest(VaultAskError):
    """The caller's words do not fit the grammar of the request."""
