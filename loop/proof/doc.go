// Package proof finds what proves the work of an attempt, and guards it: the
// programs and scripts that the verification commands run, the configuration
// of the runners, and the tests of the attempt's start.
//
//	Find(start, Project)               → Set: what proves
//	Compare(Set, start, result, named) → Report: what the attempt did to it
//	Overlay(Set, start, result, named) → Patch: the start's checks on the new code
//	TestsOnStart(Set, start, result)   → Patch: the new tests on the old code
//
// A green verification of a tree whose own files decide what green means
// proves nothing. So where Report.Guarded says that a check was changed, the
// verification also has to be green on the patched tree of Overlay. Where no
// check was changed that costs nothing.
//
// # Files
//
//   - tree.go: Tree, which callers implement, Files in memory, trees with a
//     patch.
//   - set.go: Find, Set and Item, the limits.
//   - tests.go: the table of tests by language, test cases, skips.
//   - config.go: the table of runners' configuration.
//   - helper.go: files and packages that only tests import.
//   - place.go, shell.go, word.go: follow a shell text and evaluate its words.
//   - program.go: the tables of wrappers and interpreters; script.go: files that
//     are executed; npm.go, makefile.go, taskfile.go: programs that run scripts.
//   - mixed.go: Lay, files that prove in parts; json.go, toml.go, ini.go,
//     makeparts.go, rust.go, gomod.go: one format each.
//   - compare.go: Compare, Change, Report; shadow.go: new files that take the
//     place of something that proved.
//   - overlay.go: Overlay, TestsOnStart, Patch; summary.go: changes in words.
//
// # Rules
//
// Reporting too much costs one more verification, on a tree that honest work
// passes. Reporting too little lets a false result pass. So a guess falls on
// the side of a report, provided that the overlay of an honest result stays
// green:
//
//   - What the start's commands cannot do without, and the start has not, is no
//     shadow when the result brings it: the script of an empty project. What a
//     command may or may not run (after ||, in an if) is one.
//   - Configuration that is new is a shadow only where it governs tests of the
//     start.
//   - Dependencies never prove. Of package.json, pyproject.toml, Cargo.toml,
//     setup.cfg, tox.ini, .npmrc, go.mod, makefiles and Rust sources only parts
//     are compared and laid. A file that its program could not read, or could
//     read in two ways, proves as a whole.
//   - Overlay removes new tests of the languages in which the start has some:
//     they share the process of the old ones, and can define the same names or
//     end the run. Coverage thresholds can fail for that reason.
//   - A moved test counts as moved where its runner finds it by the same rule.
//     It stays at the new place if what it imports, or the files beside it,
//     moved along; otherwise Overlay puts it back.
//   - What cannot be followed is in Set.Unknown. Configuration of linters then
//     counts whether they are run or not.
//
// # What it must not do
//
// It reads trees through Tree alone and runs nothing: no I/O of its own, no
// clock, no random number. It decides nothing; which paths a task names, and
// what follows from a report, are the caller's. An error is a Tree's, and no
// result comes with one: a tree that cannot be read is never "no change".
//
// # Invariants
//
// Tests hold these for each cheat of a table, for random trees and for files
// that are large, deep or broken:
//
//   - After Overlay, Compare has no change that guards.
//   - A file that does not prove is the result's in the patched tree.
//   - A tree does not differ from itself.
//   - Lay has the parts of the one file and the rest of the other, or fails.
//   - The same arguments give the same result.
//
// # Limits
//
// These are not seen, and the word of a task must not promise it:
//
//   - Product code that behaves otherwise under test, special-cased values, a
//     mocked subject; build.rs, setup.py and other code that runs while building.
//   - Product code that ends the process of its tests. The number of tests that
//     ran shows it (loop/testcount.go), where the runner counts them: plain go
//     test prints "ok" for a package whose init function exits with 0, as for
//     one whose tests passed.
//   - New tests that change the product for the start's tests in their process
//     in a way that the expressions of shadow.go do not know: a Go test that sets
//     a package's variable, a helper of the product that a test imports.
//   - A check that the start's tests import, too, is what they are about, and is
//     not guarded.
//   - Dependencies that only tests use, where a manifest of npm or pip names
//     another folder for them; "imports" of package.json; a new module that
//     Python finds before one that its runner loads by itself.
//   - Files outside of the tree: GOFLAGS in a user's go.env, ~/.npmrc, a PATH
//     that is not set in a command. Rooms hold those.
//   - Data that scripts compare with, unless it lies among the tests: the
//     expected.txt of `diff out expected.txt`, the cases.json of a parametrized
//     test, a module that only a check imports. The key tests names them.
//   - Configuration inside files that build the product: build.gradle, pom.xml,
//     CMakeLists.txt, mix.exs, *.csproj, Package.swift, Dockerfile; tsconfig
//     paths that runners read; vite.config where vitest is not run by name.
//   - Commands that are strings of other languages, beyond those that name a
//     script of the tree; make functions, YAML anchors, templates of just.
//   - Test functions outside of a #[cfg(test)] module in Rust sources, doc
//     tests, tests inside of JavaScript sources.
//   - Go test functions that move between packages with other changes; a moved
//     test at a place that the commands do not reach, if its code moved along.
//   - Case: on a file system that ignores it, PACKAGE.JSON is package.json.
//   - The regular expressions for cases, skips and ends of a run are guesses.
//     They choose words, and whether a new test is looked at; a changed test is
//     always guarded.
package proof
