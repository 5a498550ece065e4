// Package slots has memory that a device may use, cut into slots of one size:
// for receives, for frames that are sent, and to bounce bytes of other memory
// through. The system is asked for pages once; slots are taken and given back
// without it.
package slots
