package bot_test

import (
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestRepeatedKey: a chat that sends an update again after a restart gets the answer of
// the key, which has no words if the first one was answered without a decision. The
// message for it is discarded, but it has to be made.
func TestRepeatedKey(t *testing.T) {
	a := ledger.Answer{OK: true}
	bot.IdeaAnswer("shop", a)
	for _, b := range []loop.InputBody{loop.AddTasks{}, loop.EditAdd{}, loop.UndoAdd{}} {
		bot.AddAnswer("shop", b, a)
	}
	for _, b := range []loop.InputBody{loop.TakeIdea{}, loop.AnswerQuestion{}, loop.Guide{}, loop.Now{}, loop.SkipTask{}, loop.RetryTask{}, loop.Stop{}} {
		bot.FromAnswer(b.InputKind(), a, "")
	}
}
