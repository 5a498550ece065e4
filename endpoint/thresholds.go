package endpoint

// thresholds is a heap of requests that wait for a counter. The one that is reached first is on top, and of equal
// numbers the one that was made first. Each request knows its place, so that it can be taken out anywhere.
type thresholds struct {
	heap []threshold
	made uint64 // so many ever
}

type threshold struct {
	count, made uint64
	slot        int32
}

func (t *threshold) before(o *threshold) bool {
	return t.count < o.count || t.count == o.count && t.made < o.made
}

func (t *thresholds) some() bool { return len(t.heap) > 0 }

// nearest returns the lowest number.
func (t *thresholds) nearest() uint64 {
	if len(t.heap) == 0 {
		return noThreshold
	}
	return t.heap[0].count
}

func (t *thresholds) push(s *slab, count uint64, slot int32) {
	t.made++
	t.heap = append(t.heap, threshold{count, t.made, slot})
	t.rise(s, len(t.heap)-1)
}

// take takes out the request in a place.
func (t *thresholds) take(s *slab, place uint32) (slot int32) {
	slot = t.heap[place].slot
	end := len(t.heap) - 1
	last := t.heap[end]
	if t.heap = t.heap[:end]; int(place) < end {
		t.heap[place] = last
		t.sink(s, t.rise(s, int(place)))
	}
	return slot
}

// rise moves an entry up to where it belongs, and returns its place.
func (t *thresholds) rise(s *slab, i int) int {
	h, up := t.heap, 0
	x := h[i]
	for ; i > 0; i = up {
		if up = (i - 1) / 2; !x.before(&h[up]) {
			break
		}
		t.put(s, i, h[up])
	}
	t.put(s, i, x)
	return i
}

// sink moves an entry down to where it belongs.
func (t *thresholds) sink(s *slab, i int) {
	h := t.heap
	x := h[i]
	for {
		down := 2*i + 1
		if down+1 < len(h) && h[down+1].before(&h[down]) {
			down++
		}
		if down >= len(h) || !h[down].before(&x) {
			break
		}
		t.put(s, i, h[down])
		i = down
	}
	t.put(s, i, x)
}

func (t *thresholds) put(s *slab, i int, x threshold) {
	t.heap[i] = x
	s.at(x.slot).at = uint32(i)
}
