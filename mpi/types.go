package mpi

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"

	"gomx/mpi/internal/elem"
	"gomx/mx"
)

// In checked mode a message of the program begins with a head that says what its elements consist of, and is received with the head in
// a place of its own. Its calls all take the slow path. As the business cards of the ranks say whether a rank checks, and Init refuses a job of
// which not all do, no rank gets a head that it does not expect.

// memory is that of a message as the program sees it.
type memory struct {
	bytes   []byte
	size    int // of an element
	element reflect.Type
}

// memoryOf returns memory of elements of type T.
func memoryOf[T any](b []byte) memory { return memory{b, elem.Size[T](), reflect.TypeFor[T]()} }

func (c *Comm) checksTypes() bool { return c.seat.job.set.check }

// The head is a digest of what a run of elements consists of, and the layout of one, for people.
const (
	typeHeadSize = 64
	layoutAt     = 8
)

func typeHead(t reflect.Type) []byte {
	b := make([]byte, typeHeadSize)
	binary.LittleEndian.PutUint64(b, digest(runOf(t)))
	copy(b[layoutAt:], shortened(typeWords(t), typeHeadSize-layoutAt))
	return b
}

// typeWords says what an element consists of. Structs may differ in nothing but what lies behind their last field.
func typeWords(t reflect.Type) string {
	if words := layoutOf(t); !strings.ContainsRune(words, '{') {
		return words
	}
	return elementOf(t) + " bytes"
}

// runOf says what a run of elements consists of: two points of two float64 are four float64, and a pair of structs is two of them.
func runOf(t reflect.Type) string {
	if basic, ok := uniform(t); ok {
		return basic
	}
	for t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if all, ok := appendParts(nil, t, 0); ok {
		n := period(all, t.Size())
		return fmt.Sprint(all[:n], " of ", t.Size()*uintptr(n)/uintptr(len(all)))
	}
	return elementOf(t)
}

// part is a value of a basic type in an element.
type part struct {
	basic string
	at    uintptr
}

// mostParts bounds the work on types whose arrays are large.
const mostParts = 256

// appendParts appends what an element at a place consists of, whatever structs and arrays bundle it. False: that is too much.
func appendParts(all []part, t reflect.Type, at uintptr) (_ []part, ok bool) {
	ok = true
	switch t.Kind() {
	case reflect.Array:
		for i := 0; i < t.Len() && ok; i++ {
			all, ok = appendParts(all, t.Elem(), at+uintptr(i)*t.Elem().Size())
		}
	case reflect.Struct:
		for i := 0; i < t.NumField() && ok; i++ {
			all, ok = appendParts(all, t.Field(i).Type, at+t.Field(i).Offset)
		}
	default:
		all = append(all, part{layoutOf(t), at})
	}
	return all, ok && len(all) <= mostParts
}

// period returns of how many parts an element of a size repeats the first.
func period(all []part, size uintptr) int {
	for n := 1; n < len(all); n++ {
		times := uintptr(len(all) / n)
		if len(all)%n != 0 || size%times != 0 {
			continue
		}
		same := true
		for i := n; i < len(all) && same; i++ {
			same = all[i] == part{all[i-n].basic, all[i-n].at + size/times}
		}
		if same {
			return n
		}
	}
	return len(all)
}

// elementOf says what one element is.
func elementOf(t reflect.Type) string { return fmt.Sprint(layoutOf(t), " of ", t.Size()) }

// uniform returns the basic type of which alone a type consists, without gaps.
func uniform(t reflect.Type) (basic string, ok bool) {
	switch t.Kind() {
	case reflect.Array:
		return uniform(t.Elem())
	case reflect.Struct:
		size := uintptr(0)
		for i := range t.NumField() {
			f := t.Field(i).Type
			if f.Size() == 0 {
				continue // such as a structs.HostLayout
			}
			field, ok := uniform(f)
			if !ok || size > 0 && field != basic {
				return "", false
			}
			basic = field
			size += f.Size()
		}
		return basic, size == t.Size()
	default:
		return layoutOf(t), true
	}
}

// isendTyped starts a send of segments, of which the first is a head.
func (c *Comm) isendTyped(segs [][]byte, dest mx.EndpointAddr, match uint64, sync bool) (mx.Request, error) {
	if sync {
		return c.seat.ep.Issendv(segs, dest, match, &headed{})
	}
	return c.seat.ep.Isendv(segs, dest, match, &headed{})
}

// headed is the context of a send with a head.
type headed struct{}

// conclude takes the head out of the lengths.
func (*headed) conclude(got *mx.Status) {
	got.MsgLength -= min(got.MsgLength, typeHeadSize)
	got.XferLength -= min(got.XferLength, typeHeadSize)
}

// expected is what a receive expects in checked mode. It is the context of its request.
type expected struct {
	headed
	element reflect.Type
	head    [typeHeadSize]byte // of the message that has come
	unpack  *unpacking
}

// expect returns what a receive of elements expects that otherwise had ctx as its context.
func expect(element reflect.Type, ctx any) *expected {
	x := &expected{element: element}
	x.unpack, _ = ctx.(*unpacking)
	return x
}

// segments is where the message goes.
func (x *expected) segments(b []byte) [][]byte {
	return [][]byte{x.head[:], b[:min(uint64(len(b)), uint64(mx.MaxMessage)-uint64(len(x.head)))]}
}

// conclude takes the head out of the lengths of what has come, and returns how its elements differ from what is expected.
func (x *expected) conclude(got *mx.Status) error {
	if got.Code != mx.StatusSuccess && got.Code != mx.StatusTruncated {
		return nil
	}
	x.headed.conclude(got)
	if want := typeHead(x.element); got.MsgLength > 0 && !bytes.Equal(x.head[:layoutAt], want[:layoutAt]) {
		return fmt.Errorf("the message consists of %s, the buffer of %s: both sides must use the same type", layoutIn(x.head[:]), layoutIn(want))
	}
	if x.unpack != nil {
		x.unpack.done(int(got.XferLength))
	}
	return nil
}

// layoutIn returns the layout in a head.
func layoutIn(head []byte) string { return string(bytes.TrimRight(head[layoutAt:], "\x00")) }
