package bot

import (
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

var notName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// endings maps the part of a message's key before its first dot to a file
// extension; other kinds have ".txt".
var endings = map[string]string{"diff": ".diff", "log": ".log", "plan": ".md"}

// FileName returns the name under which a platform shows the message as a file:
// the first line up to its colon, in ASCII, with the extension of the message's
// kind. "shop-11.diff".
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

// File returns the lines of the message as the content of a file: quotes begin
// with "┃", Pre lines keep their spaces. Buttons and picture are left out.
func (m Message) File() []byte {
	var body strings.Builder
	for _, l := range m.Lines {
		switch l.Kind {
		case Pre:
			body.WriteString(CleanPre(l.Text))
		case Quote:
			body.WriteString("┃ " + CleanPre(l.Text))
		default:
			body.WriteString(Clean(l.Text))
		}
		body.WriteByte('\n')
	}
	return []byte(body.String())
}
