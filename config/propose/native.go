package propose

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

const compilers = "cc|gcc|clang"

// nativeBuilds are the build systems of C and C++, of which a folder's first one is
// taken.
var nativeBuilds = []struct {
	file string
	look func(folder) part
}{
	{"CMakeLists.txt", lookCMake}, {"meson.build", lookMeson}, {"configure.ac", lookAutotools}, {"configure.in", lookAutotools},
}

// lookNative proposes to configure, build and test. The three share a folder, as
// the commands of one check do; setup would not help, because build folders hold
// paths.
func lookNative(f folder) (part, bool) {
	var p part
	taken := ""
	for _, b := range nativeBuilds {
		switch {
		case !f.has(b.file) || b.file == "configure.in" && f.has("configure.ac"):
		case taken == "":
			p, taken = b.look(f), b.file
		default:
			p.notes = append(p.notes, f.name(b.file)+" is left out: "+taken+" was taken")
		}
	}
	return p, taken != ""
}

// buildFolders are usual names of build folders.
var buildFolders = []string{"build", "builddir", "_build", "out", "cmake-build-debug"}

// buildFolder returns the name of a folder to build in: one that git ignores, if
// possible, and no folder of the repository.
func (f folder) buildFolder() string {
	for _, name := range buildFolders {
		if f.ignores(name) {
			return name
		}
	}
	return buildFolders[max(0, slices.IndexFunc(buildFolders, func(name string) bool { return !f.hasFolder(name) }))]
}

// cmakePresets are names of presets that are meant for everybody, the ones for
// machines first. Others stay unnamed, because no text of a file becomes a command.
var cmakePresets = []string{"ci", "ci-linux", "linux-ci", "dev", "default", "debug", "linux", "linux-debug", "gcc", "ninja", "test", "release"}

var cmakeTests = regexp.MustCompile(`(?im)^\s*(?:enable_testing\s*\(|include\s*\(\s*CTest\s*\)|add_test\s*\()`)

func lookCMake(f folder) part {
	const file = "CMakeLists.txt"
	needs := []string{"cmake", compilers, "make|ninja"}
	tests := cmakeTests.MatchString(f.read(file))
	for _, sub := range f.below() {
		tests = tests || cmakeTests.MatchString(sub.read(file))
	}
	if name, tested := f.cmakePreset(); name != "" {
		const presets = "CMakePresets.json"
		p := part{verify: []Command{
			f.command("cmake --preset "+name, presets, false, needs...),
			f.command("cmake --build --preset "+name, presets, false, needs...),
		}}
		if tested {
			p.verify = append(p.verify, f.command("ctest --preset "+name+" --output-on-failure", presets, false, needs...))
		}
		return p
	}
	build := f.buildFolder()
	generator := ""
	if !f.onPath("make") && f.onPath("ninja") {
		generator = " -G Ninja"
	}
	p := part{makes: []string{build}, verify: []Command{
		f.command("cmake -S . -B "+build+generator, file, false, needs...),
		// A number, because make takes --parallel alone for any number of processes.
		f.command("cmake --build "+build+" --parallel $(nproc)", file, false, needs...),
	}}
	if tests {
		p.verify = append(p.verify, f.command("ctest --test-dir "+build+" --output-on-failure", file, false, needs...))
	} else {
		p.notes = append(p.notes, f.name(file)+" declares no tests (enable_testing): name a command that proves more than that it compiles")
	}
	return p
}

// cmakePreset returns the first of cmakePresets that configures and builds, and
// whether it tests.
func (f folder) cmakePreset() (name string, tests bool) {
	type preset struct {
		Name   string `json:"name"`
		Hidden bool   `json:"hidden"`
	}
	var m struct {
		Configure []preset `json:"configurePresets"`
		Build     []preset `json:"buildPresets"`
		Test      []preset `json:"testPresets"`
	}
	if json.Unmarshal([]byte(f.read("CMakePresets.json")), &m) != nil {
		return "", false
	}
	has := func(list []preset, name string) bool {
		return slices.ContainsFunc(list, func(p preset) bool { return p.Name == name && !p.Hidden })
	}
	for _, name := range cmakePresets {
		if has(m.Configure, name) && has(m.Build, name) {
			return name, has(m.Test, name)
		}
	}
	return "", false
}

func lookMeson(f folder) part {
	const file = "meson.build"
	needs := []string{"meson", compilers, "ninja|ninja-build"}
	build := f.buildFolder()
	return part{makes: []string{build}, verify: []Command{
		f.command("meson setup "+build, file, false, needs...),
		f.command("meson compile -C "+build, file, false, needs...),
		f.command("meson test -C "+build+" --print-errorlogs", file, false, needs...),
	}}
}

// autotoolsScripts are scripts that make configure, where the repository has none.
var autotoolsScripts = []string{"autogen.sh", "bootstrap", "bootstrap.sh"}

func lookAutotools(f folder) part {
	file := f.first("configure.ac", "configure.in")
	needs := []string{compilers, "make"}
	var p part
	if !f.has("configure") || f.ignores("configure") {
		needs = append(needs, "autoreconf")
		c := f.command("autoreconf -fi", file, false, needs...)
		for _, script := range slices.Backward(autotoolsScripts) {
			if f.has(script) { // most call autoreconf, and some configure too
				c = f.command("NOCONFIGURE=1 sh ./"+script, script, true, needs...)
			}
		}
		p.verify = append(p.verify, c)
	}
	p.verify = append(p.verify,
		f.command("./configure", file, true, needs...),
		f.command("make -j$(nproc)", file, false, needs...),
	)
	if am := f.read("Makefile.am"); am != "" || strings.Contains(f.read("Makefile.in"), "\ncheck:") {
		p.verify = append(p.verify, f.command("make check", f.first("Makefile.am", "Makefile.in"), false, needs...))
	}
	p.makes = []string{"Makefile", "config.log", "config.status"}
	return p
}
