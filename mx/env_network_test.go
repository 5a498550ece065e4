package mx_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gomx/mx"
)

// valueOf returns a line of the environment table.
func valueOf(t *testing.T, name string) mx.Variable {
	t.Helper()
	list, err := mx.Environment()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("no variable %s", name)
	panic("unreachable")
}

func TestPortsOfTheEnvironment(t *testing.T) {
	for set, want := range map[string]string{
		"MX_PORT_BASE=30000":                               "30000-34095",
		"MX_PORT_BASE=65000":                               "65000-65535",
		"MX_PORT_RANGE=31000-31009":                        "31000-31009",
		"MX_PORT_RANGE=1000-65535":                         "1000-5095",
		"MX_PORT_RANGE=31000-31000":                        "31000-31000",
		"MX_PORT_BASE=31000 MX_PORT_RANGE=31000-31009":     "31000-31009",
		"MX_PORT_BASE=31001 MX_PORT_RANGE=31000-31009 bad": "",
	} {
		t.Run(set, func(t *testing.T) {
			for _, field := range strings.Fields(set) {
				if name, value, ok := strings.Cut(field, "="); ok {
					t.Setenv(name, value)
				}
			}
			if want == "" {
				refused(t, mx.Init(), mx.ErrBadParamVal, "MX_PORT_RANGE", "MX_PORT_BASE", "31001")
				return
			}
			first, _, _ := strings.Cut(want, "-")
			if v := valueOf(t, "MX_PORT_RANGE"); v.Value != want || v.Source != "environment" {
				t.Errorf("%+v", v)
			}
			if v := valueOf(t, "MX_PORT_BASE"); v.Value != first {
				t.Errorf("%+v", v)
			}
		})
	}
}

// TestAnyEndpointWhereNoneIsFree: the error names the variable that leaves no endpoint id free.
func TestAnyEndpointWhereNoneIsFree(t *testing.T) {
	for set, says := range map[string]string{
		"MX_PORT_RANGE=31000-31000": "MX_PORT_RANGE",
		"MX_ANY_ENDPOINT=3":         "unset MX_ANY_ENDPOINT",
	} {
		t.Run(set, func(t *testing.T) {
			name, value, _ := strings.Cut(set, "=")
			t.Setenv(name, value)
			initialize(t)
			var eps []*mx.Endpoint
			for {
				ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, testFilter, mx.WithTransports("tcp"))
				if err != nil {
					refused(t, err, mx.ErrBusy, says)
					break
				}
				if eps = append(eps, ep); len(eps) > 1 {
					t.Fatal("a second one is open")
				}
			}
			for _, ep := range eps {
				shut(t, ep)
			}
		})
	}
}

func TestSecretIsNeverShown(t *testing.T) {
	const secret = "correct horse"
	check := func(name string) {
		t.Helper()
		list, err := mx.Environment()
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			if strings.Contains(v.Value+v.Default, secret) {
				t.Errorf("%s shows the secret of %s", v.Name, name)
			}
		}
		if v := valueOf(t, "MX_SECRET"); v.Value != "set" || v.Source != "environment" {
			t.Errorf("%+v", v)
		}
	}
	if v := valueOf(t, "MX_SECRET"); v.Value != "none" || v.Source != "default" {
		t.Errorf("%+v", v)
	}
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("file", func(t *testing.T) {
		t.Setenv("MX_SECRET_FILE", file)
		check("MX_SECRET_FILE")
		if v := valueOf(t, "MX_SECRET_FILE"); v.Value != file {
			t.Errorf("%+v", v)
		}
	})
	t.Setenv("MX_SECRET", secret)
	check("MX_SECRET")
	t.Setenv("MX_SECRET_FILE", file)
	err := mx.Init()
	refused(t, err, mx.ErrBadParamVal, "MX_SECRET_FILE", "MX_SECRET")
	if strings.Contains(err.Error(), secret) {
		t.Error("the error shows the secret")
	}
}

func TestSecretParameterIsNeverShown(t *testing.T) {
	w := newWorld(t, "tcp")
	for _, p := range []mx.Param{{Key: mx.ParamSecret, Value: "hush"}, {Key: mx.ParamTLS, Value: "hush"}} {
		_, err := w.tryOpen(mx.AnyEndpoint, p)
		refused(t, err, mx.ErrBadParamVal)
		if strings.Contains(err.Error(), "hush") {
			t.Errorf("%v", err)
		}
	}
}

func TestNetworksThatLeaveNothingAreRefused(t *testing.T) {
	initialize(t)
	boards, err := mx.Boards()
	if err != nil {
		t.Fatal(err)
	}
	if err := mx.Finalize(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MX_NET", "nonesuch0")
	err = mx.Init()
	refused(t, err, mx.ErrBadParamVal, "init", "MX_NET", "nonesuch0")
	for _, b := range boards[:len(boards)-1] {
		if !strings.Contains(err.Error(), b.Interface) {
			t.Errorf("%s is not in %v", b.Interface, err)
		}
	}
	t.Setenv("MX_NET", "lo")
	if err := mx.Init(); err != nil && !errors.Is(err, mx.ErrBadParamVal) {
		t.Fatal(err)
	} else if err == nil {
		if only, err := mx.Boards(); err != nil || len(only) != 1 || only[0].Name != "localhost:0" {
			t.Errorf("%+v, %v", only, err)
		}
		return // the clean-up finalizes
	}
	t.Setenv("MX_NET", "")
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
}
