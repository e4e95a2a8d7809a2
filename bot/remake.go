package bot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// A person takes single tasks out of a run's branch, brings them back, or has one
// done again (docs/spec 9.7): /revert, /keep, /redo, and /each with a card a task.

// revertTasks handles /revert 5, /revert 5 7.
func revertTasks(ctx context.Context, d dispatch) (Message, error) {
	ids, problem := d.taskList("5")
	if problem != nil {
		return *problem, nil
	}
	return d.doAsking(ctx, ledger.AskRemake, loop.RevertTasks{Tasks: ids})
}

// keepTasks handles /keep 1-4 6 and /keep all; "/keep g14" keeps guidance.
func keepTasks(ctx context.Context, d dispatch) (Message, error) {
	if handleForm.MatchString(strings.TrimSpace(d.c.Target)) {
		return keepGuidance(ctx, d)
	}
	if strings.EqualFold(strings.TrimSpace(d.c.Target), "all") {
		return d.do(ctx, loop.KeepTasks{})
	}
	ids, problem := d.taskList("1-4 6")
	if problem != nil {
		return *problem, nil
	}
	return d.doAsking(ctx, ledger.AskRemake, loop.KeepTasks{Tasks: ids})
}

// redoTask handles /redo 5 WORDS.
func redoTask(ctx context.Context, d dispatch) (Message, error) {
	if d.c.Target == "" {
		m := refusal("cmd.whichtask", SignAsk+" /redo: which task?")
		m.add("Type for example /redo " + exampleTask(d.s) + " and what to do otherwise.")
		m.button("Each task", "/each")
		return m, nil
	}
	t, ok := FindTask(d.s, d.c.Target)
	if !ok {
		return noTask(d.s, d.c.Target), nil
	}
	m, err := d.doAsking(ctx, ledger.AskRemake, loop.RedoTask{Task: t.Task.ID, Words: d.c.Words})
	m.About = t.Task.ID
	return m, err
}

