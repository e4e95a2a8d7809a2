package cause_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/cause"
)

// captured are the outputs in testdata, each of one real program whose name it
// bears, with the line that says why it failed. Paths of the machine are
// replaced.
var captured = map[string]string{
	// Test runners.
	"go-test":              "TestSum/small: Sum(1, 2) = -1, want 3",
	"go-test-v":            "TestSum/small: Sum(1, 2) = -1, want 3",
	"go-test-noise":        "TestSum/small: Sum(1, 2) = -1, want 3",
	"go-testify":           "TestTotal: Not equal: expected: 3 actual : 4",
	"script-like-go":       "TestSum: want 1200, got 1000", // the script of nightporter demo
	"go-panic":             "TestNil: panic: runtime error: invalid memory address or nil pointer dereference",
	"go-timeout":           "TestSlow: panic: test timed out after 1s",
	"node-test-tap":        "sums the basket: Expected values to be strictly equal: -1 !== 3",
	"node-test-spec":       "sums the basket: Expected values to be strictly equal: -1 !== 3",
	"node-test-dot":        "sums the basket: Expected values to be strictly equal: -1 !== 3",
	"node-test-missing":    "Error: Cannot find module 'ms'",
	"jest":                 "basket › sums: Expected: 3, Received: -1",
	"jest-suite":           "Must use import to load ES Module: /src/js/v/sum.test.ts",
	"jest-missing":         "Cannot find module 'nothere' from 'j/missing.test.js'",
	"jest-none":            "No tests found, exiting with code 1",
	"vitest":               "basket > sums: expected -1 to be 3 // Object.is equality",
	"vitest-color":         "basket > sums: expected -1 to be 3 // Object.is equality",
	"vitest-missing":       "Error: Cannot find module './nothere' imported from /src/js/v/missing.test.ts",
	"mocha":                "basket sums: -1 == 3",
	"pytest":               "test_sum: assert -1 == 3",
	"pytest-color":         "test_sum: assert -1 == 3",
	"pytest-q":             "test_sum: assert -1 == 3",
	"pytest-raises":        "test_read: RuntimeError: basket 3 cannot be read",
	"pytest-import":        "imp/test_imp.py: ModuleNotFoundError: No module named 'nothere'",
	"pytest-none":          "no tests ran",
	"unittest":             "test_error: KeyError: 'cents'",
	"cargo-test":           "tests::sums: assertion `left == right` failed: basket, left: -1, right: 3",
	"cargo-test-backtrace": "tests::sums: assertion `left == right` failed: basket, left: -1, right: 3",

	// Compilers, linters, package managers.
	"go-build":               "./p.go:4:2: declared and not used: x",
	"go-vet":                 `p.go:5:24: fmt.Printf format %d has arg "x" of wrong type string`,
	"go-mod":                 "p.go:3:8: no required module provides package example.com/nothere/pkg; to add it:",
	"gofmt-d":                `sum/sum_test.go differs: - for _, c := range []struct{ name string; a, b, want int }{{"small", 1, 2, 3}, {"large", 10, 20, 30}} {`,
	"tsc":                    "src/a.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.",
	"tsc-pretty":             "src/a.ts:1:14 - error TS2322: Type 'string' is not assignable to type 'number'.",
	"eslint":                 "/src/js/src/l.js:1:7: 'unused' is assigned a value but never used no-unused-vars",
	"cargo-build":            "src/lib.rs:2:5: error[E0308]: mismatched types",
	"cargo-dep":              "error: no matching package named `nothere-x` found",
	"gcc":                    "a.c:2:10: error: ‘x’ undeclared (first use in this function)",
	"ld":                     "b.c:(.text+0x5): undefined reference to `g'",
	"npm-missing-script":     `Missing script: "test"`,
	"npm-ci":                 "The `npm ci` command can only install with an existing package-lock.json or",
	"npx-test":               "404 Not Found - GET https://registry.npmjs.org/nosuchtool-x",
	"npm-script":             "linting",
	"npm-run-missing-module": "Error: Cannot find module 'ms'",

	// Exceptions that nothing caught.
	"node-missing":           "Error: Cannot find module 'ms'",
	"node-missing-esm":       "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/src/node/nothere.mjs' imported from /src/node/missing.mjs",
	"node-test-missing-spec": "Error: Cannot find module 'ms'",
	"node-rejects":           "RangeError: basket 3 is empty",
	"node-syntax":            "SyntaxError: Unexpected end of input",
	"node-throws":            "TypeError: Cannot read properties of undefined (reading 'cents')",
	"python-chained":         "RuntimeError: basket 3 cannot be read",
	"python-import":          "ModuleNotFoundError: No module named 'nothere'",
	"python-module":          "/usr/bin/python3: No module named nosuchmodule",
	"python-syntax":          "SyntaxError: invalid syntax",

	// make, shells and the like.
	"make-nested":      "expected 3, got 4",
	"make-no-makefile": "make: *** No targets specified and no makefile found. Stop.",
	"make-no-rule":     "make: *** No rule to make target 'gen/missing.c', needed by 'build'. Stop.",
	"make-no-target":   "make: *** No rule to make target 'nothing'. Stop.",
	"make-not-found":   "make: nosuchcommand: No such file or directory",
	"sh-not-found":     "nf.sh: 3: nosuchtool: not found",
	"bash-not-found":   "nf.sh: line 3: nosuchtool: command not found",
	"sh-no-script":     "sh: 0: cannot open nothere.sh: No such file",
	"sh-noexec":        "sh: 1: ./nf.sh: Permission denied",
	"sh-plain":         "f2: expected 3, got 4",
	"sh-diff":          "y differs: -b",
	"sh-progress":      "E: could not get the index",
	"sh-progress-only": "fatal: index is corrupt",
	"sh-progress-last": "downloading 100%",
	"git-fatal":        "fatal: not a git repository: '/nonexistent'",
	"curl-refused":     "curl: (7) Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server",
	"segv":             "Segmentation fault",
	"go-run":           "exit status 1",
}

