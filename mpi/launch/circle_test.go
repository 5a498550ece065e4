package launch

import (
	"encoding/hex"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
)

// socketOf returns the name of the socket at which the ranks of j's host meet next.
func socketOf(j *Job) string {
	k := j.meeting.(*keys)
	c := circle{nonce: k.nonce}
	return "@gomx-" + hex.EncodeToString(c.proof("place", k.host, k.epoch+1)[:16])
}

// TestSquatters has somebody else listen at the socket where the ranks of a host meet: their business cards then go by keys of
// their own, and none goes to the squatter.
func TestSquatters(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system has no abstract sockets; Linux has")
	}
	for name, squat := range map[string]func(c net.Conn){
		"hangs up": func(c net.Conn) { _ = c.Close() },
		"talks": func(c net.Conn) {
			_, _ = c.Write(make([]byte, 1000))
			b, _ := io.ReadAll(c)
			if strings.Contains(string(b), "business card") {
				t.Error("the squatter has a business card")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, envs := pmiJob(t, 3)
			sat := make(chan struct{})
			together(t, envs, func(j *Job) error {
				if j.Rank() == 0 {
					l, err := net.Listen("unix", socketOf(j))
					if err != nil {
						return err
					}
					defer l.Close()
					go func() {
						for c, err := l.Accept(); err == nil; c, err = l.Accept() {
							go squat(c)
						}
					}()
					close(sat)
				}
				<-sat
				return errors.Join(swap(j, 0, 30), j.Finalize())
			})
			for _, key := range server.Keys() {
				if strings.HasPrefix(key, "h") {
					t.Errorf("there is a key %s of a host", key)
				}
			}
		})
	}
}

// TestStrangersInTheCircle has others come to the leader of a host.
func TestStrangersInTheCircle(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system has no abstract sockets; Linux has")
	}
	_, envs := pmiJob(t, 4)
	came := 0
	together(t, envs, func(j *Job) error {
		if j.Rank() != 0 {
			return errors.Join(swap(j, 0, 30), j.Finalize())
		}
		socket := socketOf(j)
		done := make(chan error, 1)
		go func() { done <- swap(j, 0, 30) }()
		if s, err := net.Dial("unix", socket); err == nil {
			defer s.Close() // says nothing for as long as it may
		}
		for {
			select {
			case err := <-done:
				return errors.Join(err, j.Finalize())
			default:
			}
			for _, said := range []string{"", "x", strings.Repeat("x", 100)} {
				if s, err := net.Dial("unix", socket); err == nil {
					came++
					_, _ = io.WriteString(s, said)
					_ = s.Close()
				}
			}
		}
	})
	t.Log(came, "strangers came")
}
