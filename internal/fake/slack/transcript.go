package slack

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/nightporter/nightporter/internal/fake/wrap"
)

// Transcript returns a conversation as people see it now, 38 columns wide: edits
// and deletions applied, quotes behind "┃", buttons in brackets. Messages that
// mention somebody are marked "rings", because only those make a sound.
func (s *Server) Transcript(id string, zone *time.Location) string {
	var b strings.Builder
	files := map[string]File{}
	for _, f := range s.Files() {
		files[f.ID] = f
	}
	for _, m := range s.Messages(id) {
		b.WriteString("── " + m.from() + " " + m.Time().In(zone).Format("15:04"))
		for _, mark := range []struct {
			on   bool
			text string
		}{{m.Root != "", "in a thread"}, {m.Mentions(), "rings"}, {m.Edits > 0, "edited"}, {m.VisibleTo != "", "only for " + m.VisibleTo}} {
			if mark.on {
				b.WriteString(" · " + mark.text)
			}
		}
		b.WriteString("\n")
		for _, f := range m.Files {
			b.WriteString("[file " + files[f].Name + "]\n")
		}
		for _, line := range m.Lines() {
			b.WriteString(line + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Time returns the time in the message's timestamp.
func (m Message) Time() time.Time {
	seconds, micro, _ := strings.Cut(m.TS, ".")
	s, _ := strconv.ParseInt(seconds, 10, 64)
	u, _ := strconv.ParseInt(micro, 10, 64)
	return time.Unix(s, u*1000)
}

// Mentions reports whether a message of the app mentions, and so notifies, anybody.
func (m Message) Mentions() bool { return m.Bot && strings.Contains(m.Text, "<@") }

func (m Message) from() string {
	if m.Bot && m.User == BotUser {
		return "porter"
	}
	return m.User
}

// Lines returns the lines of a message as people see them.
func (m Message) Lines() []string {
	var blocks []map[string]any
	if json.Unmarshal(m.Blocks, &blocks) != nil || len(blocks) == 0 {
		if m.Text == "" {
			return nil
		}
		return lines(unescape(m.Text), "")
	}
	var out []string
	for _, b := range blocks {
		elements, _ := b["elements"].([]any)
		switch b["type"] {
		case "rich_text":
			for _, e := range elements {
				part, _ := e.(map[string]any)
				frame := ""
				switch part["type"] {
				case "rich_text_preformatted":
					out = append(out, strings.Split(shown(part), "\n")...)
					continue
				case "rich_text_quote":
					frame = "┃ "
				}
				out = append(out, lines(shown(part), frame)...)
			}
		case "image": // its alternative text
			out = append(out, lines("[picture] "+text(b["alt_text"]), "")...)
		case "context":
			for _, e := range elements {
				part, _ := e.(map[string]any)
				out = append(out, lines(text(part["text"]), "")...)
			}
		case "actions":
			var labels []string
			for _, e := range elements {
				part, _ := e.(map[string]any)
				label, _ := part["text"].(map[string]any)
				labels = append(labels, "["+text(label["text"])+"]")
			}
			out = append(out, wrap.Wrap(strings.Join(labels, " "), wrap.Width)...)
		}
	}
	return out
}

// shown returns the text of a rich text element.
func shown(part map[string]any) string {
	var b strings.Builder
	elements, _ := part["elements"].([]any)
	for _, e := range elements {
		switch e, _ := e.(map[string]any); e["type"] {
		case "text":
			b.WriteString(text(e["text"]))
		case "user":
			b.WriteString("@" + text(e["user_id"]))
		}
	}
	return b.String()
}

// unescape undoes Slack's escapes.
func unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}

func lines(s, frame string) []string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		for _, part := range wrap.Wrap(line, wrap.Width-len([]rune(frame))) {
			out = append(out, frame+part)
		}
	}
	return out
}
