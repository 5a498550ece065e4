package traffic

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"gomx/integration/internal/proc"
)

// RoleName is the name of Role.
const RoleName = "peer"

// Filter is what endpoints are opened and connected with unless told otherwise.
const Filter = 0x7e57

// Peer is a child in the role of a peer, as its parent has it. Only one goroutine
// talks to it.
type Peer struct {
	*proc.Process
	ID uint32 // of its endpoint
	t  testing.TB
}

// Start starts a peer.
func Start(t testing.TB, o proc.Options) *Peer {
	t.Helper()
	return Wrap(t, proc.StartWith(t, o, RoleName))
}

// Wrap makes a peer of a child that was started in the role of one.
func Wrap(t testing.TB, p *proc.Process) *Peer { return &Peer{Process: p, t: t} }

// Open opens the peer's endpoint and returns its number. An id below 0 is any.
func (p *Peer) Open(id int) uint32 {
	p.t.Helper()
	p.Say("open %d %d", id, Filter)
	p.ID = p.HearNumber("open ")
	return p.ID
}

// OpenFails opens an endpoint where that must fail, and returns the error's text.
func (p *Peer) OpenFails(id int) string {
	p.t.Helper()
	p.Say("open %d %d", id, Filter)
	return p.Hear("no endpoint: ")
}

// Close closes the endpoint.
func (p *Peer) Close() {
	p.t.Helper()
	p.Say("close")
	p.Hear("closed")
}

// Connect connects the peer's endpoint to another one, and returns the number
// under which the peer has it.
func (p *Peer) Connect(host string, id uint32) uint32 {
	p.t.Helper()
	p.Say("connect %s %d %d %v", host, id, Filter, 20*time.Second)
	return p.HearNumber("connected ")
}

// ConnectFails connects where that must fail within the patience, and returns
// the error's text.
func (p *Peer) ConnectFails(host string, id, filter uint32, patience time.Duration) string {
	p.t.Helper()
	p.Say("connect %s %d %d %v", host, id, filter, patience)
	return p.Hear("no connection: ")
}

// Sizes says how long the messages of a stream are.
type Sizes string

// The streams.
const (
	Small Sizes = "small" // 8 bytes each
	Mixed Sizes = "mixed" // from nothing to 200,000 bytes
	Large Sizes = "large" // 150,000 bytes each
	All   Sizes = "all"   // from nothing to a MiB, in pieces that lie in all kinds of memory
)

// Stream has the peer send messages; Streamed waits until all have completed.
func (p *Peer) Stream(to uint32, count int, s Sizes) {
	p.t.Helper()
	p.Say("stream %d %d %s", to, count, s)
}

// Streamed waits for the end of Stream.
func (p *Peer) Streamed() {
	p.t.Helper()
	p.Hear("streamed")
}

// Sink has the peer receive as many messages from each of some sources, and
// check them; Sunk waits until all are there.
func (p *Peer) Sink(sources, count int, s Sizes) {
	p.t.Helper()
	p.Say("sink %d %d %s", sources, count, s)
}

// Sunk waits for the end of Sink. That fails if anything came twice, not in
// order, damaged, or too much.
func (p *Peer) Sunk() {
	p.t.Helper()
	p.Hear("sunk")
}

// Duplex has the peer send and receive at once.
func (p *Peer) Duplex(with uint32, count int, s Sizes) {
	p.t.Helper()
	p.Say("duplex %d %d %s", with, count, s)
}

// Post has the peer post sends that nobody receives: one of 1 MiB and a
// synchronous one of 8 bytes.
func (p *Peer) Post(to uint32) {
	p.t.Helper()
	p.Say("post %d", to)
	p.Hear("posted")
}

// Limit sets the timeout of the requests of Post.
func (p *Peer) Limit(timeout time.Duration) {
	p.t.Helper()
	p.Say("limit %v", timeout)
	p.Hear("limited")
}

