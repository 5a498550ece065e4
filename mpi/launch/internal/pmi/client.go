package pmi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"gomx/internal/labels"
)

// Client is the connection of a rank to its launcher.
type Client struct {
	// Name is the name of the job's store of keys. It differs between jobs of one launcher.
	Name string
	// LongestKey and LongestValue are bounds of what Put takes, bytes.
	LongestKey, LongestValue int

	conn    net.Conn
	limits  Limits
	answers chan string
	gone    chan struct{} // closed when the launcher has hung up
	why     error         // valid when gone is closed

	mu     sync.Mutex // held while a command waits for its answer
	broken error      // why no command makes sense any more
}

// Limits are bounds of waiting. 0 is no bound.
type Limits struct {
	Answer  time.Duration // for the launcher
	Barrier time.Duration // for the other ranks
}

// Errors of commands.
var (
	ErrGone   = errors.New("the launcher hung up")
	ErrSilent = errors.New("no answer")
	ErrNoKey  = errors.New("no such key")
)

// bounds of the standard, for servers that name none.
const (
	usualKey   = 64
	usualValue = 900
)

// NewClient greets the launcher at the other end of c, which the client then owns. The error names
// the step that failed.
func NewClient(ctx context.Context, c net.Conn, limits Limits) (*Client, error) {
	k := &Client{conn: c, limits: limits, answers: make(chan string, 4), gone: make(chan struct{})}
	go labels.For("launch").Func(k.read)()
	if err := k.greet(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return k, nil
}

// Identify is the first step over PMI_PORT, where the connection does not say which rank is at its
// end: id is what the launcher calls this process. It returns rank and size. Called before NewClient.
func Identify(c net.Conn, id string, limit time.Duration) (rank, size int, err error) {
	if limit > 0 {
		_ = c.SetDeadline(time.Now().Add(limit))
		defer func() { _ = c.SetDeadline(time.Time{}) }()
	}
	if _, err := io.WriteString(c, "cmd=initack pmiid="+id+"\n"); err != nil {
		return 0, 0, fmt.Errorf("initack: %w", err)
	}
	set := map[string]int{}
	for range 4 { // the answer, then size, rank and debug
		text, err := readByByte(c)
		if err != nil {
			return 0, 0, fmt.Errorf("initack: %w", err)
		}
		l, err := parseLine(text)
		if err == nil {
			err = l.failure()
		}
		if err != nil {
			return 0, 0, fmt.Errorf("initack: %w", err)
		}
		for key, value := range l.values {
			if n, err := strconv.Atoi(value); err == nil && l.name == "set" {
				set[key] = n
			}
		}
	}
	rank, known := set["rank"]
	size = set["size"]
	if !known || rank < 0 || rank >= size {
		return 0, 0, fmt.Errorf("initack: the launcher says rank %d of %d", rank, size)
	}
	return rank, size, nil
}

// readByByte reads a line and not a byte more, since another reader takes over.
func readByByte(c net.Conn) (string, error) {
	var text []byte
	var b [1]byte
	for len(text) < longestCommand {
		if _, err := io.ReadFull(c, b[:]); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return string(text), nil
		}
		text = append(text, b[0])
	}
	return "", fmt.Errorf("%w: it begins with %q", ErrTooLong, shown(string(text)))
}

// read hands on lines until the connection ends. It is the only reader.
func (k *Client) read() {
	defer close(k.gone)
	r := bufio.NewReader(k.conn)
	for {
		text, err := readLine(r, longestAnswer)
		switch {
		case errors.Is(err, io.EOF):
			k.why = ErrGone
			return
		case err != nil:
			k.why = fmt.Errorf("%w: %w", ErrGone, err)
			return
		}
		select {
		case k.answers <- text:
		default:
			k.why = fmt.Errorf("%w: it says %q, which nobody asked for", ErrGone, shown(text))
			_ = k.conn.Close()
			return
		}
	}
}

// Gone is closed when the launcher has hung up, before Finalize or after.
func (k *Client) Gone() <-chan struct{} { return k.gone }

// Why says how the connection ended. Valid when Gone is closed.
func (k *Client) Why() error { return k.why }

// ask sends a command and returns its answer, which must be named so.
func (k *Client) ask(ctx context.Context, step, command, answer string, limit time.Duration) (line, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l, err := k.exchange(ctx, command, answer, limit)
	if err != nil {
		return l, fmt.Errorf("%s: %w", step, err)
	}
	return l, nil
}

func (k *Client) exchange(ctx context.Context, command, answer string, limit time.Duration) (l line, err error) {
	if k.broken != nil {
		return l, k.broken
	}
	if err := k.write(command); err != nil {
		return l, err
	}
	text, err := k.wait(ctx, limit)
	if err == nil {
		l, err = parseLine(text)
	}
	if err == nil && l.name != answer {
		err = fmt.Errorf("the launcher answers %q instead of %s", shown(text), answer)
	}
	if err != nil {
		k.broken = err // the next answer could be that of this command
	}
	return l, err
}

// write sends a command with one write, as Slurm wants it.
func (k *Client) write(command string) error {
	if len(command) >= longestCommand {
		return fmt.Errorf("a command of %d bytes, more than %d", len(command), longestCommand-1)
	}
	if k.limits.Answer > 0 {
		_ = k.conn.SetWriteDeadline(time.Now().Add(k.limits.Answer))
	}
	_, err := io.WriteString(k.conn, command+"\n")
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("%w within %v", ErrSilent, k.limits.Answer)
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrGone, err)
	}
	k.broken = err
	return err
}

