package forgetest

import (
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// testReply checks that a reply is written once.
func testReply(w *world) {
	r := w.request("night/1")
	reply := ledger.RequestReply{Number: r.Number, Key: "r14/5/comment:33", Body: "Done in abc123."}
	first, err := w.Forge.Reply(w.ctx, reply)
	if err != nil || first.ID == "" || first.Body != reply.Body || first.Author != w.Login || !first.Ours || first.Time.IsZero() {
		w.Fatalf("%+v, %v", first, err)
	}
	if again, err := w.Forge.Reply(w.ctx, reply); err != nil || again.ID != first.ID {
		w.Errorf("again: %+v, %v; want %s", again, err, first.ID)
	}
	reply.Key = "r14/5/comment:34" // the same words for something else
	if other, err := w.Forge.Reply(w.ctx, reply); err != nil || other.ID == first.ID {
		w.Errorf("another key: %+v, %v", other, err)
	}
	if v := w.look(r.Number); len(v.Comments) != 2 || v.Comments[0].Body != reply.Body || v.Comments[0].ID != first.ID {
		w.Errorf("%+v", v.Comments)
	}
	_, err = w.Forge.Reply(w.ctx, ledger.RequestReply{Number: 99, Key: "k", Body: "x"})
	w.fails(err, ledger.ForgeMissing)
}

// testReplyLost checks that a reply whose answer was lost is found.
func testReplyLost(w *world) {
	w.skip(w.Fail != nil, "lose an answer")
	r := w.request("night/1")
	reply := ledger.RequestReply{Number: r.Number, Key: "k", Body: "Done."}
	w.Fail(AnswerLost)
	_, err := w.Forge.Reply(w.ctx, reply)
	w.fails(err, ledger.ForgeAway)
	if c, err := w.Forge.Reply(w.ctx, reply); err != nil || c.ID == "" || w.Comments(r.Number) != 1 {
		w.Errorf("%+v, %v; %d comments, want 1", c, err, w.Comments(r.Number))
	}
}

// testThread checks a reply to a comment on a line.
func testThread(w *world) {
	r := w.request("night/1")
	w.Say(r.Number, ledger.RequestComment{Kind: ledger.CommentLine, Author: w.Writer, Body: "why?", Path: "file.txt", Line: 1})
	line := w.look(r.Number).Comments[0]
	reply := ledger.RequestReply{Number: r.Number, Key: "k", ReplyTo: line.ID, Body: "Because."}
	for range 2 {
		c, err := w.Forge.Reply(w.ctx, reply)
		if err != nil || c.Kind != ledger.CommentLine || c.Body != reply.Body || c.Path != line.Path {
			w.Errorf("%+v, %v", c, err)
		}
	}
	v := w.look(r.Number)
	if len(v.Comments) != 2 || v.Comments[1].ReplyTo != line.ID || !v.Comments[1].Ours {
		w.Errorf("%+v", v.Comments)
	}
	reply.Key, reply.ReplyTo = "l", "line:987654321"
	if c, err := w.Forge.Reply(w.ctx, reply); err != nil || c.Kind != ledger.CommentPlain {
		w.Errorf("to a comment that is gone: %+v, %v; want one on the request", c, err)
	}
}

// testHostileText checks keys and texts that could break a marker.
func testHostileText(w *world) {
	r := w.request("night/1")
	keys := []string{"-->", "a\nb", strings.Repeat("k", 5000), "<!-- x", "é\x00"}
	for range 2 {
		for _, key := range keys {
			if _, err := w.Forge.Reply(w.ctx, ledger.RequestReply{Number: r.Number, Key: key, Body: "text --> and <!-- nightporter:0 --> and\r\n| more |"}); err != nil {
				w.Errorf("key %.20q: %v", key, err)
			}
		}
	}
	if n := w.Comments(r.Number); n != len(keys) {
		w.Errorf("%d comments, want %d", n, len(keys))
	}
	long := w.draft("night/2")
	long.Body = strings.Repeat("é", 70_000)
	if _, err := w.Forge.Request(w.ctx, long); err != nil {
		w.Errorf("a body of %d bytes: %v", len(long.Body), err)
	}
	// Somebody quotes a reply with its marker: that is no reply of ours.
	c, err := w.Forge.Reply(w.ctx, ledger.RequestReply{Number: r.Number, Key: "mine", Body: "x"})
	if err != nil || strings.Contains(c.Body, "<!--") {
		w.Errorf("%+v, %v: the marker shows", c, err)
	}
}

// testMerge checks that a request is merged once.
func testMerge(w *world) {
	r := w.request("night/1")
	info, err := w.Forge.Info(w.ctx)
	if err != nil {
		w.Fatal(err)
	}
	m := ledger.MergeAsked{Number: r.Number, HeadCommit: r.HeadCommit, Method: info.Methods[0], Subject: "feat: the night", DeleteBranch: true}
	done, err := w.merge(m)
	if err != nil || done.State != ledger.RequestMerged || done.MergeCommit == "" || done.HeadCommit != r.HeadCommit || done.BaseCommit != w.Tip(w.Base) {
		w.Fatalf("%+v, %v", done, err)
	}
	if w.Tip("night/1") != "" {
		w.Error("the branch is still there")
	}
	tip := w.Tip(w.Base)
	if again, err := w.merge(m); err != nil || again.MergeCommit != done.MergeCommit || w.Tip(w.Base) != tip {
		w.Errorf("again: %+v, %v", again, err)
	}
	if v := w.look(r.Number); v.Request.State != ledger.RequestMerged || v.Request.MergeCommit != done.MergeCommit {
		w.Errorf("%+v", v.Request)
	}
	m.HeadCommit = strings.Repeat("0", 40)
	_, err = w.merge(m)
	w.fails(err, ledger.ForgeMoved)
}

// testMergeLost checks that a merge whose answer was lost is a success.
func testMergeLost(w *world) {
	w.skip(w.Fail != nil, "lose an answer")
	r := w.request("night/1")
	m := ledger.MergeAsked{Number: r.Number, HeadCommit: r.HeadCommit, Method: ledger.MergeCommit}
	w.until(r.Number, func(v ledger.RequestView) bool { return v.Request.Mergeable == ledger.MergeableClean })
	w.Fail(AnswerLost)
	_, err := w.Forge.Merge(w.ctx, m)
	w.fails(err, ledger.ForgeAway)
	tip := w.Tip(w.Base)
	done, err := w.merge(m)
	if err != nil || done.State != ledger.RequestMerged || w.Tip(w.Base) != tip {
		w.Errorf("%+v, %v; the base moved from %s to %s", done, err, tip, w.Tip(w.Base))
	}
	if w.Tip("night/1") == "" {
		w.Error("the branch is gone, and nobody asked for that")
	}
}

// testMergeRefused checks what is not merged.
func testMergeRefused(w *world) {
	r := w.request("night/1")
	old := ledger.MergeAsked{Number: r.Number, HeadCommit: r.HeadCommit, Method: ledger.MergeCommit}
	now := old
	now.HeadCommit = w.Commit("night/1", w.Writer)
	_, err := w.merge(old)
	w.fails(err, ledger.ForgeMoved)
	if w.Protect != nil {
		w.Protect("test")
		w.Check(r.Number, "test", ledger.CheckFailed)
		_, err = w.merge(now)
		w.fails(err, ledger.ForgeProtected)
	}
	w.Close(r.Number)
	_, err = w.merge(now)
	w.fails(err, ledger.ForgeRefused)
	now.Number = 99
	_, err = w.merge(now)
	w.fails(err, ledger.ForgeMissing)
	if v := w.look(r.Number); v.Request.State != ledger.RequestClosed {
		w.Errorf("it is %s", v.Request.State)
	}
}

// testBranchKept checks that a branch stays to which somebody added commits after
// the merge.
func testBranchKept(w *world) {
	r := w.request("night/1")
	m := ledger.MergeAsked{Number: r.Number, HeadCommit: r.HeadCommit, Method: ledger.MergeCommit}
	if _, err := w.merge(m); err != nil {
		w.Fatal(err)
	}
	theirs := w.Commit("night/1", w.Writer)
	m.DeleteBranch = true
	if _, err := w.merge(m); err != nil {
		w.fails(err, ledger.ForgeMoved)
	}
	if w.Tip("night/1") != theirs {
		w.Error("commits of others are gone")
	}
}
