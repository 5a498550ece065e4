package main

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/dial"
	"gomx/bench/ordinary/internal/payload"
)

// Methods of the service.
const (
	service = "ordinary.Service"
	unary   = "/" + service + "/Unary"   // answers with its request
	echo    = "/" + service + "/Echo"    // a stream that answers with each of its requests
	answers = "/" + service + "/Answers" // a stream of as many answers as its request says
	begin   = "/" + service + "/Begin"   // begins the measurement
	end     = "/" + service + "/End"
)

// message is what is sent.
type message = wrapperspb.BytesValue

type server struct {
	*options
	meter figure.Meter
	end   chan struct{}
}

// serve serves until somebody calls End.
func serve(o *options) error {
	ln, err := dial.Listen(o.over, o.address)
	if err != nil {
		return err
	}
	s := &server{options: o, end: make(chan struct{})}
	g := grpc.NewServer()
	g.RegisterService(&grpc.ServiceDesc{
		ServiceName: service,
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			s.method("Unary", func() {}),
			s.method("Begin", func() { s.meter = figure.Begin() }),
			s.method("End", func() { s.meter.Aside(); close(s.end) }),
		},
		Streams: []grpc.StreamDesc{
			{StreamName: "Echo", Handler: s.echo, ServerStreams: true, ClientStreams: true},
			{StreamName: "Answers", Handler: s.answers, ServerStreams: true},
		},
	}, s)
	failed := make(chan error, 1)
	go func() { failed <- g.Serve(ln) }()
	select {
	case err := <-failed:
		return err
	case <-s.end:
		g.GracefulStop()
		return nil
	}
}

// method answers with the request after it has called f.
func (s *server) method(name string, f func()) grpc.MethodDesc {
	return grpc.MethodDesc{
		MethodName: name,
		Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := &message{}
			err := decode(in)
			f()
			return in, err
		},
	}
}

func (s *server) echo(_ any, stream grpc.ServerStream) error {
	for {
		in := &message{}
		err := stream.RecvMsg(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = stream.SendMsg(in)
		}
		if err != nil {
			return err
		}
	}
}

func (s *server) answers(_ any, stream grpc.ServerStream) error {
	count := &wrapperspb.Int64Value{}
	if err := stream.RecvMsg(count); err != nil {
		return err
	}
	answer := &message{Value: payload.Bytes(s.length)}
	for range count.GetValue() {
		if err := stream.SendMsg(answer); err != nil {
			return err
		}
	}
	return nil
}
