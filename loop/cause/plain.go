package cause

import (
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

var (
	diffOld  = regexp.MustCompile(`^--- (?:a/)?([^\t]+?)(?:\t.*)?$`)
	diffNew  = regexp.MustCompile(`^\+\+\+ (?:b/)?([^\t]+?)(?:\t.*)?$`)
	diffHunk = regexp.MustCompile(`^@@ .* @@`)
)

// changes returns the first change of a printed patch. A check that prints one
// fails because of it: a formatter, or generated files that are not current.
func changes(lines []string) string {
	for n := 0; n+2 < len(lines); n++ {
		from, to := diffOld.FindStringSubmatch(lines[n]), diffNew.FindStringSubmatch(lines[n+1])
		if from == nil || to == nil || !diffHunk.MatchString(lines[n+2]) {
			continue
		}
		for _, line := range lines[n+3:] {
			if text := strings.TrimSpace(line); len(text) > 1 && (text[0] == '-' || text[0] == '+') {
				return named(to[1]+" differs", line)
			}
		}
		return to[1] + " differs"
	}
	return ""
}

var (
	complains = regexp.MustCompile(`(?i)\b(?:\w*errors?|failed|fails|failures?|fatal|cannot|can't|could(?: not|n't)|unable|denied|refused|not found|no such|no rule|no targets|no module|no tests?|missing|undefined|invalid|illegal|expected|unexpected|mismatch\w*|timed out|timeout|panic\w*|abort\w*|killed|fault|exception|assert\w*|want|corrupt\w*|exceed\w*|conflicts?|not equal|differs?)\b`)
	passes    = regexp.MustCompile(`^\s*(?:[✓✔√]|ok\b|PASS\b|--- PASS|\[?OK\]?\b)|\.\.\. ok$|(?i)\b(?:0|no) (?:errors?|failures?|failed)\b|\bfailed=0\b|\bfailures: 0\b`)
)

// complaint returns the last line that reads like an error: a script ends with
// the command that failed.
func complaint(lines []string) string {
	for n := len(lines) - 1; n >= 0; n-- {
		if line := lines[n]; complains.MatchString(line) && !passes.MatchString(line) && !noise.MatchString(line) {
			return line
		}
	}
	return ""
}

// frame matches a line of a stack trace.
var frame = regexp.MustCompile(`^\s+(?:at |❯ |File ".*", line \d+|\d+: \w+::|\S+:\d+ \+0x)|^goroutine \d+ \[|^created by |^\s+[~^]+\s*$|^\s*>?\s*\d*\s*\|`)

// noise matches lines that never say why: that something failed, counts, frames,
// versions, hints.
var noise = regexp.MustCompile(frame.String() + `|(?i)^\s*(?:` + strings.Join([]string{
	`exit status \d+`, `FAIL(?:\s+\S+)?(?:\s+[\d.]+s|\s+\[.*\])?`, `FAILED(?: \(.*\))?`, `failed`, `ERROR:?`,
	`(?:g?make(?:\[\d+\])?): (?:\*\*\* \[.*\] (?:Error|Interrupt|Killed|Terminated).*|(?:Entering|Leaving) directory .*|Target .* not remade.*)`,
	`Node\.js v\S+`, `npm (?:error|ERR!).*`, `> .*`, `\S*\s*(?:error )?Command failed with exit code \d+\.?`, `info Visit .*`, `ELIFECYCLE.*`,
	`note: .*RUST_BACKTRACE.*`, `error: (?:could not compile|test failed, to rerun|aborting due to).*`, `For more information about .*`, `warning: build failed.*`,
	`test result: .*`, `(?:Test Suites|Tests|Snapshots|Time|Test Files|Start at|Duration|Ran all test suites)\b.*`,
	`=+ .* =+`, `\d+ (?:failed|passed|passing|failing|error|errors)\b.*`, `Ran \d+ tests? in .*`, `[#ℹ] (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) .*`,
	`(?:collect2|clang|cc1|gcc|c\+\+): error: (?:ld|linker).*`, `(?:Error: )?(?:The )?(?:process|command|script)\b.* (?:exit(?:ed|s)? (?:with )?(?:exit )?(?:code|status)|returned (?:exit code|non-zero)).*`,
	`\[nightporter: .*\]`, `[[:punct:]\s─-╿⎯✖]*`,
}, "|") + `)$`)

// last returns the last line that may say why, otherwise the last line with a
// letter or digit, otherwise the last visible one.
func last(lines []string) string {
	for _, ok := range []func(string) bool{
		func(line string) bool { return !noise.MatchString(line) },
		func(line string) bool { return word.MatchString(line) },
		func(line string) bool { return strings.TrimSpace(line) != "" },
	} {
		for n := len(lines) - 1; n >= 0; n-- {
			if strings.TrimSpace(lines[n]) != "" && ok(lines[n]) {
				return lines[n]
			}
		}
	}
	return ""
}

var word = regexp.MustCompile(`[\pL\pN]`)
