"""What CouchDB answers to a reading request: listings, changes, selectors. Knows no HTTP but the query's grammar."""

import json
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

from couch_store import Database
from couch_tree import MISSING, Body, Refusal, Stored

_FEED_SECONDS = 60.0
Query = Mapping[str, str]


class Listing:
    """Changes of one request: where they are, and what is let through."""

    def __init__(
        self, database: Database, query: Query, selector: Body | None, *, shuffle: random.Random | None, repeats: bool
    ) -> None:
        self.database = database
        self.is_over = False
        self._shuffle = shuffle
        self._repeats = repeats
        self._positions = database.positions(query.get("since", "0"))
        self._limit = int(query["limit"]) if "limit" in query else None
        self._query = query
        self._selector = selector
        self._opened = time.monotonic()

    @property
    def heartbeat(self) -> float:
        told = self._query.get("heartbeat", "")
        return int(told) / 1000 if told.isdigit() else 60.0 if told == "true" else _FEED_SECONDS

    def times_out(self) -> bool:
        timeout = float(self._query.get("timeout", _FEED_SECONDS * 1000)) / 1000
        return "heartbeat" not in self._query and time.monotonic() >= self._opened + timeout

    def take(self) -> list[Body]:
        """Give the rows that are there, at most as many as were asked for, and move on."""
        rows: list[Body] = []
        found = self.database.changed(self._positions, shuffle=self._shuffle, rewind=self._repeats)
        for stored, positions in found:
            if self._limit is not None and len(rows) >= self._limit:
                break
            self._positions = positions
            if self._is_wanted(stored):
                rows.append(self._row(stored, positions))
        return rows

    def end(self) -> Body:
        return {
            "last_seq": self.database.sequence(self._positions),
            "pending": self.database.pending(self._positions),
        }

    def _is_wanted(self, stored: Stored) -> bool:
        return self._selector is None or matches(self._selector, stored.document(stored.winner) or {})

    def _row(self, stored: Stored, positions: list[int]) -> Body:
        leaves = stored.leaves if self._query.get("style") == "all_docs" else stored.leaves[:1]
        row: Body = {
            "seq": self.database.sequence(positions),
            "id": stored.id,
            "changes": [{"rev": leaf} for leaf in leaves],
        }
        if stored.is_deleted:
            row["deleted"] = True
        if self._query.get("include_docs") == "true":
            row["doc"] = stored.document(stored.winner, conflicts=self._query.get("conflicts") == "true")
        return row


def parsed_query(text: str) -> Query:
    """Read a query as CouchDB does, for which `;` separates as `&` does."""
    pairs = (part.partition("=") for part in re.split("[&;]", text) if part)
    return {unquote_plus(name): unquote_plus(value) for name, _, value in pairs}


def _key(query: Query, *names: str) -> str | None:
    told = next((query[name] for name in names if name in query), None)
    if told is None:
        return None
    try:
        return str(json.loads(told))
    except ValueError:
        raise Refusal(400, "bad_request", "invalid UTF-8 JSON") from None


def all_docs(database: Database, query: Query, body: Body) -> Body:
    total = database.alive
    if "keys" in body:
        if any("\ud800" <= letter <= "\udfff" for key in body["keys"] for letter in key):
            raise Refusal(400, "bad_request", "invalid UTF-8 JSON")
        return {"total_rows": total, "offset": None, "rows": [_by_key(database, key, query) for key in body["keys"]]}
    query = {**query, **{name: json.dumps(value) for name, value in body.items()}}
    start, end = _key(query, "start_key", "startkey"), _key(query, "end_key", "endkey")
    found = database.between(start, end, inclusive=query.get("inclusive_end") != "false")
    skip, limit = int(query.get("skip", 0)), int(query.get("limit", 1 << 60))
    rows = [_listed(stored, query) for stored in _slice(found, skip, limit)]
    return {"total_rows": total, "offset": 0, "rows": rows}


def _slice(found: Iterator[Stored], skip: int, limit: int) -> Iterator[Stored]:
    for place, stored in enumerate(found):
        if place >= skip + limit:
            return
        if place >= skip:
            yield stored


def _by_key(database: Database, key: str, query: Query) -> Body:
    stored = database.get(key)
    if stored is None:
        return {"key": key, "error": "not_found"}
    if not stored.is_deleted:
        return _listed(stored, query)
    row = {"id": key, "key": key, "value": {"rev": stored.winner, "deleted": True}}
    return row | ({"doc": None} if query.get("include_docs") == "true" else {})


def _listed(stored: Stored, query: Query) -> Body:
    row: Body = {"id": stored.id, "key": stored.id, "value": {"rev": stored.winner}}
    if query.get("include_docs") == "true":
        row["doc"] = stored.document(stored.winner, conflicts=query.get("conflicts") == "true")
    return row


def bulk_get(database: Database, one: Body, query: Query) -> Body:
    doc_id = one["id"]
    stored = database.get(doc_id)
    revision = one.get("rev") or (stored.winner if stored else "undefined")
    document = stored.document(revision, revs=query.get("revs") == "true") if stored else None
    error = {"id": doc_id, "rev": revision, "error": "not_found", "reason": "missing"}
    return {"id": doc_id, "docs": [{"ok": document} if document else {"error": error}]}


def bulk_docs(database: Database, body: Body) -> list[Body]:
    new_edits = body.get("new_edits") is not False
    told = []
    for document in body["docs"]:
        try:
            revision = database.put(document, new_edits=new_edits)
            told.append({"ok": True, "id": document["_id"], "rev": revision})
        except Refusal as refusal:
            told.append({"id": document["_id"], **refusal.body})
    return told if new_edits else []


def document(database: Database, doc_id: str, query: Query) -> Body:
    stored = database.get(doc_id)
    if stored is None:
        raise MISSING
    if stored.is_deleted and "rev" not in query:
        raise Refusal(404, "not_found", "deleted")
    flags = {name: query.get(name) == "true" for name in ("conflicts", "revs")}
    document = stored.document(query.get("rev", stored.winner), **flags)
    if document is None:
        raise MISSING
    return document


def matches(selector: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Tell whether a document matches a Mango selector of the operators that vault-ask and LiveSync use."""
    return all(_holds(key, wanted, document) for key, wanted in selector.items())


def _holds(key: str, wanted: Any, document: Mapping[str, Any]) -> bool:  # noqa: ANN401 - any JSON
    if key == "$or":
        return any(matches(one, document) for one in wanted)
    if key == "$and":
        return all(matches(one, document) for one in wanted)
    # A field that is not there matches no operator, not even $ne.
    if key not in document:
        return False
    operators = wanted if isinstance(wanted, dict) else {"$eq": wanted}
    return all(_OPERATORS[name](document[key], value) for name, value in operators.items())


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$lt": lambda value, limit: value < limit,
    "$lte": lambda value, limit: value <= limit,
    "$gt": lambda value, limit: value > limit,
    "$gte": lambda value, limit: value >= limit,
    "$eq": lambda value, other: bool(value == other),
    "$ne": lambda value, other: bool(value != other),
    "$in": lambda value, several: value in several,
}
