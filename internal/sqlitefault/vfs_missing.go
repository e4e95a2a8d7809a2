//go:build !cgo

package sqlitefault

import "errors"

// Name is the name of the file system, for the parameter vfs of a database's
// address. Without cgo there is no SQLite that could use it.
const Name = "sqlitefault"

var errSync = errors.New("the disk reports an error")

// register does nothing: without cgo the store opens no database.
func register() {}
