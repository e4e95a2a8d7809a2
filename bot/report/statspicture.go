package report

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/stats"
)

// Stats is what the picture of a project's figures shows.
type Stats struct {
	Project string
	stats.Report
}

// Limits of the picture; what is beyond them is counted.
const (
	maxStatsRows = 6
	maxStatsBars = 31 // days side by side; more of them are drawn by week
)

// Heights of its parts in pixels.
const (
	statsRowHeight = 78.0
	statsBarHeight = 14.0
	statsChart     = 220.0
	legendHeight   = 46.0

	statsLineHeight = 40.0 // of a line below the tiles
	statsMoreLines  = 2    // of them, beside the first
	sectionGap      = 18.0
)

// statsPicture is the state of one drawing of figures. y is the vertical position of the
// next element.
type statsPicture struct {
	Stats
	*canvas
	y float64
}

// StatsPicture returns figures as a PNG: number tiles, the tasks of each day, and rows
// for hats, agents, models and sizes.
func StatsPicture(s Stats, dark bool) ([]byte, error) {
	look := lightPalette()
	if dark {
		look = darkPalette()
	}
	c, err := newCanvas(width, int(s.height()), look)
	if err != nil {
		return nil, err
	}
	p := &statsPicture{Stats: s, canvas: c}
	p.drawTitle()
	p.drawTiles()
	p.drawDays()
	for _, by := range s.sections() {
		p.drawSection(by)
	}
	return c.encodeSmall()
}

// sections are what the picture tells the figures apart by: hats always, the others where
// there are several.
func (s Stats) sections() []stats.By {
	var out []stats.By
	for _, by := range stats.Kinds() {
		if n := len(s.By[by]); n > 1 || n > 0 && by == stats.ByHat {
			out = append(out, by)
		}
	}
	return out
}

func (s Stats) height() float64 {
	h := margin/2 + titleH + tilesH + statsMoreLines*statsLineHeight
	if bars, _ := s.bars(); len(bars) > 1 {
		h += headingHeight + statsChart + legendHeight + 24 + sectionGap
	}
	for _, by := range s.sections() {
		n := min(len(s.By[by]), maxStatsRows)
		h += headingHeight + float64(n)*statsRowHeight + sectionGap
		if len(s.By[by]) > maxStatsRows {
			h += noteHeight
		}
	}
	return h + margin/2
}

func (p *statsPicture) heading(text, note string) {
	p.drawText(text, margin, p.y+42, 0, style{34, true}, p.text)
	p.drawText(note, right, p.y+42, 1, style{smallText, false}, p.faint)
	p.y += headingHeight
}

func (p *statsPicture) drawTitle() {
	p.y = margin + 58
	s := style{normalText, false}
	note := "all figures"
	if p.Since != (stats.Since{}) {
		note = bot.StatsSpan(stats.Report{Since: p.Since, Run: p.Run})
	}
	p.drawText(note, right, p.y, 1, s, p.faint)
	big := style{60, true}
	p.drawText(p.truncate(bot.Clean(p.Project), innerWidth-p.textWidth(note, s)-32, big), margin, p.y, 0, big, p.text)
	p.y += 52
	line := plural(p.All.Sessions, "session") + " · " + costBrief(p.All) + " in all"
	if days := len(p.Days); days > 0 {
		first, last := p.Days[0].Date, p.Days[days-1].Date
		span := first.Format("Mon 2 Jan 2006")
		if !first.Equal(last) {
			form := "2 Jan"
			if first.Year() != last.Year() {
				form = "2 Jan 2006"
			}
			span = first.Format(form) + " – " + last.Format("2 Jan 2006")
		}
		line = span + " · " + line
	}
	p.drawText(p.truncate(line, innerWidth, style{30, false}), margin, p.y, 0, style{30, false}, p.soft)
	p.y = margin/2 + titleH + 8
}

// costBrief is what sessions cost, without the number of unpriced ones.
func costBrief(f stats.Figures) string {
	if f.Unpriced > 0 && f.Unpriced < f.Sessions {
		money, _, _ := strings.Cut(bot.StatsCost(f), " (")
		return money
	}
	if f.Unpriced > 0 {
		return "cost unknown"
	}
	return bot.StatsCost(f)
}

