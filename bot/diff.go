package bot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot/patch"
	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// DiffVersion is one state of what a task or a run changed.
type DiffVersion struct {
	patch.Version        // without About
	Commit        string // the task's commit; "" for a run, and for what is not on the branch
	Time          time.Time
	Attempt       int  // of a version that is not on the branch
	AtWork        bool // the attempt goes on
}

// Limits of what a diff shows in a chat.
const (
	maxIndex    = 10 // files in the list of a message
	diffColumns = 32 // columns of a message
	wideColumns = 72 // columns of the list in a terminal
)

// How a diff is asked for.
const (
	diffRaw  = "file" // the patch as git prints it
	diffHTML = "html"
)

var pageForm = regexp.MustCompile(`^[pP]([0-9]{1,3})$`)

// diffRequest is what follows /diff.
type diffRequest struct {
	target string // as the Service takes it: a task's id, "Task 5.1" for its first attempt, "r14"
	arg    string // the same as a button's command has it: "5", "5.1", "r14"; "" = the last run
	title  string // of the task
	task   *loop.TaskState
	file   string // end of a path; "" = all files
	typed  string // all words behind the target: a file can be called "x p2"
	as     string // diffRaw, diffHTML or ""
	page   int    // from 1; 0 = the list and the first page
}

// showDiff handles /diff [ID] [FILE] [p2 | file | html].
func showDiff(ctx context.Context, d dispatch) (Message, error) {
	q, ok := parseDiff(d.s, strings.Fields(d.c.Target))
	if !ok {
		word, _ := cutWord(d.c.Target)
		return noTask(d.s, word), nil
	}
	m, err := d.diff(ctx, q)
	if q.task != nil {
		m.About = q.task.Task.ID
	}
	return m, err
}

// parseDiff finds the task, attempt or run that the first words name; an id can
// have several words. It returns false if they name none.
func parseDiff(s loop.State, words []string) (q diffRequest, ok bool) {
	if len(words) == 0 {
		return q, true
	}
	for n := len(words); n > 0 && q.target == ""; n-- {
		typed := strings.Join(words[:n], " ")
		id, attempt, dotted := strings.Cut(typed, ".")
		t, found := FindTask(s, typed)
		switch {
		case found:
			q.target, q.arg, q.title, q.task = t.Task.ID, idArg(t.Task.ID), t.Task.Title, &t
		case n == 1 && runForm.MatchString(typed):
			q.target = strings.ToLower(typed)
			q.arg = q.target
		case dotted && digits.MatchString(attempt):
			if t, found = FindTask(s, id); found {
				q.target, q.arg, q.title, q.task = t.Task.ID+"."+attempt, idArg(t.Task.ID)+"."+attempt, t.Task.Title, &t
			}
		}
		if q.target != "" {
			words = words[n:]
		}
	}
	if q.target == "" {
		return q, false
	}
	q.typed = strings.Join(words, " ")
	if n := len(words) - 1; n >= 0 {
		switch last := strings.ToLower(words[n]); {
		case last == diffRaw || last == diffHTML:
			q.as, words = last, words[:n]
		case pageForm.MatchString(last):
			q.page, _ = strconv.Atoi(last[1:])
			words = words[:n]
		}
	}
	q.file = strings.Join(words, " ")
	return q, true
}

// command returns the line that asks for the same with other words at its end.
func (q diffRequest) command(words ...string) string {
	parts := []string{"/diff"}
	for _, p := range append([]string{q.arg, q.file}, words...) {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " ")
}

