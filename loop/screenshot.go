package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// unpictured reports whether pictures have to be taken before the attempt is committed:
// somebody is going to look at the result, or its review was about how it looks
// (docs/spec 8.5).
func (d *decision) unpictured(t TaskState) bool {
	r := d.run()
	s := r.Settings.Screenshot
	if s == nil || s.Command == "" && r.Base.NoBrowser || d.pictured(t) {
		return false
	}
	_, passes := t.review()
	return t.looked() || slices.Contains(passes, ledger.PassVisual)
}

// pictured reports whether the pictures of the task are those of its attempt as it is
// now, or were tried.
func (d *decision) pictured(t TaskState) bool {
	p := t.Pictured
	return p != nil && p.Start.Tree == t.Attempt.Base && p.Result.Tree == t.Attempt.Tree
}

// shoot takes the next picture of an attempt: of its start, then of its tree. Each is
// taken in a room of its own, as a check that nothing depends on.
func (d *decision) shoot(t TaskState) {
	s, w := d.run().Settings, t.Attempt
	tree := w.Base
	if p := t.Pictured; p != nil && p.Start.Tree == w.Base {
		tree = w.Tree
	}
	about := scope{task: t.Task.ID, session: w.Session}
	d.add(about, newCheck(s, ledger.KindShot, tree, false, []ledger.Command{shotCommand(*s.Screenshot)}))
	d.nextCheck(about, true)
}

// picturedTip reports whether the pictures of a task without an attempt are those of the run's
// start and of its branch as it is now, or were tried.
func (d *decision) picturedTip(t TaskState) bool {
	start, tip := d.run().ends()
	p := t.Pictured
	return p != nil && p.Start.Tree == start && p.Result.Tree == tip
}

// ends returns the commits that the run began on and has arrived at.
func (r *Run) ends() (start, tip string) { return r.Base.Commit, cmp.Or(r.Tip, r.Base.Commit) }

// shootForPerson takes the next picture for a task that no agent works on, before a
// person is asked to look at it: of the run's start, then of its branch. It reports
// whether it did something. Tasks that are asked about one after the other share theirs.
func (d *decision) shootForPerson() bool {
	r := d.run()
	s := r.Settings.Screenshot
	if s == nil || s.Command == "" && r.Base.NoBrowser {
		return false
	}
	t, ok := d.nextForPerson()
	if !ok {
		return false
	}
	start, tip := r.ends()
	about := scope{task: t.Task.ID}
	for _, o := range d.Project.Tasks.All() {
		if o.Task.ID != t.Task.ID && d.picturedTip(*o) {
			d.add(about, ledger.TaskPictured{Pictured: *o.Pictured})
			return true
		}
	}
	p := t.Pictured
	if start == tip && (p == nil || p.Start.Tree != start) {
		d.add(about, ledger.TaskPictured{Pictured: ledger.Pictured{Start: ledger.Shot{Tree: start, Why: "nothing was done before it"}}})
		return true
	}
	tree := start
	if p != nil && p.Start.Tree == start {
		tree = tip
	}
	c := newCheck(r.Settings, ledger.KindShot, tree, false, []ledger.Command{shotCommand(*s)})
	c.For = t.Task.ID
	d.add(scope{}, c)
	d.nextCheck(scope{}, true)
	return true
}

// nextForPerson returns the first task of which pick asks a person now, and that lacks
// its pictures.
func (d *decision) nextForPerson() (TaskState, bool) {
	asks := func(t *TaskState) bool { return d.wanted(t) && !d.yields(t) && !d.picturedTip(*t) }
	for _, t := range d.Project.Tasks.of(setToCheck) {
		if asks(t) {
			return *t, true
		}
	}
	if _, chosen := d.chosen(); chosen {
		return TaskState{}, false
	}
	for _, t := range d.byTurn(setReady, setBlocked) {
		if !d.wanted(t) || d.yields(t) || !d.inWave(t) {
			continue
		}
		if t.Status != ledger.Ready || t.wish() != ledger.MarkManualVerify {
			return TaskState{}, false
		}
		if asks(t) {
			return *t, true
		}
	}
	return TaskState{}, false
}

// shotForPerson records the picture of one commit for a task without an attempt.
func (d *decision) shotForPerson(c Checks, is ledger.Shot) {
	p := ledger.Pictured{Start: is}
	start, tip := d.run().ends()
	if t, ok := d.task(c.For); ok && t.Pictured != nil && t.Pictured.Start.Tree == start && c.Tree == tip {
		p = ledger.Compare(t.Pictured.Start, is)
	}
	d.add(scope{task: c.For}, ledger.TaskPictured{Pictured: p})
}

// shot records the picture of one tree and goes on with the attempt. A picture that
// could not be taken holds up nobody.
func (d *decision) shot(about scope, c Checks) {
	t, ok := d.task(about.task)
	if c.For == "" && (!ok || t.Attempt == nil) {
		return
	}
	is := ledger.Shot{Tree: c.Tree, Why: "its command did not run"}
	if n := len(c.Results); n > 0 {
		last := c.Results[n-1]
		is.Picture, is.Why = last.Picture, ""
		switch {
		case last.Setup:
			is.Picture, is.Why = nil, "setup failed"
		case is.Picture == nil:
			is.Why = noPicture(last)
		}
	}
	if c.For != "" {
		d.shotForPerson(c, is)
		return
	}
	p := ledger.Pictured{Start: is}
	if c.Tree == t.Attempt.Tree && t.Pictured != nil {
		p = ledger.Compare(t.Pictured.Start, is)
	}
	d.add(about, ledger.TaskPictured{Pictured: p})
	t, _ = d.task(about.task)
	d.converge(t)
}

