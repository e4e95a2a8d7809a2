package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// WordsOfPicture are the words of guidance that is a picture and nothing else.
const WordsOfPicture = "See the picture."

// attachedKept limits the guidance items, answers and additions whose files the state
// knows. Older files stay where they are, and no prompt names them any more.
const attachedKept = 500

// Attached is what a person sent with guidance, an answer or added tasks.
type Attached struct {
	To     string              `json:"to"` // "g17", "q5", "a3", "i2", "v3" of a recording by itself, and "f3" of what waits with a command
	Files  []ledger.Attachment `json:"files,omitempty"`
	Album  string              `json:"album,omitempty"`  // the last one that it was part of
	Tasks  []string            `json:"tasks,omitempty"`  // folded ids of the tasks whose sessions get the files; of guidance none
	Source string              `json:"source,omitempty"` // that the tasks are in
}

// AttachedTo returns what was sent with guidance, an answer or an addition.
func (p Project) AttachedTo(id string) Attached {
	for _, a := range p.Attached {
		if strings.EqualFold(a.To, id) {
			return a
		}
	}
	return Attached{To: id}
}

// AttachedToTask returns what was sent with a task and with answers about it, oldest
// first.
func (p Project) AttachedToTask(task string) (list []Attached) {
	for _, a := range p.Attached {
		if a.Source == p.Source && slices.Contains(a.Tasks, ledger.FoldID(task)) && len(a.Files) > 0 {
			list = append(list, a)
		}
	}
	return list
}

// OfAlbum returns what the earlier files of an album were sent with, "" if it is over or
// was given up.
func (p Project) OfAlbum(album string) (to string, found bool) {
	for _, a := range slices.Backward(p.Attached) {
		if album != "" && a.Album == album {
			i, ok := p.Guidance.Get(a.To)
			return a.To, !ok || !i.Over()
		}
	}
	return "", false
}

// applyAttachment folds an entry about files, and the ids of added tasks that have
// some.
func (p Project) applyAttachment(e ledger.Entry) Project {
	switch b := e.Body.(type) {
	case ledger.FilesAttached:
		p.Attached = slices.Clone(p.Attached)
		n := slices.IndexFunc(p.Attached, func(a Attached) bool { return a.To == b.To })
		if n < 0 {
			a := Attached{To: b.To}
			if e.Task != "" {
				a.Tasks, a.Source = []string{ledger.FoldID(e.Task)}, p.Source
			} else if of, ok := p.Addition(b.To); ok && of.ID == b.To {
				a.Tasks, a.Source = foldIDs(of.IDs), of.Source.String()
			}
			p.Attached = append(p.Attached, a)
			p.Attached = p.Attached[max(0, len(p.Attached)-attachedKept):]
			n = len(p.Attached) - 1
		}
		a := &p.Attached[n]
		a.Files = append(slices.Clip(a.Files), b.Files...)
		if b.Album != "" {
			a.Album = b.Album
		}
	case ledger.FilesErased:
		p.Attached = slices.Clone(p.Attached)
		for n := range p.Attached {
			var left []ledger.Attachment
			for _, f := range p.Attached[n].Files {
				if !slices.Contains(b.Hashes, f.Hash) {
					left = append(left, f)
				}
			}
			p.Attached[n].Files = left
		}
		p = p.withoutPictures(b.Hashes)
	case ledger.AnswerUndone:
		p.Attached = slices.DeleteFunc(slices.Clone(p.Attached), func(a Attached) bool { return a.To == b.Before.Question.ID })
	case ledger.TasksAdded:
		p = p.attachedFor(b.ID, foldIDs(b.Tasks))
	case ledger.TasksRemoved:
		if b.Error == "" { // other tasks get their ids
			p = p.attachedFor(b.ID, nil)
		}
	}
	return p
}

// attachedFor sets the tasks whose sessions get the files of an addition.
func (p Project) attachedFor(id string, tasks []string) Project {
	if n := slices.IndexFunc(p.Attached, func(a Attached) bool { return a.To == id }); n >= 0 {
		p.Attached = slices.Clone(p.Attached)
		p.Attached[n].Tasks = tasks
	}
	return p
}

// forgetAttached leaves out the files of guidance that the state does not have any
// more.
func (p Project) forgetAttached() Project {
	p.Attached = slices.DeleteFunc(slices.Clone(p.Attached), func(a Attached) bool {
		_, ok := p.Guidance.Get(a.To)
		return strings.HasPrefix(a.To, "g") && !ok
	})
	if len(p.Attached) == 0 {
		p.Attached = nil
	}
	return p
}

func foldIDs(ids []string) (folded []string) {
	for _, id := range ids {
		folded = append(folded, ledger.FoldID(id))
	}
	return folded
}

// attach records the input's files as sent with to. It records the album even if no
// file of it could be kept: the next ones may be.
func (d *decision) attach(about scope, to string) {
	files := d.in.Files
	if room := ledger.MaxAttachments - len(d.Project.AttachedTo(to).Files); len(files) > room {
		files = files[:max(room, 0)]
	}
	if d.attached > 0 || len(files) == 0 && d.in.Album == "" {
		return
	}
	before, _ := d.Project.OfAlbum(d.in.Album)
	d.add(about, ledger.FilesAttached{To: to, Files: files, Album: d.in.Album})
	d.attached = len(files)
	// The words of an album may come with a later item. What came before was guidance
	// without words until then.
	if i, ok := d.Project.Guidance.Get(before); ok && i.ID != to && i.State == guidance.Queued && i.Text == WordsOfPicture {
		d.hand(i.ID, to)
		d.add(scope{}, ledger.GuidanceDropped{ID: i.ID})
	}
}

