package mpi

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math"
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
	count   int          // elements, where all have as many; or varied
	op      string
	counts  []int // of all ranks, where all give the same
}

// varied is the count of elements where ranks may have more or fewer.
const varied = -1

// agreeOnCheck wants all ranks to check, or none: those that do exchange more than others expect.
func (j *job) agreeOnCheck() error {
	for rank := range j.businessCards {
		if j.businessCards[rank].checks == j.businessCards[0].checks {
			continue
		}
		with, without := 0, rank
		if !j.businessCards[0].checks {
			with, without = rank, 0
		}
		return failOp("Init", ErrLaunch, "rank %d has MX_CHECK=1 or WithCheckedCollectives, rank %d has not: all ranks must have it, or none", with, without)
	}
	return nil
}

// said is what a rank says of the algorithms that were chosen. A text that is too long for a business card ends in its checksum.
func (s *settings) said() string {
	text := s.algorithms.String()
	if len(text) > math.MaxUint8 {
		text = fmt.Sprintf("%.200s ... %08x", text, crc32.ChecksumIEEE([]byte(text)))
	}
	return text
}

// agreeOnAlgorithms wants all ranks to have the same algorithms chosen: those of one algorithm expect other messages than those of another.
func (j *job) agreeOnAlgorithms() error {
	for rank := range j.businessCards {
		if mine, first := j.businessCards[rank].algorithms, j.businessCards[0].algorithms; mine != first {
			return failOp("Init", ErrLaunch, "rank %d has MX_COLL or WithAlgorithms %q, rank 0 has %q: all ranks must have the same", rank, mine, first)
		}
	}
	return nil
}

func (n *net) checked() bool { return n.c.seat.job.set.check }

// The record of a deed is a digest of all that must be the same, and words for people.
const (
	digestSize     = 8
	callRecordSize = 384
	itemSize       = 85 // of what may be long
)

// agree compares what the ranks are about to do, in checked mode: rank 0 gets all records
// and tells everybody of the first that differs from its own. via is n, or the plan of a nonblocking collective.
func (n *net) agree(via coll.Net, d deed) error {
	own := n.record(d)
	n.rounds = n.rounds || d.element == nil // what is compared is no buffer of the program's
	verdict, err := compare(via, own)
	if err != nil {
		return err
	}
	return coll.Do(via, func() error { return n.mismatch(verdict) })
}

// mismatch returns the error that a verdict stands for.
func (n *net) mismatch(verdict []byte) error {
	rank := binary.LittleEndian.Uint64(verdict)
	if rank == 0 {
		return nil
	}
	words := func(record []byte) []byte { return bytes.TrimRight(record[digestSize:callRecordSize], "\x00") }
	return n.c.failWith(n.op, Undefined, Undefined, ErrMismatch, fmt.Errorf("call %d on the communicator: rank 0 is in %s, and rank %d in %s",
		n.seq, words(verdict[8:]), rank, words(verdict[8+callRecordSize:])))
}

// compare returns the verdict of rank 0 on the records of all: the first rank whose record differs, or 0, and then both records.
func compare(n coll.Net, own []byte) (verdict []byte, err error) {
	size := n.Size()
	var all []byte
	if n.Rank() == 0 {
		all = n.Scratch(size * callRecordSize)
	}
	if err := coll.Gather(n, own, all, coll.Equal(callRecordSize), 0, coll.Flat); err != nil {
		return nil, err
	}
	verdict = n.Scratch(8 + 2*callRecordSize)
	if n.Rank() == 0 {
		_ = coll.Do(n, func() error { judge(verdict, own, all); return nil })
	}
	return verdict, coll.Bcast(n, verdict, 0, coll.Binomial)
}

// judge writes the verdict on the records of all.
func judge(verdict, own, all []byte) {
	clear(verdict)
	for rank := 1; rank < len(all)/callRecordSize; rank++ {
		if other := all[rank*callRecordSize : (rank+1)*callRecordSize]; !bytes.Equal(own[:digestSize], other[:digestSize]) {
			binary.LittleEndian.PutUint64(verdict, uint64(rank))
			copy(verdict[8:], own)
			copy(verdict[8+callRecordSize:], other)
			break
		}
	}
}

func (n *net) record(d deed) []byte {
	r := n.Scratch(callRecordSize)
	clear(r)
	length := d.count
	if length != varied {
		length = d.bytes(length)
	}
	var lengths []int
	for _, count := range d.counts {
		lengths = append(lengths, d.bytes(count))
	}
	binary.LittleEndian.PutUint64(r, digest(fmt.Sprintf("%q %q %d %d %q %q %d %d", n.op, n.given, d.kind, d.root, d.consistsOf(), d.op, length, lengths)))
	copy(r[digestSize:], n.describe(&d))
	return r
}

// bytes returns the length of so many elements.
func (d *deed) bytes(count int) int {
	if d.element == nil {
		return count
	}
	return count * int(d.element.Size())
}

// consistsOf says what the ranks' elements must have in common. What is only moved may be bundled differently, as in messages.
func (d *deed) consistsOf() string {
	if d.element == nil {
		return ""
	}
	switch d.kind {
	case coll.KindBcast, coll.KindGather, coll.KindScatter, coll.KindAllgather, coll.KindAlltoall:
		return runOf(d.element)
	}
	return elementOf(d.element)
}

// describe puts a deed in words: what the program has given the call.
func (n *net) describe(d *deed) string {
	var given []string
	if n.given != "" {
		given = append(given, short(n.given))
	}
	if !n.rounds {
		given = append(given, d.arguments()...)
	}
	text := n.op
	if len(given) > 0 {
		text += "(" + strings.Join(given, ", ") + ")"
	}
	return text
}

// arguments are the arguments of the program in words.
func (d *deed) arguments() (words []string) {
	switch d.kind {
	case coll.KindBcast, coll.KindReduce, coll.KindGather, coll.KindScatter:
		words = append(words, fmt.Sprintf("root %d", d.root))
	}
	if t := d.element; t != nil {
		number := ""
		if d.count != varied {
			number = fmt.Sprintf("%d ", d.count)
		}
		words = append(words, fmt.Sprintf("%selements of %d bytes, %s", number, t.Size(), short(layoutOf(t))))
	}
	if d.counts != nil {
		words = append(words, "counts "+short(fmt.Sprint(d.counts)))
	}
	if d.op != "" {
		words = append(words, short(d.op))
	}
	return words
}

// short cuts what is long. A digest stands for the whole then.
func short(words string) string { return shortened(words, itemSize) }

func shortened(words string, most int) string {
	if len(words) <= most {
		return words
	}
	end := fmt.Sprintf("... (digest %08x)", uint32(digest(words)))
	return words[:most-len(end)] + end
}

// digest condenses words, so that those that differ have different ones.
func digest(words string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(words))
	return h.Sum64()
}

// given returns in words what else the program gives a call that all ranks must give alike. It is empty unless that is compared.
func (c *Comm) given(format string, args ...any) string {
	if !c.seat.job.set.check {
		return ""
	}
	return fmt.Sprintf(format, args...)
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
			if f := t.Field(i); f.Type.Size() != 0 {
				fmt.Fprintf(&b, "%s@%d ", layoutOf(f.Type), f.Offset)
			}
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
