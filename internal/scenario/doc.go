// Package scenario is where tests get a night, an engine and a conversation from.
//
//   - night.go: Night drives the real core through a scripted night. A table says
//     what each session emits, which files it changes, and whether verification
//     fails after it.
//   - ports.go: Ports takes the place of agents, processes and git below the real
//     engine; RunEngine runs one.
//   - service.go: Service and DaemonService are what package bot asks, above a
//     Night or an engine.
//
// It has no platform: that is bot/chattest and internal/fake. Product code never
// imports it.
package scenario