// noPicture says why a command left no picture: by what it printed if it failed.
func noPicture(res ledger.Result) string {
	line := lastLine(res.Tail)
	switch {
	case res.Exit > 0 && line != "":
		return fmt.Sprintf("exit %d: %s", res.Exit, line)
	case res.Why != "":
		return firstLine(res.Why)
	}
	return fmt.Sprintf("exit %d, and no picture", res.Exit)
}

// lastLine returns the last line of a text that has something in it.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// browsers are the programs that take pictures, in the order in which they are looked
// for on PATH.
var browsers = []string{"chromium", "chromium-browser", "google-chrome"}

// LacksBrowser returns what is said once where pictures need a Chromium and none is
// installed. It keeps no run from starting.
func LacksBrowser(s ledger.Settings, installed func(program string) bool) (f ledger.Diagnostic, lacking bool) {
	if s.Screenshot == nil || s.Screenshot.Command != "" || slices.ContainsFunc(browsers, installed) {
		return f, false
	}
	return ledger.Diagnostic{
		Text:   "no pictures are taken: screenshot needs Chromium, and there is no " + strings.Join(browsers[:len(browsers)-1], ", ") + " or " + browsers[len(browsers)-1] + " on PATH",
		Remedy: `Install one, or set screenshot = {command = "…"} to a command that writes a PNG to $` + ledger.EnvScreenshot,
	}, true
}

// shotGrace is how much longer than its page may take the command of a picture lives:
// Chromium has to start, too.
const shotGrace = time.Minute

// shotCommand returns the command that takes a picture.
func shotCommand(s ledger.Screenshot) ledger.Command {
	wait := s.Wait.D()
	if wait == 0 {
		wait = ledger.DefaultScreenshotWait.D()
	}
	if s.Command != "" {
		return ledger.Command{Run: s.Command, Timeout: ledger.Duration(wait)}
	}
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	script := strings.NewReplacer("BROWSERS", strings.Join(browsers, " "), "URL", quote(s.URL), "RUN", quote(s.Run), "SECONDS", fmt.Sprint(int(wait.Seconds()))).Replace(shotScript)
	return ledger.Command{Run: script, Timeout: ledger.Duration(wait + shotGrace)}
}

// shotScript serves the page and has Chromium take its picture. Chromium prints nothing
// of a page that it cannot load, so what it prints says whether the server answers; the
// first look is before the server runs, because another one at the same address, such
// as that of the person's own checkout, would look like the result. Chromium makes a
// socket in TMPDIR, whose path would be too long if it was not relative. Chromium's own
// sandbox needs rights that a session does not have; the session is shut in already.
// Chromium's own hosts are not found and not asked of the proxy, which would ask people
// for them: no flag turns all of its updates off.
const shotScript = `# screenshot
url=URL run=RUN
tmp=$TMPDIR
for b in BROWSERS ''; do
  command -v "$b" >/dev/null && break
done
[ -n "$b" ] || { echo "there is no Chromium on PATH"; exit 127; }
own=update.googleapis.com,optimizationguide-pa.googleapis.com,safebrowsing.googleapis.com,content-autofill.googleapis.com
own=$own,clients2.google.com,accounts.google.com,android.clients.google.com,mtalk.google.com,redirector.gvt1.com,edgedl.me.gvt1.com
look() {
  cd "$tmp" && TMPDIR=. no_proxy="${no_proxy:-},$own" NO_PROXY="${NO_PROXY:-},$own" "$b" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --disable-features=OptimizationHints,NetworkTimeServiceQuerying \
    --host-resolver-rules="MAP $(echo "$own" | sed 's/,/ ~NOTFOUND,MAP /g') ~NOTFOUND" \
    --user-data-dir="$tmp/chromium" --window-size=1280,800 --virtual-time-budget=5000 \
    --dump-dom --screenshot="$NIGHTPORTER_SCREENSHOT" "$url" 2>chromium.log
}
fail() {
  tail -n 5 "$tmp/chromium.log" "$tmp/serve.log"
  echo "$1"
  exit 1
}
: >"$tmp/serve.log"
[ -z "$(look)" ] || { rm -f "$NIGHTPORTER_SCREENSHOT"; echo "something else answers at its url"; exit 1; }
sh -c "$run" >"$tmp/serve.log" 2>&1 &
end=$(($(date +%s) + SECONDS))
until [ -n "$(look)" ]; do
  rm -f "$NIGHTPORTER_SCREENSHOT"
  kill -0 $! 2>/dev/null || fail "run ended before its url was answered"
  [ "$(date +%s)" -lt "$end" ] || fail "its url was not answered"
  sleep 0.5
done
kill $!
`