// taskList reads the ids of a command: "5", "1-4 6", "#5,#7". A range names those
// of its tasks that the branch has or had. It returns the message for ids that
// cannot be read.
func (d dispatch) taskList(example string) ([]string, *Message) {
	var ids []string
	add := func(id string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, word := range strings.FieldsFunc(d.c.Target, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\t' }) {
		if strings.EqualFold(word, "task") {
			continue
		}
		if from, to, ok := rangeOf(word); ok {
			found := false
			for _, id := range slices.Concat(d.s.Project.Kept(), d.s.Project.LeftOut()) {
				if n, is := idNumber(id); is && from <= n && n <= to {
					add(id)
					found = true
				}
			}
			if !found {
				m := noTask(d.s, word)
				return nil, &m
			}
			continue
		}
		t, ok := FindTask(d.s, word)
		if !ok {
			m := noTask(d.s, word)
			return nil, &m
		}
		add(t.Task.ID)
	}
	if len(ids) == 0 {
		m := refusal("cmd.whichtask", SignAsk+" /"+string(d.c.Verb)+": which tasks?")
		m.add("Type for example /" + string(d.c.Verb) + " " + example + ".")
		m.button("Each task", "/each")
		return nil, &m
	}
	return ids, nil
}

// rangeOf reads "1-4", "#1-#4" or "1–4".
func rangeOf(word string) (from, to int, ok bool) {
	a, b, cut := strings.Cut(strings.ReplaceAll(word, "–", "-"), "-")
	from, err := strconv.Atoi(strings.TrimPrefix(a, "#"))
	to, err2 := strconv.Atoi(strings.TrimPrefix(b, "#"))
	return from, to, cut && err == nil && err2 == nil && from <= to
}

// keepCommand returns the command that makes a branch of exactly these tasks.
func keepCommand(ids []string) string {
	var args []string
	for i := 0; i < len(ids); {
		n, ok := idNumber(ids[i])
		j := i
		for ok && j+1 < len(ids) {
			if m, is := idNumber(ids[j+1]); !is || m != n+(j+1-i) {
				break
			}
			j++
		}
		if j-i >= 2 {
			args = append(args, idArg(ids[i])+"-"+idArg(ids[j]))
		} else {
			for _, id := range ids[i : j+1] {
				args = append(args, idArg(id))
			}
		}
		i = j + 1
	}
	return "/keep " + strings.Join(args, " ")
}

// cardsPage limits the tasks whose cards one list opens: as many as a message may have
// buttons, or one less beside the button for the next page.
const cardsPage = 9

// Cards lists the tasks that the branch has, with a button each that opens its card.
// page counts from 1.
func Cards(s loop.State, page int) Message {
	kept := s.Project.Kept()
	m := newMessage("cards", firstLine("", s.Project.Name, loop.BranchName(s.Project.Run.Base.Branch), " · "+Plural(len(kept), "task")))
	from, to := 0, len(kept)
	if len(kept) > cardsPage {
		pages := (len(kept) + cardsPage - 2) / (cardsPage - 1)
		from = min(page-1, pages-1) * (cardsPage - 1)
		to = min(from+cardsPage-1, len(kept))
	}
	for _, id := range kept[from:to] {
		t, _ := FindTask(s, id)
		line := cardSign(s, t) + " " + shortID(id) + " "
		word := comma(ProofText(s, t))
		m.add(line + Cut(Foreign(t.Task.Title), max(FirstWidth-Width(line+word), leastTitle)) + word)
		m.button(shortID(id), "/each "+idArg(id))
	}
	switch {
	case to < len(kept):
		m.button("More", fmt.Sprintf("/each p%d", page+1))
	case from > 0:
		m.button("Back", "/each p1")
	}
	if b, ok := ownRequest(s); ok && b.Seen != nil {
		m.add(requestSign(b) + RequestLine(b))
	}
	m.add("Open one to keep, redo or revert it.")
	return m
}

// cardSign returns the sign of a task on its card.
func cardSign(s loop.State, t loop.TaskState) string {
	if p := ProofOf(s, t); p != nil {
		return ProofSign(*p)
	}
	return SignDone
}

// showCard handles /each, /each p2 and /each 5: the list of the tasks that the branch
// has, or the card of one. A task that is alone needs no list.
func showCard(ctx context.Context, d dispatch) (Message, error) {
	kept := d.s.Project.Kept()
	if len(kept) == 0 {
		m := newMessage("card.none", firstLine(SignLater, d.s.Project.Name, "no task of this run is committed", ""))
		m.button("Tasks", "/tasks")
		return m, nil
	}
	at, typed := 0, strings.TrimSpace(d.c.Target)
	if typed == "" && len(kept) > 1 {
		return Cards(d.s, 1), nil
	}
	if typed != "" {
		t, ok := FindTask(d.s, typed)
		if page := pageForm.FindStringSubmatch(typed); !ok && page != nil {
			n, _ := strconv.Atoi(page[1]) // three digits at most
			return Cards(d.s, max(n, 1)), nil
		}
		if !ok {
			return noTask(d.s, typed), nil
		}
		if at = slices.Index(kept, t.Task.ID); at < 0 {
			m := refusal("card.gone", firstLine(SignLater, d.s.Project.Name, shortID(t.Task.ID)+" is not on "+loop.BranchName(d.s.Project.Run.Base.Branch), ""))
			m.button("Each task", "/each")
			return m, nil
		}
	}
	t, _ := FindTask(d.s, kept[at])
	records, err := d.service.Records(ctx, d.project, t.Task.ID)
	if err != nil {
		return Message{}, err
	}
	next := "/status"
	if at+1 < len(kept) {
		next = "/each " + idArg(kept[at+1])
	}
	m := Card(d.s, t, records, fmt.Sprintf("%d of %d", at+1, len(kept)), next)
	m.About = t.Task.ID
	return m, nil
}

// Card shows what one task is worth, in three lines. place is its place among the
// tasks of the branch; next is the command of [Keep], which changes nothing.
func Card(s loop.State, t loop.TaskState, records []ledger.Record, place, next string) Message {
	id := idArg(t.Task.ID)
	head := cardSign(s, t) + " " + shortID(t.Task.ID) + " "
	m := newMessage("card", head+Cut(Foreign(t.Task.Title), FirstWidth-Width(head)))
	m.add(strings.TrimSuffix(place+" · "+diffStat(records), " · "))
	words := orElse(ProofText(s, t), "no word of proof")
	if g := guidanceOf(s, t); g != "" {
		words += " · " + g
	}
	m.add(words)
	m.button("Keep", next)
	m.addButton(textButton("Redo", "/redo "+id, "WORDS"))
	m.button("Revert", "/revert "+id)
	m.button("Diff", "/diff "+id)
	return m
}

// diffStat counts what the commit of a task changed: "3 files +120 −14"; "" where
// that is unknown, as for a task in parts.
func diffStat(records []ledger.Record) string {
	files, added, removed, known := 0, 0, 0, false
	for _, r := range records {
		e, err := r.Entry()
		if err != nil {
			continue
		}
		if b, ok := e.Body.(ledger.TaskCommitted); ok { // a task that was done again has another one
			files, added, removed, known = len(b.Files)+b.More, 0, 0, true
			for _, f := range b.Files {
				added, removed = added+max(f.Added, 0), removed+max(f.Removed, 0)
			}
		}
	}
	if !known || files == 0 {
		return ""
	}
	return fmt.Sprintf("%s +%d −%d", Plural(files, "file"), added, removed)
}

// guidanceOf says which guidance a task had, by its first words: "g9 Wrap the
// existing…", "g9 Wrap the existing… and 2 more".
func guidanceOf(s loop.State, t loop.TaskState) string {
	const words = 26 // columns
	var had []guidance.Item
	for _, i := range s.Project.Guidance.Items {
		if ledger.FoldID(t.Task.ID) == i.Bound || ledger.FoldID(t.Task.ID) == i.Task {
			had = append(had, i)
		}
	}
	if len(had) == 0 {
		return ""
	}
	text := had[0].ID + " " + Cut(Foreign(had[0].Text), words)
	if more := len(had) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Without says what a wish did: "without #5", "with #5 again".
func Without(w ledger.RemakeWish) string {
	if len(w.Drop) > 0 {
		return "without " + Ranges(w.Drop)
	}
	return "with " + Ranges(w.Back) + " again"
}

// Remade tells of a branch that was made again and is being verified. before is the
// state before it was made.
func Remade(before, s loop.State, b ledger.BranchRemade, now time.Time) Message {
	m := newMessage("branch.remade", firstLine(SignNow, s.Project.Name, remadeName(b), " "+Without(b.Wish)))
	m.Project = s.Project.Name
	m.add("Made " + now.Format("15:04") + ", not verified yet.")
	if b.Branch != b.From {
		m.add(loop.BranchName(b.From) + " stays as it is.")
	}
	if b.Foreign != nil {
		m.add("What somebody else added is on it, too.")
	}
	m.button("Undo", keepCommand(before.Project.Kept()))
	m.button("Diff", "/diff "+s.Project.Run.ID)
	m.add("Whether it is green will stand here.")
	return m
}

func remadeName(b ledger.BranchRemade) string { return loop.BranchName(b.Branch) }

// RemadeStands tells how the request of a branch stands that was made again and is
// green. It takes the place of RemadeVerified.
func RemadeStands(s loop.State, now time.Time) Message {
	return RemadeVerified(s, ledger.RemakeWish{Drop: s.Project.LeftOut()}, true, nil, now)
}

// RemadeVerified tells the result of the check of a branch that was made again. s is
// the state after it.
func RemadeVerified(s loop.State, wish ledger.RemakeWish, ok bool, results []ledger.Result, now time.Time) Message {
	r := s.Project.Run
	sign, word := SignDone, "is green"
	if !ok {
		sign, word = SignFailed, "fails its checks"
	}
	m := newMessage("branch.verified", firstLine(sign, s.Project.Name, loop.BranchName(r.Base.Branch)+" "+word, " · "+now.Format("15:04")))
	m.Project = s.Project.Name
	if len(wish.Drop)+len(wish.Back) > 0 {
		m.add(fullSentence(Cut(Without(wish), 2*quoteWidth)))
	}
	for _, res := range results {
		if !res.OK {
			m.pre(Cut(Clean(res.Run), quoteWidth))
			m.quote(lastLine(res))
			break
		}
	}
	switch {
	case !ok:
		m.button("Undo", "/keep all")
		m.add("Nothing was pushed. Look at /diff " + r.ID + ".")
	case r.Over() && r.Ended != nil:
		if b := s.Project.Requests.Branch(r.ID); b.Request != nil && !s.Project.RequestStale(b) {
			m.add(requestSign(b) + RequestLine(b))
		}
		m.add(MergeStep(s, *r.Ended))
		m.mergeButton(s)
	default:
		m.add("The run goes on with it.")
	}
	m.button("Diff", "/diff "+r.ID)
	return m
}

// lastLine returns the last line of a result's output, or why there is none.
func lastLine(res ledger.Result) string {
	lines := CleanLines(res.Tail)
	for n := len(lines) - 1; n >= 0; n-- {
		if strings.TrimSpace(lines[n]) != "" {
			return Cut(strings.TrimSpace(lines[n]), 2*quoteWidth)
		}
	}
	return res.Why
}

// NotRemade tells why a branch was not made, or is not verified by itself.
func NotRemade(before, s loop.State, b ledger.RemakeEnded, now time.Time) Message {
	r := s.Project.Run
	name := loop.BranchName(r.Base.Branch)
	if b.Made {
		m := newMessage("branch.unverified", firstLine(SignLook, s.Project.Name, name+" not verified", " · "+now.Format("15:04")))
		m.Project = s.Project.Name
		m.quote(b.Why)
		m.add("The next run verifies it first. Look at /diff " + r.ID + ".")
		return m
	}
	m := newMessage("branch.notmade", firstLine(SignFailed, s.Project.Name, "branch not changed", " · "+now.Format("15:04")))
	m.Project = s.Project.Name
	if was := before.Project.Run; was != nil && was.Remake != nil {
		m.add("It was to be made " + Without(was.Remake.Wish) + ".")
	}
	m.quote(b.Why)
	if b.Remedy != "" {
		m.pre(Clean(b.Remedy))
	}
	m.add("Nothing was changed; " + name + " stays.")
	return m
}

// needs adds why other tasks go along with those that are taken out.
func (m *Message) needs(q ledger.Question) {
	for _, n := range q.NeededBy {
		text := shortID(n.Task) + " needs " + Ranges(n.On)
		if len(n.On) == 0 {
			text = shortID(n.Task) + " does not apply without"
		}
		m.add(text)
		if len(n.Files) > 0 {
			m.pre(cutPath(Clean(n.Files[0]), FirstWidth))
		}
	}
}

// remakeStays says what a branch has after tasks were taken out of it, and what
// becomes of the one before.
func remakeStays(s loop.State, q ledger.Question) string {
	left := len(s.Project.Kept()) - len(q.Tasks)
	text := Plural(left, "task") + " stay"
	if left == 1 {
		text += "s"
	}
	if r := s.Project.Run; r != nil && s.Project.Pushed(r.Base.Branch) {
		return text + "; a commit on top takes the rest back."
	}
	return text + "; " + Foreign(q.Title) + " is kept beside it."
}

// remaking says that the run's branch is being made again; "" if it is not.
func remaking(r *loop.Run) string {
	switch {
	case r.Remake == nil:
		return ""
	case r.Remake.Stage == loop.RemakeChecking:
		return "Branch " + loop.BranchName(Clean(r.Base.Branch)) + " is not verified yet."
	}
	return "Branch " + loop.BranchName(Clean(r.Base.Branch)) + " is being made again, " + Without(r.Remake.Wish) + "."
}
