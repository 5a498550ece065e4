// Package affinity binds threads to cores. It is the only package of the ping-pong
// that talks to the operating system about them; where that can't be done, every
// function returns errors.ErrUnsupported.
package affinity
