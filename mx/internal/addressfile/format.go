package addressfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net/netip"
	"os"
	"path/filepath"
)

// Record is where an endpoint is.
type Record struct {
	NIC              uint64
	Endpoint, Filter uint32
	Addr             netip.Addr // of the board, if the NIC id does not say; without a zone
}

// The file is little-endian: a head of 64 bytes and records of 32.
//
//	0       8         12            16      24            28   64
//	+-------+---------+-------------+-------+-------------+----+---------+
//	| magic | version | record size | count | checksum    | 0  | records |
//	+-------+---------+-------------+-------+-------------+----+---------+
//
//	0     8          12       16     32
//	+-----+----------+--------+------+
//	| nic | endpoint | filter | addr |   addr: IPv6, or IPv4 in IPv6; 0: none
//	+-----+----------+--------+------+
//
// The checksum is the CRC-32C of the records. A reader checks that the reserved bytes of the head, those behind the checksum, are 0.
const (
	magic      = "gomxaddr"
	Version    = 1
	reservedAt = 28
	headSize   = 64
	recordSize = 32

	// MostRecords is how many endpoints a table may have.
	MostRecords = 1 << 24
)

// ErrFormat is why a file is no address table, or none that this version reads.
var ErrFormat = errors.New("not a usable address table")

// ErrOwner is why a file is not trusted.
var ErrOwner = errors.New("others could have written the file")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Write puts a table in the place of a file, or where there is none. Nobody but the user can read it.
func Write(path string, records []Record) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%w: it is no file that a table could take the place of", ErrFormat)
	}
	if len(records) > MostRecords {
		return fmt.Errorf("%w: %d endpoints, and there may be %d", ErrFormat, len(records), MostRecords)
	}
	b := make([]byte, headSize, headSize+len(records)*recordSize)
	le := binary.LittleEndian
	for i := range records {
		r := &records[i]
		b = le.AppendUint64(b, r.NIC)
		b = le.AppendUint32(b, r.Endpoint)
		b = le.AppendUint32(b, r.Filter)
		at := [16]byte{}
		if r.Addr.IsValid() {
			at = r.Addr.As16()
		}
		b = append(b, at[:]...)
	}
	copy(b, magic)
	le.PutUint32(b[8:], Version)
	le.PutUint32(b[12:], recordSize)
	le.PutUint64(b[16:], uint64(len(records)))
	le.PutUint32(b[24:], crc32.Checksum(b[headSize:], castagnoli))
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Table is a table that is mapped.
type Table struct {
	mem   []byte
	count int
}

// Open maps a table.
func Open(path string) (*Table, error) {
	mem, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	t := &Table{mem: mem}
	if t.count, err = check(mem); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// check returns how many records a file has, or why it can't be used.
func check(b []byte) (int, error) {
	le := binary.LittleEndian
	if len(b) < headSize || string(b[:8]) != magic {
		return 0, fmt.Errorf("%w: it does not begin like one", ErrFormat)
	}
	if v := le.Uint32(b[8:]); v != Version {
		return 0, fmt.Errorf("%w: it is of version %d, and this program reads version %d", ErrFormat, v, Version)
	}
	if n := le.Uint32(b[12:]); n != recordSize {
		return 0, fmt.Errorf("%w: its head is damaged: records of %d bytes, and version %d has %d", ErrFormat, n, Version, recordSize)
	}
	count := le.Uint64(b[16:])
	if count > MostRecords || uint64(len(b)) != headSize+count*recordSize {
		return 0, fmt.Errorf("%w: %d bytes for %d endpoints", ErrFormat, len(b), count)
	}
	if le.Uint32(b[24:]) != crc32.Checksum(b[headSize:], castagnoli) {
		return 0, fmt.Errorf("%w: its checksum is wrong", ErrFormat)
	}
	if reserved := [headSize - reservedAt]byte(b[reservedAt:]); reserved != [len(reserved)]byte{} {
		return 0, fmt.Errorf("%w: its reserved bytes are not 0", ErrFormat)
	}
	return int(count), nil
}

// Len returns how many records there are.
func (t *Table) Len() int { return t.count }

// At returns a record. It panics if there is none of that number.
func (t *Table) At(i int) (r Record) {
	if uint(i) >= uint(t.count) {
		panic(fmt.Sprintf("address table: endpoint %d of %d", i, t.count))
	}
	b, le := t.mem[headSize+i*recordSize:], binary.LittleEndian
	r.NIC, r.Endpoint, r.Filter = le.Uint64(b), le.Uint32(b[8:]), le.Uint32(b[12:])
	if at := netip.AddrFrom16([16]byte(b[16:])); !at.IsUnspecified() {
		r.Addr = at.Unmap()
	}
	return r
}

// Close gives the memory back. No record is there any more.
func (t *Table) Close() error {
	mem := t.mem
	t.mem, t.count = nil, 0
	if mem == nil {
		return nil
	}
	return unmap(mem)
}
