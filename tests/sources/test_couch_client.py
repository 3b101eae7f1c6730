"""The client of the vault's database: what it never sends, and what it makes of everything a server may do."""

import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from couch_stand_in import CouchStandIn
from vault_ask.errors import ConfigError, SourceError, SourceRefused, SourceUnreachable
from vault_ask.settings.vault import CouchSettings
from vault_ask.sources.couch_client import (
    Busy,
    CouchClient,
    DatabaseAbsent,
    Feed,
    FeedEnd,
    MalformedSequence,
    NeverSent,
    Row,
    SelectorRefused,
)
from vault_ask.sources.couch_wall import ReadOnlyTransport, Wall
from waiting import PATIENCE, wait_until

USER, PASSWORD, TOKEN = "reader", "päss:wörd", "header-secret"
Ask = Callable[[CouchClient], object]


@pytest.fixture
def vault(stand_in: CouchStandIn) -> CouchStandIn:
    """A server with the database `vault`."""
    stand_in.create("vault")
    return stand_in


@pytest.fixture
def connect() -> Iterator[Callable[..., CouchClient]]:
    """Makes clients and closes them."""
    made: list[CouchClient] = []

    def make(server: CouchStandIn | str, database: str = "vault", **more: Any) -> CouchClient:  # noqa: ANN401 - whatever the settings take
        url = server if isinstance(server, str) else server.url
        made.append(CouchClient(CouchSettings(url=url, database=database, **more), backoff_seconds=0.005))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def client(vault: CouchStandIn, connect: Callable[..., CouchClient]) -> CouchClient:
    return connect(vault)


def follow(client: CouchClient, *, mode: str = "continuous", heartbeat: float = 20.0, selector: bool = False) -> Feed:
    return client.follow(since="0", selector=selector, mode=mode, heartbeat_seconds=heartbeat)  # type: ignore[arg-type]


def end_of(feed: Feed) -> FeedEnd:
    """Take until the feed is over."""
    try:
        while not isinstance(taken := feed.take(PATIENCE), FeedEnd):
            assert taken is not None, "the feed did not end"
        return taken
    finally:
        feed.close()


def changes(client: CouchClient, *, since: str = "0", selector: bool = False) -> list[Row]:
    return client.changes(since=since, limit=100, selector=selector).rows


# Reading only


class Recorder(httpx.BaseTransport):
    """The network: keeps what reaches it."""

    def __init__(self) -> None:
        self.sent: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return httpx.Response(302, headers={"Location": "http://elsewhere.example/couch/vault"})


BASE = "http://couch.example:5984/couch"
ALLOWED = [
    ("GET", f"{BASE}/"),
    ("GET", f"{BASE}/vault"),
    ("GET", f"{BASE}/vault/_changes?since=0"),
    ("GET", f"{BASE}/vault/_all_docs?start_key=%22h%3B%22"),
    ("GET", f"{BASE}/vault/_local/obsydian_livesync_milestone"),
    ("POST", f"{BASE}/vault/_all_docs"),
    ("POST", f"{BASE}/vault/_changes?filter=_selector"),
    ("POST", f"{BASE}/vault/_bulk_get"),
]
FORBIDDEN = [
    ("PUT", f"{BASE}/vault/note.md"),
    ("DELETE", f"{BASE}/vault/note.md"),
    ("COPY", f"{BASE}/vault/note.md"),
    ("PATCH", f"{BASE}/vault/_all_docs"),
    ("post", f"{BASE}/vault"),
    ("DELETE", f"{BASE}/vault"),
    ("PUT", f"{BASE}/vault"),
    ("PUT", f"{BASE}/vault/_all_docs"),
    ("PUT", f"{BASE}/vault/_local/obsidian_livesync_sync_parameters"),
    ("POST", f"{BASE}/vault/_local/obsidian_livesync_sync_parameters"),
    ("POST", f"{BASE}/vault"),
    ("POST", f"{BASE}/"),
    ("POST", f"{BASE}/vault/_bulk_docs"),
    ("POST", f"{BASE}/vault/_purge"),
    ("POST", f"{BASE}/vault/_compact"),
    ("POST", f"{BASE}/vault/_find"),
    ("POST", f"{BASE}/vault/_all_docs/"),
    ("POST", f"{BASE}/vault/_all_docs/../_bulk_docs"),
    ("POST", f"{BASE}/vault/_all_docs%2F..%2F_bulk_docs"),
    ("POST", f"{BASE}/vault/_changes/..%2F_bulk_docs"),
    ("POST", f"{BASE}/vault/%5Fall_docs"),
    ("POST", f"{BASE}/vault//_all_docs"),
    ("POST", f"{BASE}/other/_all_docs"),
    ("POST", f"{BASE}/_replicate"),
    ("POST", "http://couch.example:5984/vault/_all_docs"),
    ("GET", f"{BASE}/other"),
    ("GET", f"{BASE}/vault/../other/_all_docs"),
    ("GET", f"{BASE}/vault%2F..%2Fother"),
    ("GET", f"{BASE}/vault/note.md"),
    ("GET", f"{BASE}/vault/_design/x/_update/y"),
    ("GET", f"{BASE}/vault/_local/..%2Fx"),
    ("GET", f"{BASE}/vault/_local/a/b"),
    ("GET", f"{BASE}/_all_dbs"),
    ("GET", "http://elsewhere.example:5984/couch/vault"),
    ("GET", "http://couch.example:5985/couch/vault"),
    ("GET", "https://couch.example:5984/couch/vault"),
]


