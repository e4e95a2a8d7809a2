package delivery

// A message belongs to one chat, but a group can get a new address while a
// message to its old one is on its way. The message then belongs to the chat of
// the new address, which must not send it as well: which of the two results
// would be the outbox's?

// inFlight is the delivery of one message.
type inFlight struct {
	by      *chat
	waiting []*chat // signalled once the delivery is settled
}

// claim reserves a message for a delivery by c and reports whether it could.
func (d *Dispatcher) claim(id int64, c *chat) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inFlight[id] != nil {
		return false // the next look for a message finds it with the other
	}
	d.inFlight[id] = &inFlight{by: c}
	return true
}

// isWithOther reports whether another chat is delivering a message. It signals
// c once that is settled.
func (d *Dispatcher) isWithOther(id int64, c *chat) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.inFlight[id]
	if f == nil || f.by == c {
		return false
	}
	f.waiting = append(f.waiting, c)
	return true
}

// unclaim ends the delivery of a claimed message.
func (d *Dispatcher) unclaim(id int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.inFlight[id]
	delete(d.inFlight, id)
	for _, w := range f.waiting {
		d.signal(w)
	}
}
