package mx

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"gomx/endpoint"
	"gomx/mx/internal/tracefile"
)

// tracing is what MX_TRACE and MX_TRACE_BYTES ask for.
type tracing struct {
	folder string // "": no trace
	bytes  int
}

// defaultTraceBytes is the ring of an endpoint: 262144 events.
const defaultTraceBytes = 16 << 20

// set reads MX_TRACE.
func (t *tracing) set(folder string) error {
	if folder == logOff {
		folder = ""
	}
	t.folder = folder
	return checkTrace(folder)
}

func (t *tracing) show() string {
	if t.folder == "" {
		return logOff
	}
	return t.folder
}

// checkTrace wants the folder to be one, or to be made.
func checkTrace(folder string) error {
	if folder == "" {
		return nil
	}
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("want a folder, and %s is a file", folder)
	}
	return nil
}

// beginTrace begins the trace of an endpoint that was opened just now.
func (ep *Endpoint) beginTrace(t tracing) error {
	if t.folder == "" {
		return nil
	}
	host, _ := os.Hostname()
	w, err := tracefile.Create(t.folder, tracefile.Info{
		Host: host, Command: command(), PID: os.Getpid(), Endpoint: ep.String(),
		NIC: uint64(ep.board.ID), ID: ep.id, Transports: ep.names, MX: Version,
	}, t.bytes)
	switch {
	case errors.Is(err, os.ErrNotExist): // of a folder that can't be made
		return fmt.Errorf("%w: message trace: %w", ErrBadParamVal, err)
	case err != nil:
		return fmt.Errorf("message trace: %w", err)
	}
	ep.trace = w
	ep.d.RecordTo(&w.Recorder)
	return nil
}

// endTrace ends the trace of an endpoint that has closed.
func (ep *Endpoint) endTrace() {
	if ep.trace != nil {
		ep.d.RecordTo(nil)
		_ = ep.trace.Close() // nobody is left to hear of an error
	}
}

// TraceFile returns the file that the messages of the endpoint are traced to: see WithTrace. "" without one. MX does not have it. Safe from
// any goroutine.
func (ep *Endpoint) TraceFile() string {
	if ep.trace == nil {
		return ""
	}
	return ep.trace.Path
}

// TraceJob says in the trace that the endpoint is that of a rank of a job, which has a number that is the same for all of its ranks, and
// random. Without a trace it does nothing. MX does not have it. Safe from any goroutine.
func (ep *Endpoint) TraceJob(job uint64, rank, ranks int) {
	if ep.trace != nil {
		ep.trace.SetJob(job, rank, ranks)
	}
}

// TraceNow returns the time by the clock of the trace, for TraceRegion, or 0 without a trace. MX does not have it. Safe from any goroutine.
func (ep *Endpoint) TraceNow() int64 {
	if ep.trace == nil {
		return 0
	}
	return ep.trace.Now()
}

// TraceRegion notes in the trace that the program was in something from a time of TraceNow until now, such as a collective
// or a step of its computation. There is room for some thousand different names, of which 200 bytes are kept; id and bytes are shown with it. Without a trace, or with 0 as the time, it
// does nothing. It may be called by those who may make requests. MX does not have it.
func (ep *Endpoint) TraceRegion(name string, since int64, id uint64, bytes int) {
	if ep.trace == nil || since == 0 {
		return
	}
	ep.d.Record(endpoint.Event{Kind: endpoint.EventRegion, Since: since, Match: id, Bytes: uint32(min(uint64(max(bytes, 0)), MaxMessage)), Name: ep.trace.Name(name)})
}

var traceVariables = []variable{
	{name: "MX_TRACE", help: "folder in which each endpoint leaves a trace of its messages, for mx_trace; it is made if need be; off: none",
		show: func(e *environment) string { return e.trace.show() },
		set:  func(e *environment, s string) error { return e.trace.set(s) }},
	{name: "MX_TRACE_BYTES", help: fmt.Sprintf("size limit of the trace of an endpoint in bytes, %v; an event takes 64, and the latest are kept", traceBytesSpan),
		show: func(e *environment) string { return strconv.Itoa(e.trace.bytes) },
		set:  func(e *environment, s string) error { return setSize(&e.trace.bytes, s, traceBytesSpan) }},
}
