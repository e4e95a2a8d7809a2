package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
)

// dropGuidance takes back one guidance item, several, or, after it has asked, all that
// wait.
func dropGuidance(ctx context.Context, d dispatch) (Message, error) {
	var ids []string
	for _, word := range strings.Fields(d.c.Target) {
		if id := itemTyped(word); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	waiting := waitingGuidance(d.s)
	switch {
	case len(ids) == 0:
		return whichGuidance(d.s, waiting), nil
	case len(ids) == 1 && ids[0] == "all" && len(waiting) == 0:
		m := newMessage("guidance.none", firstLine(SignLater, d.project+":", "no guidance waits", ""))
		m.button("Queue", "/queue")
		return m, nil
	case len(ids) == 1 && ids[0] == "all" && len(waiting) > 1:
		return askDropAll(d.s, waiting), nil
	case len(ids) == 1 && ids[0] == "all":
		ids = []string{waiting[0].ID}
	}
	for _, id := range ids {
		if _, ok := d.s.Project.Guidance.Get(id); !ok {
			return noGuidance(d.project, id), nil
		}
	}
	if len(ids) == 1 {
		return d.do(ctx, loop.DropGuidance{ID: ids[0]})
	}
	var inputs []loop.InputBody
	for _, id := range ids {
		inputs = append(inputs, loop.DropGuidance{ID: id})
	}
	return d.each(ctx, inputs)
}

// itemTyped returns the id of guidance as typed: "G14" and "14" are g14.
func itemTyped(typed string) string {
	id := strings.ToLower(strings.TrimSpace(typed))
	if digits.MatchString(id) {
		id = "g" + id
	}
	return id
}

// waitingGuidance returns the items that wait for a session, oldest first. Sticky ones
// do not wait: they hold until somebody drops them by name.
func waitingGuidance(s loop.State) []guidance.Item {
	var out []guidance.Item
	for _, i := range s.Project.Guidance.Items {
		if i.State == guidance.Queued && !i.Sticky {
			out = append(out, i)
		}
	}
	return out
}

// whichGuidance asks for the item that a /drop is about.
func whichGuidance(s loop.State, waiting []guidance.Item) Message {
	m := refusal("cmd.whichguidance", SignAsk+" /drop: which guidance?")
	m.Project = s.Project.Name
	for _, i := range waiting[:min(len(waiting), mostButtons)] {
		m.add(i.ID + " " + Cut(Clean(i.Text), 40))
		m.button("Drop "+i.ID, "/drop "+i.ID)
	}
	if len(waiting) == 0 {
		m.add("Type for example /drop g9.")
	}
	if len(waiting) > 1 {
		m.button("Drop all", "/drop all")
	}
	m.button("Queue", "/queue")
	return m
}

// askDropAll asks before all waiting guidance is dropped. Its button names the items:
// what is queued after the question is not meant.
func askDropAll(s loop.State, waiting []guidance.Item) Message {
	m := refusal("guidance.dropall", firstLine(SignAsk, s.Project.Name+":", fmt.Sprintf("drop %d guidance?", len(waiting)), ""))
	m.Project = s.Project.Name
	ids := ""
	for _, i := range waiting {
		m.quote(i.ID + " " + addressed(i) + i.Text)
		ids += " " + i.ID
	}
	if _, _, sticky := guidanceCount(s); sticky > 0 {
		m.add("What is sticky stays.")
	}
	m.Lines = append(m.Lines, Line{Text: "No answer: all of it stays.", Pending: true})
	m.button(fmt.Sprintf("Drop %d", len(waiting)), "/drop"+ids)
	m.button("Queue", "/queue")
	return m
}

// noGuidance refuses an id that no item has.
func noGuidance(project, id string) Message {
	m := refusal("cmd.noguidance", SignFailed+" "+project+" has no guidance "+Cut(Clean(id), 8))
	m.add("Nothing was changed.")
	m.button("Queue", "/queue")
	return m
}