func (k *Client) wait(ctx context.Context, limit time.Duration) (string, error) {
	var late <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		late = t.C
	}
	select {
	case text := <-k.answers:
		return text, nil
	case <-k.gone:
		select {
		case text := <-k.answers: // the last thing it said
			return text, nil
		default:
			return "", k.why
		}
	case <-late:
		return "", fmt.Errorf("%w within %v", ErrSilent, limit)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (k *Client) greet(ctx context.Context) error {
	l, err := k.ask(ctx, "init", "cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", k.limits.Answer)
	switch {
	case errors.Is(err, ErrGone):
		return fmt.Errorf("%w before it answered: an earlier program of this rank may have left the job, which a rank joins once "+
			"(start its programs one after another, each with a launcher of its own), or the launcher has ended", err)
	case err != nil:
		return err
	}
	if err := l.failure(); err != nil {
		return fmt.Errorf("init with version 1.1: %w", err)
	}
	if v := l.values["pmi_version"]; v != "1" {
		return fmt.Errorf("init: the launcher speaks version %s, this program 1.1", shown(v))
	}
	if l, err = k.ask(ctx, "get_maxes", "cmd=get_maxes", "maxes", k.limits.Answer); err != nil {
		return err
	}
	k.LongestKey, k.LongestValue = l.bound("keylen_max", usualKey), l.bound("vallen_max", usualValue)
	if l, err = k.ask(ctx, "get_my_kvsname", "cmd=get_my_kvsname", "my_kvsname", k.limits.Answer); err != nil {
		return err
	}
	k.Name = l.values["kvsname"]
	if err := l.failure(); err != nil || k.Name == "" {
		return errors.Join(errors.New("get_my_kvsname: the launcher names no store of keys"), err)
	}
	// Slurm counts all of the line.
	k.LongestValue = min(k.LongestValue-1, usualValue, longestCommand-1-k.LongestKey-len(k.Name)-len("cmd=put kvsname= key= value="))
	return nil
}

// bound returns a bound that the launcher names, at most usual.
func (l *line) bound(key string, usual int) int {
	if n, err := strconv.Atoi(l.values[key]); err == nil && n > 0 {
		return min(n, usual)
	}
	return usual
}

// Put stores a value, which others get after the next Barrier.
func (k *Client) Put(ctx context.Context, key, value string) error {
	if len(key) > k.LongestKey || len(value) > k.LongestValue || !printable(key) || !printable(value) {
		return fmt.Errorf("put %s: key and value are at most %d and %d printable bytes without blanks", shown(key), k.LongestKey, k.LongestValue)
	}
	step := "put " + key
	l, err := k.ask(ctx, step, "cmd=put kvsname="+k.Name+" key="+key+" value="+value, "put_result", k.limits.Answer)
	if err == nil {
		if err = l.failure(); err != nil {
			err = fmt.Errorf("%s: %w", step, err)
		}
	}
	return err
}

func printable(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '=' || r == '\\' })
}

// Get returns what somebody put under key before the last Barrier, or ErrNoKey.
func (k *Client) Get(ctx context.Context, key string) (string, error) {
	step := "get " + key
	l, err := k.ask(ctx, step, "cmd=get kvsname="+k.Name+" key="+key, "get_result", k.limits.Answer)
	if err != nil {
		return "", err
	}
	value, ok := l.values["value"]
	if err := l.failure(); err != nil || !ok {
		return "", fmt.Errorf("%s: %w", step, errors.Join(ErrNoKey, err))
	}
	return value, nil
}

// Barrier waits until all ranks have called it.
func (k *Client) Barrier(ctx context.Context) error {
	l, err := k.ask(ctx, "barrier", "cmd=barrier_in", "barrier_out", k.limits.Barrier)
	if err == nil {
		if err = l.failure(); err != nil {
			err = fmt.Errorf("barrier: %w", err)
		}
	}
	return err
}

// Abort asks the launcher to end the job with an exit code. There is no answer. Safe beside other
// calls, whose answers nobody will need.
func (k *Client) Abort(code int, reason string) {
	command := fmt.Sprintf("cmd=abort exitcode=%d message=%s", code, word(reason))
	_ = k.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = io.WriteString(k.conn, command[:min(len(command), longestCommand-1)]+"\n")
}

// Blame tells mx_run, which is the only server that knows the command, that this rank misses another one. There is no answer. Safe beside
// other calls.
func (k *Client) Blame(rank int) {
	_ = k.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = fmt.Fprintf(k.conn, "cmd=blame rank=%d\n", rank)
}

// word makes one printable word of a text.
func word(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || r == '=' || r == '\\' {
			return '_'
		}
		return r
	}, text)
}

// Finalize takes leave of the launcher and closes the connection. Without it the launcher takes the
// end of the process for a crash.
func (k *Client) Finalize(ctx context.Context) error {
	_, err := k.ask(ctx, "finalize", "cmd=finalize", "finalize_ack", k.limits.Answer)
	_ = k.conn.Close()
	<-k.gone
	return err
}

// Close hangs up without a word.
func (k *Client) Close() { _ = k.conn.Close() }
