//go:build linux

package shm_test

import (
	"bytes"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"gomx/internal/testlength"
	"gomx/transport/shm"
)

func alloc(t testing.TB, n int) []byte {
	t.Helper()
	b, err := shm.Alloc(n)
	if err != nil {
		t.Skip("no shared memory here:", err)
	}
	return b
}

func free(t testing.TB, blocks ...[]byte) {
	t.Helper()
	for _, b := range blocks {
		if err := shm.Free(b); err != nil {
			t.Error(err)
		}
	}
}

// begins reports whether block is one that begins where b does and has all of b.
func begins(block, b []byte) bool {
	return unsafe.SliceData(block) == unsafe.SliceData(b) && len(block) >= len(b)
}

func TestBlockAroundSlices(t *testing.T) {
	for _, n := range []int{1, 63, 64, 100, 2048, 2049, 4096, 70_000, 1 << 20, 3<<20 + 5} {
		b := alloc(t, n)
		for _, part := range [][]byte{b, b[:1], b[n-1:], b[n/2:], b[n/3 : n/3+1]} {
			block, ok := shm.Block(part)
			if !ok || !begins(block, b) || len(block) >= max(2*n, n+4096) || cap(block) != len(block) {
				t.Errorf("%d bytes: the block around %d of them has %d, %v", n, len(part), len(block), ok)
			}
		}
		for what, part := range map[string][]byte{"nothing": nil, "an empty slice": b[:0], "the end": b[n:]} {
			if block, ok := shm.Block(part); ok || block != nil {
				t.Errorf("%d bytes: %s has a block of %d", n, what, len(block))
			}
		}
		free(t, b)
		if _, ok := shm.Block(b); ok {
			t.Errorf("%d bytes have a block after they were freed", n)
		}
	}
}

func TestBlockAcrossBlocks(t *testing.T) {
	for _, n := range []int{64, 2048, 4096, 1 << 20} {
		var list [][]byte
		for range 20 { // some of which are neighbours
			list = append(list, alloc(t, n))
		}
		neighbours := 0
		for _, a := range list {
			whole, _ := shm.Block(a)
			for _, b := range list {
				if unsafe.Pointer(unsafe.SliceData(b)) != unsafe.Add(unsafe.Pointer(unsafe.SliceData(whole)), len(whole)) {
					continue
				}
				neighbours++
				both := unsafe.Slice(unsafe.SliceData(a), len(whole)+1)
				if block, ok := shm.Block(both); ok {
					t.Errorf("%d bytes: two blocks are one of %d", n, len(block))
				}
				if block, ok := shm.Block(both[:len(whole)]); !ok || !begins(block, a) {
					t.Errorf("%d bytes: the block to its end is not found", n)
				}
			}
		}
		if neighbours == 0 {
			t.Errorf("no two of 20 blocks of %d bytes lie side by side", n)
		}
		free(t, list...)
	}
}

func TestBlockOfOtherMemory(t *testing.T) {
	kept := alloc(t, 100)
	defer free(t, kept)
	var local [100]byte
	for what, b := range map[string][]byte{"the heap": make([]byte, 100), "a page": make([]byte, 1<<20), "the stack": local[:]} {
		if _, ok := shm.Block(b); ok {
			t.Errorf("%s is in the arena", what)
		}
	}
}

func TestFreedBlocksAreTold(t *testing.T) {
	var told [][]byte
	forget := shm.WhenFreed(func(block []byte) {
		if _, ok := shm.Block(block); ok {
			t.Error("a block that is being freed is found")
		}
		if !bytes.Equal(block[:3], []byte("abc")) {
			t.Errorf("its memory is %q already", block[:3])
		}
		told = append(told, block)
	})
	for _, n := range []int{10, 5000, 2 << 20} {
		b := alloc(t, n)
		copy(b, "abc")
		block, _ := shm.Block(b)
		if err := shm.Free(b[1:]); err == nil {
			t.Fatal("a part was freed")
		}
		if len(told) != 0 {
			t.Fatalf("told of %d blocks that are not freed", len(told))
		}
		if found, ok := shm.Block(b[2:]); !ok || !begins(found, b) {
			t.Error("the block is gone with a part that was not freed")
		}
		free(t, b)
		if len(told) != 1 || !begins(told[0], b) || len(told[0]) != len(block) {
			t.Fatalf("%d bytes: told of %d blocks", n, len(told))
		}
		if err := shm.Free(b); err == nil || len(told) != 1 {
			t.Errorf("freed twice: %v, told of %d blocks", err, len(told))
		}
		told = nil
		again := alloc(t, n) // the same memory, as a new block
		if found, ok := shm.Block(again); !ok || !begins(found, again) {
			t.Error("memory that is in use again has no block")
		}
		copy(again, "abc")
		free(t, again)
		told = nil
	}
	forget()
	free(t, alloc(t, 10))
	if told != nil {
		t.Error("told after it was forgotten")
	}
	forget() // changes nothing
}

func TestEveryoneIsToldOfFreedBlocks(t *testing.T) {
	b, c := alloc(t, 10), alloc(t, 10)
	var told []string
	tell := func(name string) func() { return shm.WhenFreed(func([]byte) { told = append(told, name) }) }
	forgetA, forgetB := tell("a"), tell("b")
	free(t, b)
	slices.Sort(told)
	if !slices.Equal(told, []string{"a", "b"}) {
		t.Errorf("%v were told", told)
	}
	forgetA()
	told = nil
	free(t, c)
	if !slices.Equal(told, []string{"b"}) {
		t.Errorf("%v were told", told)
	}
	forgetB()
}

// TestBlocksAreNeverStale keeps a cache as a transport does, under a lock that is
// held when it asks for blocks.
func TestBlocksAreNeverStale(t *testing.T) {
	free(t, alloc(t, 1))
	var mu sync.Mutex
	cache := map[*byte]int{}
	forget := shm.WhenFreed(func(block []byte) {
		mu.Lock()
		defer mu.Unlock()
		delete(cache, &block[0])
	})
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 200 {
				b, err := shm.Alloc(1 + (g*31+i*977)%9000)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				block, ok := shm.Block(b[len(b)/2:])
				switch {
				case !ok || &block[0] != &b[0]:
					t.Errorf("no block around %d bytes", len(b))
				case cache[&b[0]] != 0:
					t.Errorf("a block of %d bytes is still known after it was freed", cache[&b[0]])
				default:
					cache[&b[0]] = len(block)
				}
				mu.Unlock()
				if err := shm.Free(b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	forget()
	if len(cache) != 0 {
		t.Errorf("%d blocks are known at the end", len(cache))
	}
}

// While a large block is made, the runtime can stop the goroutine that makes it: collections of garbage come to their end.
func TestAllocOfALargeBlockCanBeStopped(t *testing.T) {
	testlength.Long(t)
	const size = 64 << 20
	free(t, alloc(t, 1)) // skips the test where there is no shared memory
	made := make(chan []byte)
	go func() {
		b, err := shm.Alloc(size)
		if err != nil {
			t.Error(err)
		}
		made <- b
	}()
	for collected := 0; ; collected++ {
		select {
		case b := <-made:
			if b == nil {
				return
			}
			free(t, b)
			if collected < 4 {
				t.Errorf("%d collections of garbage while a block of %d bytes was made", collected, size)
			}
			return
		default:
			runtime.GC()
		}
	}
}
