package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"structs"
	"testing"

	"gomx/mpi"
)

// sendingTyped are the ways to send a message, from rank 0 to rank 1, and receivingTyped those to receive it.
var (
	sendingTyped = map[string]func(c *mpi.Comm, buf []int64, tag int) error{
		"Send":  func(c *mpi.Comm, buf []int64, tag int) error { return mpi.Send(c, buf, 1, tag) },
		"Ssend": func(c *mpi.Comm, buf []int64, tag int) error { return mpi.Ssend(c, buf, 1, tag) },
		"Bsend": func(c *mpi.Comm, buf []int64, tag int) error { return mpi.Bsend(c, buf, 1, tag) },
		"Isend": func(c *mpi.Comm, buf []int64, tag int) error {
			q, err := mpi.Isend(c, buf, 1, tag)
			return errors.Join(err, second(q.Wait()))
		},
		"SendInit": func(c *mpi.Comm, buf []int64, tag int) error {
			return persistently(mpi.SendInit(c, buf, 1, tag))
		},
		"SendLayout": func(c *mpi.Comm, buf []int64, tag int) error {
			return mpi.SendLayout(c, append(buf, buf...), mpi.Indexed([]int{1, len(buf) - 1}, []int{0, len(buf)}), 1, tag)
		},
		"SendLayout of many blocks": func(c *mpi.Comm, buf []int64, tag int) error {
			return mpi.SendLayout(c, make([]int64, 2*len(buf)), mpi.Vector(len(buf), 1, 2), 1, tag)
		},
		"Sendrecv": func(c *mpi.Comm, buf []int64, tag int) error {
			_, err := mpi.Sendrecv(c, buf, 1, tag, buf[:0:0], mpi.ProcNull, 0)
			return err
		},
		"SendrecvReplace": func(c *mpi.Comm, buf []int64, tag int) error {
			_, err := mpi.SendrecvReplace(c, buf, 1, tag, mpi.ProcNull, 0)
			return err
		},
	}
	receivingTyped = map[string]func(c *mpi.Comm, buf []float64, tag int) error{
		"Recv": func(c *mpi.Comm, buf []float64, tag int) error {
			_, err := mpi.Recv(c, buf, 0, tag)
			return err
		},
		"Recv of anybody": func(c *mpi.Comm, buf []float64, _ int) error {
			_, err := mpi.Recv(c, buf, mpi.AnySource, mpi.AnyTag)
			return err
		},
		"Irecv": func(c *mpi.Comm, buf []float64, tag int) error {
			q, err := mpi.Irecv(c, buf, 0, tag)
			return errors.Join(err, second(q.Wait()))
		},
		"Irecv and WaitAll": func(c *mpi.Comm, buf []float64, tag int) error {
			q, err := mpi.Irecv(c, buf, 0, tag)
			return errors.Join(err, mpi.WaitAll([]mpi.Request{q}, nil))
		},
		"Irecv and TestSome": func(c *mpi.Comm, buf []float64, tag int) error {
			q, err := mpi.Irecv(c, buf, 0, tag)
			var done []mpi.Completion
			for err == nil && len(done) == 0 {
				done, err = mpi.TestSome([]mpi.Request{q}, nil)
			}
			return err
		},
		"Mrecv": func(c *mpi.Comm, buf []float64, tag int) error {
			m, st, err := c.Mprobe(0, tag)
			if err != nil || st.Bytes != 8*len(buf) {
				return fmt.Errorf("probed %+v, %w", st, err)
			}
			_, err = mpi.Mrecv(m, buf)
			return err
		},
		"RecvInit": func(c *mpi.Comm, buf []float64, tag int) error { return persistently(mpi.RecvInit(c, buf, 0, tag)) },
		"RecvLayout": func(c *mpi.Comm, buf []float64, tag int) error {
			_, err := mpi.RecvLayout(c, append(buf, buf...), mpi.Indexed([]int{1, len(buf) - 1}, []int{0, len(buf)}), 0, tag)
			return err
		},
		"RecvLayout of many blocks": func(c *mpi.Comm, buf []float64, tag int) error {
			_, err := mpi.RecvLayout(c, make([]float64, 2*len(buf)), mpi.Vector(len(buf), 1, 2), 0, tag)
			return err
		},
		"Sendrecv": func(c *mpi.Comm, buf []float64, tag int) error {
			_, err := mpi.Sendrecv(c, buf[:0:0], mpi.ProcNull, 0, buf, 0, tag)
			return err
		},
		"SendrecvReplace": func(c *mpi.Comm, buf []float64, tag int) error {
			_, err := mpi.SendrecvReplace(c, buf, mpi.ProcNull, 0, 0, tag)
			return err
		},
		"a buffer that is too short": func(c *mpi.Comm, buf []float64, tag int) error {
			_, err := mpi.Recv(c, buf[:1], 0, tag)
			return err
		},
	}
)

