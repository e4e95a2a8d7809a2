package telegram

import (
	"context"
	"fmt"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/regexp"
)

// MenuCommand is one entry of the command menu beside the input field.
type MenuCommand struct {
	Name        string `json:"command"`     // without the slash; at most 32 characters of a-z, 0-9 and _
	Description string `json:"description"` // 1 to 256 characters
}

var menuName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// SetCommands replaces the command menu of a chat, at most 100 entries. The chat
// "" stands for all chats without a menu of their own. An empty list removes the
// menu. Repeating a call changes nothing. The error names an invalid entry before
// anything is sent, or is a *bot.SendError.
func (b *Bot) SetCommands(ctx context.Context, chat string, list []MenuCommand) error {
	if len(list) > 100 {
		return fmt.Errorf("telegram menu: %d commands, 100 are possible", len(list))
	}
	for _, c := range list {
		if n := utf16Units(c.Description); !menuName.MatchString(c.Name) || n < 1 || n > 256 {
			return fmt.Errorf("telegram menu: command %q with %d characters of description is not possible", c.Name, n)
		}
	}
	p := tgbotapi.Params{}
	if chat != "" {
		id, _, err := parseAddress(chat)
		if err != nil {
			return &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
		}
		p["scope"] = encode(map[string]any{"type": "chat", "chat_id": id})
	}
	method := "deleteMyCommands"
	if len(list) > 0 {
		method, p["commands"] = "setMyCommands", encode(list)
	}
	var done bool
	if err := b.call(ctx, method, p, &done); err != nil {
		return sendError(err)
	}
	if !done {
		return fmt.Errorf("telegram menu: %s was not done", method)
	}
	return nil
}
