-- The index: one row a note, its chunks, its words, its names and its links.
-- `level` is 0 for open and 1 for personal; a reader sees the levels up to its ceiling and nothing else.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    resolved_path TEXT NOT NULL,
    title TEXT NOT NULL,
    level INTEGER NOT NULL,
    language TEXT NOT NULL,
    content_hash BLOB NOT NULL,
    revision TEXT NOT NULL,
    mtime REAL NOT NULL,
    size INTEGER NOT NULL,
    frontmatter TEXT NOT NULL,
    frontmatter_state TEXT NOT NULL,
    aliases TEXT NOT NULL,
    problems TEXT NOT NULL,
    indexed_at TEXT NOT NULL
);
CREATE INDEX notes_by_content ON notes (content_hash);

-- state: 0 waits for its vector, 1 has it, 2 is not for embedding, 3 was refused by the embedder
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    note INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    stable_id TEXT NOT NULL,
    level INTEGER NOT NULL,
    language TEXT NOT NULL,
    state INTEGER NOT NULL,
    heading_path TEXT NOT NULL,
    block TEXT,
    prelude TEXT NOT NULL,
    body TEXT NOT NULL,
    searchable TEXT NOT NULL GENERATED ALWAYS AS (CASE state WHEN 2 THEN '' ELSE body END) VIRTUAL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    embed_hash BLOB NOT NULL,
    text_hash BLOB NOT NULL
);
CREATE INDEX chunks_by_note ON chunks (note);
CREATE INDEX chunks_by_embedding ON chunks (embed_hash);
CREATE INDEX chunks_by_text ON chunks (text_hash);
CREATE INDEX chunks_waiting ON chunks (state) WHERE state = 0;

-- The vector as the embedder gave it (float16, unit length): the source of the centred one in chunks_vec, so that a
-- new mean costs no embedding. float16 moves a cosine by less than 0.0005.
CREATE TABLE embeddings (
    chunk INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    vector BLOB NOT NULL
);

-- External content, so that the text is kept once. The language before U+001F tells the tokenizer which stemmer to
-- use (see terms.py); the view is what FTS5 would read its content from.
CREATE VIEW chunk_words AS
SELECT id, language || char(31) || prelude AS prelude, language || char(31) || searchable AS body FROM chunks;

CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    prelude, body, content = 'chunk_words', content_rowid = 'id', tokenize = 'vaultask'
);
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE chunk_terms USING fts5vocab ('chunks_fts', 'row');

CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks BEGIN
    INSERT INTO chunks_fts (rowid, prelude, body)
    VALUES (new.id, new.language || char(31) || new.prelude, new.language || char(31) || new.searchable);
END;
CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, prelude, body)
    VALUES ('delete', old.id, old.language || char(31) || old.prelude, old.language || char(31) || old.searchable);
END;
CREATE TRIGGER chunks_reworded AFTER UPDATE OF prelude, body, language, state ON chunks
WHEN old.prelude <> new.prelude OR old.searchable <> new.searchable OR old.language <> new.language BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, prelude, body)
    VALUES ('delete', old.id, old.language || char(31) || old.prelude, old.language || char(31) || old.searchable);
    INSERT INTO chunks_fts (rowid, prelude, body)
    VALUES (new.id, new.language || char(31) || new.prelude, new.language || char(31) || new.searchable);
END;

-- What a link may call a note: the folded last part of its path, and its aliases.
CREATE TABLE names (
    key TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    alias INTEGER NOT NULL,
    PRIMARY KEY (key, note, alias)
) WITHOUT ROWID;
CREATE INDEX names_by_note ON names (note);

CREATE TABLE edges (
    id INTEGER PRIMARY KEY,
    src INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    dst INTEGER REFERENCES notes (id) ON DELETE SET NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    key TEXT NOT NULL,
    heading TEXT,
    block TEXT,
    alias TEXT,
    line INTEGER NOT NULL,
    resolved INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX edges_by_src ON edges (src);
CREATE INDEX edges_by_dst ON edges (dst);
CREATE INDEX edges_by_key ON edges (key);
-- An edge is looked up again when a note of its name came or went.
CREATE INDEX edges_due ON edges (id) WHERE resolved = 0;

-- Means and spread of the vectors, a row a language and one for all ('*'); see statistics.py.
CREATE TABLE statistics (
    name TEXT PRIMARY KEY,
    count INTEGER NOT NULL,
    vector BLOB NOT NULL
) WITHOUT ROWID;

-- Figures of the whole vault that a reader may use at any ceiling: they hold no text (docs/privacy.md).
CREATE TABLE tallies (
    language TEXT PRIMARY KEY,
    chunks INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER tally_inserted AFTER INSERT ON chunks BEGIN
    INSERT INTO tallies VALUES (new.language, 1) ON CONFLICT (language) DO UPDATE SET chunks = chunks + 1;
END;
CREATE TRIGGER tally_deleted AFTER DELETE ON chunks BEGIN
    UPDATE tallies SET chunks = chunks - 1 WHERE language = old.language;
END;
CREATE TRIGGER tally_moved AFTER UPDATE OF language ON chunks WHEN old.language <> new.language BEGIN
    UPDATE tallies SET chunks = chunks - 1 WHERE language = old.language;
    INSERT INTO tallies VALUES (new.language, 1) ON CONFLICT (language) DO UPDATE SET chunks = chunks + 1;
END;
