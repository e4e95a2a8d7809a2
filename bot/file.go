package bot

import (
	"regexp"
	"strings"
)

var notName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// endings of files, by the first word of a message's key.
var endings = map[string]string{"diff": ".diff", "log": ".log", "plan": ".md"}

// FileName is the name of a message that is shown as a file: what it is about,
// in ASCII, with the ending of its kind. "shop-11.diff".
func (m Message) FileName() string {
	about, _, _ := strings.Cut(Clean(m.First()), ":")
	kind, _, _ := strings.Cut(m.Key, ".")
	end, known := endings[kind]
	if !known {
		about, end = about+"-"+kind, ".txt"
	}
	about = strings.Trim(notName.ReplaceAllString(about, "-"), "-")
	if about == "" {
		about = "nightporter"
	}
	return strings.TrimRight(about[:min(len(about), 40)], "-") + end
}

// File is the message as the text of a file: quotes behind "┃", columns as
// they are.
func (m Message) File() []byte {
	var body strings.Builder
	for _, l := range m.Lines {
		switch l.Kind {
		case Pre:
			body.WriteString(CleanPre(l.Text))
		case Quote:
			body.WriteString("┃ " + Clean(l.Text))
		default:
			body.WriteString(Clean(l.Text))
		}
		body.WriteByte('\n')
	}
	return []byte(body.String())
}
