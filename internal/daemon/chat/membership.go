package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// membersFor is how long a platform's answer about a member is trusted, as long as
// no question is asked.
const membersFor = time.Hour

// membershipAsked says when the platform was asked about a person, and which
// question was the newest then.
type membershipAsked struct {
	at       time.Time
	question string
}

// trackMembers asks the platform which people are in the groups of threads, until
// ctx ends: at once for a new person, thread or question, and every hour.
func (c *connection) trackMembers(ctx context.Context) {
	asked := map[string]membershipAsked{} // by thread and person
	hourly := time.NewTicker(membersFor)
	defer hourly.Stop()
	for ctx.Err() == nil {
		rung := c.hub.o.Changes.Next()
		if c.adapter.State().Connected {
			for _, pr := range c.hub.o.Catalog.Config().Projects {
				c.askMembers(ctx, pr, asked)
			}
		}
		select {
		case <-ctx.Done():
		case <-rung:
			_ = transport.Sleep(ctx, time.Second) // Changes signals often, and membership is not urgent
		case <-hourly.C:
		}
	}
}

// askMembers asks the platform about each person in the group of a project's
// thread of whom it was not asked for long, or not since the newest question, and
// notes the time in asked. Who left the group is asked the open questions in
// their own chat: who waits for the next hour may find them expired.
func (c *connection) askMembers(ctx context.Context, pr config.Project, asked map[string]membershipAsked) {
	h := c.hub
	thread := h.Threads.on(c.platform, pr)
	if thread == "" {
		return
	}
	question := h.newestQuestion(pr.Name)
	for _, who := range h.peopleOn(thread) {
		last := asked[thread+" "+who.ID]
		if time.Since(last.at) < membersFor-time.Minute && (question == "" || question == last.question) {
			continue
		}
		asked[thread+" "+who.ID] = membershipAsked{time.Now(), question}
		reads, err := c.adapter.Reads(ctx, thread, who.ID)
		if err != nil {
			h.o.Log.Debug("nobody says whether somebody is in a group", "chat", thread, "person", who.ID, "error", err)
		}
		if h.members.record(thread, who.ID, err == nil && !reads) {
			h.askPrivately(ctx, pr.Name, who)
		}
	}
}

// newestQuestion returns the id of a project's last open question, "" for none.
func (h *Hub) newestQuestion(project string) string {
	s, _ := h.o.Engine.State(project)
	if n := len(s.Project.Questions); n > 0 {
		return s.Project.Questions[n-1].ID
	}
	return ""
}

// askPrivately asks a person, in their own chat, those open questions of a project
// that it does not show.
func (h *Hub) askPrivately(ctx context.Context, project string, who ledger.Person) {
	s, _ := h.o.Engine.State(project)
	now := time.Now()
	for _, m := range h.notify.QuestionsFor(s, who, now) {
		if err := h.o.Engine.Say(ctx, fmt.Sprintf("left:%s:%s:%s", project, who.ID, m.Key), now, []ledger.Outgoing{m}, nil); err != nil && ctx.Err() == nil {
			h.o.Log.Error("ask in private", "project", project, "question", m.Key, "error", err)
		}
	}
}
