package mx

import "fmt"

// ReturnCode says why a call could not be carried out. It is an error: test for
// one with errors.Is(err, mx.ErrBusy). The numbers are those of MX's headers.
type ReturnCode uint32

// The return codes (III to XII). A call that works returns a nil error, for
// which the manual writes MX_SUCCESS.
const (
	Success                ReturnCode = 0
	ErrBadBadBad           ReturnCode = 1  // something is wrong with this machine or build
	ErrFailure             ReturnCode = 2  // a failure without a code of its own
	ErrAlreadyInitialized  ReturnCode = 3  // Init has been called (III.1.1)
	ErrNotInitialized      ReturnCode = 4  // Init has not been called, or the endpoint is closed
	ErrNoDev               ReturnCode = 5  // no transport works on this machine
	ErrNoDriver            ReturnCode = 6  // the transport asked for lacks something
	ErrNoPerm              ReturnCode = 7  // no permission
	ErrBoardUnknown        ReturnCode = 8  // no such board (III.3.1, IV.2)
	ErrBadEndpoint         ReturnCode = 9  // no endpoint, a closed one, or an address of another one
	ErrBadSegList          ReturnCode = 10 // no segment list
	ErrBadSegMem           ReturnCode = 11 // a message or window of 4 GiB or more, or memory that can't be given back
	ErrBadSegCount         ReturnCode = 12 // more than MaxSegments segments (V.1.1)
	ErrBadRequest          ReturnCode = 13 // null, stale or foreign request, or of the wrong kind
	ErrBadMatchMask        ReturnCode = 14 // match bits outside the mask (V.2.1)
	ErrNoResources         ReturnCode = 15 // memory or another resource is short
	ErrBadAddrList         ReturnCode = 16 // null endpoint address
	ErrBadAddrCount        ReturnCode = 17
	ErrBadRoot             ReturnCode = 18
	ErrNotCompleted        ReturnCode = 19
	ErrBusy                ReturnCode = 20 // the endpoint id is taken, or endpoints are open
	ErrBadInfoKey          ReturnCode = 21 // unknown information key (III.2.1)
	ErrBadInfoVal          ReturnCode = 22 // the result variable has the wrong type
	ErrBadNIC              ReturnCode = 23
	ErrBadParamList        ReturnCode = 24 // the parameter list is empty though counted
	ErrBadParamName        ReturnCode = 25 // unknown parameter (III.3.1)
	ErrBadParamVal         ReturnCode = 26 // a parameter's value is out of range
	ErrBadHostnameArgs     ReturnCode = 27
	ErrHostNotFound        ReturnCode = 28 // the name is not known (IV.1)
	ErrRequestPending      ReturnCode = 29
	ErrTimeout             ReturnCode = 30 // the time passed (IV.3.1)
	ErrNoMatch             ReturnCode = 31
	ErrBadEndpointID       ReturnCode = 32 // the endpoint id is out of range
	ErrConnectionFailed    ReturnCode = 33 // no such endpoint is open at the peer, or it is not reached (IV.3.1)
	ErrBadConnectionKey    ReturnCode = 34 // the peer has another filter (IV.3.1)
	ErrBadInfoLength       ReturnCode = 35 // the result variable is too short (III.2.1)
	ErrNICNotFound         ReturnCode = 36 // no way to that NIC id is known (IV.3.1)
	ErrBadKernelVersion    ReturnCode = 37
	ErrBadLibVersion       ReturnCode = 38
	ErrNICDead             ReturnCode = 39
	ErrCancelNotSupported  ReturnCode = 40 // sends can't be cancelled (IX.1.1)
	ErrCloseInHandler      ReturnCode = 41 // an endpoint, or a window of its, is closed inside a handler (III.3.2)
	ErrBadMatchingForCtxID ReturnCode = 42 // the mask leaves out context id bits
	ErrNotSupportedCtxID   ReturnCode = 43
)

var codeTexts = [...]string{
	Success:                "success",
	ErrBadBadBad:           "something is wrong with this machine or build",
	ErrFailure:             "failure",
	ErrAlreadyInitialized:  "already initialized",
	ErrNotInitialized:      "not initialized: call mx.Init first",
	ErrNoDev:               "no transport works on this machine; mx_info says why",
	ErrNoDriver:            "the transport is not available on this machine; mx_info says why",
	ErrNoPerm:              "no permission",
	ErrBoardUnknown:        "no such board; mx_info lists them",
	ErrBadEndpoint:         "bad endpoint: closed, or not the one the address belongs to",
	ErrBadSegList:          "bad segment list",
	ErrBadSegMem:           "bad segment",
	ErrBadSegCount:         "bad segment count: at most 256 are allowed",
	ErrBadRequest:          "bad request: null, stale, foreign or of the wrong kind",
	ErrBadMatchMask:        "match bits outside the match mask",
	ErrNoResources:         "out of resources",
	ErrBadAddrList:         "bad endpoint address: null",
	ErrBadAddrCount:        "bad address count",
	ErrBadRoot:             "bad root",
	ErrNotCompleted:        "not completed",
	ErrBusy:                "busy",
	ErrBadInfoKey:          "unknown information key",
	ErrBadInfoVal:          "the result variable has the wrong type for this information key",
	ErrBadNIC:              "bad NIC",
	ErrBadParamList:        "bad parameter list",
	ErrBadParamName:        "unknown parameter",
	ErrBadParamVal:         "parameter value out of range",
	ErrBadHostnameArgs:     "bad host name",
	ErrHostNotFound:        "host not found",
	ErrRequestPending:      "request is still pending",
	ErrTimeout:             "timed out",
	ErrNoMatch:             "no match",
	ErrBadEndpointID:       "endpoint id out of range",
	ErrConnectionFailed:    "connection failed",
	ErrBadConnectionKey:    "the peer has another filter",
	ErrBadInfoLength:       "the result variable is too short",
	ErrNICNotFound:         "no way to that NIC is known",
	ErrBadKernelVersion:    "bad kernel version",
	ErrBadLibVersion:       "bad library version",
	ErrNICDead:             "the NIC is dead",
	ErrCancelNotSupported:  "sends can't be cancelled",
	ErrCloseInHandler:      "endpoints and windows can't be closed inside a handler; another goroutine can",
	ErrBadMatchingForCtxID: "the match mask must cover the context id bits",
	ErrNotSupportedCtxID:   "not supported with context ids",
}

// Error returns the same text as Strerror.
func (c ReturnCode) Error() string { return Strerror(c) }

// Strerror returns the text of a return code (X.3.1), also of one that this
// version does not know. Safe from any goroutine.
func Strerror(c ReturnCode) string {
	if int(c) < len(codeTexts) {
		return codeTexts[c]
	}
	return fmt.Sprintf("unknown return code %d", uint32(c))
}
