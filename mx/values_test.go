package mx

import (
	"slices"
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/wire"
)

// The constants of the interface are written as numbers, for those who read its documentation. They are those of the engine and of the
// frames, which calls convert them to.
func TestConstantsAreTheEngines(t *testing.T) {
	for name, c := range map[string][2]uint64{
		"MaxSegments":    {MaxSegments, endpoint.MaxSegments},
		"MaxMessage":     {MaxMessage, endpoint.MaxMessage},
		"Infinite":       {uint64(Infinite), uint64(driver.Infinite)},
		"MaxAtomic":      {MaxAtomic, wire.MaxAtomic},
		"MaxConnectData": {MaxConnectData, driver.MostConnectData},
		"MaxContexts":    {MaxContexts, wire.MaxContexts},
	} {
		if c[0] != c[1] {
			t.Errorf("%s is %d, and %d below", name, c[0], c[1])
		}
	}
}

func TestEnumerationsAreTheEngines(t *testing.T) {
	same(t, "fates", []Fate{FateEnded, FateCancelled, FateInUse}, []endpoint.Fate{endpoint.FateEnded, endpoint.FateCancelled, endpoint.FateInUse})
	same(t, "actions", []UnexpAction{RecvContinue, RecvFinished}, []endpoint.Action{endpoint.Continue, endpoint.Finished})
	same(t, "levels", []SendLevel{SendBuffered, SendAcked, SendMatched}, []endpoint.Level{endpoint.BufferFree, endpoint.Acknowledged, endpoint.Matched})
	same(t, "permissions", []WindowPermission{WindowRead, WindowWrite}, []endpoint.Permission{endpoint.MayRead, endpoint.MayWrite})
	same(t, "status codes", []StatusCode{
		StatusSuccess, StatusPending, StatusBuffered, StatusRejected, StatusTimeout, StatusTruncated, StatusCancelled,
		StatusEndpointUnknown, StatusEndpointClosed, StatusEndpointUnreachable, StatusBadSession, StatusBadKey, StatusBadEndpoint,
		StatusBadRDMAWindow, StatusAborted, StatusNoResources, StatusBadRDMARange, StatusRDMANotPermitted, StatusBadAtomic,
		StatusNotAnswered, StatusBacklogFull, StatusNotListening,
	}, []endpoint.Code{
		endpoint.Success, endpoint.Pending, endpoint.Buffered, endpoint.Rejected, endpoint.TimedOut, endpoint.Truncated, endpoint.Cancelled,
		endpoint.EndpointUnknown, endpoint.EndpointClosed, endpoint.EndpointUnreachable, endpoint.BadSession, endpoint.BadKey, endpoint.BadEndpoint,
		endpoint.BadRDMAWindow, endpoint.Aborted, endpoint.NoResources, endpoint.BadRDMARange, endpoint.RDMANotPermitted, endpoint.BadAtomic,
		endpoint.NotAnswered, endpoint.BacklogFull, endpoint.NotListening,
	})
	same(t, "operations", []AtomicOp{
		AtomicRead, AtomicReplace, AtomicSum, AtomicProduct, AtomicMin, AtomicMax, AtomicAnd, AtomicOr, AtomicXor,
		AtomicLogicalAnd, AtomicLogicalOr, AtomicLogicalXor, AtomicCompareSwap,
	}, []wire.AtomicOp{
		wire.AtomicRead, wire.AtomicReplace, wire.AtomicSum, wire.AtomicProduct, wire.AtomicMin, wire.AtomicMax, wire.AtomicAnd, wire.AtomicOr,
		wire.AtomicXor, wire.AtomicLogicalAnd, wire.AtomicLogicalOr, wire.AtomicLogicalXor, wire.AtomicCompareSwap,
	})
	same(t, "types", []AtomicType{
		AtomicBytes, AtomicInt8, AtomicInt16, AtomicInt32, AtomicInt64, AtomicUint8, AtomicUint16, AtomicUint32, AtomicUint64,
		AtomicFloat32, AtomicFloat64, AtomicComplex64, AtomicComplex128,
	}, []wire.AtomicType{
		wire.AtomicBytes, wire.AtomicInt8, wire.AtomicInt16, wire.AtomicInt32, wire.AtomicInt64, wire.AtomicUint8, wire.AtomicUint16,
		wire.AtomicUint32, wire.AtomicUint64, wire.AtomicFloat32, wire.AtomicFloat64, wire.AtomicComplex64, wire.AtomicComplex128,
	})
}

// same compares values of the interface with those of a package below, which go by the same bytes.
func same[A, B ~uint8](t *testing.T, what string, here []A, below []B) {
	t.Helper()
	if !slices.EqualFunc(here, below, func(a A, b B) bool { return uint8(a) == uint8(b) }) {
		t.Errorf("%s are %v, and %v below", what, here, below)
	}
}
