package report_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/golden"
)

// manySessions returns a night with so many sessions, tasks and hats.
func manySessions(sessions, tasks, hats int) report.Facts {
	f := report.Facts{
		Project: "api-migration", From: evening.Add(-16 * time.Hour), To: morning, Began: evening, Ended: evening.Add(7*time.Hour + 2*time.Minute),
		Runs: []string{"r14"}, Branch: "nightporter/api-migration/r14", Boundary: 3, Total: tasks, Done: tasks - tasks/10, Left: tasks / 10,
		Cost: report.Cost{USD: 0.11 * float64(sessions), Sessions: sessions}, Fixes: sessions / 12, FirstPass: tasks / 2,
		Seq: 41822, Head: "9f3a2c71b0e2aa",
	}
	names := []string{"planner", "builder", "reviewer", "fixer", "critic", "architect", "verifier", "investigator", "writer", "reproducer", "designer", "translator"}[:hats]
	span := f.Ended.Sub(f.Began)
	for i := range sessions {
		at := f.Began.Add(span * time.Duration(i) / time.Duration(sessions))
		f.Sessions = append(f.Sessions, report.Session{ID: fmt.Sprint(i), Hat: names[(i*7+i/12)%hats], Start: at, End: at.Add(span / time.Duration(sessions) * 9 / 10), Failed: i%41 == 40, CutOff: i%67 == 66})
	}
	for _, name := range names {
		n := 0
		for _, s := range f.Sessions {
			if s.Hat == name {
				n++
			}
		}
		if n > 0 {
			f.Hats = append(f.Hats, report.Count{Name: name, N: n})
		}
	}
	for i := range f.Done + 1 {
		f.Burndown = append(f.Burndown, report.Point{At: f.Began.Add(span * time.Duration(i) / time.Duration(f.Done+1)), Left: tasks - i})
		if i > 0 {
			f.Completed = append(f.Completed, fmt.Sprintf("Task %d", i))
		}
	}
	for i := range min(sessions/10, 12) {
		f.Guidance = append(f.Guidance, report.Guided{InSpan: true, At: f.Began.Add(time.Duration(i*i) * 3 * time.Minute), Item: guidance.Item{ID: fmt.Sprintf("g%d", i+9), Text: "x", State: guidance.Addressed}})
	}
	return f
}

// short returns the shortest night: one running session.
func short() report.Facts {
	f := manySessions(1, 3, 1)
	f.Ended = f.Began.Add(2 * time.Minute)
	f.Sessions[0].End, f.Sessions[0].Live = f.Ended, true
	f.Burndown = []report.Point{{At: f.Began, Left: 3}, {At: f.Ended, Left: 2}}
	f.Cost = report.Cost{Unpriced: 1, Sessions: 1}
	f.Live, f.To = true, f.Ended
	return f
}

// foreignNames returns a night with names in scripts that the font has, and in
// others.
func foreignNames() report.Facts {
	f := manySessions(39, 12, 4)
	f.Project = "магазин 店舗 المتجر"
	other := map[string]string{"builder": "建築家", "reviewer": "Überprüferin-Größe"}
	for i, s := range f.Sessions {
		if name := other[s.Hat]; name != "" {
			f.Sessions[i].Hat = name
		}
	}
	for i, h := range f.Hats {
		if name := other[h.Name]; name != "" {
			f.Hats[i].Name = name
		}
	}
	f.Needs = []report.Need{
		{Sign: "■", Text: "#8 返金の流れ 🚀 (q5): план говорит две вещи; #10 waits for it and so on and on"},
		{Sign: "✗", Text: "The branch fails its checks; nothing was pushed"},
		{Sign: "‖", Text: "r14 is paused"},
		{Sign: "?", Text: "#12 manual verify"},
	}
	f.Cost.Unpriced = 3
	return f
}

