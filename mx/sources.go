package mx

import (
	"os"
	"path/filepath"
	"sync"
)

// counterSources are the packages and programs that add counters to snapshots.
type counterSources struct {
	mu   sync.Mutex
	list []*counterSource
}

type counterSource struct{ groups func() []CounterGroup }

var sources counterSources

// AddCounters adds counters to snapshots, and to everything that is made from them, for a package that is built on this
// one or for a program. groups is called for each snapshot, from any goroutine, and must not block; the counters that
// it returns must not be changed afterwards. remove ends that, and may be called more than once. nil adds nothing. MX does not
// have it. Safe from any goroutine.
func AddCounters(groups func() []CounterGroup) (remove func()) {
	if groups == nil {
		return func() {}
	}
	s := &counterSource{groups}
	sources.mu.Lock()
	sources.list = append(sources.list, s)
	sources.mu.Unlock()
	return func() { sources.remove(s) }
}

func (c *counterSources) remove(s *counterSource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var rest []*counterSource // all may walk along the old one
	for _, other := range c.list {
		if other != s {
			rest = append(rest, other)
		}
	}
	c.list = rest
}

// all asks the sources, without the lock: they may take locks of their own.
func (c *counterSources) all() []CounterGroup {
	c.mu.Lock()
	list := c.list
	c.mu.Unlock()
	groups := []CounterGroup{}
	for _, s := range list {
		groups = append(groups, s.groups()...)
	}
	return groups
}

// command is the name that the program was started under.
func command() string {
	if len(os.Args) == 0 {
		return ""
	}
	return filepath.Base(os.Args[0])
}