// hand passes the files of one thing on to another that takes its place, to which the
// rest of their album belongs, too.
func (d *decision) hand(from, to string) {
	if a := d.Project.AttachedTo(from); len(a.Files) > 0 {
		d.add(scope{}, ledger.FilesAttached{To: to, Files: a.Files, Album: a.Album})
	}
}

// attachMore adds later files of an album to what the first one was sent with, and
// their words to guidance that is still queued.
func (d *decision) attachMore(b AttachMore) {
	about := scope{}
	has := d.Project.AttachedTo(b.To)
	if len(has.Tasks) == 1 && strings.HasPrefix(b.To, "q") {
		about.task = has.Tasks[0]
		if t, ok := d.task(about.task); ok {
			about.task = t.Task.ID
		}
	}
	i, guides := d.Project.Guidance.Get(b.To)
	if guides && i.Over() {
		d.refuse(ledger.CodeOver, "%s is %s already", i.ID, i.State.Word())
		return
	}
	if len(has.Files)+len(d.in.Files) > ledger.MaxAttachments {
		d.refuse(ledger.CodeTooMany, "%s has %d files, which are the most", b.To, len(has.Files))
		return
	}
	d.attach(about, b.To)
	if words := strings.TrimSpace(b.Words); words != "" && guides && i.State == guidance.Queued {
		if i.Text != WordsOfPicture {
			words = i.Text + "\n" + words
		}
		if _, why := checkGuidance(words); why == "" {
			d.add(scope{}, ledger.GuidanceChanged{ID: i.ID, Text: words})
		}
	}
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeKept, ID: b.To, Text: "added to " + b.To}
}

// eraseFiles removes the bytes of what was sent with something, or of all that there is
// of a task. The ledger keeps that it was there.
func (d *decision) eraseFiles(b EraseFiles) {
	id := strings.ToLower(strings.TrimSpace(b.ID))
	about, sent, taken := scope{}, []Attached{d.Project.AttachedTo(id)}, b.Pictures
	if b.Task != "" {
		t, ok := d.task(b.Task)
		if !ok {
			d.refuse(ledger.CodeNothing, "there is no task %q", b.Task)
			return
		}
		id, about = t.Task.ID, scope{task: t.Task.ID}
		sent, taken = d.Project.AttachedToTask(id), append(t.pictures(), taken...)
	}
	var hashes []string
	add := func(hash string) {
		if hash != "" && !slices.Contains(hashes, hash) {
			hashes = append(hashes, hash)
		}
	}
	for _, a := range sent {
		for _, f := range a.Files {
			add(f.Hash)
		}
		if b.Task == "" {
			id = a.To
		}
	}
	for _, hash := range taken {
		add(hash)
	}
	if len(hashes) == 0 {
		if b.Task != "" {
			d.refuse(ledger.CodeNothing, "no files came with %s, and no pictures were taken of it", ledger.ShortID(id))
			return
		}
		d.refuse(ledger.CodeNothing, "no files came with %s", b.ID)
		return
	}
	d.add(about, ledger.FilesErased{To: id, Hashes: hashes, By: d.by()})
	d.effect(d.uniqueKey(id+" erase"), ledger.EffectErase{Hashes: hashes})
	files, also := "file", ""
	if len(hashes) > 1 {
		files = "files"
	}
	if b.Task != "" {
		also = "\nWhat chats show already stays there."
	}
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeRemoved, ID: id, Text: fmt.Sprintf("%s: %d %s erased\nSessions that begin now do without. Backups of before still have it all.%s", ledger.ShortID(id), len(hashes), files, also)}
}

// pictures returns the hashes of the pictures that were taken of a task's last attempt.
func (t TaskState) pictures() (hashes []string) {
	if t.Pictured == nil {
		return nil
	}
	for _, s := range []ledger.Shot{t.Pictured.Start, t.Pictured.Result} {
		if s.Picture != nil {
			hashes = append(hashes, s.Picture.Hash)
		}
	}
	return hashes
}

// withoutPictures takes erased pictures out of tasks and of questions about them.
func (p Project) withoutPictures(hashes []string) Project {
	erase := func(of *ledger.Pictured) *ledger.Pictured {
		if of == nil {
			return nil
		}
		is := *of
		for _, s := range []*ledger.Shot{&is.Start, &is.Result} {
			if s.Picture != nil && slices.Contains(hashes, s.Picture.Hash) {
				s.Picture, s.Why = nil, "it was erased"
			}
		}
		return &is
	}
	for n, t := range p.Tasks.All() {
		if t.Pictured != nil {
			is := *t
			is.Pictured = erase(t.Pictured)
			p.Tasks = p.Tasks.With(n, is)
		}
	}
	p.Questions = slices.Clone(p.Questions)
	for n := range p.Questions {
		p.Questions[n].Pictured = erase(p.Questions[n].Pictured)
	}
	return p
}
