package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Command is an entry of the bot's menu.
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// Scopes of a menu.
const (
	scopeDefault = "default"
	scopePrivate = "all_private_chats"
	scopeGroups  = "all_group_chats"
	scopeAdmins  = "all_chat_administrators"
	scopeChat    = "chat"
)

// scope returns the scope of a call. The caller holds s.mu.
func (s *Server) scope(c call) (string, *methodResult) {
	raw := c.params["scope"]
	if raw == "" {
		return scopeDefault, nil
	}
	var is struct {
		Type string      `json:"type"`
		Chat json.Number `json:"chat_id"`
	}
	refuse := func(text string) (string, *methodResult) {
		a := bad(text)
		return "", &a
	}
	if json.Unmarshal([]byte(raw), &is) != nil {
		return refuse("can't parse BotCommandScope JSON object")
	}
	switch is.Type {
	case scopeDefault, scopePrivate, scopeGroups, scopeAdmins:
		return is.Type, nil
	case scopeChat:
		id, err := is.Chat.Int64()
		if err != nil || s.chats[id] == nil {
			return refuse("chat not found")
		}
		return scopeOf(id), nil
	}
	return refuse("can't parse BotCommandScope: unsupported type specified")
}

func scopeOf(chat int64) string { return scopeChat + " " + strconv.FormatInt(chat, 10) }

func (s *Server) setCommands(c call) methodResult {
	scope, refusal := s.scope(c)
	if refusal != nil {
		return *refusal
	}
	var list []Command
	if json.Unmarshal([]byte(c.params["commands"]), &list) != nil {
		return bad("can't parse commands JSON object")
	}
	if len(list) > 100 {
		return bad("BOT_COMMANDS_TOO_MUCH")
	}
	for _, cmd := range list {
		if n := len(cmd.Command); n < 1 || n > 32 || strings.Trim(cmd.Command, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return bad("BOT_COMMAND_INVALID")
		}
		if n := units(cmd.Description); n < 1 || n > 256 {
			return bad("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	s.menus[scope] = list
	s.notifyChange()
	return ok(true)
}

func (s *Server) deleteCommands(c call) methodResult {
	scope, refusal := s.scope(c)
	if refusal != nil {
		return *refusal
	}
	delete(s.menus, scope)
	s.notifyChange()
	return ok(true)
}

func (s *Server) getCommands(c call) methodResult {
	scope, refusal := s.scope(c)
	if refusal != nil {
		return *refusal
	}
	return ok(append([]Command{}, s.menus[scope]...))
}

// Menu returns the commands that a person sees in a chat: those of the most
// specific scope with a menu.
func (s *Server) Menu(chat int64) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.menu(chat)
}

func (s *Server) menu(chat int64) []Command {
	all := scopePrivate
	if isGroup(chat) {
		all = scopeGroups
	}
	for _, scope := range []string{scopeOf(chat), all, scopeDefault} {
		if list, set := s.menus[scope]; set {
			return slices.Clone(list)
		}
	}
	return nil
}

// WaitMenu waits until the menu in a chat has the commands with these names.
func (s *Server) WaitMenu(ctx context.Context, chat int64, names ...string) error {
	var seen []string
	err := s.Wait(ctx, func() bool {
		seen = nil
		for _, c := range s.menu(chat) {
			seen = append(seen, c.Command)
		}
		return slices.Equal(seen, names)
	})
	if err != nil {
		return fmt.Errorf("chat %d sees the commands %q: %w", chat, seen, err)
	}
	return nil
}

// SetMenu sets a menu, as an earlier program may have left it: for a chat, or
// for everybody if chat is 0.
func (s *Server) SetMenu(chat int64, list []Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	scope := scopeDefault
	if chat != 0 {
		scope = scopeOf(chat)
	}
	s.menus[scope] = list
}
