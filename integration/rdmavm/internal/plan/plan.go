// Package plan is what the command says to the program in the virtual machine,
// and what it hears back. Both are JSON.
package plan

import "time"

// File is where the machine finds its Plan.
const File = "/plan.json"

// The serial ports of the machine, beside the kernel's console.
const (
	OutputPort  = "/dev/ttyS1" // what programs print
	ControlPort = "/dev/ttyS2" // a Message a line
)

// Plan is what a machine does.
type Plan struct {
	Host, Hosts int      // which of how many machines this is, from 1
	Modules     []string // the kernel modules to load, in order
	Checks      []Check
}

// Check is one thing that host 1 runs. It passes if all exit statuses are 0 and the output is as wanted.
type Check struct {
	Name   string
	Dir    string   // working directory
	Client []string // the command
	Server []string // if any, runs on the last host, and first
	Port   int      // where the server listens when it is ready

	// Network namespaces, if not the first one.
	ClientIn, ServerIn string

	Want   string // a pattern that the client's output must have
	Note   string // a pattern; what its group finds is worth showing
	Stream bool   // the output is shown as it comes, else only after a failure
	Limit  time.Duration
}

// Result is what became of a check.
type Result struct {
	Name string
	Exit int    // of the client; -1 if it did not end by itself
	Why  string // it failed; empty if it passed
	Note string
	Took time.Duration
}

// Message is one line that a machine says.
type Message struct {
	Ready   bool    `json:",omitempty"` // the devices are there
	Result  *Result `json:",omitempty"`
	Failure string  `json:",omitempty"` // the machine can't go on
	Done    bool    `json:",omitempty"`
}
