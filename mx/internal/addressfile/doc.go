// Package addressfile is the file of an address table: where endpoints are, for processes that share it. A writer makes a
// new file and puts it in the place of the old one, so that a file never changes that somebody has mapped. A reader maps it
// read-only: the processes of a host have it in memory once.
//
// It relies on this. Only the user of the process could have written the file, which Open checks, and whoever truncates a file that is mapped
// kills the processes that look at it. Everything in the mapped memory is checked before it is used, and after that it
// does not change. The memory is good until Close, which its owner calls when nobody looks at it any more.
package addressfile
