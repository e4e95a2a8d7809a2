package stats

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Since is the beginning of a span that ends now. The zero value spans all of the ledger.
type Since struct {
	Run  bool // the last run
	Days int  // from midnight so many days ago
}

// maxSince is the longest span in days that has a word.
const maxSince = 999

// ParseSince reads "run", "all", or days such as "7d", in any case.
func ParseSince(word string) (s Since, ok bool) {
	switch word = strings.ToLower(word); word {
	case "run":
		return Since{Run: true}, true
	case "all":
		return s, true
	}
	n, isDays := strings.CutSuffix(word, "d")
	days, err := strconv.Atoi(n)
	if !isDays || err != nil || days < 1 || days > maxSince || n[0] == '+' || n[0] == '0' {
		return s, false
	}
	return Since{Days: days}, true
}

// String returns the word of s.
func (s Since) String() string {
	switch {
	case s.Run:
		return "run"
	case s.Days > 0:
		return fmt.Sprintf("%dd", s.Days)
	}
	return "all"
}

// ParseBy reads what figures are told apart by, in any case, one or several.
func ParseBy(word string) (by By, ok bool) {
	word = strings.TrimSuffix(strings.ToLower(word), "s")
	by = By(word)
	return by, slices.Contains(Kinds(), by)
}

// Report has the figures of a span.
type Report struct {
	Since Since
	Run   string    // id of the run, with Since.Run; "" = there was none
	From  time.Time // beginning of the first day that has figures; zero = nothing was counted, or with Since.Run
	All   Figures
	By    map[By][]Named // the most used first
	Days  []Day          // that have figures, in their order; nil with Since.Run
}

// Day has the figures of a day.
type Day struct {
	Date time.Time // its midnight
	Figures
}

// Report returns the figures of the span up to now.
func (f *Fold) Report(since Since, now time.Time) Report {
	r := Report{Since: since, By: map[By][]Named{}}
	var sum bucket
	days := map[time.Time]Figures{}
	if since.Run {
		r.Run = f.run.id
		sum.merge(&f.run.bucket)
	}
	var from time.Time
	if since.Days > 0 {
		y, m, d := now.In(f.zone).Date()
		from = time.Date(y, m, d-since.Days, 0, 0, 0, 0, f.zone)
	}
	for _, d := range f.days {
		if !since.Run && !d.date.Before(from) {
			sum.merge(&d.bucket)
			days[d.date] = d.all
		}
	}
	for _, w := range f.works {
		switch {
		case w.at.IsZero() || since.Run && (r.Run == "" || w.run != r.Run) || !since.Run && w.at.Before(from):
			continue
		case !since.Run:
			date := f.midnight(w.at)
			days[date] = days[date].Plus(w.figures())
		}
		sum.add(w.parts, w.figures())
	}
	r.All = sum.all
	for p, x := range sum.parts {
		r.By[p.By] = append(r.By[p.By], Named{Name: p.Name, Figures: *x})
	}
	for _, list := range r.By {
		slices.SortFunc(list, byUse)
	}
	for date, x := range days {
		if !x.IsZero() {
			r.Days = append(r.Days, Day{Date: date, Figures: x})
		}
	}
	slices.SortFunc(r.Days, func(a, b Day) int { return a.Date.Compare(b.Date) })
	if len(r.Days) > 0 {
		r.From = r.Days[0].Date
	}
	return r
}
