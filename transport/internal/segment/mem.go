//go:build linux

package segment

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	sealsMade   = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	sealsWanted = unix.F_SEAL_SHRINK
)

// Mem is a mapped segment. Its methods may be called concurrently, but for
// CloseFD and Close, which are the owner's.
type Mem struct {
	data []byte
	base uintptr
	fd   int
}

// Create makes a segment of size bytes and maps it. No page is touched, so it
// costs no memory until used. The name is what /proc/PID/maps shows; several
// segments may have the same.
func Create(name string, size int) (*Mem, error) {
	return create(name, size, size, unix.MAP_SHARED)
}

// CreateReserve is Create for a large region of which little will be used. It
// halves the size until the system grants it, and gives up below least. The
// region is left out of core dumps, which would otherwise fill it.
func CreateReserve(name string, size, least int) (*Mem, error) {
	m, err := create(name, size, least, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	// An old kernel without it merely writes larger dumps.
	_ = unix.Madvise(m.data, unix.MADV_DONTDUMP)
	return m, nil
}

func create(name string, size, least, flags int) (*Mem, error) {
	if least <= 0 || size < least {
		return nil, fmt.Errorf("segment %s: size of %d bytes makes no sense", name, size)
	}
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("segment %s: %w", name, os.NewSyscallError("memfd_create", err))
	}
	data, err := sizeAndMap(fd, size, flags)
	for err != nil && errors.Is(err, errTooLarge) && size/2 >= least {
		size /= 2
		data, err = sizeAndMap(fd, size, flags)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("segment %s of %d bytes: %w", name, size, err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, sealsMade); err != nil {
		_ = unix.Munmap(data)
		_ = unix.Close(fd)
		return nil, fmt.Errorf("segment %s: sealing: %w", name, os.NewSyscallError("fcntl", err))
	}
	return newMem(data, fd), nil
}

var errTooLarge = errors.New("larger than the system grants")

func sizeAndMap(fd, size, flags int) ([]byte, error) {
	if err := Allowed(size); err != nil {
		return nil, err
	}
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		return nil, tooLarge("ftruncate", err)
	}
	data, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return nil, tooLarge("mmap", err)
	}
	return data, nil
}

// Allowed returns nil, or why the limits of this process keep a segment from having a size in bytes. It is asked before a
// segment gets its size, because going past the limit does not only fail: the kernel sends SIGXFSZ, which ends a Go program.
func Allowed(size int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return os.NewSyscallError("getrlimit", err)
	}
	if uint64(size) > limit.Cur {
		return fmt.Errorf("%w: the file size limit (ulimit -f) is %d bytes", errTooLarge, limit.Cur)
	}
	return nil
}

func tooLarge(call string, err error) error {
	switch {
	case errors.Is(err, unix.ENOMEM), errors.Is(err, unix.EFBIG), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSPC):
		return fmt.Errorf("%w: %w", errTooLarge, os.NewSyscallError(call, err))
	}
	return os.NewSyscallError(call, err)
}

// Map maps a segment that a peer made. It takes fd over, also when it fails. The
// size must lie between least and most bytes and be sealed against shrinking;
// the error says which of it was wrong.
func Map(fd int, least, most int) (*Mem, error) {
	size, err := sealedSize(fd, least, most)
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("mapping a peer's segment: %w", err)
	}
	data, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("mapping a peer's segment of %d bytes: %w", size, os.NewSyscallError("mmap", err))
	}
	return newMem(data, fd), nil
}

// sealedSize checks the seals before the size: afterwards it can't shrink. Seals
// alone don't do, as huge pages have them too, but fault when their pool is empty.
func sealedSize(fd, least, most int) (int, error) {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil {
		return 0, fmt.Errorf("not a sealed memfd: %w", os.NewSyscallError("fcntl", err))
	}
	if seals&sealsWanted != sealsWanted {
		return 0, fmt.Errorf("not sealed against shrinking (seals %#x)", seals)
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return 0, os.NewSyscallError("fstatfs", err)
	}
	if int64(fs.Type) != unix.TMPFS_MAGIC {
		return 0, fmt.Errorf("not ordinary shared memory (file system type %#x)", int64(fs.Type))
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, os.NewSyscallError("fstat", err)
	}
	if st.Size <= 0 || st.Size < int64(least) || st.Size > int64(most) {
		return 0, fmt.Errorf("%d bytes large, want %d to %d", st.Size, least, most)
	}
	return int(st.Size), nil
}

func newMem(data []byte, fd int) *Mem {
	return &Mem{data: data, base: address(data), fd: fd}
}

// Bytes returns the mapping. It ends with Close.
func (m *Mem) Bytes() []byte { return m.data }

// Len returns the size in bytes, 0 after Close.
func (m *Mem) Len() int { return len(m.data) }

// FD returns the descriptor to pass to peers, or -1 after CloseFD or Close.
func (m *Mem) FD() int { return m.fd }

// CloseFD closes the descriptor. The mapping stays.
func (m *Mem) CloseFD() {
	if m.fd >= 0 {
		_ = unix.Close(m.fd)
		m.fd = -1
	}
}

// PunchHole gives the memory of the whole pages within n bytes from off back to
// the system, for all who map the segment. They read as zeros afterwards.
func (m *Mem) PunchHole(off, n int) error {
	if off < 0 || n < 0 || off > len(m.data) || n > len(m.data)-off {
		return fmt.Errorf("hole of %d bytes at %d in a segment of %d", n, off, len(m.data))
	}
	page := os.Getpagesize()
	from, to := (off+page-1)/page*page, (off+n)/page*page
	if from >= to {
		return nil
	}
	return os.NewSyscallError("madvise", unix.Madvise(m.data[from:to], unix.MADV_REMOVE))
}

// Contains reports whether b, which must not be empty, lies within the mapping,
// and at which offset.
func (m *Mem) Contains(b []byte) (off int64, ok bool) {
	at := address(b) - m.base // wraps far past the end if b lies before us
	ok = len(b) > 0 && at < uintptr(len(m.data)) && uintptr(len(b)) <= uintptr(len(m.data))-at
	return int64(at), ok
}

// Close unmaps the segment and closes its descriptor. A second Close does nothing.
func (m *Mem) Close() error {
	m.CloseFD()
	if m.data == nil {
		return nil
	}
	data := m.data
	m.data, m.base = nil, 0
	return os.NewSyscallError("munmap", unix.Munmap(data))
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// Base returns where the mapping lies in this process, for peers that know
// addresses of ours. It is 0 after Close.
func (m *Mem) Base() uint64 { return uint64(m.base) }