func persistently(p *mpi.Persistent, err error) error {
	if err != nil {
		return err
	}
	q, err := p.Start()
	return errors.Join(err, second(q.Wait()))
}

// TestCheckedTypes: with the check a receive into elements of another type than the sender's is an error that names both, both ranks
// and the tag, however the message was sent and received, and of whatever size. The next message is right.
func TestCheckedTypes(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		for _, n := range []int{2, 600, 100_000} {
			for sending, send := range sendingTyped {
				for receiving, receive := range receivingTyped {
					if err := exchangeTyped(c, n, send, receive); err != nil {
						return fmt.Errorf("%d elements by %s and %s: %w", n, sending, receiving, err)
					}
					if err := c.Barrier(); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}, mpi.WithCheckedCollectives())
}

func exchangeTyped(c *mpi.Comm, n int, send func(*mpi.Comm, []int64, int) error, receive func(*mpi.Comm, []float64, int) error) error {
	const tag = 7
	if c.Rank() == 0 {
		err := send(c, make([]int64, n), tag)
		if errors.Is(err, mpi.ErrTruncate) { // a synchronous send into a buffer that is too short
			if want := fmt.Sprintf("has %d bytes, the buffer 8:", 8*n); !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%w, want %q", err, want)
			}
			err = nil
		}
		return errors.Join(err, mpi.Send(c, []number{5}, 1, tag))
	}
	err := receive(c, make([]float64, n), tag)
	if err := wantError(err, mpi.ErrType, 1); err != nil {
		return err
	}
	for _, word := range []string{"int64", "float64", "rank 1", "rank 0", "tag 7"} {
		if !strings.Contains(err.Error(), word) {
			return fmt.Errorf("%q does not mention %q", err, word)
		}
	}
	next := []int{0}
	st, err := mpi.Recv(c, next, 0, tag)
	if err != nil || st.Count != 1 || st.Bytes != 8 || st.Tag != tag || next[0] != 5 {
		return fmt.Errorf("the next message: %+v, %v, %w", st, next, err)
	}
	return nil
}

// TestCheckedTypesOfOneMeaning: what a message consists of counts, not how the two sides call it, and nothing is of any type.
func TestCheckedTypesOfOneMeaning(t *testing.T) {
	world(t, 1, func(c *mpi.Comm) error {
		for tag, pass := range []func(tag int) error{
			func(tag int) error { return passTyped(c, []point{{1, 2}}, []float64{0, 0}, tag) },
			func(tag int) error { return passTyped(c, []float64{1, 2}, []point{{}}, tag) },
			func(tag int) error { return passTyped(c, [][2]float64{{1, 2}}, []point{{}}, tag) },
			func(tag int) error { return passTyped(c, []int{1}, []int64{0}, tag) },
			func(tag int) error { return passTyped(c, [][2]pair{{}}, make([]pair, 2), tag) },
			func(tag int) error { return passTyped(c, make([]struct{ V pair }, 1), make([]pair, 1), tag) },
			func(tag int) error { return passTyped(c, make([]struct{ V [2]pair }, 1), make([]pair, 2), tag) },
			func(tag int) error { return passTyped(c, make([]pair, 2), make([]struct{ P, Q pair }, 1), tag) },
			func(tag int) error { return passTyped(c, []int16{}, []float64{}, tag) },
		} {
			if err := pass(tag); err != nil {
				return fmt.Errorf("pair %d: %w", tag, err)
			}
		}
		if err := passTyped(c, make([]pair, 1), make([]couple, 1), 9); !errors.Is(err, mpi.ErrType) {
			return fmt.Errorf("structs that differ: %v", err)
		}
		return nil
	}, mpi.WithCheckedCollectives())
}

