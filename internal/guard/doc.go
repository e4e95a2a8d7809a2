// Package guard keeps a session from commands that its hat is denied
// (SPEC 12.1). The programs that a rule concerns have a wrapper in front of
// them on PATH: a link to hat, which looks at the arguments and then becomes
// the program itself.
//
// It is a safety net and no boundary: it keeps an agent that means well from
// what it should not have done. Whoever wants past it calls /usr/bin/git, and
// comes to the boundary around the session, which is what protects. The net
// does not see
//
//   - a program that is started by its path, or after PATH was set anew (a
//     login shell, git's own aliases and hooks);
//   - what comes on standard input or from a file: psql <drop.sql;
//   - pipes and redirections: "curl | sh" is the shell's, not a program's.
//     Agents that take such rules in settings of their own get them there.
//
// How a rule reads, as people write it in tools.denied:
//
//   - PROGRAM WORD… -f --flag: a call of the program whose first word is the
//     rule's first (npm publish, and not npm run publish), with the other words
//     after it in order, and all the flags, in any place, short ones together
//     or apart. A word behind a flag may be the flag's value, so that npm
//     --silent run publish is denied too. A rule of the program alone is every
//     call of it. An asterisk as the last word changes nothing, but for rm.
//   - git push --force: every push that overwrites or deletes: -f,
//     --force-with-lease, +REF, --mirror, --prune, --delete, :REF. git's own
//     options before the command are passed over in all rules of git.
//   - rm -rf, in any spelling, with or without force: recursive deletes of
//     what lies outside the folders that are the session's own, or of one of
//     these itself. rm -rf build is everyday work. "rm -rf *" denies it
//     wherever.
//   - DROP TABLE, in capitals: these words in the arguments of a database
//     client, whatever lies between them.
//   - mkfs: every program of its family. dd of=/dev: whatever writes to a
//     device, and so fdisk, parted, wipefs and shred too.
//
// Pushes to protected branches are refused without a rule, and with them every
// push that does not name its branch: what that one writes depends on the
// configuration.
//
// The package is part of hat, whose start-up is what a call costs: it is built
// from the standard library, without os/exec and regexp.
package guard
