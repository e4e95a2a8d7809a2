// Package cloudagent puts the steps of cloud agents (package cloud) together with
// what the configuration, the repository and flags say.
//
//   - settings.go: Settings, from the configuration and flags
//   - ralph.go: entries of a repository's .wreck-it/config.toml
//   - open.go: the source, token, forge and agent of Settings
//   - ticker.go: Ticker, which makes the steps of all projects under `up`
//
// The command `nightporter tick` and the daemon make the same step; it is locked
// by its state file, so that they can be used at the same time.
package cloudagent
