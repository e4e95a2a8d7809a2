package page

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Evidence is what a page shows.
type Evidence struct {
	Project  string
	Name     string // "#7", "B37" or "wave 2"
	Title    string // of the task, "" = none
	Text     string // of the report or task, "" = none
	Records  []ledger.Record
	Check    bot.ChainCheck
	Pictures []Picture
	Zone     *time.Location // of the times on the page
	Now      time.Time
}

// Picture is a picture that a person sent with the task, or that was taken of it.
type Picture struct {
	Name string // "a3-1.jpg", "result"
	Type string // media type: "image/jpeg"
	Data []byte // empty = it was erased, or cannot be read
}

// Limits of a page.
const (
	MaxPicture  = 4 << 20 // bytes of one that is shown
	MaxPictures = 12 << 20
	maxText     = 4 << 10 // bytes of an entry, of a session's words or of an output that are shown
	maxTexts    = 2 << 20 // bytes of all of them: a page goes through the operator's socket in one answer
)

// shown are the media types that browsers draw and that hold no markup.
var shown = map[string]bool{"image/jpeg": true, "image/png": true, "image/gif": true, "image/webp": true}

//go:embed evidence.html
var text string

var form = template.Must(template.New("evidence").Parse(text))

// HTML returns the page.
func (e Evidence) HTML() ([]byte, error) {
	v := view{Project: e.Project, Name: e.Name, Title: e.Title, Text: e.Text, Made: e.Now.In(e.Zone).Format("2006-01-02 15:04 MST"), Chain: chainText(e.Check)}
	v.Sign, v.Outcome = bot.SignLater, "not begun"
	for _, r := range e.Records {
		v.add(r, e.Zone)
	}
	v.pictures(e.Pictures)
	if e.Check.Break != nil {
		v.Sign, v.Outcome = bot.SignFailed, "ledger altered: do not trust this page"
	}
	var out bytes.Buffer
	if err := form.Execute(&out, v); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// view is what evidence.html is given.
type view struct {
	Project, Name, Title, Text, Made string
	Sign, Outcome                    string
	Chain                            []chainLine
	Attempts                         []attempt
	Pictures                         []picture
	Entries                          []entry
	texts                            int      // bytes of the texts so far
	sections                         []string // ids of the tasks that its sections became
	dividing                         bool     // its plan became sections, which are built before the attempt goes on
}

// attempt is one chain: of an attempt at a task, or of a wave.
type attempt struct {
	Name  string
	Steps []step
	Broke string // the step at which it broke, "" = it did not
	id    string
	ended bool
}

type chainLine struct{ Sign, Text string }

type picture struct {
	Name   string
	Source template.URL // a data: address made of bytes that a person sent; "" = Why
	Why    string
}

// entry is one record of the ledger as it stands there.
type entry struct {
	Seq                    int64
	Time, Type, Hash, Body string
}

// add reads one record.
func (v *view) add(r ledger.Record, zone *time.Location) {
	at := r.Time.In(zone)
	v.Entries = append(v.Entries, entry{Seq: r.Seq, Time: at.Format("2006-01-02 15:04:05"), Type: r.Type, Hash: hex.EncodeToString(r.Hash), Body: v.fit(string(r.Body))})
	e, err := r.Entry()
	if err != nil {
		return // an entry of a later release stands among the others
	}
	if b, is := e.Body.(ledger.PartsMade); is {
		for _, p := range b.Parts {
			if p.Joins {
				v.sections = append(v.sections, p.ID)
			}
		}
		v.dividing = b.Whole && len(v.sections) > 0
	} else if _, is := e.Body.(ledger.Commitment); is && !v.ofSection(e) {
		v.dividing = false
	}
	s, ok := stepOf(e)
	if !ok || v.rests(e) {
		return
	}
	s.Seq, s.Time, s.Hash = r.Seq, at.Format("15:04:05"), hex.EncodeToString(r.Hash[:min(6, len(r.Hash))])
	s.Quote, s.Tail = v.fit(s.Quote), v.fit(s.Tail)
	for n := range s.Facts {
		s.Facts[n].Text = v.fit(s.Facts[n].Text)
	}
	a := v.attempt(e)
	a.Steps = append(a.Steps, s)
	_, begun := e.Body.(ledger.Commitment)
	switch {
	case v.ofSection(e):
	case s.Outcome != "":
		v.Sign, v.Outcome, a.ended = s.Sign, s.Outcome, true
	case begun || !a.ended:
		v.Sign, v.Outcome, a.ended = bot.SignNow, "under way", false
	}
	if s.Failed && s.Outcome == "" {
		a.Broke = s.Text
	} else if s.Proves {
		a.Broke = ""
	}
}

// ofSection reports whether an entry is of a section of the task.
func (v *view) ofSection(e ledger.Entry) bool {
	return slices.ContainsFunc(v.sections, func(id string) bool { return ledger.SameID(id, e.Task) })
}

// rests reports whether an entry is the end of the attempt that gives way to the
// sections of the task: nothing was given up with it.
func (v *view) rests(e ledger.Entry) bool {
	b, is := e.Body.(ledger.AttemptEnded)
	return is && v.dividing && b.Outcome == ledger.OutcomeParked && !v.ofSection(e)
}

// fit returns a text as far as the page can hold it.
func (v *view) fit(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	if v.texts += len(text); v.texts > maxTexts && text != "" {
		return "not shown, the page is full: nightporter evidence --json has it"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// attempt returns the chain that an entry belongs to. What comes after the last
// attempt, such as a request, belongs to that.
func (v *view) attempt(e ledger.Entry) *attempt {
	n, id, name := len(v.Attempts), e.Attempt, "What happened"
	if id != "" {
		name = "Attempt " + id
	}
	if v.ofSection(e) {
		id, name = e.Task+" "+id, ledger.ShortID(e.Task)+", attempt "+id
	}
	if n > 0 && (e.Attempt == "" || v.Attempts[n-1].id == id) {
		return &v.Attempts[n-1]
	}
	for i := range v.Attempts {
		if v.Attempts[i].id == id {
			return &v.Attempts[i]
		}
	}
	v.Attempts = append(v.Attempts, attempt{Name: name, id: id})
	return &v.Attempts[n]
}

// pictures adds what people sent and what was taken, as far as a page can hold it.
func (v *view) pictures(all []Picture) {
	total := 0
	for _, p := range all {
		one := picture{Name: p.Name}
		switch {
		case !shown[p.Type]:
			one.Why = p.Type + ": not shown here"
		case len(p.Data) == 0:
			one.Why = "erased, or not readable"
		case len(p.Data) > MaxPicture || total+len(p.Data) > MaxPictures:
			one.Why = "too large for this page"
		default:
			total += len(p.Data)
			//nolint:gosec // Type is one of shown, and base64 has no letter that ends an attribute.
			one.Source = template.URL("data:" + p.Type + ";base64," + base64.StdEncoding.EncodeToString(p.Data))
		}
		v.Pictures = append(v.Pictures, one)
	}
}

// chainText says what the check of the hash chain found.
func chainText(c bot.ChainCheck) (out []chainLine) {
	for _, l := range c.Lines(0) {
		sign, rest, _ := strings.Cut(l.Text, " ")
		out = append(out, chainLine{Sign: sign, Text: rest})
	}
	return out
}
