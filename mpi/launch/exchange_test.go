package launch

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/internal/testlength"
)

// ways are the meetings, each with the environments of a job.
var ways = map[string]func(t *testing.T, size int) []environ{
	"pmi": func(t *testing.T, size int) []environ {
		_, envs := pmiJob(t, size)
		return envs
	},
	"pmi, hosts of one rank": func(t *testing.T, size int) []environ {
		_, envs := pmiJob(t, size, "MX_NOLOCAL=1")
		return envs
	},
	"pmi, two cliques": func(t *testing.T, size int) []environ {
		_, envs := pmiJob(t, size, "MX_CLIQUES=2")
		return envs
	},
	"root":             func(t *testing.T, size int) []environ { return handJob(t, size) },
	"root with secret": func(t *testing.T, size int) []environ { return handJob(t, size, "MX_SECRET=sesame") },
}

func TestExchange(t *testing.T) {
	testlength.Long(t)
	for name, way := range ways {
		for _, size := range []int{1, 2, 3, 8, 33} {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				t.Parallel()
				together(t, way(t, size), func(j *Job) error {
					for n, length := range []int{0, 100, 5000} {
						if err := swap(j, n, length); err != nil {
							return err
						}
					}
					if err := j.Finalize(); err != nil {
						return err
					}
					if err := swap(j, 9, 0); !errors.Is(err, ErrFinalized) {
						return fmt.Errorf("an exchange after Finalize: %v", err)
					}
					if err := j.Finalize(); !errors.Is(err, ErrFinalized) {
						return fmt.Errorf("a second Finalize: %v", err)
					}
					return j.LostReason()
				})
			})
		}
	}
}

func TestBusinessCardsOfNothingAndOfTooMuch(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			together(t, way(t, 3), func(j *Job) error {
				all, err := j.Exchange(t.Context(), nil)
				if err != nil || len(all) != 3 || len(all[2]) != 0 {
					return fmt.Errorf("empty business cards: %q, %v", all, err)
				}
				if _, err := j.Exchange(t.Context(), make([]byte, MaxBusinessCard+1)); err == nil {
					return errors.New("a business card that is too long was taken")
				}
				return j.Finalize()
			})
		})
	}
}

// TestOneKeyForEachHost counts what lies in the launcher's store.
func TestOneKeyForEachHost(t *testing.T) {
	for _, c := range []struct {
		setting          string
		bundles          int
		ownBusinessCards bool
	}{{"MX_CLIQUES=0", 1, false}, {"MX_CLIQUES=2", 2, false}, {"MX_NOLOCAL=1", 6, false}} {
		server, envs := pmiJob(t, 6, c.setting)
		together(t, envs, func(j *Job) error { return errors.Join(swap(j, 0, 60), j.Finalize()) })
		bundles, own := 0, 0
		for _, key := range server.Keys() {
			switch {
			case strings.HasPrefix(key, "h1-") && strings.Count(key, "-") == 1:
				bundles++
			case strings.HasPrefix(key, "r1-"):
				own++
			}
		}
		if bundles != c.bundles || own != 0 {
			t.Errorf("%s: %d bundles of hosts, want %d, and %d business cards of single ranks: %q", c.setting, bundles, c.bundles, own, server.Keys())
		}
	}
}

func TestSecretIsSharedAndDiffers(t *testing.T) {
	secrets := map[string]bool{}
	for _, job := range []string{"one", "two"} {
		_, envs := pmiJob(t, 3)
		got := make(chan string, len(envs))
		together(t, envs, func(j *Job) error {
			got <- string(j.Secret())
			return j.Finalize()
		})
		first := <-got
		if len(first) < 16 || first != <-got || first != <-got {
			t.Errorf("job %s: the ranks have no secret in common", job)
		}
		secrets[first] = true
	}
	if len(secrets) != 2 {
		t.Error("two jobs have the same secret")
	}
	_, envs := pmiJob(t, 2, "MX_SECRET=sesame")
	together(t, envs, func(j *Job) error {
		if string(j.Secret()) != "sesame" {
			return fmt.Errorf("MX_SECRET gives the secret %q", j.Secret())
		}
		return j.Finalize()
	})
}

func TestHosts(t *testing.T) {
	for setting, want := range map[string]int{"MX_CLIQUES=0": 1, "MX_CLIQUES=3": 3, "MX_NOLOCAL=1": 6} {
		_, envs := pmiJob(t, 6, setting)
		hosts := make(chan string, len(envs))
		together(t, envs, func(j *Job) error {
			hosts <- j.HostID()
			return j.Finalize()
		})
		different := map[string]bool{}
		for range envs {
			different[<-hosts] = true
		}
		if len(different) != want {
			t.Errorf("%s: %d hosts, want %d", setting, len(different), want)
		}
	}
}