// Ended waits until the requests of Post have ended, and returns how, and after
// how long. They must within the patience.
func (p *Peer) Ended(patience time.Duration) (codes string, after time.Duration) {
	p.t.Helper()
	p.Say("collect %v", patience)
	text, codes, _ := strings.Cut(p.Hear("ended after "), " ")
	after, err := time.ParseDuration(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return codes, after
}

// Crowd has the peer open as many endpoints more, numbered from first on.
func (p *Peer) Crowd(first, count int) {
	p.t.Helper()
	p.Say("crowd %d %d", first, count)
	p.Hear("crowded")
}

// Join has all endpoints of Crowd connect to one at a time; Joined waits until
// they are.
func (p *Peer) Join(host string, id uint32) {
	p.t.Helper()
	p.Say("join %s %d", host, id)
}

// Joined waits for the end of Join.
func (p *Peer) Joined() {
	p.t.Helper()
	p.Hear("joined")
}

// Drain has the peer receive and forget all messages from now on.
func (p *Peer) Drain() {
	p.t.Helper()
	p.Say("drain")
	p.Hear("draining")
}

// Storm has the peer send messages until one fails; Over waits until that is so,
// and returns how the first one failed.
func (p *Peer) Storm(to uint32, s Sizes) {
	p.t.Helper()
	p.Say("storm %d %s", to, s)
	p.Hear("storming")
}

// Over waits for the end of Storm.
func (p *Peer) Over() (code string) {
	p.t.Helper()
	return p.Hear("over: ")
}

// Resident returns the peer's resident memory after a collection, in bytes.
func (p *Peer) Resident() int {
	p.t.Helper()
	p.Say("memory")
	n, err := strconv.Atoi(p.Hear("resident "))
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// Pinned returns how much memory of the peer devices keep in its place, in bytes.
func (p *Peer) Pinned() int {
	p.t.Helper()
	p.Say("pinned")
	n, err := strconv.Atoi(p.Hear("pinned "))
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// Refused is the counter of handshakes that the endpoint has refused.
const Refused = "handshakes refused"

// Counter returns one of the endpoint's counters.
func (p *Peer) Counter(label string) uint64 {
	p.t.Helper()
	p.Say("counter %s", label)
	var n uint64
	if _, err := fmt.Sscan(p.Hear("counter "), &n); err != nil {
		p.t.Fatal(err)
	}
	return n
}

// TurnsAway fails the test unless the endpoint soon counts more refused handshakes
// than before. It counts after it has told the peer, who may be heard of first.
func (p *Peer) TurnsAway(before uint64) {
	p.t.Helper()
	for range 100 {
		if p.Counter(Refused) > before {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.t.Error("no refused handshake was counted")
}

// Way returns by which transport the peer reaches another one, and what it says
// about why no other way and what has failed.
func (p *Peer) Way(to uint32) string {
	p.t.Helper()
	p.Say("way %d", to)
	return p.Hear("way ")
}

// OpenNumber has the peer open a window with a number, 0, and returns the window's handle.
func (p *Peer) OpenNumber() (handle string) {
	p.t.Helper()
	p.Say("open-number")
	return p.Hear("number ")
}

// Add has the peer add 1 to another one's number, so many times; Added waits until all are done.
func (p *Peer) Add(to uint32, handle string, count int) {
	p.t.Helper()
	p.Say("add %d %s %d", to, handle, count)
}

// Added waits for the end of Add. That fails if what was there before has not grown each time.
func (p *Peer) Added() {
	p.t.Helper()
	p.Hear("added")
}

// AwaitSum has the peer wait until its number is at least so much; Sum waits for that, and returns the number.
func (p *Peer) AwaitSum(least int) {
	p.t.Helper()
	p.Say("sum %d", least)
}

// Sum waits for the end of AwaitSum.
func (p *Peer) Sum() int {
	p.t.Helper()
	return int(p.HearNumber("sum "))
}

// AddFrom has peers add 1 to a number of the owner, each so many times, all at once. to is under which number each of them has the
// owner. The sum must be exact.
func AddFrom(t testing.TB, owner *Peer, adders []*Peer, to []uint32, count int) {
	t.Helper()
	handle, all := owner.OpenNumber(), len(adders)*count
	owner.AwaitSum(all)
	for i, p := range adders {
		p.Add(to[i], handle, count)
	}
	for _, p := range adders {
		p.Added()
	}
	if sum := owner.Sum(); sum != all {
		t.Errorf("the sum is %d when it must be %d at most", sum, all)
	}
	owner.AwaitSum(0) // now that nothing is under way
	if sum := owner.Sum(); sum != all {
		t.Errorf("the sum is %d after %d additions", sum, all)
	}
}
