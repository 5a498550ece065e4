package launch

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gomx/mpi/launch/internal/pmi"
)

// keys is the meeting through a launcher's key-value store. The steps of an exchange are:
//
//	the ranks of a host send their business cards to their leader (locals.go)
//	barrier
//	the leader puts one bundle under h<epoch>-<lowest rank>; a rank that could not reach its leader
//	puts its own business card under r<epoch>-<rank>
//	barrier
//	the leader gets the bundles of all hosts, and sends them to the ranks of its host
//
// A leader goes through the ranks in order. A rank whose business card it has not seen yet is the lowest of a host, or has
// a key of its own.
type keys struct {
	client     *pmi.Client
	rank, size int
	host       string
	nonce      []byte // known to the ranks of the job
	epoch      int
	ending
}

// watch ends the job when the launcher ends.
func (k *keys) watch() {
	k.ending.start(k.size)
	go func() {
		inLaunch.Set()
		<-k.client.Gone()
		k.end(k.client.Why())
	}()
}

const nonceBytes = 32

// meet gives the job's nonce to all ranks.
func (k *keys) meet(ctx context.Context) error {
	const key = "gomx"
	if k.rank == 0 {
		k.nonce = make([]byte, nonceBytes)
		_, _ = rand.Read(k.nonce) // never fails
		if k.size == 1 {
			return nil
		}
		if err := k.client.Put(ctx, key, letters.EncodeToString(k.nonce)); err != nil {
			return err
		}
	}
	if err := k.client.Barrier(ctx); err != nil {
		return err
	}
	text, err := k.client.Get(ctx, key)
	if err != nil {
		return err
	}
	if k.nonce, err = letters.DecodeString(text); err != nil || len(k.nonce) != nonceBytes {
		return fmt.Errorf("get %s: the launcher answers %d characters that rank 0 has not put", key, len(text))
	}
	return nil
}

func (k *keys) exchange(ctx context.Context, businessCard []byte) ([][]byte, error) {
	k.epoch++
	all := make([][]byte, k.size)
	circle := k.join(ctx, businessCard)
	defer circle.leave()
	if err := k.client.Barrier(ctx); err != nil {
		return nil, err
	}
	if err := k.publish(ctx, circle, businessCard); err != nil {
		return nil, err
	}
	if err := k.client.Barrier(ctx); err != nil {
		return nil, err
	}
	if circle.member() && circle.hear(ctx, all) == nil {
		return all, nil
	}
	if err := k.collect(ctx, all); err != nil {
		return nil, err
	}
	circle.tell(all)
	return all, nil
}

// publish puts the business cards that the other leaders must get from this rank, if any.
func (k *keys) publish(ctx context.Context, circle *circle, businessCard []byte) error {
	name, businessCards := k.key('r', k.rank), make([][]byte, k.size)
	switch {
	case circle.member():
		return nil
	case circle.leads():
		businessCards = circle.businessCards(k.size)
		for rank := k.size - 1; rank >= 0; rank-- {
			if businessCards[rank] != nil {
				name = k.key('h', rank)
			}
		}
	default:
		businessCards[k.rank] = nonNil(businessCard)
	}
	for i, value := range bundle(businessCards, k.client.LongestValue) {
		if err := k.client.Put(ctx, part(name, i), value); err != nil {
			return err
		}
	}
	return nil
}

// nonNil keeps an empty business card apart from a missing one.
func nonNil(businessCard []byte) []byte {
	if businessCard == nil {
		return []byte{}
	}
	return businessCard
}

func (k *keys) key(kind byte, rank int) string {
	return fmt.Sprintf("%c%d-%d", kind, k.epoch, rank)
}

func part(name string, i int) string {
	if i == 0 {
		return name
	}
	return name + "-" + strconv.Itoa(i)
}

// collect gets the bundles of all hosts.
func (k *keys) collect(ctx context.Context, all [][]byte) error {
	for rank := range all {
		if all[rank] != nil {
			continue
		}
		name := k.key('h', rank)
		first, err := k.client.Get(ctx, name)
		if errors.Is(err, pmi.ErrNoKey) {
			name = k.key('r', rank)
			first, err = k.client.Get(ctx, name)
		}
		if err == nil {
			err = k.addBundle(ctx, name, first, all)
		}
		if err == nil && all[rank] == nil {
			err = errors.New("its bundle of business cards lacks its own")
		}
		if err != nil {
			return fmt.Errorf("the business card of rank %d: %w", rank, err)
		}
	}
	return nil
}

func (k *keys) addBundle(ctx context.Context, name, first string, all [][]byte) error {
	n, rest, err := parts(first)
	if err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString(rest)
	for i := 1; i < n; i++ {
		value, err := k.client.Get(ctx, part(name, i))
		if err != nil {
			return err
		}
		text.WriteString(value)
	}
	_, err = unbundle(text.String(), all)
	return err
}

func (k *keys) abort(code int, reason string) { k.client.Abort(code, reason) }

// blame tells the launcher, if that is mx_run: others have no command for it.
func (k *keys) blame(rank int) {
	if strings.HasPrefix(k.client.Name, StoreOfRun) {
		k.client.Blame(rank)
	}
}

// cancel leaves it to the launcher, which ends the others when this process ends.
func (k *keys) cancel(string) {}

func (k *keys) finalize(ctx context.Context) error {
	k.over()
	return k.client.Finalize(ctx)
}

// dead is silent: launchers that speak PMI end the whole job.
func (k *keys) dead() <-chan int { return nil }

// secret returns a secret of the ranks of this job, which only those know who can read the launcher's key-value store. It
// comes over the launcher's connection and is in no environment variable, because programs that a rank starts inherit those.
func (k *keys) secret() []byte {
	m := hmac.New(sha256.New, k.nonce)
	m.Write([]byte("gomx secret"))
	return m.Sum(nil)
}
