package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"
)

// drawWidth is the number of characters that a phone shows in one line without
// wrapping (docs/spec 21.1).
const drawWidth = 38

// Draw returns the routes of a pattern as text for a phone or a terminal, no
// line wider than 38 characters. It lists the hats in the order in which a task
// reaches them, each with its routes. An invalid pattern is drawn as far as its
// routes lead.
//
//	builder → reviewer
//	reviewer
//	  issues: → fixer
//	  else: → refactorer, once
//	  then: → converged
//	fixer → reviewer
//	refactorer → reviewer
func Draw(p ledger.Pattern, hats map[string]ledger.Hat) string {
	var b strings.Builder
	argued := false
	for _, name := range hatsInOrder(p) {
		ways := routesFrom(p, hats, name)
		if i := slices.IndexFunc(ways, func(w drawnRoute) bool { return w.event == eventPlan }); p.Consensus && i >= 0 && !argued {
			argued = true
			to := ways[i].to
			ways[i].to = hatCritic
			drawHat(&b, name, ways)
			drawHat(&b, hatCritic, []drawnRoute{{label: "OKAY", to: to}, {label: "REJECT", to: name}, {label: "second REJECT", to: hatArchitect}})
			drawHat(&b, hatArchitect, []drawnRoute{{to: name}})
			continue
		}
		drawHat(&b, name, ways)
	}
	return b.String()
}

// hatsInOrder returns the hats of a pattern in breadth-first order from its
// start.
func hatsInOrder(p ledger.Pattern) []string {
	order := []string{p.Start}
	for i := 0; i < len(order); i++ {
		for _, r := range p.Routes {
			if r.From == order[i] && !ledger.EndsAttempt(r.To) && !slices.Contains(order, r.To) {
				order = append(order, r.To)
			}
		}
	}
	return order
}

// drawnRoute is one route as it is drawn: "issues: → fixer, once".
type drawnRoute struct {
	event string
	label string // the condition, such as "issues"; "" = always
	to    string
	most  int // sessions by the route; 0 = any number
	each  ledger.Each
}

// routesFrom returns the routes that leave a hat: grouped by event, and within
// an event those for issues first.
func routesFrom(p ledger.Pattern, hats map[string]ledger.Hat, name string) []drawnRoute {
	events := slices.Clone(hats[name].Emits)
	for _, r := range p.Routes {
		if r.From == name && !slices.Contains(events, r.On) {
			events = append(events, r.On)
		}
	}
	var ways []drawnRoute
	for _, event := range events {
		var routes []ledger.Route
		for _, r := range p.Routes {
			if r.From == name && r.On == event {
				routes = append(routes, r)
			}
		}
		rank := map[ledger.ThresholdSide]int{"": 0, ledger.Above: 1, ledger.Below: 2}
		slices.SortStableFunc(routes, func(a, b ledger.Route) int { return cmp.Compare(rank[a.When], rank[b.When]) })
		for i, r := range routes {
			w := drawnRoute{event: event, to: r.To, most: r.Most(), each: r.Each}
			switch {
			case i > 0 && routes[i-1].Most() > 0 && routes[i-1].When == r.When:
				w.label = "then"
			case r.When == ledger.Above:
				w.label = "issues"
			case r.When == ledger.Below:
				w.label = "else"
			}
			if len(events) > 1 {
				w.label = strings.TrimSuffix(shortEvent(event, events)+", "+w.label, ", ")
			}
			ways = append(ways, w)
		}
	}
	return ways
}

