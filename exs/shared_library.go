package exs

import (
	"crypto/tls"
	"errors"

	"gomx/mx"
)

// security is what all peers of an endpoint must have in common: a secret, or trust in each other's certificates.
type security struct {
	secret string
	tls    *tls.Config
}

// params returns the parameters of an endpoint with this security. The environment decides what is not set.
func (c security) params() (params []mx.Param) {
	if c.secret != "" {
		params = append(params, mx.WithSecret([]byte(c.secret)))
	}
	if c.tls != nil {
		params = append(params, mx.WithTLS(c.tls))
	}
	return params
}

// errTwoSecurities is the mistake of a Dialer or ListenConfig with a Library and a security of its own.
var errTwoSecurities = tell("Secret and TLS are the Library's: give mx.WithSecret and mx.WithTLS to Open, and not to the Dialer or ListenConfig")

// libraryOf returns the library of a Dialer or ListenConfig.
func libraryOf(own *Library, secret []byte, config *tls.Config) (*Library, error) {
	c := security{string(secret), config}
	switch {
	case own != nil && c != security{}:
		return nil, &Error{Op: "dial or listen", Errno: EINVAL, Cause: errTwoSecurities}
	case own != nil && own.none():
		return nil, absent("dial or listen", EINVAL, noLibrary)
	case own != nil:
		return own, nil
	case c == security{}:
		return initialized()
	}
	return secured(c)
}

// secured returns the library with a security, and opens it if need be.
func secured(c security) (*Library, error) {
	standard.Lock()
	defer standard.Unlock()
	if l := standard.secured[c]; l != nil {
		return l, nil
	}
	l, err := Open(Version1, c.params()...)
	if err != nil {
		return nil, err
	}
	if standard.secured == nil {
		standard.secured = map[security]*Library{}
	}
	standard.secured[c] = l
	return l, nil
}

// closeSecured closes the libraries with a security. The lock of the default library is held.
func closeSecured() (err error) {
	for _, l := range standard.secured {
		err = errors.Join(err, l.Close())
	}
	standard.secured = nil
	return err
}
