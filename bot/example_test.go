package bot_test

import (
	"context"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// oneProject is the Service of a single project without a ledger: it decides on
// the state that it keeps. The example needs no other methods.
type oneProject struct {
	bot.Service
	state loop.State
}

func (p *oneProject) Projects() []string              { return []string{p.state.Project.Name} }
func (p *oneProject) State(string) (loop.State, bool) { return p.state, true }
func (p *oneProject) Do(_ context.Context, in loop.Input) (ledger.Answer, error) {
	d := loop.Decide(p.state, in)
	p.state = d.State
	return d.Answer, nil
}

// Handle parses a line, carries out its command and returns the reply.
func Example() {
	service := &oneProject{}
	service.state.Project.Name = "shop"
	for n, line := range []string{"/guidance @builder Keep the old function names", "/queue", "/quue"} {
		m, err := bot.Handle(context.Background(), service, bot.Request{
			Key: fmt.Sprint(n), Actor: "console", Name: "Mira", Project: "shop", Text: line, Time: time.Date(2026, 11, 20, 2, 14, 0, 0, time.UTC),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m.Text(72))
	}
	// Output:
	// ○ g1 queued → the next run
	// ○ shop: 1 wait, 0 in use
	// ○ g1 Keep the old function names · for builder
	// /drop g1
	// ? No /quue. Meant /queue?
	// Nothing was done.
	// /queue · /help
}
