package mpi_test

import (
	"testing"

	"gomx/mpi"
	"gomx/mx"
)

// The end of a job asks no handler of the program's, which has an endpoint of its own: with MX_ERRORS_ARE_FATAL that would end the process.
func TestNoHandlerIsAskedAtTheEnd(t *testing.T) {
	_ = mx.Finalize() // so that the job is the first to use it
	before := mx.SetErrorHandler(func(err *mx.Error) error {
		t.Error("a handler is asked:", err)
		return err
	})
	defer func() { mx.SetErrorHandler(before) }()
	var ep *mx.Endpoint
	err := mpi.Run(1, func(*mpi.Comm) (err error) {
		ep, err = mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 0, mx.WithTransports("mem"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ep.Close(); err != nil {
		t.Error(err)
	}
}
