package termlog

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Options configure a Console. The zero value is usable.
type Options struct {
	Zone  *time.Location   // time zone of the times; nil = local
	Color bool             // use colours; only for a terminal, and only if NO_COLOR is not set
	Demo  bool             // count times from Began, and print the demo's lines
	Began time.Time        // start of the demo
	Width int              // columns; 0 = 80. Commands and paths are never cut
	Most  int              // sessions that the configuration allows at a time; 0 = any number
	Now   func() time.Time // clock for lines without an entry; nil = time.Now
}

// defaultWidth is the width for pipes and for terminals that do not tell theirs.
const defaultWidth = 80

// Console prints one project's entries. It is safe for concurrent use.
type Console struct {
	opt Options

	mu              sync.Mutex
	w               io.Writer
	held            map[string]*session              // finished sessions whose line is not printed yet, by folded task
	running         map[string]*session              // running agent sessions
	spent           map[string]*taskCost             // by folded task
	commits         map[string]string                // of the current attempt, by folded task
	causes          []string                         // keys of inputs whose entries were printed, newest last
	lanes           int                              // of the run
	costsKnown      bool                             // an agent of this run reports costs
	claimsExplained bool                             // the sentence about claims was printed already
	preflightShown  bool                             // the line about preflight was printed already
	asked           map[string]bool                  // questions that were printed
	unusable        map[string]bool                  // agents
	sticky          map[string]bool                  // sticky guidance, printed once
	outcomes        map[string]ledger.AttemptOutcome // outcome of the last attempt, by folded task
}

// taskCost is the cost of one task, from the entries that this Console has
// seen.
type taskCost struct {
	usd     float64
	unknown bool
	about   bool // usd has costs that are estimated, or computed from tokens
}

// New returns a Console that writes to w.
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
		opt: opt, w: w, held: map[string]*session{}, running: map[string]*session{}, spent: map[string]*taskCost{},
		commits: map[string]string{}, asked: map[string]bool{}, unusable: map[string]bool{}, sticky: map[string]bool{},
		outcomes: map[string]ledger.AttemptOutcome{},
	}
}

// view is one entry with the states before and after it.
type view struct {
	before, after loop.State
	e             ledger.Entry
	at            time.Time
}

// run returns the run after the entry, or the zero Run without one, so that
// entries can be shown in any order.
func (v view) run() loop.Run {
	if r := v.after.Project.Run; r != nil {
		return *r
	}
	return loop.Run{}
}

// Echo prints a command whose typing the terminal did not show, from the demo
// or a pipe. by names the person, or is "".
func (c *Console) Echo(text, by string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := "> " + bot.Clean(text)
	if by != "" {
		line = bot.Pad(line, c.restWidth()-bot.Width(by)-4, 3) + "(" + bot.Clean(by) + ")"
	}
	c.flush(c.opt.Now())
	c.uncut(c.opt.Now(), line)
}

// Reply prints the reply to a typed command, unless its entries were printed
// already.
func (c *Console) Reply(m bot.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(m.Lines) == 0 || (m.Cause != "" && c.isKnownCause(m.Cause)) {
		return
	}
	now := c.opt.Now()
	c.flush(now)
	const most = 400 // maximum number of lines; a longer diff needs a pager
	lines := strings.Split(m.Text(c.restWidth()), "\n")
	for n, line := range lines {
		switch {
		case n == 0:
			c.uncut(now, line)
		case n == most:
			c.continuation(fmt.Sprintf("and %d more lines", len(lines)-most))
			return
		default:
			c.continuation(line)
		}
	}
}

// Note prints lines without an entry. The first one begins with the time; no
// line is cut.
func (c *Console) Note(lines ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.opt.Now()
	c.flush(now)
	for n, line := range lines {
		if n == 0 {
			c.uncut(now, bot.CleanPre(line))
			continue
		}
		c.continuation(bot.CleanPre(line))
	}
}

// restWidth returns the number of columns left in a line after its time.
func (c *Console) restWidth() int { return c.opt.Width - len(c.indent()) }

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
func (c *Console) line(t time.Time, text string) { c.uncut(t, bot.Cut(text, c.restWidth())) }

// uncut prints one line with its time, uncut.
func (c *Console) uncut(t time.Time, text string) { c.write(c.clock(t), text) }

// continuation prints a continuation of the previous line.
func (c *Console) continuation(text string) { c.write(c.indent(), text) }

// wrapped prints text below the previous line, broken at the width.
func (c *Console) wrapped(text string) {
	for _, part := range bot.Wrap(bot.Clean(text), c.restWidth()) {
		c.continuation(part)
	}
}

// write writes a line. It ignores errors: a terminal that cannot be written to
// must not end a run.
func (c *Console) write(head, text string) {
	text = strings.TrimRight(bot.AsWritten(text), " ")
	if c.opt.Color {
		head, text = bot.Dim(head), paint(text)
	}
	_, _ = io.WriteString(c.w, head+text+"\n")
}

// signPattern finds the sign at the beginning of a line, and the sign of a
// verification within it.
var signPattern = regexp.MustCompile(`^[` + bot.Signs + `] |  verify [✓✗]`)

func paint(text string) string {
	return signPattern.ReplaceAllStringFunc(text, func(m string) string {
		at := strings.IndexAny(m, bot.Signs)
		_, size := utf8.DecodeRuneInString(m[at:])
		return m[:at] + bot.ColorSign(m[at:at+size]) + m[at+size:]
	})
}

// maxCauses is the number of inputs remembered: only inputs whose reply is
// still to come matter.
const maxCauses = 64

func (c *Console) rememberCause(cause string) {
	if cause == "" || c.isKnownCause(cause) {
		return
	}
	if c.causes = append(c.causes, cause); len(c.causes) > maxCauses {
		c.causes = c.causes[1:]
	}
}

func (c *Console) isKnownCause(cause string) bool {
	for _, k := range c.causes {
		if k == cause {
			return true
		}
	}
	return false
}

// printEntry prints a line for an entry, and remembers the input that caused it.
func (c *Console) printEntry(v view, text string) {
	c.flush(v.at)
	c.rememberCause(v.e.Cause)
	c.line(v.at, text)
}

// printWrapped is printEntry for a text that must be read in full: it takes up to
// maxReasonLines lines before it is cut.
func (c *Console) printWrapped(v view, text string) {
	c.flush(v.at)
	c.rememberCause(v.e.Cause)
	parts := bot.Wrap(text, c.restWidth())
	if len(parts) > maxReasonLines {
		rest := strings.Join(parts[maxReasonLines-1:], " ")
		parts = append(parts[:maxReasonLines-1], bot.Cut(rest, c.restWidth()))
	}
	for n, part := range parts {
		if n == 0 {
			c.uncut(v.at, part)
			continue
		}
		c.continuation(part)
	}
}

// maxReasonLines is the number of lines that a reason may take. Agents,
// programs and people write reasons, and one of them must not fill the screen.
const maxReasonLines = 4

func sortedKeys(m map[string]*session) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (c *Console) id(task string) string { return bot.Cut(bot.Clean(ledger.ShortID(task)), 20) }

// session is one agent session until its line is printed. The line waits for
// the verification, so that it shows both the agent's claim and the result.
type session struct {
	id, task, hat string
	event         ledger.EventAccepted
	stall, wall   time.Duration // time limits
	ended         ledger.SessionEnded
	taken         *ledger.Capture
	verify        string // "verify ✓ go test 38 s"
	red           bool
	then          string // the route: "→ fixer"
	reports       []ledger.GuidanceReported
	ready         bool // the event is routed; only guidance for the next session can still be added
}