// TestCheckedTypesAreToldApart: the error shows how two types differ, though they are long, or differ behind their last field.
func TestCheckedTypesAreToldApart(t *testing.T) {
	type long[T any] struct {
		A, B, C, D, E, F, G int64
		H                   T
	}
	type padded struct {
		A int64
		_ struct{}
	}
	world(t, 1, func(c *mpi.Comm) error {
		for tag, err := range []error{
			passTyped(c, make([]long[int64], 1), make([]long[float64], 1), 0),
			passTyped(c, make([]padded, 1), make([]struct{ A int64 }, 2), 1),
		} {
			if !errors.Is(err, mpi.ErrType) {
				return fmt.Errorf("pair %d: %v", tag, err)
			}
			_, words, _ := strings.Cut(err.Error(), "the message consists of ")
			sent, rest, _ := strings.Cut(words, ", the buffer of ")
			into, _, _ := strings.Cut(rest, ": both")
			if sent == into || into == "" {
				return fmt.Errorf("pair %d: %w", tag, err)
			}
		}
		return nil
	}, mpi.WithCheckedCollectives())
}

// TestCheckedMessages: with the check, messages of all sizes come as ever.
func TestCheckedMessages(t *testing.T) {
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			skipWithout(t, medium)
			world(t, 3, ringOnce, mpi.WithTransports(medium), mpi.WithCheckedCollectives())
		})
	}
}

func passTyped[T, U any](c *mpi.Comm, send []T, recv []U, tag int) error {
	q, err := mpi.Isend(c, send, 0, tag)
	if err != nil {
		return err
	}
	_, err = mpi.Recv(c, recv, 0, tag)
	return errors.Join(err, second(q.Wait()))
}

// hosts is of two numbers, and a field without bytes in front of them.
type hosts struct {
	_    structs.HostLayout
	X, Y float64
}

// spaced is of two kinds of numbers, with fields without bytes.
type spaced struct {
	_ struct{}
	A int32
	_ [0]int32
	B float32
}

// TestFieldsWithoutBytes: fields that have no bytes don't tell types apart.
func TestFieldsWithoutBytes(t *testing.T) {
	world(t, 2, func(c *mpi.Comm) error {
		plain, sum := make([]float64, 2), []hosts{{X: 1, Y: 2}}
		if c.Rank() == 0 {
			one := []hosts{{X: 1, Y: 2}}
			return errors.Join(mpi.Send(c, one, 1, 0), mpi.Bcast(c, one, 0), mpi.Send(c, []struct {
				A int32
				B float32
			}{{3, 4}}, 1, 0))
		}
		mixed := make([]spaced, 1)
		err := errors.Join(second(mpi.Recv(c, plain, 0, 0)), mpi.Bcast(c, plain, 0), second(mpi.Recv(c, mixed, 0, 0)))
		if err == nil && (plain[0] != sum[0].X || plain[1] != sum[0].Y || mixed[0].A != 3 || mixed[0].B != 4) {
			err = fmt.Errorf("%v, %v", plain, mixed)
		}
		return err
	}, mpi.WithCheckedCollectives())
}