// shortEvent returns the last word of an event's name, or the whole name where
// another event of the hat ends with the same word.
func shortEvent(event string, all []string) string {
	last := func(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
	for _, e := range all {
		if e != event && last(e) == last(event) {
			return event
		}
	}
	return last(event)
}

func drawHat(b *strings.Builder, name string, ways []drawnRoute) {
	if len(ways) == 1 && ways[0].label == "" && ways[0].most == 0 {
		drawRoute(b, name+" ", ways[0])
		return
	}
	b.WriteString(shorten(name) + "\n")
	for _, w := range ways {
		lead := "  "
		if w.label != "" {
			lead += w.label + ": "
		}
		drawRoute(b, lead, w)
	}
}

// timesText returns "once", or "3 times".
func timesText(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// drawRoute writes one route, on two lines where it is too wide for one.
func drawRoute(b *strings.Builder, lead string, w drawnRoute) {
	to := w.to
	if w.most > 0 {
		to += ", " + timesText(w.most)
	}
	if w.each != "" {
		to += ", each " + string(w.each)
	}
	if line := lead + "→ " + to; utf8.RuneCountInString(line) <= drawWidth {
		b.WriteString(line + "\n")
		return
	}
	lead = strings.TrimRight(lead, " ")
	if utf8.RuneCountInString(lead)+2 > drawWidth {
		lead = string([]rune(lead)[:drawWidth-3]) + "…"
	}
	b.WriteString(lead + " →\n" + shorten("    "+to) + "\n")
}

// shorten cuts a line at drawWidth. A hat's name has at most 32 characters, so
// only a following "once" can be cut off.
func shorten(line string) string {
	if r := []rune(line); len(r) > drawWidth {
		return string(r[:drawWidth-1]) + "…"
	}
	return line
}

// routesPage is the text above the tables of docs/routes.md.
const routesPage = `# Routes

Which hat follows on which event, in each shipped pattern. This page is written from the files in ` + "`config/presets`" + ` by ` + "`go test ./config -run TestRoutesTable -update`" + `; do not edit it.

- *Issues* means that a review found something at or above the pattern's threshold (critical and major, unless it says otherwise); *else* that it did not. *Once* means at most once an attempt.
- *converged* is where the task is committed, *failed* where the attempt ends as a failed one. Before any route of a hat that writes is taken, nightporter runs the verification commands on its tree (of the reproducer only its own command, which has to fail); red comes back to the same hat.
- Every hat may also end with ` + "`question.asked`" + `, which goes to a person and then, with the answer, to the same hat; and with ` + "`task.blocked`" + `, which ends the attempt and goes to a person.
- With ` + "`consensus = true`" + ` on a pattern or a project, a plan goes to the critic before the route that is written here, and back to the planner while it is rejected; the architect is consulted on the second rejection.
`

// RoutesTable returns docs/routes.md: a drawing of each pattern, and a table
// with the target of each event of each hat.
func RoutesTable(hats map[string]ledger.Hat, patterns map[string]ledger.Pattern) string {
	var b strings.Builder
	b.WriteString(routesPage)
	used := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(patterns)) {
		p := patterns[name]
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s```\n\n", name, Draw(p, hats))
		b.WriteString("| hat | event | issues | else | `question.asked` | `task.blocked` |\n|---|---|---|---|---|---|\n")
		for _, hat := range hatsInOrder(p) {
			used[hat] = true
			for _, event := range hats[hat].Emits {
				fmt.Fprintf(&b, "| %s | `%s` | %s | %s | person | person |\n", hat, event, target(p, hat, event, ledger.Above), target(p, hat, event, ledger.Below))
			}
		}
	}
	var idle []string
	for _, name := range slices.Sorted(maps.Keys(hats)) {
		if !used[name] {
			idle = append(idle, fmt.Sprintf("| %s | `%s` | %s |", name, strings.Join(hats[name].Emits, "`, `"), hats[name].Role))
		}
	}
	if len(idle) > 0 {
		b.WriteString("\n## Hats in no pattern above\n\n| hat | event | role |\n|---|---|---|\n" + strings.Join(idle, "\n") + "\n")
	}
	return b.String()
}

// target names the hats that an event leads to on one side of the threshold,
// for the table.
func target(p ledger.Pattern, hat, event string, side ledger.ThresholdSide) string {
	var words []string
	for _, r := range p.Routes {
		if r.From != hat || r.On != event || !slices.Contains(sidesOf(r.When), side) {
			continue
		}
		if r.Most() == 0 {
			words = append(words, r.To)
			break
		}
		words = append(words, r.To+" "+timesText(r.Most()))
	}
	if words == nil {
		return "nowhere"
	}
	return strings.Join(words, ", then ")
}
