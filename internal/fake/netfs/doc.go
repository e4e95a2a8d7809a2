// Package netfs mounts, for tests, a folder as a network file system shows it: through
// FUSE, with the limits of NFS and its relatives.
//
// Files: mount.go mounts a folder for a test, serve.go is what the program netfsd
// does for it, node.go has the operations that differ from those of the folder below.
//
// A test that uses it needs /dev/fuse and the right to mount; Mount skips it
// otherwise, and says why. No part of the product imports it.
package netfs
