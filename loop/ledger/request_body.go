package ledger

import "strings"

// The markers around nightporter's section of a request's text. A forge shows
// neither.
const (
	requestMarker  = "<!-- nightporter:"
	requestOpening = requestMarker + " this section is written anew; what stands outside of it stays -->"
	requestClosing = "<!-- /nightporter -->"
)

// MaxRequestBody limits the text of a request, in bytes. GitHub takes 65,536
// characters.
const MaxRequestBody = 60_000

// RequestSection returns a text as nightporter's section of a request.
func RequestSection(s string) string {
	return requestOpening + "\n" + strings.TrimSpace(s) + "\n" + requestClosing
}

// EditBody returns the text of a request that is to be draft and that now is body: a
// template, or what people made of an earlier text. Only nightporter's section is
// written anew, so that what they wrote around it stays. A body without the section
// gets it at its end. A draft without one replaces the body.
func EditBody(body, draft string) string {
	_, ours, _, ok := cutRequestSection(draft)
	if !ok {
		return draft
	}
	body = strings.ReplaceAll(body, "\r\n", "\n")
	before, _, after, ok := cutRequestSection(body)
	if !ok {
		if before = strings.TrimRight(body, " \n"); before != "" {
			before += "\n\n"
		}
	}
	return before + shortenSection(ours, MaxRequestBody-len(before)-len(after)) + after
}

// cutRequestSection splits a text around nightporter's section. If somebody took the
// end of the section away, the section ends with its first line: what follows may
// be theirs.
func cutRequestSection(s string) (before, section, after string, ok bool) {
	start := strings.Index(s, requestMarker)
	if start < 0 {
		return s, "", "", false
	}
	before, s = s[:start], s[start:]
	end := strings.Index(s, requestClosing)
	if end >= 0 {
		end += len(requestClosing)
	} else if end = strings.IndexByte(s, '\n'); end < 0 {
		end = len(s)
	}
	return before, s[:end], s[end:], true
}

// shortenSection returns a section of at most limit bytes, or an empty one. Whole
// lines go from its end.
func shortenSection(section string, limit int) string {
	if len(section) <= limit {
		return section
	}
	const end = "\n\n(The rest does not fit into a request.)\n" + requestClosing
	text := strings.TrimSuffix(section, requestClosing)
	if text = text[:max(0, min(len(text), limit-len(end)))]; strings.Contains(text, "\n") {
		text = text[:strings.LastIndexByte(text, '\n')]
	}
	if !strings.HasPrefix(text, requestOpening) {
		return RequestSection("")
	}
	return strings.TrimRight(text, "\n") + end
}