// rateTile is a part as a tile: in percent, and of few things in numbers.
func rateTile(n, of int, what string, col color.Color) tile {
	text := bot.Rate(n, of)
	if _, percent, ok := strings.Cut(text, "("); ok {
		text = strings.TrimSuffix(percent, ")")
	}
	return tile{text, what, col}
}

func (p *statsPicture) drawTiles() {
	f := p.All
	mean, of := f.TokensASession()
	tokens := "unknown"
	if of > 0 {
		tokens = bot.Tokens(mean)
	}
	p.tiles(p.y, []tile{
		rateTile(f.Done, f.Finished, "done", p.green),
		rateTile(f.FirstPass, f.Done, "first pass", p.blue),
		rateTile(f.Contradicted, f.Judged, "contradict", p.red),
		{bot.TaskCost(f), "a task", p.amber},
		{tokens, "tokens a session", p.violet},
	})
	p.y += tileHeight + 8
	tasks := []string{"no task over"}
	if f.Finished > 0 {
		tasks = []string{fmt.Sprintf("%d of %d tasks done", f.Done, f.Finished), fmt.Sprintf("%d at the first pass", f.FirstPass)}
	}
	if f.Failed > 0 {
		tasks = append(tasks, plural(f.Failed, "failed session"))
	}
	p.line(tasks)
	reviews := []string{bot.ReviewsText(f), strings.ToLower(bot.ContradictionsText(f)[:1]) + bot.ContradictionsText(f)[1:]}
	if of > 0 && of < f.Sessions {
		reviews = append(reviews, "tokens of "+plural(of, "session"))
	}
	p.line(reviews)
	p.line(sessionGiven(f))
	p.y += tilesH - tileHeight - 8 - statsLineHeight
}

// line draws a line of text and moves below it.
func (p *statsPicture) line(parts []string) {
	text := strings.Join(parts, "  ·  ")
	s := p.shrinkToFit(text, innerWidth, style{normalText, false}, 22)
	p.drawText(p.truncate(text, innerWidth, s), margin, p.y+40, 0, s, p.soft)
	p.y += statsLineHeight
}

// statsBar is the tasks that were finished from a day on.
type statsBar struct {
	from time.Time
	stats.Figures
}

// bars returns a bar for each day from the first to the last that has figures, or for each
// week where those are too many. Weeks before the last maxStatsBars are left out.
func (s Stats) bars() (bars []statsBar, weeks bool) {
	if len(s.Days) == 0 {
		return nil, false
	}
	y, m, d := s.Days[0].Date.Date()
	last := s.Days[len(s.Days)-1].Date
	step := 1
	if last.Sub(s.Days[0].Date) > (maxStatsBars-1)*24*time.Hour+12*time.Hour {
		step, weeks = 7, true
		d -= (int(s.Days[0].Date.Weekday()) + 6) % 7 // Mondays
	}
	next := 0
	for n := 0; ; n++ {
		from := time.Date(y, m, d+n*step, 0, 0, 0, 0, last.Location())
		if from.After(last) {
			break
		}
		until := time.Date(y, m, d+(n+1)*step, 0, 0, 0, 0, last.Location())
		b := statsBar{from: from}
		for next < len(s.Days) && s.Days[next].Date.Before(until) {
			b.Figures = b.Plus(s.Days[next].Figures)
			next++
		}
		bars = append(bars, b)
	}
	return bars[max(len(bars)-maxStatsBars, 0):], weeks
}

