package words

import (
	"strings"
	"testing"
)

// TestPhrases: every file can be read, no phrase has two meanings, and each is
// found as it is written.
func TestPhrases(t *testing.T) {
	b, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range b.phrases {
		got := Read(p)
		if strings.Contains(p, "{") {
			got = Read(strings.NewReplacer(taskSlot, "8", optionSlot, "d").Replace(p))
			if strings.Contains(p, taskSlot) && got.Task != "8" || strings.Contains(p, optionSlot) && got.Arg != "d" {
				t.Errorf("%q is read as %v", p, got)
			}
			got.Task, want.Task = "", ""
			if strings.Contains(p, optionSlot) {
				got.Arg = ""
			}
		}
		if got != want {
			t.Errorf("%q is read as %v, want %v", p, got, want)
		}
	}
	t.Logf("%d phrases, %d fillers", len(b.phrases), len(b.fillers))
}

// TestReadRefuses: a file that contradicts itself, or names no meaning.
func TestReadRefuses(t *testing.T) {
	for _, text := range []string{"[stop]\nhalt\n[pause]\nhalt", "[halt]\nhalt", "[stop]\n[please]"} {
		if err := newPhraseBook().read(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// TestRead: what the sentences of testdata do not show.
func TestRead(t *testing.T) {
	for text, want := range map[string]Meaning{
		"skip #8":                       {Intent: Skip, Task: "8"},
		"retry task TECH-9":             {Intent: Retry, Task: "tech-9"},
		"überspring 8":                  {Intent: Skip, Task: "8"},
		"why is BUG-7 blocked?":         {Intent: Look, Arg: "why", Task: "bug-7"},
		"warum ist #4 gescheitert":      {Intent: Look, Arg: "why", Task: "4"},
		"use c":                         {Intent: Choose, Arg: "c"},
		"Stop\nafter this":              {Intent: Stop, Arg: "task"},
		"shop":                          {Intent: Guidance}, // not stop, misspelt
		"step":                          {Intent: Guidance},
		"":                              {Intent: Nothing},
		"\xff":                          {Intent: Guidance},
		"please":                        {Intent: Nothing},
		"please please":                 {Intent: Nothing},
		"please use ints":               {Intent: Guidance},
		"👩‍💻":                           {Intent: Nothing},
		"stop 🛑":                        {Intent: Stop},
		strings.Repeat("stop it ", 500): {Intent: Guidance},
	} {
		if got := Read(text); got != want {
			t.Errorf("%.20q is read as %v, want %v", text, got, want)
		}
	}
	if got := Hints("status and then stop it"); len(got) != 2 || got[0].Arg != "status" || got[1].Intent != Stop {
		t.Errorf("hints: %v", got)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"stop", "👍🏽", "use B", "#8", "a\u0301", "…"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if m := Read(text); m.Intent == "" {
			t.Errorf("%q has no meaning", text)
		}
		Hints(text)
	})
}
