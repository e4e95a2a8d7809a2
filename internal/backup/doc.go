// Package backup is the form in which a state folder is kept elsewhere: a
// gzipped tar of the few files that cannot be made again, and last in it a
// manifest with the hash of each. A file that is cut off has no manifest, and
// is no backup.
//
// Of a project's bare repository, the files are copied and not a bundle made:
// a bundle holds what refs reach, while the ledger names trees by their hash,
// and it would need git to be as new on the other side. Copying under a
// running nightporter is safe in one order only: the database first, then
// refs, then objects. A tree is in the repository before the ledger names it,
// an object before a ref names it, and none is ever removed (gc.auto is 0); so
// whatever an earlier part names is in the later one.
//
// What comes out of an archive is as hostile as anything from outside (SPEC
// 12.3): only files with names that this package itself would have written are
// taken, and a repository's configuration must say nothing that makes git run
// something.
package backup
