package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// Text is a text that may also be written as a whole number, such as a uid.
type Text string

func (t *Text) fromTOML(x any) error {
	switch x := x.(type) {
	case string:
		*t = Text(x)
	case int64:
		*t = Text(strconv.FormatInt(x, 10))
	default:
		return errors.New("must be a text in quotes or a whole number")
	}
	return nil
}

// Words is a list of texts; a single one may be written without brackets.
type Words []string

func (w *Words) fromTOML(x any) error {
	if s, ok := x.(string); ok {
		*w = Words{s}
		return nil
	}
	list, ok := x.([]any)
	if !ok {
		return errors.New(`must be a text in quotes, or a list like ["a", "b"]`)
	}
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return errors.New(`must hold texts in quotes, like ["a", "b"]`)
		}
		*w = append(*w, s)
	}
	return nil
}

// Part is a part of a whole, written as "20%".
type Part float64

func (p *Part) fromTOML(x any) error {
	form := errors.New(`must be a part like "20%", in quotes and below 100%`)
	s, ok := x.(string)
	if !ok {
		return form
	}
	number, ok := strings.CutSuffix(strings.TrimSpace(s), "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !ok || err != nil || !(n >= 0 && n < 100) {
		return form
	}
	*p = Part(n / 100)
	return nil
}

func (v *Verify) fromTOML(x any) error {
	if s, ok := x.(string); ok {
		v.Run = s
		return nil
	}
	return errTable
}

// QuestionTimeout sets how long a question waits for an answer and what happens
// afterwards (docs/spec 6.4). It is written as "30m", as "continue", "pause" or
// "abort", or as {after = "30m", then = "pause"}.
type QuestionTimeout struct {
	After ledger.Duration `toml:"after"` // 0 = 30 minutes
	Then  string          `toml:"then" oneof:"continue pause abort"`
}

func (q *QuestionTimeout) fromTOML(x any) error {
	s, ok := x.(string)
	if !ok {
		return errTable
	}
	words := []string{"continue", "pause", "abort"}
	if slices.Contains(words, s) {
		q.Then = s
		return nil
	}
	if err := q.After.UnmarshalText([]byte(s)); err != nil {
		if near := nearest.Of(s, words); near != "" {
			return &valueError{text: fmt.Sprintf("%q is neither a duration nor one of continue, pause, abort", s), meant: near}
		}
		return err
	}
	return nil
}

// Clock is a time of day, such as "07:30". The zero value is unset, which
// differs from midnight.
type Clock struct {
	Set          bool
	Hour, Minute int
}

// UnmarshalText reads HH:MM.
func (c *Clock) UnmarshalText(text []byte) error {
	t, err := time.Parse("15:04", string(text))
	if err != nil || len(text) != len("15:04") {
		return fmt.Errorf(`%q is not a time of day: write it like "07:30"`, text)
	}
	*c = Clock{Set: true, Hour: t.Hour(), Minute: t.Minute()}
	return nil
}

// String returns HH:MM, or "" when c is unset.
func (c Clock) String() string {
	if !c.Set {
		return ""
	}
	return fmt.Sprintf("%02d:%02d", c.Hour, c.Minute)
}

// Next returns the first moment after now at which the clock shows c in zone.
// Where a change to daylight-saving time skips c, it returns the moment that
// replaces it.
func (c Clock) Next(now time.Time, zone *time.Location) time.Time {
	now = now.In(zone)
	for day := -1; ; day++ {
		first, second := c.on(now.Year(), now.Month(), now.Day()+day, zone)
		switch {
		case first.After(now):
			return first
		case second.After(now):
			return second
		}
	}
}

// On returns the first moment of a date at which the clock shows c in zone, or the
// one that replaces it where the zone skips c.
func (c Clock) On(year int, month time.Month, day int, zone *time.Location) time.Time {
	first, _ := c.on(year, month, day, zone)
	return first
}

