-- What people are told, and how far what they say was read (docs/spec 6.7).

-- Nothing ever filled the read models: states are folded from snapshots.
DROP TABLE views;

-- One row is one message of a chat, or an edit of one that waits to be made:
-- once it is made, its body is that of the message and its row is gone. An id
-- is never used twice and names one text: what is replaced before it was tried
-- gets a new id, and keeps its place in the order.
CREATE TABLE messages (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  place      INTEGER NOT NULL,
  chat       TEXT    NOT NULL,
  key        TEXT    NOT NULL,
  edit       INTEGER NOT NULL CHECK (edit = 0 OR state <> 'sent'),
  class      TEXT    NOT NULL,
  reply_to   TEXT    NOT NULL,
  silent     INTEGER NOT NULL,
  body       BLOB    NOT NULL,
  time       TEXT    NOT NULL,
  state      TEXT    NOT NULL CHECK (state IN ('queued', 'sent', 'dropped')),
  tried      INTEGER NOT NULL DEFAULT 0,
  platform   TEXT    NOT NULL DEFAULT '' CHECK ((platform <> '') = (state = 'sent')),
  settled_at TEXT    NOT NULL DEFAULT '',
  why        TEXT    NOT NULL DEFAULT ''
) STRICT;

-- Each is for one question, so that none grows with what it is not about.
CREATE INDEX messages_next ON messages (chat, edit, place) WHERE state = 'queued';
CREATE INDEX messages_waiting ON messages (chat, key, place) WHERE state = 'queued' AND key <> '';
CREATE INDEX messages_key ON messages (chat, key, place) WHERE state = 'sent' AND key <> '';
CREATE INDEX messages_where ON messages (key, chat) WHERE key <> '' AND state <> 'dropped';
CREATE INDEX messages_sent ON messages (chat, platform, place) WHERE state = 'sent';
CREATE INDEX messages_answer ON messages (chat, reply_to, place) WHERE reply_to <> '';
CREATE INDEX messages_settled ON messages (settled_at) WHERE state <> 'queued';

-- How far each chat's inputs were read.
CREATE TABLE cursors (
  name  TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL,
  time  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
