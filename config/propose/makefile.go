package propose

import "github.com/nightporter/nightporter/internal/regexp"

// verifyTarget matches the Makefile rules that verify something. It does not
// match an assignment (test := x).
var verifyTarget = regexp.MustCompile(`(?m)^(test|check|lint)[ \t]*::?(?:[^=:]|$)`)

// makefile adds the targets of a Makefile. Next to commands of a language they
// are written as comments, because they probably run the same commands.
func (f *Found) makefile(top folder) {
	file := top.first("GNUmakefile", "makefile", "Makefile")
	if file == "" {
		return
	}
	has := map[string]bool{}
	for _, m := range verifyTarget.FindAllStringSubmatch(top.read(file), -1) {
		has[m[1]] = true
	}
	alone := len(Active(f.Verify)) == 0
	var list []Command
	if has["check"] && !has["test"] {
		list = append(list, top.command("make check", file, false))
	}
	if has["lint"] {
		list = append(list, top.command("make lint", file, false).code())
	}
	if has["test"] {
		list = append(list, top.command("make test", file, false))
	}
	for _, c := range list {
		if !alone {
			c = c.off("it may do what the lines above do")
		}
		f.Verify = append(f.Verify, c)
	}
	if len(f.Languages) == 0 && len(list) > 0 {
		f.Languages = append(f.Languages, "make")
	}
}
