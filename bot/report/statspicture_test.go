package report_test

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop/stats"
)

// named are figures of a part that finished tasks.
func named(name string, sessions, done, finished, first int, usd float64) stats.Named {
	return stats.Named{Name: name, Figures: stats.Figures{Sessions: sessions, USD: usd, Tokens: int64(sessions) * 41_300, Read: int64(sessions) * 38_600, Prompt: int64(sessions) * 14_500, Finished: finished, Done: done, FirstPass: first, Reviews: finished, Judged: finished, FixRounds: done - first}}
}

// statsCases are figures of every shape.
func statsCases(t *testing.T) map[string]report.Stats {
	n, _ := thirty(t)
	night := report.Stats{Project: "shop", Report: n.figures(stats.Since{Run: true})}

	rich := report.Stats{Project: "shop"}
	rich.Since = stats.Since{Days: 30}
	rich.By = map[stats.By][]stats.Named{
		stats.ByHat:   {named("builder", 311, 227, 272, 171, 87.8), named("reviewer", 296, 227, 227, 171, 30.2), named("planner", 80, 61, 66, 47, 12.6), named("fixer", 58, 45, 49, 0, 13.4), named("writer", 12, 12, 12, 11, 0.9)},
		stats.ByAgent: {named("claude", 540, 166, 202, 127, 100.7), named("codex", 217, 61, 70, 44, 44.2)},
		stats.ByModel: {named("sonnet", 380, 160, 195, 121, 60.7), named("opus", 160, 61, 66, 47, 40), named("gpt-5.1-codex-max-with-a-name-that-is-long", 217, 61, 70, 44, 44.2)},
		stats.BySize:  {named("small", 431, 141, 166, 112, 60.7), named("medium", 240, 68, 83, 48, 54), named("large", 86, 18, 23, 11, 30.2)},
	}
	for day := range 23 {
		f := named("", 32+day%3, 8+day%5, 9+day%5+day%3, 6+day%4, 6.3).Figures
		rich.Days = append(rich.Days, stats.Day{Date: time.Date(2026, 10, 28+day, 0, 0, 0, 0, berlin), Figures: f})
		rich.All = rich.All.Plus(f)
	}
	rich.From = rich.Days[0].Date
	rich.All.Contradicted, rich.All.Failed, rich.All.Estimated = 7, 9, 2

	few := report.Stats{Project: "a-project-with-a-long-name-of-32-c"}
	few.All = stats.Figures{Sessions: 3, USD: 0.2, Unpriced: 2, Tokens: 40_000, Untold: 2, Read: 36_000, Unsplit: 2, Prompt: 30_000, Unsized: 1, Finished: 3, Done: 2, FirstPass: 1, FixRounds: 1, Reviews: 3, Judged: 1}
	few.Since = stats.Since{Days: 7}
	few.From = evening
	few.Days = []stats.Day{{Date: time.Date(2026, 11, 19, 0, 0, 0, 0, berlin), Figures: few.All}}
	few.By = map[stats.By][]stats.Named{stats.ByHat: {{Name: "builder", Figures: few.All}}, stats.ByAgent: {{Name: "codex", Figures: few.All}}, stats.ByModel: {{Figures: few.All}}, stats.BySize: {{Name: "small", Figures: few.All}}}

	one := report.Stats{Project: "blog"}
	one.All = stats.Figures{Sessions: 1, Failed: 1, Unpriced: 1, Untold: 1, Unsplit: 1, Unsized: 1}
	one.Since, one.Run = stats.Since{Run: true}, "r3"
	one.By = map[stats.By][]stats.Named{stats.ByHat: {{Name: "planner", Figures: one.All}}, stats.ByAgent: {{Name: "pi", Figures: one.All}}, stats.ByModel: {{Figures: one.All}}, stats.BySize: {{Figures: one.All}}}

	year := report.Stats{Project: "shop"}
	year.By = map[stats.By][]stats.Named{}
	for i := range 9 {
		year.By[stats.ByHat] = append(year.By[stats.ByHat], named(fmt.Sprintf("hat-of-mine-%d", i), 90-i, 20, 24, 17, 3))
		year.By[stats.ByAgent] = append(year.By[stats.ByAgent], named(fmt.Sprintf("agent %d", i), 90-i, 20, 24, 17, 3))
	}
	for day := 0; day < 400; day += 3 {
		f := named("", 4, day%4, day%4+day%2, day%4/2, 0.4).Figures
		year.Days = append(year.Days, stats.Day{Date: time.Date(2025, 10, 1+day, 0, 0, 0, 0, berlin), Figures: f})
		year.All = year.All.Plus(f)
	}
	year.From = year.Days[0].Date

	return map[string]report.Stats{
		"a year, by week":           year,
		"the night of thirty tasks": night, "a month": rich, "few, and part unknown": few, "one session, nothing known": one,
		"nothing": {Project: "shop", Report: stats.Report{Since: stats.Since{Days: 7}}},
	}
}

// TestStats pins what people read of figures. FIGURES names a folder for the pictures.
func TestStats(t *testing.T) {
	cases := map[string]string{}
	for name, s := range statsCases(t) {
		text := ""
		for _, by := range append([]stats.By{""}, stats.Kinds()...) {
			m := bot.Stats(s.Project, s.Report, by)
			messagelint.Check(t, name, m)
			text += m.Text(36) + "\n\n"
			if s.All.IsZero() {
				break
			}
		}
		if !s.All.IsZero() {
			alt := report.StatsAlt(s)
			text += "--- picture\n" + alt
			for _, dark := range []bool{true, false} {
				raw, err := report.StatsPicture(s, dark)
				if err != nil {
					t.Fatal(err)
				}
				again, _ := report.StatsPicture(s, dark)
				img, err := png.Decode(bytes.NewReader(raw))
				if err != nil || !bytes.Equal(raw, again) || len(raw) > bot.MaxPicture || img.Bounds().Dx() != 1080 || img.Bounds().Dy() > 2600 {
					t.Errorf("%s: a picture of %d bytes, %v, %v", name, len(raw), img.Bounds(), err)
				}
				if dir := os.Getenv("FIGURES"); dir != "" {
					if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%t.png", strings.ReplaceAll(name, " ", "-"), dark)), raw, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if w := messagelint.Never(text); w != "" {
			t.Errorf("%s says %q", name, w)
		}
		cases[name] = text
	}
	golden.Sections(t, "stats", cases)
}