func (d dispatch) diff(ctx context.Context, q diffRequest) (Message, error) {
	if r := d.s.Project.Run; q.arg == "" && r != nil { // so that its buttons keep to it when the next run starts
		q.arg = r.ID
	}
	if q.as == diffRaw && q.file == "" {
		text, err := d.service.Diff(ctx, d.project, q.target)
		if err != nil {
			return Message{}, err
		}
		if strings.TrimSpace(text) != "" {
			return d.rawDiff(q, text), nil
		}
	}
	versions, err := d.service.Changes(ctx, d.project, q.target)
	if err != nil {
		return Message{}, err
	}
	v := diffView{dispatch: d, diffRequest: q}
	for _, version := range versions {
		version.About = d.versionName(version, len(versions) == 1)
		files := patch.Parse(version.Version)
		if len(files) > 0 {
			v.files, v.about = append(v.files, files), append(v.about, version.About)
		}
		v.more += version.More
	}
	if len(v.files) == 0 {
		return v.nothing(), nil
	}
	if q.typed != q.file && slices.ContainsFunc(v.all(), func(f patch.File) bool { return Clean(f.Path) == q.typed }) {
		v.file, v.page, v.as = q.typed, 0, ""
	}
	if v.file != "" {
		if m, found := v.only(v.file); !found {
			return m, nil
		}
	}
	if v.as == diffRaw {
		return d.rawDiff(v.diffRequest, v.patchText()), nil
	}
	return v.message(), nil
}

// versionName says which version one is. A commit needs no name where it is the
// only one.
func (d dispatch) versionName(v DiffVersion, only bool) string {
	switch {
	case v.AtWork:
		return fmt.Sprintf("attempt %d, at work, not on the branch", v.Attempt)
	case v.Attempt > 0:
		return fmt.Sprintf("attempt %d, not on the branch", v.Attempt)
	case takenOut(d.s.Project.Run, v.Commit):
		return "commit " + commitID(v.Commit) + ", taken out of " + loop.BranchName(Clean(d.s.Project.Run.Base.Branch))
	case v.Commit != "" && !only:
		return "commit " + commitID(v.Commit) + ", " + Clock(v.Time, d.r.Time)
	}
	return ""
}

// takenOut reports whether a run's branch had a commit and does not have it any more.
func takenOut(r *loop.Run, commit string) bool {
	return r != nil && commit != "" && slices.ContainsFunc(r.Made, func(m loop.MadeCommit) bool { return m.Out && m.Commit == commit })
}

// diffView is a diff that is about to be shown.
type diffView struct {
	dispatch
	diffRequest
	files [][]patch.File // by version
	about []string       // names of the versions
	more  int            // files that are not among them
}

// all returns the files of all versions.
func (v *diffView) all() []patch.File { return slices.Concat(v.files...) }

// name is what the diff is about, for a first line: "#5", "#5.1", "r14".
func (v *diffView) name() string {
	switch {
	case v.task != nil && strings.Contains(v.arg, "."):
		return "#" + v.arg
	case v.task != nil:
		return shortID(v.task.Task.ID)
	}
	return orElse(v.arg, "run")
}

// nothing says that there is no change to show, and why.
func (v *diffView) nothing() Message {
	what := "nothing changed"
	doing := v.working()
	if doing != "" {
		what = "nothing captured yet"
	}
	m := newMessage("diff.empty", firstLine(SignLater, v.project, v.name()+": "+what, ""))
	m.add(Foreign(v.title))
	m.add(doing)
	return m
}

// working says what a session of the task writes that is not captured yet, "" if
// none is at work on it.
func (v *diffView) working() string {
	if v.task == nil || v.task.Status != ledger.Active || v.task.Attempt == nil || v.task.Attempt.Stage != ledger.StageSession {
		return ""
	}
	return upper(orElse(Cut(Clean(v.task.Attempt.Hat), 12), "a session")) + " is at work: what it writes is shown when it ends."
}

