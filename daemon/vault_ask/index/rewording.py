"""Makes the word index anew where its terms were made by another recipe; nothing is read again and nothing embedded."""

import time

import apsw
import structlog

from vault_ask.index.terms import RECIPE

log = structlog.get_logger()


def renew_words(connection: apsw.Connection) -> None:
    """Index the words of every stored passage again, if that was last done by another recipe, in one transaction.

    Before anything else is written: FTS5 takes a row's words out by making them again, which has to be done as they
    were put in. Some 1,000 passages a second.
    """
    if connection.execute("SELECT value FROM meta WHERE key = 'words'").fetchall() == [(RECIPE,)]:
        return
    started, chunks = time.monotonic(), connection.execute("SELECT count(*) FROM chunks").fetchall()[0][0]
    if chunks:
        log.info("the word index is made anew; nothing is embedded again", passages=chunks)
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild')")
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('words', ?)", (RECIPE,))
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    if chunks:
        log.info("the word index is made", seconds=round(time.monotonic() - started, 1))
