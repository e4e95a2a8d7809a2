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
		ID: id, Hash: f.Hash, Type: f.Type, Spoken: ledger.Spoken{Question: b.Question, Address: b.Address}, Actor: d.in.Actor, Name: d.in.Name,
	})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeNoted, ID: id, Text: id + " is being written down"}
}

// transcribed says the words of a recording in the name of its sender, who may have
// lost that right since. They are words, and no command: an answer never passes, allows
// or merges.
func (d *decision) transcribed(b Transcribed) {
	heard := ledger.VoiceHeard{ID: b.ID, Text: strings.TrimSpace(strings.ToValidUTF8(b.Text, "\uFFFD")), Error: b.Err, By: b.Name}
	who, paired := d.Shared.Person(b.Actor)
	switch {
	case heard.Error != "":
	case heard.Text == "":
		heard.Error = "no words were heard"
	case !paired || !who.Role.May(ledger.RoleSteer):
		heard.Error = b.Name + " may not steer any more"
	default:
		d.in.Actor, d.in.Name = b.Actor, b.Name
		d.sayHeard(b, &heard)
	}
	d.add(scope{}, heard)
	if heard.Error == "" {
		d.hand(b.ID, heard.As)
	}
}

// sayHeard answers the question that the recording replies to with its words, or queues
// them as guidance.
func (d *decision) sayHeard(b Transcribed, heard *ledger.VoiceHeard) {
	q, open := d.Project.Question(b.Question)
	if open && (q.OwnWords() || q.SentenceVerb() != "") {
		d.answerQuestion(AnswerQuestion{Question: q.ID, Words: heard.Text})
		if heard.As = q.ID; strings.HasPrefix(d.answer.ID, "g") {
			heard.As = d.answer.ID
		}
	} else {
		a, _ := guidance.Parse(b.Address)
		d.queueGuidance(heard.Text, a)
		heard.As = d.answer.ID
	}
	if !d.answer.OK {
		heard.As, heard.Error = "", d.answer.Text
	}
	d.answer = ledger.Answer{OK: true}
}
