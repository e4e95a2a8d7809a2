package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop"
)

// picturesOf puts the pictures of guidance, an answer or an addition into CONTEXT and
// returns the lines that name them, indented by indent. A recording is none: its words
// are told.
func (b *builder) picturesOf(a loop.Attached, indent string) (lines []string) {
	for n, f := range a.Files {
		if !f.Picture() {
			continue
		}
		name := f.FileName(a.To, n+1)
		data, ok := b.material.Pictures[f.Hash]
		if !ok {
			lines = append(lines, fmt.Sprintf("%s(picture %s is not there any more)", indent, name))
			continue
		}
		b.context[name] = data
		lines = append(lines, fmt.Sprintf("%spicture: ../CONTEXT/%s", indent, name))
	}
	return lines
}

// picturesOfTask returns the lines about the pictures that were sent with the task
// itself, or, with answers, about those of answers to its questions. A part also has
// those of its task.
func (b *builder) picturesOfTask(answers bool) (lines []string) {
	list := b.project.AttachedToTask(b.task.Task.ID)
	if of := b.project.AttachedTo(b.task.Task.Idea); !answers && len(of.Files) > 0 {
		list = append(list, of)
	}
	if b.isPart {
		list = append(b.project.AttachedToTask(b.parent.Task.ID), list...)
	}
	for _, a := range list {
		if strings.HasPrefix(a.To, "q") != answers {
			continue
		}
		pictures := b.picturesOf(a, "")
		if answers && len(pictures) > 0 {
			pictures[0] = "With the answer to " + a.To + ":\n" + pictures[0]
		}
		lines = append(lines, pictures...)
	}
	return lines
}

// picturesFor returns the hashes of the files that the prompt of a session may name.
func picturesFor(p loop.Project, ses loop.Session, t loop.TaskState) (hashes []string) {
	add := func(a loop.Attached) {
		for _, f := range a.Files {
			if f.Picture() {
				hashes = append(hashes, f.Hash)
			}
		}
	}
	for _, id := range slices.Concat(ses.Planned.Guidance.Bound, ses.Planned.Guidance.Shown) {
		add(p.AttachedTo(id))
	}
	add(p.AttachedTo(t.Task.Idea))
	for _, id := range []string{t.Task.ID, t.Task.Parent} {
		if id != "" {
			for _, a := range p.AttachedToTask(id) {
				add(a)
			}
		}
	}
	return hashes
}