func nights(t *testing.T) map[string]report.Facts {
	t.Helper()
	f, _ := exampleNight(t)
	week := manySessions(200, 30, 4)
	week.Began, week.From = evening.Add(-6*24*time.Hour), evening.Add(-7*24*time.Hour)
	for i := range week.Sessions {
		s := &week.Sessions[i]
		s.Start = week.Began.Add(time.Duration(i) * 45 * time.Minute)
		s.End = s.Start.Add(20 * time.Minute)
	}
	week.Burndown[0].At = week.Began
	week.Off = []report.Span{{From: week.Began.Add(30 * time.Hour), To: week.Began.Add(50 * time.Hour)}}
	idle := report.Facts{Project: "shop", From: evening, To: morning, Total: 12, Done: 12}
	demo := manySessions(16, 4, 4)
	demo.Began = demo.Ended.Add(-6 * time.Second)
	for i := range demo.Sessions {
		s := &demo.Sessions[i]
		s.Start = demo.Began.Add(time.Duration(i) * 375 * time.Millisecond)
		s.End = s.Start.Add(330 * time.Millisecond)
	}
	for i := range demo.Burndown {
		demo.Burndown[i].At = demo.Began.Add(time.Duration(i) * 1400 * time.Millisecond)
	}
	demo.Requests = []report.RequestResult{{Sign: bot.SignDone, Text: "PR 48: green, 3 of 3 checks"}, {Sign: bot.SignFailed, Text: "PR 47: lint fails"}, {Text: "PR 46: 2 of 5 checks pending"}, {Text: "PR 45: no checks"}}
	five, _ := lanesNight(t, 5)
	eight, _ := lanesNight(t, 8)
	ten, _ := lanesNight(t, 10)
	return map[string]report.Facts{"lanes": five, "lanes8": eight, "lanes10": ten, "demo": demo, "good": f, "waves": inWaves(t), "one": short(), "many": manySessions(500, 120, 12), "strange": foreignNames(), "week": week, "idle": idle}
}

// TestPicture checks that every night's picture is a PNG of bounded size and
// shape, the same each time, with nothing outside of its margins.
func TestPicture(t *testing.T) {
	for name, f := range nights(t) {
		dark := name != "one" && name != "week" && name != "lanes8"
		first, err := report.Picture(f, dark)
		if err != nil {
			t.Fatal(name, err)
		}
		if name == "one" { // drawing is slow under the race detector
			again, err := report.Picture(f, dark)
			if err != nil || !bytes.Equal(first, again) {
				t.Errorf("%s: the picture of the same facts is another one (%v)", name, err)
			}
		}
		if len(first) > bot.MaxPicture {
			t.Errorf("%s: %d bytes", name, len(first))
		}
		img, err := png.Decode(bytes.NewReader(first))
		if err != nil {
			t.Fatal(name, err)
		}
		b := img.Bounds()
		if b.Dx() != 1080 || b.Dy() < 500 || b.Dy() > 1800 {
			t.Errorf("%s: %v", name, b)
		}
		ground := img.At(0, 0)
		for y := range b.Dy() { // the margin stays free
			for _, x := range []int{3, 30, 1077} {
				if img.At(x, y) != ground {
					t.Fatalf("%s: something is drawn at %d,%d, in the margin", name, x, y)
				}
			}
		}
		ends := false // the burndown's last point, at the right edge
		for y := range b.Dy() {
			ends = ends || img.At(1040, y) != ground
		}
		if ends != (len(f.Sessions) > 0) {
			t.Errorf("%s: the axis shows more time than there is", name)
		}
		for x := range b.Dx() {
			if img.At(x, b.Dy()-10) != ground {
				t.Fatalf("%s: the last line is cut at %d", name, x)
			}
		}
		if dir := os.Getenv("DIGEST_PICTURES"); dir != "" { // write the pictures for inspection
			if err := os.WriteFile(filepath.Join(dir, name+".png"), first, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPictureGolden compares pixels with a tolerance: other machines may round
// edges differently.
func TestPictureGolden(t *testing.T) {
	story, _ := exampleNight(t)
	lanes, _ := lanesNight(t, 5)
	for name, f := range map[string]report.Facts{"good": story, "lanes": lanes, "strange": foreignNames(), "waves": inWaves(t)} {
		got, err := report.Picture(f, name != "strange")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name+".png")
		if *golden.Update {
			if err := os.WriteFile(path, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if part := pixelDifference(t, got, want); part > 0.001 {
			t.Errorf("%s: %.2f %% of the pixels are others; look at it, then go test -update", name, 100*part)
		}
	}
}

func pixelDifference(t *testing.T, a, b []byte) float64 {
	t.Helper()
	decode := func(raw []byte) *image.RGBA {
		img, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		rgba, ok := img.(*image.RGBA)
		if !ok {
			t.Fatalf("a picture that hides nothing is a %T", img)
		}
		return rgba
	}
	x, y := decode(a), decode(b)
	if x.Bounds() != y.Bounds() {
		return 1
	}
	n := 0
	for i := range x.Pix {
		if p, q := x.Pix[i], y.Pix[i]; max(p, q)-min(p, q) > 16 {
			n++
		}
	}
	return float64(n) / float64(len(x.Pix))
}
