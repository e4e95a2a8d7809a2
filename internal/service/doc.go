// Package service defines the lifecycle of every running part of nightporter:
//
//	Start(ctx) error
//	Stop()
//
// Start returns nil once the service can be used. After an error nothing of the
// service runs. ctx limits Start alone; the service itself runs until Stop, so a
// command whose own context has ended still closes what it opened. A service is
// started once.
//
// Stop ends the service and returns when all of it has ended: no goroutine is
// left, and nothing calls back from it. Stop may be called twice, by several
// goroutines at once, and before Start, which then returns ErrStopped. Stop has
// no context: a caller with a time limit waits for it in a goroutine and leaves
// that goroutine behind.
//
// Files: service.go has the interface; Base, for a service made of loops; Loop,
// for a single loop; and Group, which runs several services in order.
// broadcast.go wakes the goroutines that wait for an event, and minutely.go ticks
// with the wall clock.
//
// This package knows nothing of the services. Its tests hold the order of a
// Group, the end of all loops before Stop returns, and Stop before Start.
package service
