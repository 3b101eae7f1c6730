"""The one HTTP client for the vault's database: read-only by construction. Knows CouchDB's requests, nothing of notes.

couch_wall decides what may be sent, couch_requests sends it, couch_answers reads what comes back, and couch_feed keeps
a request open.
"""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from threading import Lock
from typing import Any, Literal
from urllib.parse import quote

from vault_ask.settings.vault import CouchSettings
from vault_ask.sources.couch_answers import (
    ChangesPage,
    DatabaseInfo,
    Row,
    change_row,
    count,
    listed_row,
    read_rows,
    sequence,
)
from vault_ask.sources.couch_feed import Feed, FeedEnd
from vault_ask.sources.couch_refusals import Busy, DatabaseAbsent, MalformedSequence, Missing, SelectorRefused
from vault_ask.sources.couch_requests import Ask, Requests
from vault_ask.sources.couch_wall import NeverSent

__all__ = [
    "Busy",
    "ChangesPage",
    "CouchClient",
    "DatabaseAbsent",
    "DatabaseInfo",
    "Feed",
    "FeedEnd",
    "MalformedSequence",
    "NeverSent",
    "Row",
    "SelectorRefused",
]

_KEYS_AT_ONCE = 1000
_ROWS_OF_A_LONGPOLL = 1000
# CouchDB takes 8 kB of a request's first line, in which a letter may need nine bytes.
_LONGEST_QUERY = 800
_SILENT_HEARTBEATS = 3
# Everything but chunks, tombstones without any field included, which a selector by `type` would miss.
_NO_CHUNKS = {"selector": {"$or": [{"_id": {"$lt": "h:"}}, {"_id": {"$gte": "h;"}}]}}
# Without an end express-pouchdb leaves out every id that begins beyond Latin letters.
_LAST_ID = "\U0010fffd"

_Document = dict[str, Any]


