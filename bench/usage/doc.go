// Package usage asks the system for the processor time that this process has used.
// Where that can't be known, Self returns errors.ErrUnsupported.
package usage
