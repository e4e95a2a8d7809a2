-- Answers to what a person just asked are sent before the chat's other messages,
-- and receipts that follow each other closely share one message (docs/spec 6.7).
ALTER TABLE messages ADD COLUMN ahead INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN joins TEXT NOT NULL DEFAULT '';

DROP INDEX messages_next;
CREATE INDEX messages_next ON messages (chat, edit, ahead DESC, place) WHERE state = 'queued';
CREATE INDEX messages_joins ON messages (chat, joins, place) WHERE state = 'sent' AND joins <> '';