func TestLine(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) != len(captured) {
		t.Errorf("testdata has %d outputs (%v), the table %d", len(files), err, len(captured))
	}
	for name, want := range captured {
		output, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := cause.Line(string(output)); got != want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
		if got := cause.Line(strings.ReplaceAll(string(output), "\n", "\r\n")); got != want {
			t.Errorf("%s with the line ends of Windows:\n got %q\nwant %q", name, got, want)
		}
	}
}

// TestWords holds Line to outputs of programs that this machine may not have,
// and to parts of outputs.
func TestWords(t *testing.T) {
	for output, want := range map[string]string{
		// Written after rustup's sources of messages; rustup is not installed where
		// these tests are made.
		"info: syncing channel updates for '1.75.0-x86_64-unknown-linux-gnu'\nerror: could not create temp file /home/mira/.rustup/tmp/k2q_file: Read-only file system (os error 30)\n": "rustup would install a version that is not there, and sessions cannot: install it outside",
		"error: could not create temp directory: '/home/mira/.rustup/tmp/x_dir'\n\nCaused by:\n    Permission denied (os error 13)\n":                                                   "rustup would install a version that is not there, and sessions cannot: install it outside",
		"mkdir: cannot create directory '/home/mira/.asdf/installs/nodejs/22.1.0': Read-only file system\n":                                                                             "asdf would install a version that is not there, and sessions cannot: install it outside",
		"": "", " \r\n\t\n": "", "\x1b[31m\x1b[0m": "",
		"FAIL":                                       "FAIL",
		"--- FAIL: TestSum (0.00s)\nFAIL":            "TestSum",
		"exit status 1\nFAIL\tshop\t0.01s":           "FAIL shop 0.01s",
		"sum.go: wrong\nProcess exited with code 1.": "sum.go: wrong",
		"yarn run v1\n$ lint\nbasket.ts is not sorted\nerror Command failed with exit code 1.\ninfo Visit https://yarnpkg.com for documentation.":                 "basket.ts is not sorted",
		"Exception in thread \"main\" java.lang.IllegalStateException: closed\n\tat shop.Basket.add(Basket.java:9)\nCaused by: java.io.IOException: disk\n\tat x": "java.io.IOException: disk",
		"thread 'main' panicked at 'no basket', src/main.rs:3:5\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace":                   "'no basket', src/main.rs:3:5",
		"no errors found\n0 failed\nbasket 3 differs": "basket 3 differs",
		"✓ error pages are shown\nsee report.html":    "see report.html",
		"a.go\nb.go\n": "b.go", // nothing says which of them is the cause
	} {
		if got := cause.Line(output); got != want {
			t.Errorf("Line(%q)\n got %q\nwant %q", output, got, want)
		}
	}
	long := cause.Line("error: " + strings.Repeat("wörter ", 10_000) + "\n")
	if n := utf8.RuneCountInString(long); n != cause.MaxLine && n != cause.MaxLine-1 || !strings.HasSuffix(long, "…") {
		t.Errorf("a long line has %d characters: %q", n, long)
	}
}

// TestWithoutSummary: what a runner ends its output with says only that it failed.
func TestWithoutSummary(t *testing.T) {
	for output, want := range map[string]string{
		"    a_test.go:4: got 1, want 2\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tshop/tax\t0.412s\nFAIL\n": "    a_test.go:4: got 1, want 2\n--- FAIL: TestA (0.00s)",
		"Error: Cannot find module 'ms'\n\nNode.js v20.20.2\n":                                          "Error: Cannot find module 'ms'",
		"FAIL\nexit status 1\n": "FAIL\nexit status 1\n",
		"want 1\r\nFAIL\r\n":    "want 1\r",
		"":                      "",
	} {
		if got := cause.WithoutSummary(output); got != want {
			t.Errorf("%q\ngives %q\nwant  %q", output, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	for name := range captured {
		output, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(output))
	}
	f.Add("a\x00b\u202ec\xff\r\x1b]0;title\x07\u2028")
	f.Fuzz(func(t *testing.T, output string) {
		line := cause.Line(output)
		if n := utf8.RuneCountInString(line); n > cause.MaxLine {
			t.Errorf("%d characters", n)
		}
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("unclean: %q", line)
		}
		if line != strings.Join(strings.Fields(line), " ") {
			t.Errorf("white space: %q", line)
		}
		plain := strings.Map(func(r rune) rune {
			if r == '\n' || unicode.IsLetter(r) {
				return r
			}
			return -1
		}, output)
		if line == "" && strings.TrimSpace(plain) != "" && !strings.ContainsAny(output, "\x1b\u009b\u009d") {
			t.Errorf("no line of %q", output)
		}
	})
}
