package processes

import (
	"reflect"
	"strings"
	"unicode"
)

// Clean takes out of a text that another process has written what a terminal would obey: control characters, line breaks, and
// what changes the direction of the text around.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// CleanAll cleans all texts that there are in exported fields of what a pointer leads to, and the keys of maps.
func CleanAll(to any) { clean(reflect.ValueOf(to)) }

func clean(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(Clean(v.String()))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			clean(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				clean(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		if hasText(v.Type().Elem()) { // traces have many messages
			for i := range v.Len() {
				clean(v.Index(i))
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			k, value := reflect.New(key.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()
			k.Set(key)
			value.Set(v.MapIndex(key))
			clean(k)
			clean(value)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(k, value)
		}
	}
}

// hasText reports whether values of a type may have texts.
func hasText(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return t.Kind() > reflect.Complex128
	}
	for i := range t.NumField() {
		if hasText(t.Field(i).Type) {
			return true
		}
	}
	return false
}
