package request

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Taken is a comment that became guidance. It never does again, whatever its author
// makes of it later.
type Taken struct {
	ID   string    `json:"id"` // the forge's
	Time time.Time `json:"time"`
}

// Comment is a comment that became guidance, and whose author was not told yet what
// became of it.
type Comment struct {
	ID     string `json:"id"`               // the forge's
	Item   string `json:"item"`             // of the guidance
	By     string `json:"by"`               // its author
	Given  bool   `json:"given,omitempty"`  // a session has it, or had it
	Over   bool   `json:"over,omitempty"`   // it was taken back, or expired
	Told   bool   `json:"told,omitempty"`   // its author was told that comments of theirs wait
	Task   string `json:"task,omitempty"`   // whose session reported on it last
	Commit string `json:"commit,omitempty"` // of that task, since
}

// Bounds of comments.
const (
	// MaxNew is how many comments of one look become guidance, and how many of one
	// request can be guidance that nobody has reported on.
	MaxNew = 20
	// keptTaken is how many comments are remembered one by one. Those before them are
	// told by their time.
	keptTaken    = 1000
	keptComments = 100 // comments whose authors are to be told
	maxAuthor    = 80  // characters
	maxPath      = 200
)

// slack is how far the clock of a forge may be behind ours. It matters only for a
// request that a person opened: one that we opened has no comments from before.
const slack = 10 * time.Minute

// CommentNews is what a look shows of a request's comments. The zero value is a
// request without comments.
type CommentNews struct {
	New   []ledger.RequestComment // that become guidance, oldest first; at most MaxNew
	Count ledger.CommentCount
}

// NewsOf returns what of the comments of a view is new on the branch.
func (b Branch) NewsOf(v ledger.RequestView) CommentNews {
	var n CommentNews
	n.Count.Unread = max(v.More, 0)
	for _, c := range v.Comments {
		switch {
		case c.Ours:
		case !mayGuide(c):
			n.Count.Others++
		case !b.IsNew(c):
		case len(n.New) < MaxNew:
			n.New = append(n.New, c)
		default:
			n.Count.Waiting++
		}
	}
	return n
}

// mayGuide reports whether a comment is by somebody whose words are guidance: a
// person who may write to the repository. Nobody knows who wrote to an app, or who
// had an account that is deleted.
func mayGuide(c ledger.RequestComment) bool {
	return c.Writer && c.Author != "" && !strings.HasSuffix(strings.ToLower(c.Author), "[bot]")
}

// IsNew reports whether a comment is to become guidance: it has words for a session
// and was not taken before. The words of an approval ask for nothing.
func (b Branch) IsNew(c ledger.RequestComment) bool {
	if c.Ours || !mayGuide(c) || c.ID == "" || !b.IsOpen() || !c.Time.After(b.Since) {
		return false
	}
	switch c.Kind {
	case ledger.CommentPlain, ledger.CommentLine, ledger.CommentChanges:
	default:
		return false
	}
	if words, _ := words(c.Body); words == "" {
		return false
	}
	return !slices.ContainsFunc(b.Taken, func(t Taken) bool { return t.ID == c.ID })
}

// WaitingComments returns the comments that are guidance and that no session has,
// oldest first: what a run on the branch is to work on.
func (b Branch) WaitingComments() []Comment {
	return slices.DeleteFunc(slices.Clone(b.Comments), func(c Comment) bool { return c.Given || c.Over })
}

// WasTold reports whether an author knows already that comments of theirs wait.
func (b Branch) WasTold(author string) bool {
	return slices.ContainsFunc(b.Comments, func(c Comment) bool { return c.Told && c.By == author })
}

// ItemOf returns the guidance that a comment becomes. The caller gives it its ID and
// time. No part of the comment is read as an address or a command.
func (b Branch) ItemOf(c ledger.RequestComment) guidance.Item {
	text, cut := words(c.Body)
	return guidance.Item{Text: text, By: line(c.Author, maxAuthor), Origin: &guidance.Origin{
		Run: b.Run, Of: b.Of, Number: b.Request.Number, Comment: c.ID, Path: line(c.Path, maxPath), Line: max(c.Line, 0), Time: c.Time, Cut: cut,
	}}
}

