package loop

import (
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// hear keeps a recording and has it turned into words. Only then it is decided what
// they mean: nothing is lost by a crash on the way.
func (d *decision) hear(b HearVoice) {
	if len(d.in.Files) == 0 {
		d.refuse(ledger.CodeNothing, "there is no recording")
		return
	}
	id := d.nextID("v")
	f := d.in.Files[0]
	d.attach(scope{}, id)
	d.effect(d.in.Project+"/"+id, ledger.EffectTranscribe{
		ID: id, Hash: f.Hash, Type: f.Type, Spoken: b.Spoken, Actor: d.in.Actor, Name: d.in.Name,
	})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeNoted, ID: id, Text: id + " is being written down"}
}

// transcribed says the words of a recording in the name of its sender, who may have
// lost that right since. They complete what was typed with it, and are no command by
// themselves: an answer never passes, allows or merges.
func (d *decision) transcribed(b Transcribed) {
	heard := ledger.VoiceHeard{ID: b.Of.ID, Text: strings.TrimSpace(strings.ToValidUTF8(b.Text, "\uFFFD")), Error: b.Err, By: b.Of.Name}
	who, paired := d.Shared.Person(b.Of.Actor)
	switch {
	case heard.Error != "":
	case heard.Text == "":
		heard.Error = "no words were heard"
	case !paired || !who.Role.May(ledger.RoleSteer):
		heard.Error = b.Of.Name + " may not steer any more"
	default:
		d.in.Actor, d.in.Name = b.Of.Actor, b.Of.Name
		d.sayHeard(b.Of.Spoken, &heard)
	}
	d.add(scope{}, heard)
	if heard.Error == "" {
		d.hand(b.Of.ID, heard.As)
	}
}

// sayHeard carries out the command that the words complete, answers the question that the
// recording replies to, or queues them as guidance.
func (d *decision) sayHeard(of ledger.Spoken, heard *ledger.VoiceHeard) {
	words := strings.TrimSpace(of.Words + "\n" + heard.Text)
	q, open := d.Project.Question(of.Question)
	switch {
	case of.Command == ledger.SpokenNow:
		d.now(of.Address + words)
	case of.Command == ledger.SpokenAdd:
		d.addTasks(AddTasks{Tasks: ReadTasks(words), Repo: of.Repo, Source: of.Source})
	case of.Command == ledger.SpokenBug:
		d.addTasks(AddTasks{Tasks: []ledger.Task{ReadReport(words)}, Repo: of.Repo, Source: of.Source})
	case open && (of.Choice != "" || q.OwnWords() || q.SentenceVerb() != ""):
		d.answerQuestion(AnswerQuestion{Question: q.ID, Choice: of.Choice, Words: words})
	default:
		a, _ := guidance.Parse(of.Address)
		d.queueGuidance(words, a)
	}
	if heard.As = d.answer.ID; open && !strings.HasPrefix(d.answer.ID, "g") {
		heard.As = q.ID
	}
	if !d.answer.OK {
		heard.As, heard.Error = "", d.answer.Text
	}
	d.answer = ledger.Answer{OK: true}
}