@pytest.fixture
def network() -> Recorder:
    return Recorder()


@pytest.fixture
def walled(network: Recorder) -> httpx.Client:
    """Any HTTP client behind the wall, one that follows redirects even."""
    return httpx.Client(transport=ReadOnlyTransport(Wall(BASE, "vault"), network), follow_redirects=True)


@pytest.mark.parametrize(("method", "url"), FORBIDDEN)
def test_a_request_that_does_more_than_read_is_never_sent(
    walled: httpx.Client, network: Recorder, method: str, url: str
) -> None:
    with pytest.raises(NeverSent):
        walled.send(walled.build_request(method, url, content=b"{}"))
    assert network.sent == []


@pytest.mark.parametrize(("method", "url"), ALLOWED)
def test_a_reading_request_is_sent_and_its_redirect_to_elsewhere_is_not_followed(
    walled: httpx.Client, network: Recorder, method: str, url: str
) -> None:
    with pytest.raises(NeverSent):
        walled.request(method, url)
    assert [(request.method, str(request.url)) for request in network.sent] == [(method, url)]


@pytest.mark.parametrize(
    "headers",
    [{"X-HTTP-Method-Override": "DELETE"}, {"x-http-method": "PUT"}, {"Host": "other.example"}],
    ids=lambda headers: next(iter(headers)),
)
def test_a_header_that_makes_another_request_of_it_is_never_sent(
    walled: httpx.Client, network: Recorder, headers: dict[str, str]
) -> None:
    with pytest.raises(NeverSent):
        walled.post(f"{BASE}/vault/_all_docs", headers=headers)
    assert network.sent == []


def test_a_target_that_the_library_would_take_instead_of_the_address_is_dropped(
    walled: httpx.Client, network: Recorder
) -> None:
    with pytest.raises(NeverSent):
        walled.get(f"{BASE}/vault", extensions={"target": b"/couch/vault/_compact"})
    assert "target" not in network.sent[0].extensions


def test_everything_the_client_can_be_asked_only_reads(vault: CouchStandIn, client: CouchClient) -> None:
    vault.store("vault", [{"_id": "a.md"}])
    client.info()
    client.is_pouchdb()
    client.local("x")
    client.document("../_bulk_docs")
    list(client.all_docs(start="../", end="}", include_docs=True, limit=1))
    client.revisions([("a.md", "1-aa")])
    changes(client, selector=True)
    follow(client).close()
    paths = {(request.method, request.path.split("?")[0]) for request in vault.requests}
    assert ("POST", "/vault/_bulk_get") in paths
    for method, path in paths:
        Wall(vault.url, "vault").check(httpx.Request(method, vault.url + path))


@pytest.mark.parametrize("name", ["../x", "a/b", "x?rev=1", "", "%2e%2e"])
def test_a_local_document_of_an_odd_name_is_not_asked_for(vault: CouchStandIn, client: CouchClient, name: str) -> None:
    with pytest.raises(NeverSent):
        client.local(name)
    assert vault.requests == []


# Set-up


