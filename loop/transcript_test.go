package loop

import (
	"encoding/json"

	"github.com/nightporter/nightporter/loop/ledger"

	goflag "flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = goflag.Bool("update", false, "write the golden files anew")

// TestTranscripts plays the scripts of testdata/transcripts and compares what
// comes out. In a file, "== NAME" begins a night of its own, "> COMMAND" is an
// input (see play), and what follows is what the core made of it: entries,
// effects (→) and the answer («). "#" is a remark.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		var d *director
		for _, line := range strings.Split(strings.TrimRight(string(want), "\n"), "\n") {
			switch {
			case strings.HasPrefix(line, "== "):
				if out.Len() > 0 {
					out.WriteString("\n")
				}
				out.WriteString(line + "\n")
				d = newDirector(t, filepath.Base(file)+" "+line)
			case strings.HasPrefix(line, "#"):
				out.WriteString(line + "\n")
			case strings.HasPrefix(line, "> "):
				out.WriteString(line + "\n" + d.play(line[2:]))
			}
		}
		if *update {
			if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("%s: (-want +got), -update writes it anew\n%s", file, diff)
		}
	}
}

// turns prints whose turn comes when.
func (d *director) turns() {
	for _, t := range Turns(d.s, d.now) {
		fmt.Fprintf(&d.out, "  %d. %s", t.Place, ledger.ShortID(t.Task))
		if t.Score != nil {
			fmt.Fprintf(&d.out, " %d", t.Score.Total())
		}
		if t.First {
			d.out.WriteString(" first")
		}
		if t.Chosen {
			d.out.WriteString(" chosen")
		}
		d.out.WriteString("\n")
	}
}

// waits prints what the load of the machine and accounts of agents keep from beginning.
func (d *director) waits() {
	if load, most, held := d.s.Project.Run.HeldByLoad(); held {
		fmt.Fprintf(&d.out, "  load %g of %g\n", load, most)
	}
	for _, t := range d.s.Project.Tasks.All() {
		if agent, most := d.s.AwaitedAccount(*t); agent != "" {
			fmt.Fprintf(&d.out, "  %s waits for %s, %d at a time\n", ledger.ShortID(t.Task.ID), agent, most)
		}
	}
}

