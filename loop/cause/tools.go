package cause

import (
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

var (
	closedToolchain = regexp.MustCompile(`(?i)(?:read-only file system|permission denied)`)
	toolchainFolder = regexp.MustCompile(`[ '"` + "`" + `=(](/\S*/(?:\.(rustup|pyenv|rbenv|nodenv|volta|asdf)|share/(mise))/\S+)`)
)

// toolchain finds a manager of toolchains that would install a version, which no
// session can (internal/toolchain).
func toolchain(lines []string, n int) string {
	m := toolchainFolder.FindStringSubmatch(lines[n])
	if m == nil {
		return ""
	}
	// rustup says why on a line of its own, below "Caused by:".
	near := strings.Join(lines[n:min(n+4, len(lines))], "\n")
	if !closedToolchain.MatchString(near) {
		return ""
	}
	return m[2] + m[3] + " would install a version that is not there, and sessions cannot: install it outside"
}

var tscError = regexp.MustCompile(`^\S.*(?:\(\d+,\d+\): |:\d+:\d+ - )error TS\d+: `)

// typeScript finds an error of the TypeScript compiler.
func typeScript(lines []string, n int) string {
	if !tscError.MatchString(lines[n]) {
		return ""
	}
	return lines[n]
}

var (
	rustError = regexp.MustCompile(`^error(?:\[E\d+\])?: (.+)$`)
	rustPlace = regexp.MustCompile(`^\s*--> (\S+)$`)
	rustNoise = regexp.MustCompile(`^(?:could not compile|test failed, to rerun|aborting due to|\d+ targets? failed|process didn't exit|Recipe )`)
)

// rust finds an error of rustc or cargo, with its place.
func rust(lines []string, n int) string {
	m := rustError.FindStringSubmatch(lines[n])
	if m == nil || rustNoise.MatchString(m[1]) {
		return ""
	}
	if n+1 < len(lines) {
		if p := rustPlace.FindStringSubmatch(lines[n+1]); p != nil {
			return p[1] + ": " + lines[n]
		}
	}
	return lines[n]
}

var compilerError = regexp.MustCompile(`^(?:vet: )?(?:\S+\.go:\d+(?::\d+)?: \S|\S+:\d+(?::\d+)?: (?:fatal )?error: |\S.*: undefined reference to )`)

// compiler finds an error of Go, gcc, clang or a linker.
func compiler(lines []string, n int) string {
	if !compilerError.MatchString(lines[n]) {
		return ""
	}
	return lines[n]
}

var eslintError = regexp.MustCompile(`^\s+(\d+:\d+)\s+error\s+(.+)$`)

// eslint finds an error of eslint, whose file stands above the errors.
func eslint(lines []string, n int) string {
	m := eslintError.FindStringSubmatch(lines[n])
	if m == nil {
		return ""
	}
	file := ""
	for k := n - 1; k >= 0 && strings.TrimSpace(lines[k]) != ""; k-- {
		if indent(lines[k]) == 0 {
			file = lines[k] + ":"
		}
	}
	return named(file+m[1], m[2])
}

var (
	npmError = regexp.MustCompile(`^npm (?:error|ERR!)(?: |$)(.*)$`)
	npmNoise = regexp.MustCompile(`^(?:code|errno|syscall|path|dest|command|signal|cwd|workspace|location)\b|^Lifecycle script|^Test failed\.|^A complete log|^\s|^\d+$|^ELIFECYCLE|^Exit status|^This is probably not a problem|^Failed at the|^\S+@\S+ \S+: `)
)

// npm finds an error of npm itself. That a script failed is none.
func npm(lines []string, n int) string {
	m := npmError.FindStringSubmatch(lines[n])
	if m == nil || strings.TrimSpace(m[1]) == "" || npmNoise.MatchString(m[1]) {
		return ""
	}
	return m[1]
}

var (
	exception = regexp.MustCompile(`^(?:# )?(?:Uncaught )?(?:Exception in thread "[^"]*" )?(?:[A-Za-z_$][\w$]*\.)*[A-Z]?\w*(?:Error|Exception|Interrupt|Exit)(?: \[\w+\])?(?:: .+|:?$)`)
	causedBy  = regexp.MustCompile(`^Caused by: (.+)$`)
)

// uncaught returns the last exception of an output. One that a program caught
// and logged would come earlier: the one that nothing caught ended the program.
func uncaught(lines []string) string {
	for n := len(lines) - 1; n >= 0; n-- {
		if m := causedBy.FindStringSubmatch(lines[n]); m != nil {
			return m[1]
		}
		if exception.MatchString(lines[n]) && !noise.MatchString(lines[n]) {
			return strings.TrimPrefix(lines[n], "# ") // node prints the output of a test file that way
		}
	}
	return ""
}
