package loop

import (
	"strings"
	"testing"
)

// TestWavesFile: the file is what docs/spec 7.5 says, and a fold of the ledger writes it
// equal.
func TestWavesFile(t *testing.T) {
	d := playing(t, "tasks 1[says=total] 2[says=label,by=mira] 3[says=date]", "set waves=5 batch=1 pattern=single verify=", "go", "build")
	got, err := WavesFile(d.s.Project.Run)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"version": 1,`, `"currentWave": 2,`, `"maxWaves": 5,`, `"batchSize": 1,`, `"consecutiveEmptyWaves": 0,`,
		"\"passed\": [\n        \"Task 1\"\n      ],\n      \"failed\": [],\n      \"skipped\": [\n        \"Task 2\"\n      ],\n      \"durationMs\": ",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("it lacks %s:\n%s", want, got)
		}
	}
	s := State{}
	s.Project.Name = d.s.Project.Name
	for _, e := range d.entries {
		s = Apply(s, e)
	}
	if again, err := WavesFile(s.Project.Run); err != nil || string(again) != string(got) {
		t.Errorf("the fold writes another file (%v):\n%s", err, again)
	}
	if len(s.Project.Run.Waves) != 1 || s.Project.Run.Wave == nil || s.Project.Run.Wave.N != 2 {
		t.Errorf("waves of the fold: %+v, %+v", s.Project.Run.Waves, s.Project.Run.Wave)
	}
}
