package loop

import (
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// person executes a command of a script that a person types.
func (d *director) person(word, rest string) {
	switch word {
	case "/pause":
		d.input(Pause{Now: rest == "now"})
	case "/resume":
		d.input(Resume{Agent: rest})
	case "/stop":
		d.input(Stop{Now: rest == "now"})
	case "SIGINT", "SIGTERM":
		d.input(Stop{Now: rest == "now" || word == "SIGTERM", Signal: word})
	case "/guidance":
		d.input(Guide{rest})
	case "/drop":
		d.input(DropGuidance{rest})
	case "/keep":
		if strings.HasPrefix(rest, "g") {
			d.input(KeepGuidance{rest})
			break
		}
		var ids []string
		if rest != "all" {
			ids = strings.Fields(rest)
		}
		d.input(KeepTasks{ids})
	case "/revert":
		d.input(RevertTasks{strings.Fields(rest)})
	case "/redo":
		task, words, _ := strings.Cut(rest, " ")
		d.input(RedoTask{Task: task, Words: words})
	case "/edit":
		id, text, _ := strings.Cut(rest, " ")
		d.input(EditGuidance{id, text})
	case "/more": // of an album
		to, words, _ := strings.Cut(rest, " ")
		d.input(AttachMore{To: to, Words: words})
	case "voice": // the next command comes with it: NAME
		d.files = []ledger.Attachment{{Hash: rest, Kind: ledger.AttachmentVoice, Type: "audio/ogg", Size: 5}}
	case "/hear": // QUESTION ADDRESS
		question, address, _ := strings.Cut(rest, " ")
		d.input(HearVoice{ledger.Spoken{Question: question, Address: address}})
	case "heard": // what was said last: WORDS, or ! WHY
		b, _ := take[ledger.EffectTranscribe](d.night, nil)
		result := Transcribed{Of: b, Text: rest}
		if why, failed := strings.CutPrefix(rest, "! "); failed {
			result.Text, result.Err = "", why
		}
		d.input(result)
	case "/erase":
		if id, task := strings.CutPrefix(rest, "#"); task {
			d.input(EraseFiles{Task: "Task " + id, Pictures: []string{"of an earlier attempt"}})
			break
		}
		d.input(EraseFiles{ID: rest})
	case "photo": // the next command comes with it: NAME ALBUM
		name, album, _ := strings.Cut(rest, " ")
		d.files, d.album = nil, album
		if name != "lost" {
			d.files = []ledger.Attachment{{Hash: name, Kind: ledger.AttachmentPhoto, Type: "image/jpeg", Size: 5}}
		}
	case "/now":
		d.input(Now{rest})
	case "/add":
		d.input(AddTasks{Tasks: []ledger.Task{{Title: rest}}, Repo: d.settings.Repo, Source: d.settings.Source, Known: d.plan.Tasks})
	case "/idea":
		d.input(TakeIdea{Text: rest, Settings: d.settings})
	case "/add-undo":
		d.input(UndoAdd{ID: rest})
	case "/add-edit":
		id, text, _ := strings.Cut(rest, " ")
		d.input(EditAdd{ID: id, Tasks: []ledger.Task{{Title: text}}})
	case "hat-add": // the session in flight adds a task: TITLE > NEEDED…
		title, needs, _ := strings.Cut(rest, " > ")
		d.input(AddTasks{Tasks: []ledger.Task{{Title: title, DependsOn: strings.Fields(needs)}}, Session: d.session().ID})
	case "/skip":
		d.input(SkipTask{rest})
	case "/retry":
		d.input(RetryTask{rest})
	case "/next":
		d.input(NextTask{Task: rest})
	case "/fix":
		d.input(FixReport{rest})
	case "/plan-redo":
		task, words, _ := strings.Cut(rest, " ")
		d.input(RedoPlan{Task: task, Words: words})
	case "/answer":
		f := strings.SplitN(rest, " ", 3)
		f = append(f, "", "")
		d.input(AnswerQuestion{Question: f[0], Choice: f[1], Words: f[2]})
	case "pair": // the sender of the following commands, who may steer
		d.input(people.OfferPairing{Hash: "h", Role: ledger.RoleSteer})
		d.who = rest
		d.input(people.TryPairing{Hash: "h"})
	case "as": // sets the sender of the following commands
		d.who = rest
	case "/run":
		o := OfferRun{Settings: d.settings, MaxSessions: 1, Tasks: len(d.plan.Tasks), First: d.plan.Tasks[0].ID}
		if rest == "or review" { // an offer of another profile includes review as a second choice
			o.Review = &ledger.Limits{Profile: "review", OnBlocked: ledger.OnBlockedStop, MaxTasks: 1, MaxIterations: 100}
		}
		d.input(o)
	case "/net": // allow HOST, remove HOST, open, close, clear
		verb, host, _ := strings.Cut(rest, " ")
		switch verb {
		case "allow":
			d.input(AllowHost{Host: host})
		case "remove":
			d.input(RemoveHost{Host: host})
		case "clear":
			d.input(ClearTaints{})
		case "open":
			d.input(KeepNetworkOpen{Until: d.now.Add(8 * time.Hour)})
		default:
			d.input(KeepNetworkOpen{})
		}
	case "wants": // the session in flight asks for a host: HOST PORT
		host, port, _ := strings.Cut(rest, " ")
		n, _ := strconv.Atoi(port)
		d.input(HostAsked{ledger.HostRequest{Session: d.session().ID, Host: host, Port: n, Program: "npm", At: d.now}})
	case "late": // a command typed two hours ago
		d.input(Late{Line: "/" + rest, Do: ledger.DeferredCommand(rest), Sent: d.now.Add(-2 * time.Hour)})
	default:
		d.t.Fatalf("unknown command %q", word)
	}
}
