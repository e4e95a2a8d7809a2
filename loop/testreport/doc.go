// Package testreport reads what a verification command printed. It says what
// failed in a red one, so that two runs of the command can be compared by what
// fails and not by their exit codes (docs/spec 2.3), and how many tests ran, so
// that a green run can be compared as well (docs/spec 8.4).
//
//   - report.go: Parse, the Report, and its Summary for the ledger; Count.
//   - compare.go: Compare, which says what is new since an earlier run, and
//     Fewer, which says where fewer tests ran.
//   - format.go: the table of formats. gotest.go, tap.go, node.go, jest.go,
//     vitest.go, mocha.go, pytest.go, unittest.go, cargo.go, junit.go,
//     compiler.go and tool.go: a file for each, or for a few small ones.
//   - runner.go: runners that are read by a table of the forms of their lines, in
//     native.go, java.go, dotnet.go, swift.go, php.go, ruby.go and deno.go.
//   - line.go: lines without colours, control characters and absolute paths.
//   - stable.go: names without what differs between runs of one failure, such
//     as times, addresses, ports and temporary folders.
//
// # What is read
//
// Every format reads the whole output, and the report is the union of what they
// find: an output often has several runners, and text that imitates one of them
// can add failures and take none away. Of nested tests the leaves are reported.
// Where a runner counts more failures than it names, the difference is reported
// as unnamed failures. Where no runner names anything, the failures are the
// lines with a word for failure, without their numbers; else the last lines;
// else "(no output)". So a red command always has a failure.
//
// A failure's kind tells an assertion that failed in a test that ran from a test
// that could not be built, imported or collected. Of kind build are also files
// that fail while they are loaded.
//
// # What is compared
//
// A failure is new when none with the same runner, file and name was there
// before, and also when it now keeps others from running (build, panic, timeout)
// and did not before. A package that no longer builds is a failure of its own,
// "(build)"; a package or file that fails without naming a test is "(package)"
// or "(file)". If the same things fail, another exit code is new. Output that
// was cut is new, unless it was cut before as well.
//
// # What is counted
//
// Tests are counted for each runner alone. Runners that end with a report are
// counted by it: node:test, jest, vitest, mocha, pytest, unittest, cargo test.
// ctest, meson, automake, GoogleTest, Maven, dotnet test, XCTest, PHPUnit, RSpec,
// minitest, deno test and bun test are too, and Gradle counts nothing.
// go test -v and -json, TAP and JUnit are counted by the tests that they show, and
// not at all where output is missing. A file of node:test that passes as a whole
// counts as no test: it has none, or ended before them. Plain go test counts
// nothing. A runner whose output contradicts itself is not counted: a plan of TAP
// or a header of cargo test that does not fit the results. So a count that is
// missing is unknown, and only Fewer makes "fewer" of it, where there was one
// before.
//
// # Limits
//
// Code under test that shares its runner's output can print a whole report in the
// runner's form and end the process: pytest, unittest, mocha, go test -v, cargo
// test. Under node --test, jest and vitest another process prints the report, behind
// everything that the code prints; code that knows how the two processes speak can
// still forge results. Where a runner reports several times, as in workspaces, its
// reports are added, and a printed one with them.
//
// The report believes the output. A test that ends its process after the exempt
// failure, and prints what the runner would have printed, hides the tests behind
// it: only Difference.Fewer shows that, and only where passed tests are shown or
// counted. What runs the tests must be guarded elsewhere. The formats lint and
// tool are not read inside of a section that another runner opened (pytest's
// FAILURES, for example), because tracebacks look like them; compilers and all
// runners are. A parent of subtests that fails by an assertion of its own, beside
// a failed subtest, is not told apart. Without a runner's names, two lines that
// differ in a number are the same line. Beyond a summary's limit only the whole
// of the rest is compared. At most MaxFailures are kept, and lines are read up
// to 256 kB.
//
// The functions are pure and total: output is hostile input. Tests hold that
// outputs of real programs are read as in the golden files, that one output
// behind another hides nothing, that colours, line ends and order change
// nothing, and that the time is linear.
package testreport
