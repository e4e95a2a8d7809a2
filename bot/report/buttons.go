package report

import "github.com/nightporter/nightporter/bot"

const (
	maxButtons    = 9 // three rows of three
	fullQuestions = 2 // with more questions, each question gets fewer buttons
)

// addButtons adds the obvious next steps, the most urgent first, to m.
func (f Facts) addButtons(m *bot.Message) {
	add := func(b bot.Button) {
		if b.Label = bot.Cut(bot.Clean(b.Label), bot.LabelWidth); len(m.Buttons) < maxButtons {
			m.Buttons = append(m.Buttons, b)
		}
	}
	press := func(label, twin string) { add(bot.Button{Label: label, Command: twin}) }
	asked := 0
	for _, n := range f.Needs {
		if n.Question.ID != "" {
			asked++
		}
	}
	for _, n := range f.Needs {
		switch {
		case n.BlocksRun && n.Sign != bot.SignPaused:
			press("Try now", "/resume")
		case n.BlocksRun:
			press("Resume", "/resume")
		case n.Question.ID == "" && n.Sign == bot.SignBlocked:
			add(bot.RetryButton(n.Task))
		case n.Question.ID != "" && len(m.Buttons) < maxButtons-2:
			for _, b := range bot.DigestButtons(n.Question, asked <= fullQuestions) {
				add(b)
			}
		}
	}
	if f.merge.Label != "" {
		add(f.merge)
	}
	if f.kept > 1 {
		press("Each task", "/each")
	}
	if f.Branch != "" {
		press("Diff", "/diff")
	}
	switch {
	case f.Live && len(f.Needs) == 0:
		press("Status", "/status")
	case !f.Live && len(f.Needs) == 0 && f.canStart:
		press("Start", "/run "+f.Project)
	}
	if f.Total > 0 && !f.Quiet() {
		press("Tasks", "/tasks")
	}
	for _, n := range f.Needs { // looking comes after deciding, as far as there is room
		if why := bot.WhyCommand(n.Question); why != "" {
			press("Why "+shortID(n.Task), why)
		}
	}
}