@pytest.mark.parametrize("name", ["..", "_users", "vault?x", "Vault", "a b", "v%2F..", "a\n"])
def test_a_name_that_no_database_can_have_is_refused_at_once(name: str) -> None:
    with pytest.raises(ConfigError, match=r"vault\.couchdb\.database"):
        Wall("http://couch.example", name)


def test_a_database_with_a_slash_and_a_server_below_a_path_are_addressed_right(network: Recorder) -> None:
    wall = Wall("http://couch.example/deep/couch", "team/vault+1")
    assert (wall.root, wall.database) == ("/deep/couch/", "/deep/couch/team%2Fvault%2B1")
    with httpx.Client(transport=ReadOnlyTransport(wall, network)) as http:
        http.get("http://couch.example/deep/couch/team%2Fvault%2B1/_changes")
    assert network.sent[0].url.raw_path == b"/deep/couch/team%2Fvault%2B1/_changes"


def test_without_a_server_there_is_nothing_to_connect_to() -> None:
    with pytest.raises(ConfigError, match=r"vault\.couchdb\.url and vault\.couchdb\.database"):
        CouchClient(CouchSettings())


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "X-HTTP-Method-Override"])
def test_a_header_that_could_turn_a_request_into_another_is_refused(
    connect: Callable[..., CouchClient], name: str
) -> None:
    with pytest.raises(ConfigError, match=name):
        connect("http://couch.example", headers={name: TOKEN})


@pytest.mark.parametrize(("name", "value"), [("X Y", TOKEN), ("X", f"{TOKEN}\r\nDELETE / HTTP/1.1"), ("X", "ş")])
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(
    connect: Callable[..., CouchClient], name: str, value: str
) -> None:
    with pytest.raises(ConfigError, match=r"vault\.couchdb\.headers") as raised:
        connect("http://couch.example", headers={name: value})
    assert TOKEN not in str(raised.value)


@pytest.mark.parametrize("content", [None, b"no certificate", b""])
def test_a_certificate_file_that_is_none_is_told_by_its_setting(
    connect: Callable[..., CouchClient], tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"vault\.couchdb\.ca_file"):
        connect("https://couch.example", ca_file=file)


# Rights and secrets


@pytest.fixture
def guarded(vault: CouchStandIn) -> CouchStandIn:
    vault.users = {"admin": "root", USER: PASSWORD, "stranger": "x"}
    vault.databases["vault"].security = {"members": {"names": [USER]}}
    return vault


def test_a_member_reads_and_the_owners_headers_go_along(
    guarded: CouchStandIn, connect: Callable[..., CouchClient]
) -> None:
    client = connect(guarded, user=USER, password=PASSWORD, headers={"CF-Access-Client-Secret": TOKEN})
    assert client.info().name == "vault"
    assert guarded.headers[-1]["CF-Access-Client-Secret"] == TOKEN


@pytest.mark.parametrize("login", [{}, {"user": USER}, {"user": USER, "password": "wrong"}])
def test_a_wrong_or_missing_login_names_the_settings(
    guarded: CouchStandIn, connect: Callable[..., CouchClient], login: dict[str, str]
) -> None:
    with pytest.raises(SourceRefused, match="VAULTASK_VAULT__COUCHDB__PASSWORD"):
        connect(guarded, **login).info()


def test_whoever_is_no_member_is_told_where_that_is_set(
    guarded: CouchStandIn, connect: Callable[..., CouchClient]
) -> None:
    client = connect(guarded, user="stranger", password="x")
    with pytest.raises(SourceRefused, match=r"members, as docs/livesync\.md"):
        client.info()
    with pytest.raises(SourceRefused, match="members"):
        changes(client, selector=True)


def test_a_login_that_the_server_has_locked_is_told_from_a_missing_right(
    guarded: CouchStandIn, connect: Callable[..., CouchClient]
) -> None:
    body = b'{"error":"forbidden","reason":"Account is temporarily locked due to multiple authentication failures"}'
    guarded.reply_next(body, status=403, headers={"Content-Type": "application/json"})
    with pytest.raises(SourceRefused, match=r"locked the user out.*VAULTASK_VAULT__COUCHDB__PASSWORD"):
        connect(guarded, user=USER, password=PASSWORD).info()


