// Package config turns what a person wrote into the settings of a run.
//
// Three kinds of files are read, all TOML and all strict: nightporter.toml,
// hats and patterns. The shipped hats and patterns are embedded; files in the
// folders "hats" and "patterns" beside the configuration replace them by name,
// and those in a repository's ".nightporter" folder do so once its project says
// trust_repo = true.
//
//	config.go values.go            the keys of nightporter.toml and their types
//	channel.go topic.go            where a project's people talk of it
//	load.go read.go document.go
//	bind.go                        from a file to a Config
//	check.go                       what no type can say
//	hat.go pattern.go consensus.go hats and patterns
//	presets.go folder.go           those that are shipped, and those of folders
//	route.go draw.go               a pattern's routes, and their drawing
//	settings.go paths.go           a project's settings for one run; folders of this host
//	problem.go nearest.go          what is wrong, with its line and the nearest right name
//
// A file is either right or refused as a whole: every mistake that can be
// found is reported at once, as an *Error whose problems name the line, the
// nearest name that would be right, and what to do. A secret is never read
// here, and whatever looks like one is masked where a line is shown.
//
// Names of agents and kinds of sources are those of the tables in packages
// adapter and task.
//
// The tests hold that whatever is read is right or refused with a line; that no
// token is printed; that every key is described in docs/operating.md; and that
// the shipped presets are without a mistake.
package config