// only reduces the view to the one file whose path ends with tail. If there is
// none, or several, it returns the message that says so.
func (v *diffView) only(tail string) (Message, bool) {
	tail = Clean(strings.TrimPrefix(tail, "./"))
	var exact, ends []string
	var names []string
	for _, f := range v.all() {
		p := Clean(f.Path)
		names = append(names, p, p[strings.LastIndexByte(p, '/')+1:])
		switch {
		case p == tail:
			exact = append(exact, f.Path)
		case strings.HasSuffix(p, "/"+tail):
			ends = append(ends, f.Path)
		}
	}
	found := exact
	if len(found) == 0 {
		found = ends
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) == 1 {
		v.file = found[0]
		var files [][]patch.File
		var about []string
		for n := range v.files {
			if of := slices.DeleteFunc(slices.Clone(v.files[n]), func(f patch.File) bool { return f.Path != v.file }); len(of) > 0 {
				files, about = append(files, of), append(about, v.about[n])
			}
		}
		v.files, v.about, v.more = files, about, 0
		return Message{}, true
	}
	if len(found) > 1 {
		m := refusal("diff.which", firstLine(SignAsk, v.project, v.name()+fmt.Sprintf(": %d files end so", len(found)), ""))
		m.add(Cut(tail, quoteWidth))
		for _, p := range found[:min(len(found), 6)] {
			one := v.diffRequest
			one.file = p
			m.button(p, one.command())
		}
		return m, false
	}
	m := refusal("diff.nofile", firstLine(SignAsk, v.project, v.name()+": no such file", ""))
	m.add("Not among what changed: " + Cut(tail, quoteWidth))
	if meant := nearest.Of(tail, names); meant != "" {
		m.add("Meant " + meant + "?")
		v.fileButtons(&m, []string{meant})
		return m, false
	}
	v.list(&m, diffColumns)
	v.fileButtons(&m, nil)
	return m, false
}

// fileButtons adds buttons for files: for these, or for the most telling ones.
func (v *diffView) fileButtons(m *Message, paths []string) {
	if paths == nil {
		for _, f := range v.all() {
			if len(f.Hunks) > 0 {
				paths = append(paths, f.Path)
			}
		}
	}
	const most = 3
	for _, p := range paths[:min(len(paths), most)] {
		one := v.diffRequest
		one.file = p
		m.button(p[strings.LastIndexByte(p, '/')+1:], one.command())
	}
}

// first is the first line of a diff: project, task and counts.
func (v *diffView) first() string {
	added, removed := patch.Sum(v.all())
	count := Plural(len(v.all())+v.more, "file")
	if len(v.files) > 1 {
		count = Plural(len(v.files), "version")
		added, removed = patch.Sum(v.files[0])
	}
	return firstLine("", v.project, v.name()+":", fmt.Sprintf(" %s +%d −%d", count, added, removed))
}

// describe adds the task's title and which version is shown.
func (v *diffView) describe(m *Message) {
	m.add(Cut(Foreign(v.title), quoteWidth))
	if len(v.files) == 1 {
		m.add(v.about[0])
	}
	m.add(v.working())
}

// list adds the files of each version, the most telling first.
func (v *diffView) list(m *Message, columns int) {
	most := maxIndex
	if columns > diffColumns {
		most = 200
	}
	left := v.more
	for n, files := range v.files {
		if len(v.files) > 1 {
			m.pre(v.about[n])
		}
		shown := min(len(files), most)
		for _, line := range patch.Index(files[:shown], columns) {
			m.pre(line)
		}
		most, left = most-shown, left+len(files)-shown
	}
	if left > 0 {
		m.add(fmt.Sprintf("and %d more", left))
	}
}

// message shows the diff as what reads best: a short one as text with its list, a
// longer one as pages, and one of too many pages as an HTML file.
func (v *diffView) message() Message {
	if v.r.Terminal {
		return v.wide()
	}
	if v.as == diffHTML {
		return v.document()
	}
	text := patch.Pages(v.files, v.about, patch.TextLayout)
	if len(text) == 1 && v.page == 0 {
		return v.short(text[0])
	}
	pages, drawn := patch.Pages(v.files, v.about, patch.PictureLayout), true
	if !patch.Drawable(pages) {
		pages, drawn = text, false
	}
	if len(pages) > patch.MaxPages {
		return v.document()
	}
	return v.turn(pages, drawn)
}

// short is one message with all files and their hunks, which need no list before
// them.
func (v *diffView) short(p patch.Page) Message {
	m := newMessage("diff", v.first())
	v.describe(&m)
	for _, line := range p.Lines() {
		m.pre(line)
	}
	m.button("File", v.command(diffRaw))
	return m
}

