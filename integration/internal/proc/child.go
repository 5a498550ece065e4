package proc

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// The environment that makes a test binary a child.
const (
	roleKey = "GOMX_TEST_ROLE"
	argsKey = "GOMX_TEST_ARGS"
	lifeKey = "GOMX_TEST_LIFE"
)

// failed begins what a child says before it gives up.
const failed = "failed: "

// usualLife bounds the life of a child whose options name no bound.
const usualLife = 2 * time.Minute

// Role is what a child does. It ends with the process.
type Role func(c *Child)

// Child is the child's side of the conversation.
type Child struct {
	Args  []string
	lines chan string
}

// Main runs the role that the environment names, or the tests. Call it from
// TestMain.
func Main(m *testing.M, roles map[string]Role) {
	name := os.Getenv(roleKey)
	if name == "" {
		_ = flag.Set("test.parallel", "8") // unless the command line says otherwise: tests that run beside others wait most of the time
		status := m.Run()
		removeBuilt()
		os.Exit(status)
	}
	role := roles[name]
	if role == nil {
		fmt.Fprintln(os.Stderr, "no role", name)
		os.Exit(2)
	}
	c := &Child{Args: strings.Fields(os.Getenv(argsKey)), lines: make(chan string, 16)}
	life, err := time.ParseDuration(os.Getenv(lifeKey))
	if err != nil {
		c.Fail(err)
	}
	time.AfterFunc(life, func() { c.Fail(fmt.Errorf("has lived for %v", life)) })
	go c.listen()
	role(c)
	os.Exit(0)
}

func (c *Child) listen() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		c.lines <- in.Text()
	}
	os.Exit(0) // the parent is gone
}

// Say sends the parent a line.
func (c *Child) Say(format string, args ...any) {
	fmt.Println(strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "; "))
}

// Hear waits for a line of the parent's.
func (c *Child) Hear() string { return <-c.lines }

// Fail says why the role can't go on, and ends the process.
func (c *Child) Fail(err error) {
	c.Say("%s%v", failed, err)
	os.Exit(1)
}

// Number returns an argument as a number.
func (c *Child) Number(i int) uint32 {
	var n uint32
	if _, err := fmt.Sscan(c.Args[i], &n); err != nil {
		c.Fail(err)
	}
	return n
}
