package mpi

import "gomx/mx"

// Wildcards and special ranks.
const (
	AnySource = -1 // Recv: from whomever
	AnyTag    = -1 // Recv: whatever tag
	ProcNull  = -2 // nobody: what is sent there is gone, and what is received from there is empty
	Undefined = -3 // no color, no rank
)

// Status says what was received (MPI_Status).
type Status struct {
	Source    int   // the rank that sent it
	Tag       int   // its tag
	Count     int   // elements that were received, of the type of the receive; of a probe, bytes
	Bytes     int   // bytes that were received; of a probe, of the message
	Cancelled bool  // the request was cancelled
	Err       error // how it ended, nil for a success
}

// Statuses without a message.
var (
	emptyStatus     = Status{Source: AnySource, Tag: AnyTag}
	nullStatus      = Status{Source: ProcNull, Tag: AnyTag}
	cancelledStatus = Status{Source: AnySource, Tag: AnyTag, Cancelled: true}
)

// failedStatus is that of an operation that has ended, or can't be waited for, without a status of mx.
func failedStatus(err error) Status {
	st := emptyStatus
	st.Err = err
	return st
}

// received fills a status from that of mx, and reports whether whole elements have come.
func (st *Status) received(from *mx.Status, size uint32) bool {
	n := from.XferLength
	st.Source, st.Tag = sourceOf(from.MatchInfo), tagOf(from.MatchInfo)
	st.Bytes, st.Count = int(n), int(n)
	st.Cancelled, st.Err = false, nil
	if size <= 1 { // a send that failed has none
		return true
	}
	st.Count = int(n / size)
	return n%size == 0
}
