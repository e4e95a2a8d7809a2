package bot_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/stats"
)

// statsHost is a host with figures.
type statsHost struct {
	*host
	asked []bot.StatsQuery
}

func (l *statsHost) Stats(_ context.Context, project string, q bot.StatsQuery) (bot.Message, error) {
	l.asked = append(l.asked, q)
	return bot.Stats(project, stats.Report{Since: q.Since}, q.By), nil
}

// TestStatsAsked reads what people type behind /stats, and names the command where no
// figures can be made.
func TestStatsAsked(t *testing.T) {
	n := scenario.New("shop", evening)
	n.State.Project.Name = "shop"
	h := &host{service: &service{scenario.NewService(n)}}
	l := &statsHost{host: h}
	for _, line := range []string{"/stats", "/stats run hats", "shop: /stats MODEL", "/stats shop 7d size"} {
		m, err := bot.Handle(t.Context(), l, bot.Request{Actor: "console", Project: "shop", Text: line, Time: evening})
		if err != nil || m.Key != "stats.none" || m.Project != "shop" {
			t.Errorf("%s: %+v, %v", line, m, err)
		}
	}
	month, week := stats.Since{Days: 30}, stats.Since{Days: 7}
	want := []bot.StatsQuery{{Since: month, Now: evening}, {Since: stats.Since{Run: true}, By: stats.ByHat, Now: evening}, {Since: month, By: stats.ByModel, Now: evening}, {Since: week, By: stats.BySize, Now: evening}}
	if diff := cmp.Diff(want, l.asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m, err := bot.Handle(t.Context(), h, bot.Request{Actor: "console", Project: "shop", Text: "/stats", Time: evening})
	if err != nil || m.Key != "stats.elsewhere" {
		t.Errorf("%+v, %v", m, err)
	}
	c, err := bot.Parse("/stats 7d hat")
	if err != nil || bot.RequiredRole(c) != ledger.RoleView || c.String() != "/stats 7d hat" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := bot.Parse("/stats shop blog"); err == nil {
		t.Error("two projects are taken")
	}
}

// TestRate: few things are said in numbers, and no rounding makes some all or none.
func TestRate(t *testing.T) {
	for _, c := range []struct {
		n, of int
		want  string
	}{{0, 0, "unknown"}, {2, 3, "2 of 3"}, {9, 9, "9 of 9"}, {24, 28, "24 of 28 (86 %)"}, {999, 1000, "999 of 1000 (99 %)"}, {1, 1000, "1 of 1000 (1 %)"}, {0, 10, "0 of 10 (0 %)"}, {10, 10, "10 of 10 (100 %)"}} {
		if got := bot.Rate(c.n, c.of); got != c.want {
			t.Errorf("%d of %d is said as %q, want %q", c.n, c.of, got, c.want)
		}
	}
}