def test_no_error_and_no_representation_holds_a_secret(
    guarded: CouchStandIn, connect: Callable[..., CouchClient]
) -> None:
    client = connect(guarded, user=USER, password=PASSWORD, headers={"X-Token": TOKEN})
    told = [repr(client), repr(vars(client)), client.address]
    guarded.users[USER] = "changed"
    told += [str(failure(client.info))]
    guarded.reply_next(status=302, headers={"Location": f"http://user:{PASSWORD}@{USER}/?{TOKEN}"})
    told += [str(failure(client.info))]
    guarded.down()
    told += [str(failure(client.info))]
    assert [text for text in told for secret in (PASSWORD, TOKEN, f"{USER}:") if secret in text] == []
    assert all(text for text in told)


def failure(ask: Callable[[], object]) -> SourceError:
    with pytest.raises(SourceError) as raised:
        ask()
    assert raised.value.__cause__ is None
    return raised.value


# What servers and those before them do


def test_nobody_listening_is_told_with_the_host(vault: CouchStandIn, client: CouchClient) -> None:
    vault.down()
    error = failure(client.info)
    assert isinstance(error, SourceUnreachable)
    assert vault.url.removeprefix("http://") in str(error)
    vault.up()
    assert client.info().name == "vault"


def test_a_name_that_nobody_knows_is_told(connect: Callable[..., CouchClient]) -> None:
    assert isinstance(failure(connect("http://nowhere.invalid:5984").info), SourceUnreachable)


