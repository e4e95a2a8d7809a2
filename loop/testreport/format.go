package testreport

import (
	"slices"

	"github.com/nightporter/nightporter/internal/regexp"
)

// reader reads the lines of an output in one format.
type reader interface {
	// read takes the next line, and reports whether the line belongs to the
	// format for certain. Weak formats do not get such a line.
	read(line string) bool
	// end reports what is still open.
	end()
}

// matchIf matches form where a cheaper test allows it: most lines of a long
// output belong to no format.
func matchIf(possible bool, form *regexp.Regexp, line string) []string {
	if !possible {
		return nil
	}
	return form.FindStringSubmatch(line)
}

// format is one kind of output.
type format struct {
	name string
	weak bool // its form is not unmistakable, so lines that another format claims are not read
	open func(*collector) reader
}

// formats is the table of formats. Each of them reads the whole output: an
// output may have several, and one that is imitated cannot hide another one.
var formats = slices.Concat([]format{
	{name: goTest, open: func(c *collector) reader { return &goReader{c: c} }},
	{name: tapRunner, open: func(c *collector) reader { return &tapReader{c: c} }},
	{name: nodeTest, open: func(c *collector) reader { return &nodeReader{c: c} }},
	{name: jest, open: func(c *collector) reader { return &jestReader{c: c} }},
	{name: vitest, open: func(c *collector) reader { return &vitestReader{c: c} }},
	{name: mocha, open: func(c *collector) reader { return &mochaReader{c: c} }},
	{name: pytest, open: func(c *collector) reader { return &pytestReader{c: c, kinds: map[string]headed{}} }},
	{name: unittest, open: func(c *collector) reader { return &unittestReader{c: c} }},
	{name: cargo, open: func(c *collector) reader { return &cargoReader{c: c, begun: -1} }},
	{name: junit, open: func(c *collector) reader { return &junitReader{c: c} }},
}, runnerFormats(), []format{
	{name: eslint, open: func(c *collector) reader { return &eslintReader{c: c} }},
	{name: compiler, open: func(c *collector) reader { return &compilerReader{c: c} }},
	{name: lint, weak: true, open: func(c *collector) reader { return &lintReader{c: c} }},
	{name: tool, weak: true, open: func(c *collector) reader { return &toolReader{c: c} }},
})