// on returns both moments of a date at which the clock shows c; they are the same
// but in an hour that occurs twice. time.Date does not say which of the two it
// returns, nor on which side of a skipped hour its result is.
func (c Clock) on(year int, month time.Month, day int, zone *time.Location) (first, second time.Time) {
	shown := time.Date(year, month, day, c.Hour, c.Minute, 0, 0, time.UTC)
	at := func(offsetOf time.Time) (t time.Time, ok bool) {
		_, offset := offsetOf.In(zone).Zone()
		t = shown.Add(-time.Duration(offset) * time.Second).In(zone)
		_, is := t.Zone()
		return t, is == offset
	}
	first, before := at(shown.Add(-24 * time.Hour))
	second, after := at(shown.Add(24 * time.Hour))
	switch {
	case !after:
		second = first // the time that the old offset gives is what replaces a skipped one
	case !before:
		first = second
	}
	return first, second
}

// WeekTime is a time of day on one day of the week, such as "Mon 08:00". The
// zero value is unset.
type WeekTime struct {
	Day time.Weekday
	At  Clock
}

// UnmarshalText reads Mon HH:MM, with the English abbreviation of the day.
func (w *WeekTime) UnmarshalText(text []byte) error {
	v := string(text)
	e := &valueError{text: fmt.Sprintf(`%q is not a weekday and a time: write it like "Mon 08:00"`, v)}
	fields := strings.Fields(v)
	if len(fields) != 2 {
		return e
	}
	var days []string
	for d := time.Sunday; d <= time.Saturday; d++ {
		days = append(days, d.String()[:3])
	}
	var read WeekTime
	if err := read.At.UnmarshalText([]byte(fields[1])); err != nil {
		return e
	}
	near := ""
	for n, day := range days {
		if v == day+" "+read.At.String() {
			read.Day = time.Weekday(n)
			*w = read
			return nil
		}
		if len(fields[0]) >= len(day) && strings.HasPrefix(strings.ToLower(time.Weekday(n).String()), strings.ToLower(fields[0])) {
			near = day
		}
	}
	if near != "" {
		e.meant = near + " " + read.At.String()
	}
	return e
}

// String returns Mon HH:MM, or "" when w is unset.
func (w WeekTime) String() string {
	if !w.At.Set {
		return ""
	}
	return w.Day.String()[:3] + " " + w.At.String()
}

// Hours is a part of each day, such as "23:00-07:00". It may cross midnight.
type Hours struct{ From, To Clock }

// UnmarshalText reads HH:MM-HH:MM.
func (h *Hours) UnmarshalText(text []byte) error {
	bad := fmt.Errorf(`%q is not a part of the day: write it like "23:00-07:00"`, text)
	from, to, ok := strings.Cut(string(text), "-")
	var v Hours
	if !ok || v.From.UnmarshalText([]byte(from)) != nil || v.To.UnmarshalText([]byte(to)) != nil {
		return bad
	}
	if v.From == v.To {
		return fmt.Errorf(`%q begins when it ends: write it like "23:00-07:00", or leave it out`, text)
	}
	*h = v
	return nil
}

// String returns HH:MM-HH:MM, or "" when h is unset.
func (h Hours) String() string {
	if !h.From.Set {
		return ""
	}
	return h.From.String() + "-" + h.To.String()
}

// Start sets when up starts a run by itself: "manual", "auto", or a cron
// expression of five fields (docs/spec 16). Only the form of the expression is
// checked here; the daemon parses it.
type Start string

