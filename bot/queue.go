package bot

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
)

// Queue lists guidance, newest first: in use, waiting, with a result, or
// expired and still renewable.
func Queue(s loop.State, now time.Time) Message {
	use, wait, sticky := guidanceCount(s)
	rest := fmt.Sprintf("%d wait, %d in use", wait, use)
	if sticky > 0 {
		rest += fmt.Sprintf(", %d sticky", sticky)
	}
	if use+wait+sticky == 0 {
		rest = "no guidance waits"
	}
	m := newMessage("queue", firstLine(SignLater, s.Project.Name+":", rest, ""))
	items := s.Project.Guidance.Items
	for n := len(items) - 1; n >= 0; n-- {
		i := items[n]
		words := Cut(Foreign(i.Text), 40) + OriginOf(i)
		switch {
		case i.State == guidance.Dropped, i.Bound == "-":
		case i.State == guidance.Expired:
			if now.Sub(i.At) < 2*guidance.Lifetime {
				m.add(SignAway + " " + i.ID + " " + words + " · expired")
				m.button("Keep "+i.ID, i.ID+" keep")
			}
		case i.Sticky:
			m.add(SignLater + " " + i.ID + " " + words + " · sticky" + heldUp(s, i))
			m.button("Drop "+i.ID, "/drop "+i.ID)
		case i.State == guidance.Queued:
			m.add(SignLater + " " + i.ID + " " + words + addressee(i) + heldUp(s, i))
			m.button("Drop "+i.ID, "/drop "+i.ID)
		case i.State == guidance.Injected:
			m.add(SignNow + " " + i.ID + " " + words + " · " + holder(s, i))
		case i.Judged != nil && !i.Judged.Followed:
			m.add(SignFailed + " " + i.ID + " " + words + " · not followed")
		case i.State == guidance.SetAside:
			m.add(SignAway + " " + i.ID + " " + words + " · set aside")
		case i.State == guidance.NotReported:
			m.add(SignLook + " " + i.ID + " " + words + " · not reported")
		default:
			m.add(SignDone + " " + i.ID + " " + words + " · addressed" + judgedFollowed(i))
		}
	}
	if len(waitingGuidance(s)) > 1 {
		m.button("Drop all", "/drop all")
	}
	if len(m.Lines) == 1 {
		m.add("Type /guidance TEXT for the next session that may write.")
	}
	return m
}

// heldUp says why the next session does not take an item: " · rests", or " · no
// room beside g1 g2".
func heldUp(s loop.State, i guidance.Item) string {
	f := loop.Forecast(s, i)
	switch {
	case f.Rests && f.Request != 0:
		return " · rests until a run works on the branch of " + requestName(f.Request)
	case f.Rests && f.Task == "":
		return " · rests until " + Clean(f.Source) + " runs"
	case f.Rests:
		return " · rests until it is in " + Clean(f.Source)
	case f.Before != "":
		return " · no room beside " + f.Before
	}
	return ""
}

// holder returns the task and hat of the session that works with a guidance
// item: "#7 builder".
func holder(s loop.State, i guidance.Item) string {
	who := shortID(taskOf(i))
	if x, ok := s.Project.Session(i.Session); ok {
		return strings.TrimSpace(orElse(who, shortID(x.Task)) + " " + Cut(Clean(x.Planned.Hat), 16))
	}
	return orElse(who, Clean(i.Session))
}

func judgedFollowed(i guidance.Item) string {
	if i.Judged == nil {
		return ""
	}
	return ", followed"
}

func addressee(i guidance.Item) string {
	out := ""
	if i.Task != "" {
		out += " · for " + shortID(i.Task)
	}
	if i.Hat != "" {
		out += " · for " + Cut(Foreign(i.Hat), 16)
	}
	return out
}
