-- sum is SHA-256 over a snapshot's bytes and the entry that it was made at
-- (snapshot.go). A snapshot of an earlier release has none and is never used.
ALTER TABLE snapshots ADD COLUMN sum BLOB NOT NULL DEFAULT x'';
