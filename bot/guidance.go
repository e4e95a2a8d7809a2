package bot

import (
	"context"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// guideSession queues words for a session. It first checks that the addressed hat
// or task exists: words for a mistyped name would wait forever.
func guideSession(ctx context.Context, d dispatch) (Message, error) {
	text := d.c.Words
	a, words := guidance.Parse(text)
	if strings.TrimSpace(words) == "" {
		m := refusal("guidance.words", SignAsk+" Your words for "+d.project+":")
		m.add("Type /guidance and what the next session is to know.")
		return m, nil
	}
	if hats := hatsOfRun(d.s); a.Hat != "" && len(hats) > 0 && !slices.Contains(hats, a.Hat) {
		return noHat(a.Hat, hats, text), nil
	}
	if a.Task != "" && d.s.Project.Tasks.Len() > 0 {
		if _, ok := FindTask(d.s, a.Task); !ok {
			m := noTask(d.s, "#"+a.Task)
			m.quote(text)
			return m, nil
		}
	}
	return d.do(ctx, loop.Guide{Text: text})
}

// hatsOfRun returns the names of the hats of a project's run, sorted.
func hatsOfRun(s loop.State) []string {
	if s.Project.Run == nil {
		return nil
	}
	var names []string
	for name := range s.Project.Run.Settings.Hats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// rerunSession asks the core to run the current session again. "/now g17" brings
// no new words: the repeated session receives open guidance such as g17 anyway.
func rerunSession(ctx context.Context, d dispatch) (Message, error) {
	words := d.c.Words
	if i, ok := d.s.Project.Guidance.Get(strings.ToLower(words)); ok && i.Open() {
		words = ""
		if i.Task != "" {
			words = "#" + idArg(i.Task)
		}
	}
	m, err := d.do(ctx, loop.Now{Text: words})
	if a, _ := guidance.Parse(words); err == nil && m.Refused && a.Task == "" {
		m.whichLane(d.s, words)
	}
	return m, err
}

// whichLane adds a button for each session that a /now without a task could mean, if
// there are several. words are what it said.
func (m *Message) whichLane(s loop.State, words string) {
	var all []Button
	for _, t := range activeTasks(s) {
		if x, ok := sessionAt(s, t); ok && x.Event == nil {
			all = append(all, Button{Label: shortID(t.Task.ID), Command: strings.TrimSpace("/now #" + idArg(t.Task.ID) + " " + words)})
		}
	}
	if len(all) > 1 {
		m.Buttons = append(m.Buttons, all[:min(len(all), mostLaneButtons)]...)
	}
}

// mostLaneButtons limits the buttons for lanes: three rows.
const mostLaneButtons = 9

// keepGuidance keeps one guidance item that expired.
func keepGuidance(ctx context.Context, d dispatch) (Message, error) {
	id := itemTyped(d.c.Target)
	if _, ok := d.s.Project.Guidance.Get(id); !ok {
		return noGuidance(d.project, id), nil
	}
	return d.do(ctx, loop.KeepGuidance{ID: id})
}

// picturesIn returns the hashes of the pictures that records of a task name.
func picturesIn(records []ledger.Record) (hashes []string) {
	for _, r := range records {
		if r.Type != (ledger.TaskPictured{}).EntryType() {
			continue
		}
		e, err := r.Entry()
		if err != nil {
			continue
		}
		if b, ok := e.Body.(ledger.TaskPictured); ok {
			for _, s := range []ledger.Shot{b.Start, b.Result} {
				if s.Picture != nil && !slices.Contains(hashes, s.Picture.Hash) {
					hashes = append(hashes, s.Picture.Hash)
				}
			}
		}
	}
	return hashes
}

// eraseFiles erases what was sent with guidance, an answer or an added task, or all that
// there is of a task: what was sent with it, and pictures of all its attempts.
func eraseFiles(ctx context.Context, d dispatch) (Message, error) {
	id := strings.ToLower(strings.TrimSpace(d.c.Target))
	if t, ok := FindTask(d.s, d.c.Target); ok && len(d.s.Project.AttachedTo(id).Files) == 0 {
		records, err := d.service.Records(ctx, d.project, t.Task.ID)
		if err != nil {
			return Message{}, err
		}
		return d.do(ctx, loop.EraseFiles{Task: t.Task.ID, Pictures: picturesIn(records)})
	}
	if a, ok := d.s.Project.Addition(id); ok {
		id = a.ID // a task that was added
	}
	if id == "" {
		m := refusal("cmd.whichfiles", SignAsk+" /erase: the pictures of what?")
		m.add("Type for example /erase g9, or /erase 5 for all of a task.")
		return m, nil
	}
	return d.do(ctx, loop.EraseFiles{ID: id})
}
