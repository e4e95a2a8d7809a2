package bot

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// showHats lists the hats of a project's pattern, shows one hat, or draws the routes
// of a pattern.
func showHats(ctx context.Context, d dispatch) (Message, error) {
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
	m := refusal("hats.unknown", SignFailed+" No hat or pattern "+Cut(Foreign(name), 18))
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
		m := refusal("hats.trouble", firstLine(SignFailed, d.project, "hats cannot be read", ""))
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

// routeOrder returns the hats of a pattern, in the order in which its routes
// reach them.
func routeOrder(p ledger.Pattern) []string {
	names := []string{p.Start}
	for n := 0; n < len(names); n++ {
		for _, r := range p.Routes {
			if r.From == names[n] && !ledger.EndsAttempt(r.To) && !slices.Contains(names, r.To) {
				names = append(names, r.To)
			}
		}
	}
	return names
}

// Hats lists the hats of a pattern, one a line, then the names of the project's
// other hats.
func Hats(project string, set HatSet) Message {
	names := routeOrder(set.Pattern)
	m := newMessage("hats", firstLine("", project, "hats: "+set.Pattern.Name, ""))
	m.Project = project
	wide := 0
	for _, name := range names {
		wide = max(wide, Width(Cut(Clean(name), 16)))
	}
	var others []string
	for _, name := range names {
		m.pre(Pad(Cut(Clean(name), 16), wide, 0) + "  " + hatSummary(set, set.Hats[name]))
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

// hatSummary says which agent a hat uses and which paths it may write.
func hatSummary(set HatSet, h ledger.Hat) string {
	return strings.TrimSpace(Cut(Clean(agentWords(set, h)), 24) + " · " + writeScope(h))
}

func agentWords(set HatSet, h ledger.Hat) string {
	return strings.TrimSpace(orElse(h.Agent, set.Agent) + " " + h.Model + " " + h.Effort)
}

// writeScope returns which files a hat may write: "reads only", "writes all but
// docs/**".
func writeScope(h ledger.Hat) string {
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
	m := newMessage("hats.one", firstLine("", project, "hat "+h.Name, ""))
	m.Project = project
	m.quote(h.Role)
	m.add("Agent " + orElse(Foreign(agentWords(set, h)), "the project's"))
	m.pre(upper(writeScope(h)))
	if h.OwnScope {
		m.add("And what the task's scope names.")
	} else if h.Writes() {
		m.add("The task's scope comes first.")
	}
	m.add("Ends with " + strings.Join(h.Emits, " or "))
	m.add("Then " + expectText(h.Expect))
	limits := "At most " + Took(h.Timeout.D()) + ", silent at most " + Took(h.StallTimeout.D())
	if h.MaxCostUSD > 0 {
		limits += ", " + Money(h.MaxCostUSD)
	}
	m.add(limits + ".")
	if !slices.Contains(routeOrder(set.Pattern), h.Name) {
		m.add("Not in " + Clean(set.Pattern.Name) + ".")
	}
	m.button("Routes", "/hats routes")
	m.button("Hats", "/hats")
	return m
}

// expectText returns which check follows a session of the hat.
func expectText(e ledger.Expect) string {
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
	m := newMessage("hats.routes", firstLine("", project, "routes: "+set.Pattern.Name, ""))
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

// HatsTrouble says why the hats on disk are not used. text is what "hats check"
// prints; the result is "" for an empty text.
func HatsTrouble(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	// Keep the first finding, and the number of the others.
	first, rest, _ := strings.Cut(text, "\n")
	words := strings.Fields(Clean(strings.TrimPrefix(first, SignFailed)))
	if len(words) > 0 && strings.Contains(words[0], ".toml") {
		at := strings.Split(filepath.ToSlash(words[0]), "/")
		words[0] = strings.Join(at[max(len(at)-2, 0):], "/") // "hats/mine.toml:3:1"
	}
	said := "on disk cannot be used: " + Cut(strings.Join(words, " "), quoteWidth)
	if n := strings.Count("\n"+rest, "\n"+SignFailed+" "); n > 0 {
		said += fmt.Sprintf(", and %d more", n)
	}
	return said + "; those read before stand"
}
