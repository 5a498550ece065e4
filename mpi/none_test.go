package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"gomx/mpi"
)

// handle is a type whose values are of use only if a call has made them.
type handle struct {
	nothing any    // a nil one
	empty   any    // a zero one
	whole   bool   // a zero one is of use, as the type's documentation says
	remedy  string // what its errors say
}

func handles() []handle {
	return []handle{
		{nothing: (*mpi.Comm)(nil), empty: &mpi.Comm{}, remedy: "Init, Run or Main"},
		{nothing: (*mpi.Cart)(nil), empty: &mpi.Cart{}, remedy: "Init, Run or Main"},
		{nothing: (*mpi.Win[int])(nil), empty: &mpi.Win[int]{}, remedy: "WinCreate"},
		{nothing: (*mpi.Persistent)(nil), empty: &mpi.Persistent{}, remedy: "SendInit"},
		{nothing: (*mpi.Group)(nil), empty: &mpi.Group{}, whole: true, remedy: "Comm.Group"},
		{nothing: (*mpi.Request)(nil), empty: &mpi.Request{}, whole: true, remedy: "Isend"},
	}
}

// TestEveryMethodOfNothing: no method of a nil or zero handle panics. Those that can return an error do, and it names the call and what makes such a
// handle.
func TestEveryMethodOfNothing(t *testing.T) {
	for _, h := range handles() {
		if err := callMethods(reflect.ValueOf(h.nothing), false, h.remedy); err != nil {
			t.Errorf("a nil %T:\n%v", h.nothing, err)
		}
		if err := callMethods(reflect.ValueOf(h.empty), h.whole, h.remedy); err != nil {
			t.Errorf("a zero %T:\n%v", h.empty, err)
		}
	}
}

// callMethods calls all methods but Abort, which ends the process.
func callMethods(v reflect.Value, whole bool, remedy string) error {
	var all []error
	for i := range v.NumMethod() {
		name := v.Type().Method(i).Name
		if name == "Abort" {
			continue
		}
		results, err := callMethod(v.Method(i))
		if err == nil && !whole {
			err = wantNothing(name, results, remedy)
		}
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(all...)
}

// callMethod calls a method with zero arguments.
func callMethod(method reflect.Value) (results []reflect.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panics: %v", p)
		}
	}()
	args := make([]reflect.Value, method.Type().NumIn())
	for i := range args {
		args[i] = reflect.Zero(method.Type().In(i))
	}
	if method.Type().IsVariadic() {
		return method.CallSlice(args), nil
	}
	return method.Call(args), nil
}

// wantNothing wants the error of a call, if it can return one, to name the call and the remedy.
func wantNothing(name string, results []reflect.Value, remedy string) error {
	if len(results) == 0 || results[len(results)-1].Type() != reflect.TypeFor[error]() {
		return nil
	}
	err, _ := results[len(results)-1].Interface().(error)
	e, ok := errors.AsType[*mpi.Error](err)
	if !ok || strings.TrimPrefix(e.Op, "Win.") != name || !strings.Contains(err.Error(), remedy) {
		return fmt.Errorf("error %v, want one that names the call and %q", err, remedy)
	}
	return nil
}

// TestNothingOfNothing: what the methods of nothing return that return no error.
func TestNothingOfNothing(t *testing.T) {
	for what, c := range map[string]*mpi.Comm{"nil": nil, "empty": {}} {
		if c.Rank() != mpi.Undefined || c.Size() != 0 || c.Name() != "" || c.Self() != nil || c.Group() != nil || c.Algorithm("bcast", 8) != "" ||
			c.Compare(nil) != mpi.Identical {
			t.Errorf("%s: rank %d, size %d, name %q, self %v, group %v, algorithm %q, compared with none %v", what, c.Rank(), c.Size(), c.Name(), c.Self(), c.Group(),
				c.Algorithm("bcast", 8), c.Compare(nil))
		}
	}
	var g *mpi.Group
	if g.Rank() != mpi.Undefined || g.Size() != 0 || g.Compare(&mpi.Group{}) != mpi.Identical || (&mpi.Group{}).Compare(nil) != mpi.Identical {
		t.Errorf("no group: rank %d, size %d", g.Rank(), g.Size())
	}
}

// TestCartHasMethodsOfComm: a method that a nil grid only inherited would panic.
func TestCartHasMethodsOfComm(t *testing.T) {
	comm, cart := reflect.TypeFor[*mpi.Comm](), reflect.TypeFor[*mpi.Cart]()
	for i := range comm.NumMethod() {
		m, ok := cart.MethodByName(comm.Method(i).Name)
		if !ok || m.Type.NumIn() != comm.Method(i).Type.NumIn() {
			t.Errorf("%s is not a method of grids", comm.Method(i).Name)
		}
	}
}

const abortVariable = "MPI_TEST_ABORT_NOTHING"

// TestAbortOfNothing: without a communicator Abort still ends the process, and says what is wrong.
func TestAbortOfNothing(t *testing.T) {
	if os.Getenv(abortVariable) != "" {
		(*mpi.Cart)(nil).Abort(3, "there is no time")
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestAbortOfNothing$")
	child.Env = append(os.Environ(), abortVariable+"=1")
	said, _ := child.CombinedOutput()
	if code := child.ProcessState.ExitCode(); code != 3 || !strings.Contains(string(said), "there is no communicator") || !strings.Contains(string(said), "there is no time") {
		t.Errorf("exit code %d, want 3, and the reasons:\n%s", code, said)
	}
}
