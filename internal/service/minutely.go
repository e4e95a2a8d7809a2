package service

import "github.com/robfig/cron/v3"

// Minutely returns a channel that receives at the beginning of every minute of
// the wall clock, until stop is called. The cron library is a tick and no more:
// its user decides from the clock what is due. A receiver that is busy misses
// nothing but repetition.
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
