package mpi

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"reflect"
	"runtime"
	"strings"

	"gomx/mpi/internal/coll"
)

// deed is what a rank is about to do, as far as all ranks must do the same.
type deed struct {
	kind    coll.Kind
	root    int
	element reflect.Type // nil: it has none
	count   int          // elements, where all have as many
	op      string
	parts   uint64 // digest of counts and displacements, where they must agree
	window  uint64 // the number of the call that has made it; 0: it has none
}

// agreeOnCheck wants all ranks to check, or none: those that do exchange more than others expect.
func (j *job) agreeOnCheck() error {
	for rank := range j.cards {
		if j.cards[rank].checks == j.cards[0].checks {
			continue
		}
		with, without := 0, rank
		if !j.cards[0].checks {
			with, without = rank, 0
		}
		return failOp("Init", ErrLaunch, "rank %d has MX_CHECK=1 or WithCheckedCollectives, rank %d has not: all ranks must have it, or none", with, without)
	}
	return nil
}

func (n *net) checked() bool { return n.c.seat.job.set.check }

// The record of a deed is the call's name, the operation's, the layout of elements, and numbers.
const (
	nameRoom   = 32
	opRoom     = 64
	layoutRoom = 64
	numbersAt  = nameRoom + opRoom + layoutRoom
	recordRoom = numbersAt + 5*8
)

// agree compares what the ranks are about to do, in checked mode: rank 0 gets all records
// and tells everybody of the first that differs from its own.
func (n *net) agree(d deed) error {
	if !n.checked() {
		return nil
	}
	n.rounds = n.rounds || d.element == nil // what is compared is no buffer of the program's
	verdict, err := compare(n, n.record(&d))
	if err != nil {
		return err
	}
	rank := binary.LittleEndian.Uint64(verdict)
	if rank == 0 {
		return nil
	}
	return n.c.failWith(n.op, Undefined, Undefined, ErrMismatch,
		fmt.Errorf("call %d on the communicator: rank 0 is in %s, and rank %d in %s",
			n.seq, describe(verdict[8:8+recordRoom]), rank, describe(verdict[8+recordRoom:])))
}

// compare returns the verdict of rank 0 on the records of all: the first rank whose record differs, or 0, and then both records.
func compare(n coll.Net, own []byte) (verdict []byte, err error) {
	size := n.Size()
	var all []byte
	if n.Rank() == 0 {
		all = n.Scratch(size * recordRoom)
	}
	if err := coll.Gather(n, own, all, coll.Equal(recordRoom), 0, coll.Flat); err != nil {
		return nil, err
	}
	verdict = n.Scratch(8 + 2*recordRoom)
	if n.Rank() == 0 {
		clear(verdict)
		for rank := 1; rank < size; rank++ {
			if other := all[rank*recordRoom : (rank+1)*recordRoom]; !bytes.Equal(own, other) {
				binary.LittleEndian.PutUint64(verdict, uint64(rank))
				copy(verdict[8:], own)
				copy(verdict[8+recordRoom:], other)
				break
			}
		}
	}
	return verdict, coll.Bcast(n, verdict, 0, coll.Binomial)
}

func (n *net) record(d *deed) []byte {
	r := n.Scratch(recordRoom)
	clear(r)
	copy(r[:nameRoom], n.op)
	copy(r[nameRoom:nameRoom+opRoom], d.op)
	unit := uint64(0)
	if d.element != nil {
		unit = uint64(d.element.Size())
		copy(r[nameRoom+opRoom:numbersAt], layoutOf(d.element))
	}
	for i, number := range []uint64{uint64(d.root), unit, uint64(d.count), d.parts, d.window} {
		binary.LittleEndian.PutUint64(r[numbersAt+8*i:], number)
	}
	return r
}

// describe puts a record in words.
func describe(r []byte) string {
	text := func(b []byte) string { return string(bytes.TrimRight(b, "\x00")) }
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(r[numbersAt+8*i:]) }
	var b strings.Builder
	fmt.Fprintf(&b, "%s(root %d, %d elements of %d bytes", text(r[:nameRoom]), number(0), number(2), number(1))
	if layout := text(r[nameRoom+opRoom : numbersAt]); layout != "" {
		fmt.Fprintf(&b, ", %s", layout)
	}
	if op := text(r[nameRoom : nameRoom+opRoom]); op != "" {
		fmt.Fprintf(&b, ", %s", op)
	}
	if parts := number(3); parts != 0 {
		fmt.Fprintf(&b, ", counts with digest %08x", uint32(parts))
	}
	b.WriteString(")")
	if window := number(4); window != 0 {
		fmt.Fprintf(&b, " of the window of call %d", window)
	}
	return b.String()
}

// layoutOf describes what lies in an element. Types with the same have the same meaning: int is int64 on machines of 64 bits,
// and names don't count.
func layoutOf(t reflect.Type) string {
	switch k := t.Kind(); k {
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		name := "int"
		if k != reflect.Int {
			name = "uint"
		}
		return fmt.Sprint(name, 8*t.Size())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), layoutOf(t.Elem()))
	case reflect.Struct:
		var b strings.Builder
		for i := range t.NumField() {
			fmt.Fprintf(&b, "%s@%d ", layoutOf(t.Field(i).Type), t.Field(i).Offset)
		}
		return "{" + strings.TrimSpace(b.String()) + "}"
	default:
		return k.String()
	}
}

// nameOf returns the name of an operation's function. Those of one program are the same at all ranks.
func nameOf[T any](op Op[T]) string {
	f := runtime.FuncForPC(reflect.ValueOf(op).Pointer())
	if f == nil {
		return "unknown"
	}
	name := f.Name()
	return name[strings.LastIndexByte(name, '/')+1:]
}

// digest condenses counts that all ranks must give alike.
func digest(lists ...[]int) uint64 {
	h := fnv.New64a()
	for _, list := range lists {
		_ = binary.Write(h, binary.LittleEndian, int64(len(list)))
		for _, n := range list {
			_ = binary.Write(h, binary.LittleEndian, int64(n))
		}
	}
	return h.Sum64()
}
