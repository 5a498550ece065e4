package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"gomx/internal/partner"
	"gomx/mx"
)

// Whether one process can read another's memory depends on the kernel, on
// security modules, on containers and on the environment. So it is tried: a
// second process of this program sends a large message, and the counters say how
// it came.

// singleCopy says whether large messages are copied once.
type singleCopy struct {
	Works       bool   `json:"works"`
	Reason      string `json:"reason,omitempty"` // why not
	PtraceScope string `json:"ptrace_scope"`
}

// partnerVariable makes a process of this program the second one. It holds a trial.
const partnerVariable = "MX_INFO_PARTNER"

const (
	trialFilter = 0x12345
	trialMatch  = 1
	trialSize   = 1 << 20
	trialTime   = 5 * time.Second // for each step
)

// findSingleCopy makes the trial, if there is shared memory to make it over.
func findSingleCopy(transports []mx.TransportInfo, variables []mx.Variable) (singleCopy, []mx.Diagnostic) {
	found := singleCopy{PtraceScope: ptraceScope()}
	for _, t := range transports {
		if t.Name == "shm" && !t.Available {
			found.Reason = t.Reason
			return found, nil
		}
	}
	diagnostics, err := try()
	found.Works = err == nil
	if err != nil {
		found.Reason = err.Error()
		for _, v := range variables {
			if v.Name == "MX_SINGLE_COPY" && v.Value == "0" {
				found.Reason = "switched off by MX_SINGLE_COPY"
			}
		}
	}
	return found, diagnostics
}

// try receives a large message from a second process, and returns why it was
// not copied once. The diagnostics are those of the transport meanwhile.
func try() (diagnostics []mx.Diagnostic, err error) {
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, trialFilter, mx.WithTransports("shm"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ep.Close()) }()
	recv, err := ep.Irecv(make([]byte, trialSize), trialMatch, mx.MatchMaskNone, nil)
	if err != nil {
		return nil, err
	}
	p, err := startPartner(ep)
	if err != nil {
		return nil, fmt.Errorf("a second process could not be started to try it: %w", err)
	}
	st, done, err := ep.Wait(recv, trialTime)
	all := ep.Diagnostics()
	said := p.End()
	switch {
	case err != nil:
		return nil, err
	case !done:
		return nil, fmt.Errorf("the message of the second process did not come within %v; it said %q", trialTime, said)
	case st.Code != mx.StatusSuccess:
		return nil, st.Err()
	}
	diagnostics, why := sort(all)
	if count(ep, "get rendezvous") == 0 {
		return diagnostics, errors.New(why)
	}
	return diagnostics, nil
}

// trial is where the second process sends its message.
type trial struct {
	NIC      uint64
	Endpoint uint32
}

// startPartner starts the second process.
func startPartner(ep *mx.Endpoint) (*partner.Process, error) {
	nic, id, err := mx.DecomposeEndpointAddr(ep.Addr())
	if err != nil {
		return nil, err
	}
	return partner.Start(partnerVariable, trial{nic, id}, nil)
}

// runPartner is the second process: it sends one message, and stays until the first one has seen it.
func runPartner() error {
	var to trial
	if err := partner.Begin(partnerVariable, &to); err != nil {
		return err
	}
	if err := mx.Init(); err != nil {
		return err
	}
	mx.SetErrorHandler(mx.ErrorsReturn)
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, trialFilter, mx.WithTransports("shm"))
	if err != nil {
		return err
	}
	peer, err := ep.Connect(to.NIC, to.Endpoint, trialFilter, trialTime)
	if err != nil {
		return err
	}
	send, err := ep.Isend(make([]byte, trialSize), peer, trialMatch, nil)
	if err != nil {
		return err
	}
	if _, _, err := ep.Wait(send, trialTime); err != nil {
		return err
	}
	select {} // the first process ends this one
}

// sort separates what the transport says about single copy from the rest, and
// leaves out how many peers there were in the trial.
func sort(all []mx.Diagnostic) (rest []mx.Diagnostic, why string) {
	why = "the system let the peer's memory be read, but the message went another way"
	for _, f := range all {
		switch f.Name {
		case "no single copy because":
			why = f.Value
		case "peers", "single copy", "arenas mapped":
		default:
			rest = append(rest, f)
		}
	}
	return rest, why
}

func count(ep *mx.Endpoint, label string) uint64 {
	for _, c := range ep.Counters() {
		if c.Label == label {
			return c.Value
		}
	}
	return 0
}

// ptraceScope says what the Yama security module allows.
func ptraceScope() string {
	text, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if err != nil {
		return "none: no Yama security module here"
	}
	return strings.TrimSpace(string(text))
}
