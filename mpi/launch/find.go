package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"gomx/mpi/launch/internal/pmi"
)

// Find joins the job that this process was started in. It returns when the launcher has answered,
// or rank 0 where there is no launcher to ask; the bounds are MX_LAUNCH_TIMEOUT and MX_MEET_TIMEOUT.
// It is called once: a launcher talks to one job in each process.
func Find() (*Job, error) { return find(os.Getenv) }

func find(env environ) (*Job, error) {
	s, err := readSettings(env)
	if err != nil {
		return nil, fmt.Errorf("launch: %w", err)
	}
	if s.singleton {
		return single(&s, "itself"), nil
	}
	j, unusable := findPMI(env, &s)
	if j != nil {
		return j, nil
	}
	if fatal := (*pmiError)(nil); errors.As(unusable, &fatal) {
		return nil, fatal
	}
	for _, convention := range conventions {
		p, err := convention(env, &s)
		if err != nil {
			return nil, fmt.Errorf("launch: %w", err)
		}
		if p != nil {
			return p.meet(&s)
		}
	}
	if err := lonely(env, &s, unusable); err != nil {
		return nil, fmt.Errorf("launch: %w", err)
	}
	j = single(&s, "itself")
	j.alone = true
	return j, nil
}

func single(s *settings, launcher string) *Job {
	return &Job{rank: 0, size: 1, launcher: launcher, host: hostID(s, 0, 1), secret: s.secret}
}

// pmiError says that a launcher's server was reached and then failed. There is no other way then:
// the other ranks may have got through.
type pmiError struct {
	launcher string
	cause    error
}

func (e *pmiError) Error() string {
	return fmt.Sprintf("launch: PMI of %s: %v", e.launcher, e.cause)
}

func (e *pmiError) Unwrap() error { return e.cause }

// findPMI returns the job of a PMI server. If there is none its error says why, nil if the
// environment names none.
func findPMI(env environ, s *settings) (*Job, error) {
	d, err := dialPMI(env, s)
	if d == nil {
		return nil, err
	}
	ctx := context.Background()
	guess := pmiLauncher(env, "")
	limits := pmi.Limits{Answer: s.answer, Barrier: s.meet}
	client, err := pmi.NewClient(ctx, d.conn, limits)
	if err != nil {
		return nil, &pmiError{guess, err}
	}
	j := &Job{rank: d.rank, size: d.size, launcher: pmiLauncher(env, client.Name), secret: s.secret}
	j.host = hostID(s, j.rank, j.size)
	k := &keys{client: client, rank: j.rank, size: j.size, host: j.host}
	k.watch()
	j.meeting = k
	if err := k.meet(ctx); err != nil {
		client.Close()
		return nil, &pmiError{j.launcher, err}
	}
	if s.secret == nil {
		j.secret = k.secret()
	}
	return j, nil
}

// pmiLauncher names the server: by the name of its store once that is known, before that by what
// the environment has.
func pmiLauncher(env environ, store string) string {
	has := func(prefix string) bool { return len(store) > len(prefix) && store[:len(prefix)] == prefix }
	switch {
	case has(StoreOfRun):
		return "mx_run"
	case has("kvs_"), store == "" && env("HYDI_CONTROL_FD") != "":
		return "Hydra"
	case env("FLUX_JOB_ID") != "":
		return "Flux"
	case env("SLURM_STEP_ID") != "":
		return "Slurm"
	}
	return "a launcher"
}

// StoreOfRun begins the names of mx_run's stores of keys.
const StoreOfRun = "mx_run-"

// dialed is a connection to a PMI server that has not been greeted.
type dialed struct {
	conn       pmiConn
	rank, size int
}

// dialPMI connects with the server that the environment names. Without one it returns nothing; if it
// can't be used, the error says why.
func dialPMI(env environ, s *settings) (*dialed, error) {
	var errs []error
	if text := env("PMI_FD"); text != "" {
		d, err := inherited(env, text)
		if d != nil {
			return d, nil
		}
		errs = append(errs, err)
	}
	if address := env("PMI_PORT"); address != "" {
		d, err := called(env, address, s)
		if d != nil {
			return d, nil
		}
		errs = append(errs, fmt.Errorf("PMI_PORT=%s: %w", address, err))
	}
	return nil, errors.Join(errs...)
}

// inherited uses the descriptor that the launcher has left open.
func inherited(env environ, text string) (*dialed, error) {
	rank, known := env.number("PMI_RANK")
	size, counted := env.number("PMI_SIZE")
	if !known || !counted || rank >= size {
		return nil, fmt.Errorf("PMI_FD=%s with PMI_RANK=%q and PMI_SIZE=%q: these make no rank", text, env("PMI_RANK"), env("PMI_SIZE"))
	}
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 0 {
		return nil, fmt.Errorf("PMI_FD=%q is no descriptor", text)
	}
	conn, err := takeDescriptor(fd)
	if err != nil {
		return nil, fmt.Errorf("PMI_FD=%d: %w", fd, err)
	}
	return &dialed{conn, rank, size}, nil
}

// called connects with a server that waits for calls.
func called(env environ, address string, s *settings) (*dialed, error) {
	conn, err := dialAddress(address, s.answer)
	if err != nil {
		return nil, err
	}
	rank, size, err := pmi.Identify(conn, cmp.Or(env("PMI_ID"), env("PMI_RANK")), s.answer)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &dialed{conn, rank, size}, nil
}
