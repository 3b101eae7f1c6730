"""The record of what was read and where it went: a line for each question, search and note, for the owner alone.

It lies in the data folder, so never in the vault: `audit.jsonl`, and the files before it as `audit.1.jsonl` (the
newest) and so on. It names the notes that were read by their paths, personal ones too, since that is what its owner
will want to know. A question is kept as `hmac:` and its HMAC-SHA-256 under a key of this data folder: of a bare hash
anybody could find out a short question by trying.
"""

from vault_ask.audit.log import AuditLog
from vault_ask.audit.records import Door, Entry, Found, Record, Wanted, WebUse

__all__ = ["AuditLog", "Door", "Entry", "Found", "Record", "Wanted", "WebUse"]