var cronWords = []string{"manual", "auto", "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}

// UnmarshalText reads "manual", "auto" or five fields.
func (s *Start) UnmarshalText(text []byte) error {
	v := string(text)
	fields := strings.Fields(v)
	cron := len(fields) == 5 && !slices.ContainsFunc(fields, func(f string) bool {
		return strings.Trim(f, "0123456789*/,-?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != ""
	})
	if !cron && !slices.Contains(cronWords, v) {
		return &valueError{
			text:  fmt.Sprintf(`%q is neither "manual", "auto" nor a cron expression like "0 22 * * 1-5"`, v),
			meant: nearest.Of(v, cronWords),
		}
	}
	*s = Start(v)
	return nil
}

// Source is the origin of a project's tasks: KIND:PATH (docs/spec 3, 17). Path
// is as written, relative to the repository.
type Source struct{ Kind, Path string }

// kind returns the table row of the source's kind, or nil for an unknown one.
func (s Source) kind() *task.Kind { return task.FindKind(s.Kind) }

// isPath reports whether Path is a file's path rather than a label of issues.
func (s Source) isPath() bool {
	k := s.kind()
	if k == nil || s.Path == "" {
		return false
	}
	_, label := k.Label(s.Path)
	return !label
}

// UnmarshalText reads KIND:PATH.
func (s *Source) UnmarshalText(text []byte) error {
	v := string(text)
	name, path, hasPath := strings.Cut(v, ":")
	kind := task.FindKind(name)
	if kind == nil {
		names := task.KindNames()
		e := &valueError{text: fmt.Sprintf("%q is not a source: write KIND:PATH, KIND one of %s", v, list(names))}
		near, guess := nearest.Of(name, names), task.GuessKind(v)
		switch {
		case hasPath && near != "":
			e.meant = near + ":" + path
		case !hasPath && guess != nil:
			e.meant = guess.Name + ":" + v
		}
		return e
	}
	if path == "" {
		path = kind.Default
	}
	rest, label := kind.Label(path)
	switch {
	case name == task.KindAuto && !hasPath: // the only list with open tasks
	case strings.TrimSpace(rest) == "":
		return fmt.Errorf("%q is not whole: write it like %s", v, kind.Notation(path))
	case strings.ContainsFunc(path, func(r rune) bool { return r < ' ' }):
		return fmt.Errorf("%q holds a control character", v)
	case !label && !filepath.IsAbs(path) && !filepath.IsLocal(path):
		return fmt.Errorf("%q leaves the repository: its path is relative to the repository", v)
	}
	*s = Source{Kind: name, Path: path}
	return nil
}

// list joins words for a message.
func list(words []string) string { return strings.Join(words, ", ") }

// Memory is an amount of memory: bytes, such as "8GB", or a share of the machine's,
// such as "75%". The zero value is unset, which differs from "0".
type Memory struct {
	Set     bool
	Bytes   int64
	Percent int64 // of the machine's; 0 if Bytes says it
}

// UnmarshalText reads N%, a number of bytes with its unit, and "0" for no limit.
func (m *Memory) UnmarshalText(text []byte) error {
	v := strings.ReplaceAll(string(text), " ", "")
	if v == "0" {
		*m = Memory{Set: true}
		return nil
	}
	bad := fmt.Errorf(`%q is not an amount of memory: write "75%%" of the machine's, "8GB", or "0" for no limit`, text)
	if digits, ok := strings.CutSuffix(v, "%"); ok {
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 1 || n > 100 {
			return bad
		}
		*m = Memory{Set: true, Percent: n}
		return nil
	}
	n, ok := parseBytes(v)
	switch {
	case !ok:
		return bad
	case n < leastMemory:
		return fmt.Errorf(`%q is too little for a session: write at least "64MB", or "0" for no limit`, text)
	}
	*m = Memory{Set: true, Bytes: n}
	return nil
}

// of returns the amount in bytes on a machine that has machine of them; 0 = no
// limit, or unknown.
func (m Memory) of(machine int64) int64 {
	if m.Percent > 0 {
		return machine * m.Percent / 100
	}
	return m.Bytes
}

// Size is a number of bytes on a disk, written as "20GB" or "500MB". 0 is unset.
type Size int64

// UnmarshalText reads a number of bytes with its unit.
func (s *Size) UnmarshalText(text []byte) error {
	n, ok := parseBytes(string(text))
	if !ok || n < 1e6 {
		return fmt.Errorf(`%q is no size from "1MB" on: write it like "20GB" or "500MB"`, text)
	}
	*s = Size(n)
	return nil
}

// byteUnits are the units of amounts of bytes: of thousands, as disks are sold,
// and with an i of 1024, as memory is.
var byteUnits = map[string]float64{
	"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
}

// parseBytes reads a positive number with its unit, in any case: "8GB", "1.5 TiB",
// "8G". ok is false for anything else, and for more than 1000 TB.
func parseBytes(text string) (n int64, ok bool) {
	v := strings.ToUpper(strings.ReplaceAll(text, " ", ""))
	digits := strings.TrimRight(v, "KMGTIB")
	unit := v[len(digits):]
	if len(unit) == 1 {
		unit += "B"
	}
	number, err := strconv.ParseFloat(digits, 64)
	bytes := number * byteUnits[unit]
	if err != nil || !(bytes >= 1 && bytes <= 1e15) { // also not a number, and no unit
		return 0, false
	}
	return int64(bytes), true
}
