package verb

import (
	"context"
	"strings"

	"github.com/nightporter/nightporter/internal/api"
)

// Guidance returns the directives for this session.
func (c Client) Guidance(ctx context.Context) ([]api.Guidance, error) {
	reply, err := c.call(ctx, api.PathGuidance, api.Empty{})
	return reply.Guidance, err
}

// GuidanceText returns directives as text.
func GuidanceText(list []api.Guidance) string {
	if len(list) == 0 {
		return "There is no guidance."
	}
	var lines []string
	bound := false
	for _, g := range list {
		kind := "for information"
		if g.Bound {
			kind, bound = "for you", true
		}
		lines = append(lines, g.ID+" ("+kind+"): "+g.Text)
	}
	if bound {
		lines = append(lines, "Your event has to say what you did with each that is for you, in its field \"guidance\".")
	}
	return strings.Join(lines, "\n")
}

// Note keeps a text for the next session.
func (c Client) Note(ctx context.Context, text string) (string, error) {
	if text == "" {
		return "", InvalidError{"note: the text is missing"}
	}
	return c.text(ctx, api.PathNote, api.Note{Text: text})
}

// Remember adds a text to the project's memory. A kind of "" is a memory.
func (c Client) Remember(ctx context.Context, kind, text string) (string, error) {
	if text == "" {
		return "", InvalidError{"memory add: the text is missing"}
	}
	return c.text(ctx, api.PathMemory, api.Note{Kind: kind, Text: text})
}

// Memory returns what is kept.
func (c Client) Memory(ctx context.Context) (string, error) {
	return c.text(ctx, api.PathMemory, api.Note{})
}
