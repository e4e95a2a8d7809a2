package inbound

import "time"

// lateLook is the age at which a look was held up on its way.
const lateLook = time.Minute

// maxLooks limits the looks that a Receiver remembers. It forgets all of them beyond
// that, which leads to one more answer.
const maxLooks = 1000

// lookAnswered reports whether an input is a look that comes late, and the same
// look of the same person was answered after this one was sent: who gets no answer
// in an outage asks again and again, and one answer says it. That is not stored, so
// a restart leads to one more.
func (v *request) lookAnswered(line string) bool {
	if v.in.Press != "" || v.in.Sent.IsZero() || v.now.Sub(v.in.Sent) < lateLook {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.in.Sent.Before(v.looks[v.look(line)])
}

// noteLook notes that a look was answered.
func (v *request) noteLook(line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.looks == nil || len(v.looks) >= maxLooks {
		v.looks = map[string]time.Time{}
	}
	v.looks[v.look(line)] = v.now
}

func (v *request) look(line string) string { return v.in.Chat + " " + v.in.Actor + " " + line }
