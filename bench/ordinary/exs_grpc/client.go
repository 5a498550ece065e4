package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/dial"
	"gomx/bench/ordinary/internal/payload"
	"gomx/bench/ordinary/internal/workers"
)

type client struct {
	*options
	conn *grpc.ClientConn
	want []byte
}

func call(o *options) error {
	there := dial.Context(o.over, o.address)
	conn, err := grpc.NewClient("passthrough:///ordinary",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return there(ctx, "", address) }))
	if err != nil {
		return err
	}
	c := &client{o, conn, payload.Bytes(o.length)}
	run := map[string]func(count int) error{"": c.calls, "echo": c.echo, "answers": c.answers}[o.stream]
	if run == nil {
		return fmt.Errorf("no such stream: %q", o.stream)
	}
	count := max(o.count/o.workers, 1) * o.workers
	if err := run(count/10 + o.workers); err != nil {
		return err
	}
	if err := c.once(begin); err != nil {
		return err
	}
	m := figure.Begin()
	if err := run(count); err != nil {
		return err
	}
	m.Each(count)
	if err := c.once(end); err != nil {
		return err
	}
	return conn.Close()
}

func (c *client) once(method string) error {
	out, back := &message{Value: c.want}, &message{}
	if err := c.conn.Invoke(context.Background(), method, out, back); err != nil {
		return err
	}
	return payload.Same(back.GetValue(), c.want)
}

func (c *client) calls(count int) error {
	return workers.Run(c.workers, func() error {
		for range count / c.workers {
			if err := c.once(unary); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *client) echo(count int) error {
	stream, err := c.conn.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, echo)
	if err != nil {
		return err
	}
	for range count {
		if err := stream.SendMsg(&message{Value: c.want}); err != nil {
			return err
		}
		if err := c.next(stream); err != nil {
			return err
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	return c.ended(stream)
}

func (c *client) answers(count int) error {
	stream, err := c.conn.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true}, answers)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(wrapperspb.Int64(int64(count))); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for range count {
		if err := c.next(stream); err != nil {
			return err
		}
	}
	return c.ended(stream)
}

// next receives a message, and checks it.
func (c *client) next(stream grpc.ClientStream) error {
	back := &message{}
	if err := stream.RecvMsg(back); err != nil {
		return err
	}
	return payload.Same(back.GetValue(), c.want)
}

// ended wants the stream to have no more messages.
func (c *client) ended(stream grpc.ClientStream) error {
	if err := stream.RecvMsg(&message{}); !errors.Is(err, io.EOF) {
		return fmt.Errorf("after the last message: %v", err)
	}
	return nil
}
