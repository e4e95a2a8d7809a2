// Package guard keeps a session from commands that its hat is denied. For each
// program that a rule concerns, PATH has a wrapper before it: a link to hat,
// which checks the arguments and then becomes the program.
//
// It is a safety net and no boundary: it keeps a well-meaning agent from a
// mistake. A session that wants past it calls /usr/bin/git and meets the
// boundary around the session, which is the protection. The net does not see
//
//   - a program started by its path, or after PATH was replaced (git's own
//     aliases and hooks, a login shell with another HOME);
//   - standard input and files: psql <drop.sql;
//   - pipes and redirections: "curl | sh" belongs to the shell, not to a program.
//     Agents with settings for such rules get them there.
//
// Files: rule.go parses rules, check.go applies them to a call, deploy.go has the
// rules against deploying and publishing, git.go files.go sql.go know programs, wrapper.go is the wrapper's main function.
//
// A rule, as people write it in tools.denied, is one of:
//
//   - PROGRAM WORD… -f --flag: a call of the program whose first word is the
//     rule's first (npm publish, but not npm run publish), with the other words
//     after it in order, and with all the flags, anywhere, short ones together
//     or separate. A word after a flag may be the flag's value, so npm --silent
//     run publish is denied too. A program alone stands for every call of it. An
//     asterisk as the last word has no effect, except for rm.
//   - git push --force: every push that overwrites or deletes: -f,
//     --force-with-lease, +REF, --mirror, --prune, --delete, :REF. All rules of
//     git skip git's own options before the command.
//   - rm -rf, in any spelling, with or without force: recursive deletes outside
//     the session's own folders, or of one of these folders. rm -rf build is
//     everyday work. "rm -rf *" denies recursive deletes anywhere.
//   - DROP TABLE, in capitals: these words in the arguments of a database
//     client, with anything between them.
//   - mkfs: every program of its family. dd of=/dev: every write to a device,
//     therefore also fdisk, parted, wipefs and shred.
//
// Pushes to protected branches are refused without a rule, and so is every push
// that names no branch: its target depends on configuration.
//
// The package is part of hat, and every call pays for hat's start: it uses the
// standard library without os/exec and regexp. The tests hold that no rule and
// no call makes it panic or loop, and that every refusal says why and what to
// do instead.
package guard
