// Package platform is the table of chat platforms.
//
// platform.go defines a row, Platform: everything that the daemon and the
// commands know about a platform, except its adapter, which is a package below
// bot. telegram.go and slack.go are the rows, token.go describes and reads their
// tokens, and table.go lists the rows and looks addresses up.
//
// A new platform needs an adapter, a file with its row, its name in All, and its
// section and thread in config.Config. The test of the table fails for an empty
// cell that the row does not list in Lacks, and for an adapter without a row.
//
// Rows contain no rules: package chat runs the connections, and the commands of
// package main read the rows. No error of this package quotes a token.
package platform