@pytest.mark.parametrize("status", [408, 413, 429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again_a_few_times(vault: CouchStandIn, client: CouchClient, status: int) -> None:
    vault.fail_next(status, count=3)
    assert client.info().name == "vault"
    vault.fail_next(status, count=4)
    assert isinstance(failure(client.info), Busy)
    assert len(vault.requests) == 8


def test_a_server_that_says_how_long_is_left_alone_so_long(vault: CouchStandIn, client: CouchClient) -> None:
    vault.fail_next(429, retry_after=1)
    start = time.monotonic()
    client.info()
    assert time.monotonic() - start >= 1


def test_a_server_that_wants_too_long_a_pause_gets_it_from_whoever_asks(
    vault: CouchStandIn, client: CouchClient
) -> None:
    vault.fail_next(503, retry_after=61)
    client._requests._closing.set()
    error = failure(client.info)
    assert isinstance(error, Busy)
    assert error.retry_after == 60
    assert len(vault.requests) == 1


@pytest.mark.parametrize("fault", ["a pause that it asks for", "its silence"])
def test_closing_ends_every_wait_for_the_server(vault: CouchStandIn, client: CouchClient, fault: str) -> None:
    if fault == "its silence":
        vault.pause()
    else:
        vault.fail_next(503, retry_after=50)
    caught: list[SourceError] = []
    asking = threading.Thread(target=lambda: caught.append(failure(client.info)))
    asking.start()
    wait_until(lambda: len(vault.requests) == 1)
    client.close()
    asking.join(5)
    assert not asking.is_alive()
    assert isinstance(caught[0], SourceUnreachable)
    vault.resume()


def test_a_connection_cut_in_an_answer_is_tried_again(vault: CouchStandIn, client: CouchClient) -> None:
    vault.cut_next(3)
    assert client.info().name == "vault"
    vault.cut_next(4)
    assert "broke off" in str(failure(client.info))


@pytest.mark.parametrize("body", [b'{"db_name":"vault"', b'{"rows":[{"id":"a"},{"error":'])
def test_an_answer_that_stops_in_the_middle_is_asked_for_again(
    vault: CouchStandIn, client: CouchClient, body: bytes
) -> None:
    vault.reply_next(body, count=4, headers={"Content-Type": "application/json"})
    assert "broke off" in str(failure(client.info))
    assert client.info().name == "vault"


@pytest.mark.parametrize("body", [b"<html>Sign in</html>", b"", b"[]", b"OK", b'"x"', b"\xff\xfe"])
@pytest.mark.parametrize(
    "ask",
    [
        CouchClient.info,
        changes,
        lambda client: client.fetch(["a.md"]),
        lambda client: client.local("x"),
        lambda client: raise_end(follow(client)),
        lambda client: raise_end(follow(client, mode="longpoll")),
    ],
    ids=["info", "changes", "fetch", "local", "continuous", "longpoll"],
)
def test_what_is_no_couchdb_is_told_as_such(vault: CouchStandIn, client: CouchClient, body: bytes, ask: Ask) -> None:
    vault.reply_next(body)
    error = failure(lambda: ask(client))
    assert str(error)
    if body:
        assert isinstance(error, SourceRefused)
        assert "not a CouchDB" in str(error)


def raise_end(feed: Feed) -> None:
    error = end_of(feed).error
    if error:
        raise error


@pytest.mark.parametrize("headers", [{"Content-Encoding": "gzip"}, {"Content-Type": "text/html; charset=hex"}])
def test_an_answer_that_is_packed_or_spelled_wrong_is_told(
    vault: CouchStandIn, client: CouchClient, headers: dict[str, str]
) -> None:
    vault.reply_next(b"<html>", headers=headers, count=4)
    assert str(failure(client.info))
    vault.replies.clear()
    vault.reply_next(b"<html>", headers=headers)
    assert end_of(follow(client)).error


def test_json_of_something_else_is_no_couchdb(vault: CouchStandIn, client: CouchClient) -> None:
    vault.reply_next(b'{"status":"ok"}')
    assert "not a CouchDB" in str(failure(client.info))


def test_an_answer_without_rows_loses_no_note(vault: CouchStandIn, client: CouchClient) -> None:
    vault.store("vault", [{"_id": "a.md"}])
    for body in (b"{}", b'{"rows":null}', b'{"rows":[]}', b'{"rows":[{"key":"a.md","error":"timeout"}]}'):
        vault.reply_next(body)
        assert isinstance(failure(lambda: client.fetch(["a.md"])), SourceUnreachable)
    for body in (b"{}", b'{"results":[]}', b'{"results":7,"last_seq":1}'):
        vault.reply_next(body)
        assert isinstance(failure(lambda: changes(client)), SourceUnreachable)
    vault.reply_next(b'{"results":{}}')
    assert isinstance(failure(lambda: client.revisions([("a.md", "1-aa")])), SourceUnreachable)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_told_as_what_it_is_and_not_followed(
    vault: CouchStandIn, client: CouchClient, status: int
) -> None:
    vault.reply_next(status=status, headers={"Location": f"https://login.example/?back={TOKEN}"})
    error = failure(client.info)
    assert isinstance(error, SourceRefused)
    assert "login.example" in str(error)
    assert TOKEN not in str(error)
    assert len(vault.requests) == 1


@pytest.mark.parametrize(("status", "word"), [(401, "login"), (403, "proxy"), (404, "not a CouchDB"), (400, "not a")])
def test_a_refusal_of_something_before_the_server_is_told_apart(
    vault: CouchStandIn, client: CouchClient, status: int, word: str
) -> None:
    vault.reply_next(status=status)
    error = failure(client.info)
    assert isinstance(error, SourceRefused)
    assert word in str(error)


@pytest.mark.parametrize("since", ["garbage", "5-g1AAAA;&=#", "99", '["x"]'])
def test_a_malformed_sequence_is_told_apart_and_reaches_the_server_whole(
    vault: CouchStandIn, client: CouchClient, since: str
) -> None:
    for selector in (False, True):
        with pytest.raises(MalformedSequence):
            changes(client, since=since, selector=selector)
    feed = client.follow(since=since, selector=True, mode="continuous", heartbeat_seconds=5)
    assert isinstance(end_of(feed).error, MalformedSequence)


@pytest.mark.parametrize("status", [400, 404, 405, 501])
def test_a_selector_that_is_refused_is_told_apart(vault: CouchStandIn, client: CouchClient, status: int) -> None:
    vault.store("vault", [{"_id": "a.md"}])
    vault.selectors = status
    with pytest.raises(SelectorRefused):
        changes(client, selector=True)
    assert isinstance(end_of(follow(client, selector=True)).error, SelectorRefused)
    assert [row.id for row in changes(client)] == ["a.md"]


@pytest.mark.parametrize("status", [403, 404, 405, 501])
def test_a_proxy_that_refuses_to_post_changes_refuses_the_selector(
    vault: CouchStandIn, client: CouchClient, status: int
) -> None:
    vault.reply_next(status=status, path="_selector")
    with pytest.raises(SelectorRefused):
        changes(client, selector=True)


def test_an_absent_database_is_no_refused_selector(vault: CouchStandIn, client: CouchClient) -> None:
    vault.drop("vault")
    with pytest.raises(DatabaseAbsent):
        changes(client, selector=True)


def test_a_pouchdb_is_known_even_where_a_proxy_hides_the_root(
    vault: CouchStandIn, connect: Callable[..., CouchClient]
) -> None:
    vault.reply_next(b'{"express-pouchdb":"Welcome!"}')
    assert connect(vault).is_pouchdb()
    vault.reply_next(status=403)
    vault.reply_next(b'{"db_name":"vault","backend_adapter":"MemDOWN"}')
    hidden = connect(vault)
    with pytest.raises(SelectorRefused):
        changes(hidden, selector=True)
    vault.reply_next(status=403)
    assert not connect(vault).is_pouchdb()
    vault.down()
    with pytest.raises(SourceUnreachable):
        connect(vault).is_pouchdb()


# What strangers write


def row(doc_id: str, seq: str = "", revision: str | None = None, *, deleted: bool = False) -> Row:
    return Row(doc_id, seq, revision, deleted, None)


def test_rows_that_are_none_are_left_out(vault: CouchStandIn, client: CouchClient) -> None:
    rows: list[object] = [
        None,
        7,
        [],
        {},
        {"id": 7},
        {"id": "a.md"},
        {"id": "b.md", "seq": [1, "x"], "changes": [None], "doc": []},
    ]
    vault.reply_next(json.dumps({"results": rows, "last_seq": 3, "pending": True}).encode())
    page = client.changes(since="0", limit=10, selector=False)
    assert page.rows == [row("a.md"), row("b.md", '[1,"x"]')]
    assert (page.last_seq, page.pending) == ("3", None)
    vault.reply_next(json.dumps({"rows": [*rows, {"id": "c.md", "value": [], "doc": {"x": 1}}]}).encode())
    [listed] = list(client.all_docs(start=None, end="z", include_docs=True, limit=100))
    assert [(row.id, row.doc) for row in listed] == [("a.md", None), ("b.md", None), ("c.md", {"x": 1})]


def test_information_that_is_missing_or_odd_is_empty(vault: CouchStandIn, client: CouchClient) -> None:
    vault.reply_next(b'{"db_name":["x"],"update_seq":7,"purge_seq":null,"instance_start_time":0,"doc_count":"many"}')
    info = client.info()
    assert (info.update_seq, info.purge_seq, info.instance_start_time, info.doc_count) == ("7", "", "0", 0)
    vault.reply_next(b'{"update_seq":"3-x"}')
    assert client.info().name == ""


def test_documents_nested_without_end_and_numbers_without_end_harm_no_other(
    vault: CouchStandIn, client: CouchClient
) -> None:
    deep = "[" * 50_000 + "]" * 50_000
    rows = f'{{"id":"deep.md","value":{{}},"doc":{{"x":{deep},"s":"[{{\\"","y":1}}}}'
    rows += f',{{"id":"long.md","value":{{}},"doc":{{"mtime":{"9" * 9000},"y":2}}}}'
    rows += ',{"id":"fine.md","value":{},"doc":{"y":3}}'
    vault.reply_next(f'{{"rows":[{rows}]}}'.encode())
    [page] = list(client.all_docs(start=None, end="z", include_docs=True, limit=100))
    assert [(row.doc or {})["y"] for row in page] == [1, 2, 3]
    assert (page[0].doc or {})["s"] == '[{"'


def test_half_a_surrogate_pair_and_bytes_that_are_no_utf8_are_read(vault: CouchStandIn, client: CouchClient) -> None:
    vault.reply_next(b'{"rows":[{"id":"a.md","value":{},"doc":{"d":"\\ud83d"}},{"id":"b","doc":{"d":"\xff"}}]}')
    [page] = list(client.all_docs(start=None, end="z", include_docs=True, limit=100))
    assert [row.doc for row in page] == [{"d": "\ud83d"}, {"d": "�"}]


# Feeds


@pytest.mark.parametrize("mode", ["continuous", "longpoll"])
@pytest.mark.parametrize("selector", ["", "selector"])
def test_a_feed_is_closed_at_once_while_the_server_is_silent(
    vault: CouchStandIn, client: CouchClient, mode: str, selector: str
) -> None:
    feed = follow(client, mode=mode, heartbeat=60, selector=bool(selector))
    start = feed.last_heard
    if mode == "continuous":
        wait_until(lambda: any("feed=" in request.path for request in vault.requests))
    else:
        wait_until(lambda: feed.last_heard > start)
    assert feed.take(0.05) is None
    begin = time.monotonic()
    feed.close()
    assert time.monotonic() - begin < 1
    assert not feed._thread.is_alive()
    assert feed.take(0) == FeedEnd(None)


def test_a_feed_is_closed_before_the_server_has_answered(vault: CouchStandIn, client: CouchClient) -> None:
    vault.pause()
    feed = follow(client, heartbeat=60)
    wait_until(lambda: bool(vault.requests))
    feed.close()
    assert not feed._thread.is_alive()
    vault.resume()


def test_a_feed_that_nobody_takes_from_is_closed_too(vault: CouchStandIn, client: CouchClient) -> None:
    vault.store("vault", [{"_id": f"{number}.md"} for number in range(7000)])
    feed = follow(client)
    wait_until(lambda: len(feed._rows) >= 5000)
    feed.close()
    assert not feed._thread.is_alive()


def test_a_silent_feed_ends_after_three_heartbeats(vault: CouchStandIn, client: CouchClient) -> None:
    feed = follow(client, heartbeat=0.1)
    start = feed.last_heard
    wait_until(lambda: feed.last_heard > start)
    vault.pause()
    error = end_of(feed).error
    assert isinstance(error, SourceUnreachable)
    assert "fell silent" in str(error)


def test_a_proxy_that_buffers_a_feed_is_a_silent_one(vault: CouchStandIn, client: CouchClient) -> None:
    vault.buffers = True
    vault.store("vault", [{"_id": "a.md"}])
    assert "fell silent" in str(end_of(follow(client, heartbeat=0.1)).error)
    feed = follow(client, mode="longpoll", heartbeat=5)
    assert [row.id for row in feed.take(PATIENCE) or []] == ["a.md"]  # type: ignore[union-attr]
    feed.close()


@pytest.mark.parametrize("mode", ["continuous", "longpoll"])
def test_a_feed_that_is_cut_says_so_and_gives_what_came_before(
    vault: CouchStandIn, client: CouchClient, mode: str
) -> None:
    feed = follow(client, mode=mode)
    if mode == "continuous":
        vault.store("vault", [{"_id": "a.md"}])
        assert feed.take(PATIENCE)
    wait_until(lambda: any("feed=" in request.path for request in vault.requests))
    vault.cut_connections()
    error = end_of(feed).error
    assert isinstance(error, SourceUnreachable)
    assert "broke off" in str(error)


def test_a_feed_that_a_proxy_cuts_after_a_while_ends(vault: CouchStandIn, client: CouchClient) -> None:
    vault.feed_seconds = 0.2
    assert "broke off" in str(end_of(follow(client)).error)


def test_a_feed_to_nobody_ends(vault: CouchStandIn, client: CouchClient) -> None:
    vault.down()
    assert isinstance(end_of(follow(client)).error, SourceUnreachable)


def test_a_busy_server_tells_a_feed_how_long_to_wait(vault: CouchStandIn, client: CouchClient) -> None:
    vault.fail_next(429, retry_after=7)
    error = end_of(follow(client)).error
    assert isinstance(error, Busy)
    assert error.retry_after == 7


def test_a_longpoll_ends_with_a_sequence_to_go_on_from(vault: CouchStandIn, client: CouchClient) -> None:
    vault.store("vault", [{"_id": "h:1"}, {"_id": "a.md"}, {"_id": "h:2"}])
    feed = follow(client, mode="longpoll", selector=True)
    assert [row.id for row in feed.take(PATIENCE) or []] == ["a.md"]  # type: ignore[union-attr]
    end = end_of(feed)
    assert end.error is None
    assert changes(client, since=end.last_seq or "") == []


class Dribble(threading.Thread):
    """A server that sends one answer in pieces of its own choosing, to whoever connects first."""

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__(daemon=True)
        self._pieces = pieces
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.start()

    def run(self) -> None:
        connection, _ = self._socket.accept()
        with connection, self._socket:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            for piece in self._pieces:
                connection.sendall(piece)
                time.sleep(0.002)


def test_rows_cut_anywhere_are_put_together(connect: Callable[..., CouchClient]) -> None:
    big = "x" * 300_000
    lines = "\n".join(
        [
            '{"seq":"1-a","id":"ş😀.md","changes":[{"rev":"1-a"}]}\r',
            "",
            json.dumps({"seq": 2, "id": big, "changes": [], "deleted": True}),
            '{"last_seq":"2-b","pending":0}',
        ]
    ).encode()
    pieces = [lines[:1], lines[1:30], lines[30:31], lines[31:33], lines[33:70], lines[70:90_000], lines[90_000:]]
    feed = follow(connect(Dribble(pieces).url))
    rows: list[Row] = []
    while not isinstance(taken := feed.take(PATIENCE), FeedEnd):
        rows += taken or []
    feed.close()
    assert rows == [row("ş😀.md", "1-a", "1-a"), row(big, "2", deleted=True)]
    assert taken == FeedEnd("2-b")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b'{"seq":1,"id":', "broke off"),
        (b'{"error":"timeout","reason":"no answer"}\n', "asked for again"),
        (b"<html>\n", "not a CouchDB"),
        (b"7\n", "not a CouchDB"),
    ],
)
def test_a_line_that_is_no_row_ends_the_feed_with_a_sentence(
    connect: Callable[..., CouchClient], line: bytes, word: str
) -> None:
    feed = follow(connect(Dribble([b'{"seq":1,"id":"a.md","changes":[]}\n', line]).url))
    assert [row.id for row in feed.take(PATIENCE) or []] == ["a.md"]  # type: ignore[union-attr]
    assert word in str(end_of(feed).error)


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-made certificate for 127.0.0.1 and its key."""
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=couch"
    command += f" -addext subjectAltName=IP:127.0.0.1 -keyout {folder}/key.pem -out {folder}/cert.pem"
    subprocess.run(command.split(), check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


@pytest.fixture
def encrypted(certificate: tuple[Path, Path]) -> Iterator[CouchStandIn]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with CouchStandIn(tls=context) as server:
        server.create("vault")
        yield server


def test_a_certificate_of_the_owners_own_authority_is_trusted_when_it_is_named(
    encrypted: CouchStandIn, connect: Callable[..., CouchClient], certificate: tuple[Path, Path]
) -> None:
    client = connect(encrypted, ca_file=certificate[0])
    assert client.info().name == "vault"
    feed = follow(client, heartbeat=60)
    encrypted.store("vault", [{"_id": "a.md"}])
    assert feed.take(PATIENCE)
    begin = time.monotonic()
    feed.close()
    assert time.monotonic() - begin < 1
    assert not feed._thread.is_alive()


def test_a_certificate_that_is_not_trusted_names_the_setting(
    encrypted: CouchStandIn, connect: Callable[..., CouchClient]
) -> None:
    error = failure(connect(encrypted).info)
    assert isinstance(error, SourceRefused)
    assert "vault.couchdb.ca_file" in str(error)
    assert isinstance(end_of(follow(connect(encrypted))).error, SourceRefused)


def test_a_certificate_for_another_name_is_not_trusted(
    encrypted: CouchStandIn, connect: Callable[..., CouchClient], certificate: tuple[Path, Path]
) -> None:
    client = connect(encrypted.url.replace("127.0.0.1", "localhost"), ca_file=certificate[0])
    assert "not trusted" in str(failure(client.info))


def test_https_to_a_server_of_plain_http_is_told(vault: CouchStandIn, connect: Callable[..., CouchClient]) -> None:
    error = failure(connect(vault.url.replace("http:", "https:")).info)
    assert isinstance(error, SourceRefused)
    assert "scheme or the port" in str(error)


def test_secrets_of_the_settings_are_sent_and_nowhere_else_seen() -> None:
    settings = CouchSettings(url="http://couch.example", database="vault", headers={"X": SecretStr(TOKEN)})
    assert TOKEN not in repr(settings)


def test_a_server_that_hangs_up_while_encryption_is_agreed_on_is_away_for_now(
    connect: Callable[..., CouchClient],
) -> None:
    def hang_up() -> None:
        connection, _ = listening.accept()
        connection.recv(65536)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        answering = threading.Thread(target=hang_up)
        answering.start()
        error = failure(connect(f"https://127.0.0.1:{listening.getsockname()[1]}").info)
        answering.join(PATIENCE)
    assert isinstance(error, SourceUnreachable)