// drawDays draws a bar of the finished tasks for each day.
func (p *statsPicture) drawDays() {
	bars, weeks := p.bars()
	if len(bars) < 2 {
		return
	}
	title, note := "Tasks by day", ""
	if weeks {
		title = "Tasks by week"
	}
	if first := bars[0].from; first.After(p.Days[0].Date) {
		note = "since " + first.Format("2 Jan 2006")
	}
	p.heading(title, note)
	most := 1
	for _, b := range bars {
		most = max(most, b.Finished)
	}
	const axisWidth = 60.0
	x0, bottom := margin+axisWidth, p.y+statsChart
	yOf := func(n int) float64 { return bottom - float64(n)/float64(most)*(statsChart-12) }
	s := style{smallText, false}
	for _, n := range gridLevels(most) {
		p.drawLine(x0, yOf(n), right, yOf(n), 2, p.grid)
		p.drawText(fmt.Sprint(n), x0-16, yOf(n)+9, 1, s, p.faint)
	}
	slot := (right - x0) / float64(len(bars))
	w := min(slot*0.7, 64)
	labels := max(1, (len(bars)+5)/6) // at most six of them
	for n, b := range bars {
		x := x0 + slot*(float64(n)+0.5)
		from := 0
		for _, part := range p.outcomes(b.Figures) {
			if part.n > 0 {
				p.SetColor(part.col)
				p.DrawRectangle(x-w/2, yOf(from+part.n), w, yOf(from)-yOf(from+part.n))
				p.Fill()
				from += part.n
			}
		}
		if n%labels == 0 {
			text := b.from.Format("2 Jan")
			p.drawText(text, min(x, right-p.textWidth(text, s)/2), bottom+32, 0.5, s, p.faint)
		}
	}
	p.y = bottom + 40
	p.legend()
	p.y += sectionGap
}

// outcomes are the finished tasks of figures in their colours.
func (p *statsPicture) outcomes(f stats.Figures) []mark {
	return []mark{{f.FirstPass, p.green}, {f.Done - f.FirstPass, p.blue}, {f.Finished - f.Done, p.red}}
}

func (p *statsPicture) legend() {
	s := style{smallText, false}
	x := margin + 60
	for n, text := range []string{"first pass", "done later", "blocked"} {
		col := []color.Color{p.green, p.blue, p.red}[n]
		p.fillBox(x, p.y+12, 20, 20, 5, col)
		p.drawText(text, x+30, p.y+31, 0, s, p.soft)
		x += 30 + p.textWidth(text, s) + 36
	}
	p.y += legendHeight
}

// drawSection draws a row for each hat, agent, model or size. The bar of a hat is its
// part of the cost, or of the sessions where a cost is unknown; any other one is its part
// of the finished tasks.
func (p *statsPicture) drawSection(by stats.By) {
	title := map[stats.By]string{stats.ByHat: "Hats", stats.ByAgent: "Agents", stats.ByModel: "Models", stats.BySize: "Size of tasks"}[by]
	note := "green first pass, blue later, red blocked"
	weight := func(f stats.Figures) float64 { return float64(f.Finished) }
	if by == stats.ByHat {
		note = "part of the cost"
		weight = func(f stats.Figures) float64 { return f.USD }
		if p.All.Unpriced > 0 || p.All.USD == 0 {
			note = "part of the sessions"
			weight = func(f stats.Figures) float64 { return float64(f.Sessions) }
		}
	}
	p.heading(title, note)
	rows, all := p.By[by], weight(p.All)
	bold, s := style{normalText, true}, style{normalText, false}
	for n, r := range rows[:min(len(rows), maxStatsRows)] {
		const room = innerWidth * 0.72
		text := rowText(by, r.Figures)
		fit := p.shrinkToFit(text, room, s, 22)
		text = p.truncate(text, room, fit)
		name := p.truncate(bot.Clean(bot.PartName(by, r.Name)), innerWidth-p.textWidth(text, fit)-24, bold)
		p.drawText(name, margin, p.y+32, 0, bold, p.text)
		p.drawText(text, right, p.y+32, 1, fit, p.soft)
		p.fillBox(margin, p.y+44, innerWidth, statsBarHeight, 7, p.panel)
		whole := 0.0
		if all > 0 {
			whole = innerWidth * min(weight(r.Figures)/all, 1)
		}
		if by == stats.ByHat {
			col, _ := p.palette.hatColor(r.Name, n)
			p.fillBox(margin, p.y+44, whole, statsBarHeight, 7, col)
		} else {
			p.stack(margin, p.y+44, whole, p.outcomes(r.Figures))
		}
		p.y += statsRowHeight
	}
	if more := len(rows) - maxStatsRows; more > 0 {
		p.drawText(fmt.Sprintf("and %d more", more), margin, p.y+30, 0, s, p.soft)
		p.y += noteHeight
	}
	p.y += sectionGap
}

