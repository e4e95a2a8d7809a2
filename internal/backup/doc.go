// Package backup is the archive format of a backup: a gzipped tar of the few
// files of a state folder that cannot be made again. Its last file is a
// manifest with the hash of each; an archive that was cut off has no manifest
// and is refused.
//
// write.go writes an archive and extract.go reads one; manifest.go knows which
// files a backup holds, repository.go which configuration a repository may
// have.
//
// Repositories are copied as files and not as bundles. A bundle holds what refs
// reach, while the ledger also names trees by their hash, and it requires an
// equally new git to read. Copying from a running nightporter is safe in one
// order only: the database first, then refs, then objects. A tree is in the
// repository before the ledger names it, an object before a ref names it, and
// nothing is ever removed (gc.auto is 0), so each part of the copy contains all
// that earlier parts name.
//
// An archive is hostile input. Extract accepts only files with names that a
// Writer writes, and only a repository configuration that makes git run
// nothing. The tests hold this against forged archives.
package backup
