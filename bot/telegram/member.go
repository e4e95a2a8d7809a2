package telegram

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// notMemberTexts are error texts about a user who was never in the group.
var notMemberTexts = []string{"member not found", "user not found", "participant_id_invalid"}

// IsMember reports whether a person is in a group, given by its address or that
// of one of its topics. After an error it is unknown: some groups list members
// only to their administrators.
func (b *Bot) IsMember(ctx context.Context, chat, person string) (bool, error) {
	at, _, err := parseAddress(chat)
	if err != nil {
		return false, err
	}
	who, _, err := parseAddress(person)
	if err != nil {
		return false, err
	}
	var is struct {
		Status string `json:"status"`
		In     bool   `json:"is_member"` // set for restricted members
	}
	err = b.call(ctx, "getChatMember", tgbotapi.Params{"chat_id": strconv.FormatInt(at, 10), "user_id": strconv.FormatInt(who, 10)}, &is)
	for _, text := range notMemberTexts {
		if isRefusal(err, text) {
			return false, nil
		}
	}
	switch {
	case err != nil:
		return false, sendError(err)
	case is.Status == "restricted":
		return is.In, nil
	case slices.Contains([]string{"creator", "administrator", "member"}, is.Status):
		return true, nil
	case is.Status == "left" || is.Status == "kicked":
		return false, nil
	}
	return false, fmt.Errorf("telegram getChatMember: %q is no status of a member", is.Status)
}