// stack draws parts side by side.
func (p *statsPicture) stack(x, y, w float64, parts []mark) {
	total := 0
	for _, m := range parts {
		total += m.n
	}
	for _, m := range parts {
		if m.n > 0 {
			part := w * float64(m.n) / float64(total)
			p.fillBox(x, y, max(part-2, 2), statsBarHeight, 4, m.col)
			x += part
		}
	}
}

// sessionTokens says how many tokens a session used.
func sessionTokens(f stats.Figures) string {
	mean, of := f.TokensASession()
	if of == 0 {
		return "Tokens unknown"
	}
	text := bot.Tokens(mean) + " tokens a session"
	if of < f.Sessions {
		text += fmt.Sprintf(", of %d that say it", of)
	}
	return text
}

// sessionGiven says how long the prompt of a session was, and how many tokens it read.
func sessionGiven(f stats.Figures) []string {
	prompt, sized := f.PromptASession()
	read, told := f.ReadASession()
	return []string{"Tokens given to a session " + bot.MeanText("≈", prompt, sized, f), "read " + bot.MeanText("", read, told, f)}
}

// rowText has the figures of a row.
func rowText(by stats.By, f stats.Figures) string {
	if by == stats.ByHat {
		text := plural(f.Sessions, "session") + " · " + costBrief(f)
		switch mean, of := f.TokensASession(); {
		case of == f.Sessions && of > 0:
			text += " · " + bot.Tokens(mean) + " tokens each"
		case of > 0:
			text += fmt.Sprintf(" · %s tokens (of %d)", bot.Tokens(mean), of)
		}
		if mean, of := f.PromptASession(); of == f.Sessions && of > 0 {
			text += " · given ≈" + bot.Tokens(mean)
		}
		return text
	}
	if f.Finished == 0 {
		return plural(f.Sessions, "session") + " · " + costBrief(f)
	}
	text := fmt.Sprintf("%d of %d done", f.Done, f.Finished)
	if f.Done > 0 {
		text += fmt.Sprintf(" · first pass %d", f.FirstPass)
	}
	if usd := bot.TaskCost(f); usd != "unknown" {
		return text + " · " + usd + " a task"
	}
	return text + " · cost a task unknown"
}

// StatsAlt returns the picture's content as text of at most bot.MaxAlt characters.
func StatsAlt(s Stats) string {
	f := s.All
	parts := []string{
		fmt.Sprintf("Figures of %s, %s: %s, %s in all.", bot.Clean(s.Project), bot.StatsSpan(s.Report), plural(f.Sessions, "session"), costBrief(f)),
		fmt.Sprintf("Tasks done %s. First pass %s. %s. %s.", bot.Rate(f.Done, f.Finished), bot.Rate(f.FirstPass, f.Done), bot.ReviewsText(f), bot.ContradictionsText(f)),
		fmt.Sprintf("Cost a task %s. %s. %s.", bot.TaskCost(f), sessionTokens(f), strings.Join(sessionGiven(f), ", ")),
	}
	for _, by := range s.sections() {
		var rows []string
		for _, r := range s.By[by][:min(len(s.By[by]), maxStatsRows)] {
			rows = append(rows, bot.Clean(bot.PartName(by, r.Name))+" "+rowText(by, r.Figures))
		}
		parts = append(parts, "By "+string(by)+": "+strings.Join(rows, "; ")+".")
	}
	if bars, weeks := s.bars(); len(bars) > 1 {
		var days []string
		for _, b := range bars {
			if b.Finished > 0 {
				days = append(days, fmt.Sprintf("%s %d of %d", b.from.Format("2 Jan"), b.Done, b.Finished))
			}
		}
		word := "day"
		if weeks {
			word = "week"
		}
		parts = append(parts, "Done by "+word+": "+strings.Join(days, ", ")+".")
	}
	return bot.Cut(strings.Join(parts, " "), bot.MaxAlt)
}
