package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gomx/mpi"
)

// Two ranks send a number to and fro.
func Example_pingPong() {
	err := mpi.Run(2, func(world *mpi.Comm) error {
		const tag = 1
		ball := []int{0}
		for range 1000 {
			if world.Rank() == 0 {
				if err := mpi.Send(world, ball, 1, tag); err != nil {
					return err
				}
				if _, err := mpi.Recv(world, ball, 1, tag); err != nil {
					return err
				}
				continue
			}
			if _, err := mpi.Recv(world, ball, 0, tag); err != nil {
				return err
			}
			ball[0]++
			if err := mpi.Send(world, ball, 0, tag); err != nil {
				return err
			}
		}
		if world.Rank() == 0 {
			fmt.Println("the ball has been at rank 1 for", ball[0], "times")
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: the ball has been at rank 1 for 1000 times
}

// Each rank gives some numbers, and all get the sums and the largest.
func ExampleAllreduce() {
	err := mpi.Run(4, func(world *mpi.Comm) error {
		mine := []float64{1, float64(world.Rank())}
		sums, largest := make([]float64, 2), make([]float64, 2)
		if err := mpi.Allreduce(world, mine, sums, mpi.Sum); err != nil {
			return err
		}
		if err := mpi.Allreduce(world, mine, largest, mpi.Max); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println("sums", sums, "largest", largest)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: sums [4 6] largest [1 3]
}

// line is a function x -> a*x + b. The type has no pointers in it, so it can travel.
type line struct{ a, b int }

// after makes of each line in acc the function that applies it first, and that of in then. It is
// associative, but in another order something else comes out: acc is always of the lower ranks.
func after(acc, in []line) {
	for i, second := range in {
		first := acc[i]
		acc[i] = line{second.a * first.a, second.a*first.b + second.b}
	}
}

// An operation of one's own, on a type of one's own, that is not commutative.
func ExampleOp() {
	err := mpi.Run(3, func(world *mpi.Comm) error {
		mine := []line{{2, world.Rank()}} // x -> 2x + rank
		all := make([]line, 1)
		if err := mpi.Reduce(world, mine, all, after, 0); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Printf("x -> %dx + %d\n", all[0].a, all[0].b)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: x -> 8x + 4
}

// A call that waits ends with its context.
func ExampleComm_WithContext() {
	err := mpi.Run(2, func(world *mpi.Comm) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		if world.Rank() == 0 {
			_, err := mpi.Recv(world.WithContext(ctx), make([]byte, 1), 1, 1) // nobody sends that
			fmt.Println(errors.Is(err, context.DeadlineExceeded))
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: true
}
