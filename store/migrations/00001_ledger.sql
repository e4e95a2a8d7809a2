-- Migrations go forward only and never touch entries: what was written stays
-- readable as it was written, by every later release (docs/spec 8.3).

-- "nprt": tells our database from any other SQLite file.
PRAGMA application_id = 1852863092;

CREATE TABLE meta (
  key   TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- How entries are encoded for their hash (chain.go).
INSERT INTO meta (key, value) VALUES ('chain', '1');

-- The ledger. Without rowid, the primary key is the only thing that a row can
-- collide with, so INSERT OR REPLACE has no second way to a row.
CREATE TABLE entries (
  stream  TEXT    NOT NULL,
  seq     INTEGER NOT NULL,
  time    TEXT    NOT NULL,
  type    TEXT    NOT NULL,
  v       INTEGER NOT NULL,
  run     TEXT    NOT NULL,
  task    TEXT    NOT NULL,
  attempt TEXT    NOT NULL,
  session TEXT    NOT NULL,
  actor   TEXT    NOT NULL,
  cause   TEXT    NOT NULL,
  body    BLOB    NOT NULL,
  prev    BLOB    NOT NULL,
  hash    BLOB    NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (stream, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX entries_task ON entries (stream, task) WHERE task <> '';
CREATE INDEX entries_run ON entries (stream, run) WHERE run <> '';

-- Where each stream ends. A tail that was cut from entries shows against it.
CREATE TABLE heads (
  stream TEXT    NOT NULL PRIMARY KEY,
  seq    INTEGER NOT NULL,
  hash   BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only: an entry is never changed');
END;

CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only: an entry is never removed');
END;

CREATE TRIGGER entries_next_only BEFORE INSERT ON entries BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only: this is not the next entry of its stream')
  WHERE NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries WHERE stream = NEW.stream)
     OR NEW.prev IS NOT coalesce((SELECT hash FROM entries WHERE stream = NEW.stream AND seq = NEW.seq - 1), x'');
END;

CREATE TRIGGER entries_head AFTER INSERT ON entries BEGIN
  INSERT INTO heads (stream, seq, hash) VALUES (NEW.stream, NEW.seq, NEW.hash)
  ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq, hash = excluded.hash;
END;

-- The inbox: natural keys of inputs, and what was answered.
CREATE TABLE inputs (
  key    TEXT NOT NULL PRIMARY KEY,
  time   TEXT NOT NULL,
  answer BLOB
) STRICT, WITHOUT ROWID;

-- The outbox. An id is never used twice. head is the hash of entry seq of
-- stream, the stream's last when the effect was committed.
CREATE TABLE effects (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  stream     TEXT    NOT NULL,
  kind       TEXT    NOT NULL,
  class      TEXT    NOT NULL,
  key        TEXT    NOT NULL,
  body       BLOB    NOT NULL,
  time       TEXT    NOT NULL,
  seq        INTEGER NOT NULL,
  head       BLOB    NOT NULL,
  settled_at TEXT,
  UNIQUE (kind, key)
) STRICT;

CREATE INDEX effects_pending ON effects (id) WHERE settled_at IS NULL;

-- Read models.
CREATE TABLE views (
  stream TEXT NOT NULL,
  name   TEXT NOT NULL,
  body   BLOB NOT NULL,
  PRIMARY KEY (stream, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX views_name ON views (name);

-- Folded states. hash is that of entry seq, so that a snapshot of a history
-- that is not this one is never used.
CREATE TABLE snapshots (
  stream  TEXT    NOT NULL,
  seq     INTEGER NOT NULL,
  version INTEGER NOT NULL,
  hash    BLOB    NOT NULL,
  body    BLOB    NOT NULL,
  PRIMARY KEY (stream, seq, version)
) STRICT;
