package wire

import (
	"encoding/binary"
	"fmt"
)

// ConnectSize is the size of the payload of Connect and ConnectReply, bytes, without the names of contexts.
const ConnectSize = 48 + TokenSize

const namesAt = 31 // the length of the names

// MaxConnectData is the largest data of the program that a Connect or ConnectReply carries behind the names, bytes. Every medium has frames for it.
const MaxConnectData = 512

// TokenSize is the size of a Token, bytes.
const TokenSize = 16

// Token is a random secret that a side gives to its peer when a session begins. The
// peer shows it, in a Resume frame, when it comes back over another link.
type Token [TokenSize]byte

// ConnectInfo is the payload of Connect and ConnectReply.
//
//	 0         4         8        12        16        24     28      32      36       40      44        48      64
//	+---------+---------+--------+---------+---------+------+-------+-------+--------+-------+---------+-------+-------+
//	| version | session | filter | attempt |   nic   | endp.|   *   | eager | status | bytes | headers | token | names |
//	+---------+---------+--------+---------+---------+------+-------+-------+--------+-------+---------+-------+-------+
//
// * are four bytes: shows, the number of contexts, the index of this one, the length of names. The sequence numbers of a side begin at its session number.
type ConnectInfo struct {
	Version  uint32 // Version of the sender
	Session  uint32 // the sender's session towards this peer
	Filter   uint32 // Connect: the filter that the connecting side claims
	Attempt  uint32 // numbers the attempts, so that an old reply is not taken for a new one
	NIC      uint64 // NIC id of the sender
	Endpoint uint32 // endpoint id of the sender
	Shows    uint32 // 1: the sender wants the data of every message below 1 KiB, for its handler
	EagerMax uint32 // largest message the sender takes eagerly
	Status   uint32 // ConnectReply: 0, or the status that the connect ends with, or 1: the program has been asked
	Bytes    uint32 // first credit of the session, for what the sender of this is sent: eager messages
	Headers  uint32 // likewise headers
	Contexts Contexts
	Token    Token // what the other side has to show to resume this session; zero in a refusal
}

// Append appends the byte form of c to b.
func (c *ConnectInfo) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, c.Version)
	b = le.AppendUint32(b, c.Session)
	b = le.AppendUint32(b, c.Filter)
	b = le.AppendUint32(b, c.Attempt)
	b = le.AppendUint64(b, c.NIC)
	b = le.AppendUint32(b, c.Endpoint)
	b = append(b, byte(c.Shows), c.Contexts.Number, c.Contexts.Index, byte(len(c.Contexts.Names)))
	b = le.AppendUint32(b, c.EagerMax)
	b = le.AppendUint32(b, c.Status)
	b = le.AppendUint32(b, c.Bytes)
	b = le.AppendUint32(b, c.Headers)
	b = append(b, c.Token[:]...)
	return append(b, c.Contexts.Names...)
}

// Size returns how many bytes Append appends.
func (c *ConnectInfo) Size() int { return ConnectSize + len(c.Contexts.Names) }

// ParseConnect decodes the payload of a Connect or ConnectReply frame. A peer
// of another version gets an error too, with the version filled in.
func ParseConnect(b []byte) (c ConnectInfo, err error) {
	if len(b) < ConnectSize {
		return c, fmt.Errorf("%w: connect payload of %d bytes, want %d", ErrMalformed, len(b), ConnectSize)
	}
	le := binary.LittleEndian
	c = ConnectInfo{
		Version: le.Uint32(b), Session: le.Uint32(b[4:]), Filter: le.Uint32(b[8:]), Attempt: le.Uint32(b[12:]),
		NIC: le.Uint64(b[16:]), Endpoint: le.Uint32(b[24:]), Shows: uint32(b[28]),
		EagerMax: le.Uint32(b[32:]), Status: le.Uint32(b[36:]),
		Bytes: le.Uint32(b[40:]), Headers: le.Uint32(b[44:]), Token: Token(b[48:]),
	}
	if c.Version != Version {
		return c, fmt.Errorf("%w: peer speaks version %d, this is %d", ErrMalformed, c.Version, Version)
	}
	names := b[ConnectSize:]
	if len(names) < int(b[namesAt]) {
		return c, fmt.Errorf("%w: connect payload of %d bytes, and the names of contexts take %d more", ErrMalformed, len(b), b[namesAt])
	}
	c.Contexts = Contexts{Number: b[29], Index: b[30], Names: string(names[:b[namesAt]])}
	return c, c.Contexts.check(c.Endpoint)
}

// ConnectData returns the data of the program behind the payload of a Connect or ConnectReply that ParseConnect has decoded. False:
// there is more of it than may be.
func ConnectData(b []byte) ([]byte, bool) {
	data := b[ConnectSize+int(b[namesAt]):]
	return data, len(data) <= MaxConnectData
}
