package driver

// say writes a word of the gate. What was written before is to be seen before it, for these processors keep the
// order of their writes, and what is read later may be read sooner, which an atomic store prevents at the price
// of a lock; the gate's barrier stands for that.
func say(word *uint32, v uint32) { *word = v }
