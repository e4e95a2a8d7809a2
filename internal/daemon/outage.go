package daemon

import (
	"fmt"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/systemd"
	"github.com/nightporter/nightporter/loop/engine"
)

// onOutage tells that the ledger takes no commits, or takes them again, on every
// way that needs no disk: the terminal, the service manager's status, and chats.
func (d *Daemon) onOutage(x engine.Outage) {
	d.outage.Store(&x)
	if d.o.Outage != nil {
		d.o.Outage(x)
	}
	if !d.o.Stays {
		// A run in the foreground reports no status otherwise.
		go systemd.New(d.Log, systemd.Status{}).Notify("STATUS=" + d.statusLine())
		return
	}
	d.Changes.Ring() // the manager's status line
	if c := d.connections.Load(); c != nil {
		c.TellOutage(x)
	}
}

// outageLine says for the status line that nothing can be saved, "" if it can.
func (d *Daemon) outageLine() string {
	x := d.outage.Load()
	if x == nil || x.Since.IsZero() {
		return ""
	}
	return fmt.Sprintf("nothing can be saved since %s, the %s fails; ", x.Since.Format(time.DateTime), x.Fault)
}
