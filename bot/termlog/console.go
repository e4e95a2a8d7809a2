package termlog

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Options say how lines look.
type Options struct {
	Zone  *time.Location   // of the times; nil = local
	Color bool             // only for a terminal, and without NO_COLOR
	Demo  bool             // times count from Began; lines as the demo has them
	Began time.Time        // of the demo
	Width int              // columns; 0 = 80. Commands and paths are never cut
	Now   func() time.Time // for lines that no entry causes; nil = time.Now
}

// defaultWidth is for pipes and terminals that do not say.
const defaultWidth = 80

// Console prints one project's entries. It is safe for concurrent use.
type Console struct {
	opt Options

	mu       sync.Mutex
	w        io.Writer
	held     map[string]*session              // finished sessions whose line is not out yet, by folded task
	running  map[string]*session              // agent sessions in flight that it saw something of
	spent    map[string]*purse                // by folded task
	commits  map[string]string                // of the attempt in hand, by folded task
	causes   []string                         // inputs whose entries were printed, newest last
	priced   bool                             // an agent of this run says what it costs
	taught   bool                             // the sentence about claims is out
	pre      bool                             // the line about preflight is out
	asked    map[string]bool                  // questions that are out
	unusable map[string]bool                  // agents
	sticky   map[string]bool                  // guidance of every session, told once
	outcomes map[string]ledger.AttemptOutcome // of the attempt that ended last, by folded task
}

// purse is what one task has cost as far as this console saw.
type purse struct {
	usd     float64
	unknown bool
}

// New returns a console that writes to w.
func New(w io.Writer, opt Options) *Console {
	if opt.Zone == nil {
		opt.Zone = time.Local
	}
	if opt.Width < 40 {
		opt.Width = defaultWidth
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Console{
		opt: opt, w: w, held: map[string]*session{}, running: map[string]*session{}, spent: map[string]*purse{},
		commits: map[string]string{}, asked: map[string]bool{}, unusable: map[string]bool{}, sticky: map[string]bool{},
		outcomes: map[string]ledger.AttemptOutcome{},
	}
}

// Entry prints what one committed entry means to the person who watches.
// before and after are the states around it. Entries come in the order in
// which they were committed; many print nothing.
func (c *Console) Entry(before, after loop.State, e ledger.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entry(view{before: before, after: after, e: e, at: e.Time})
}

// view is one entry with the states around it.
type view struct {
	before, after loop.State
	e             ledger.Entry
	at            time.Time
}

// run is the run after the entry; never nil, so that any order of entries
// can be shown.
func (v view) run() loop.Run {
	if r := v.after.Project.Run; r != nil {
		return *r
	}
	return loop.Run{}
}

// Echo prints a command that was typed where nobody saw it: by the demo, or
// into a pipe. by says by whom, "" for nobody in particular.
func (c *Console) Echo(text, by string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := "> " + bot.Clean(text)
	if by != "" {
		line = bot.Pad(line, c.room()-bot.Width(by)-4, 3) + "(" + bot.Clean(by) + ")"
	}
	c.flush(c.opt.Now())
	c.whole(c.opt.Now(), line)
}

// Reply prints the answer to a typed command. An answer whose entries were
// printed already is left out.
func (c *Console) Reply(m bot.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(m.Lines) == 0 || (m.Cause != "" && c.caused(m.Cause)) {
		return
	}
	now := c.opt.Now()
	c.flush(now)
	const most = 400 // lines; a longer diff is for a pager
	lines := strings.Split(m.Text(c.room()), "\n")
	for n, line := range lines {
		switch {
		case n == 0:
			c.whole(now, line)
		case n == most:
			c.more(fmt.Sprintf("and %d more lines", len(lines)-most))
			return
		default:
			c.more(line)
		}
	}
}

// Note prints lines of ours that no entry causes. The first one bears the
// time; none is cut.
func (c *Console) Note(lines ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.opt.Now()
	c.flush(now)
	for n, line := range lines {
		if n == 0 {
			c.whole(now, bot.CleanPre(line))
			continue
		}
		c.more(bot.CleanPre(line))
	}
}

// room is how many columns a line has behind its time.
func (c *Console) room() int { return c.opt.Width - len(c.indent()) }

func (c *Console) indent() string {
	if c.opt.Demo {
		return "       "
	}
	return "          "
}

func (c *Console) clock(t time.Time) string {
	if c.opt.Demo {
		s := max(int(t.Sub(c.opt.Began).Seconds()), 0)
		return fmt.Sprintf("%5s  ", fmt.Sprintf("%d:%02d", s/60, s%60))
	}
	return t.In(c.opt.Zone).Format("15:04:05") + "  "
}

// line prints one line with its time, cut to the width.
func (c *Console) line(t time.Time, text string) { c.whole(t, bot.Cut(text, c.room())) }

// whole prints one line with its time, however long.
func (c *Console) whole(t time.Time, text string) { c.put(c.clock(t), text) }

// more prints a line that goes on with the one before.
func (c *Console) more(text string) { c.put(c.indent(), text) }

// wrapped prints text under the line before, broken at the width.
func (c *Console) wrapped(text string) {
	for _, part := range bot.Wrap(bot.Clean(text), c.room()) {
		c.more(part)
	}
}

// put writes a line. A terminal that cannot be written to must not end a
// night, so a failed write is nothing to act on.
func (c *Console) put(head, text string) {
	text = strings.TrimRight(text, " ")
	if c.opt.Color {
		head, text = dim+head+plain, paint(text)
	}
	_, _ = io.WriteString(c.w, head+text+"\n")
}

// Colours of a sixteen-colour terminal, which its owner has chosen.
const (
	plain  = "\x1b[0m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
)

var signColor = map[string]string{
	bot.SignDone: green, bot.SignFailed: red, bot.SignBlocked: red, bot.SignAsk: yellow, bot.SignLook: yellow,
	bot.SignNow: cyan, bot.SignLater: dim, bot.SignPaused: yellow, bot.SignAway: dim, bot.SignAgain: cyan,
}

// painted finds a sign at the beginning of a line, and that of a verification.
var painted = regexp.MustCompile(`^[` + bot.Signs + `] |  verify [✓✗]`)

func paint(text string) string {
	return painted.ReplaceAllStringFunc(text, func(m string) string {
		for sign, color := range signColor {
			if at := strings.Index(m, sign); at >= 0 {
				return m[:at] + color + sign + plain + m[at+len(sign):]
			}
		}
		return m
	})
}

// maxCauses is how many inputs are remembered: only those whose answer is
// still under way matter.
const maxCauses = 64

func (c *Console) told(cause string) {
	if cause == "" || c.caused(cause) {
		return
	}
	if c.causes = append(c.causes, cause); len(c.causes) > maxCauses {
		c.causes = c.causes[1:]
	}
}

func (c *Console) caused(cause string) bool {
	for _, k := range c.causes {
		if k == cause {
			return true
		}
	}
	return false
}
