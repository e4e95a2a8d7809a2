// Package platform is the table of the platforms on which people chat.
//
// Platform (platform.go) is one row: all that nightporter knows of a platform
// besides its adapter, which is a package of its own below bot. Telegram
// (telegram.go) and Slack (slack.go) are the rows there are; token.go reads
// their tokens. A new platform is an adapter, a file with its row here, its name
// in All, and its section and thread in config.Config. The test of the table
// fails for an empty cell that its row does not name as lacking.
//
// Rows decide nothing: package chat runs the connections, and the commands of
// package main ask the rows.
package platform
