package bench

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot/report"
)

// BenchmarkPicture is the digest's picture, from its facts to the PNG, of a
// night of 39 sessions and of one of 500. Figures: ≤ 300 ms, ≤ 300 kB.
//
// Baseline: the encoding of an empty picture of the same size, in turns with it.
func BenchmarkPicture(b *testing.B) {
	for _, sessions := range []int{39, 500} {
		b.Run(fmt.Sprint(sessions), func(b *testing.B) { picture(b, sessions) })
	}
}

func picture(b *testing.B, sessions int) {
	const turns = 30
	for b.Loop() {
	}
	f := aNightOf(sessions)
	var drawn, worked, bare []time.Duration
	size := 0
	for range turns {
		began, before := time.Now(), spentCPU(b)
		made, err := report.Picture(f, true)
		if err != nil {
			b.Fatal(err)
		}
		drawn = append(drawn, time.Since(began))
		worked = append(worked, spentCPU(b)-before)
		size = max(size, len(made))
		seen, err := png.DecodeConfig(bytes.NewReader(made))
		if err != nil {
			b.Fatal(err)
		}
		empty := image.NewRGBA(image.Rect(0, 0, seen.Width, seen.Height))
		began = time.Now()
		if err := png.Encode(&bytes.Buffer{}, empty); err != nil {
			b.Fatal(err)
		}
		bare = append(bare, time.Since(began))
	}
	p50, _, most := tail(drawn)
	base, _, _ := tail(bare)
	cpu, _, _ := tail(worked)
	b.ReportMetric(ms(p50), "picture-ms")
	b.ReportMetric(ms(most), "max-ms")
	b.ReportMetric(ms(cpu), "cpu-ms")
	b.ReportMetric(ms(base), "empty-ms")
	b.ReportMetric(float64(p50)/float64(base), "picture/empty")
	b.ReportMetric(float64(size)/1000, "kB")
	b.ReportMetric(0, "ns/op") // of nothing
}

// spentCPU is the processor time of this process so far, which says more than a
// clock where others work beside it.
func spentCPU(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// aNightOf is a night of so many sessions of four hats, a task done every
// three of them, and some guidance.
func aNightOf(sessions int) report.Facts {
	began := time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC)
	f := report.Facts{
		Project: "api-migration", From: began.Add(-16 * time.Hour), To: began.Add(8 * time.Hour), Began: began, Ended: began.Add(7 * time.Hour),
		Runs: []string{"r14"}, Branch: "nightporter/api-migration/r14", Boundary: 3, Seq: 41822, Head: "9f3a2c71b0e2aa",
		Total: sessions/3 + 3, Done: sessions / 3, Left: 3, FirstPass: sessions / 5, Fixes: sessions / 12,
		Cost: report.Cost{USD: 0.35 * float64(sessions), Sessions: sessions},
	}
	hats := []string{"planner", "builder", "reviewer", "fixer"}
	step := f.Ended.Sub(began) / time.Duration(sessions)
	for n := range sessions {
		at := began.Add(step * time.Duration(n))
		f.Sessions = append(f.Sessions, report.Session{ID: fmt.Sprint(n), Hat: hats[n%len(hats)], Start: at, End: at.Add(step * 9 / 10), Failed: n%41 == 40, CutOff: n%67 == 66})
		if n%3 == 0 {
			f.Burndown = append(f.Burndown, report.Point{At: at, Left: f.Total - n/3})
		}
		if n%12 == 5 && len(f.Guidance) < 12 {
			g := report.Guided{InSpan: true, At: at}
			g.Item.ID = fmt.Sprintf("g%d", n)
			f.Guidance = append(f.Guidance, g)
		}
	}
	for _, hat := range hats {
		f.Hats = append(f.Hats, report.Count{Name: hat, N: sessions / len(hats)})
	}
	return f
}
