package partner_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"gomx/internal/partner"
)

const variable = "PARTNER_TEST_ROLE"

// TestMain is also the second process, which does what the config says.
func TestMain(m *testing.M) {
	if !partner.Is(variable) {
		os.Exit(m.Run())
	}
	var role string
	if err := partner.Begin(variable, &role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	switch role {
	case "serve":
		fmt.Fprintln(os.Stderr, "as it may say") // first, as the other side may end this one when it knows the address
		fmt.Println("here")
		select {}
	case "fail":
		fmt.Fprintln(os.Stderr, "out of cheese")
		os.Exit(3)
	}
}

func TestPartnerThatServes(t *testing.T) {
	p, err := partner.Start(variable, "serve", nil)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := p.Address(); at != "here" || err != nil {
		t.Errorf("%q, %v", at, err)
	}
	if said := p.End(); said != "as it may say" {
		t.Errorf("it says %q", said)
	}
}

func TestPartnerThatFails(t *testing.T) {
	lost := make(chan error, 1)
	p, err := partner.Start(variable, "fail", func(err error) { lost <- err })
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Address()
	if err == nil || !strings.Contains(err.Error(), "exit status 3\n    out of cheese") || !errors.Is(<-lost, err) || !errors.Is(p.Wait(), err) {
		t.Errorf("%v", err)
	}
}

func TestPartnerThatEndsWell(t *testing.T) {
	p, err := partner.Start(variable, "leave", func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	if at, err := p.Address(); err == nil {
		t.Errorf("it says %q", at)
	}
}
