package service

import "github.com/robfig/cron/v3"

// Minutely returns a channel that receives at the start of every minute of the
// wall clock, until stop is called. A receiver compares the clock with its own
// schedule: the channel drops ticks while the receiver is busy. stop waits for
// the last tick.
func Minutely() (due <-chan struct{}, stop func()) {
	out := make(chan struct{}, 1)
	c := cron.New(cron.WithChain(cron.Recover(cron.DiscardLogger)))
	_, err := c.AddFunc("* * * * *", func() {
		select {
		case out <- struct{}{}:
		default:
		}
	})
	if err != nil {
		panic(err) // a constant expression
	}
	c.Start()
	return out, func() { <-c.Stop().Done() }
}
