// Package testreport reads what a red verification command printed, and says
// what failed, so that two runs of the command can be compared by what fails
// and not by their exit codes (docs/spec 2.3).
//
//   - report.go: Parse, the Report, and its Summary for the ledger.
//   - compare.go: Compare, which says what is new since an earlier run.
//   - format.go: the table of formats. gotest.go, tap.go, node.go, jest.go,
//     vitest.go, mocha.go, pytest.go, unittest.go, cargo.go, junit.go,
//     compiler.go and tool.go: a file for each, or for a few small ones.
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
// # Limits
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
