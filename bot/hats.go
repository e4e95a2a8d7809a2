package bot

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// hatsOf lists the hats of a project's pattern, shows one hat, or draws the routes
// of a pattern.
func (d dispatch) hatsOf(ctx context.Context) (Message, error) {
	name := strings.ToLower(strings.TrimSpace(d.c.Target))
	set, err := d.service.Hats(ctx, d.project, "")
	if m, failed, err := d.noHats(err); failed {
		return m, err
	}
	h, is := set.Hats[name]
	switch {
	case name == "":
		return Hats(d.project, set), nil
	case is:
		return HatOf(d.project, set, h), nil
	case name == "routes", name == set.Pattern.Name:
		return Routes(d.project, set), nil
	case slices.Contains(set.Patterns, name):
		set, err := d.service.Hats(ctx, d.project, name)
		if m, failed, err := d.noHats(err); failed {
			return m, err
		}
		return Routes(d.project, set), nil
	}
	m := refusal("hats.unknown", SignFailed+" No hat or pattern "+Cut(Clean(name), 18))
	m.Project = d.project
	m.add("Hats: " + strings.Join(sortedNames(set.Hats), ", ") + ".")
	m.add("Patterns: " + orNothing(Clean(strings.Join(set.Patterns, ", "))) + ".")
	m.button("Hats", "/hats")
	return m, nil
}

// noHats returns the reply for an error from Service.Hats. A person can correct
// an *InputError, so it becomes a message; any other error is a fault. failed is
// false if err is nil.
func (d dispatch) noHats(err error) (m Message, failed bool, fault error) {
	var input *ledger.InputError
	if errors.As(err, &input) {
		m := refusal("hats.trouble", fit(SignFailed, d.project, "hats cannot be read", ""))
		m.Project = d.project
		m.findings(input.Diagnostics)
		m.add("Mend it, then /hats.")
		return m, true, nil
	}
	return Message{}, err != nil, err
}

func sortedNames(hats map[string]ledger.Hat) []string {
	var names []string
	for name := range hats {
		names = append(names, Clean(name))
	}
	slices.Sort(names)
	return names
}

// worn returns the hats of a pattern, in the order in which its routes reach
// them.
func worn(p ledger.Pattern) []string {
	names := []string{p.Start}
	for n := 0; n < len(names); n++ {
		for _, r := range p.Routes {
			if r.From == names[n] && r.To != ledger.Converged && !slices.Contains(names, r.To) {
				names = append(names, r.To)
			}
		}
	}
	return names
}

// Hats lists the hats of a pattern, one a line, then the names of the project's
// other hats.
func Hats(project string, set HatSet) Message {
	names := worn(set.Pattern)
	m := newMessage("hats", fit("", project, "hats: "+set.Pattern.Name, ""))
	m.Project = project
	wide := 0
	for _, name := range names {
		wide = max(wide, Width(Cut(Clean(name), 16)))
	}
	var others []string
	for _, name := range names {
		m.pre(Pad(Cut(Clean(name), 16), wide, 0) + "  " + wears(set, set.Hats[name]))
	}
	for _, name := range sortedNames(set.Hats) {
		if !slices.Contains(names, name) {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		m.add("Not in it: " + strings.Join(others, ", "))
	}
	m.button("Routes", "/hats routes")
	for _, name := range names[:min(len(names), 5)] {
		m.button(name, "/hats "+name)
	}
	return m
}

// wears says which agent a hat uses and which paths it may write.
func wears(set HatSet, h ledger.Hat) string {
	return strings.TrimSpace(Cut(Clean(agentWords(set, h)), 24) + " · " + writes(h))
}

func agentWords(set HatSet, h ledger.Hat) string {
	return strings.TrimSpace(orElse(h.Agent, set.Agent) + " " + h.Model + " " + h.Effort)
}

// writes returns which files a hat may write: "reads only", "writes all but
// docs/**".
func writes(h ledger.Hat) string {
	if !h.Writes() {
		return "reads only"
	}
	what := strings.Join(h.WriteAllowed, ", ")
	if slices.Contains(h.WriteAllowed, "**") {
		what = "all"
	}
	if len(h.WriteDenied) > 0 {
		what += " but " + strings.Join(h.WriteDenied, ", ")
	}
	return Cut(Clean("writes "+what), 2*quoteWidth)
}

// HatOf renders one hat with everything but its prompt.
func HatOf(project string, set HatSet, h ledger.Hat) Message {
	m := newMessage("hats.one", fit("", project, "hat "+h.Name, ""))
	m.Project = project
	m.quote(h.Role)
	m.add("Agent " + orElse(Clean(agentWords(set, h)), "the project's"))
	m.pre(upper(writes(h)))
	if h.OwnScope {
		m.add("And what the task's scope names.")
	} else if h.Writes() {
		m.add("The task's scope comes first.")
	}
	m.add("Ends with " + strings.Join(h.Emits, " or "))
	m.add("Then " + expects(h.Expect))
	limits := "At most " + Took(h.Timeout.D()) + ", silent at most " + Took(h.StallTimeout.D())
	if h.MaxCostUSD > 0 {
		limits += ", " + Money(h.MaxCostUSD)
	}
	m.add(limits + ".")
	if !slices.Contains(worn(set.Pattern), h.Name) {
		m.add("Not in " + Clean(set.Pattern.Name) + ".")
	}
	m.button("Routes", "/hats routes")
	m.button("Hats", "/hats")
	return m
}

// expects returns which check follows a session of the hat.
func expects(e ledger.Expect) string {
	switch e {
	case ledger.ExpectPass:
		return "verification has to pass."
	case ledger.ExpectRepro:
		return "the command that it names has to fail."
	}
	return "nothing is run."
}

// Routes draws which hat follows which in a pattern, and names the project's other
// patterns.
func Routes(project string, set HatSet) Message {
	m := newMessage("hats.routes", fit("", project, "routes: "+set.Pattern.Name, ""))
	m.Project = project
	for _, line := range CleanLines(set.Routes) {
		m.pre(line)
	}
	var others []string
	for _, name := range set.Patterns {
		if name != set.Pattern.Name {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		m.add("Other patterns: " + Clean(strings.Join(others, ", ")))
	}
	m.button("Hats", "/hats")
	return m
}