class CouchClient:
    """Reads one database. Every method may be called from several threads at once.

    All of them raise SourceUnreachable (DatabaseAbsent and Busy are such) when waiting may help, and SourceRefused when
    the owner must change something; what else a method raises stands there.
    """

    def __init__(self, settings: CouchSettings, *, backoff_seconds: float = 0.5) -> None:
        """Prepare; nothing is sent yet. Raises ConfigError."""
        self._requests = Requests(settings, backoff_seconds)
        self._speaker = self._requests.speaker
        self._pouchdb: bool | None = None
        self._asking = Lock()
        self.address = f"{settings.url}/{settings.database}"

    def close(self) -> None:
        """Close the connections and end every wait, from any thread; feeds are closed each by itself."""
        self._requests.close()

    def info(self) -> DatabaseInfo:
        """Ask what the database says of itself."""
        told = self._requests.ask(Ask(""))
        if "db_name" not in told and "update_seq" not in told:
            raise self._speaker.no_couchdb()
        return DatabaseInfo(
            name=str(told.get("db_name", "")),
            update_seq=sequence(told.get("update_seq")),
            instance_start_time=sequence(told.get("instance_start_time")),
            purge_seq=sequence(told.get("purge_seq")),
            doc_count=count(told.get("doc_count")) or 0,
        )

    def is_pouchdb(self) -> bool:
        """Tell whether express-pouchdb serves: by its root, or by the database where a proxy hides that. Asked once."""
        with self._asking:
            if self._pouchdb is None:
                told = self._requests.root()
                told = told if isinstance(told, dict) else self._requests.ask(Ask(""))
                self._pouchdb = "express-pouchdb" in told or "backend_adapter" in told
            return self._pouchdb

    def local(self, name: str) -> _Document | None:
        """Read `_local/NAME`, a name of letters, digits, _ and -; None when there is none."""
        try:
            return self._requests.ask(Ask(f"/_local/{quote(name, safe='')}"))
        except Missing:
            return None

    def document(self, doc_id: str) -> _Document | None:
        """Read the winning revision of one document with its `_conflicts`; None when missing or deleted."""
        return self.fetch([doc_id])[doc_id]

    def all_docs(self, *, start: str | None, end: str | None, include_docs: bool, limit: int) -> Iterator[list[Row]]:
        """List the documents with start <= id < end in the order of their ids, `limit` a page, without deleted ones.

        With `include_docs` a document names its losing revisions in `_conflicts`. A page is read when it is asked for;
        a document that changes meanwhile is listed as it is then.
        """
        if end is None and self.is_pouchdb():
            end = _LAST_ID
        last: str | None = None
        while True:
            # The last row is asked for again rather than skipped: had it been deleted, another would be skipped.
            wanted = limit if last is None else limit + 1
            keys = {"start_key": start if last is None else last, "end_key": end}
            rows = self._listed(keys, limit=wanted, include_docs=include_docs)
            page = [row for row in read_rows(rows, listed_row) if row.id != last]
            if page:
                yield page
            if len(rows) < wanted or not page:
                return
            last = page[-1].id

    def fetch(self, ids: Sequence[str]) -> dict[str, _Document | None]:
        """Read the winning revisions of documents with their `_conflicts`; None for the missing and the deleted."""
        found: dict[str, _Document | None] = dict.fromkeys(ids)
        wanted = [doc_id for doc_id in found if _is_utf8(doc_id)]
        for first in range(0, len(wanted), _KEYS_AT_ONCE):
            found |= self._fetch(wanted[first : first + _KEYS_AT_ONCE])
        return found

    def existing(self, ids: Sequence[str]) -> set[str]:
        """Tell which documents are there, without reading them."""
        asked = [doc_id for doc_id in dict.fromkeys(ids) if _is_utf8(doc_id)]
        found: set[str] = set()
        for first in range(0, len(asked), _KEYS_AT_ONCE):
            rows = self._rows(Ask("/_all_docs", body={"keys": asked[first : first + _KEYS_AT_ONCE]}))
            found |= {row.id for row in read_rows(rows, listed_row) if not row.deleted}
        return found

    def revisions(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], _Document | None]:
        """Read revisions by (id, revision); None for those that are not kept any more."""
        found: dict[tuple[str, str], _Document | None] = dict.fromkeys(wanted)
        asked = [pair for pair in found if _is_utf8("".join(pair))]
        for first in range(0, len(asked), _KEYS_AT_ONCE):
            found |= self._revisions(asked[first : first + _KEYS_AT_ONCE])
        return found

    def changes(self, *, since: str, limit: int, selector: bool) -> ChangesPage:
        """Ask once for what changed after `since` (`0` is the start, `now` the end); `selector` leaves chunks out.

        Raises MalformedSequence, SelectorRefused.
        """
        told = self._requests.ask(self._changes({"since": since, "limit": str(limit)}, filtered=selector))
        if not isinstance(told.get("results"), list) or "last_seq" not in told:
            raise self._speaker.broken_off()
        rows = read_rows(told["results"], change_row)
        return ChangesPage(rows, sequence(told["last_seq"]), count(told.get("pending")))

    def follow(
        self, *, since: str, selector: bool, mode: Literal["continuous", "longpoll"], heartbeat_seconds: float
    ) -> Feed:
        """Open a feed of what changes after `since`; a longpoll ends after the first changes.

        The feed ends with the errors that `changes` raises; only SelectorRefused is raised here, for a PouchDB.
        """
        query = {"feed": mode, "since": since, "heartbeat": str(int(heartbeat_seconds * 1000))}
        if mode == "longpoll":
            query["limit"] = str(_ROWS_OF_A_LONGPOLL)
        ask = self._changes(query, filtered=selector)
        opened = partial(self._requests.stream, ask, silence_seconds=heartbeat_seconds * _SILENT_HEARTBEATS)
        return Feed(opened, self._speaker, whole=mode == "longpoll")

    def _changes(self, query: dict[str, str], *, filtered: bool) -> Ask:
        if not filtered:
            return Ask("/_changes", query)
        if self.is_pouchdb():
            # Some versions of it die of a selector, so it never gets one.
            raise SelectorRefused(f"The server at {self._speaker.host} is a PouchDB, which does not filter changes.")
        return Ask("/_changes", query | {"filter": "_selector"}, _NO_CHUNKS, filtered=True)

    def _listed(self, keys: dict[str, str | None], *, limit: int, include_docs: bool) -> list[Any]:
        asked: dict[str, Any] = {name: key for name, key in keys.items() if key is not None}
        asked |= {"limit": limit, "inclusive_end": False} | (_WITH_DOCUMENTS if include_docs else {})
        query = {name: json.dumps(value) for name, value in asked.items()}
        if sum(map(len, query.values())) > _LONGEST_QUERY:
            return self._rows(Ask("/_all_docs", body=asked))
        return self._rows(Ask("/_all_docs", query))

    def _fetch(self, ids: list[str]) -> dict[str, _Document | None]:
        rows = {
            row["key"]: row
            for row in self._rows(Ask("/_all_docs", dict.fromkeys(_WITH_DOCUMENTS, "true"), {"keys": ids}))
            if isinstance(row, dict) and isinstance(row.get("key"), str)
        }
        # A row that is not there, or failed otherwise, must not pass for a document that is gone.
        if any(doc_id not in rows or rows[doc_id].get("error", "not_found") != "not_found" for doc_id in ids):
            raise self._speaker.broken_off()
        return {doc_id: _document(rows[doc_id].get("doc")) for doc_id in ids}

    def _revisions(self, pairs: list[tuple[str, str]]) -> dict[tuple[str, str], _Document]:
        body = {"docs": [{"id": doc_id, "rev": revision} for doc_id, revision in pairs]}
        results = self._requests.ask(Ask("/_bulk_get", body=body)).get("results")
        if not isinstance(results, list):
            raise self._speaker.broken_off()
        asked = set(pairs)
        return {pair: document for pair, document in _bulk_documents(results) if pair in asked}

    def _rows(self, ask: Ask) -> list[Any]:
        rows = self._requests.ask(ask).get("rows")
        if not isinstance(rows, list):
            raise self._speaker.broken_off()
        return rows


_WITH_DOCUMENTS = {"include_docs": True, "conflicts": True}


def _is_utf8(text: str) -> bool:
    """Tell whether there can be a document of this name: half a surrogate pair is refused with the whole request."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _document(value: object) -> _Document | None:
    return value if isinstance(value, dict) else None


def _bulk_documents(results: list[Any]) -> Iterator[tuple[tuple[str, str], _Document]]:
    """Yield the documents that `_bulk_get` found, each with its id and revision."""
    for result in results:
        for one in (result.get("docs") or []) if isinstance(result, dict) else []:
            document = one.get("ok") if isinstance(one, dict) else None
            if isinstance(document, dict):
                yield (str(document.get("_id")), str(document.get("_rev"))), document
