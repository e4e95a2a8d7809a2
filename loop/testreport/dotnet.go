package testreport

import (
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// dotnet reads dotnet test, and the errors of .NET's compilers.
var dotnet = runner{name: "dotnet test", lines: []form{
	{"Failed ", regexp.MustCompile(`^\s+Failed (\S.*?) \[(?:< )?[\d.,]+ (?:ms|s|m)(?: [\d.,]+ \w+)?\]$`), func(r *runnerReader, m []string) {
		r.fail("", m[1], ledger.FailureAssertion)
	}},
	{", Total: ", regexp.MustCompile(`^(?:Passed|Failed|Skipped)! +- Failed: +(\d+), Passed: +(\d+), Skipped: +(\d+), Total: +\d+`), func(r *runnerReader, m []string) {
		r.total(digits(m[2]), digits(m[1]), digits(m[3]))
	}},
	{"Test Run Aborted", regexp.MustCompile(`^Test Run Aborted`), func(r *runnerReader, _ []string) { r.c.add(r.of.name, "", "(run aborted)", ledger.FailurePanic) }},
	{"): error ", regexp.MustCompile(`^\s*(\S[^(]*\.(?:cs|fs|vb|razor|csproj|fsproj|targets))\(\d+(?:,\d+)*\): error (\w+\d+: .*?)(?: \[[^\]]*\])?$`), func(r *runnerReader, m []string) {
		r.c.add(compiler, m[1], m[2], ledger.FailureBuild)
	}},
}}