// line returns foreign text as one short line without what nobody sees.
func line(s string, most int) string { return text.First(shown(s), most) }

// words returns the text of a comment without what nobody sees, and how many
// characters at its end are left out.
func words(body string) (text string, cut int) {
	body = strings.ReplaceAll(strings.ToValidUTF8(body, "\uFFFD"), "\r\n", "\n")
	runes := []rune(strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, body)))
	if cut = len(runes) - guidance.MaxText; cut > 0 {
		return strings.TrimSpace(string(runes[:guidance.MaxText])), cut
	}
	return string(runes), 0
}

// taken folds guidance that a comment on the branch's request became.
func (b *Branch) taken(i guidance.Item) {
	o := i.Origin
	b.Taken = append(slices.Clip(b.Taken), Taken{o.Comment, o.Time})
	if old := len(b.Taken) - keptTaken; old > 0 {
		for _, t := range b.Taken[:old] {
			if t.Time.After(b.Since) {
				b.Since = t.Time
			}
		}
		b.Taken = slices.Clone(b.Taken[old:])
	}
	b.Comments = append(slices.Clip(b.Comments), Comment{ID: o.Comment, Item: i.ID, By: i.By})
	b.Comments = b.Comments[max(0, len(b.Comments)-keptComments):]
}

// editComments returns the state with the comments changed for which is returns
// true.
func (s State) editComments(is func(Comment) bool, change func(*Comment)) State {
	for _, b := range s.Branches {
		if !slices.ContainsFunc(b.Comments, is) {
			continue
		}
		s = s.edit(b.Run, func(b *Branch) {
			b.Comments = slices.Clone(b.Comments)
			for n := range b.Comments {
				if is(b.Comments[n]) {
					change(&b.Comments[n])
				}
			}
		})
	}
	return s
}

// replying folds the begin of a reply.
func (b *Branch) replying(e ledger.ReplyBegun) {
	b.Replying = e.Key
	is := func(c Comment) bool { return c.ID == e.Comment }
	if e.Final {
		b.Comments = slices.DeleteFunc(slices.Clone(b.Comments), is)
		return
	}
	b.Comments = slices.Clone(b.Comments)
	at := slices.IndexFunc(b.Comments, is)
	for n := range b.Comments {
		if at >= 0 && b.Comments[n].By == b.Comments[at].By {
			b.Comments[n].Told = true // it is told of all of them
		}
	}
}

// replied folds the end of a reply.
func (b *Branch) replied(e ledger.ReplyEnded) {
	if b.Replying == e.Key {
		b.Replying, b.Refused = "", e.Failure != ""
	}
}

// ReplyKey returns the key of a reply to a comment: the last one, or the one before
// it.
func ReplyKey(run string, number int, comment string, final bool) string {
	kind := "waits"
	if final {
		kind = "done"
	}
	return fmt.Sprintf("%s %d %s %s", run, number, comment, kind)
}

// Reply returns the entry and the effect that tell the author of a comment something;
// ok is false if the request is not open, or another reply is under way: forges
// limit how quickly one account writes.
func (b Branch) Reply(c Comment, a Answer) (e ledger.ReplyBegun, effect ledger.EffectReply, ok bool) {
	if !b.IsOpen() || b.Replying != "" {
		return e, effect, false
	}
	key := ReplyKey(b.Run, b.Request.Number, c.ID, a.Final())
	return ledger.ReplyBegun{Run: b.Run, Number: b.Request.Number, Comment: c.ID, ID: c.Item, Key: key, Final: a.Final()},
		ledger.EffectReply{Run: b.Run, Reply: ledger.RequestReply{Number: b.Request.Number, Key: key, ReplyTo: c.ID, Body: a.Body()}}, true
}
