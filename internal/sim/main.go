package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sim:", err)
		os.Exit(1)
	}
}

func run() error {
	seed := flag.Uint64("seed", 0, "replay the night of this seed; with -nights or -for, begin with it")
	nights := flag.Int("nights", 0, "play so many nights")
	length := flag.Duration("for", 0, "play nights for so long")
	tasks := flag.Int("tasks", 12, "tasks of each night's plan")
	disks := flag.Uint64("disks", 4, "in one night of so many the ledger lies on a simulated disk, which fails, lies and loses power; 0: in none")
	projects := flag.Uint64("projects", 8, "one night in so many has two or three projects; 0: none")
	remakes := flag.Uint64("remakes", 4, "in one night of so many people take tasks out of the run's branch, bring them back and have them done again; 0: in none")
	adds := flag.Uint64("adds", 4, "in one night of so many people and sessions add tasks; 0: in none")
	pushes := flag.Uint64("pushes", 4, "in one night of so many runs push their branches to a remote that fails; 0: in none")
	hosts := flag.Uint64("hosts", 4, "in one night of so many sessions have a closed network, and ask people about hosts; 0: in none")
	repeats := flag.Uint64("repeats", 4, "in one night of so many tasks of the plan come back after they are done; 0: in none")
	memory := flag.Uint64("memory", 2, "in one night of so many the ledger is in memory, unless it lies on a simulated disk; 0: always in a file")
	long := flag.Bool("long", false, "thirty nights on one ledger, with retention and maintenance; its disk keeps what it confirms")
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "nights at a time")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the nights to this file")
	quiet := flag.Bool("quiet", false, "with -seed: no story, only the end")
	flag.Parse()
	debug.SetGCPercent(1600) // nights are short, and what they leave is garbage
	opt := options{tasks: *tasks, disks: *disks, projects: *projects, remakes: *remakes, adds: *adds, pushes: *pushes, hosts: *hosts, repeats: *repeats, memory: *memory}
	if *long {
		opt.nights, opt.disks = longNights, 0
	}
	dir, err := os.MkdirTemp(memoryFolder(), "nightporter-sim-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stop, forget := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer forget()
	go func() {
		<-stop.Done()
		forget() // the second signal ends the process at once
	}()
	opt.dir = dir
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if *nights == 0 && *length == 0 {
		return replay(*seed, opt, *quiet)
	}
	return many(stop, *seed, *nights, *length, *workers, opt)
}

// memoryFolder is where databases need no disk.
func memoryFolder() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// result is the outcome of one night.
type result struct {
	seed    uint64
	broken  *broken
	story   story
	counts  [faults]int
	length  time.Duration
	entries int
	cut     int // nights that ended because of a disk that is not honest
	state   int // bytes, the largest
	queue   int // messages that waited, the most
}

// play plays one night.
func play(seed uint64, opt options) (result, error) {
	w, err := newWorld(seed, opt)
	if err != nil {
		return result{}, err
	}
	b := w.run()
	if w.disk != nil {
		w.counts[powerCut] = w.disk.Counts().Cuts
	}
	r := result{seed: seed, broken: b, counts: w.counts, length: w.elapsed(), entries: w.audit.entries, state: w.audit.stateSize, queue: w.audit.queue, story: w.story}
	if w.cut {
		r.cut = 1
	}
	return r, w.close()
}

// replay plays one night and prints its story.
func replay(seed uint64, opt options, quiet bool) error {
	opt.story = !quiet
	r, err := play(seed, opt)
	if err != nil {
		return err
	}
	if !quiet {
		r.story.print(os.Stdout, 0)
	}
	fmt.Printf("seed %d: %d lines, %s\n", seed, r.story.count, r.story.hash()[:16])
	if r.broken != nil {
		return fmt.Errorf("seed %d broke %s", seed, r.broken)
	}
	return nil
}

func firstLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

// flagsOf returns the flags of these nights that are not at their default.
func flagsOf(opt options) string {
	out := ""
	if opt.tasks != 12 {
		out = fmt.Sprintf(" -tasks %d", opt.tasks)
	}
	if opt.nights > 1 {
		return " -long" + out
	}
	if opt.projects != 8 {
		out += fmt.Sprintf(" -projects %d", opt.projects)
	}
	if opt.remakes != 4 {
		out += fmt.Sprintf(" -remakes %d", opt.remakes)
	}
	if opt.adds != 4 {
		out += fmt.Sprintf(" -adds %d", opt.adds)
	}
	if opt.pushes != 4 {
		out += fmt.Sprintf(" -pushes %d", opt.pushes)
	}
	if opt.hosts != 4 {
		out += fmt.Sprintf(" -hosts %d", opt.hosts)
	}
	if opt.repeats != 4 {
		out += fmt.Sprintf(" -repeats %d", opt.repeats)
	}
	if opt.memory != 2 {
		out += fmt.Sprintf(" -memory %d", opt.memory)
	}
	if opt.disks != 4 {
		out += fmt.Sprintf(" -disks %d", opt.disks)
	}
	return out
}
