package bot

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxCommenters limits the items that CommentsLine names.
const maxCommenters = 3

// CommentsLine says what of the comments on a run's request is open: "PR 48: g12 by
// ann, 10 more wait, 2 by others". It returns "" if nothing is.
func CommentsLine(s loop.State, run string) string {
	b := s.Project.Requests.Branch(run)
	if b.Request == nil {
		return ""
	}
	var parts []string
	open := 0
	for _, i := range s.Project.Guidance.Items {
		if i.Origin == nil || i.Origin.Run != run || !i.Open() {
			continue
		}
		if open++; open <= maxCommenters {
			parts = append(parts, i.ID+" by "+Cut(Clean(i.By), 20))
		}
	}
	if more := open - maxCommenters; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	count := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	count(b.Count.Waiting, "wait there")
	count(b.Count.Others, "by others")
	count(b.Count.Unread, "not read")
	if len(parts) == 0 {
		return ""
	}
	return "Comments on " + requestName(b.Request.Number) + ": " + strings.Join(parts, ", ")
}

// CommentsWait reports that a request has more comments than become guidance at one
// time.
func CommentsWait(s loop.State, e ledger.CommentsSeen) Message {
	m := newMessage("comments", firstLine(SignLater, s.Project.Name, fmt.Sprintf("PR %d: %d comments wait", e.Number, e.Count.Waiting), ""))
	m.Project = s.Project.Name
	m.add(CommentsLine(s, e.Run))
	m.add("The others follow as these are settled.")
	return m
}

// ReplyRefused reports that a forge does not take replies to comments.
func ReplyRefused(s loop.State, e ledger.ReplyEnded) Message {
	m := newMessage("comments.mute", firstLine(SignLook, s.Project.Name, requestName(e.Number)+" takes no reply", ""))
	m.Project = s.Project.Name
	m.cause(Clean(e.Text), Clean(e.Remedy))
	m.add("Its comments are worked on all the same.")
	return m
}
