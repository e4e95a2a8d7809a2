package triage

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// reading is one report as the rules see it.
type reading struct {
	task     *ledger.Task
	report   ledger.Report
	title    []string // folded words
	body     []string
	words    []string // of the title and the body without quotations
	class    class    // of words
	quoted   bool     // the body quotes a text of the page
	text     string   // title and body, clipped
	paths    []string // routes that it names, its own page first
	host     string   // of the address on which it was seen; "" = none
	errors   []string // error messages, normalised
	concrete int      // signs of something that can be seen or tried
	where    bool     // the only page that it names came with it, not from who wrote it
}

var (
	pathPattern  = regexp.MustCompile(`(?:^|[\s("'])(/[A-Za-z][\w\-./:\[\]{}%]*)`)
	stepPattern  = regexp.MustCompile(`(?m)(?:^|\s)1[.)]\s.*\s2[.)]\s`)
	codePattern  = regexp.MustCompile(`\b(?:[A-Z][a-z]+Error|[45]\d\d|0x[0-9A-Fa-f]{4,}|[A-Z][a-z]+(?:[A-Z][a-z]+)+|\d+ ?px|NaN|undefined)\b`)
	errorPattern = regexp.MustCompile(`\b([A-Z]\w*(?:Error|Exception): [^\n.;]+)`)
)

func read(t *ledger.Task) *reading {
	r := &reading{task: t}
	if t.Report != nil {
		r.report = *t.Report
	}
	body := clip(t.Body)
	r.text = clip(t.Title) + "\n" + body
	r.title, r.body = wordsOf(foldText(clip(t.Title))), wordsOf(foldText(body))
	bare := unquote(r.text)
	r.quoted = len(bare)+4 < len(r.text)
	r.words = wordsOf(foldText(bare))
	r.class = lexicon().classes(r.words)
	r.addPath(r.report.Page)
	r.addPath(r.report.URL)
	came := len(r.paths)
	for _, m := range pathPattern.FindAllStringSubmatch(r.text, 20) {
		r.addPath(m[1])
	}
	r.where = came > 0 && came == len(r.paths)
	for _, line := range r.report.Console[:min(len(r.report.Console), 50)] {
		r.addError(line)
	}
	for _, m := range errorPattern.FindAllStringSubmatch(r.text, 5) {
		r.addError(m[1])
	}
	for _, sign := range []bool{len(r.report.Console) > 0, r.report.Screenshot != "" || len(r.report.Files) > 0, len(r.paths) > 0,
		stepPattern.MatchString(r.text), codePattern.MatchString(r.text), r.quoted, r.class.has(comparison)} {
		if sign {
			r.concrete++
		}
	}
	return r
}

func (r *reading) addPath(s string) {
	if s == "" {
		return
	}
	if strings.Contains(s, "://") {
		u, err := url.Parse(s)
		if err != nil {
			return
		}
		if r.host == "" {
			r.host = strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
		}
		s = u.Path
	}
	if p := normalPath(s); p != "" {
		r.paths = append(r.paths, p)
	}
}

// normalPath returns a path without query, fragment and ids: "/orders/17?x=1" becomes
// "/orders/:id".
func normalPath(s string) string {
	s, _, _ = strings.Cut(s, "?")
	s, _, _ = strings.Cut(s, "#")
	var out []string
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '/' }) {
		if part = strings.TrimRight(part, ".:,"); part == "" {
			continue
		}
		if isID(part) {
			part = ":id"
		}
		out = append(out, strings.ToLower(part))
	}
	if len(out) == 0 {
		return ""
	}
	return "/" + strings.Join(out, "/")
}

// isID reports whether a part of a path or of a text names one object: a parameter of a
// route, a number, or a long mixture of digits and letters.
func isID(s string) bool {
	if strings.ContainsAny(s[:1], ":[{<$*") {
		return true
	}
	digits := 0
	for _, c := range s {
		if unicode.IsDigit(c) {
			digits++
		}
	}
	return digits > 0 && (digits == len(s) || len(s) >= 6 && 3*digits >= len(s))
}

// Errors that browsers report for many causes. They are no signature.
var generic = map[string]bool{"script error": true, "failed to fetch": true, "typeerror failed to fetch": true, "network error": true, "networkerror": true}

var (
	frameAt   = regexp.MustCompile(`\s+(?:at|in|@)\s.*$`)
	inName    = regexp.MustCompile(`\s(?:at|in)\s+([A-Za-z_$][\w$.]{2,})`)
	locations = regexp.MustCompile(`https?://\S+|[\w./-]+\.(?:js|ts|tsx|jsx|vue|py|rb|go)\S*|:\d+(?::\d+)?|\b0x[0-9a-f]+\b|\b[0-9a-f]{8,}\b|\d+`)
)

// addError adds the signature of a line of the console: its message without lines, ids,
// addresses and bundled names. Warnings are none.
func (r *reading) addError(line string) {
	line = clip(line)
	line = line[:min(len(line), 500)]
	line = strings.TrimPrefix(strings.TrimPrefix(line, "Error: "), "Uncaught ")
	if !strings.Contains(line, "Error") && !strings.Contains(line, "Exception") {
		return
	}
	frame := ""
	if m := inName.FindStringSubmatch(line); m != nil {
		frame, _, _ = strings.Cut(m[1], ".")
		if strings.EqualFold(frame, "http") {
			frame = ""
		}
	}
	line = locations.ReplaceAllString(frameAt.ReplaceAllString(line, ""), "#")
	message := strings.Join(wordsOf(foldText(line)), " ")
	if message == "" || generic[message] {
		return
	}
	r.errors = append(r.errors, message+"\x00"+strings.ToLower(frame))
}
