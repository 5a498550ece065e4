package mx

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"gomx/transport/nic"
)

// library is what Init makes.
type library struct {
	mu      sync.Mutex
	up      bool
	dir     *nic.Directory
	env     environment
	open    map[*Endpoint]struct{}
	retired map[uint32]tally // counters of closed endpoints, by board
	live    liveServer
}

var lib library

// Init reads the environment and looks for boards (III.1.1). It must come before
// every other call but SetErrorHandler. A second Init without a Finalize between
// is ErrAlreadyInitialized, and changes nothing; whoever shares the process with
// another user of the library can take that for a success, and so no handler is asked. Safe from any
// goroutine.
func Init() error {
	lib.mu.Lock()
	defer lib.mu.Unlock()
	if lib.up {
		return &Error{Op: "init", Code: ErrAlreadyInitialized}
	}
	env, err := readEnvironment()
	if err != nil {
		return fail("init", ErrBadParamVal, "", err)
	}
	// With any other error the host is the only board, and that is enough.
	dir, err := nic.NewDirectory(env.boards)
	if errors.Is(err, nic.ErrNoneSelected) {
		return fail("init", ErrBadParamVal, "", fmt.Errorf("MX_NET: %w", err))
	}
	lib.dir, lib.env, lib.up = dir, env, true
	lib.open = map[*Endpoint]struct{}{}
	lib.retired = map[uint32]tally{}
	environmentsHandler.Store(env.handler())
	return nil
}

// Finalize ends the use of the library (III.1.2). With endpoints still open it
// is ErrBusy, names them, and changes nothing. Init may follow. Safe from any
// goroutine.
func Finalize() error {
	lib.mu.Lock()
	defer lib.mu.Unlock()
	if !lib.up {
		return fail("finalize", ErrNotInitialized, "", nil)
	}
	if len(lib.open) > 0 {
		open := slices.SortedFunc(maps.Keys(lib.open), func(a, b *Endpoint) int {
			return cmp.Or(cmp.Compare(a.board.Number, b.board.Number), cmp.Compare(a.id, b.id))
		})
		var names []string
		for _, ep := range open[:min(len(open), mostNamed)] {
			names = append(names, ep.String())
		}
		return fail("finalize", ErrBusy, "", fmt.Errorf("close %s first", strings.Join(names, ", ")+andMore(", ", len(open))))
	}
	lib.up, lib.dir = false, nil
	return nil
}

// mostNamed is how many things a message names that may be about thousands.
const mostNamed = 8

// andMore ends a list of the first mostNamed things with how many there are beyond, if there are.
func andMore(between string, all int) string {
	if all <= mostNamed {
		return ""
	}
	return fmt.Sprintf("%sand %d more", between, all-mostNamed)
}

// handler is the error handler that the environment asks for, or nil.
func (e *environment) handler() *ErrorHandler {
	if !e.fatal {
		return nil
	}
	h := ErrorHandler(ErrorsAreFatal)
	return &h
}

// directory returns the boards and names, or nil before Init, and what the error handler says of that.
func directory(op string) (*nic.Directory, error) {
	if dir := knownDirectory(); dir != nil {
		return dir, nil
	}
	return nil, fail(op, ErrNotInitialized, "", nil)
}

// knownDirectory returns the boards and names, or nil before Init.
func knownDirectory() *nic.Directory {
	lib.mu.Lock()
	defer lib.mu.Unlock()
	return lib.dir
}

// endpoints returns the open endpoints.
func endpoints() []*Endpoint {
	lib.mu.Lock()
	defer lib.mu.Unlock()
	return slices.Collect(maps.Keys(lib.open))
}
