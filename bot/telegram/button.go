package telegram

import "github.com/nightporter/nightporter/bot"

// maxData is Telegram's limit of callback data, in bytes.
const maxData = 64

// Data returns the callback data of button n of a message.
func Data(m bot.Message, n int) string { return bot.ButtonData(m, n, maxData) }
