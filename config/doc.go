// Package config turns what a person wrote into what a run works by.
//
// Three kinds of files are read, all TOML and all strict: nightporter.toml
// (SPEC 16, 17), hats (SPEC 4.1) and patterns (SPEC 4.3). The hats and patterns
// of the house are embedded; files in the folders "hats" and "patterns" beside
// the config file replace them by name, and those in a repository's
// ".nightporter" folder do so once its project says trust_repo = true
// (SPEC 12.3).
//
// A file is either right or refused as a whole: every mistake that can be
// found is reported at once, as an *Error whose problems name the line, the
// nearest thing that would be right, and what to do (PHONE 4.4).
//
//	cfg, err := config.Load(path)            // or config.Empty() without a file
//	project, err := cfg.Pick(flags, dir)     // the project that flags mean
//	settings, err := project.Settings(cfg, flags, time.Now())
package config
