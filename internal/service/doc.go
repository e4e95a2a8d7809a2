// Package service is the lifecycle that every running part of nightporter has:
//
//	Start(ctx) error
//	Stop()
//
// Start returns when the service can be used, or an error; after an error
// nothing of it runs. ctx bounds the start alone: what Start began works until
// Stop, so a command whose own context has ended still closes what it opened.
// A service is started once.
//
// Stop asks the service to end and returns when all of it has ended: no
// goroutine of the service is left, and nothing calls back from it. Stop may be
// called twice, by several goroutines at once, and before Start, which then
// fails with ErrStopped. Stop takes no context: a caller that cannot wait for
// ever waits for it in a goroutine, and leaves it behind when the time is over.
//
// Base gives both to a service that is a set of loops, Loop makes a service of
// one loop, and Group runs several in order. Broadcast wakes everybody who waits
// for something to happen; Minutely is the clock of what is due by the minute.
package service
