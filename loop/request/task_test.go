package request

import (
	"slices"
	"testing"

	"github.com/nightporter/nightporter/guidance"
)

// TestCommentsTask: the task names what is to be settled, and holds none of the words.
func TestCommentsTask(t *testing.T) {
	got := CommentsTask("PR 48", []guidance.Item{{ID: "g12", Text: "Use cents"}, {ID: "g13", Text: "Use dollars"}})
	if !got.Own || got.ID != CommentsTaskID || got.Title != "Comments on PR 48" || !slices.Equal(got.Acceptance, []string{"g12 is done, or set aside with the reason", "g13 is done, or set aside with the reason"}) {
		t.Errorf("%+v", got)
	}
}
