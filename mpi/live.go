package mpi

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"gomx/mpi/internal/hang"
	"gomx/mx"
)

// serveWaits has tools that read the process see what its ranks wait for.
func (j *job) serveWaits() { j.hideWaits = mx.AddWaits(j.part) }

// part is what the process says of the job.
func (j *job) part() any {
	if j.life.Err() != nil {
		return nil
	}
	p := &hang.Part{Job: j.name(), Size: j.size, Ends: map[int]string{}, Snapshot: j.states()}
	p.Snapshot.Ranks = append(p.Snapshot.Ranks, j.missed()...)
	for _, s := range j.seats {
		p.Ends[s.rank] = s.ep.String()
	}
	return p
}

// name is a name of the job that all of its processes know, and that no other job has. It is made of random numbers,
// and gives none of them away.
func (j *job) name() string {
	h := sha256.New()
	for i := range j.businessCards {
		var b [8]byte
		binary.LittleEndian.PutUint32(b[:], j.businessCards[i].filter)
		binary.LittleEndian.PutUint32(b[4:], j.businessCards[i].service.Filter)
		h.Write(b[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
