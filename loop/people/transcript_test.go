package people

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

var update = flag.Bool("update", false, "write the golden files anew")

// script plays the lines of a transcript.
type script struct {
	*testing.T
	state State
	now   time.Time
	from  Sender
	out   strings.Builder
}

// TestTranscript plays testdata/transcript.txt and compares what comes out. "== NAME"
// begins anew, "> COMMAND" is an input (see play), and what follows are its entries
// and its answer («). "#" is a remark.
func TestTranscript(t *testing.T) {
	const file = "testdata/transcript.txt"
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var s *script
	for line := range strings.Lines(string(want)) {
		command, input := strings.CutPrefix(line, "> ")
		switch {
		case strings.HasPrefix(line, "== "):
			if out.Len() > 0 {
				out.WriteString("\n")
			}
			out.WriteString(line)
			s = &script{T: t, now: time.Date(2026, 11, 19, 23, 10, 0, 0, time.FixedZone("CET", 3600)), from: Sender{Actor: "console", Name: "Mira"}}
		case strings.HasPrefix(line, "#"):
			out.WriteString(line)
		case input:
			s.out.Reset()
			s.play(strings.TrimSpace(command))
			out.WriteString(line + s.out.String())
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("(-want +got), -update writes it anew\n%s", diff)
	}
}

func (s *script) play(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "as": // who sends from here on; nobody = the host
		s.from = Sender{Actor: "console", Name: "Mira"}
		if rest != "" {
			s.from = Sender{Actor: "telegram:" + rest, Name: rest}
		}
	case "wait": // for a time, or until something is due
		if rest == "" {
			s.now = Due(s.state)
			fmt.Fprintf(&s.out, "  (%s)\n", s.now.Format("15:04"))
		} else {
			d, err := time.ParseDuration(rest)
			if err != nil {
				s.Fatal(err)
			}
			s.now = s.now.Add(d)
		}
		s.entries(Expire(s.state, s.now))
	case "offer": // a code on the host
		role, hash, _ := strings.Cut(rest, " ")
		s.input(OfferPairing{Hash: hash, Role: ledger.Role(role)})
	case "/pair":
		s.input(TryPairing{Hash: rest})
	case "/unpair":
		s.input(Remove{ID: "telegram:" + rest})
	case "writes": // somebody who is not let in
		s.input(MeetStranger{Chat: s.from.Actor, Why: rest})
	case "/quiet":
		s.input(SetQuiet{Chat: s.from.Actor, Hours: ledger.Hours(rest)})
	case "had": // the role that let an input of the sender in
		from := s.from
		from.Role = ledger.Role(rest)
		refusal, ok := CheckRole(s.state, s.now, from)
		if ok {
			s.out.WriteString("  = passes\n")
			return
		}
		s.decided(refusal)
	case "refuse":
		s.input(RefuseCommand{Command: rest, For: "shop"})
	default:
		s.Fatalf("unknown command %q", line)
	}
}

func (s *script) input(in Input) {
	s.decided(Decide(s.state, s.now, s.from, in))
}

func (s *script) decided(d Decision) {
	s.entries(d.Entries)
	if a := d.Answer; a.Text != "" || !a.OK {
		s.out.WriteString("  « " + a.Text + "\n")
	}
}

func (s *script) entries(bodies []ledger.Body) {
	for _, b := range bodies {
		s.state = Apply(s.state, ledger.Entry{Stream: ledger.SharedStream, Time: s.now, Actor: s.from.Actor, Body: b})
		raw, err := json.Marshal(b)
		if err != nil {
			s.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(raw, &fields); err != nil {
			s.Fatal(err)
		}
		if person, ok := fields["person"].(map[string]any); ok {
			delete(person, "since")
		}
		line := "  " + b.EntryType()
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			raw, err := json.Marshal(fields[name])
			if err != nil {
				s.Fatal(err)
			}
			value := string(raw)
			if bare := strings.Trim(value, `"`); !strings.ContainsAny(bare, ` "`) {
				value = bare
			}
			line += " " + name + "=" + value
		}
		s.out.WriteString(line + "\n")
	}
}
