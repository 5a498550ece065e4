// Package trace reads the message traces of endpoints (MX_TRACE, mx.WithTrace), puts those of a job together, and says who has
// waited for whom. docs/tracing.md is for users, cmd/mx_trace for those who want no program of their own.
//
// Read finds the files, Merge makes one Trace of them: clocks are aligned, and each message has what both sides know of it.
// Trace.Report finds late senders, late receivers and the critical path; Trace.WriteChrome writes what Perfetto opens.
// Nothing here may be called concurrently about one Trace but Report and WriteChrome.
package trace
