package bench

import (
	"os/exec"
	"testing"
	"time"
)

// BenchmarkStart is a process of each program from its start to its end, with nothing
// to do: every command that a person types is one, and a session is several. With
// GODEBUG=inittrace=1 a program tells what its packages take before main.
//
// Baseline: an empty Go program, in turns with them.
func BenchmarkStart(b *testing.B) {
	empty := source(b, "empty", "package main\n\nfunc main() {}\n")
	all := []struct {
		name      string
		args      []string
		took, cpu []time.Duration
	}{
		{name: "empty", args: []string{empty}},
		{name: "hat", args: []string{program(b, "hat", "./cmd/hat", false), "--help"}},
		{name: "nightporter", args: []string{program(b, "nightporter", "./cmd/nightporter", true), "version"}},
	}
	for b.Loop() {
		for n := range all {
			a := &all[n]
			cmd := exec.CommandContext(b.Context(), a.args[0], a.args[1:]...)
			began := time.Now()
			out, err := cmd.CombinedOutput()
			a.took = append(a.took, time.Since(began))
			if err != nil {
				b.Fatalf("%v: %v\n%s", a.args, err, out)
			}
			a.cpu = append(a.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
	}
	took, _ := median(all[0].took)
	used, _ := median(all[0].cpu)
	for _, a := range all {
		middle, _ := median(a.took)
		cpu, _ := median(a.cpu)
		b.ReportMetric(ms(middle), a.name+"-ms")
		b.ReportMetric(ms(cpu), a.name+"-cpu-ms")
		b.ReportMetric(float64(middle)/float64(took), a.name+"/empty")
		b.ReportMetric(float64(cpu)/float64(used), a.name+"/empty-cpu")
	}
	b.ReportMetric(0, "ns/op") // of a whole turn: says nothing
}
