// Package daemontest starts a whole daemon inside a test. daemontest.go has the
// configuration and the start, fixture.go a daemon with people and a fake
// Telegram. It must not be imported by product code. A test package that uses it
// calls Dispatch first in TestMain.
package daemontest