// turn is one page, as a picture or as text. The list stands below the first picture;
// with text it would be too long for a message.
func (v *diffView) turn(pages []patch.Page, drawn bool) Message {
	n := min(max(v.page, 1), len(pages))
	p := pages[n-1]
	title := strings.TrimSpace(v.project + " " + v.name())
	m := newMessage("diff.page", firstLine("", v.project, v.name()+":", fmt.Sprintf(" page %d of %d", n, len(pages))))
	if v.page == 0 {
		m = newMessage("diff.page", v.first())
		v.describe(&m)
	}
	if drawn {
		if picture, err := patch.Draw(p, title); err == nil && len(picture) <= MaxPicture {
			m.Picture = picture
			m.Alt = pageText(title, p)
			m.PictureName = diffName(v.project, v.name(), v.file, fmt.Sprintf("-%d.png", n))
		} else {
			drawn = false
		}
	}
	if v.page == 0 && drawn {
		v.list(&m, diffColumns)
	}
	if !drawn {
		for _, line := range p.Lines() {
			m.pre(line)
		}
	}
	if n < len(pages) {
		m.button("Next", v.command("p"+strconv.Itoa(n+1)))
	}
	m.button("HTML", v.command(diffHTML))
	m.button("File", v.command(diffRaw))
	return m
}

// pageText describes a page for people who do not see it, in at most MaxAlt
// characters.
func pageText(title string, p patch.Page) string {
	text := Clean(fmt.Sprintf("Diff of %s, page %d of %d: %s", title, p.N, p.Of, strings.Join(p.Lines(), " ⏎ ")))
	if r := []rune(text); len(r) > MaxAlt {
		text = string(r[:MaxAlt-1]) + "…"
	}
	return text
}

// document is the whole diff as one HTML file.
func (v *diffView) document() Message {
	m := newMessage("diff.html", v.first())
	v.describe(&m)
	v.list(&m, diffColumns)
	head := patch.Head{Title: strings.TrimSpace(v.project + " " + v.name())}
	for _, l := range m.Lines {
		if l.Kind == Plain {
			head.About = append(head.About, l.Text)
		}
	}
	if v.more > 0 {
		head.Left = Plural(v.more, "more file") + " changed and left out"
	}
	m.Document = &Document{Name: diffName(v.project, v.name(), v.file, ".html"), Data: patch.HTML(head, v.files, v.about)}
	if v.file == "" {
		v.fileButtons(&m, nil)
	}
	m.button("File", v.command(diffRaw))
	return m
}

// wide is the diff for a terminal: all of it, unwrapped.
func (v *diffView) wide() Message {
	m := newMessage("diff", v.first())
	v.describe(&m)
	if len(v.all()) > 1 {
		v.list(&m, wideColumns)
	}
	for _, p := range patch.Pages(v.files, v.about, patch.WideLayout) {
		for _, line := range p.Lines() {
			m.pre(line)
		}
	}
	return m
}

// rawDiff is the patch as git prints it.
func (d dispatch) rawDiff(q diffRequest, text string) Message {
	v := diffView{dispatch: d, diffRequest: q}
	m := newMessage("diff.file", firstLine("", d.project, v.name()+": the patch", ""))
	m.add(Cut(Foreign(q.title), quoteWidth))
	if d.r.Terminal {
		for _, line := range patch.VisibleLines(text) {
			m.pre(line)
		}
		return m
	}
	m.Document = &Document{Name: diffName(d.project, v.name(), q.file, ".diff"), Data: []byte(text)}
	return m
}

// patchText joins the patches of the newest version.
func (v *diffView) patchText() string {
	var b strings.Builder
	for _, f := range v.files[0] {
		b.WriteString(f.Patch)
	}
	return b.String()
}

// diffName returns the name of a file that a diff is sent as: "shop-5-adapter-go.html".
func diffName(project, name, file, end string) string {
	about := project + "-" + name + "-" + file[strings.LastIndexByte(file, '/')+1:]
	about = strings.Trim(notName.ReplaceAllString(about, "-"), "-")
	return strings.TrimRight(about[:min(len(about), 40)], "-") + end
}
