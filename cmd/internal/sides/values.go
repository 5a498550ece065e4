package sides

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// number is a flag's value: a number below 2^32, decimal or with 0x.
type number uint32

func (n *number) String() string { return strconv.FormatUint(uint64(*n), 10) }

func (n *number) Set(text string) error {
	base := 10
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X") {
		text, base = text[2:], 16
	}
	v, err := strconv.ParseUint(text, base, 32)
	if err != nil {
		return errors.New("want a number below 2^32")
	}
	*n = number(v)
	return nil
}

// nicID is a flag's value: a NIC id in hexadecimal, as MX writes them.
type nicID uint64

func (n *nicID) String() string { return fmt.Sprintf("%012x", uint64(*n)) }

func (n *nicID) Set(text string) error {
	digits := strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(text), "0x"), ":", "")
	v, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || v == 0 {
		return errors.New("want a NIC id in hexadecimal, as mx_info lists them")
	}
	*n = nicID(v)
	return nil
}
