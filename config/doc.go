// Package config reads nightporter.toml, hats and patterns, and resolves the
// settings of a run.
//
// Three kinds of files are read, all TOML and all strict: nightporter.toml,
// hats and patterns. The shipped hats and patterns are embedded; files in the
// folders "hats" and "patterns" beside the configuration replace them by name,
// and those in a repository's ".nightporter" folder do so once its project says
// trust_repo = true.
//
//	config.go values.go            the keys of nightporter.toml and their types
//	channel.go topic.go            a project's own Slack channel or Telegram topic
//	load.go read.go document.go
//	bind.go                        from a file to a Config
//	check.go chat.go               rules that the types cannot express
//	hat.go pattern.go consensus.go hats and patterns
//	kind.go                        kinds of fixes, which choose a review
//	presets.go folder.go           the shipped ones, and those of folders
//	route.go draw.go               a pattern's routes, and their drawing
//	settings.go paths.go           a project's settings for one run; folders of this host
//	problem.go                     a mistake, with its line and its remedy
//
// A file is either right or refused as a whole: every mistake that can be found
// is reported at once, as an *Error whose problems name the line, the nearest
// name that would be right, and the remedy. A secret is never read here, and
// text that looks like one is masked where a line is shown.
//
// The names of agents and source kinds come from the tables in packages adapter
// and task.
//
// The tests hold that every accepted file is valid and every refusal names a
// line; that no token is printed; that every key is described in
// docs/operating.md; and that the shipped presets have no mistake.
package config