// show prints the state of the run.
func (d *director) show() {
	p := d.s.Project
	if r := p.Run; r != nil {
		line := fmt.Sprintf("  = %s %s", r.ID, r.State)
		if r.Wait != "" {
			line += fmt.Sprintf(" (%s) %s", r.Wait, r.Text)
		}
		switch {
		case r.Over():
			line += fmt.Sprintf(" exit=%d", r.Ended.Exit)
		case Settled(d.s):
			line += " settled"
		}
		if due := Due(d.s); !due.IsZero() {
			line += " due=" + due.Format("15:04")
		}
		d.out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, t := range p.Tasks.All() {
		line := fmt.Sprintf("  = %s %s", ledger.ShortID(t.Task.ID), t.Status)
		if w := t.Attempt; w != nil {
			line += fmt.Sprintf(" a%d %s %s tree=%s", w.N, w.Hat, w.Stage, w.Tree)
		}
		if t.Why != "" {
			line += " · " + t.Why
		}
		d.out.WriteString(line + "\n")
	}
	for _, i := range p.Guidance.Items {
		line := fmt.Sprintf("  = %s %s", i.ID, i.State)
		if i.Session != "" {
			line += " " + i.Session
		}
		if i.Note != "" {
			line += " · " + i.Note
		}
		d.out.WriteString(line + "\n")
	}
	for _, a := range p.Attached {
		line := fmt.Sprintf("  = %s has", a.To)
		for n, f := range a.Files {
			line += fmt.Sprintf(" %s=%s", f.FileName(a.To, n+1), f.Hash)
		}
		if len(a.Tasks) > 0 {
			line += fmt.Sprintf(" for %s of %s", strings.Join(a.Tasks, ", "), a.Source)
		}
		d.out.WriteString(line + "\n")
	}
	for _, q := range p.Questions {
		fmt.Fprintf(&d.out, "  = %s %s %s: %s\n", q.ID, q.Kind, ledger.ShortID(q.Task), strings.ReplaceAll(q.Text, "\n", " / "))
	}
}

// quiet names the fields that a transcript omits: times, and fields that a
// command or an earlier entry already shows.
var quiet = map[string]bool{
	"settings": true, "exit": true, "wall": true, "stall": true, "startedAt": true, "closedAt": true, "totalDurationMs": true,
	"resume_": true, "title": true, "taskId": true, "asked": true, "agentId": true, "receipt": true, "branch": true, "ref": true,
	"duration_ms": true, "durationMs": true, "ms": true, "base": true, "name": true, "path": true, "artifacts": true, "total": true,
	"tip": true, "by": true, "from": true, "run": true, "passes": true, "at": true, "files": true, "subject": true, "round": true,
	"state_": true, "evidence": true, "author": true, "known": true, "since": true, "max_sessions": true,
	"issues_found": true, "suggestions": true, "reviewType": true, "task": true, "session": true, "project": true, "source": true, "options_": true, "offer": true, "failures": true,
}

func entryLine(e ledger.Entry) string {
	switch b := e.Body.(type) {
	case ledger.IDIssued, ledger.LeaseGranted, ledger.LeaseReleased, ledger.SharedSet, ledger.Claim, ledger.SessionOutput:
		return ""
	case ledger.TaskSet:
		line := fmt.Sprintf("%s %s → %s", ledger.ShortID(e.Task), b.From, b.To)
		if b.Why != "" {
			line += " · " + b.Reason()
		}
		if b.Fresh {
			line += " (fresh)"
		}
		return line
	case ledger.RunEnded:
		return fmt.Sprintf("run.ended exit=%d %s · %s", b.Exit, b.Reason, b.Text)
	case ledger.Evidence:
		if b.Learned == "" { // the threshold is that of the pattern
			b.Threshold = nil
			e.Body = b
		}
	}
	line := e.Body.EntryType()
	if e.Task != "" {
		line += " " + ledger.ShortID(e.Task)
	}
	if e.Session != "" {
		line += " " + e.Session
	}
	return line + flat(e.Body)
}

func effectLine(e ledger.Effect) string {
	switch b := e.Body.(type) {
	case ledger.EffectCommit:
		line := fmt.Sprintf("commit %s tree=%s on %s %q", ledger.ShortID(b.Task), b.Commit.Tree, b.Commit.Parent, b.Commit.Subject)
		if _, with, ok := strings.Cut(b.Commit.Footers, "Nightporter-Batch: "); ok {
			with, _, _ = strings.Cut(with, "\n")
			line += " with " + with
		}
		return line
	case ledger.EffectMerge:
		return fmt.Sprintf("merge %s %s..%s onto %s", ledger.ShortID(b.Task), b.Merge.Base, b.Merge.Tree, b.Merge.Onto)
	case ledger.EffectChain:
		line := "chain " + b.Batch + " onto " + b.Onto
		for _, l := range b.Merges {
			line += fmt.Sprintf(" %s=%s", ledger.ShortID(l.Task), l.Merge.Tree)
		}
		return line
	case ledger.EffectRemake:
		line := "remake " + b.Remake.Branch + " from " + b.Remake.From
		for _, s := range b.Remake.Steps {
			sign := "+"
			if s.Drop {
				sign = "-"
			} else if s.Undo {
				sign = "undo "
			}
			line += fmt.Sprintf(" %s%s=%s", sign, ledger.ShortID(s.Task), s.Commit)
		}
		return line
	case ledger.EffectCapture:
		return fmt.Sprintf("takeover %s input=%s", b.Request.Session, b.Request.Input)
	case ledger.EffectMark:
		line := fmt.Sprintf("mark %s %s", ledger.ShortID(b.Task), b.Mark)
		if b.Tries != nil {
			line += fmt.Sprintf(" failures=%d", b.Tries.Failures)
		}
		return line
	case ledger.EffectAddTasks:
		line := "tasks.add " + b.ID
		for _, t := range b.Add.Tasks {
			line += fmt.Sprintf(" %q", t.Title)
		}
		return line
	case ledger.EffectRemoveTasks:
		return fmt.Sprintf("tasks.remove %s %s", b.ID, strings.Join(b.Remove.IDs, " "))
	case ledger.EffectProgress:
		return fmt.Sprintf("progress %s %s next=%q %s", b.Progress.Status, ledger.ShortID(b.Progress.Task), b.Progress.Next, b.Progress.Text)
	case ledger.EffectEnd:
		return fmt.Sprintf("session.end %s grace=%s", b.Session, b.Grace.D())
	case ledger.EffectKeepPlan:
		return "plan of " + ledger.ShortID(b.Task) + " kept"
	case ledger.EffectMergeRequest:
		return fmt.Sprintf("merge request %d at %s", b.Merge.Number, b.Merge.HeadCommit)
	case ledger.EffectRemember:
		return fmt.Sprintf("remember %s %s: %s", b.Memory.Key, b.Memory.Kind, b.Memory.Text)
	case ledger.EffectLift:
		line := "lift " + b.Lift.Commit
		if b.Lift.Undo {
			line = "lift undo " + b.Lift.Commit
		}
		if b.Lift.Onto != "" {
			line += " onto " + b.Lift.Onto
		}
		for _, o := range b.Lift.Over {
			line += " over " + o.ID + "=" + o.Tip
			if len(o.Has) > 0 {
				line += "(" + strings.Join(o.Has, " ") + ")"
			}
		}
		return line
	case ledger.EffectPush:
		return fmt.Sprintf("push %s to %s", b.Push.Commit, b.Push.Branch)
	case ledger.EffectRequest:
		return fmt.Sprintf("request %d of %s: %q\n    %s", b.Draft.Number, b.Draft.Head, b.Draft.Title, strings.ReplaceAll(b.Draft.Body, "\n", "\n    "))
	case ledger.EffectReply:
		return fmt.Sprintf("reply %s to %s: %q", b.Reply.Key, b.Reply.ReplyTo, b.Reply.Body)
	case ledger.EffectStart:
		return "session.start " + b.Session + flat(b)
	}
	return e.Body.EffectKind() + flat(e.Body)
}

// flat formats a value's fields as k=v, without the quiet fields.
func flat(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		return err.Error()
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		if !quiet[k] {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	line := ""
	for _, k := range keys {
		text, ok := m[k].(string)
		if !ok {
			raw, err := json.Marshal(loud(m[k]))
			if err != nil {
				return err.Error()
			}
			text = string(raw)
		} else if strings.ContainsAny(text, " \n") {
			text = strconv.Quote(text)
		}
		if text != "null" && text != "{}" && text != "[]" && text != "false" {
			line += " " + k + "=" + text
		}
	}
	return line
}

// loud removes the quiet fields inside a value.
func loud(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if f, ok := v["failures"].(map[string]any); ok { // names say enough, where they are not the output's
			delete(v, "failures")
			if _, result := v["ok"]; !result {
				v["fails"] = namesOf(f["failed"])
			}
		}
		if names := namesOf(v["new"]); len(names) > 0 {
			v["new"] = names
		}
		for k := range v {
			if quiet[k] && k != "run" && k != "name" {
				delete(v, k)
				continue
			}
			v[k] = loud(v[k])
		}
	case []any:
		for n := range v {
			v[n] = loud(v[n])
		}
	}
	return v
}

// namesOf returns the names of decoded failures.
func namesOf(failed any) (names []any) {
	list, _ := failed.([]any)
	for _, f := range list {
		if f, ok := f.(map[string]any); ok {
			names = append(names, f["name"])
		}
	}
	return names
}
