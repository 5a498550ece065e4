//go:build linux

package bell

import "sync/atomic"

// NewFenced makes a bell as on a machine without membarrier.
func NewFenced() (*Bell, error) { return newBell(true) }

// HasBarrier reports whether this machine has membarrier.
func HasBarrier() bool { return registered() }

// Spoil does to the word what a hostile peer could.
func (b *Bell) Spoil(w uint32) { atomic.StoreUint32(b.word, w) }

// DieRinging leaves the word as a ringer does that is killed before its system call.
func (r *Remote) DieRinging() { atomic.OrUint32(r.word, ringing) }

// Word returns what peers see.
func (b *Bell) Word() uint32 { return atomic.LoadUint32(b.word) }

// Page returns the control page.
func (b *Bell) Page() []byte { return b.page.Bytes() }
