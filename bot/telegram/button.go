package telegram

import "github.com/nightporter/nightporter/bot"

// maxData is what callback data may have, in bytes.
const maxData = 64

// Data is the callback data of the message's button n.
func Data(m bot.Message, n int) string { return bot.ButtonData(m, n, maxData) }
